//! The engine against its slow twin, bit for bit.
//!
//! No tolerance is needed anywhere: both sum whole picoseconds in integers and divide once, and the one sum of
//! floats, that of the round-trip samples, is the sender's own and adds in the same order.

use std::fs;
use std::path::Path;

use bufferlab_congestion::{Bbr1Config, Bbr3Config, CongestionConfig};
use bufferlab_parameters::Kinds;
use bufferlab_qdisc::{FifoConfig, Limit};
use bufferlab_simulator::{Control, Outcome, Plan, QueuePlan, SourcePlan, run};
use bufferlab_transport::Recovery;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::oracle;
use crate::plans::{config, ecn_for, paced_plans, plans};
use crate::scenes::{MS, dumbbell, splitbuff};

/// How many random plans are looked at, to see that they are worth their name: enough that shares hardly depend on the
/// seed, nor on which other kinds there are to be drawn.
const PLANS: u32 = 1000;

/// Both engines' outcomes, but for the number of events, which is the fast one's own.
fn both(plan: &Plan) -> (Outcome, Outcome) {
    let mut fast = run(plan, &Control::default()).expect("the plan is within bounds");
    fast.events = 0;
    (fast, oracle::run(plan))
}

/// Says which table differs, so that a failure can be read.
pub(crate) fn assert_agreement(plan: &Plan) {
    let (fast, slow) = both(plan);
    assert_eq!(fast.flows, slow.flows, "flows: the engine's to the left, the oracle's to the right");
    assert_eq!(fast.queues, slow.queues, "queues: the engine's to the left, the oracle's to the right");
    assert_eq!(fast.histograms, slow.histograms);
    assert_eq!(fast.classes, slow.classes, "classes: the engine's to the left, the oracle's to the right");
    assert_eq!(fast.class_histograms, slow.class_histograms);
    assert_eq!(fast.queue_samples, slow.queue_samples);
    assert_eq!(fast.class_samples, slow.class_samples);
    assert_eq!(fast.sender_samples, slow.sender_samples);
    assert_eq!(fast.receiver_samples, slow.receiver_samples);
    assert_eq!(fast.exchanges, slow.exchanges);
    assert_eq!(fast.segments, slow.segments, "segments: the engine's to the left, the oracle's to the right");
    assert_eq!(fast, slow);
}

/// Plans that broke something once, and the example.
#[test]
fn kept_plans_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        let plan: Plan = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let watched = Plan { sample_interval_ps: 12_345_678_901, ..plan.clone() };
        assert_agreement(&plan);
        assert_agreement(&watched);
    }
}

/// What reaches a paced sender waits for its next release: one event a packet, not one more for the acknowledgment.
#[test]
fn a_paced_packet_costs_about_one_event() {
    for congestion in [CongestionConfig::from(Bbr1Config {}), Bbr3Config {}.into()] {
        let mut plan = dumbbell(Recovery::Linux, 100, &[40, 60]);
        for group in &mut plan.groups {
            let SourcePlan::Tcp(tcp) = &mut group.source else { unreachable!("the scene's flows are TCP") };
            tcp.congestion = congestion.clone();
        }
        let outcome = run(&plan, &Control::default()).unwrap();
        let events = outcome.events as f64 / outcome.packets as f64;
        assert!(outcome.packets > 20_000 && events < 1.3, "{congestion:?}: {events} events a packet");
        assert_agreement(&plan);
    }
}

/// The random plans are worth their name: what they are meant to stir up happens, and often.
///
/// What only some disciplines do is drawn less often the more others there are, so the number of plans may grow.
#[test]
fn random_plans_reach_every_corner() {
    // marks need a flow that listens at a link that marks, disorder needs SplitBuff: `disorder_is_counted_alike`
    const WANTED: [u64; 10] = [200, 200, 200, 200, 200, 200, 200, 50, 200, 5];
    let mut runner = TestRunner::new(config(1));
    let (mut sums, mut drawn) = ([0; 10], 0);
    while drawn < 3 * PLANS && sums.iter().zip(WANTED).any(|(&sum, wanted)| sum < wanted) {
        drawn += 1;
        let plan = plans().new_tree(&mut runner).unwrap().current().0;
        let outcome = run(&plan, &Control::default()).unwrap();
        let (flows, queues) = (&outcome.flows, &outcome.queues);
        let finished = flows.finished_ps.iter().filter(|&&at| at != u64::MAX).count() as u64;
        let columns = [
            &flows.whole_delivered_bytes,
            &flows.whole_timeouts,
            &flows.whole_recoveries,
            &flows.whole_retransmissions,
            &flows.whole_spurious_retransmissions,
            &queues.whole_dropped_packets,
            &queues.whole_lost_packets,
            &queues.marked_packets,
            &vec![finished],
            &flows.whole_reordered_packets,
        ];
        for (sum, column) in sums.iter_mut().zip(columns) {
            *sum += u64::from(column.iter().sum::<u64>() > 0);
        }
    }
    let enough = sums.iter().zip(WANTED).all(|(&sum, wanted)| sum >= wanted);
    assert!(enough, "of {drawn} plans with each: {sums:?}, wanted: {WANTED:?}");
}

