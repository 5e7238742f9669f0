use proptest::prelude::*;

use super::*;
use crate::{Ecn, PacketKind, Pie};

const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);
const ECT0: PacketKind = PacketKind::Data(Ecn::Capable);

fn packet(flow: u32, seq: u32, wire_bytes: u32) -> Packet {
    Packet { flow, seq, wire_bytes, kind: DEAF, ..Packet::default() }
}

fn queues(limit: Limit) -> FqPie {
    FqPie::new(limit, FqPieConfig::default(), Stream::new(1, 0, 0))
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// `fq_pie_init`; the quantum is an MTU of 1500 bytes and the Ethernet header.
#[test]
fn the_defaults_are_those_of_linux() {
    let FqPieConfig { flows, quantum_bytes, pie } = FqPieConfig::default();
    assert_eq!((flows, quantum_bytes, pie.ecn), (1024, 1514, false));
    assert_eq!((pie.target, pie.t_update), (Span::from_ms(15), Span::from_ms(15)));
    assert_eq!((pie.alpha, pie.beta), (2.0 / 16.0, 20.0 / 16.0));
}

#[test]
fn a_new_flow_goes_first_and_old_ones_take_turns() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for seq in 0..3 {
        (0..2).for_each(|flow| queue.enqueue(Time::ZERO, packet(flow, seq, 1514), &mut drops));
    }
    let serve = |queue: &mut FqPie| queue.dequeue(at_ms(1), &mut Drops::new()).map(|packet| packet.flow);
    assert_eq!([(); 4].map(|()| serve(&mut queue)), [Some(0), Some(1), Some(0), Some(1)]);
    queue.enqueue(at_ms(1), packet(2, 0, 100), &mut drops);
    assert_eq!([(); 4].map(|()| serve(&mut queue)), [Some(2), Some(0), Some(1), None]);
}

/// Other than under FQ-CoDel the packet that comes goes, though its flow has nothing waiting.
#[test]
fn whoever_comes_to_a_full_buffer_is_dropped() {
    let mut queue = queues(Limit::Packets(3));
    let mut drops = Drops::new();
    (0..3).for_each(|seq| queue.enqueue(Time::ZERO, packet(0, seq, 1000), &mut drops));
    queue.enqueue(Time::ZERO, packet(1, 9, 1000), &mut drops);
    assert_eq!(
        drops.iter().map(|dropped| (dropped.packet.flow, dropped.reason)).collect::<Vec<_>>(),
        [(1, DropReason::Overlimit)]
    );
}

/// A flood in one queue is dropped from; who sends a packet now and then loses none and waits for a quantum.
#[test]
fn each_queue_has_a_chance_of_its_own() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for ms in 0..3_000 {
        (0..2).for_each(|seq| queue.enqueue(at_ms(ms), packet(0, seq, 1000), &mut drops));
        if ms % 20 == 0 {
            queue.enqueue(at_ms(ms), packet(1, 0, 100), &mut drops);
        }
        let packet = queue.dequeue(at_ms(ms), &mut Drops::new()).expect("the flood waits");
        assert!(packet.flow == 0 || packet.enqueued >= at_ms(ms.saturating_sub(2)), "{packet:?}");
    }
    assert!(drops.len() > 500, "{}", drops.len());
    assert!(drops.iter().all(|dropped| dropped.packet.flow == 0 && dropped.reason == DropReason::Early));
}

#[test]
fn its_queues_are_shown_in_the_order_of_their_turns() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for (flow, group) in [(0, 7), (0, 7), (1, 8)] {
        queue.enqueue(Time::ZERO, Packet { group, ..packet(flow, 0, 1514) }, &mut drops);
    }
    let shown: Vec<_> = queue.sub_queues().iter().map(|each| (each.group, each.is_new)).collect();
    assert_eq!(shown, [(7, true), (8, true)]);
}

proptest! {
    /// With one flow it is PIE.
    #[test]
    fn with_one_flow_it_is_pie(
        steps in prop::collection::vec((0..9_u64, 0..5_usize, 40..1500_u32), 1..600),
        ecn in any::<bool>(),
        limit in 1..60_u64,
    ) {
        let pie = PieConfig { alpha: 20.0, beta: 200.0, max_burst: Span::from_ms(20), ecn, ..PieConfig::default() };
        let config = FqPieConfig { pie, ..FqPieConfig::default() };
        let mut stream = Stream::new(3, 0, 0);
        let mut queue = FqPie::new(Limit::Packets(limit), config, stream.clone());
        // the seed of the hash is drawn first
        stream.bits();
        let mut alone = Pie::new(Limit::Packets(limit), pie, stream);
        let (mut now, mut drops, mut theirs) = (Time::ZERO, Drops::new(), Drops::new());
        for (seq, (gap, step, wire_bytes)) in (0..).zip(steps) {
            now += Span::from_ms(gap);
            if let Some(&kind) = [DEAF, ECT0, DEAF].get(step) {
                let packet = Packet { kind, ..packet(5, seq, wire_bytes) };
                queue.enqueue(now, packet, &mut drops);
                alone.enqueue(now, packet, &mut theirs);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), alone.dequeue(now, &mut theirs));
            }
            prop_assert_eq!(&drops, &theirs);
            prop_assert_eq!((queue.backlog(), queue.marks()), (alone.backlog(), alone.marks()));
        }
    }
}
