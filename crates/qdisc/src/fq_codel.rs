//! FQ-CoDel: flows are hashed to queues that are served in rounds, those of new flows first, each under CoDel.
//!
//! Source: RFC 8290: section 4.1 enqueue, 4.2 dequeue, 5.2 parameters; CoDel as in [`crate::Codel`]. Where it leaves
//! room, the behavior of Linux (`net/sched/sch_fq_codel.c`).
//!
//! A queue whose first packet comes joins the list of new queues with a quantum of bytes to send. When that is spent
//! it gets another one and goes to the end of the list of old queues, which is served when there is no new one. A new
//! queue that runs empty passes through the old list first, so that it cannot starve the old ones by leaving and
//! coming again. If more waits than the limit allows, the queue with most bytes loses packets from its head: half its
//! bytes or a batch of packets, whatever comes first.
//!
//! Departures from RFC 8290:
//! - Flows are told apart by number, hashed with a seed; there are no addresses here. Two flows may share a queue as
//!   there.
//! - A packet that comes drops no more batches than it takes to make its own room, so a new, lower limit keeps what
//!   waits; Linux drops what exceeds it.
//!
//! Departures from Linux:
//! - There is no limit of memory (`memory_limit`, 32 MB): packets here have no payload.
//! - A batch dropped for the limit does not raise CoDel's count.
//! - CoDel lets go what waits alone in its queue; Linux looks at what waits in all queues.
//! - No `ce_threshold` for a selected traffic class only.
//!
//! Cost: one copy of 40 bytes each way, a hash, a queue's state (a cache line or two). A drop at the limit looks at
//! every queue that has packets, once a batch. Memory: some 100 bytes a queue, 48 a packet.

use std::collections::VecDeque;

use bufferlab_units::Time;

use crate::chains::{Chain, Pool};
use crate::codel::{Control, Source};
use crate::{Backlog, CodelConfig, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

/// What an operator sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// CoDel's parameters; ECN is on unless told otherwise (section 5.2.6).
    pub codel: CodelConfig,
    /// Queues: 1024 (section 5.2.5).
    pub flows: u32,
    /// Bytes that a queue may send before the next one's turn: 1514, a full Ethernet frame (section 5.2.4).
    pub quantum: u32,
    /// Most packets dropped at once for the limit: 64 (section 4.1).
    pub drop_batch: u32,
    /// Seed of the hash (section 4.1: "salted", so that nobody can aim at a queue).
    pub perturbation: u64,
}

impl Default for FqCodelConfig {
    fn default() -> FqCodelConfig {
        FqCodelConfig {
            codel: CodelConfig { ecn: true, ..CodelConfig::default() },
            flows: 1024,
            quantum: 1514,
            drop_batch: 64,
            perturbation: 0,
        }
    }
}

/// Queues of hashed flows, each under CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    config: FqCodelConfig,
    pool: Pool,
    queues: Vec<Queue>,
    /// Queues whose first packet came lately, in the order of their turns.
    new: VecDeque<u32>,
    /// The other ones with packets, or just emptied.
    old: VecDeque<u32>,
    backlog: Backlog,
    limit: Limit,
    /// The largest packet that has come, bytes.
    max_packet: u64,
    marks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    chain: Chain,
    /// Bytes that it may send in this turn (section 3: "credits").
    deficit: i64,
    /// It is in a list.
    active: bool,
    control: Control,
}

const NEW_QUEUE: Queue = Queue { chain: Chain::EMPTY, deficit: 0, active: false, control: Control::NEW };

/// A queue's packets, for CoDel.
struct Waiting<'a> {
    pool: &'a mut Pool,
    chain: &'a mut Chain,
    backlog: &'a mut Backlog,
    max_packet: u64,
}

impl Source for Waiting<'_> {
    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let packet = self.pool.pop_front(self.chain)?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    #[inline]
    fn is_small(&self) -> bool {
        self.chain.bytes() <= self.max_packet
    }
}

impl FqCodel {
    /// Empty queues.
    ///
    /// # Panics
    /// Without queues, a quantum or a batch.
    pub fn new(limit: Limit, config: FqCodelConfig) -> FqCodel {
        assert!(config.flows > 0 && config.quantum > 0 && config.drop_batch > 0, "zero serves nobody");
        FqCodel {
            config,
            pool: Pool::new(),
            queues: vec![NEW_QUEUE; config.flows as usize],
            new: VecDeque::new(),
            old: VecDeque::new(),
            backlog: Backlog::default(),
            limit,
            max_packet: 0,
            marks: 0,
        }
    }

