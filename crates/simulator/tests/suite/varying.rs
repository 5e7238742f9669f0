//! Links that vary: against the slow twin, against links that do not, and against what they offer.

use bufferlab_qdisc::{CodelConfig, FifoConfig, Limit};
use bufferlab_simulator::{
    ALL_GROUPS, CapacityPlan, Control, DelayPiece, DelayPlan, JitterPlan, LossBurstsPlan, Outcome, Plan,
    QueuePlan, RatePiece, run,
};
use bufferlab_transport::Recovery;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::differential::assert_agreement;
use crate::golden::link_row;
use crate::plans::{capacity, config, plans};
use crate::scenes::{MS, RATE_BPS, S, dumbbell};

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).unwrap()
}

fn scene(capacity: Option<CapacityPlan>) -> Plan {
    let mut plan = dumbbell(Recovery::Sack, 60, &[40, 45, 50]);
    plan.links[0].capacity = capacity;
    plan
}

fn piece(at_s: u64, rate_bps: u64) -> RatePiece {
    RatePiece { at_ps: at_s * S, rate_bps }
}

/// The same plan but for how the rate is given: nothing but the number of events differs, and what is offered is said.
#[test]
fn a_rate_that_never_changes_is_a_constant_rate() {
    let discipline = [QueuePlan::new(Limit::Packets(30), FifoConfig::default()), codel()];
    for (discipline, repeat_ps) in discipline.into_iter().flat_map(|d| [(d.clone(), 0), (d, S / 7)]) {
        let mut constant = scene(None);
        constant.links[0].discipline = discipline;
        let mut listed = constant.clone();
        listed.links[0].capacity = Some(CapacityPlan::Rates { pieces: vec![piece(0, RATE_BPS)], repeat_ps });
        let (constant, mut listed) = (outcome(&constant), outcome(&listed));
        assert!(constant.queues.dropped_packets[0] > 0);
        for (row, share) in listed.queues.busy_fraction.iter_mut().enumerate() {
            assert!((*share - constant.queues.busy_fraction[row]).abs() < 1e-12);
            *share = constant.queues.busy_fraction[row];
        }
        assert!((listed.queues.offered_bps[link_row(&listed)] / RATE_BPS as f64 - 1.0).abs() < 1e-12);
        listed.queues.offered_bps.clone_from(&constant.queues.offered_bps);
        listed.events = constant.events;
        assert_eq!(listed, constant);
    }
}

fn codel() -> QueuePlan {
    QueuePlan::new(Limit::Packets(100), CodelConfig::default())
}

/// An outage of 10 s in 60: what is carried is a share of what was offered, not of the time.
#[test]
fn utilization_is_a_share_of_what_is_offered() {
    let pieces = vec![piece(0, RATE_BPS), piece(20, 0), piece(30, 2 * RATE_BPS)];
    let mut plan = scene(Some(CapacityPlan::Rates { pieces, repeat_ps: 0 }));
    (plan.duration_ps, plan.warmup_ps) = (60 * S, 10 * S);
    plan.links[0].discipline.limit = Limit::Packets(200);
    let outcome = outcome(&plan);
    let row = link_row(&outcome);
    // 10 s at the rate and 30 s at twice that, of 50 s
    let offered = RATE_BPS as f64 * 70.0 / 50.0;
    assert!((outcome.queues.offered_bps[row] / offered - 1.0).abs() < 1e-12);
    let carried = outcome.queues.departed_bytes[row] as f64 * 8.0 / 50.0;
    let busy = outcome.queues.busy_fraction[row];
    assert!((busy * offered / carried - 1.0).abs() < 1e-3, "{busy}");
    assert!(busy > 0.9, "{busy}");
    assert!(outcome.queues.wait_max_ps[row] >= 10 * S, "what waits at the outage waits through it");
}

/// A trace with an opportunity each millisecond is a link of 1504 bytes a millisecond, for packets of that size.
#[test]
fn opportunities_carry_their_bytes() {
    let capacity = CapacityPlan::Opportunities { at_ms: vec![0, 1], bytes: 1504, repeat_ms: 1 };
    let mut plan = scene(Some(capacity));
    plan.links[0].discipline.limit = Limit::Packets(200);
    let outcome = outcome(&plan);
    let row = link_row(&outcome);
    // the list's last moment is the first of its next round: two a millisecond
    assert!((outcome.queues.offered_bps[row] / 24_064_000.0 - 1.0).abs() < 1e-3);
    assert!(outcome.queues.busy_fraction[row] > 0.95, "{}", outcome.queues.busy_fraction[row]);
}

