//! BBR version 1 alone on a bare link.

use super::*;
use crate::bare_link::BareLink;

/// 100 ms and 1,000 segments.
const LINK: BareLink = BareLink::new(10_000, Span::from_ms(100), 2_000);

fn control() -> Bbr1 {
    Bbr1::new(10, 1448, Stream::new(1, 2, 3))
}

#[test]
fn startup_doubles_finds_the_bandwidth_and_drains() {
    let mut control = control();
    let mut modes = vec![Mode::Startup];
    LINK.run(&mut control, Time::ZERO + Span::from_s(3), |_, control: &Bbr1, _| {
        if *modes.last().unwrap() != control.mode {
            modes.push(control.mode);
        }
    });
    assert_eq!(modes, [Mode::Startup, Mode::Drain, Mode::ProbeBw]);
    assert!((control.bw.best() / 10_000.0 - 1.0).abs() < 0.02, "{}", control.bw.best());
    assert_eq!(control.min_rtt, Some(LINK.shortest()));
}

#[test]
fn the_gain_cycle_is_an_eighth_up_an_eighth_down_and_six_eighths_level() {
    let mut control = control();
    let mut phases = Vec::new();
    LINK.run(&mut control, Time::ZERO + Span::from_s(9), |now, control: &Bbr1, _| {
        if control.mode == Mode::ProbeBw && phases.last().is_none_or(|&(phase, _)| phase != control.phase) {
            phases.push((control.phase, now));
        }
    });
    assert!(phases.len() > 24);
    for pair in phases.windows(2).skip(2) {
        let ((phase, from), (next, to)) = (pair[0], pair[1]);
        assert_eq!(next, (phase + 1) % 8);
        // a phase lasts a round-trip time; draining may be shorter, probing longer
        let length = (to - from).as_s();
        assert!(length < 0.3 && (length > 0.099 || phase == 1), "{phase}: {length}");
    }
}

#[test]
fn a_path_that_got_longer_is_emptied_after_ten_seconds_for_a_fifth_of_one() {
    let mut control = control();
    let (mut begun, mut ended) = (None, None);
    let moment = Time::ZERO + Span::from_s(2);
    let link = LINK.longer_from(moment, Span::from_ms(20));
    link.run(&mut control, Time::ZERO + Span::from_s(15), |now, control: &Bbr1, _| {
        if control.mode == Mode::ProbeRtt {
            assert!(control.cwnd() <= 4.0);
            begun.get_or_insert(now);
        } else if begun.is_some() {
            ended.get_or_insert(now);
        }
    });
    let stay = (ended.unwrap() - begun.unwrap()).as_s();
    let wait = (begun.unwrap() - moment).as_s();
    // the shortest time was seen last in the drain or in the cycle before the path changed
    assert!((8.0..10.5).contains(&wait) && (0.2..0.6).contains(&stay), "{wait} {stay}");
    assert_eq!(control.min_rtt, Some(LINK.shortest() + Span::from_ms(20)));
    assert!((control.bw.best() / 10_000.0 - 1.0).abs() < 0.02);
}

#[test]
fn round_trips_as_short_as_the_shortest_do_not_put_the_probe_off() {
    let mut control = control();
    let mut probed = None;
    LINK.run(&mut control, Time::ZERO + Span::from_s(12), |now, control: &Bbr1, _| {
        if control.mode == Mode::ProbeRtt {
            probed.get_or_insert(now);
        }
    });
    let probed = probed.expect("a probe after ten seconds without a shorter round trip");
    assert!(
        probed > Time::ZERO + Span::from_s(10) && probed < Time::ZERO + Span::from_ms(11_000),
        "{probed:?}"
    );
}

#[test]
fn the_link_is_used_and_the_queue_is_not_filled() {
    let mut control = control();
    let report = LINK.run(&mut control, Time::ZERO + Span::from_s(9), |_, _, _| {});
    assert!(report.utilization > 0.97, "{report:?}");
    assert!(report.mean_waiting < 300.0, "{report:?}");
}

#[test]
fn small_buffers_lose_without_starving() {
    let mut control = control();
    let link = BareLink::new(10_000, Span::from_ms(100), 100);
    let report = link.run(&mut control, Time::ZERO + Span::from_s(9), |_, _, _| {});
    assert!(report.dropped > 0 && report.utilization > 0.85, "{report:?}");
}

