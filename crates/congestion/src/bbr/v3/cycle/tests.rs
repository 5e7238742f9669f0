//! The conditions of the cycle, one by one as the draft has them.

use super::*;
use crate::RateSample;
use bufferlab_units::Stream;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// In a state, at 1,000 segments a second and 100 ms, with a window of 100 that is filled.
fn control(state: State) -> Bbr3 {
    let mut control = Bbr3::new(10, Stream::new(1, 2, 3));
    (control.state, control.cwnd, control.bw, control.max_bw) = (state, 100.0, 1_000.0, [1_000.0, 0.0]);
    (control.probe_rtt.min_rtt, control.probe_rtt.min_rtt_s) = (Some(Span::from_ms(100)), 0.1);
    (control.filled, control.full.reached) = ([true, false], true);
    control
}

fn ack(ms: u64, acked: u32, inflight: u32) -> Ack {
    let rate =
        RateSample { delivered: 5_000, prior_delivered: 4_900, tx_in_flight: 50, ..RateSample::default() };
    let (acked, inflight) = (f64::from(acked), f64::from(inflight));
    Ack { now: at(ms), acked, inflight, rtt: None, rate, bw: 900.0, limited: false }
}

/// `IsTimeToProbeBW`: when the drawn time is over, or after the rounds in which Reno would regain its share: as many as
/// segments are in flight, 63 at most.
#[test]
fn a_probe_is_due_after_its_time_or_renos_rounds() {
    let due = |ms, rounds, cwnd| {
        let mut control = control(State::Cruise);
        (control.cycle.wait, control.cycle.rounds_since_probe) = (Span::from_ms(2_500), rounds);
        (control.cycle.begun, control.cwnd) = (at(1_000), cwnd);
        control.is_time_to_probe(&ack(ms, 1, 50))
    };
    assert_eq!([due(3_500, 0, 100.0), due(3_501, 0, 100.0)], [false, true]);
    assert_eq!([due(1_000, 62, 100.0), due(1_000, 63, 100.0)], [false, true]);
    assert_eq!([due(1_000, 39, 40.0), due(1_000, 40, 40.0)], [false, true]);
}

/// `PickProbeWait`: "2 to 3 seconds", and a round or none off the others.
#[test]
fn the_time_between_probes_is_drawn_from_two_to_three_seconds() {
    let mut control = control(State::Up);
    let drawn: Vec<_> = (0..100)
        .map(|_| {
            control.start_down(&ack(7, 1, 50));
            (control.cycle.wait.as_s(), control.cycle.rounds_since_probe)
        })
        .collect();
    let within = |low, high| drawn.iter().filter(|(wait, _)| (low..high).contains(wait)).count();
    assert!(within(2.0, 3.0) == 100 && within(2.0, 2.25) > 10 && within(2.75, 3.0) > 10, "{drawn:?}");
    assert!([0, 1].iter().all(|rounds| drawn.iter().filter(|drawn| drawn.1 == *rounds).count() > 30));
    assert_eq!((control.cycle.begun, control.rounds.end, control.state), (at(7), 5_000, State::Down));
    // `ResetCongestionSignals`
    (control.loss_in_round, control.bw_latest, control.inflight_latest) = (true, 900.0, 90.0);
    control.start_down(&ack(8, 1, 50));
    assert_eq!((control.loss_in_round, control.bw_latest, control.inflight_latest), (false, 0.0, 0.0));
}

/// `IsTimeToCruise`: headroom is left below the long-term bound, and the queue is empty.
#[test]
fn cruising_begins_with_headroom_and_without_a_queue() {
    let may = |inflight, longterm| {
        let mut control = control(State::Down);
        control.inflight_longterm = longterm;
        control.may_cruise(&ack(0, 1, inflight))
    };
    assert_eq!([may(100, f64::INFINITY), may(101, f64::INFINITY)], [true, false]);
    assert_eq!([may(85, 100.0), may(86, 100.0)], [true, false]);
}

