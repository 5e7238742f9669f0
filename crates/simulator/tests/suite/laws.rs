//! What holds in every run.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bufferlab_simulator::{
    ALL_GROUPS, ClassSampleTable, Control, LinkPlan, Outcome, Plan, QueueSampleTable, QueueTable,
    ReceiverSampleTable, SenderSampleTable, SourcePlan, run,
};
use bufferlab_transport::Recovery;
use proptest::prelude::*;

use crate::plans::{config, plans};
use crate::scenes::{S, dumbbell};

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).expect("the plan is within bounds")
}

/// Every link, group and class: arrived = departed + dropped + left. A link's row is the sum of its groups', and, where
/// there are classes, of theirs.
pub(crate) fn assert_conservation(outcome: &Outcome) {
    assert_classes(outcome);
    let queues = &outcome.queues;
    for row in 0..queues.link.len() {
        let gone = queues.whole_departed_packets[row] + queues.whole_dropped_packets[row];
        let accounted = gone + queues.left_packets[row];
        assert_eq!(queues.whole_arrived_packets[row], accounted, "row {row} of {queues:?}");
        // the window's drops are of the window's arrivals
        assert!(queues.dropped_packets[row] <= queues.arrived_packets[row], "row {row} of {queues:?}");
        if queues.group[row] == ALL_GROUPS {
            assert_sums(queues, row);
        }
    }
}

fn assert_classes(outcome: &Outcome) {
    let (queues, classes) = (&outcome.queues, &outcome.classes);
    for row in 0..classes.link.len() {
        let gone = classes.whole_departed_packets[row] + classes.whole_dropped_packets[row];
        assert_eq!(
            classes.whole_arrived_packets[row],
            gone + classes.left_packets[row],
            "row {row} of {classes:?}"
        );
    }
    let whole = (0..queues.link.len()).filter(|&row| queues.group[row] == ALL_GROUPS);
    for row in whole.filter(|&row| classes.link.contains(&queues.link[row])) {
        let of_link = |column: &[u64]| -> u64 {
            (0..column.len())
                .filter(|&class| classes.link[class] == queues.link[row])
                .map(|class| column[class])
                .sum()
        };
        assert_eq!(queues.arrived_bytes[row], of_link(&classes.arrived_bytes));
        assert_eq!(queues.dropped_bytes[row], of_link(&classes.dropped_bytes));
        assert_eq!(queues.departed_bytes[row], of_link(&classes.departed_bytes));
        assert_eq!(queues.served_packets[row], of_link(&classes.served_packets));
        assert_eq!(queues.left_packets[row], of_link(&classes.left_packets));
    }
}

fn assert_sums(queues: &QueueTable, row: usize) {
    let columns = [
        &queues.arrived_packets,
        &queues.arrived_bytes,
        &queues.dropped_packets,
        &queues.dropped_bytes,
        &queues.lost_packets,
        &queues.marked_packets,
        &queues.departed_packets,
        &queues.departed_bytes,
        &queues.served_packets,
        &queues.whole_arrived_packets,
        &queues.whole_dropped_packets,
        &queues.whole_lost_packets,
        &queues.whole_departed_packets,
        &queues.left_packets,
    ];
    for (index, column) in columns.iter().enumerate() {
        let parts = (0..row).filter(|&part| queues.link[part] == queues.link[row]);
        assert_eq!(column[row], parts.map(|part| column[part]).sum::<u64>(), "column {index}");
    }
}

/// A link carries no more than its rate; a flow delivers no more than it sent.
fn assert_bounds(plan: &Plan, outcome: &Outcome) {
    let flows = &outcome.flows;
    // what others offer, the rows of their queues say
    let constant = plan.links.iter().enumerate().filter(|(_, link)| link.capacity.is_none());
    for (index, link) in constant {
        let crosses = |flow: usize| plan.groups[flows.group[flow] as usize].forward.contains(&(index as u32));
        let delivered = (0..flows.flow.len()).filter(|&flow| crosses(flow));
        let bytes: u64 = delivered.map(|flow| flows.whole_delivered_bytes[flow]).sum();
        let bits_e12 = u128::from(link.rate_bps) * u128::from(plan.duration_ps);
        assert!(u128::from(bytes) * 8_000_000_000_000 <= bits_e12, "link {index} carries {bytes} bytes");
    }
    for flow in 0..flows.flow.len() {
        let bytes_each = match &plan.groups[flows.group[flow] as usize].source {
            SourcePlan::Tcp(tcp) => u64::from(tcp.config.mss_bytes),
            SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => 65_535,
        };
        let sent_once = flows.whole_sent_packets[flow] - flows.whole_retransmissions[flow];
        assert!(flows.whole_delivered_bytes[flow] <= sent_once * bytes_each, "flow {flow}");
        assert!(
            flows.whole_spurious_retransmissions[flow] <= flows.whole_retransmissions[flow],
            "flow {flow}"
        );
        assert!(flows.delivered_bytes[flow] <= flows.whole_delivered_bytes[flow], "flow {flow}");
    }
    assert!(outcome.queues.busy_fraction.iter().all(|share| (0.0..=1.0).contains(share)));
}

