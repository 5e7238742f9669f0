//! What a sender does with echoed marks.

use bufferlab_congestion::{AnyControl, Cubic, CubicConfig};

use super::*;
use crate::{EcnUse, SegmentKind, TcpConfig};

const MARKED: [Recovery; 5] =
    [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Linux];

fn capable(recovery: Recovery, ecn: EcnUse) -> TcpConfig {
    TcpConfig { ecn, ..config(recovery) }
}

fn cubic(window: u32) -> AnyControl {
    Cubic::new(window, Some(2), CubicConfig::default()).into()
}

#[test]
fn a_mark_halves_the_window_and_nothing_is_sent_again() {
    for recovery in MARKED {
        let mut pair = Pair::new(&capable(recovery, EcnUse::Classic), reno(20, 2), |_| false);
        pair.marked = vec![30];
        // segment 30 leaves in the second round, and its echo comes with the third
        pair.run(201);
        assert_eq!(pair.sender.ssthresh(), 10.0, "{recovery:?}");
        pair.run(900);
        let counters = pair.sender.counters();
        assert_eq!((counters.retransmissions, counters.recoveries, counters.timeouts), (0, 0, 0));
        assert!(pair.sender.cwnd() < 20.0, "{recovery:?}: {}", pair.sender.cwnd());
    }
}

#[test]
fn a_connection_without_ecn_ignores_echoes() {
    let mut pair = Pair::new(&config(Recovery::Sack), reno(20, 2), |_| false);
    pair.marked = (20..40).collect();
    pair.run(1_000);
    assert!(pair.sender.cwnd() > 25.0);
}

#[test]
fn marks_of_one_window_reduce_once_and_those_of_the_next_again() {
    for recovery in MARKED {
        let after = |marked: Vec<u32>| {
            let mut pair = Pair::new(&capable(recovery, EcnUse::Classic), reno(40, 2), |_| false);
            pair.marked = marked;
            pair.run(1_000);
            pair.sender.ssthresh()
        };
        assert_eq!(after((10..40).collect()), 20.0, "{recovery:?}: all of one window");
        // what is sent after the reduction is marked again
        assert_eq!(after((10..70).collect()), 10.0, "{recovery:?}: two windows");
    }
}

/// RFC 3168 section 6.1.2: a loss in the window that was reduced already does not reduce it again.
#[test]
fn a_loss_beside_a_mark_reduces_once() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Linux] {
        let mut pair = Pair::new(&capable(recovery, EcnUse::Classic), reno(40, 2), lose_once([60]));
        pair.marked = vec![50];
        pair.run(1_000);
        assert_eq!(pair.sender.ssthresh(), 20.0, "{recovery:?}");
        assert_eq!(pair.sender.counters().recoveries, 1, "{recovery:?}");
        assert_eq!(pair.sender.counters().timeouts, 0, "{recovery:?}");
    }
}

/// Linux's CWR state: one segment for two acknowledgments; elsewhere silence until half is acknowledged.
#[test]
fn linux_brings_the_window_down_over_a_round() {
    let sent_in_the_round = |recovery| {
        let mut pair = Pair::new(&capable(recovery, EcnUse::Classic), reno(40, 2), |_| false);
        pair.marked = vec![40];
        pair.run(399);
        let moment = Time::ZERO + Span::from_ms(200);
        pair.log.iter().filter(|(at, _)| *at == moment).count()
    };
    // 41 acknowledgments come at 200 ms, the first of them with the echo
    assert_eq!(sent_in_the_round(Recovery::Linux), 20);
    assert_eq!(sent_in_the_round(Recovery::Sack), 20);
    let spread = |recovery| {
        let mut pair = Pair::new(&capable(recovery, EcnUse::Classic), reno(40, 2), |_| false);
        pair.marked = vec![40];
        pair.run(200);
        let mut gaps = Vec::new();
        let before = pair.log.len();
        while pair.now < Time::ZERO + Span::from_ms(201) && pair.log.len() < before + 20 {
            let sent = pair.log.len();
            if !pair.step(Time::ZERO + Span::from_ms(201)) {
                break;
            }
            gaps.push(pair.log.len() - sent);
        }
        gaps.iter().position(|&sent| sent > 0).unwrap_or(usize::MAX)
    };
    assert!(spread(Recovery::Linux) < 4, "{}", spread(Recovery::Linux));
    assert!(spread(Recovery::Sack) > 15, "{}", spread(Recovery::Sack));
}

/// RFC 8511 section 3.1: 0.8 with Reno, 0.85 with CUBIC, in congestion avoidance only.
#[test]
fn the_mild_response_leaves_more() {
    let after = |ecn, control| {
        let mut pair = Pair::new(&capable(Recovery::Sack, ecn), control, |_| false);
        pair.marked = vec![30];
        pair.run(201);
        pair.sender.ssthresh()
    };
    assert_eq!(after(EcnUse::Classic, reno(20, 2)), 10.0);
    assert_eq!(after(EcnUse::Abe, reno(20, 2)), 16.0);
    // 21 segments are out by then
    assert!((after(EcnUse::Classic, cubic(20)) - 0.7 * 21.0).abs() < 1e-9);
    assert!((after(EcnUse::Abe, cubic(20)) - 0.85 * 21.0).abs() < 1e-9);
    // in slow start half, as for a loss
    assert_eq!(after(EcnUse::Abe, reno(20, 1_000)), after(EcnUse::Classic, reno(20, 1_000)));
}

#[test]
fn a_loss_and_a_timeout_take_the_usual_course_with_ecn() {
    for recovery in MARKED {
        let outcome = |ecn| {
            let lose = lose_once((100..110).chain([200]));
            let mut pair = Pair::new(&capable(recovery, ecn), reno(30, 2), lose);
            pair.run(8_000);
            (pair.log.clone(), pair.count(SegmentKind::Retransmission))
        };
        assert_eq!(outcome(EcnUse::Off), outcome(EcnUse::Classic), "{recovery:?}");
    }
}
