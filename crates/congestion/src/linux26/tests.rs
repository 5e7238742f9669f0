use super::*;

const LOSS: Congestion = Congestion { event: CongestionEvent::Loss, flight: 1, receive_window: 1_000 };

fn control(cwnd: u32, ssthresh: u32, law: Linux26Law) -> Linux26 {
    Linux26::new(cwnd, Some(ssthresh), 1_000, law)
}

/// An acknowledgment of segment `una` - 1, with the window used, after a round trip of `rtt_ms`.
fn ack(una: u32, sent_to: u32, rtt_ms: u64) -> KernelAck {
    let rtt = Some(Span::from_ms(rtt_ms));
    let sample =
        AckSample { acked: 1, rtt, srtt: Span::from_ms(rtt_ms), una, sent_to, ..AckSample::default() };
    KernelAck {
        sample,
        prior_inflight: u32::MAX,
        open: true,
        grows: true,
        exact: rtt,
        ..KernelAck::default()
    }
}

/// Acknowledgments, one a millisecond, each with as much out as the window.
fn acks(control: &mut Linux26, first: u32, count: u32, rtt_ms: u64) {
    for una in first..first + count {
        let sent_to = una + control.window.cwnd;
        control.on_kernel_ack(Time::ZERO + Span::from_ms(u64::from(una)), &ack(una, sent_to, rtt_ms));
    }
}

#[test]
fn slow_start_goes_on_where_the_window_equals_the_threshold() {
    let mut control = control(10, 10, Linux26Law::Reno);
    acks(&mut control, 1, 1, 100);
    assert_eq!(control.cwnd(), 11.0);
    acks(&mut control, 2, 10, 100);
    assert_eq!(control.cwnd(), 11.0);
    acks(&mut control, 12, 1, 100);
    assert_eq!(control.cwnd(), 12.0);
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut control = control(10, 100, Linux26Law::Reno);
    control.on_kernel_ack(Time::ZERO, &KernelAck { prior_inflight: 9, ..ack(1, 10, 100) });
    assert_eq!(control.cwnd(), 10.0);
}

#[test]
fn a_recovery_has_half_of_the_threshold_and_ends_with_the_window_it_is_given() {
    for (law, ssthresh, cwnd) in [
        (Linux26Law::Reno, 20.0, 10.0),
        (Linux26Law::Scalable, 35.0, 17.0),
        (Linux26Law::Vegas, 20.0, 10.0),
        (Linux26Law::Compound, 20.0, 10.0),
        (Linux26Law::Htcp, 20.0, 20.0),
        (Linux26Law::Westwood, 20.0, 2.0),
    ] {
        let mut control = control(40, 2, law);
        control.on_congestion(Time::ZERO, &LOSS);
        assert_eq!((control.ssthresh(), control.cwnd()), (ssthresh, cwnd), "{law:?}");
        control.adopt(15);
        control.on_recovery_exit(Time::ZERO);
        assert_eq!(control.cwnd(), 15.0, "{law:?}");
    }
}

#[test]
fn scalable_tcp_adds_a_segment_in_51_acknowledgments() {
    let mut control = control(100, 2, Linux26Law::Scalable);
    acks(&mut control, 1, 50, 100);
    assert_eq!(control.cwnd(), 100.0);
    acks(&mut control, 51, 1, 100);
    assert_eq!(control.cwnd(), 101.0);
}

#[test]
fn vegas_leaves_slow_start_with_a_threshold_of_two() {
    let mut control = control(10, 1_000, Linux26Law::Vegas);
    acks(&mut control, 1, 10, 100);
    assert_eq!(control.cwnd(), 20.0);
    // the round's end, and one with a queue
    acks(&mut control, 11, 60, 200);
    assert_eq!(control.ssthresh(), 2.0);
}

#[test]
fn vegas_takes_what_was_sent_in_a_recovery_for_a_rounds_data() {
    let mut control = control(20, 2, Linux26Law::Vegas);
    acks(&mut control, 1, 60, 100);
    let Law::Vegas(vegas) = &mut control.law else { panic!() };
    let first = vegas.round.sent();
    control.on_congestion(Time::ZERO, &LOSS);
    control.sent_to += 500;
    control.on_recovery_exit(Time::ZERO);
    let Law::Vegas(vegas) = &mut control.law else { panic!() };
    assert!(vegas.enabled);
    assert!(vegas.round.sent() > first + 400, "{} {first}", vegas.round.sent());
}

#[test]
fn westwood_falls_to_the_rate_times_the_shortest_round_trip() {
    let mut control = control(300, 2, Linux26Law::Westwood);
    // a segment of 1000 bytes a millisecond; 100 ms
    acks(&mut control, 1, 3_000, 100);
    control.on_congestion(Time::ZERO, &LOSS);
    // 990 bytes a millisecond: the sample's time is a millisecond longer
    assert!((95.0..=100.0).contains(&control.cwnd()), "{}", control.cwnd());
    assert!(control.ssthresh() >= 150.0);
}

#[test]
fn htcp_quickens_with_the_time_since_the_last_loss() {
    let grown = |after: u32| {
        let mut control = control(50, 2, Linux26Law::Htcp);
        acks(&mut control, 1, after, 100);
        let before = control.cwnd();
        acks(&mut control, after + 1, 500, 100);
        control.cwnd() - before
    };
    assert!(grown(5_000) > 5.0 * grown(1), "{} {}", grown(5_000), grown(1));
}

