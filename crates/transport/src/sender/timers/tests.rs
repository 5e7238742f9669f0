use bufferlab_congestion::{AnyControl, Fixed};

use super::*;
use crate::sender::tests::{Pair, config, lose_once};
use crate::{Recovery, TcpConfig};

const RTO: Span = Span::from_ms(300);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A window of ten segments, all sent, and round trips of 100 ms.
fn sent_window() -> (SendWindow, RttEstimator) {
    let mut window = SendWindow::new(10, 10);
    (0..10).for_each(|seq| window.on_new(seq));
    let mut rtt = RttEstimator::new(RTO, RTO, RTO, Span::from_ps(1));
    rtt.update(Span::from_ms(100));
    (window, rtt)
}

#[test]
fn the_timer_runs_while_something_is_out() {
    let mut timers = Timers::new(0);
    assert_eq!((timers.next(), timers.expire(at(1))), (Time::NEVER, None));
    timers.start_if_idle(at(0), || RTO);
    timers.start_if_idle(at(100), || RTO);
    assert_eq!(timers.next(), at(300), "a segment that follows does not put it off");
    timers.restart(at(100), RTO, 1);
    assert_eq!((timers.expire(at(399)), timers.expire(at(400))), (None, Some(Timer::Retransmission)));
    timers.restart(at(500), RTO, 0);
    assert_eq!(timers.next(), Time::NEVER);
}

#[test]
fn what_waits_for_its_pace_is_woken_apart_from_the_timer() {
    let mut timers = Timers::new(0);
    timers.start(at(0), RTO);
    timers.wait_until(at(10));
    assert_eq!(timers.next(), at(10));
    assert!(!timers.is_released(at(9)) && timers.is_released(at(10)));
    assert_eq!((timers.expire(at(10)), timers.next()), (None, at(300)));
}

#[test]
fn a_probe_is_planned_once_for_the_same_tail() {
    let ((mut window, rtt), mut timers) = (sent_window(), Timers::new(0));
    timers.restart(at(0), RTO, window.outstanding());
    timers.plan_probe(at(0), false, &window, &rtt);
    assert_eq!(timers.next(), at(300), "a loss is suspected");
    timers.plan_probe(at(0), true, &window, &rtt);
    assert_eq!((timers.next(), timers.expire(at(202))), (at(202), Some(Timer::Probe)));
    window.take_next();
    assert_eq!(timers.take_probe(&mut window), Segment { kind: SegmentKind::New, seq: 1 });
    assert_eq!(timers.probed_to, 2);
}

#[test]
fn reordering_is_waited_for_a_quarter_of_the_shortest_round_trip() {
    let ((_, rtt), mut timers) = (sent_window(), Timers::new(0));
    timers.start(at(0), RTO);
    timers.plan_reordering(at(100), &rtt);
    timers.plan_reordering(at(110), &rtt);
    assert_eq!((timers.next(), timers.expire(at(125))), (at(125), Some(Timer::Reordering)));
    timers.start(at(0), Span::from_ms(10));
    timers.plan_reordering(at(0), &rtt);
    assert_eq!(timers.expire(at(10)), Some(Timer::Retransmission), "a timeout that comes first stays");
}

/// Over 100 ms there and back: when each segment from `seq` on was sent, ms, and whether it was new.
fn sent<F: FnMut(Segment) -> bool>(pair: &Pair<F>, seq: u32) -> Vec<(u64, u32, bool)> {
    let data = pair.log.iter().filter(|(_, segment)| segment.kind != SegmentKind::Syn && segment.seq >= seq);
    data.map(|(at, segment)| (at.as_ps() / 1_000_000_000, segment.seq, segment.kind == SegmentKind::New))
        .collect()
}

#[test]
fn a_probe_goes_in_place_of_an_earlier_timeout() {
    // the timeout is 200 ms, two round trips and the margin are more; segments 10 and 11 leave after the same 100 ms,
    // each for an acknowledgment that leaves one out
    for (transfer_segments, probe) in [(13, (700, 12, true)), (12, (700, 11, false))] {
        let lose = lose_once([10, 11]);
        let mut pair = Pair::sending(transfer_segments, &config(Recovery::Linux), Fixed::new(2).into(), lose);
        pair.run(10_000);
        // the probe's acknowledgment reveals the loss; the retransmission follows a quarter of the round trip later
        assert_eq!(sent(&pair, 10)[..4], [(500, 10, true), (500, 11, true), probe, (825, 10, false)]);
        assert_eq!(pair.receiver.delivered(), transfer_segments);
        assert_eq!(pair.sender.counters().timeouts, 0);
    }
}

#[test]
fn a_lost_probe_is_followed_by_the_timeout() {
    let mut losses = 0;
    let lose = move |segment: Segment| {
        losses += u32::from(segment.seq >= 10);
        segment.seq >= 10 && losses <= 3
    };
    let mut pair = Pair::sending(12, &config(Recovery::Linux), Fixed::new(2).into(), lose);
    pair.run(10_000);
    assert_eq!(sent(&pair, 10)[..4], [(500, 10, true), (500, 11, true), (700, 11, false), (900, 10, false)]);
    assert_eq!((pair.receiver.delivered(), pair.sender.counters().timeouts), (12, 1));
}

/// A departure: nothing is acknowledged after the segment leaves that could plan a probe.
#[test]
fn a_window_of_one_segment_waits_for_the_timeout() {
    let mut pair = Pair::sending(7, &config(Recovery::Linux), Fixed::new(1).into(), lose_once([5]));
    pair.run(10_000);
    assert_eq!(sent(&pair, 5), [(500, 5, true), (700, 5, false), (800, 6, true)]);
    assert_eq!(pair.sender.counters().timeouts, 1);
}

#[test]
fn after_a_lost_syn_the_timeout_is_three_seconds_unless_there_is_a_sample() {
    // the SYN goes at 0 and 1 s and is answered 100 ms later; the first segment is lost
    let first = |recovery, timestamps| {
        let mut losses = 0;
        let lose = move |_| {
            losses += 1;
            losses == 1 || losses == 3
        };
        let rto_margin = Span::from_ms(200);
        let config = TcpConfig { handshake: true, timestamps, rto_margin, ..config(recovery) };
        let control: AnyControl = Fixed::new(1).into();
        let mut pair = Pair::new(&config, control, lose);
        pair.run(5_000);
        sent(&pair, 0)[..2].iter().map(|&(at_ms, ..)| at_ms).collect::<Vec<_>>()
    };
    for recovery in [Recovery::Tahoe, Recovery::NewReno, Recovery::Sack, Recovery::Linux] {
        assert_eq!(first(recovery, false), [1_100, 4_100], "{recovery:?}");
        assert_eq!(first(recovery, true), [1_100, 1_400], "{recovery:?}");
    }
    // ns-2 keeps what the timeouts of the SYN left, twice a second
    for recovery in [Recovery::SackNs2, Recovery::RenoNs2, Recovery::NewRenoNs2] {
        assert_eq!(first(recovery, false), [1_100, 3_100], "{recovery:?}");
    }
}
