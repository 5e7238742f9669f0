use super::*;
use crate::bare_link::BareLink;

const BASE: Span = Span::from_ms(20);

fn new() -> LedbatPlusPlus {
    LedbatPlusPlus::new(10, None, LedbatPlusPlusConfig::default())
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// An acknowledgment of `acked` segments, which waited on a path of 20 ms.
fn ack(control: &mut LedbatPlusPlus, ms: u64, acked: u32, waited_ms: u64) {
    let rtt = BASE + Span::from_ms(waited_ms);
    // every acknowledgment ends a round
    control.on_ack(at(ms), &AckSample { acked, rtt: Some(rtt), srtt: rtt, ..AckSample::default() });
}

/// A window that delay governs, on a path of 20 ms where packets wait.
fn waiting(cwnd: f64, waited_ms: u64) -> LedbatPlusPlus {
    let mut control = new();
    (control.cwnd, control.ssthresh) = (cwnd, cwnd);
    control.phase = Phase::Steady { slowdown: Time::NEVER };
    control.delay.measure(Time::ZERO, BASE);
    for _ in 0..4 {
        control.delay.measure(Time::ZERO, BASE + Span::from_ms(waited_ms));
    }
    control
}

fn congestion(event: CongestionEvent, flight: u32) -> Congestion {
    Congestion { event, flight, receive_window: 1_000 }
}

fn loss(control: &mut LedbatPlusPlus, flight: u32) {
    control.on_congestion(at(1_000), &congestion(CongestionEvent::Loss, flight));
}

/// Section 4.2: 1 / min(16, ⌈2·60 ms / base⌉).
#[test]
fn growth_is_renos_where_the_path_takes_120_ms_and_less_on_shorter_ones() {
    let paths = [
        (200.0, 1.0),
        (120.0, 1.0),
        (119.0, 2.0),
        (60.0, 2.0),
        (20.0, 6.0),
        (8.0, 15.0),
        (7.5, 16.0),
        (1.0, 16.0),
    ];
    for (base_ms, divisor) in paths {
        let mut control = new();
        control.delay.measure(Time::ZERO, Span::from_us((base_ms * 1_000.0) as u64));
        assert_eq!(control.gain(), 1.0 / divisor, "{base_ms}");
    }
    assert_eq!(new().gain(), 1.0 / 16.0);
}

/// Section 4.3: "W += GAIN" below the target, whatever the delay.
#[test]
fn the_window_grows_by_the_gain_each_round_trip_up_to_the_target() {
    for waited_ms in [0, 30, 60] {
        let mut control = waiting(100.0, waited_ms);
        control.adjust();
        assert_eq!(control.cwnd(), 100.0 + 1.0 / 6.0, "{waited_ms}");
    }
}

/// Section 4.3: "W += max( (GAIN - Constant * W * (delay/target - 1)), -W/2) )".
#[test]
fn above_the_target_the_window_shrinks_in_proportion_and_by_half_at_most() {
    for (waited_ms, cwnd) in
        [(66, 100.0 + 1.0 / 6.0 - 10.0), (75, 75.0 + 1.0 / 6.0), (90, 50.0 + 1.0 / 6.0), (600, 50.0)]
    {
        let mut control = waiting(100.0, waited_ms);
        control.adjust();
        assert!((control.cwnd() - cwnd).abs() < 1e-9, "{waited_ms}: {}", control.cwnd());
        assert!(!control.in_slow_start(), "{waited_ms}");
    }
}

/// Section 4.3: "the congestion window never decreases below 2 packets".
#[test]
fn two_segments_are_left() {
    let mut control = waiting(3.0, 1_000);
    control.adjust();
    assert_eq!(control.cwnd(), 2.0);
}

/// Section 4.3: "Assuming that the congestion window is changed once per roundtrip measurement."
#[test]
fn the_window_changes_once_a_round_trip() {
    let mut control = waiting(100.0, 0);
    let acked = |una| AckSample { acked: 1, una, sent_to: una + 100, ..AckSample::default() };
    control.rounds.restart(&acked(0));
    for una in 1..100 {
        control.on_ack(at(1), &acked(una));
        assert_eq!(control.cwnd(), 100.0);
    }
    control.on_ack(at(1), &acked(100));
    assert_eq!(control.cwnd(), 100.0 + 1.0 / 6.0);
}

/// Section 4.1: two segments at first, then "that number multiplied by the dynamic GAIN value".
#[test]
fn slow_start_begins_with_two_segments_and_adds_the_gain_for_each() {
    let mut control = new();
    assert_eq!(control.cwnd(), 2.0);
    for _ in 0..6 {
        ack(&mut control, 20, 2, 0);
    }
    assert!((control.cwnd() - 4.0).abs() < 1e-9);
    let small = LedbatPlusPlus::new(1, Some(1), LedbatPlusPlusConfig::default());
    assert_eq!((small.cwnd(), small.ssthresh()), (1.0, 2.0));
}

/// Section 4.1: "If the queuing delay is larger than 3/4ths of the target delay, exit slow start".
#[test]
fn the_first_slow_start_ends_where_packets_wait_for_45_ms() {
    for (waited_ms, starts) in [(45, true), (46, false)] {
        let mut control = waiting(50.0, waited_ms);
        (control.phase, control.ssthresh) = (Phase::Starting, NO_THRESHOLD);
        ack(&mut control, 100, 6, waited_ms);
        assert_eq!(control.phase == Phase::Starting, starts, "{waited_ms}");
        assert_eq!(control.cwnd(), if starts { 51.0 } else { 50.0 });
    }
}

#[test]
fn a_slow_start_that_ends_with_one_segment_leaves_two() {
    let mut control = waiting(1.0, 46);
    (control.phase, control.ssthresh) = (Phase::Starting, NO_THRESHOLD);
    ack(&mut control, 100, 1, 46);
    assert_eq!((control.cwnd(), control.ssthresh()), (1.0, 2.0));
}

/// Section 4.1: "Exit slow start in on excessive delay SHOULD be applied only during the initial slow start."
#[test]
fn later_slow_starts_go_on_to_the_threshold() {
    let mut control = waiting(10.0, 59);
    control.ssthresh = 20.0;
    for phase in [Phase::Returning { entered: at(0) }, Phase::Steady { slowdown: Time::NEVER }] {
        (control.phase, control.cwnd) = (phase, 10.0);
        for _ in 0..4 {
            ack(&mut control, 1_000, 10, 59);
        }
        assert!((control.cwnd() - 10.0 - 40.0 / 6.0).abs() < 1e-9, "{phase:?}");
    }
}

/// Section 4.4, from the end of the first slow start to the second slowdown.
#[test]
fn slowdowns_take_a_tenth_of_the_time() {
    let mut control = waiting(60.0, 46);
    (control.phase, control.ssthresh) = (Phase::Starting, NO_THRESHOLD);
    ack(&mut control, 1_000, 1, 46);
    // two round trips of 66 ms
    assert_eq!(control.phase, Phase::Steady { slowdown: at(1_132) });
    ack(&mut control, 1_131, 1, 46);
    assert!(control.cwnd() > 60.0);
    let before = control.cwnd();
    ack(&mut control, 1_132, 1, 46);
    assert_eq!((control.cwnd(), control.ssthresh()), (2.0, before));
    ack(&mut control, 1_263, 50, 46);
    assert_eq!(control.cwnd(), 2.0);
    ack(&mut control, 1_264, 2, 0);
    assert!(control.cwnd() > 2.0);
    let mut ms = 1_265;
    while control.in_slow_start() {
        ack(&mut control, ms, 2, 0);
        ms += 1;
    }
    let took = ms - 1 - 1_132;
    assert_eq!(control.cwnd(), before);
    assert_eq!(control.phase, Phase::Steady { slowdown: at(ms - 1 + 9 * took) });
}

#[test]
fn slowdowns_can_be_left_out() {
    let config = LedbatPlusPlusConfig { slowdowns: false, ..LedbatPlusPlusConfig::default() };
    let mut control = LedbatPlusPlus::new(10, Some(10), config);
    control.end_start(at(1_000));
    assert_eq!(control.phase, Phase::Steady { slowdown: Time::NEVER });
}

#[test]
fn a_slowdown_waits_for_a_slow_start() {
    let mut control = waiting(10.0, 0);
    (control.ssthresh, control.phase) = (11.0, Phase::Steady { slowdown: at(0) });
    ack(&mut control, 1_000, 6, 0);
    assert_eq!(control.cwnd(), 11.0);
    ack(&mut control, 1_001, 6, 0);
    assert_eq!((control.cwnd(), control.ssthresh()), (2.0, 11.0));
}

/// RFC 5681 equation 4.
#[test]
fn a_loss_or_a_mark_halves_what_is_in_flight() {
    for event in
        [CongestionEvent::Loss, CongestionEvent::Mark { mild: false }, CongestionEvent::Mark { mild: true }]
    {
        let mut control = waiting(100.0, 0);
        control.on_congestion(at(1_000), &congestion(event, 91));
        assert_eq!((control.cwnd(), control.ssthresh()), (45.0, 45.0));
    }
    // delay took the window below half of what is still in flight
    let mut control = waiting(30.0, 0);
    loss(&mut control, 100);
    assert_eq!(control.cwnd(), 30.0);
    loss(&mut control, 3);
    assert_eq!(control.cwnd(), 2.0);
}

#[test]
fn a_loss_ends_the_first_slow_start() {
    let mut control = new();
    ack(&mut control, 20, 2, 0);
    loss(&mut control, 2);
    assert_eq!(control.phase, Phase::Steady { slowdown: at(1_040) });
}

#[test]
fn a_loss_from_before_a_slowdown_halves_what_it_returns_to() {
    let mut control = waiting(64.0, 0);
    control.srtt = BASE;
    control.slow_down(at(1_000));
    loss(&mut control, 66);
    assert_eq!((control.cwnd(), control.ssthresh()), (2.0, 32.0));
    assert_eq!(control.phase, Phase::Frozen { entered: at(1_000), until: at(1_040) });
}

#[test]
fn a_loss_while_the_window_returns_ends_the_slowdown_there() {
    let mut control = waiting(20.0, 0);
    (control.ssthresh, control.phase) = (64.0, Phase::Returning { entered: at(900) });
    loss(&mut control, 20);
    assert_eq!((control.cwnd(), control.ssthresh()), (10.0, 10.0));
    ack(&mut control, 1_100, 1, 0);
    assert_eq!(control.phase, Phase::Steady { slowdown: at(1_100 + 9 * 200) });
}

/// RFC 5681 section 3.1.
#[test]
fn a_timeout_leaves_one_segment_and_a_repeated_one_holds_the_threshold() {
    let mut control = waiting(40.0, 0);
    for repeated in [false, true] {
        control.on_congestion(at(1_000), &congestion(CongestionEvent::Timeout { repeated }, 40));
        assert_eq!((control.cwnd(), control.ssthresh()), (1.0, 20.0));
    }
    ack(&mut control, 1_100, 6, 0);
    assert_eq!(control.cwnd(), 2.0);
    let mut control = new();
    control.on_congestion(at(1_000), &congestion(CongestionEvent::SynTimeout, 0));
    assert_eq!((control.cwnd(), control.phase), (1.0, Phase::Starting));
}

#[test]
fn a_timeout_in_a_slowdown_returns_to_half() {
    let mut control = waiting(64.0, 0);
    control.slow_down(at(1_000));
    control.on_congestion(at(1_500), &congestion(CongestionEvent::Timeout { repeated: false }, 2));
    assert_eq!((control.cwnd(), control.ssthresh()), (1.0, 32.0));
    assert_eq!(control.phase, Phase::Returning { entered: at(1_000) });
}

#[test]
fn a_lone_flow_keeps_the_link_busy_and_the_target_waiting() {
    for (ms, segments_per_s) in [(20, 1_000), (20, 10_000), (100, 1_000)] {
        let link = BareLink::new(segments_per_s, Span::from_ms(ms), 100_000);
        let report = link.run(&mut new(), at(200_000), |_, _, _| {});
        let waited_ms = report.mean_waiting / segments_per_s as f64 * 1e3;
        assert!(report.utilization > 0.9, "{ms} {segments_per_s}: {report:?}");
        assert!(waited_ms > 40.0 && waited_ms < 66.0, "{ms} {segments_per_s}: {waited_ms}");
        assert_eq!(report.dropped, 0);
    }
}

#[test]
fn a_short_buffer_makes_it_a_slow_reno() {
    // 20 ms of buffer, a third of the target: only losses hold it back
    let report = BareLink::new(1_000, BASE, 20).run(&mut new(), at(200_000), |_, _, _| {});
    assert!(report.dropped > 10 && report.utilization > 0.85, "{report:?}");
}
