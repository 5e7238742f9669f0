//! The draft's example test cases, on a bare link.
use super::*;
use crate::bare_link::BareLink;

/// 100 ms and 1,000 segments.
const LINK: BareLink = BareLink::new(10_000, Span::from_ms(100), 2_000);

fn control() -> Bbr3 {
    Bbr3::new(10, Stream::new(1, 2, 3))
}

fn s(seconds: u64) -> Time {
    Time::ZERO + Span::from_s(seconds)
}

/// The states in order, with the moments of their beginnings.
fn states(link: &BareLink, control: &mut Bbr3, until: Time) -> Vec<(State, Time)> {
    let mut states = vec![(State::Startup, Time::ZERO)];
    link.run(control, until, |now, control: &Bbr3, _| {
        if states.last().unwrap().0 != control.state {
            states.push((control.state, now));
        }
    });
    states
}

#[test]
fn gains_are_those_of_the_table() {
    use State::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
    let table = [
        (Startup, 2.77, 2.0),
        (Drain, 0.5, 2.0),
        (Down, 0.9, 2.0),
        (Cruise, 1.0, 2.0),
        (Refill, 1.0, 2.0),
        (Up, 1.25, 2.25),
        (ProbeRtt, 1.0, 0.5),
    ];
    for (state, pacing, cwnd) in table {
        assert_eq!((state.pacing_gain(), state.cwnd_gain()), (pacing, cwnd), "{state:?}");
    }
}

#[test]
fn a_plateau_of_the_bandwidth_ends_startup() {
    let mut control = control();
    let states: Vec<_> = states(&LINK, &mut control, s(2)).into_iter().map(|(state, _)| state).collect();
    // drained, it has nothing to do in `Down`
    assert_eq!(states[..3], [State::Startup, State::Drain, State::Cruise]);
    assert!(control.full.reached);
    assert!((control.max_bw() / 10_000.0 - 1.0).abs() < 0.02, "{}", control.max_bw());
    // the flow was alone, its queue within the buffer: nothing was lost
    assert_eq!(control.inflight_longterm, f64::INFINITY);
}

#[test]
fn the_cycle_is_down_cruise_refill_up_every_two_to_three_seconds() {
    let mut control = control();
    let states = states(&LINK, &mut control, s(9));
    let order = [State::Cruise, State::Refill, State::Up, State::Down];
    for (k, pair) in states[2..].windows(2).enumerate() {
        assert_eq!(pair[0].0, order[k % 4], "{states:?}");
        let length = (pair[1].1 - pair[0].1).as_s();
        match pair[0].0 {
            State::Cruise => assert!(length < 3.0, "{length}"),
            State::Refill => assert!((0.1..0.25).contains(&length), "{length}"),
            _ => assert!(length < 1.5, "{length}"),
        }
    }
    let downs: Vec<_> = states.iter().filter(|(state, _)| *state == State::Down).collect();
    assert!(downs.len() >= 2);
    for pair in downs.windows(2) {
        let length = (pair[1].1 - pair[0].1).as_s();
        assert!((2.0..4.5).contains(&length), "{length}");
    }
}

#[test]
fn after_ten_seconds_half_a_pipe_is_kept_for_a_fifth_of_a_second() {
    let mut control = control();
    let (mut stay, mut least) = (Vec::new(), u32::MAX);
    LINK.run(&mut control, s(13), |now, control: &Bbr3, inflight| {
        if control.state == State::ProbeRtt {
            stay.push(now);
            least = least.min(inflight);
        }
    });
    let length = (*stay.last().unwrap() - stay[0]).as_s();
    assert!(stay[0] > s(10) && (0.2..0.6).contains(&length), "{length}");
    // 0.5·bw·min_rtt
    assert!((470..=510).contains(&least), "{least}");
    assert!((control.max_bw() / 10_000.0 - 1.0).abs() < 0.02);
}

#[test]
fn a_loss_above_two_per_cent_ends_a_probe_and_bounds_what_is_in_flight() {
    let mut control = control();
    let link = BareLink::new(10_000, Span::from_ms(100), 200);
    let report = link.run(&mut control, s(9), |_, _, _| {});
    // pipe and buffer hold 1,201
    assert!(report.dropped > 0 && control.inflight_longterm.is_finite());
    assert!((700.0..1_300.0).contains(&control.inflight_longterm), "{}", control.inflight_longterm);
    assert!(report.utilization > 0.85, "{report:?}");
}

