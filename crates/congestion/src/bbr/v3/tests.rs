//! The draft's example test cases, on a bare link.

use bufferlab_units::{Span, Stream, Time};

use super::{Bbr3, State};
use crate::CongestionControl;
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
