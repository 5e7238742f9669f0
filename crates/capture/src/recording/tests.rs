use bufferlab_qdisc::{DrrConfig, FifoConfig, Limit};
use bufferlab_simulator::{Control, Plan, QueuePlan, run_recorded};

use super::*;
use crate::blocks::tests::Memory;

/// Two flows over a link that loses packets in both ways that there are, with acknowledgments over another.
fn plan() -> Plan {
    let mut plan: Plan =
        serde_json::from_str(include_str!("../../../simulator/tests/plans/two_flows.json")).unwrap();
    plan.links[0].loss_ppb = 5_000_000;
    let mut back = plan.links[0].clone();
    back.name = "back".to_owned();
    back.discipline = QueuePlan::new(Limit::Packets(5), FifoConfig::default());
    back.rate_bps = 250_000;
    plan.links.push(back);
    plan.groups[0].reverse = vec![1];
    plan
}

/// Records the plan; what is left in memory before the end, and afterwards.
fn record(places: &Places, trace: bool) -> (usize, usize) {
    let plan = plan();
    let mut recording = Recording::new(&plan, None).with_pcap(Box::new(Memory::default()), places, u64::MAX);
    if trace {
        recording = recording.with_trace(Box::new(Memory::default()), TraceFormat::Csv, u64::MAX);
    }
    let outcome = run_recorded(&plan, &Control::default(), &mut recording).unwrap();
    assert!(outcome.queues.whole_dropped_packets.iter().sum::<u64>() > 50);
    assert!(outcome.queues.whole_lost_packets.iter().sum::<u64>() > 50);
    // while the run went on, too
    assert!(recording.taken + Span::from_s(1) > recording.end);
    recording.take_before(recording.end);
    let left: u64 = (0..outcome.queues.link.len())
        .filter(|&row| outcome.queues.group[row] == bufferlab_simulator::ALL_GROUPS)
        .map(|row| outcome.queues.left_packets[row])
        .sum();
    (recording.in_flight.len(), left as usize)
}

#[test]
fn only_what_is_under_way_is_kept() {
    let every = Places { senders: true, receivers: true, links: vec![0, 1] };
    for (places, trace) in [(Places { senders: true, ..Places::default() }, false), (every, true)] {
        let (kept, queued) = record(&places, trace);
        // what is in queues, and on the ways between: 40 ms at 10 Mbit/s at most
        assert!(kept <= queued + 50, "{kept} {queued}");
    }
}

#[test]
fn nothing_is_recorded_too_late_for_a_trace() {
    // by events, on slow links, from far away; `push` asserts it
    let mut plan = plan();
    plan.links[0].discipline = QueuePlan::new(Limit::Packets(20), DrrConfig::default());
    plan.links[0].rate_bps = 200_000;
    plan.flows.source_delay_ps = vec![0, 500_000_000_000];
    let memory = Memory::default();
    let mut recording =
        Recording::new(&plan, None).with_trace(Box::new(memory.clone()), TraceFormat::Ns2, u64::MAX);
    let outcome = run_recorded(&plan, &Control::default(), &mut recording).unwrap();
    recording.finish(Time::from_ps(outcome.reached_ps));
    let text = String::from_utf8(memory.bytes()).unwrap();
    let times: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(1)).collect();
    assert!(times.len() > 500 && times.is_sorted());
}

#[test]
fn a_failed_file_ends_the_bookkeeping() {
    let plan = plan();
    let memory = Memory { room: Some(1_000), ..Memory::default() };
    let places = Places { senders: true, ..Places::default() };
    let mut recording = Recording::new(&plan, None).with_pcap(Box::new(memory.clone()), &places, u64::MAX);
    let outcome = run_recorded(&plan, &Control::default(), &mut recording).unwrap();
    let (pcap, trace) = recording.finish(Time::from_ps(outcome.reached_ps));
    let report = pcap.unwrap();
    assert_eq!((trace, report.bytes), (None, memory.bytes().len() as u64));
    assert!(report.problem.is_some() && (1..10).contains(&report.records), "{report:?}");
}
