//! Every control alone on a bare link: does its window fluctuate as the sizing theory says?
//!
//! a is the window's standard deviation over its mean between two losses. "Sizing Router Buffer with
//! Heterogeneous TCP" has it from a law of growth g(t) over an epoch T (its equations 4 and 5, Table II);
//! here the same integrals are taken of the laws that the controls' own sources give, and the simulated
//! window must agree. The lowest window, β·(BDP + B), gives the lowest utilization, min(β (1 + B/BDP), 1).

use bufferlab_units::{Span, Stream, Time};

use crate::bare_link::{BareLink, Epoch, Report};
use crate::*;

const RTT: Span = Span::from_ms(100);

fn link(bdp: u32, buffer: u32) -> BareLink {
    BareLink::new(u64::from(bdp) * 10, RTT, buffer)
}

fn run(link: &BareLink, control: impl Into<AnyControl>, seconds: u64) -> Report {
    link.run(&mut control.into(), Time::ZERO + Span::from_s(seconds), |_, _, _| {})
}

/// The epoch in the middle: slow start's losses are forgotten.
fn settled(report: &Report) -> Epoch {
    assert!(report.epochs.len() >= 4, "{report:?}");
    *report.epochs.last().unwrap()
}

/// Mean and a of g(t) for t from 0 to 1.
fn integrals(g: impl Fn(f64) -> f64) -> (f64, f64) {
    let steps = 100_000_u32;
    let (mut sum, mut squares) = (0.0, 0.0);
    for k in 0..steps {
        let value = g((f64::from(k) + 0.5) / f64::from(steps));
        sum += value;
        squares += value * value;
    }
    let (mean, square) = (sum / f64::from(steps), squares / f64::from(steps));
    (mean, (square - mean * mean).sqrt() / mean)
}

fn check(name: &str, epoch: Epoch, (mean, a): (f64, f64), beta: f64, tolerance: f64) {
    let found = (epoch.mean / epoch.max, epoch.sd / epoch.mean, epoch.min / epoch.max);
    assert!((found.0 / mean - 1.0).abs() < 0.02, "{name}: mean {} for {mean}, {epoch:?}", found.0);
    assert!((found.1 / a - 1.0).abs() < tolerance, "{name}: a {} for {a}, {epoch:?}", found.1);
    assert!((found.2 - beta).abs() < 0.015, "{name}: {} for {beta}", found.2);
}

#[test]
fn reno() {
    let a = 1.0 / (3.0 * 3.0_f64.sqrt());
    let report = run(&link(100, 25), Reno::new(10, None, Growth::PerSegment), 60);
    check("Reno", settled(&report), (0.75, a), 0.5, 0.05);
}

#[test]
fn cubic_in_three_versions_and_by_the_rfc() {
    // Table II with 1 − β under the root: W(t) = w − (1 − β) w (1 − t/T)³; a = 0.0597 and 0.0919
    let law = |beta: f64| integrals(move |t| 1.0 - (1.0 - beta) * (1.0 - t) * (1.0 - t) * (1.0 - t));
    assert!((law(0.8).1 - 0.0597).abs() < 1e-4 && (law(0.7).1 - 0.0919).abs() < 1e-4);
    let versions = [
        (LinuxVersion::V2_6_24, 819.0 / 1_024.0, 2),
        (LinuxVersion::V2_6_26, 717.0 / 1_024.0, 2),
        (LinuxVersion::V5, 717.0 / 1_024.0, 1),
    ];
    for (version, beta, ack_every) in versions {
        let link = link(1_000, 250).acknowledging_every(ack_every);
        let config = LinuxCubicConfig { version, fast_convergence: false, hystart: false };
        let report = run(&link, LinuxCubic::new(10, None, config), 100);
        check("CUBIC", settled(&report), law(beta), beta, 0.08);
    }
    let report = run(
        &link(1_000, 250),
        Cubic::new(10, None, CubicConfig { fast_convergence: false, hystart: false }),
        100,
    );
    check("RFC 9438", settled(&report), law(0.7), 0.7, 0.08);
}

#[test]
fn bic_searches_and_then_waits_at_the_maximum() {
    // Linux's steps a round from 0.8 w to beyond w, until the link overflows one segment above; Table II's
    // line of 0.1 w a round trip for one round trip (a = 0.034) is not what its code does
    let (mut window, mut windows): (f64, Vec<f64>) = (0.8 * 1_251.0, Vec::new());
    while window < 1_252.0 {
        windows.push(window / 1_252.0);
        let distance = ((1_251.0 - window) / 4.0).floor();
        window += if distance > 1.0 { distance.min(16.0) } else { 0.2 };
    }
    let law = integrals(|t| windows[(t * windows.len() as f64) as usize]);
    let link = link(1_000, 250).acknowledging_every(2);
    let report = run(&link, Bic::new(10, None, BicConfig { fast_convergence: false }), 60);
    check("BIC", settled(&report), law, 819.0 / 1_024.0, 0.12);
    assert!((0.04..0.07).contains(&law.1), "{law:?}");
}

