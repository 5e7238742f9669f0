//! A host's noise costs what it lasts, and no more.

use bufferlab_congestion::{CongestionConfig, LinuxCubicConfig, RenoConfig, ScalableConfig};
use bufferlab_qdisc::{FifoConfig, Limit};
use bufferlab_simulator::{CardPlan, Control, HostPlan, JitterPlan, Outcome, Plan, QueuePlan, run};
use bufferlab_transport::{Offload, Recovery};
use bufferlab_units::Span;
use proptest::prelude::*;

use crate::golden::link_row;
use crate::plans::config;
use crate::scenes::{MS, S, dumbbell, tcp_of};

/// Bits of a segment of [`dumbbell`] on the wire.
const SEGMENT_BITS: u64 = 8_000;

/// What is left of the bound for another number of losses in the measured time, and another moment of the first.
const PHASE: f64 = 0.01;

/// One flow of Linux's recovery with a round trip and a buffer, and a host that takes up to `noise_ps` for
/// acknowledgments.
fn lone(control: &CongestionConfig, rate_mbps: u64, rtt_ms: u64, buffer: u64, noise_ps: u64) -> Plan {
    let mut plan = dumbbell(Recovery::Linux, buffer, &[rtt_ms]);
    (plan.duration_ps, plan.warmup_ps) = (120 * S, 20 * S);
    plan.links[0].rate_bps = rate_mbps * 1_000_000;
    plan.links[0].discipline = QueuePlan::new(Limit::Packets(buffer), FifoConfig::default());
    plan.groups[0].jitter = JitterPlan::Uniform { low_ps: 0, high_ps: noise_ps };
    let tcp = tcp_of(&mut plan);
    tcp.congestion = control.clone();
    (tcp.config.min_rto, tcp.config.rto_margin) = (Span::from_ms(200), Span::from_ms(200));
    plan
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

fn utilization(plan: &Plan) -> f64 {
    let outcome = outcome(plan);
    outcome.queues.busy_fraction[link_row(&outcome)]
}

fn controls() -> impl Strategy<Value = CongestionConfig> {
    prop_oneof![
        Just(RenoConfig::default().into()),
        Just(LinuxCubicConfig::default().into()),
        Just(ScalableConfig::default().into()),
    ]
}

proptest! {
    #![proptest_config(config(48))]

    /// A round trip is longer by up to the noise, and the bursts after it take up to so much of the buffer, so a lone
    /// flow's utilization changes by no more than the largest noise over the round trip. (A credit of the window's that
    /// waited with the segments and was lost cost up to a fifth of the link.)
    #[test]
    fn noise_costs_a_lone_flow_no_more_than_its_share_of_the_round_trip(
        control in controls(),
        rate_mbps in prop_oneof![Just(5), Just(10), Just(20)],
        rtt_ms in 20..80_u64,
        buffer_share in 0.1..1.5_f64,
        noise_share in 0.0..0.1_f64,
    ) {
        let bdp = rate_mbps * 1_000 * rtt_ms / SEGMENT_BITS;
        let buffer = ((bdp as f64 * buffer_share) as u64).max(4);
        let noise_ps = (noise_share * (rtt_ms * MS) as f64) as u64;
        let quiet = utilization(&lone(&control, rate_mbps, rtt_ms, buffer, 0));
        let noisy = utilization(&lone(&control, rate_mbps, rtt_ms, buffer, noise_ps));
        prop_assert!((noisy - quiet).abs() <= noise_share + PHASE, "{quiet} and with noise {noisy}");
    }
}

/// The same flow on a host with packets of several segments, whose cards interrupt so late.
fn hosted(control: &CongestionConfig, rate_mbps: u64, rtt_ms: u64, buffer: u64, interrupt_ps: u64) -> Plan {
    let mut plan = lone(control, rate_mbps, rtt_ms, buffer, 0);
    plan.groups[0].jitter = JitterPlan::None;
    let card = CardPlan { rate_bps: rate_mbps * 10_000_000, most_bytes: Some(1 << 20), interrupt_ps };
    plan.groups[0].host = Some(HostPlan { card: Some(card), quick_acks: 16, noise: None });
    tcp_of(&mut plan).config.offload = Some(Offload::Auto);
    plan
}

proptest! {
    #![proptest_config(config(48))]

    /// Cards that interrupt late on both sides make the round trip longer by twice that, and what comes with one interrupt
    /// is a burst: it takes up to so much of the buffer.
    #[test]
    fn late_interrupts_cost_a_lone_flow_no_more_than_their_share_of_the_round_trip(
        control in controls(),
        rate_mbps in prop_oneof![Just(5), Just(10), Just(20)],
        rtt_ms in 20..80_u64,
        buffer_share in 0.1..1.5_f64,
        late_share in 0.0..0.05_f64,
    ) {
        let bdp = rate_mbps * 1_000 * rtt_ms / SEGMENT_BITS;
        let buffer = ((bdp as f64 * buffer_share) as u64).max(4);
        let interrupt_ps = (late_share * (rtt_ms * MS) as f64) as u64;
        let quiet = utilization(&hosted(&control, rate_mbps, rtt_ms, buffer, 0));
        let late = utilization(&hosted(&control, rate_mbps, rtt_ms, buffer, interrupt_ps));
        prop_assert!((late - quiet).abs() <= 2.0 * late_share + PHASE, "{quiet} and late {late}");
    }
}

/// A delay of nothing is drawn, and changes nothing.
#[test]
fn no_noise_is_no_change() {
    let control = RenoConfig::default().into();
    let mut plan = lone(&control, 10, 40, 25, 0);
    let mut drawn = outcome(&plan);
    plan.groups[0].jitter = JitterPlan::None;
    drawn.events = 0;
    assert_eq!(drawn, Outcome { events: 0, ..outcome(&plan) });
}
