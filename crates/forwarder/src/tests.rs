//! A kernel's packets through the simulator's link.

use bufferlab_congestion::RenoConfig;
use bufferlab_qdisc::{FifoConfig, Limit, Threshold};
use bufferlab_simulator::{FlowColumns, GroupPlan, LinkPlan, Plan, QueuePlan, SourcePlan, TcpPlan};
use bufferlab_transport::TcpConfig;
use bufferlab_units::Time;

use super::Forwarder;
use crate::header::tests::packet;

const TCP: u8 = 6;
const US: u64 = 1_000_000;
const CAPABLE: u8 = 0b10;

/// Two flows over a link of 8 Mbit/s, one byte a microsecond, with room for two packets.
fn plan(header_bytes: u32, mark_above: Option<u64>) -> Plan {
    let config = TcpConfig { header_bytes, ..TcpConfig::default() };
    let source = SourcePlan::Tcp(TcpPlan::new(RenoConfig::default(), config));
    let fifo = FifoConfig { mark_above: mark_above.map(Threshold::Packets) };
    let flows = 2;
    Plan {
        version: Plan::VERSION,
        seed: 1,
        duration_ps: 1_000_000 * US,
        warmup_ps: 0,
        sample_interval_ps: 0,
        links: vec![LinkPlan::new(8_000_000, 0, QueuePlan::new(Limit::Packets(2), fifo))],
        groups: vec![GroupPlan::new("bulk", source, vec![0])],
        flows: FlowColumns {
            group: vec![0; flows],
            start_ps: vec![0; flows],
            stop_ps: vec![u64::MAX; flows],
            source_delay_ps: vec![0; flows],
            sink_delay_ps: vec![US; flows],
            return_delay_ps: vec![US; flows],
            home_delay_ps: vec![0; flows],
            sample: vec![false; flows],
            ..FlowColumns::default()
        },
    }
}

fn at(us: u64) -> Time {
    Time::from_ps(us * US)
}

fn data(port: u16, payload: usize) -> Vec<u8> {
    packet(CAPABLE, TCP, port, 0x10, payload)
}

#[test]
fn packets_leave_one_transmission_apart_by_the_links_own_clock() {
    let mut forwarder = Forwarder::new(&plan(52, None), 10_000).unwrap();
    for payload in [60, 160] {
        forwarder.arrive(at(0), data(10_001, payload)).unwrap();
    }
    assert_eq!(forwarder.next(), at(100));
    assert_eq!(forwarder.take(at(99)), None);
    // asked for 50 us late, but the next one is on time
    assert_eq!(forwarder.take(at(150)), Some(data(10_001, 60)));
    assert_eq!((forwarder.take(at(150)), forwarder.next()), (None, at(300)));
    assert_eq!(forwarder.take(at(300)), Some(data(10_001, 160)));
    assert_eq!(forwarder.next(), Time::NEVER);
}

#[test]
fn a_packet_has_the_scenarios_size() {
    // 14 bytes more than IPv4, TCP and timestamps
    let mut forwarder = Forwarder::new(&plan(66, None), 10_000).unwrap();
    forwarder.arrive(at(0), data(10_000, 60)).unwrap();
    assert_eq!(forwarder.next(), at(114));
}

#[test]
fn what_finds_no_room_is_dropped_and_counted() {
    let mut forwarder = Forwarder::new(&plan(52, None), 10_000).unwrap();
    for port in [10_000, 10_001, 10_000, 10_001] {
        forwarder.arrive(at(0), data(port, 60)).unwrap();
    }
    let (counters, marks) = forwarder.counters(at(0));
    assert_eq!((counters.arrived_packets, counters.dropped_packets, marks), (4, 1, 0));
    assert_eq!(counters.backlog_packets, 2);
    let left: Vec<_> = std::iter::from_fn(|| forwarder.take(at(1_000))).collect();
    assert_eq!(left.len(), 3);
    let outcome = forwarder.finish(Time::NEVER);
    assert_eq!((outcome.packets, outcome.queues.dropped_packets[0]), (3, 1));
}

