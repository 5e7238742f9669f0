//! What a sender does with echoed marks.

use bufferlab_congestion::{AnyControl, Cubic, CubicConfig, Dctcp, DctcpConfig};

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

/// Segments with the flag CWR in a run with these marks and losses.
fn with_cwr(ecn: EcnUse, control: AnyControl, marked: Vec<u32>, lost: Option<u32>) -> Vec<u32> {
    let mut pair = Pair::new(&capable(Recovery::Linux, ecn), control, lose_once(lost));
    pair.marked = marked;
    pair.run(1_000);
    pair.reduced
}

/// RFC 3168 section 6.1.2: "on the first new data packet sent after the window reduction"; Linux: after a loss, too.
#[test]
fn the_first_new_segment_after_a_reduction_says_so() {
    assert_eq!(with_cwr(EcnUse::Classic, reno(20, 2), vec![], None), [0; 0]);
    // the echo of 30 comes when 20 others are out, or 21 by the window's growth
    assert_eq!(with_cwr(EcnUse::Classic, reno(20, 2), vec![30], None), [51]);
    assert_eq!(with_cwr(EcnUse::Classic, reno(20, 2), vec![30, 31, 32], None), [51]);
    assert_eq!(with_cwr(EcnUse::Classic, reno(20, 2), vec![], Some(30)).len(), 1);
    assert_eq!(with_cwr(EcnUse::Off, reno(20, 2), vec![30], Some(70)), [0; 0]);
}

/// A loss in the round after a mark reduces nothing, so it says nothing.
#[test]
fn one_reduction_is_said_once() {
    assert_eq!(with_cwr(EcnUse::Classic, reno(40, 2), vec![50], Some(60)).len(), 1);
}

fn dctcp(window: u32) -> AnyControl {
    Dctcp::new(window, Some(2), DctcpConfig::default()).into()
}

/// Linux: the window comes down over the round, whoever works out how far, and does not grow in it.
#[test]
fn a_control_that_counts_marks_comes_down_in_the_same_way() {
    for recovery in [Recovery::Sack, Recovery::Linux] {
        let mut pair = Pair::new(&capable(recovery, EcnUse::Off), dctcp(40), |_| false);
        pair.marked = vec![40];
        pair.run(201);
        // of the first estimate, 1024/1024, two rounds without marks have taken a sixteenth each
        assert_eq!(pair.sender.ssthresh(), f64::from(41 - 41 * 900 / 2048), "{recovery:?}");
        let moment = Time::ZERO + Span::from_ms(200);
        let sent = pair.log.iter().filter(|(at, _)| *at == moment).count();
        assert_eq!(sent, 23, "{recovery:?}");
        pair.run(299);
        assert_eq!(pair.sender.cwnd(), 23.0, "{recovery:?}: no growth in the round");
        pair.run(500);
        assert!(pair.sender.cwnd() > 23.0, "{recovery:?}");
    }
}
