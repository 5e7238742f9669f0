use super::*;

const LOSS: Congestion = Congestion { event: CongestionEvent::Loss, flight: 1, receive_window: 1_000_000 };

fn after_loss(cwnd: u32, version: LinuxVersion) -> LinuxCubic {
    let config = LinuxCubicConfig { version, ..LinuxCubicConfig::default() };
    let mut control = LinuxCubic::new(cwnd, Some(2), config);
    control.on_congestion(Time::ZERO, &LOSS);
    control
}

#[test]
fn a_loss_leaves_eight_or_seven_tenths() {
    for (version, left) in
        [(LinuxVersion::V2_6_24, 799.0), (LinuxVersion::V2_6_26, 700.0), (LinuxVersion::V5, 700.0)]
    {
        assert_eq!(after_loss(1_000, version).cwnd(), left);
    }
}

#[test]
fn the_plateau_comes_after_the_cube_root_of_the_distance() {
    // ∛(300 / 0.4) s = 9.0856 s; C is 410/1024, not 0.4
    let k = root_of_distance(300) as f64 / 1_024.0;
    assert!((k - (300.0 * 1_024.0 / 410.0_f64).cbrt()).abs() < 1e-3, "{k}");
    assert_eq!(root_of_distance(0), 0);
}

#[test]
fn the_step_aims_at_the_curve_one_round_ahead() {
    let mut control = after_loss(1_000, LinuxVersion::V5);
    control.delay_min = Some(Span::from_ms(100));
    control.work_out(1, 1);
    // W(0.1 s) = 1000 − 0.4·(9.0783 − 0.1)³ = 710.2: 700 segments for 10 more
    let epoch = control.epoch.unwrap();
    assert_eq!((epoch.origin, epoch.reno), (1_000, 700));
    let t = 0.1_f64;
    let target = 1_000.0 - 410.0 / 1_024.0 * (epoch.k as f64 / 1_024.0 - t).powi(3);
    let step = 700.0 / (target - 700.0);
    assert!((f64::from(control.count) - step).abs() < 0.1 * step, "{} {step}", control.count);
}

#[test]
fn beyond_the_plateau_cubic_prime_is_clamped() {
    for (version, largest) in [(LinuxVersion::V2_6_24, 16.0), (LinuxVersion::V2_6_26, f64::INFINITY)] {
        let mut control = after_loss(1_000, version);
        control.delay_min = Some(Span::from_ms(100));
        let epoch = control.begin_epoch(0, 1);
        let long_after = epoch.k * 1_000 / 1_024 + 9_000;
        let increase = f64::from(control.window.cwnd) / control.cubic_step(&epoch, long_after) as f64;
        assert!(if largest.is_finite() { (increase - largest).abs() < 1.0 } else { increase > 100.0 });
    }
}

#[test]
fn a_small_window_grows_at_least_as_renos() {
    // β = 0.7: 3·0.3/1.7 = 0.529 segments a round; 8·1741/3/307 = 15 eighths of a window for one
    let mut epoch = after_loss(40, LinuxVersion::V5).begin_epoch(0, 1);
    let start = epoch.reno;
    epoch.counted = 1 + 10 * (28 * 15 / 8);
    let step = reno_step(&mut epoch, 28, 717);
    assert_eq!((epoch.reno, step), (start + 10, 28 / u64::from(start + 10 - 28)));
}

#[test]
fn before_the_first_loss_fifty_segments_add_one_then_twenty() {
    for (version, step) in [(LinuxVersion::V2_6_26, 50), (LinuxVersion::V5, 20)] {
        let config = LinuxCubicConfig { version, ..LinuxCubicConfig::default() };
        let mut control = LinuxCubic::new(10_000, Some(2), config);
        control.delay_min = Some(Span::from_ms(10));
        let epoch = control.begin_epoch(0, 1);
        assert_eq!(control.cubic_step(&epoch, 0), step);
        control.last_max = 10_000;
        assert_ne!(control.cubic_step(&epoch, 0), step);
    }
}

#[test]
fn a_timeout_forgets_the_plateau() {
    let mut control = after_loss(1_000, LinuxVersion::V5);
    let event = CongestionEvent::Timeout { repeated: false };
    control.on_congestion(Time::ZERO, &Congestion { event, ..LOSS });
    assert_eq!((control.cwnd(), control.ssthresh(), control.last_max), (1.0, 490.0, 0));
}