/// 10,000 segments a second of 1448 bytes: what leaves in a 1024th of a second is 9 segments and some.
#[test]
fn the_window_allows_for_packets_of_several_segments_whatever_the_card_takes() {
    let flights = [true, false].map(|offload| {
        let context = Context {
            initial_window: 10,
            initial_ssthresh: None,
            wire_bytes: 1500,
            mss_bytes: 1448,
            offload,
            stream: Stream::new(1, 2, 3),
        };
        let mut control = Bbr1Config {}.build(context);
        LINK.run(&mut control, Time::ZERO + Span::from_s(3), |_, _: &Bbr1, _| {});
        control.target_inflight(1.0)
    });
    // the phase decides on the gain of the pace, 0.75 to 1.25, and so on the goal
    let more = flights[0] - 1_001.0;
    assert!((3.0 * 6.0..=3.0 * 12.0).contains(&more), "{more}");
    assert_eq!(flights[0], flights[1]);
}

#[test]
fn the_flight_is_counted_ahead_to_the_next_departure() {
    let mut control = control();
    control.bw.update(1, 1_000.0);
    (control.mode, control.tso_goal) = (Mode::ProbeBw, 2.0);
    let ahead = |control: &Bbr1, us| control.inflight_at_departure(10.0, Span::from_us(us));
    control.phase = 0;
    assert_eq!([0, 999, 2_500].map(|us| ahead(&control, us)), [12.0, 12.0, 10.0], "it grows by a packet");
    control.phase = 1;
    assert_eq!([0, 999, 2_500, 90_000].map(|us| ahead(&control, us)), [10.0, 10.0, 8.0, 0.0]);
}

/// Linux 6.12 at 10 Mbps, alone, 20 ms: 7.48 ms, or 6.2 packets, wait on average, also in ten times the buffer (docs/kernel.md).
#[test]
fn what_stands_in_the_queue_is_as_much_as_in_linux() {
    let mut control = control();
    let link = BareLink::new(833, Span::from_ms(20), 100);
    let report = link.run(&mut control, Time::ZERO + Span::from_s(60), |_, _, _| {});
    assert!((report.mean_waiting - 6.2).abs() < 0.5, "{report:?}");
}

/// In the gain cycle, in this phase since 1 s, at 1,000 segments a second and 100 ms; packets are of one segment.
fn cycling(phase: usize) -> Bbr1 {
    let mut control = control();
    control.bw.update(0, 1_000.0);
    (control.min_rtt, control.min_rtt_s) = (Some(Span::from_ms(100)), 0.1);
    (control.mode, control.phase, control.phase_at) = (Mode::ProbeBw, phase, Time::ZERO + Span::from_s(1));
    (control.tso_goal, control.full_bw_reached) = (1.0, true);
    control
}

/// `bbr_is_next_cycle_phase`. A window of 1.25 (1) pipes is 130 (104) segments: three packets in the hosts, made even, and
/// two more while probing.
#[test]
fn a_phase_of_the_cycle_is_over_as_in_linux() {
    let table = [
        // (phase, us in it, losses, segments that were in flight, over)
        (0, 100_000, false, 500, false),
        (0, 100_001, false, 129, true), // with the packet that leaves, 130
        (0, 100_001, false, 128, false),
        (0, 100_001, true, 10, true),
        (0, 100_000, true, 10, false),
        (1, 100_000, false, 105, false),
        (1, 100_001, false, 105, true),
        (1, 1, false, 104, true),
        (2, 100_000, true, 10, false),
        (7, 100_001, false, 500, true),
    ];
    for (phase, us, lost, inflight, over) in table {
        let mut control = cycling(phase);
        let now = control.phase_at + Span::from_us(us);
        control.update_phase(now, f64::from(inflight), Span::ZERO, lost);
        let expected = if over { ((phase + 1) % 8, now) } else { (phase, Time::ZERO + Span::from_s(1)) };
        assert_eq!((control.phase, control.phase_at), expected, "{phase} {us} {lost} {inflight}");
        control.mode = Mode::ProbeRtt;
        control.update_phase(now + Span::from_s(9), 500.0, Span::ZERO, true);
        assert_eq!(control.phase, expected.0, "no cycle outside of it");
    }
}

/// `bbr_reset_probe_bw_mode`: a cycle begins in any phase but the second, which drains.
#[test]
fn a_cycle_begins_anywhere_but_in_the_drain() {
    let mut control = cycling(0);
    let mut begun = [0; 8];
    for _ in 0..200 {
        control.begin_cycle(Time::ZERO);
        begun[control.phase] += 1;
    }
    assert_eq!(begun.map(|times| times > 0), [true, false, true, true, true, true, true, true], "{begun:?}");
}

