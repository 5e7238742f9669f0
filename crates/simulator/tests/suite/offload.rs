//! Packets of several segments: worked by hand, against the slow twin, and under every discipline.

use bufferlab_congestion::FixedConfig;
use bufferlab_parameters::Kinds;
use bufferlab_qdisc::{DisciplineConfig, FifoConfig, Limit};
use bufferlab_simulator::{Control, Outcome, Plan, QueuePlan, SourcePlan, run};
use bufferlab_transport::{Offload, Recovery};
use proptest::prelude::*;

use crate::differential::assert_agreement;
use crate::laws::assert_conservation;
use crate::plans::{config, plans};
use crate::scenes::{dumbbell, red, splitbuff, tcp_of};

const SEGMENT_BYTES: u64 = 1_000;

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

/// The row of the only link.
fn row(outcome: &Outcome) -> usize {
    outcome.queues.link.len() - 1
}

/// A window of 120 segments over 40 ms, of which 50 fit on the way at 10 Mbit/s; as many segments to a packet.
fn standing(segments: u32) -> Plan {
    let mut plan = dumbbell(Recovery::Sack, 200, &[40]);
    let tcp = tcp_of(&mut plan);
    tcp.congestion = FixedConfig { segments: 120 }.into();
    tcp.config.offload = Some(Offload::Segments(segments));
    plan
}

#[test]
fn a_queue_counts_packets_and_their_bytes() {
    for segments in [1, 2, 6, 40] {
        let plan = standing(segments);
        let outcome = outcome(&plan);
        let (queues, row) = (&outcome.queues, row(&outcome));
        let bytes = u64::from(segments) * SEGMENT_BYTES;
        assert_eq!(queues.departed_bytes[row], queues.departed_packets[row] * bytes);
        let mean = queues.backlog_mean_bytes[row] / queues.backlog_mean_packets[row];
        assert!((mean - bytes as f64).abs() < 1e-6, "{segments}: {mean}");
        // 120 segments less those on the way, and less what is in transmission: a packet is answered when it is out
        let waiting = 120_000.0 - 50_000.0 - bytes as f64;
        assert!((queues.backlog_mean_bytes[row] - waiting).abs() < bytes as f64, "{segments}");
        assert!(queues.busy_fraction[row] > 0.999, "{segments}");
        assert_agreement(&plan);
    }
}

#[test]
fn packets_of_one_segment_are_ordinary_ones() {
    for recovery in [Recovery::Reno, Recovery::Sack, Recovery::Linux, Recovery::Quic, Recovery::SackNs2] {
        let mut plan = dumbbell(recovery, 20, &[40, 60, 80]);
        tcp_of(&mut plan).config.ack_every = 2;
        let ordinary = outcome(&plan);
        tcp_of(&mut plan).config.offload = Some(Offload::Segments(1));
        assert_eq!(outcome(&plan), ordinary, "{recovery:?}");
    }
}

#[test]
fn a_limit_in_packets_takes_more_bytes_and_one_in_bytes_takes_fewer_packets() {
    let most = |limit, segments| {
        let mut plan = dumbbell(Recovery::Linux, 10, &[40]);
        plan.links[0].discipline = QueuePlan::new(limit, FifoConfig::default());
        tcp_of(&mut plan).config.offload = Some(Offload::Segments(segments));
        let outcome = outcome(&plan);
        assert_agreement(&plan);
        let (queues, row) = (&outcome.queues, row(&outcome));
        assert!(queues.dropped_packets[row] > 0);
        (queues.backlog_max_packets[row], queues.backlog_max_bytes[row])
    };
    assert_eq!(most(Limit::Packets(10), 1), (10, 10_000));
    let (packets, bytes) = most(Limit::Packets(10), 6);
    assert!(packets == 10 && bytes > 40_000, "{bytes} bytes");
    let (packets, bytes) = most(Limit::Bytes(10_000), 6);
    assert!(packets <= 10 && bytes <= 10_000, "{packets} packets of {bytes} bytes");
}

/// What flows count are segments, what queues count are packets, and their bytes are the same.
#[test]
fn what_is_sent_comes_to_the_queue_byte_by_byte() {
    for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::Linux, Recovery::Quic] {
        let mut plan = dumbbell(recovery, 15, &[40, 60]);
        plan.warmup_ps = 0;
        let tcp = tcp_of(&mut plan);
        (tcp.config.offload, tcp.transfer_bytes) = (Some(Offload::Segments(6)), Some(4_000_000));
        let outcome = outcome(&plan);
        let (flows, queues, row) = (&outcome.flows, &outcome.queues, row(&outcome));
        let segments: u64 = flows.sent_packets.iter().sum();
        assert_eq!(queues.arrived_bytes[row], SEGMENT_BYTES * segments + 2 * 40, "two SYNs");
        assert!(queues.arrived_packets[row] < segments / 2);
        let again: u64 = flows.retransmissions.iter().sum();
        assert!(flows.finished_ps.iter().all(|&at| at != u64::MAX), "{recovery:?}");
        assert!(again * SEGMENT_BYTES >= queues.dropped_bytes[row] * 9 / 10, "what is lost is sent again");
        assert_conservation(&outcome);
    }
}

#[test]
fn packets_of_64_kilobytes_pass_every_discipline() {
    let kinds = DisciplineConfig::KINDS.iter().map(|kind| (kind.default)());
    for discipline in kinds.chain([red(false).into(), splitbuff().into()]) {
        let mut plan = dumbbell(Recovery::Linux, 1, &[40, 200]);
        plan.links[0].discipline = QueuePlan::new(Limit::Packets(60), discipline.clone());
        tcp_of(&mut plan).config.offload = Some(Offload::Segments(60));
        let outcome = outcome(&plan);
        let (queues, row) = (&outcome.queues, row(&outcome));
        assert!(
            queues.departed_bytes[row] > 2 * queues.departed_packets[row] * SEGMENT_BYTES,
            "{discipline:?}"
        );
        assert!(outcome.flows.delivered_bytes.iter().all(|&bytes| bytes > 100_000), "{discipline:?}");
        assert_conservation(&outcome);
        assert_agreement(&plan);
    }
}

proptest! {
    #![proptest_config(config(128))]

    #[test]
    fn packed_senders_agree_with_their_slow_twins(case in plans(), sizes in [0..=8_u32, 0..=8, 0..=44]) {
        let mut plan = case.0;
        for (group, size) in plan.groups.iter_mut().zip(sizes) {
            if let SourcePlan::Tcp(tcp) = &mut group.source {
                let segments = Some(size).filter(|&size| size > 0).map(Offload::Segments);
                tcp.config.offload = Some(segments.unwrap_or(Offload::Auto));
            }
        }
        assert_agreement(&plan);
    }
}