#[test]
fn startup_with_a_small_buffer_ends_by_its_losses() {
    let mut control = control();
    let link = BareLink::new(10_000, Span::from_ms(100), 50);
    let mut bound_in_startup = None;
    link.run(&mut control, s(3), |_, control: &Bbr3, _| {
        if control.state == State::Drain {
            bound_in_startup.get_or_insert(control.inflight_longterm);
        }
    });
    assert!(bound_in_startup.unwrap().is_finite());
}

#[test]
fn the_link_is_used_and_the_queue_is_not_filled() {
    let mut control = control();
    let report = LINK.run(&mut control, s(9), |_, _, _| {});
    assert!(report.utilization > 0.96 && report.mean_waiting < 400.0, "{report:?}");
}

#[test]
fn small_pipes_keep_four_segments() {
    let mut control = control();
    let link = BareLink::new(100, Span::from_ms(5), 20);
    let mut least = f64::MAX;
    link.run(&mut control, s(30), |_, control: &Bbr3, _| least = least.min(control.cwnd()));
    assert_eq!(least, 4.0);
}

/// At 1,000 segments a second and 100 ms, with a window of 100.
fn steady(state: State) -> Bbr3 {
    let mut control = control();
    (control.state, control.cwnd, control.bw, control.max_bw) = (state, 100.0, 1_000.0, [1_000.0, 0.0]);
    (control.probe_rtt.min_rtt, control.probe_rtt.min_rtt_s) = (Some(Span::from_ms(100)), 0.1);
    control.full.reached = true;
    control
}

fn seen(ms: u64, acked: u32, inflight: u32, rate: RateSample) -> Ack {
    let now = Time::ZERO + Span::from_ms(ms);
    let (acked, inflight) = (f64::from(acked), f64::from(inflight));
    Ack { now, acked, inflight, rtt: None, rate, bw: 1_000.0, limited: false }
}

#[test]
fn a_sample_is_limited_by_the_application_or_by_the_stay_in_probe_rtt() {
    let limited = |app_limited, prior_delivered| {
        let mut control = control();
        control.held_down.cover(100, 50);
        let rate = RateSample { prior_delivered, app_limited, ..RateSample::default() };
        control.view(s(1), &AckSample { rate: Some(rate), ..AckSample::default() }).limited
    };
    assert_eq!([limited(false, 99), limited(false, 100), limited(true, 99)], [false, true, true]);
}

/// `InflightWithHeadroom`: 15 % of the bound, a segment at least, and never below four segments.
#[test]
fn headroom_is_left_below_the_long_term_bound() {
    for (longterm, left) in [(100.0, 85.0), (6.0, 5.0), (4.5, 4.0), (f64::INFINITY, f64::INFINITY)] {
        let mut control = control();
        control.inflight_longterm = longterm;
        assert_eq!(control.inflight_with_headroom(), left);
    }
}

/// `BoundCwndForModel`.
#[test]
fn each_state_has_its_bound_of_the_window() {
    use State::{Cruise, Down, Drain, ProbeRtt, Refill, Startup, Up};
    for (state, bound) in [
        (Startup, 90.0),
        (Drain, 90.0),
        (Down, 80.0),
        (Refill, 80.0),
        (Up, 80.0),
        (Cruise, 68.0),
        (ProbeRtt, 68.0),
    ] {
        let mut control = steady(state);
        (control.inflight_longterm, control.inflight_shortterm) = (80.0, 90.0);
        control.bound_cwnd();
        assert_eq!(control.cwnd, bound, "{state:?}");
        control.inflight_shortterm = 1.0;
        control.bound_cwnd();
        assert_eq!(control.cwnd, 4.0, "{state:?}");
    }
}

