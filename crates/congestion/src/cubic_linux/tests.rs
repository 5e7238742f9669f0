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
    assert_eq!(epoch.counted, 1);
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

fn kernel(acked: u32, rtt_ms: u64, prior_inflight: u32) -> KernelAck {
    let rtt = Some(Span::from_ms(rtt_ms));
    let sample = AckSample { acked, rtt, ..AckSample::default() };
    KernelAck { sample, prior_inflight, open: true, grows: true, ..KernelAck::default() }
}

/// `bictcp_acked` learns of new data where nothing is repaired; `tcp_is_cwnd_limited` lets the window grow where it is used.
#[test]
fn an_acknowledgment_of_the_kernels_teaches_and_grows_apart() {
    let all = kernel(1, 100, 10);
    for (ack, learns, measures, grown) in [
        (all, true, true, true),
        (KernelAck { prior_inflight: 9, ..all }, true, true, false),
        (KernelAck { grows: false, ..all }, true, true, false),
        (KernelAck { open: false, ..all }, false, false, true),
        (KernelAck { sacked: true, ..all }, true, false, true),
        (kernel(0, 100, 10), false, false, true),
    ] {
        let config = LinuxCubicConfig { version: LinuxVersion::V2_6_24, ..LinuxCubicConfig::default() };
        let mut control = LinuxCubic::new(10, Some(20), config);
        control.on_kernel_ack(Time::ZERO, &ack);
        assert_eq!(control.ratio.acknowledgments(100) > 50, learns, "{ack:?}");
        assert_eq!(control.delay_min.is_some(), measures, "{ack:?}");
        assert_eq!(control.cwnd(), if grown { 11.0 } else { 10.0 }, "{ack:?}");
    }
    let mut control = after_loss(100, LinuxVersion::V2_6_24);
    control.adopt(7);
    assert_eq!(control.cwnd(), 7.0);
    control.adopt(0);
    assert_eq!(control.cwnd(), 1.0);
}

/// `bictcp_acked`: "Discard delay samples right after fast recovery", for a second of the epoch.
#[test]
fn the_shortest_delay_is_not_taken_in_an_epochs_first_second() {
    let mut control = after_loss(100, LinuxVersion::V5);
    let measure = |control: &mut LinuxCubic, ms, rtt_ms| {
        let rtt = Some(Span::from_ms(rtt_ms));
        control.measure_delay(ms, &AckSample { rtt, ..AckSample::default() });
        control.delay_ms()
    };
    assert_eq!(measure(&mut control, 500, 80), 80);
    control.epoch = Some(control.begin_epoch(1_000, 1));
    assert_eq!(
        [(1_999, 40), (2_000, 60), (2_001, 70)].map(|(ms, rtt)| measure(&mut control, ms, rtt)),
        [80, 60, 60]
    );
}

/// `bictcp_update`: the step stands for 31 ms while the window does, and acknowledgments are counted meanwhile.
#[test]
fn the_step_is_worked_out_anew_for_another_window_or_after_31_ms() {
    let mut control = after_loss(1_000, LinuxVersion::V5);
    control.delay_min = Some(Span::from_ms(100));
    let work_out = |control: &mut LinuxCubic, now_ms, cwnd| {
        control.window.cwnd = cwnd;
        control.work_out(now_ms, 3);
        (control.worked_out, control.epoch.unwrap().counted)
    };
    assert_eq!(work_out(&mut control, 1_000, 700), ((700, 1_000), 3));
    assert_eq!(work_out(&mut control, 1_031, 700), ((700, 1_000), 6));
    assert_eq!(work_out(&mut control, 1_032, 700), ((700, 1_032), 9));
    // version 5 works the cubic out once a jiffy
    assert_eq!(work_out(&mut control, 1_032, 701), ((700, 1_032), 12));
    assert_eq!(work_out(&mut control, 1_033, 701), ((701, 1_033), 15));
    let mut older = after_loss(1_000, LinuxVersion::V2_6_26);
    work_out(&mut older, 1_000, 700);
    assert_eq!(work_out(&mut older, 1_000, 701).0, (701, 1_000));
}

/// `CA_EVENT_TX_START` since Linux 3.15: the idle time is no time of the epoch.
#[test]
fn version_5_leaves_idle_times_out_of_its_epoch() {
    for (version, start_ms) in [(LinuxVersion::V5, 1_700), (LinuxVersion::V2_6_26, 1_000)] {
        let mut control = after_loss(100, version);
        control.epoch = Some(control.begin_epoch(1_000, 1));
        control.on_idle(Time::ZERO, &Idle { idle: Span::from_us(700_900), restart: None });
        assert_eq!(control.epoch.unwrap().start_ms, start_ms);
    }
}

/// Linux's W(t) = origin ∓ C·|t − K|³ in whole segments, on both sides of the plateau, one round trip ahead.
#[test]
fn the_cubic_step_is_the_window_over_the_distance_to_its_curve() {
    let mut control = after_loss(1_000, LinuxVersion::V5);
    control.delay_min = Some(Span::from_ms(100));
    let epoch = control.begin_epoch(0, 1);
    for ms in [0_u64, 1_000, 5_000, 8_900, 9_100, 12_000, 15_000] {
        let t = ((ms + 100) * 1_024 / 1_000) as f64 - epoch.k as f64;
        let target = 1_000.0 + t.signum() * (410.0 * t.abs().powi(3) / 2_f64.powi(40)).floor();
        for cwnd in [700, 999, 1_000, 1_060] {
            control.window.cwnd = cwnd;
            let step = if target > f64::from(cwnd) {
                f64::from(cwnd) / (target - f64::from(cwnd))
            } else {
                100.0 * f64::from(cwnd)
            };
            assert_eq!(control.cubic_step(&epoch, ms), step as u64, "{ms} {cwnd}");
        }
    }
}

/// `bictcp_update` of 2.6.24, "use concave growth when the target is above the origin": from the plateau's moment on.
#[test]
fn the_clamp_begins_at_the_plateau() {
    let mut control = after_loss(1_000, LinuxVersion::V2_6_24);
    control.delay_min = Some(Span::from_ms(100));
    control.window.cwnd = 700;
    // 900 ms and a round trip are 1024 units
    for (k, step) in [(1_024, 700 * 100 / (16 * 100)), (1_025, 700 / 300)] {
        let epoch = Epoch { k, ..control.begin_epoch(0, 1) };
        assert_eq!(control.cubic_step(&epoch, 900), step, "{k}");
    }
}
