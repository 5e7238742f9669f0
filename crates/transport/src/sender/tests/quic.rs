//! QUIC: RFC 9002's constants and rules, seen from outside.

use bufferlab_congestion::{Growth, Reno};
use bufferlab_units::{Span, Time};

use super::{Pair, config, lose_once, reno};
use crate::{Load, Recovery, Segment, SegmentKind, TcpConfig};

fn quic() -> TcpConfig {
    TcpConfig {
        ack_every: 2,
        ack_delay: Span::from_ms(25),
        min_rto: Span::from_ms(1),
        rto_margin: Span::from_ms(1),
        initial_rto: Span::from_ms(999),
        ..config(Recovery::Quic)
    }
}

fn repairs<F: FnMut(Segment) -> bool>(pair: &Pair<F>) -> Vec<(Time, u32)> {
    let again = pair.log.iter().filter(|(_, segment)| segment.kind == SegmentKind::Retransmission);
    again.map(|(at, segment)| (*at, segment.seq)).collect()
}

#[test]
fn many_losses_of_a_window_are_repaired_in_about_a_round_and_reduce_it_once() {
    let lost = (100..120).step_by(2);
    let mut pair = Pair::new(&quic(), reno(100, 2), lose_once(lost));
    pair.run(10_000);
    let counters = pair.sender.counters();
    assert_eq!((counters.timeouts, counters.recoveries, counters.retransmissions), (0, 1, 10));
    let repairs = repairs(&pair);
    assert!(repairs[9].0 - repairs[0].0 <= Span::from_ms(110), "{repairs:?}");
    assert_eq!(pair.sender.ssthresh(), 50.0);
}

/// A retransmission has a packet number like others: three packets later it is lost.
#[test]
fn a_lost_retransmission_is_lost_by_what_was_sent_after_it() {
    let mut losses = 0;
    let lose = move |segment: Segment| {
        losses += u32::from(segment.seq == 30);
        segment.seq == 30 && losses <= 2
    };
    let mut pair = Pair::new(&quic(), reno(20, 2), lose);
    pair.run(5_000);
    let counters = pair.sender.counters();
    assert_eq!((counters.timeouts, counters.retransmissions), (0, 2));
    // the packet that was lost the second time was sent in the first period, and begins another
    assert_eq!(counters.recoveries, 2);
}

/// Section 6.1.2: the last but one of a transfer is lost 9/8 of the round-trip time after it was sent.
#[test]
fn the_time_threshold_finds_a_loss_near_the_end() {
    let mut pair = Pair::sending(20, &quic(), reno(20, 2), lose_once([18]));
    pair.run(112);
    assert_eq!(repairs(&pair), []);
    pair.run(1_000);
    let (time, seq) = repairs(&pair)[0];
    assert_eq!((time, seq), (Time::ZERO + Span::from_us(112_500), 18));
    assert_eq!((pair.sender.counters().recoveries, pair.sender.acknowledged()), (1, 20));
}

/// Section 6.2.1: PTO = `smoothed_rtt` + max(4*rttvar, kGranularity) + `max_ack_delay` after the last packet was sent, and
/// twice that after it expired. Two probes leave each time, and the window stays.
#[test]
fn probes_follow_a_lost_tail_and_leave_the_window_alone() {
    // nothing of the last ten arrives before 2 s
    let mut sent = 0;
    let lose = move |segment: Segment| {
        sent += 1;
        segment.seq >= 10 && sent <= 30
    };
    let mut pair = Pair::sending(20, &quic(), reno(10, 1), lose);
    pair.run(101);
    // five samples of 100 ms: rttvar falls by a quarter from 50 ms at the first
    assert_eq!(pair.sender.counters().rtt_samples, 5);
    let var = 50.0 * 0.75_f64.powi(4);
    let pto = 100.0 + 4.0 * var + 25.0;
    pair.run(2_000);
    let times: Vec<_> = repairs(&pair).iter().map(|(at, seq)| (at.as_ps() as f64 / 1e9, *seq)).collect();
    let expected = [(1.0, 10), (1.0, 11), (3.0, 12), (3.0, 13), (7.0, 14), (7.0, 15)];
    assert_eq!(times.len(), expected.len());
    for (got, (periods, seq)) in times.iter().zip(expected) {
        assert!((got.0 - 100.0 - periods * pto).abs() < 0.001 && got.1 == seq, "{times:?}");
    }
    assert_eq!((pair.sender.counters().timeouts, pair.sender.counters().recoveries), (0, 0));
}

/// Section 7.6: what was sent over three probe timeouts is lost, so the window is two packets, and slow start begins.
#[test]
fn persistent_congestion_leaves_the_minimum_window() {
    // a window and three pairs of probes; a timeout is 126 ms by then
    let mut lost = 0;
    let lose = move |segment: Segment| {
        lost += u32::from(segment.seq >= 40);
        (1..=27).contains(&lost)
    };
    let mut pair = Pair::new(&quic(), reno(20, 2), lose);
    pair.run(2_180);
    assert_eq!((pair.sender.counters().timeouts, pair.sender.cwnd()), (0, 21.0));
    pair.run(2_195);
    let counters = pair.sender.counters();
    assert_eq!((counters.timeouts, counters.recoveries, pair.sender.ssthresh()), (1, 1, 10.0));
    assert_eq!(pair.sender.inflight(), 2);
    pair.run(5_000);
    assert!(pair.sender.cwnd() > 20.0 && pair.sender.counters().recoveries == 1);
}

/// Section 5.3: the delay that the receiver reports does not count.
#[test]
fn a_delayed_acknowledgment_measures_the_path() {
    let mut pair = Pair::sending(3, &quic(), reno(10, 1), |_| false);
    pair.run(124);
    assert_eq!((pair.sender.acknowledged(), pair.sender.srtt()), (2, Span::from_ms(100)));
    pair.run(126);
    // the reported delay has a unit of a tenth of a millisecond
    let error = pair.sender.srtt() - Span::from_ms(100);
    assert!(pair.sender.acknowledged() == 3 && error < Span::from_us(1), "{error}");
}

/// Section 7.8: a window that is not used does not grow.
#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let control = Reno::new(10, None, Growth::PerSegment).into();
    let mut pair = Pair::with_load(&quic(), Load { segments: 4, bursts: None }, control, |_| false);
    pair.run(1_000);
    assert_eq!(pair.sender.cwnd(), 10.0);
}

/// Section 7.7: 1.25 windows in a round-trip time, once there is one.
#[test]
fn the_pace_is_a_quarter_faster_than_the_window() {
    let config = TcpConfig { paced: true, ..quic() };
    let mut pair = Pair::new(&config, reno(20, 2), |_| false);
    pair.run(1_000);
    let times: Vec<_> = pair.log.iter().map(|(at, _)| *at).collect();
    assert_eq!(times[19], Time::ZERO, "there is no round-trip time yet");
    // 100 ms / 1.25 / 20, and of 21
    assert_eq!(times[21] - times[20], Span::from_ms(4));
    let gap = times[23] - times[22];
    assert!(gap > Span::from_us(3_809) && gap < Span::from_us(3_810), "{gap}");
}