/// `IsTimeToGoDown`.
#[test]
fn a_probe_ends_with_a_full_pipe_unless_the_bound_keeps_it_down() {
    let mut full = control(State::Up);
    (full.full.now, full.inflight_longterm) = (true, 101.0);
    full.go_down_in_time(&ack(0, 1, 50));
    assert_eq!((full.state, full.cycle.ack_phase), (State::Down, AckPhase::ProbeStopping));
    let mut bound = control(State::Up);
    (bound.full.now, bound.inflight_longterm) = (true, 100.0);
    bound.go_down_in_time(&ack(0, 1, 50));
    assert_eq!((bound.state, bound.full.now, bound.full.bw), (State::Up, false, 900.0));
    // a window that is not filled bounds nothing, also that of the last round
    for (filled, state) in [([false, true], State::Up), ([false, false], State::Down)] {
        let mut control = control(State::Up);
        (control.full.now, control.inflight_longterm, control.filled) = (true, 100.0, filled);
        control.go_down_in_time(&ack(0, 1, 50));
        assert_eq!(control.state, state);
    }
}

/// The same: after a probe that went too far, the next one stops where that one did, out of precaution.
#[test]
fn a_probe_stops_early_where_the_last_one_went_too_far() {
    for (too_high, inflight, down) in [(true, 100, true), (true, 99, false), (false, 100, false)] {
        let mut control = control(State::Up);
        (control.cycle.prev_too_high, control.inflight_longterm) = (too_high, 100.0);
        control.go_down_in_time(&ack(0, 1, inflight));
        assert_eq!(control.state == State::Down, down);
        assert_eq!(control.cycle.prev_precautionary, down);
        assert_eq!(control.cycle.prev_too_high, too_high && !down);
    }
}

/// `RaiseInflightLongtermSlope`, `ProbeInflightLongtermUpward`: by 1, 2, 4, … segments in the rounds of a probe.
#[test]
fn the_long_term_bound_grows_by_twice_as_much_each_round() {
    let mut control = control(State::Up);
    control.inflight_longterm = 100.0;
    let per_inc: Vec<f64> = (0..9)
        .map(|_| {
            control.raise_slope();
            control.cycle.up_acked_per_inc
        })
        .collect();
    assert_eq!(per_inc, [100.0, 50.0, 25.0, 12.5, 6.25, 3.125, 1.5625, 1.0, 1.0]);
    (control.cycle.up_acked_per_inc, control.cycle.up_rounds) = (12.5, 0);
    control.rounds.started = false;
    for (acked, bound, left) in [(12, 100.0, 12.0), (1, 101.0, 0.5), (25, 103.0, 0.5), (12, 104.0, 0.0)] {
        control.cwnd = control.inflight_longterm;
        control.probe_upward(&ack(0, acked, 50));
        assert_eq!((control.inflight_longterm, control.cycle.up_acked), (bound, left));
    }
    control.rounds.started = true;
    control.probe_upward(&ack(0, 1, 50));
    assert_eq!(control.cycle.up_acked, 0.0, "a window below the bound does not use it");
    (control.cwnd, control.filled) = (104.0, [false, false]);
    control.probe_upward(&ack(0, 1, 50));
    assert_eq!((control.cycle.up_acked, control.cycle.up_rounds), (0.0, 0), "nor one that is not filled");
    control.filled = [true, false];
    control.probe_upward(&ack(0, 1, 50));
    assert_eq!((control.cycle.up_acked, control.cycle.up_acked_per_inc), (1.0, 104.0));
}

/// `AdaptLongTermModel`: the round after a probe still shows it; then its largest bandwidth is a cycle old.
#[test]
fn the_round_after_a_probe_ends_its_samples_and_its_cycle() {
    for (state, limited, max_bw) in [
        (State::Down, false, [0.0, 1_000.0]),
        (State::Down, true, [1_000.0, 0.0]),
        (State::Drain, false, [1_000.0, 0.0]),
    ] {
        let mut control = control(state);
        control.cycle.stop_probe();
        control.cycle.is_probe_sample = true;
        let sample = Ack { limited, ..ack(0, 1, 50) };
        control.rounds.started = false;
        assert!(!control.adapt_long_term(&sample) && control.cycle.is_probe_sample);
        control.rounds.started = true;
        assert!(!control.adapt_long_term(&sample) && !control.cycle.is_probe_sample);
        assert_eq!((control.max_bw, control.cycle.ack_phase), (max_bw, AckPhase::Init), "{state:?}");
        control.adapt_long_term(&sample);
        assert_eq!(control.max_bw, max_bw, "once a probe");
    }
    let mut idle = control(State::Down);
    (idle.max_bw, idle.rounds.started) = ([0.0, 700.0], true);
    idle.cycle.stop_probe();
    idle.adapt_long_term(&ack(0, 1, 50));
    assert_eq!(idle.max_bw, [0.0, 700.0], "a cycle without samples is none");
}

