use bufferlab_units::Span;

use super::*;
use crate::{Codel, Ecn, PacketKind};

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn queues(limit: Limit) -> FqCodel {
    FqCodel::new(limit, FqCodelConfig::default(), 0)
}

fn offer(queue: &mut FqCodel, now: Time, flow: u32, sizes: &[u32]) -> Vec<(u32, u32)> {
    let mut drops = Drops::new();
    for &wire_bytes in sizes {
        queue.enqueue(now, Packet { flow, wire_bytes, ..Packet::default() }, &mut drops);
    }
    drops.iter().map(|dropped| (dropped.packet.flow, dropped.packet.wire_bytes)).collect()
}

fn serve(queue: &mut FqCodel, packets: usize) -> Vec<(u32, u32)> {
    let next = || queue.dequeue(Time::ZERO, &mut Drops::new());
    let served: Vec<_> = std::iter::from_fn(next).take(packets).collect();
    served.iter().map(|packet| (packet.flow, packet.wire_bytes)).collect()
}

/// Section 5.3: the chance that a flow shares its queue with none of 99 others is 90.78 %.
#[test]
fn flows_spread_over_the_queues_as_if_at_random() {
    let alone: usize = (0..200)
        .map(|perturbation| {
            let queue = FqCodel::new(Limit::Unlimited, FqCodelConfig::default(), perturbation);
            let mut flows = vec![0; 1024];
            (0..100).for_each(|flow| flows[queue.queue_of(flow) as usize] += 1);
            flows.iter().filter(|flows| **flows == 1).count()
        })
        .sum();
    // 20,000 flows; pairs go together, so the deviation is about 0.3 %
    let share = alone as f64 / 20_000.0;
    assert!((share - 0.9078).abs() < 0.009, "{share}");
}

/// The upper 10 bits of the first outputs of `SplitMix64` from seed 0: e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f.
#[test]
fn the_hash_is_split_mix() {
    let queue = queues(Limit::Unlimited);
    assert_eq!([1, 2, 3].map(|flow| queue.queue_of(flow)), [0x388, 0x1b9, 0x01b]);
}

#[test]
fn another_seed_is_another_arrangement() {
    let places = |perturbation| {
        let queue = FqCodel::new(Limit::Unlimited, FqCodelConfig::default(), perturbation);
        (0..10).map(|flow| queue.queue_of(flow)).collect::<Vec<_>>()
    };
    assert_ne!(places(1), places(2));
    assert_eq!(places(1), places(1));
}

#[test]
fn its_queues_are_shown_in_the_order_of_their_turns() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for (flow, group) in [(0, 7), (0, 7), (1, 8)] {
        queue.enqueue(Time::ZERO, Packet { flow, group, wire_bytes: 1514, ..Packet::default() }, &mut drops);
    }
    let shown = |queue: &FqCodel| -> Vec<(u16, u64, bool)> {
        queue.sub_queues().iter().map(|each| (each.group, each.backlog.packets, each.is_new)).collect()
    };
    assert_eq!(shown(&queue), [(7, 2, true), (8, 1, true)]);
    // the first one's quantum is spent with its first packet, so the next call serves the other one
    serve(&mut queue, 2);
    assert_eq!(shown(&queue), [(7, 1, false)]);
}

/// Section 4.2: a new queue goes before the old ones, but only with its first quantum.
#[test]
fn a_new_flow_goes_first_for_a_quantum() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[1514; 10]);
    offer(&mut queue, Time::ZERO, 1, &[1514; 10]);
    assert_eq!(serve(&mut queue, 4).iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [0, 1, 0, 1]);
    offer(&mut queue, Time::ZERO, 2, &[500; 5]);
    let order: Vec<_> = serve(&mut queue, 8).iter().map(|(flow, _)| *flow).collect();
    // 4 packets of 500 bytes take the quantum of 1514 and more
    assert_eq!(order, [2, 2, 2, 2, 0, 2, 1, 0]);
}

/// Section 4.2: a new queue that runs empty passes through the old list and is not new again.
#[test]
fn who_runs_empty_is_not_new_at_once() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[700; 10]);
    assert_eq!(serve(&mut queue, 4), [(0, 700); 4]);
    offer(&mut queue, Time::ZERO, 1, &[100]);
    assert_eq!(serve(&mut queue, 2), [(1, 100), (0, 700)]);
    offer(&mut queue, Time::ZERO, 1, &[100]);
    assert_eq!((queue.turns.lengths().0, queue.turns.lengths().1), (0, 2));
}

/// Section 4.2: an old queue that runs empty leaves the lists, and with its next packet it is new.
#[test]
fn an_old_queue_that_runs_empty_leaves() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[1514; 9]);
    offer(&mut queue, Time::ZERO, 1, &[1514; 2]);
    // both are old after a quantum each; flow 1 runs empty with its second packet, and its next turn finds that
    assert_eq!(serve(&mut queue, 5).iter().map(|(flow, _)| *flow).collect::<Vec<_>>(), [0, 1, 0, 1, 0]);
    assert_eq!(serve(&mut queue, 1), [(0, 1514)]);
    assert_eq!((queue.turns.lengths().0, queue.turns.lengths().1), (0, 1));
    offer(&mut queue, Time::ZERO, 1, &[100]);
    assert_eq!((queue.turns.lengths().0, queue.turns.lengths().1), (1, 1));
}

/// As in Linux: where there is no old queue that it could starve, a new one that runs empty leaves at once.
#[test]
fn a_new_queue_that_runs_empty_beside_new_ones_leaves_at_once() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[100]);
    offer(&mut queue, Time::ZERO, 1, &[100; 2]);
    // the second turn finds that flow 0 has nothing more
    assert_eq!(serve(&mut queue, 2), [(0, 100), (1, 100)]);
    assert_eq!((queue.turns.lengths().0, queue.turns.lengths().1), (1, 0));
    offer(&mut queue, Time::ZERO, 0, &[100]);
    assert_eq!((queue.turns.lengths().0, queue.queues[queue.queue_of(0) as usize].deficit), (2, 1514));
}