/// `SetCwnd`: with a full pipe up to the model's window, else by what is acknowledged while below it.
#[test]
fn the_window_grows_by_what_is_acknowledged_up_to_the_models() {
    let late = RateSample { delivered: 5_000, ..RateSample::default() };
    let grown = |full: bool, cwnd, rate| {
        let mut control = steady(State::Cruise);
        (control.full.reached, control.cwnd) = (full, cwnd);
        control.extra_acked.update(0, 7.0);
        control.set_cwnd(&seen(0, 10, 50, rate));
        control.cwnd
    };
    // two pipes, and 7 for aggregation
    assert_eq!(
        [grown(true, 150.0, late), grown(true, 200.0, late), grown(true, 400.0, late)],
        [160.0, 207.0, 207.0]
    );
    assert_eq!([grown(false, 206.0, late), grown(false, 207.0, late)], [216.0, 207.0]);
    let first = |delivered| RateSample { delivered, ..RateSample::default() };
    assert_eq!(
        [grown(false, 300.0, first(9)), grown(false, 300.0, first(10))],
        [310.0, 300.0],
        "the first window"
    );
}

/// `SetPacingRate`: before the pipe was full the rate only grows; 1 % is left.
#[test]
fn the_pace_is_99_hundredths_of_gain_and_bandwidth() {
    let mut control = control();
    assert!((control.pacing - 2.77 * 10.0 / 1e-3).abs() < 1e-6);
    control.set_pacing(Span::from_ms(50));
    assert!((control.pacing - 2.77 * 10.0 / 0.05).abs() < 1e-9, "{}", control.pacing);
    control.bw = 100.0;
    control.set_pacing(Span::from_ms(10));
    assert!((control.pacing - 554.0).abs() < 1e-9, "the measured round trip counts once");
    control.full.reached = true;
    control.set_pacing(Span::from_ms(10));
    assert!((control.pacing - 2.77 * 99.0).abs() < 1e-9, "{}", control.pacing);
    control.bw = 0.0;
    control.set_pacing(Span::from_ms(10));
    assert!(control.pacing > 270.0, "never nothing");
}

/// `SaveCwnd`, `RestoreCwnd`: of windows in a repair or a probe the larger is kept.
#[test]
fn the_window_before_a_repair_comes_back() {
    let congest = |control: &mut Bbr3, event| {
        control.on_congestion(s(1), &Congestion { event, flight: 90, receive_window: 1_000 });
    };
    let mut control = steady(State::Cruise);
    congest(&mut control, CongestionEvent::Mark { mild: false });
    assert_eq!((control.repairing, control.prior_cwnd), (false, 0.0));
    congest(&mut control, CongestionEvent::Loss);
    assert_eq!((control.repairing, control.prior_cwnd, control.cwnd), (true, 100.0, 100.0));
    control.cwnd = 60.0;
    congest(&mut control, CongestionEvent::Timeout { repeated: false });
    assert_eq!((control.repairing, control.prior_cwnd, control.cwnd), (true, 100.0, 1.0));
    control.on_recovery_exit(s(1));
    assert_eq!((control.repairing, control.cwnd), (false, 100.0));
    control.cwnd = 50.0;
    control.on_recovery_exit(s(1));
    assert_eq!((control.cwnd, control.ssthresh()), (50.0, NO_THRESHOLD));
    control.state = State::ProbeRtt;
    control.save_cwnd();
    assert_eq!(control.prior_cwnd, 100.0, "the window of the probe is not the one to come back to");
}

/// `CheckFullBWReached`: three rounds without 25 % more, of those that the path limits.
#[test]
fn the_pipe_is_full_after_three_rounds_of_little_growth() {
    let mut control = control();
    let mut rounds = Vec::new();
    for bw in [1_000.0, 1_250.0, 1_500.0, 1_500.0, 1_562.5, 1_900.0, 1_900.0, 1_900.0, 9_000.0] {
        let sample = Ack { bw, ..seen(0, 1, 50, RateSample::default()) };
        control.rounds.started = true;
        control.check_full_pipe(&Ack { limited: true, ..sample });
        control.check_full_pipe(&sample);
        control.rounds.started = false;
        control.check_full_pipe(&sample);
        rounds.push((control.full.rounds, control.full.now, control.full.reached));
    }
    let expected = [0, 0, 1, 2, 0, 1, 2, 3, 3].map(|rounds| (rounds, rounds == 3, rounds == 3));
    assert_eq!(rounds, expected);
    control.full.reset(5.0);
    assert_eq!((control.full.now, control.full.reached), (false, true), "once full, it was full");
}