#[test]
fn a_mark_is_written_into_the_packet() {
    let mut forwarder = Forwarder::new(&plan(52, Some(0)), 10_000).unwrap();
    for _ in 0..3 {
        forwarder.arrive(at(0), data(10_000, 60)).unwrap();
    }
    let services: Vec<u8> = std::iter::from_fn(|| forwarder.take(at(1_000))).map(|bytes| bytes[1]).collect();
    assert_eq!(services, [CAPABLE, CAPABLE, 0b11]);
    assert_eq!(forwarder.counters(at(1_000)).1, 1);
}

#[test]
fn what_is_of_no_flow_is_reported() {
    let mut forwarder = Forwarder::new(&plan(52, None), 10_000).unwrap();
    let said = |result: Result<(), super::Stray>| result.unwrap_err().to_string();
    assert_eq!(
        said(forwarder.arrive(at(0), data(9_999, 60))),
        "a packet of 100 bytes is of no flow: its port is 9999"
    );
    assert_eq!(
        said(forwarder.arrive(at(0), vec![0x60; 40])),
        "a packet of 40 bytes is of no flow: it is neither TCP nor UDP over IPv4"
    );
}

#[test]
fn a_flows_next_connection_has_another_port() {
    let mut plan = plan(52, None);
    plan.groups.push(GroupPlan { name: "other".into(), ..plan.groups[0].clone() });
    plan.flows.group = vec![0, 1];
    let mut forwarder = Forwarder::new(&plan, 10_000).unwrap();
    for port in [10_001, 10_003, 10_004] {
        forwarder.arrive(at(0), data(port, 60)).unwrap();
    }
    while forwarder.take(at(1_000)).is_some() {}
    let queues = forwarder.finish(Time::NEVER).queues;
    assert_eq!((&queues.group[..2], &queues.arrived_packets[..2]), (&[0, 1][..], &[1, 2][..]));
}

#[test]
fn a_programs_connections_are_the_flows_of_its_group() {
    let mut plan = plan(52, None);
    let fifo = QueuePlan::new(Limit::Packets(9), FifoConfig { mark_above: None });
    plan.links = vec![LinkPlan::new(8_000_000, 0, fifo)];
    plan.groups.push(GroupPlan { name: "other".into(), ..plan.groups[0].clone() });
    plan.flows.group = vec![0, 1];
    let mut forwarder = Forwarder::new(&plan, 10_000).unwrap().with_program(0);
    let to = |port: u16, to_port: u16| {
        let mut packet = data(port, 60);
        packet[22..24].copy_from_slice(&to_port.to_be_bytes());
        packet
    };
    // the plan's second flow; a program's server, its client, and its client to a port of the plan's
    for (port, to_port) in [(10_001, 5_000), (80, 40_000), (40_000, 5_201), (40_000, 5_000)] {
        forwarder.arrive(at(0), to(port, to_port)).unwrap();
    }
    // a ping of it, and what no link here carries
    forwarder.arrive(at(0), packet(0, 1, 0, 0, 60)).unwrap();
    forwarder.arrive(at(0), vec![0x60; 40]).unwrap();
    assert_eq!(std::iter::from_fn(|| forwarder.take(at(1_000))).count(), 5);
    let queues = forwarder.finish(at(2_000)).queues;
    assert_eq!((&queues.group[..2], &queues.arrived_packets[..2]), (&[0, 1][..], &[4, 1][..]));
}

#[test]
fn a_run_may_end_before_its_plan() {
    let busy = |end: Time| {
        let mut forwarder = Forwarder::new(&plan(52, None), 10_000).unwrap();
        for _ in 0..2 {
            forwarder.arrive(at(0), data(10_000, 60)).unwrap();
        }
        while forwarder.take(end).is_some() {}
        let queues = forwarder.finish(end).queues;
        (queues.departed_packets[0], queues.busy_fraction[0])
    };
    // two packets of 100 us
    assert_eq!((busy(at(150)), busy(at(1_000))), ((1, 1.0), (2, 0.2)));
}