/// `bbr_check_full_bw_reached`: three rounds without 25 % more, of those that the path limits.
#[test]
fn the_pipe_is_full_after_three_rounds_of_little_growth() {
    let mut control = control();
    let mut seen = Vec::new();
    for (round, bandwidth) in
        [1_000.0, 1_250.0, 1_500.0, 1_500.0, 1_562.5, 1_900.0, 1_900.0, 1_900.0].into_iter().enumerate()
    {
        control.bw.update(round as u64, bandwidth);
        (control.rounds.started, control.rounds.count) = (true, round as u64);
        control.check_full_pipe(true);
        control.check_full_pipe(false);
        control.rounds.started = false;
        control.check_full_pipe(false);
        seen.push((control.full_bw_rounds, control.full_bw_reached));
    }
    let expected = [0, 0, 1, 2, 0, 1, 2, 3].map(|rounds| (rounds, rounds == 3));
    assert_eq!(seen, expected);
}

/// `bbr_update_bw`: a sample of a sender that something else limited counts only where it is no smaller than what is known.
#[test]
fn limited_samples_teach_a_larger_bandwidth_only() {
    let after = |samples: &[(u64, bool)], held_down: bool| {
        let mut control = cycling(2);
        let mut rate = RateSample { interval: Span::from_ms(100), ..RateSample::default() };
        for &(volume, app_limited) in samples {
            (rate.prior_delivered, rate.app_limited) = (rate.delivered, app_limited);
            rate.delivered += volume;
            if held_down {
                control.held_down.cover(rate.prior_delivered, 0);
            }
            control.update_bw(Time::ZERO, &rate, false);
        }
        control.bw.best().round()
    };
    assert_eq!(after(&[(50, true); 20], false), 1_000.0);
    assert_eq!(after(&[(50, false); 20], true), 1_000.0, "sent in a probe of the round-trip time");
    assert_eq!(after(&[(50, false); 20], false), 500.0);
    assert_eq!(after(&[(100, true), (120, true)], false), 1_200.0);
    // as much again is as new as it comes
    let equal = [&[(100, true); 12][..], &[(50, false)]].concat();
    assert_eq!(after(&equal, false), 1_000.0);
}

/// `bbr_ack_aggregation_cwnd`: whole segments, of 100 ms at most, and not before the pipe was full.
#[test]
fn the_window_grows_for_aggregation_by_a_tenth_of_a_second_at_most() {
    let mut control = cycling(2);
    control.aggregation.update(Time::ZERO, 250, 1, (1_000.0, 120.5));
    assert_eq!(control.extra_acked(), 100.0);
    control.bw.update(0, 1_300.0);
    assert_eq!(control.extra_acked(), 120.0);
    control.full_bw_reached = false;
    assert_eq!(control.extra_acked(), 0.0);
}

/// `bbr_set_cwnd_to_recover_or_restore`.
#[test]
fn a_recoverys_first_round_conserves_packets_and_its_end_restores_the_window() {
    let mut control = cycling(2);
    control.cwnd = 200.0;
    let loss = Congestion { event: CongestionEvent::Loss, flight: 150, receive_window: 1_000 };
    control.on_congestion(Time::ZERO, &loss);
    let (mut delivered, mut now) = (1_000, Time::ZERO + Span::from_s(2));
    let mut acknowledge = |control: &mut Bbr1, acked: u32, inflight, prior_delivered, lost| {
        delivered += u64::from(acked);
        now += Span::from_ms(500);
        let interval = Span::from_s(1);
        let rate = RateSample { delivered, prior_delivered, interval, lost, ..RateSample::default() };
        control.phase = 2;
        control.on_ack(now, &AckSample { acked, inflight, rate: Some(rate), ..AckSample::default() });
        control.cwnd
    };
    // what was in flight after the loss, and what arrived
    assert_eq!(acknowledge(&mut control, 2, 90, 900, 10), 92.0);
    assert_eq!(acknowledge(&mut control, 1, 95, 950, 10), 96.0);
    assert_eq!(
        acknowledge(&mut control, 1, 95, 950, 13),
        96.0,
        "less for losses, and no less than is in flight"
    );
    // the next round grows by what arrives, to the model's window: two pipes, 100 for aggregation, made even with the hosts' six
    assert_eq!(acknowledge(&mut control, 4, 90, 1_004, 13), 100.0);
    assert_eq!(acknowledge(&mut control, 150, 90, 1_004, 13), 250.0);
    assert_eq!(acknowledge(&mut control, 150, 90, 1_004, 13), 306.0);
    control.cwnd = 150.0;
    control.on_recovery_exit(Time::ZERO);
    assert_eq!(control.cwnd, 200.0);
    control.on_recovery_exit(Time::ZERO);
    control.on_congestion(
        Time::ZERO,
        &Congestion { event: CongestionEvent::Timeout { repeated: false }, ..loss },
    );
    assert_eq!((control.cwnd, control.prior_cwnd, control.repair), (1.0, 200.0, Repair::TimedOut));
    control.cwnd = 8.0;
    control.on_congestion(Time::ZERO, &loss);
    assert_eq!(
        (control.prior_cwnd, control.repair),
        (200.0, Repair::Begun),
        "the larger is kept in a repair"
    );
}

