//! What hosts do beside TCP: worked by hand, and against the slow twin.

use bufferlab_congestion::FixedConfig;
use bufferlab_simulator::{CardPlan, Control, HostPlan, Outcome, Plan, run};
use bufferlab_transport::{Offload, Recovery};
use proptest::prelude::*;

use crate::differential::assert_agreement;
use crate::plans::{config, hosted_plans};
use crate::scenes::{dumbbell, tcp_of};

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

/// Ten segments at once, of 0.8 ms each on the link, from a card of that many bit/s; segments to a packet.
fn burst(line_bps: u64, segments: u32) -> Plan {
    let mut plan = dumbbell(Recovery::Sack, 100, &[40]);
    plan.warmup_ps = 0;
    let tcp = tcp_of(&mut plan);
    tcp.congestion = FixedConfig { segments: 10 }.into();
    tcp.transfer_bytes = Some(10 * 960);
    tcp.config.offload = Some(Offload::Segments(segments));
    plan.groups[0].host = Some(host(line_bps, None, 0));
    plan
}

/// A host whose card has such a rate, bound and time to an interrupt.
fn host(rate_bps: u64, most_bytes: Option<u64>, interrupt_ps: u64) -> HostPlan {
    HostPlan { card: Some(CardPlan { rate_bps, most_bytes, interrupt_ps }), quick_acks: 0, noise: None }
}

/// The largest backlog, packets, and what came and was delivered, bytes.
fn seen(plan: &Plan) -> (u64, u64, u64) {
    let outcome = outcome(plan);
    assert_agreement(plan);
    let (queues, row) = (&outcome.queues, outcome.queues.link.len() - 1);
    assert_eq!(queues.arrived_packets[row], 11, "ten segments and a SYN");
    (queues.backlog_max_packets[row], queues.arrived_bytes[row], outcome.flows.delivered_bytes[0])
}

#[test]
fn a_burst_reaches_the_link_segment_by_segment_at_the_rate_of_the_line() {
    let bytes = 10 * 1_000 + 40;
    for segments in [1, 2, 5] {
        // as fast as the link: none waits
        assert_eq!(seen(&burst(10_000_000, segments)), (0, bytes, 9_600), "{segments}");
        // twice as fast: the tenth comes after 3.6 ms, when four have left and one leaves
        assert_eq!(seen(&burst(20_000_000, segments)), (5, bytes, 9_600), "{segments}");
        // as good as at once
        assert_eq!(seen(&burst(8_000_000_000_000, segments)), (9, bytes, 9_600), "{segments}");
    }
}

/// A window of 120 segments, of which 50 are on the way and the others wait: for the link, or for a card that is slower.
#[test]
fn a_card_slower_than_the_link_keeps_the_queue_and_bounds_it() {
    let waiting = |line_bps, most_bytes| {
        let mut plan = burst(line_bps, 1);
        let tcp = tcp_of(&mut plan);
        tcp.congestion = FixedConfig { segments: 120 }.into();
        tcp.transfer_bytes = None;
        plan.groups[0].host = Some(host(line_bps, most_bytes, 0));
        assert_agreement(&plan);
        let outcome = outcome(&plan);
        let (queues, row) = (&outcome.queues, outcome.queues.link.len() - 1);
        let rtt_ms = outcome.flows.rtt_sum_ps[0] / outcome.flows.rtt_samples[0] as f64 / 1e9;
        (queues.backlog_mean_packets[row], rtt_ms)
    };
    let (in_link, rtt_ms) = waiting(20_000_000, None);
    assert!((in_link - 69.0).abs() < 1.5 && (rtt_ms - 96.0).abs() < 1.0, "{in_link}, {rtt_ms}");
    // 9.9 Mbit/s: what waits, waits in the host, where TCP leaves it to 1.2 windows' part of a millisecond, 3 segments, and
    // one more
    let (in_link, rtt_ms) = waiting(9_900_000, None);
    assert!(in_link < 0.1 && (44.0..47.0).contains(&rtt_ms), "{in_link}, {rtt_ms}");
    // no more than 1 KB, and one more
    let (in_link, rtt_ms) = waiting(9_900_000, Some(1_000));
    assert!(in_link < 0.1 && (41.0..43.0).contains(&rtt_ms), "{in_link}, {rtt_ms}");
}

/// Forty segments come at 0.8 ms each: what comes within the card's time is one packet to TCP, if it was sent as one.
#[test]
fn a_card_that_waits_has_packets_acknowledged_once() {
    let answers = |interrupt_ps, quick_acks, segments| {
        let mut plan = burst(100_000_000, segments);
        let tcp = tcp_of(&mut plan);
        tcp.congestion = FixedConfig { segments: 40 }.into();
        tcp.config.ack_every = 2;
        tcp.transfer_bytes = Some(40 * 960);
        let host = host(100_000_000, None, interrupt_ps);
        plan.groups[0].host = Some(HostPlan { quick_acks, ..host });
        assert_agreement(&plan);
        // with timestamps each acknowledgment is a sample; one is the handshake's
        tcp_of(&mut plan).config.timestamps = true;
        outcome(&plan).flows.rtt_samples[0] - 1
    };
    // one for every second segment
    assert_eq!(answers(0, 0, 1), 20);
    // 8 ms: ten or eleven at once, and no two packets of the sender's are one
    assert_eq!(answers(8_000_000_000, 0, 4), 10);
    assert_eq!(answers(8_000_000_000, 0, 20), 4);
    // the first sixteen are for one segment each
    assert_eq!(answers(0, 16, 1), 16 + 12);
}

#[test]
fn a_host_of_nothing_is_none() {
    let mut plan = dumbbell(Recovery::Linux, 20, &[40, 60, 80]);
    let none = outcome(&plan);
    plan.groups[0].host = Some(HostPlan { card: None, quick_acks: 0, noise: None });
    assert_eq!(outcome(&plan), none);
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn hosts_agree_with_their_slow_twins(case in hosted_plans()) {
        assert_agreement(&case.0);
    }
}