#[test]
fn compound_tcp_without_a_queue() {
    // Table II: (t/32 + (β w)^¼)⁴ over 5.1 w^¼ round trips; a = 0.1983
    let (low, high) = (0.5_f64.sqrt().sqrt(), 1.0);
    let law = integrals(|t| (low + t * (high - low)).powi(4));
    assert!((law.1 - 0.1983).abs() < 5e-4);
    // 20 segments of buffer are fewer than γ = 30
    let parameters = CtcpParameters { lambda: None, ..CtcpParameters::default() };
    let report = run(&link(1_000, 20), Ctcp::new(10, None, parameters), 40);
    check("CTCP", settled(&report), law, 0.5, 0.05);
    let rounds = settled(&report).seconds / 0.1;
    assert!((rounds / (5.1 * 1_020.0_f64.sqrt().sqrt()) - 1.0).abs() < 0.07, "{rounds}");
}

#[test]
fn compound_tcp_with_a_queue_falls_back_to_reno() {
    let report = run(&link(100, 100), Ctcp::new(10, None, CtcpParameters::default()), 150);
    let epoch = settled(&report);
    assert!((epoch.min / epoch.max - 0.5).abs() < 0.02, "{epoch:?}");
    assert!(report.utilization > 0.98, "{report:?}");
}

#[test]
fn scalable() {
    let law = integrals(|t| 0.875 * ((8.0_f64 / 7.0).ln() * t).exp());
    let report = run(&link(1_000, 10), Scalable::new(10, None, ScalableConfig::default()), 20);
    check("Scalable", settled(&report), law, 0.875, 0.05);
}

#[test]
fn the_lowest_window_gives_the_lowest_utilization() {
    // min(β (1 + B/BDP), 1)
    let cubic = LinuxCubicConfig { version: LinuxVersion::V2_6_24, ..LinuxCubicConfig::default() };
    let table: [(AnyControl, u32, f64); 4] = [
        (Reno::new(10, None, Growth::PerSegment).into(), 60, 0.5),
        (Scalable::new(10, None, ScalableConfig::default()).into(), 20, 0.875),
        (LinuxCubic::new(10, None, cubic).into(), 40, 0.8),
        (Cubic::new(10, None, CubicConfig::default()).into(), 40, 0.7),
    ];
    for (control, buffer, beta) in table {
        let report = run(&link(200, buffer), control, 80);
        let lowest = (settled(&report).min / 200.0).min(1.0);
        let expected = (beta * (1.0 + f64::from(buffer) / 200.0)).min(1.0);
        assert!((lowest - expected).abs() < 0.02, "{lowest} {expected}");
    }
}

#[test]
fn vegas_keeps_two_to_four_segments_waiting() {
    let report = run(&link(100, 100), Vegas::new(10, None), 60);
    assert!(report.epochs.is_empty(), "{report:?}");
    assert!((1.0..=4.5).contains(&report.mean_waiting) && report.utilization > 0.99, "{report:?}");
}

#[test]
fn westwood_empties_the_queue_but_not_the_pipe() {
    for buffer in [20, 50, 100] {
        let report = run(&link(100, buffer), Westwood::new(10, None), 120);
        let epoch = settled(&report);
        assert!((epoch.min / 100.0 - 1.0).abs() < 0.1, "{buffer}: {epoch:?}");
        assert!(report.utilization > 0.97, "{report:?}");
    }
}

#[test]
fn htcp_backs_off_by_the_ratio_of_the_round_trip_times() {
    for (buffer, beta) in [(500, 1.0 / 1.5), (100, 0.8), (2_000, 0.5)] {
        let report = run(&link(1_000, buffer), Htcp::new(10, None), 100);
        let epoch = settled(&report);
        assert!((epoch.min / epoch.max - beta).abs() < 0.05, "{buffer}: {epoch:?}");
    }
}

#[test]
fn dctcp_swings_around_the_mark() {
    // Alizadeh et al., SIGCOMM 2010, section 3.3: the window swings from W* + 1 to (W* + 1)(1 − α/2) with
    // W* = C·RTT + K and α ≈ √(2/W*), where the swing lasts no longer than the estimate remembers (16 rounds)
    let link = link(100, 1_000).marking_above(20).in_bursts();
    let mut control = Dctcp::new(10, None, DctcpConfig::default());
    let (mut low, mut high, mut alphas, mut count) = (f64::MAX, 0.0_f64, 0.0, 0.0);
    let report = link.run(&mut control, Time::ZERO + Span::from_s(100), |now, control: &Dctcp, _| {
        if now > Time::ZERO + Span::from_s(40) {
            (low, high) = (low.min(control.cwnd()), high.max(control.cwnd()));
            (alphas, count) = (alphas + control.alpha(), count + 1.0);
        }
    });
    let alpha = (2.0 / 121.0_f64).sqrt();
    assert!((alphas / count / alpha - 1.0).abs() < 0.15, "{} {alpha}", alphas / count);
    assert!((high - 122.0).abs() < 2.0, "{high}");
    assert!((low / (122.0 * (1.0 - alpha / 2.0)) - 1.0).abs() < 0.03, "{low}");
    assert!(report.dropped == 0 && report.utilization > 0.999, "{report:?}");
}

#[test]
fn bbr_needs_a_quarter_of_the_pipe_at_most() {
    // Spang et al. 2021: BBR's utilization is min(¾ + B/BDP, 1) at its lowest
    for buffer in [250, 1_000] {
        for control in [
            AnyControl::from(Bbr1::new(10, 1448, Stream::new(1, 2, 3))),
            AnyControl::from(Bbr3::new(10, Stream::new(1, 2, 3))),
        ] {
            let report = run(&link(1_000, buffer), control, 30);
            assert!(report.utilization > 0.93, "{buffer}: {report:?}");
        }
    }
}