/// Only SplitBuff puts a flow's packets into several queues, and only jitter may reorder them on the way.
fn assert_order(plan: &Plan, outcome: &Outcome) {
    if !plan.links.iter().any(LinkPlan::reorders) {
        assert_eq!(outcome.flows.whole_reordered_packets.iter().sum::<u64>(), 0);
    }
}

/// A transfer that is done has delivered its bytes, all of them and no more.
fn assert_transfers(plan: &Plan, outcome: &Outcome) {
    let flows = &outcome.flows;
    for flow in 0..flows.flow.len() {
        let SourcePlan::Tcp(tcp) = &plan.groups[flows.group[flow] as usize].source else { continue };
        let delivered = flows.whole_delivered_bytes[flow];
        let Some(bytes) = plan.flows.transfer_bytes(flow, tcp) else { continue };
        assert!(delivered <= bytes, "flow {flow}");
        if plan.flows.stop_ps[flow] == u64::MAX && flows.finished_ps[flow] != u64::MAX {
            assert_eq!(delivered, bytes, "flow {flow}");
            assert!(flows.finished_ps[flow] < plan.duration_ps, "flow {flow}");
        }
    }
}

/// The samples are as many as asked for.
fn assert_sample_counts(plan: &Plan, outcome: &Outcome) {
    let times = plan.duration_ps.checked_div(plan.sample_interval_ps).unwrap_or(0) as usize;
    let links = plan.links.iter().filter(|link| link.sample).count();
    let sampled = |flow: &usize| plan.flows.sample[*flow];
    let is_tcp =
        |flow: &usize| matches!(plan.groups[plan.flows.group[*flow] as usize].source, SourcePlan::Tcp(_));
    let flows = 0..plan.flows.group.len();
    assert_eq!(outcome.queue_samples.time_ps.len(), times * links);
    assert_eq!(outcome.receiver_samples.time_ps.len(), times * flows.clone().filter(sampled).count());
    let senders = flows.filter(sampled).filter(is_tcp).count();
    assert_eq!(outcome.sender_samples.time_ps.len(), times * senders);
}

fn without_samples(outcome: Outcome) -> Outcome {
    Outcome {
        queue_samples: QueueSampleTable::default(),
        class_samples: ClassSampleTable::default(),
        sender_samples: SenderSampleTable::default(),
        receiver_samples: ReceiverSampleTable::default(),
        ..outcome
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn books_balance_and_bounds_hold(case in plans()) {
        let outcome = outcome(&case.0);
        assert_conservation(&outcome);
        assert_bounds(&case.0, &outcome);
        assert_order(&case.0, &outcome);
        assert_transfers(&case.0, &outcome);
        assert_sample_counts(&case.0, &outcome);
    }

    #[test]
    fn watching_changes_nothing(case in plans()) {
        let mut watched = case.0;
        let unwatched = outcome(&Plan { sample_interval_ps: 0, ..watched.clone() });
        watched.sample_interval_ps = watched.sample_interval_ps.max(7_777_777_777);
        watched.flows.sample.fill(true);
        prop_assert_eq!(without_samples(outcome(&watched)), unwatched);
    }

    #[test]
    fn a_run_repeats_whatever_else_runs(case in plans()) {
        let alone = outcome(&case.0);
        let together: Vec<Outcome> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| outcome(&case.0))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for outcome in together {
            prop_assert_eq!(&outcome, &alone);
        }
    }

    #[test]
    fn a_run_canceled_before_it_starts_does_nothing(case in plans()) {
        let control = Control::default();
        control.cancel();
        let outcome = run(&case.0, &control).unwrap();
        prop_assert_eq!(outcome.events, 0);
        prop_assert!(outcome.canceled || case.0.flows.start_ps.iter().zip(&case.0.flows.stop_ps).all(|(a, b)| a >= b));
        assert_conservation(&outcome);
    }
}

/// Some hundred hours of simulated time, canceled when they have begun.
#[test]
fn a_canceled_run_ends_soon_with_its_books_in_order() {
    let mut plan = dumbbell(Recovery::Sack, 50, &[20, 40, 60]);
    plan.duration_ps = 90_000 * S;
    let control = Arc::new(Control::default());
    let (done, wait) = mpsc::channel();
    let thread = thread::spawn({
        let (plan, control) = (plan.clone(), Arc::clone(&control));
        move || done.send(run(&plan, &control)).is_ok()
    });
    while control.reached_ps() < plan.warmup_ps {
        thread::yield_now();
    }
    control.cancel();
    let outcome = wait.recv_timeout(Duration::from_secs(20)).expect("a canceled run ends").unwrap();
    assert!(thread.join().unwrap());
    assert!(outcome.canceled);
    assert_eq!(outcome.reached_ps, control.reached_ps());
    assert!((plan.warmup_ps..plan.duration_ps).contains(&outcome.reached_ps));
    assert_conservation(&outcome);
    assert!(outcome.flows.whole_delivered_bytes.iter().all(|&bytes| bytes > 0));
}
