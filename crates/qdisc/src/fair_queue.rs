//! Flow-based fair queueing as Cisco's `fair-queue` has it: flows are hashed to few queues, which share the link evenly; each
//! may hold a part of the buffer.
//!
//! Sources:
//! - Cisco IOS Quality of Service Solutions Command Reference, `fair-queue`: in a class of a policy map flows get queues of
//!   their own, 16 to 4096 of them, a power of two.
//! - M. X., "Congestion Management" (mickx009.org, 2021), on IOS with the Hierarchical Queueing Framework (12.4(20)T, IOS XE):
//!   "all flows are equal, no weighting", "queue limit per flow is 1/4 * queue-limit".
//!
//! A packet that finds its queue's part full, or the whole buffer, is dropped, whoever fills it: no other packet makes room.
//!
//! What the sources leave open, and is our choice:
//! - 16 queues, the fewest that the command takes: platforms differ, and few share more by chance. `flows` sets others.
//! - Which queue a flow has: a hash with a seed, as in [`crate::FqCodel`].
//! - How the queues share the link: by deficit round robin (M. Shreedhar and G. Varghese, SIGCOMM 1995), with a full packet a
//!   round. In the long run each gets the same bytes, as under weighted fair queueing with equal weights.
//! - A part is at least a packet, or a full packet's bytes.
//!
//! Cost: that of [`crate::Drr`] without drops, and a hash each way. Memory: 64 bytes a queue, 48 a packet.

use bufferlab_parameters::{LARGEST_PACKET, bytes, count, parameters};
use bufferlab_units::Time;

use crate::drr::LEAST_QUANTUM;
use crate::turns::hashed;
use crate::{
    Backlog, Context, Discipline, DropReason, Dropped, Drops, Drr, Limit, Packet, QueueDisc, SubQueue,
};

/// Most queues of hashed flows (the command's).
const MOST_QUEUES: u64 = 4096;

/// A full packet with Ethernet's header: the least part of a buffer in bytes.
const FULL_PACKET: u64 = 1514;

parameters! {
    /// Parameters of `fair-queue`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FairQueueConfig {
        /// Queues to which flows are hashed; the command takes powers of two from 16 to 4096.
        flows: u32 = 16, count("queues", 1, MOST_QUEUES);
        /// The part of the buffer that each queue may hold, percent (a quarter, the Hierarchical Queueing Framework's).
        share: u32 = 25, count("percent", 1, 100);
        /// Bytes that each queue may send a round; best no less than the largest packet.
        quantum_bytes: u32 = 1514, bytes(LEAST_QUANTUM, LARGEST_PACKET);
    }
}

impl Discipline for FairQueueConfig {
    type Qdisc = FairQueue;

    fn build(&self, mut context: Context<'_>) -> FairQueue {
        FairQueue::new(context.limit, *self, context.stream.bits())
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        vec![
            FairQueueConfig { flows: 2, quantum_bytes: 300, ..FairQueueConfig::default() },
            FairQueueConfig { share: 100, ..FairQueueConfig::default() },
        ]
    }
}

/// Queues of hashed flows, served in rounds.
#[derive(Clone, Debug)]
pub struct FairQueue {
    config: FairQueueConfig,
    /// Seed of the hash.
    perturbation: u64,
    /// The queues, each as that of a flow, without a limit.
    rounds: Drr,
    /// What waits in each queue.
    waiting: Vec<Backlog>,
    limit: Limit,
    /// Each queue's part of it.
    part: Limit,
}

/// A queue's part of the limit.
fn part(limit: Limit, share: u32) -> Limit {
    let of = |whole: u64| whole.saturating_mul(u64::from(share)) / 100;
    match limit {
        Limit::Packets(packets) => Limit::Packets(of(packets).max(1)),
        Limit::Bytes(bytes) => Limit::Bytes(of(bytes).max(FULL_PACKET)),
        Limit::Unlimited => Limit::Unlimited,
    }
}