/// `CheckStartupHighLoss`: six acknowledgments with losses, more than 2 % of what was in flight, over a round.
#[test]
fn startup_ends_by_its_losses_at_the_end_of_their_round() {
    for (loss_acks, lost, round_over, ends) in
        [(6, 3, true, true), (5, 3, true, false), (6, 2, true, false), (6, 3, false, false)]
    {
        let mut control = steady(State::Startup);
        (control.full.reached, control.loss_acks, control.loss_round_started) =
            (false, loss_acks, round_over);
        (control.inflight_latest, control.rounds.count) = (80.0, 7);
        control.check_startup(&seen(
            0,
            1,
            50,
            RateSample { tx_in_flight: 100, lost, ..RateSample::default() },
        ));
        assert_eq!((control.full.reached, control.state == State::Drain), (ends, ends), "{loss_acks} {lost}");
        assert_eq!(control.loss_acks, if round_over { 0 } else { loss_acks });
        // a pipe, or what was delivered in the round
        assert_eq!(control.inflight_longterm, if ends { 100.0 } else { f64::INFINITY });
        assert_eq!(control.drain_round, if ends { 7 } else { 0 });
    }
}

/// `CheckDrainDone`: a pipe's worth is in flight, or three rounds are over.
#[test]
fn drain_ends_with_its_queue_or_after_three_rounds() {
    for (inflight, round, ends) in [(101, 13, false), (100, 10, true), (500, 14, true)] {
        let mut control = steady(State::Drain);
        (control.drain_round, control.rounds.count) = (10, round);
        control.check_drain(&seen(0, 1, inflight, RateSample::default()));
        assert_eq!(control.state, if ends { State::Down } else { State::Drain }, "{inflight} {round}");
    }
    let mut control = steady(State::Cruise);
    control.check_drain(&seen(0, 1, 1, RateSample::default()));
    assert_eq!(control.state, State::Cruise);
}

/// `CheckProbeRTT`, `HandleProbeRTT`, `ExitProbeRTT`: half a pipe for 200 ms and a round, then what was before.
#[test]
fn the_stay_with_half_a_pipe_ends_after_its_time_and_a_round() {
    for full in [true, false] {
        let mut control = steady(State::Cruise);
        (control.full.reached, control.cwnd, control.inflight_shortterm) = (full, 200.0, 30.0);
        let mut stays = Vec::new();
        for (ms, inflight, delivered, started) in [
            (10_000, 150, 1_000, false), // not older than ten seconds
            (10_001, 150, 1_001, false),
            (10_050, 51, 1_100, false),
            (10_060, 50, 1_101, false), // the 200 ms begin
            (10_200, 50, 1_140, true),
            (10_260, 50, 1_180, false),
            (10_261, 50, 1_200, false),
        ] {
            control.rounds.started = started;
            let rate = RateSample { delivered, ..RateSample::default() };
            // times with a queue are longer than the shortest
            let sample = Ack { rtt: Some(Span::from_ms(120)), ..seen(ms, 1, inflight, rate) };
            control.update_min_rtt(&sample);
            control.check_probe_rtt(&sample);
            stays.push(control.state == State::ProbeRtt);
            // the pipe is as it was known before
            assert_eq!(control.probe_rtt.cwnd, if ms == 10_000 { 10.0 } else { 50.0 });
            control.cwnd = if control.state == State::ProbeRtt { 50.0 } else { control.cwnd };
        }
        assert_eq!(stays, [false, true, true, true, true, true, false]);
        assert_eq!(control.state, if full { State::Cruise } else { State::Startup });
        assert_eq!((control.cwnd, control.probe_rtt.min_rtt), (200.0, Some(Span::from_ms(120))));
        assert!(control.inflight_shortterm.is_infinite());
    }
}

/// `QuantizationBudget`: three quanta of the hosts, four segments, and two more while probing.
#[test]
fn the_flight_has_room_for_what_the_hosts_hold() {
    let budgets = |state, offload, pacing, segments| {
        let mut control = steady(state);
        (control.offload, control.pacing) = (offload, pacing);
        control.budgeted(segments)
    };
    let packets = Offload::new(Some(1_000));
    assert_eq!(budgets(State::Cruise, packets, 10_000.0, 12.0), 30.0);
    assert_eq!(budgets(State::Cruise, packets, 10_000.0, 50.0), 50.0);
    assert_eq!(budgets(State::Up, packets, 10_000.0, 50.0), 52.0);
    assert_eq!(budgets(State::Cruise, Offload::default(), 10_000.0, 1.0), 4.0);
}
