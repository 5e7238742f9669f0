//! What every control must do, whatever its law.

use bufferlab_parameters::{Kinds, Words};
use bufferlab_units::{Span, Stream};

use super::*;

/// Every control with its defaults, some from a low threshold, and some with other parameters.
fn controls() -> Vec<AnyControl> {
    let linux = |version, hystart| LinuxCubicConfig { version, hystart, ..LinuxCubicConfig::default() };
    let mut configs: Vec<CongestionConfig> =
        CongestionConfig::KINDS.iter().map(|kind| (kind.default)()).collect();
    configs.extend([
        RenoConfig { growth: Growth::PerAck }.into(),
        linux(LinuxVersion::V2_6_24, false).into(),
        linux(LinuxVersion::V2_6_26, false).into(),
        linux(LinuxVersion::V5, true).into(),
        CubicConfig { fast_convergence: false, hystart: true }.into(),
    ]);
    configs.extend(Linux26Law::ALL.iter().map(|&law| Linux26Config { law }.into()));
    let starts = [(2, None), (10, Some(20))];
    let build = |config: &CongestionConfig| {
        starts.map(|(initial_window, initial_ssthresh)| {
            config.build(Context {
                initial_window,
                initial_ssthresh,
                wire_bytes: 1500,
                mss_bytes: 1448,
                offload: initial_ssthresh.is_some(),
                stream: Stream::new(1, 2, 3),
            })
        })
    };
    configs.iter().flat_map(build).collect()
}

fn congestion(event: CongestionEvent) -> Congestion {
    Congestion { event, flight: 1, receive_window: 1 }
}

#[test]
fn the_window_is_finite_and_never_below_one_segment() {
    for mut control in controls() {
        for round in 0..10_000_u32 {
            match round % 7 {
                0 => control.on_congestion(Time::ZERO, &congestion(CongestionEvent::Loss)),
                5 => {
                    let event = CongestionEvent::Mark { mild: round % 2 == 0 };
                    control.on_congestion(Time::ZERO, &congestion(event));
                }
                3 if round % 5 == 0 => {
                    let event = CongestionEvent::Timeout { repeated: round % 2 == 0 };
                    control.on_congestion(Time::ZERO, &congestion(event));
                }
                _ => control.on_ack(Time::ZERO, &AckSample::of(round % 3)),
            }
            assert!(control.cwnd() >= 1.0 && control.cwnd().is_finite(), "{control:?}");
            assert!(control.ssthresh() >= 1.0, "{control:?}");
        }
    }
}

/// BBR's window follows its model (Linux leaves it alone where the control has a rate of its own), a fixed one nothing.
#[test]
fn an_idle_time_can_shrink_the_window_and_raise_the_threshold() {
    for mut control in controls() {
        for _ in 0..100 {
            control.on_ack(Time::ZERO, &AckSample::of(2));
        }
        let (cwnd, ssthresh) = (control.cwnd(), control.ssthresh());
        control.on_idle(Time::ZERO, &Idle { idle: Span::from_s(1), restart: None });
        assert_eq!((control.cwnd(), control.ssthresh()), (cwnd, ssthresh), "{control:?}");
        control.on_idle(Time::ZERO, &Idle { idle: Span::from_s(1), restart: Some((1, 1_000)) });
        if matches!(control, AnyControl::Fixed(_) | AnyControl::Bbr1(_) | AnyControl::Bbr3(_)) {
            assert_eq!(control.ssthresh(), NO_THRESHOLD, "{control:?}");
        } else {
            assert_eq!(control.cwnd(), 1.0, "{control:?}");
            assert!(control.ssthresh() >= 1_000.0, "{control:?}");
        }
    }
}

#[test]
fn a_clone_continues_identically() {
    for mut control in controls() {
        control.on_ack(Time::ZERO, &AckSample::of(1));
        let mut twin = control.clone();
        for _ in 0..100 {
            control.on_ack(Time::ZERO, &AckSample::of(2));
            twin.on_ack(Time::ZERO, &AckSample::of(2));
        }
        assert_eq!(control.cwnd().to_bits(), twin.cwnd().to_bits());
    }
}

