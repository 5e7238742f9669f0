//! Calls over a simple path: packets wait for a link, and each report takes the way back.

use super::*;

pub(super) fn config() -> CallConfig {
    CallConfig {
        min_bps: 150_000,
        start_bps: 300_000,
        max_bps: 2_500_000,
        frame_ps: 40_000_000_000,
        deviation: 0.0,
        packet_bytes: 1_200,
        header_bytes: 40,
        report_ps: 100_000_000_000,
        report_bytes: 80,
    }
}

/// The target after each second on a link of a rate that each second has, without losses, 20 ms each way; and the longest wait of a
/// packet in the last half of the time, ms.
fn calls(rates_bps: &[f64], deviation: f64) -> (Vec<f64>, f64) {
    let config = CallConfig { deviation, ..config() };
    let mut sender = CallSender::new(&config, Stream::new(7, 3, 0));
    let mut receiver = CallReceiver::new(&config);
    let way = Span::from_ms(20);
    let mut reports: VecDeque<(Time, u32, Time)> = VecDeque::new();
    let (mut free, mut longest_ms) = (Time::ZERO, 0.0_f64);
    let mut targets = Vec::new();
    sender.start(Time::ZERO);
    for (second, rate_bps) in rates_bps.iter().enumerate() {
        let end = Time::ZERO + Span::from_s(second as u64 + 1);
        loop {
            let report = reports.front().map_or(Time::NEVER, |report| report.0);
            let now = sender.deadline().min(report);
            if now >= end {
                break;
            }
            if report == now {
                let (_, count, echo) = reports.pop_front().unwrap();
                sender.on_report(now, count, echo);
                continue;
            }
            let number = sender.sent() as u32;
            let (_, bytes) = sender.emit(now);
            let wait = free.saturating_since(now);
            free = free.max(now) + Span::from_ps((f64::from(8 * bytes) * 1e12 / rate_bps) as u64);
            if 2 * second >= rates_bps.len() {
                longest_ms = longest_ms.max(ms(wait));
            }
            let at = free + way;
            sender.note_arrived(Arrived {
                number,
                sent: now,
                at,
                payload_bytes: bytes - config.header_bytes,
            });
            reports.extend(receiver.on_packet(at).map(|count| (at + way, count, now)));
        }
        targets.push(sender.target_bps());
    }
    (targets, longest_ms)
}

fn mean(targets: &[f64]) -> f64 {
    targets.iter().sum::<f64>() / targets.len() as f64
}

#[test]
fn a_call_alone_settles_below_the_link_and_waits_little() {
    for (rate_bps, deviation) in [(1e6, 0.0), (1e6, 0.15), (0.5e6, 0.15), (2e6, 0.15)] {
        let (targets, longest_ms) = calls(&[rate_bps; 120], deviation);
        let settled = mean(&targets[40..]) / rate_bps;
        // payload is at most 0.967 of what the link carries
        assert!((0.75..0.95).contains(&settled), "{rate_bps}, {deviation}: {settled}");
        assert!(longest_ms < 60.0, "{rate_bps}, {deviation}: {longest_ms} ms");
    }
}

#[test]
fn a_call_that_a_link_does_not_bound_has_its_highest_bitrate() {
    let (targets, _) = calls(&[10e6; 60], 0.15);
    assert_eq!(targets[40..], [2.5e6; 20]);
}

/// RFC 8867 section 5.1: a capacity of 1, 2.5, 0.6 and 1 Mbit/s.
#[test]
fn a_call_follows_the_capacity() {
    let rates: Vec<f64> = [(1e6, 40), (2.5e6, 20), (0.6e6, 20), (1e6, 20)]
        .into_iter()
        .flat_map(|(rate_bps, seconds)| vec![rate_bps; seconds])
        .collect();
    let (targets, _) = calls(&rates, 0.15);
    // it grows by 8 % a second, and is down within three seconds
    assert!(mean(&targets[30..40]) < 0.97e6);
    assert!((1.5e6..2.45e6).contains(&targets[59]), "{}", targets[59]);
    assert!(targets[63..80].iter().all(|&bps| bps < 0.65e6), "{:?}", &targets[60..80]);
    assert!(mean(&targets[70..80]) > 0.4e6);
    assert!((0.7e6..0.97e6).contains(&mean(&targets[92..])), "{}", mean(&targets[92..]));
}