#[test]
fn compound_adds_a_part_of_the_windows_three_quarters_power() {
    let mut control = control(100, 2, Linux26Law::Compound);
    acks(&mut control, 1, 120, 100);
    let Law::Compound(compound) = &control.law else { panic!() };
    // 100^¾ is 31.6: an eighth of it, less one, in whole segments
    assert_eq!(compound.dwnd() % 2, 0);
    assert!(compound.dwnd() >= 2);
}

/// `init`: the laws begin with the first acknowledgment, not with the run.
#[test]
fn the_laws_begin_with_the_first_acknowledgment() {
    for law in [Linux26Law::Htcp, Linux26Law::Vegas, Linux26Law::Westwood, Linux26Law::Compound] {
        let mut control = control(10, 2, law);
        let now = Time::ZERO + Span::from_s(7);
        control.on_kernel_ack(now, &ack(5, 15, 100));
        match &control.law {
            Law::Htcp(htcp) => assert_eq!(htcp.last_congestion, Some(now)),
            Law::Vegas(vegas) => assert_eq!(vegas.round.sent(), 15),
            Law::Compound(compound) => assert_eq!(compound.round.sent(), 15),
            // begun at 7 s, no time has passed, and the five segments before are not counted
            Law::Westwood(westwood) => assert_eq!(westwood.needed(), 2),
            Law::Reno | Law::Scalable => unreachable!(),
        }
    }
}

/// `pkts_acked` and `rtt_sample` are called for new data.
#[test]
fn duplicates_do_not_count_for_h_tcp_and_vegas() {
    let duplicate = |open| {
        let new = ack(5, 15, 100);
        KernelAck { sample: AckSample { acked: 0, ..new.sample }, open, grows: false, ..new }
    };
    let mut htcp = control(10, 2, Linux26Law::Htcp);
    acks(&mut htcp, 1, 3, 100);
    htcp.on_kernel_ack(Time::ZERO + Span::from_s(1), &duplicate(false));
    let Law::Htcp(law) = &htcp.law else { panic!() };
    assert_eq!(law.measured(), (3, 0));
    htcp.on_kernel_ack(Time::ZERO + Span::from_s(1), &KernelAck { open: false, ..ack(5, 15, 100) });
    let Law::Htcp(law) = &htcp.law else { panic!() };
    assert_eq!(law.measured(), (0, 1_000), "but new data in a repair starts the count over");
    let vegas = |acked| {
        let mut control = control(10, 2, Linux26Law::Vegas);
        for una in [1, 2, 11] {
            let mut seen = ack(una, 10, 100);
            seen.sample.acked = if una == 2 { acked } else { 1 };
            seen.grows = una != 2;
            control.on_kernel_ack(Time::ZERO, &seen);
        }
        control.cwnd()
    };
    // with three samples the first round ends as Vegas says, with two as Reno does
    assert_eq!((vegas(1), vegas(0)), (9.0, 10.0));
}

/// `tcp_is_cwnd_limited` and `tcp_reno_cong_avoid`, with `sysctl_tcp_abc`: whole windows are counted, and what is over stays.
#[test]
fn reno_counts_segments_where_its_window_is_used() {
    let mut control = control(10, 2, Linux26Law::Reno);
    let mut acknowledge = |acked, prior_inflight| {
        let mut seen = ack(1, 10, 100);
        (seen.sample.acked, seen.prior_inflight) = (acked, prior_inflight);
        control.on_kernel_ack(Time::ZERO, &seen);
        (control.cwnd(), control.acked)
    };
    assert_eq!(acknowledge(25, 10), (11.0, 15));
    assert_eq!(acknowledge(1, 11), (12.0, 5));
    assert_eq!(acknowledge(9, 11), (12.0, 14), "its use is looked at");
    assert_eq!(acknowledge(0, 12), (13.0, 2));
}

/// While a loss is repaired, and after a timeout, Vegas's window grows as Reno's.
#[test]
fn vegas_is_reno_while_it_rests() {
    let mut control = control(40, 2, Linux26Law::Vegas);
    acks(&mut control, 1, 3, 100);
    control.on_congestion(Time::ZERO, &LOSS);
    control.window.cwnd = 30;
    acks(&mut control, 4, 29, 400);
    assert_eq!(control.cwnd(), 30.0);
    acks(&mut control, 33, 1, 400);
    assert_eq!(control.cwnd(), 31.0);
}

/// `tcp_slow_start` takes what was counted, also where Vegas calls it between rounds.
#[test]
fn slow_start_of_vegas_takes_the_count() {
    for (ssthresh, counted) in [(100, 0), (10, 0), (9, 1)] {
        let mut control = control(10, ssthresh, Linux26Law::Vegas);
        acks(&mut control, 1, 1, 100);
        assert_eq!(control.acked, counted, "{ssthresh}");
    }
}

/// `westwood_acked_count`: a duplicate stands for a segment, also before a loss is suspected.
#[test]
fn duplicates_count_for_westwood() {
    let mut control = control(10, 2, Linux26Law::Westwood);
    control.on_kernel_ack(Time::ZERO, &ack(5, 15, 100));
    for ms in 1..=100 {
        let new = ack(5, 15, 100);
        let duplicate = KernelAck { sample: AckSample { acked: 0, ..new.sample }, grows: false, ..new };
        control.on_kernel_ack(Time::ZERO + Span::from_ms(ms), &duplicate);
    }
    control.on_kernel_ack(Time::ZERO + Span::from_ms(150), &ack(6, 15, 100));
    let Law::Westwood(westwood) = &control.law else { panic!() };
    // 100 segments of 1000 bytes in 150 ms are 666 bytes a millisecond
    assert_eq!(westwood.needed(), 66);
}
