//! What every discipline must do, whatever its policy: random scripts of arrivals, services and changes of the
//! limit must obey the conservation law, keep each flow in order, and continue identically from a clone.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { flow: u32, bytes: u32, kind: PacketKind },
    Serve,
    SetLimit(Limit),
}

fn limits() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (1..50_u64).prop_map(Limit::Packets),
        (1500..60_000_u64).prop_map(Limit::Bytes),
        Just(Limit::Unlimited),
    ]
}

fn kinds() -> impl Strategy<Value = PacketKind> {
    prop_oneof![
        Just(PacketKind::Data(Ecn::Incapable)),
        Just(PacketKind::Data(Ecn::Capable)),
        Just(PacketKind::Data(Ecn::Scalable)),
        Just(PacketKind::Data(Ecn::Marked)),
        Just(PacketKind::Ack),
    ]
}

fn scripts() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..4_u32, prop_oneof![9 => 40..1500_u32, 1 => 1500..66_000_u32], kinds())
            .prop_map(|(flow, bytes, kind)| Step::Arrive { flow, bytes, kind }),
        4 => Just(Step::Serve),
        1 => limits().prop_map(Step::SetLimit),
    ];
    prop::collection::vec(step, 1..400)
}

/// Makes a discipline with a limit, for a link of 1 Gbit/s.
fn make(config: &DisciplineConfig, limit: Limit) -> AnyQdisc {
    config.build(Context {
        limit,
        rate: Rate::from_bps(1_000_000_000).unwrap(),
        seed: 1,
        stream: Stream::new(1, 0, 0),
        propagation: &|| Arc::from([]),
        headers: &|| {
            Arc::from_iter([0, 8, 46].map(|dscp| Header { dscp, sender: 7, receiver: u32::from(dscp) }))
        },
    })
}

#[derive(Default)]
struct Account {
    arrived: Backlog,
    departed: Backlog,
    dropped: Backlog,
}

impl Account {
    fn check(&self, queued: Backlog) {
        assert_eq!(self.arrived.packets, self.departed.packets + self.dropped.packets + queued.packets);
        assert_eq!(self.arrived.bytes, self.departed.bytes + self.dropped.bytes + queued.bytes);
    }
}

/// Runs a script and returns the (flow, seq) pairs in the order of service.
fn run(qdisc: &mut AnyQdisc, script: &[Step], first_seq: u32) -> Vec<(u32, u32)> {
    run_stating(|flow| 1_000 * (1 + flow * flow * 30), qdisc, script, first_seq)
}

/// The same, with packets that state a round-trip time by flow, us.
fn run_stating(
    srtt_us: impl Fn(u32) -> u32,
    qdisc: &mut AnyQdisc,
    script: &[Step],
    first_seq: u32,
) -> Vec<(u32, u32)> {
    let start = qdisc.backlog();
    let mut account = Account { arrived: start, ..Account::default() };
    let mut served = Vec::new();
    let mut drops = Drops::new();
    for (index, step) in script.iter().enumerate() {
        let now = Time::from_ps((u64::from(first_seq) + index as u64) * 1_000_000);
        match *step {
            Step::Arrive { flow, bytes, kind } => {
                let packet = Packet {
                    enqueued: Time::NEVER,
                    sent: now,
                    flow,
                    seq: first_seq + index as u32,
                    wire_bytes: bytes,
                    group: 0,
                    kind,
                    srtt_us: srtt_us(flow),
                    ..Packet::default()
                };
                account.arrived.add(&packet);
                qdisc.enqueue(now, packet, &mut drops);
            }
            Step::Serve => {
                let (waited, marks) = (qdisc.backlog().packets > 0, qdisc.marks());
                let next = qdisc.dequeue(now, &mut drops);
                assert_eq!(next.is_some(), waited, "who has packets gives one");
                assert!(qdisc.marks() - marks <= u64::from(waited), "only the packet that goes is marked");
                if let Some(packet) = next {
                    assert!(packet.enqueued <= now);
                    account.departed.add(&packet);
                    served.push((packet.flow, packet.seq));
                }
            }
            Step::SetLimit(limit) => qdisc.set_limit(limit),
        }
        drops.drain(..).for_each(|dropped| account.dropped.add(&dropped.packet));
        account.check(qdisc.backlog());
        check_sub_queues(qdisc);
        check_order(qdisc);
    }
    served
}

/// What a discipline shows of its queues is all that waits, and none of them is empty.
fn check_sub_queues(qdisc: &AnyQdisc) {
    let shown = qdisc.sub_queues();
    assert!(shown.iter().all(|queue| queue.backlog.packets > 0));
    let sum = |count: fn(&SubQueue) -> u64| shown.iter().map(count).sum::<u64>();
    if !shown.is_empty() {
        let all =
            Backlog { packets: sum(|queue| queue.backlog.packets), bytes: sum(|queue| queue.backlog.bytes) };
        assert_eq!(all, qdisc.backlog());
    }
}

/// A discipline that shows an order shows it of all that waits.
fn check_order(qdisc: &AnyQdisc) {
    let groups = qdisc.groups_in_order();
    assert!(groups.is_empty() || groups.len() as u64 == qdisc.backlog().packets);
}

proptest! {
    #[test]
    fn packets_and_bytes_are_conserved(limit in limits(), script in scripts()) {
        for config in &DisciplineConfig::tested() {
            run(&mut make(config, limit), &script, 0);
        }
    }

    #[test]
    fn every_flow_is_served_in_order(limit in limits(), script in scripts()) {
        for config in DisciplineConfig::tested().iter().filter(|config| !config.reorders()) {
            let served = run(&mut make(config, limit), &script, 0);
            for flow in 0..4 {
                let seqs: Vec<_> = served.iter().filter(|(of, _)| *of == flow).map(|(_, seq)| *seq).collect();
                prop_assert!(seqs.is_sorted());
            }
        }
    }

    #[test]
    fn stated_round_trip_times_matter_to_those_that_read_them_only(limit in limits(), script in scripts()) {
        for config in DisciplineConfig::tested().iter().filter(|config| !config.reads_rtt()) {
            let stated = run(&mut make(config, limit), &script, 0);
            let silent = run_stating(|_| 0, &mut make(config, limit), &script, 0);
            prop_assert_eq!(stated, silent);
        }
    }

    #[test]
    fn a_clone_continues_identically(limit in limits(), first in scripts(), second in scripts()) {
        for config in &DisciplineConfig::tested() {
            let mut qdisc = make(config, limit);
            run(&mut qdisc, &first, 0);
            let mut twin = qdisc.clone();
            let seq = first.len() as u32;
            prop_assert_eq!(run(&mut qdisc, &second, seq), run(&mut twin, &second, seq));
        }
    }

    #[test]
    fn a_packet_limit_is_never_exceeded_by_new_arrivals(packets in 1..40_u64, script in scripts()) {
        let script: Vec<_> = script.into_iter().filter(|step| !matches!(step, Step::SetLimit(_))).collect();
        for config in &DisciplineConfig::tested() {
            let mut qdisc = make(config, Limit::Packets(packets));
            for end in 0..script.len() {
                run(&mut qdisc, &script[end..=end], end as u32);
                prop_assert!(qdisc.backlog().packets <= packets);
            }
        }
    }
}