/// The same: a probe that precaution stopped is repeated at once, if it did not go too far either.
#[test]
fn a_precautionary_stop_that_lost_nothing_is_followed_by_another_probe() {
    for (precautionary, too_high, again) in [(true, false, true), (true, true, false), (false, false, false)]
    {
        let mut control = control(State::Down);
        control.cycle.stop_probe();
        control.rounds.started = true;
        (control.cycle.prev_precautionary, control.cycle.prev_too_high) = (precautionary, too_high);
        assert_eq!(control.adapt_long_term(&ack(0, 1, 50)), again);
        assert_eq!(control.state == State::Refill, again);
    }
}

/// The same: what was in flight without losses is no less than the bound.
#[test]
fn the_long_term_bound_rises_to_what_was_in_flight_without_losses() {
    let after = |tx_in_flight, lost, longterm, state| {
        let mut control = control(state);
        (control.inflight_longterm, control.rounds.started) = (longterm, false);
        control.cycle.up_acked_per_inc = 1.0;
        let mut sample = ack(0, 3, 50);
        (sample.rate.tx_in_flight, sample.rate.lost) = (tx_in_flight, lost);
        control.adapt_long_term(&sample);
        control.inflight_longterm
    };
    assert_eq!(after(150, 3, 90.0, State::Cruise), 150.0);
    assert_eq!(after(150, 4, 90.0, State::Cruise), 90.0, "more than 2 % lost");
    assert_eq!(after(80, 0, 90.0, State::Cruise), 90.0);
    assert_eq!(after(80, 0, 90.0, State::Up), 93.0, "only a probe raises it by what is acknowledged");
    assert_eq!(after(150, 0, f64::INFINITY, State::Up), f64::INFINITY);
}

/// `HandleInflightTooHigh`: the bound is where the losses passed the threshold, or 0.7 of the target.
#[test]
fn too_much_loss_ends_a_probe_and_sets_the_bound() {
    for (state, limited, at_loss, longterm) in [
        (State::Up, false, 95.0, 95.0),
        (State::Up, false, 20.0, 70.0),
        (State::Refill, false, 95.0, 95.0),
        (State::Up, true, 95.0, 200.0),
    ] {
        let mut control = control(state);
        (control.inflight_longterm, control.cycle.is_probe_sample) = (200.0, true);
        control.handle_inflight_too_high(&Ack { limited, ..ack(0, 1, 50) }, at_loss);
        assert!((control.inflight_longterm - longterm).abs() < 1e-9, "{}", control.inflight_longterm);
        assert!(control.cycle.prev_too_high && !control.cycle.is_probe_sample);
        assert_eq!(control.state, if state == State::Up { State::Down } else { state });
    }
}

/// `UpdateProbeBWCyclePhase`: a refill of a round, with nothing learned from losses in the short term, then up.
#[test]
fn a_probe_is_a_round_of_refill_and_then_up() {
    let mut control = control(State::Cruise);
    control.cycle.wait = Span::from_s(2);
    (control.bw_shortterm, control.inflight_shortterm) = (500.0, 50.0);
    control.rounds.started = false;
    control.update_cycle(&ack(2_000, 1, 50));
    assert_eq!(control.state, State::Cruise);
    control.update_cycle(&ack(2_001, 1, 50));
    assert_eq!((control.state, control.cycle.ack_phase), (State::Refill, AckPhase::Refilling));
    assert!(control.bw_shortterm.is_infinite() && control.inflight_shortterm.is_infinite());
    control.update_cycle(&ack(2_100, 1, 50));
    assert_eq!((control.state, control.cycle.is_probe_sample), (State::Refill, false));
    control.rounds.started = true;
    control.update_cycle(&ack(2_101, 1, 50));
    assert_eq!((control.state, control.cycle.is_probe_sample), (State::Up, true));
    assert_eq!((control.full.bw, control.cycle.up_acked_per_inc), (900.0, 100.0));
    control.update_cycle(&ack(2_201, 1, 50));
    assert_eq!(control.cycle.ack_phase, AckPhase::ProbeFeedback, "a round later its acknowledgments come");
    let mut startup = super::tests::control(State::Cruise);
    startup.full.reached = false;
    startup.update_cycle(&ack(9_000, 1, 50));
    assert_eq!(startup.state, State::Cruise, "no cycle before the pipe was full");
}