/// "Wait for the first loss before sampling, to let the policer exhaust its tokens": two intervals of four rounds after it.
#[test]
fn a_policer_is_seen_eight_rounds_after_the_first_loss_and_then_its_rate_is_kept() {
    let mut control = cycling(2);
    let mut rate = RateSample { interval: Span::from_ms(100), ..RateSample::default() };
    let mut paces = Vec::new();
    for round in 0..14_u64 {
        let (volume, lost) = if round < 5 { (400, 0) } else { (100, 25) };
        rate.prior_delivered = rate.delivered;
        rate.delivered += volume;
        rate.lost += lost;
        let sample = AckSample { acked: volume as u32, rate: Some(rate), ..AckSample::default() };
        let now = Time::ZERO + Span::from_ms(100 * round);
        (control.mode, control.phase) = (Mode::ProbeBw, 0);
        control.on_ack(now, &sample);
        paces.push(control.bandwidth().round());
    }
    assert_eq!(paces[..12], [4_000.0; 12]);
    assert_eq!(paces[12..], [1_000.0, 1_000.0]);
    assert_eq!(control.pacing_gain(), 1.0, "no cycle around a policer's rate");
}

/// `bbr_set_pacing_rate`: before the pipe was full the rate only grows; 1 % is left.
#[test]
fn the_pace_is_99_hundredths_of_gain_and_bandwidth() {
    let mut control = control();
    assert!((control.pacing - 2.885 * 10.0 / 1e-3 * 0.99).abs() < 1e-6);
    control.set_pacing(Span::from_ms(50));
    assert!((control.pacing - 2.885 * 10.0 / 0.05 * 0.99).abs() < 1e-9, "{}", control.pacing);
    control.bw.update(1, 100.0);
    control.set_pacing(Span::from_ms(10));
    assert!(
        (control.pacing - 571.23).abs() < 1e-9,
        "the measured round trip counts once: {}",
        control.pacing
    );
    control.full_bw_reached = true;
    control.set_pacing(Span::from_ms(10));
    assert!((control.pacing - 285.615).abs() < 1e-9, "{}", control.pacing);
}

/// `bbr_update_min_rtt`, `bbr_check_probe_rtt_done`: four segments for 200 ms and a round, then what was before.
#[test]
fn the_stay_with_four_segments_ends_after_its_time_and_a_round() {
    for full in [true, false] {
        let mut control = cycling(2);
        (control.cwnd, control.full_bw_reached) = (200.0, full);
        let mut observed = Vec::new();
        for (ms, inflight, delivered, started) in [
            (10_000, 150, 1_000, false), // not older than ten seconds
            (10_001, 150, 1_001, false),
            (10_050, 5, 1_100, false),
            (10_060, 4, 1_101, false), // the 200 ms begin
            (10_200, 4, 1_105, true),
            (10_260, 4, 1_109, false),
            (10_261, 4, 1_113, false),
        ] {
            control.rounds.started = started;
            let sample = AckSample { inflight, ..AckSample::default() };
            control.update_min_rtt(Time::ZERO + Span::from_ms(ms), &sample, delivered);
            observed.push(control.mode == Mode::ProbeRtt);
            control.cwnd = if control.mode == Mode::ProbeRtt { 4.0 } else { control.cwnd };
        }
        assert_eq!(observed, [false, true, true, true, true, true, false]);
        assert_eq!(control.mode, if full { Mode::ProbeBw } else { Mode::Startup });
        assert_eq!((control.cwnd, control.min_rtt_at), (200.0, Time::ZERO + Span::from_ms(10_261)));
        // what left in between says nothing of the bandwidth
        let sent_at = |prior_delivered| RateSample { prior_delivered, ..RateSample::default() };
        assert_eq!(
            [1_000, 1_001, 1_117, 1_118].map(|prior| control.limited(&sent_at(prior))),
            [false, true, true, false]
        );
    }
}

/// `bbr_check_drain`: down to a pipe's worth and what the hosts hold.
#[test]
fn drain_ends_when_a_pipes_worth_is_in_flight() {
    for (inflight, mode) in [(105.0, Mode::Drain), (104.0, Mode::ProbeBw)] {
        let mut control = cycling(2);
        (control.mode, control.full_bw_reached) = (Mode::Drain, true);
        control.check_drain(Time::ZERO, inflight, Span::ZERO);
        assert_eq!(control.mode, mode);
    }
}