#[test]
fn who_always_sends_again_at_once_does_not_starve_the_others() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[1514; 100]);
    let mut served = Vec::new();
    for _ in 0..100 {
        if queue.queues[queue.queue_of(1) as usize].chain.is_empty() {
            offer(&mut queue, Time::ZERO, 1, &[1514]);
        }
        served.extend(serve(&mut queue, 1));
    }
    let of_old = served.iter().filter(|(flow, _)| *flow == 0).count();
    assert!((49..=51).contains(&of_old), "{of_old}");
}

#[test]
fn bytes_are_shared_alike() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[1500; 200]);
    offer(&mut queue, Time::ZERO, 1, &[100; 3000]);
    let mut sent = [0; 2];
    for (flow, bytes) in serve(&mut queue, 2500) {
        sent[flow as usize] += u64::from(bytes);
        assert!(sent[0].abs_diff(sent[1]) <= 2 * 1514, "{sent:?}");
    }
}

/// Half the bytes of the queue with most bytes, at most 64 packets (section 4.1: half its packets), from its head.
#[test]
fn the_fattest_queue_loses_half_or_a_batch() {
    let mut queue = queues(Limit::Packets(100));
    offer(&mut queue, Time::ZERO, 0, &[100; 60]);
    offer(&mut queue, Time::ZERO, 1, &[1000; 40]);
    assert_eq!(offer(&mut queue, Time::ZERO, 2, &[40]), [(1, 1000); 20]);
    assert_eq!(queue.backlog().packets, 81);
    let mut queue = queues(Limit::Packets(1000));
    offer(&mut queue, Time::ZERO, 0, &[100; 1000]);
    assert_eq!(offer(&mut queue, Time::ZERO, 1, &[100]).len(), 64);
}

#[test]
fn a_lower_limit_keeps_what_waits() {
    let mut queue = queues(Limit::Unlimited);
    offer(&mut queue, Time::ZERO, 0, &[100; 1000]);
    queue.set_limit(Limit::Packets(10));
    assert_eq!(queue.backlog().packets, 1000);
    assert_eq!(offer(&mut queue, Time::ZERO, 1, &[100]).len(), 64);
    queue.set_limit(Limit::Bytes(1000));
    // more than one batch for a packet larger than all of it
    assert_eq!(offer(&mut queue, Time::ZERO, 1, &[7000]).len(), 128);
}

/// One flow alone: the same packets at the same times as under CoDel.
#[test]
fn one_flow_meets_codel() {
    let config = CodelConfig { ecn: true, ..CodelConfig::default() };
    let (mut queue, mut twin) = (queues(Limit::Unlimited), Codel::new(Limit::Unlimited, config));
    let kinds = [PacketKind::Data(Ecn::Incapable), PacketKind::Data(Ecn::Capable), PacketKind::Ack];
    let (mut drops, mut others) = (Drops::new(), Drops::new());
    for ms in 0..3_000 {
        // two packets arrive for each that leaves, except in a pause
        for seq in 0..if ms % 1_000 < 600 { 2 } else { 0 } {
            let kind = kinds[(ms + seq) as usize % 3];
            let packet = Packet { seq: (ms + seq) as u32, wire_bytes: 1000, kind, ..Packet::default() };
            queue.enqueue(at_ms(ms), packet, &mut drops);
            twin.enqueue(at_ms(ms), packet, &mut others);
        }
        assert_eq!(queue.dequeue(at_ms(ms), &mut drops), twin.dequeue(at_ms(ms), &mut others));
    }
    assert_eq!(drops, others);
    assert!(drops.len() > 10 && queue.marks() > 5, "{} {}", drops.len(), queue.marks());
    assert_eq!(queue.marks(), twin.marks());
}

/// Each queue has its own control: who does not queue loses nothing.
#[test]
fn a_sparse_flow_is_left_alone_beside_a_standing_one() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for ms in 0..1_000 {
        offer(&mut queue, at_ms(ms), 0, &[1000; 2]);
        if ms % 10 == 5 {
            offer(&mut queue, at_ms(ms), 1, &[100]);
            let packet = queue.dequeue(at_ms(ms), &mut drops).unwrap();
            assert_eq!((packet.flow, packet.enqueued), (1, at_ms(ms)));
        }
        queue.dequeue(at_ms(ms), &mut drops);
    }
    assert!(drops.len() > 10 && drops.iter().all(|dropped| dropped.packet.flow == 0));
}

/// Eight queues whose only packet has always waited for longer than the target: what is dropped in a second.
fn drops_of_single_packets(codel_backlog: CodelBacklog) -> usize {
    let mut queue =
        FqCodel::new(Limit::Unlimited, FqCodelConfig { codel_backlog, ..FqCodelConfig::default() }, 0);
    let mut drops = Drops::new();
    for ms in 0..1_000 {
        for flow in 0..8 {
            if queue.queues[queue.queue_of(flow) as usize].chain.is_empty() {
                offer(&mut queue, at_ms(ms), flow, &[1514]);
            }
        }
        queue.dequeue(at_ms(ms), &mut drops);
    }
    drops.len()
}

/// RFC 8289, section 5.6: a queue's last packet is not dropped. Linux asks for the backlog of all queues, so that it is.
#[test]
fn a_queues_only_packet_is_dropped_where_all_queues_count() {
    assert_eq!(drops_of_single_packets(CodelBacklog::Own), 0);
    assert!(drops_of_single_packets(CodelBacklog::All) > 8);
}