/// Samples that no transport would give, but that must not stop a run: times of zero and of years, counters
/// that jump and stand still.
fn odd_sample(stream: &mut Stream) -> AckSample {
    let mut any = |choices: &[u64]| choices[stream.below(choices.len() as u64) as usize];
    let counts = [0, 1, 2, 10, 1_000, u64::from(u32::MAX)];
    let spans = [0, 1, 1_000_000, 100_000_000_000, u64::MAX / 4];
    AckSample {
        acked: any(&counts) as u32,
        rtt: Some(Span::from_ps(any(&spans))).filter(|_| any(&[0, 1]) == 1),
        srtt: Span::from_ps(any(&spans)),
        inflight: any(&counts) as u32,
        una: any(&counts) as u32,
        sent_to: any(&counts) as u32,
        marked: any(&counts) as u32,
        rate: Some(RateSample {
            delivered: any(&counts),
            prior_delivered: any(&counts),
            interval: Span::from_ps(any(&spans)),
            app_limited: any(&[0, 1]) == 1,
            tx_in_flight: any(&counts) as u32,
            lost: any(&counts),
            prior_lost: any(&counts),
            until_release: Span::from_ps(any(&spans)),
        })
        .filter(|_| any(&[0, 1]) == 1),
    }
}

#[test]
fn odd_samples_stop_nothing() {
    for (index, mut control) in controls().into_iter().enumerate() {
        let mut stream = Stream::new(7, 0, index as u32);
        let mut now = Time::ZERO;
        for _ in 0..20_000 {
            now += Span::from_ps(stream.below(20_000_000_000));
            match stream.below(12) {
                0 => control.on_congestion(now, &congestion(CongestionEvent::Loss)),
                1 => control.on_recovery_exit(now),
                4 => {
                    let event = CongestionEvent::Mark { mild: stream.below(2) == 0 };
                    control.on_congestion(now, &congestion(event));
                }
                3 => {
                    let restart = Some((stream.below(100) as u32, stream.below(100) as u32));
                    let idle = Span::from_ps(stream.below(10_000_000_000_000));
                    let restart = restart.filter(|_| stream.below(2) == 0);
                    control.on_idle(now, &Idle { idle, restart });
                }
                2 if stream.below(10) == 0 => {
                    let event = CongestionEvent::Timeout { repeated: stream.below(2) == 0 };
                    control.on_congestion(now, &congestion(event));
                }
                _ => control.on_ack(now, &odd_sample(&mut stream)),
            }
            assert!(control.cwnd() >= 1.0 && control.cwnd().is_finite(), "{control:?}");
            assert!(control.ssthresh() >= 1.0, "{control:?}");
            assert!(control.pacing().is_none_or(|rate| rate > 0.0 && rate.is_finite()), "{control:?}");
        }
    }
}

/// RFC 3168 section 6.1.2: a mark is treated as a loss, but for what RFC 8511 allows. BBR and a fixed window ignore it,
/// controls that count marks have a response of their own.
#[test]
fn a_mark_leaves_what_a_loss_leaves_and_a_mild_one_no_less() {
    let left = |control: &mut AnyControl, event| {
        for _ in 0..50 {
            control.on_ack(Time::ZERO, &AckSample::of(2));
        }
        let flight = control.cwnd() as u32;
        control.on_congestion(Time::ZERO, &Congestion { event, flight, receive_window: 1_000_000 });
        control.cwnd()
    };
    let (losses, marks, milds) = (controls(), controls(), controls());
    for ((mut loss, mut mark), mut mild) in losses.into_iter().zip(marks).zip(milds) {
        let ignores = matches!(mark, AnyControl::Bbr1(_) | AnyControl::Bbr3(_) | AnyControl::Fixed(_));
        let after_a_loss = left(&mut loss, CongestionEvent::Loss);
        let after_a_mark = left(&mut mark, CongestionEvent::Mark { mild: false });
        let after_a_mild_one = left(&mut mild, CongestionEvent::Mark { mild: true });
        assert!(after_a_mild_one >= after_a_mark, "{mild:?}: {after_a_mild_one} {after_a_mark}");
        let own = mark.counts_marks();
        assert!(ignores || own || after_a_loss == after_a_mark, "{mark:?}: {after_a_loss} {after_a_mark}");
    }
}

/// Only controls that say so have rates measured for them, and a pace.
#[test]
fn what_a_control_asks_for_is_what_its_parameters_say() {
    for kind in CongestionConfig::KINDS {
        let config = (kind.default)();
        let control = config.build(Context {
            initial_window: 10,
            initial_ssthresh: None,
            wire_bytes: 1500,
            mss_bytes: 1448,
            offload: false,
            stream: Stream::new(1, 2, 3),
        });
        assert_eq!(control.wants_rate(), config.needs_rates(), "{control:?}");
        assert_eq!(control.pacing().is_some() || control.pace().is_some(), config.has_pace(), "{control:?}");
        assert!(!control.counts_marks() || config.uses_ecn(), "{control:?}");
    }
}