    /// The queue of a flow (section 4.1): the finalizer of `SplitMix64` (Steele, Lea, Flood 2014) of its number and the
    /// seed, its upper half scaled to the number of queues.
    #[inline]
    fn queue_of(&self, flow: u32) -> u32 {
        let mut z = self.config.perturbation ^ u64::from(flow).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z >> 32) * u64::from(self.config.flows)) >> 32) as u32
    }

    /// Drops from the fattest queues until a newcomer of so many bytes has its room (section 4.1).
    #[cold]
    fn make_room(&mut self, bytes: u64, drops: &mut Drops) {
        let mut freed = 0;
        while self.limit.is_below(self.backlog) && freed < bytes {
            freed += self.drop_batch(drops);
        }
    }

    /// Drops half of the fattest queue, at most a batch; the bytes.
    fn drop_batch(&mut self, drops: &mut Drops) -> u64 {
        let fattest = self.fattest();
        let chain = &mut self.queues[fattest as usize].chain;
        let half = chain.bytes() / 2;
        let mut freed = 0;
        for _ in 0..self.config.drop_batch {
            let Some(packet) = self.pool.pop_front(chain) else { break };
            self.backlog.remove(&packet);
            freed += u64::from(packet.wire_bytes);
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            if freed >= half {
                break;
            }
        }
        freed
    }

    /// The queue with most bytes, of several the first in the lists.
    fn fattest(&self) -> u32 {
        let bytes = |queue: u32| self.queues[queue as usize].chain.bytes();
        let (mut fattest, mut most) = (0, 0);
        for &queue in self.new.iter().chain(&self.old) {
            if bytes(queue) > most {
                (fattest, most) = (queue, bytes(queue));
            }
        }
        fattest
    }

    /// The queue at the head of the lists, and whether it is new (section 4.2).
    #[inline]
    fn first(&self) -> Option<(u32, bool)> {
        match self.new.front() {
            Some(&queue) => Some((queue, true)),
            None => self.old.front().map(|&queue| (queue, false)),
        }
    }

    #[inline]
    fn take_first(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

impl QueueDisc for FqCodel {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        packet.enqueued = now;
        let bytes = u64::from(packet.wire_bytes);
        let index = self.queue_of(packet.flow);
        let queue = &mut self.queues[index as usize];
        self.pool.push_back(&mut queue.chain, packet);
        self.backlog.add(&packet);
        self.max_packet = self.max_packet.max(bytes);
        if !queue.active {
            queue.active = true;
            queue.deficit = i64::from(self.config.quantum);
            self.new.push_back(index);
        }
        if self.limit.is_below(self.backlog) {
            self.make_room(bytes, drops);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        loop {
            let (index, is_new) = self.first()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.config.quantum);
                self.take_first(is_new);
                self.old.push_back(index);
                continue;
            }
            let mut waiting = Waiting {
                pool: &mut self.pool,
                chain: &mut queue.chain,
                backlog: &mut self.backlog,
                max_packet: self.max_packet,
            };
            let control = &mut queue.control;
            let next = control.dequeue(&self.config.codel, now, &mut waiting, &mut self.marks, drops);
            if let Some(packet) = next {
                queue.deficit -= i64::from(packet.wire_bytes);
                return Some(packet);
            }
            let starves = is_new && !self.old.is_empty();
            queue.active = starves;
            self.take_first(is_new);
            if starves {
                self.old.push_back(index);
            }
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.marks
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_units::Span;

    use super::*;
    use crate::{Codel, Ecn, PacketKind};

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn queues(limit: Limit) -> FqCodel {
        FqCodel::new(limit, FqCodelConfig::default())
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
                let queue = FqCodel::new(
                    Limit::Unlimited,
                    FqCodelConfig { perturbation, ..FqCodelConfig::default() },
                );
                let mut flows = vec![0; 1024];
                (0..100).for_each(|flow| flows[queue.queue_of(flow) as usize] += 1);
                flows.iter().filter(|flows| **flows == 1).count()
            })
            .sum();
        // 20,000 flows; pairs go together, so the deviation is about 0.3 %
        let share = alone as f64 / 20_000.0;
        assert!((share - 0.9078).abs() < 0.009, "{share}");
    }

    #[test]
    fn another_seed_is_another_arrangement() {
        let places = |perturbation| {
            let queue =
                FqCodel::new(Limit::Unlimited, FqCodelConfig { perturbation, ..FqCodelConfig::default() });
            (0..10).map(|flow| queue.queue_of(flow)).collect::<Vec<_>>()
        };
        assert_ne!(places(1), places(2));
        assert_eq!(places(1), places(1));
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
        assert_eq!((queue.new.len(), queue.old.len()), (0, 2));
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

    /// Section 4.1: half of the queue with most bytes, at most 64 packets, from its head.
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
            // two packets come for each that goes, but for a pause
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
}
