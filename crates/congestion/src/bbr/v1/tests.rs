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
