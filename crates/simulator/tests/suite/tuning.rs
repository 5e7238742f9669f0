//! Windows that receivers tune: against the slow twin, which has each acknowledgment carry its window, and what they do
//! to a run.

use bufferlab_congestion::FixedConfig;
use bufferlab_simulator::{Control, Outcome, Plan, SourcePlan, run};
use bufferlab_transport::Recovery;
use proptest::prelude::*;

use crate::differential::assert_agreement;
use crate::plans::{config, plans};
use crate::scenes::{MS, dumbbell, tcp_of};

/// Half of 6 MiB, Linux's largest buffer.
const MOST_BYTES: u64 = 3 << 20;

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

/// One flow with a window far beyond the receiver's over 1 Gbit/s and 100 ms; segments of 960 bytes.
fn fat(tuned: bool) -> Plan {
    let mut plan = dumbbell(Recovery::Linux, 100_000, &[100]);
    (plan.links[0].rate_bps, plan.duration_ps, plan.warmup_ps) = (1_000_000_000, 3_000 * MS, 0);
    (plan.sample_interval_ps, plan.flows.sample[0]) = (50 * MS, true);
    let tcp = tcp_of(&mut plan);
    tcp.congestion = FixedConfig { segments: 10_000 }.into();
    (tcp.config.receive_window_bytes, tcp.config.tuned_window, tcp.config.timestamps) =
        (MOST_BYTES, tuned, true);
    plan
}

/// Segments that the sender has out at the samples at which it has filled its window: a little after each round began.
fn out(outcome: &Outcome) -> Vec<u64> {
    outcome.sender_samples.inflight_segments.clone()
}

#[test]
fn the_first_round_trips_wait_for_the_window() {
    let plan = fat(true);
    let tuned = outcome(&plan);
    let untuned = outcome(&fat(false));
    // sampled at 50, 100, 150, … ms: the handshake ends at 100 ms, so the first flight is out at 150 ms: 65,536 bytes in
    // whole segments, 68; and 3 MiB are 3276
    assert_eq!(out(&untuned)[2], 3_276);
    assert_eq!(out(&tuned)[2], 68);
    // it never shrinks, and ends where it may not grow
    let rounds: Vec<u64> = out(&tuned).into_iter().skip(2).step_by(2).collect();
    assert!(rounds.windows(2).all(|pair| pair[0] <= pair[1]), "{rounds:?}");
    assert_eq!(rounds.last(), Some(&3_276), "{rounds:?}");
    let full = rounds.iter().position(|&segments| segments == 3_276).unwrap();
    assert!((3..=8).contains(&full), "a window that at least doubles each round is there soon: {rounds:?}");
    let bytes = |outcome: &Outcome| outcome.flows.whole_delivered_bytes[0];
    let lost = bytes(&untuned) - bytes(&tuned);
    // what the rounds before lacked is missing in the end
    let lacking: u64 = rounds.iter().map(|&segments| (3_276 - segments) * 960).sum();
    assert!(lost.abs_diff(lacking) < lacking / 5, "{lost} bytes fewer, {lacking} lacking");
    assert_agreement(&plan);
}

#[test]
fn a_window_of_16_bits_stays_one() {
    let mut plan = fat(true);
    tcp_of(&mut plan).config.receive_window_bytes = 65_535;
    let outcome = outcome(&plan);
    assert_eq!(out(&outcome).into_iter().max(), Some(68));
    // a window a round trip; it is full from the start, so nothing changes if it is not tuned
    let mut fixed = fat(false);
    tcp_of(&mut fixed).config.receive_window_bytes = 65_535;
    assert_eq!(run(&fixed, &Control::default()).unwrap().flows, outcome.flows);
}

#[test]
fn where_the_network_is_the_bound_the_window_is_not() {
    let mut plan = dumbbell(Recovery::Linux, 20, &[40, 80]);
    let tcp = tcp_of(&mut plan);
    (tcp.config.timestamps, tcp.config.receive_window_bytes) = (true, MOST_BYTES);
    let untuned = outcome(&plan);
    tcp_of(&mut plan).config.tuned_window = true;
    let tuned = outcome(&plan);
    assert_eq!(tuned.flows, untuned.flows);
    assert_agreement(&plan);
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn tuned_windows_agree_with_those_that_acknowledgments_carry(
        case in plans(),
        windows in prop::collection::vec(2..400_u64, 3),
        timestamps in any::<bool>(),
    ) {
        let mut plan = case.0;
        for (group, window) in plan.groups.iter_mut().zip(windows) {
            if let SourcePlan::Tcp(tcp) = &mut group.source {
                (tcp.config.tuned_window, tcp.config.timestamps) = (true, timestamps);
                tcp.config.stated_rtt = None;
                // small buffers, so that windows bind and grow
                tcp.config.receive_window_bytes = window * u64::from(tcp.config.mss_bytes);
                tcp.config.initial_window = 40;
            }
        }
        assert_agreement(&plan);
    }
}
