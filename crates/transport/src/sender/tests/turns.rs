//! Senders whose application is silent at times, and paced ones.

use bufferlab_congestion::{Growth, Reno};

use super::*;
use crate::{AfterIdle, BurstsConfig};

/// Bursts of an application, window 2 at first: what is sent in each.
fn bursty(after_idle: AfterIdle, recovery: Recovery) -> Pair<impl FnMut(Segment) -> bool> {
    let load = Load { bursts: Some(BurstsConfig { after_idle, reconnects: false }), ..Load::ENDLESS };
    let config = TcpConfig { initial_window: 2, ..config(recovery) };
    let mut pair = Pair::with_load(&config, load, reno(2, 64), |_| false);
    pair.sender.resume(Time::ZERO, Some(20));
    pair
}

#[test]
fn a_burst_ends_with_its_last_acknowledgment_and_says_so_once() {
    for recovery in every() {
        let mut pair = bursty(AfterIdle::Keep, recovery);
        pair.run(10_000);
        // 2 + 4 + 8 + 6 segments in four rounds
        assert_eq!(pair.sender.finished(), Time::ZERO + Span::from_ms(400), "{recovery:?}");
        assert_eq!((pair.now, pair.log.len()), (Time::ZERO + Span::from_ms(400), 20));
        assert_eq!(pair.sender.deadline(), Time::NEVER);
        pair.sender.resume(pair.now, Some(5));
        assert_eq!(pair.sender.finished(), Time::NEVER);
        pair.run(20_000);
        assert_eq!((pair.sender.finished(), pair.log.len()), (Time::ZERO + Span::from_ms(500), 25));
    }
}

#[test]
fn what_a_silence_leaves_of_the_window() {
    // the timeout is 300 ms for round trips of 100 ms with a variation that falls by a quarter each round
    for (after_idle, pause_ms, at_once) in [
        (AfterIdle::Keep, 100_000, 22),
        (AfterIdle::Restart, 100, 22),
        (AfterIdle::Restart, 100_000, 2),
        (AfterIdle::Decay, 100_000, 2),
    ] {
        let mut pair = bursty(after_idle, Recovery::Sack);
        pair.run(10_000);
        pair.now += Span::from_ms(pause_ms);
        let before = pair.log.len();
        pair.sender.resume(pair.now, None);
        pair.transmit();
        assert_eq!(pair.log.len() - before, at_once, "{after_idle:?} after {pause_ms} ms");
    }
}

#[test]
fn a_window_that_is_not_filled_does_not_grow() {
    let mut pair = bursty(AfterIdle::Keep, Recovery::Sack);
    pair.run(10_000);
    let cwnd = pair.sender.cwnd();
    for _ in 0..50 {
        pair.sender.resume(pair.now, Some(5));
        let end_ms = pair.now.as_ps() / 1_000_000_000 + 1_000;
        pair.run(end_ms);
    }
    assert_eq!(pair.sender.cwnd(), cwnd);
}

#[test]
fn a_paced_window_leaves_evenly() {
    for recovery in ALL {
        let control = Reno::new(20, Some(20), Growth::PerSegment).into();
        let mut pair = Pair::new(&TcpConfig { paced: true, ..config(recovery) }, control, |_| false);
        pair.run(1_000);
        // the first window leaves at once, for want of a round-trip time; then 1.2 windows a round trip
        let at = |ms| Time::ZERO + Span::from_ms(ms);
        let within =
            |from, to| pair.log.iter().filter(|(time, _)| at(from) <= *time && *time < at(to)).count();
        assert_eq!(within(0, 1), 20, "{recovery:?}");
        let gaps: Vec<_> = pair.log.windows(2).map(|two| (two[1].0 - two[0].0).as_ps()).collect();
        let srtt = 100_000_000_000.0;
        for (index, &gap) in gaps.iter().enumerate().skip(20) {
            let cwnd = pair.sender.cwnd().floor();
            assert!(
                gap as f64 >= srtt / (1.2 * cwnd) * 0.999,
                "{recovery:?}: gap {gap} after segment {index}"
            );
        }
        // a round trip's window takes 1/1.2 of it
        assert!(within(900, 1_000) >= 20, "{recovery:?}");
    }
}

#[test]
fn slow_start_is_paced_at_two_windows_a_round_trip() {
    let control = Reno::new(10, None, Growth::PerSegment).into();
    let mut pair = Pair::new(&TcpConfig { paced: true, ..config(Recovery::Sack) }, control, |_| false);
    pair.run(199);
    // 10 at once, and from 100 ms on pairs that acknowledgments of the same moment let out, 100 ms / (2 cwnd) apart
    let sent: Vec<_> = pair.log.iter().skip(10).map(|(time, _)| time.as_ps() / 1_000_000).collect();
    assert_eq!(sent.len(), 20);
    assert_eq!(sent[0], 100_000);
    let gaps: Vec<_> = sent.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.iter().all(|&us| (2_499..=4_546).contains(&us)), "{gaps:?}");
}

#[test]
fn a_new_connection_begins_anew_and_heeds_no_answer_to_an_older_syn() {
    for recovery in ALL {
        let bursts = Some(BurstsConfig { after_idle: AfterIdle::Keep, reconnects: true });
        let config = TcpConfig { initial_window: 2, handshake: true, ..config(recovery) };
        let mut pair = Pair::with_load(&config, Load { bursts, ..Load::ENDLESS }, reno(2, 64), |_| false);
        pair.sender.resume(Time::ZERO, Some(20));
        pair.run(10_000);
        // a handshake and four rounds of 2, 4, 8 and 6
        let first = pair.sender.finished();
        assert_eq!(first, Time::ZERO + Span::from_ms(500), "{recovery:?}");
        pair.now = Time::ZERO + Span::from_s(1);
        pair.sender.reconnect(pair.now, 20);
        assert_eq!((pair.sender.cwnd(), pair.sender.srtt()), (2.0, Span::ZERO));
        pair.transmit();
        let stale = Ack { syn: true, echo: Time::ZERO, ..Ack::default() };
        pair.sender.on_ack(pair.now, &stale, &SackBlocks::NONE);
        assert!(pair.sender.poll_transmit(pair.now).is_none(), "{recovery:?}");
        pair.run(10_000);
        assert_eq!(pair.sender.finished(), Time::ZERO + Span::from_ms(1_500), "{recovery:?}");
        assert_eq!(pair.count(SegmentKind::Syn), 2);
        assert_eq!(pair.receiver.delivered(), 40);
    }
}