/// Flows between two sub-buffers reorder themselves, which causes spurious retransmissions; the same flows in one
/// queue do not.
#[test]
fn disorder_is_counted_alike() {
    let mut plan = dumbbell(Recovery::Sack, 60, &[40, 45, 50, 55, 60]);
    plan.sample_interval_ps = 500 * MS;
    let fifo = run(&plan, &Control::default()).unwrap().flows;
    assert_eq!(fifo.whole_reordered_packets.iter().sum::<u64>(), 0);
    plan.links[0].discipline = QueuePlan::new(Limit::Packets(120), splitbuff());
    let split = run(&plan, &Control::default()).unwrap();
    let flows = &split.flows;
    assert!(flows.reordered_packets.iter().sum::<u64>() > 10, "{:?}", flows.reordered_packets);
    assert!(flows.spurious_retransmissions.iter().sum::<u64>() > 0, "{:?}", flows.spurious_retransmissions);
    assert!(split.classes.departed_packets.iter().all(|&packets| packets > 1_000), "{:?}", split.classes);
    assert_agreement(&plan);
}

/// Without limits only disciplines drop that do so early.
#[test]
fn random_plans_make_disciplines_drop_and_mark() {
    let mut runner = TestRunner::new(config(1));
    let (mut plans_with_one, mut drops, mut marks) = (0, 0, 0);
    // however many other disciplines there are to be drawn
    while plans_with_one < PLANS {
        let mut plan = plans().new_tree(&mut runner).unwrap().current().0;
        let mut has_one = false;
        for link in &mut plan.links {
            link.changes.clear();
            link.discipline.limit = Limit::Unlimited;
            if matches!(link.discipline.config.word(), "codel" | "red" | "pie" | "fq_codel") {
                has_one = true;
            } else {
                link.discipline.config = FifoConfig::default().into();
            }
        }
        if !has_one {
            continue;
        }
        plans_with_one += 1;
        let queues = run(&plan, &Control::default()).unwrap().queues;
        drops += u64::from(queues.whole_dropped_packets.iter().any(|&packets| packets > 0));
        marks += u64::from(queues.marked_packets.iter().any(|&packets| packets > 0));
    }
    assert!(drops >= 250 && marks >= 50, "of {PLANS} plans, with drops: {drops}, with marks: {marks}");
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn the_engine_agrees_with_its_slow_twin(case in plans()) {
        assert_agreement(&case.0);
    }
}

proptest! {
    #![proptest_config(config(64))]

    #[test]
    fn paced_senders_agree_with_their_slow_twins(case in paced_plans()) {
        assert_agreement(&case.0);
    }

    #[test]
    fn recoveries_of_ns2_agree_with_their_slow_twins(case in plans()) {
        let mut plan = case.0;
        for group in &mut plan.groups {
            if let SourcePlan::Tcp(tcp) = &mut group.source {
                tcp.config.recovery = match tcp.config.recovery {
                    Recovery::Tahoe | Recovery::Reno => Recovery::RenoNs2,
                    Recovery::NewReno => Recovery::NewRenoNs2,
                    Recovery::SackNs2 => Recovery::LinuxNs2,
                    other => other,
                };
                tcp.config.paced &= tcp.config.recovery != Recovery::LinuxNs2;
                tcp.config.ecn = ecn_for(&tcp.congestion, tcp.config.recovery, tcp.config.ecn);
            }
        }
        assert_agreement(&plan);
    }
}