/// Losses come in bursts: with the same share of lost packets, fewer of the flows' windows are hit.
#[test]
fn bursts_of_losses_agree_and_hit_fewer_windows() {
    let mut bursty = scene(None);
    bursty.links[0].discipline.limit = Limit::Unlimited;
    let mut even = bursty.clone();
    bursty.links[0].loss_bursts = Some(LossBurstsPlan {
        begin_ppb: 1_000_000,
        end_ppb: 200_000_000,
        bad_ppb: 1_000_000_000,
        good_ppb: 0,
    });
    even.links[0].loss_ppb = 5_000_000;
    assert_agreement(&bursty);
    let [bursty, even] = [bursty, even].map(|plan| outcome(&plan));
    let share = |outcome: &Outcome| {
        let row = link_row(outcome);
        let lost = outcome.queues.whole_lost_packets[row] as f64;
        let recoveries: u64 = outcome.flows.whole_recoveries.iter().sum();
        (lost / (lost + outcome.queues.whole_arrived_packets[row] as f64), recoveries as f64 / lost)
    };
    assert!(share(&bursty).1 < 0.6 * share(&even).1, "{:?} {:?}", share(&bursty), share(&even));
}

/// Without reordering jitter only delays; with it segments come out of order.
#[test]
fn jitter_reorders_only_if_it_may() {
    let jitter = JitterPlan::Uniform { low_ps: 0, high_ps: 5 * MS };
    for reorders in [false, true] {
        let mut plan = scene(None);
        let delays =
            vec![DelayPiece { at_ps: 5 * S, more_ps: 30 * MS }, DelayPiece { at_ps: 10 * S, more_ps: 0 }];
        plan.links[0].varying_delay = Some(DelayPlan { delays, repeat_ps: 15 * S, jitter, reorders });
        plan.sample_interval_ps = 100 * MS;
        assert_agreement(&plan);
        let reordered: u64 = outcome(&plan).flows.whole_reordered_packets.iter().sum();
        assert_eq!(reordered > 0, reorders);
    }
}

proptest! {
    #![proptest_config(config(64))]

    /// No link carries more than it offers, and one that is never short of packets carries all of it but for the edges.
    #[test]
    fn nothing_beyond_what_is_offered_is_carried(capacity in capacity()) {
        let mut plan = scene(Some(capacity));
        plan.duration_ps = 10 * S;
        let outcome = outcome(&plan);
        let row = link_row(&outcome);
        let (busy, offered) = (outcome.queues.busy_fraction[row], outcome.queues.offered_bps[row]);
        prop_assert!((0.0..=1.0).contains(&busy), "{busy}");
        let window_s = (plan.duration_ps - plan.warmup_ps) as f64 / S as f64;
        let carried = outcome.queues.departed_bytes[row] as f64 * 8.0;
        // a packet that begins before the window ends in it
        prop_assert!(carried <= offered * window_s + 8.0 * 1_500.0, "{carried} of {}", offered * window_s);
    }
}

/// Random plans have links that vary, of each kind, that are used.
#[test]
fn random_plans_vary() {
    let mut runner = TestRunner::new(config(1));
    let mut counts = [0; 7];
    for _ in 0..500 {
        let plan = plans().new_tree(&mut runner).unwrap().current().0;
        let outcome = outcome(&plan);
        for row in (0..outcome.queues.link.len()).filter(|&row| outcome.queues.group[row] == ALL_GROUPS) {
            let link = &plan.links[outcome.queues.link[row] as usize];
            if outcome.queues.departed_packets[row] < 10 {
                continue;
            }
            let kind = link.capacity.as_ref().map(|capacity| match capacity {
                CapacityPlan::Rates { .. } => 0,
                CapacityPlan::Opportunities { .. } => 1,
                CapacityPlan::Markov { .. } => 2,
                CapacityPlan::Bursts { .. } => 3,
                CapacityPlan::Bucket { .. } => 4,
            });
            let others = [link.varying_delay.is_some().then_some(5), link.loss_bursts.is_some().then_some(6)];
            others.into_iter().chain([kind]).flatten().for_each(|kind| counts[kind] += 1);
        }
    }
    assert!(counts.iter().all(|&count| count >= 10), "{counts:?}");
}