impl FairQueue {
    /// Empty queues; the seed is that of the hash.
    ///
    /// # Panics
    /// Without queues or a quantum.
    pub fn new(limit: Limit, config: FairQueueConfig, perturbation: u64) -> FairQueue {
        assert!(config.flows > 0, "no queue holds nothing");
        FairQueue {
            config,
            perturbation,
            rounds: Drr::new(Limit::Unlimited, config.quantum_bytes),
            waiting: vec![Backlog::default(); config.flows as usize],
            limit,
            part: part(limit, config.share),
        }
    }

    /// The queue of a flow.
    #[inline]
    fn queue_of(&self, flow: u32) -> u32 {
        hashed(self.perturbation, flow, self.config.flows)
    }
}

impl QueueDisc for FairQueue {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        let queue = self.queue_of(packet.flow);
        let waiting = &mut self.waiting[queue as usize];
        let is_full = !self.limit.admits(self.rounds.backlog(), packet.wire_bytes);
        if is_full || !self.part.admits(*waiting, packet.wire_bytes) {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        packet.enqueued = now;
        waiting.add(&packet);
        self.rounds.push(queue, packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        let packet = self.rounds.dequeue(now, drops)?;
        let queue = self.queue_of(packet.flow);
        self.waiting[queue as usize].remove(&packet);
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.rounds.backlog()
    }

    fn set_limit(&mut self, limit: Limit) {
        (self.limit, self.part) = (limit, part(limit, self.config.share));
    }

    fn sub_queues(&self) -> Vec<SubQueue> {
        self.rounds.sub_queues()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// Flow numbers that the hash puts into different queues.
    fn apart(queue: &FairQueue, flows: usize) -> Vec<u32> {
        let of = |flow: u32| hashed(queue.perturbation, flow, queue.config.flows);
        let mut found: Vec<u32> = Vec::new();
        for flow in 0.. {
            if found.iter().all(|&known| of(known) != of(flow)) {
                found.push(flow);
            }
            if found.len() == flows {
                return found;
            }
        }
        unreachable!("flow numbers do not end");
    }

    fn empty(limit: Limit) -> FairQueue {
        FairQueue::new(limit, FairQueueConfig::default(), 7)
    }

    fn offer(queue: &mut FairQueue, flow: u32, sizes: &[u32]) -> usize {
        let mut drops = Drops::new();
        for &wire_bytes in sizes {
            queue.enqueue(Time::ZERO, Packet { flow, wire_bytes, ..Packet::default() }, &mut drops);
        }
        assert!(drops.iter().all(|dropped| dropped.packet.flow == flow), "who comes is dropped, nobody else");
        drops.len()
    }

    fn serve(queue: &mut FairQueue, packets: usize) -> Vec<(u32, u32)> {
        let next = || queue.dequeue(Time::ZERO, &mut Drops::new());
        std::iter::from_fn(next).take(packets).map(|packet| (packet.flow, packet.wire_bytes)).collect()
    }

    /// "queue limit per flow is 1/4 * queue-limit": of 64 packets 16.
    #[test]
    fn a_flow_holds_a_quarter_of_the_buffer() {
        let mut queue = empty(Limit::Packets(64));
        let flows = apart(&queue, 5);
        assert_eq!(offer(&mut queue, flows[0], &[1500; 20]), 4);
        for &flow in &flows[1..4] {
            assert_eq!(offer(&mut queue, flow, &[100; 16]), 0);
        }
        // four flows fill it, and a fifth finds no room, though its own part is empty
        assert_eq!(queue.backlog().packets, 64);
        assert_eq!(offer(&mut queue, flows[4], &[100]), 1);
        queue.set_limit(Limit::Packets(80));
        assert_eq!(offer(&mut queue, flows[4], &[100; 16]), 0);
        assert_eq!(
            offer(&mut queue, flows[0], &[100; 5]),
            5,
            "16 of the 20 that it may hold, and all 80 are taken"
        );
    }

    #[test]
    fn in_bytes_the_part_has_room_for_a_full_packet() {
        let mut queue = empty(Limit::Bytes(4000));
        let flows = apart(&queue, 2);
        assert_eq!(offer(&mut queue, flows[0], &[1514, 1]), 1);
        assert_eq!(offer(&mut queue, flows[1], &[1514, 1000]), 1);
    }

    /// "All flows are equal, no weighting": backlogged flows send the same bytes, within a quantum and a packet.
    #[test]
    fn flows_share_the_link_evenly_whatever_their_packets_sizes() {
        let mut queue = empty(Limit::Unlimited);
        let flows = apart(&queue, 2);
        offer(&mut queue, flows[0], &[1500; 200]);
        offer(&mut queue, flows[1], &[70; 4000]);
        let mut sent = [0_u64; 2];
        for (flow, bytes) in serve(&mut queue, 3000) {
            sent[usize::from(flow == flows[1])] += u64::from(bytes);
            assert!(sent[0].abs_diff(sent[1]) <= 2 * 1514, "{sent:?}");
        }
    }

    #[test]
    fn flows_with_one_hash_share_a_queue() {
        let config = FairQueueConfig { flows: 1, ..FairQueueConfig::default() };
        let mut queue = FairQueue::new(Limit::Packets(8), config, 7);
        assert_eq!(offer(&mut queue, 1, &[100, 100]), 0);
        assert_eq!(offer(&mut queue, 2, &[100]), 1);
        assert_eq!(serve(&mut queue, 9), [(1, 100), (1, 100)]);
    }

    /// A flow with little to send waits for a round of the others, not for what they have waiting.
    #[test]
    fn a_thin_flow_does_not_wait_behind_a_thick_one() {
        let mut queue = empty(Limit::Packets(400));
        let flows = apart(&queue, 2);
        offer(&mut queue, flows[0], &[1500; 100]);
        offer(&mut queue, flows[1], &[200]);
        let order = serve(&mut queue, 3);
        assert!(order.contains(&(flows[1], 200)), "{order:?}");
    }

    /// Each queue a list of its own, in a slow form of the text: who is admitted, and who is served.
    #[derive(Default)]
    struct Twin {
        queues: Vec<VecDeque<(u32, u32)>>,
        turns: VecDeque<usize>,
        deficits: Vec<u32>,
        in_turn: bool,
    }

    impl Twin {
        fn admits(&mut self, index: usize, packet: (u32, u32), limit: usize) -> bool {
            let waiting: usize = self.queues.iter().map(VecDeque::len).sum();
            if waiting == limit || self.queues[index].len() >= (limit / 4).max(1) {
                return false;
            }
            if self.queues[index].is_empty() {
                self.turns.push_back(index);
            }
            self.queues[index].push_back(packet);
            true
        }

        fn serve(&mut self) -> Option<(u32, u32)> {
            loop {
                let index = *self.turns.front()?;
                if !self.in_turn {
                    self.deficits[index] += 1514;
                }
                self.in_turn = self.queues[index][0].1 <= self.deficits[index];
                if !self.in_turn {
                    self.turns.rotate_left(1);
                    continue;
                }
                let packet = self.queues[index].pop_front()?;
                self.deficits[index] -= packet.1;
                if self.queues[index].is_empty() {
                    (self.deficits[index], self.in_turn) = (0, false);
                    self.turns.pop_front();
                }
                return Some(packet);
            }
        }
    }

    proptest! {
        #[test]
        fn it_does_what_lists_of_packets_do(
            limit in 1..80_usize,
            steps in prop::collection::vec((0..40_u32, 40..3000_u32, any::<bool>()), 1..400),
        ) {
            let mut queue = empty(Limit::Packets(limit as u64));
            let mut twin = Twin { queues: vec![VecDeque::new(); 16], deficits: vec![0; 16], ..Twin::default() };
            for (flow, bytes, is_served) in steps {
                let index = hashed(7, flow, 16) as usize;
                let is_admitted = offer(&mut queue, flow, &[bytes]) == 0;
                prop_assert_eq!(is_admitted, twin.admits(index, (flow, bytes), limit));
                if is_served {
                    prop_assert_eq!(serve(&mut queue, 1).first().copied(), twin.serve());
                }
            }
            prop_assert_eq!(serve(&mut queue, 1000), std::iter::from_fn(|| twin.serve()).collect::<Vec<_>>());
        }
    }
}
