//! Deficit round robin: every flow has a queue of its own, and all get the same number of bytes a round.
//!
//! Source: M. Shreedhar and G. Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM 1995
//! (section 3, with the pseudocode of figure 4: enqueuing and dequeuing modules).
//!
//! Flows that have packets are in a list. The first one may send a quantum more than it had left over (its deficit);
//! when its next packet is larger than what remains it goes to the end of the list and keeps the rest. A flow that
//! has nothing more leaves the list and its deficit is lost.
//!
//! All queues share one limit. If a packet comes that does not fit, the longest queue (in bytes) gives up its last
//! packet, "buffer stealing" (P. McKenney, "Stochastic Fairness Queueing", INFOCOM 1990, which the paper follows):
//! who uses less than his share loses nothing to who uses more. The packet that comes counts as queued, so in the
//! longest queue it is the one that goes.
//!
//! Departures from the paper:
//! - Queues belong to flow numbers, not to hash values: no two flows share a queue.
//! - One quantum for all; the paper allows one for each.
//! - A queue that loses its only packet to stealing keeps its place in the list until its turn.
//! - A packet that comes steals no more than it takes itself, so a new, lower limit keeps what waits.
//!
//! Cost: one copy of 40 bytes each way; with a quantum of at least the largest packet one look at a queue a packet (the
//! paper's theorem 4.5). A drop looks at every flow that has packets. Memory: 48 bytes a flow, 48 a packet.

use std::collections::VecDeque;

use bufferlab_parameters::{LARGEST_PACKET, bytes, parameters};
use bufferlab_units::Time;

use crate::chains::{Chain, Pool};
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc, SubQueue};

/// Least quantum of a round, bytes (Linux's for FQ-CoDel): a packet waits for a bounded number of rounds.
pub(crate) const LEAST_QUANTUM: u64 = 256;

parameters! {
    /// Parameters of deficit round robin.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DrrConfig {
        /// Bytes that each queue may send a round; best no less than the largest packet (theorem 4.5).
        quantum_bytes: u32 = 1514, bytes(LEAST_QUANTUM, LARGEST_PACKET);
    }
}

impl Discipline for DrrConfig {
    type Qdisc = Drr;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Drr {
        Drr::new(context.limit, self.quantum_bytes)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        vec![DrrConfig { quantum_bytes: 100 }]
    }
}

/// One queue a flow, served in rounds.
#[derive(Clone, Debug)]
pub struct Drr {
    pool: Pool,
    /// By flow number.
    flows: Vec<Flow>,
    /// The flows with packets, in the order of their turns (the paper's `ActiveList`).
    active: VecDeque<u32>,
    /// The first one's turn has begun: it has got its quantum.
    in_turn: bool,
    /// Bytes that a flow may send more each round.
    quantum: u64,
    backlog: Backlog,
    limit: Limit,
}

#[derive(Clone, Copy, Debug)]
struct Flow {
    chain: Chain,
    /// Bytes that it may still send (the paper's `DeficitCounter`).
    deficit: u64,
    active: bool,
}

const NEW_FLOW: Flow = Flow { chain: Chain::EMPTY, deficit: 0, active: false };

impl Drr {
    /// Empty queues. The quantum is in bytes: that of the largest packet makes the work of a packet constant
    /// (theorem 4.5 of the paper).
    ///
    /// # Panics
    /// With a quantum of zero, as no flow could ever send.
    pub fn new(limit: Limit, quantum: u32) -> Drr {
        assert!(quantum > 0, "a quantum of zero lets nobody send");
        Drr {
            pool: Pool::new(),
            flows: Vec::new(),
            active: VecDeque::new(),
            in_turn: false,
            quantum: u64::from(quantum),
            backlog: Backlog::default(),
            limit,
        }
    }

    /// Takes packets from the longest queues until the newest packet, of this size and flow, has its room.
    #[cold]
    fn steal(&mut self, newcomer: u32, bytes: u64, drops: &mut Drops) {
        let mut freed = 0;
        while self.limit.is_below(self.backlog) && freed < bytes {
            let longest = self.longest(newcomer);
            let flow = &mut self.flows[longest as usize];
            let packet = self.pool.pop_back(&mut flow.chain).expect("the longest queue has packets");
            if flow.chain.is_empty() {
                flow.deficit = 0;
            }
            freed += u64::from(packet.wire_bytes);
            self.backlog.remove(&packet);
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }

    /// Takes a packet into a queue, whatever the limit.
    #[inline]
    pub(crate) fn push(&mut self, queue: u32, packet: Packet) {
        let index = queue as usize;
        if index >= self.flows.len() {
            self.flows.resize(index + 1, NEW_FLOW);
        }
        let flow = &mut self.flows[index];
        self.pool.push_back(&mut flow.chain, packet);
        self.backlog.add(&packet);
        if !flow.active {
            flow.active = true;
            self.active.push_back(queue);
        }
    }

    /// The flow with most bytes; of several the newcomer's, else the first in the list.
    fn longest(&self, newcomer: u32) -> u32 {
        let bytes = |flow: u32| self.flows[flow as usize].chain.bytes();
        let longer = |longest, &flow: &u32| if bytes(flow) > bytes(longest) { flow } else { longest };
        self.active.iter().fold(newcomer, longer)
    }

    /// The first flow's turn ends.
    #[inline]
    fn end_turn(&mut self) -> Option<u32> {
        self.in_turn = false;
        self.active.pop_front()
    }
}

impl QueueDisc for Drr {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        packet.enqueued = now;
        self.push(packet.flow, packet);
        if self.limit.is_below(self.backlog) {
            self.steal(packet.flow, u64::from(packet.wire_bytes), drops);
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Packet> {
        loop {
            let number = *self.active.front()?;
            let flow = &mut self.flows[number as usize];
            if !self.in_turn {
                self.in_turn = true;
                flow.deficit += self.quantum;
            }
            match self.pool.front_bytes(&flow.chain) {
                Some(bytes) if u64::from(bytes) <= flow.deficit => {
                    flow.deficit -= u64::from(bytes);
                    let packet = self.pool.pop_front(&mut flow.chain)?;
                    self.backlog.remove(&packet);
                    if flow.chain.is_empty() {
                        (flow.active, flow.deficit) = (false, 0);
                        self.end_turn();
                    }
                    return Some(packet);
                }
                Some(_) => {
                    self.end_turn();
                    self.active.push_back(number);
                }
                // stealing took all that it had
                None => {
                    (flow.active, flow.deficit) = (false, 0);
                    self.end_turn();
                }
            }
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn sub_queues(&self) -> Vec<SubQueue> {
        self.active
            .iter()
            .filter_map(|&flow| self.pool.look(&self.flows[flow as usize].chain, false))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(queue: &mut Drr, flow: u32, sizes: &[u32]) -> Vec<(u32, u32)> {
        let mut drops = Drops::new();
        for &wire_bytes in sizes {
            queue.enqueue(Time::ZERO, Packet { flow, wire_bytes, ..Packet::default() }, &mut drops);
        }
        drops.iter().map(|dropped| (dropped.packet.flow, dropped.packet.wire_bytes)).collect()
    }

    fn serve(queue: &mut Drr, packets: usize) -> Vec<(u32, u32)> {
        let next = || queue.dequeue(Time::ZERO, &mut Drops::new());
        let served: Vec<_> = std::iter::from_fn(next).take(packets).collect();
        served.iter().map(|packet| (packet.flow, packet.wire_bytes)).collect()
    }

    /// Figures 2 and 3 of the paper: with a quantum of 500 the first queue sends 200 bytes, keeps 300, and sends 750
    /// and 20 in the next round.
    #[test]
    fn what_a_round_leaves_over_counts_in_the_next() {
        let mut queue = Drr::new(Limit::Unlimited, 500);
        offer(&mut queue, 1, &[200, 750, 20]);
        offer(&mut queue, 2, &[500, 500]);
        offer(&mut queue, 3, &[100, 600, 200]);
        offer(&mut queue, 4, &[180, 700, 50]);
        let first_round = [(1, 200), (2, 500), (3, 100), (4, 180)];
        assert_eq!(serve(&mut queue, 4), first_round);
        let deficits = |queue: &Drr| queue.flows[1..].iter().map(|flow| flow.deficit).collect::<Vec<_>>();
        // the last one's turn ends with the next question
        assert_eq!(deficits(&queue), [300, 0, 400, 320]);
        let second_round = [(1, 750), (1, 20), (2, 500), (3, 600), (3, 200), (4, 700), (4, 50)];
        assert_eq!(serve(&mut queue, 7), second_round);
        assert_eq!(deficits(&queue), [0, 0, 0, 0]);
        assert_eq!(serve(&mut queue, 1), []);
    }

    /// Section 4: backlogged flows send the same number of bytes, within a quantum and a packet.
    #[test]
    fn small_packets_get_as_many_bytes_as_large_ones() {
        let mut queue = Drr::new(Limit::Unlimited, 1500);
        offer(&mut queue, 0, &[1500; 200]);
        offer(&mut queue, 1, &[70; 4000]);
        let mut sent = [0; 2];
        for (flow, bytes) in serve(&mut queue, 3000) {
            sent[flow as usize] += u64::from(bytes);
            assert!(sent[0].abs_diff(sent[1]) <= 2 * 1500, "{sent:?}");
        }
    }

    #[test]
    fn packets_larger_than_the_quantum_wait_for_more_rounds() {
        let mut queue = Drr::new(Limit::Unlimited, 400);
        offer(&mut queue, 0, &[1000, 1000]);
        offer(&mut queue, 1, &[300; 5]);
        let order: Vec<_> = serve(&mut queue, 7).iter().map(|(flow, _)| *flow).collect();
        assert_eq!(order, [1, 1, 0, 1, 1, 1, 0]);
    }

    #[test]
    fn the_longest_queue_loses_its_last_packet() {
        let mut queue = Drr::new(Limit::Packets(4), 1500);
        assert_eq!(offer(&mut queue, 0, &[100, 100, 100, 1000, 100]), [(0, 100)]);
        assert_eq!(offer(&mut queue, 1, &[900]), [(0, 1000)]);
        // now flow 1 has more bytes
        assert_eq!(offer(&mut queue, 1, &[40]), [(1, 40)]);
        assert_eq!(queue.backlog(), Backlog { packets: 4, bytes: 1200 });
        assert_eq!(serve(&mut queue, 9), [(0, 100), (0, 100), (0, 100), (1, 900)]);
    }

    #[test]
    fn of_queues_alike_the_newcomers_loses() {
        let mut queue = Drr::new(Limit::Packets(2), 1500);
        offer(&mut queue, 0, &[100]);
        offer(&mut queue, 1, &[100]);
        assert_eq!(offer(&mut queue, 2, &[100]), [(2, 100)]);
        // its empty queue is passed over
        assert_eq!(serve(&mut queue, 9), [(0, 100), (1, 100)]);
        assert_eq!(offer(&mut queue, 2, &[100]), []);
        assert_eq!(serve(&mut queue, 9), [(2, 100)]);
    }

    #[test]
    fn shrinking_keeps_what_waits_and_a_newcomer_takes_only_its_own_room() {
        let mut queue = Drr::new(Limit::Unlimited, 1500);
        offer(&mut queue, 0, &[100; 10]);
        queue.set_limit(Limit::Packets(3));
        assert_eq!(queue.backlog().packets, 10);
        assert_eq!(offer(&mut queue, 1, &[100]), [(0, 100)]);
        assert_eq!(queue.backlog().packets, 10);
        queue.set_limit(Limit::Bytes(500));
        assert_eq!(offer(&mut queue, 1, &[250]), [(0, 100), (0, 100), (0, 100)]);
        assert_eq!(queue.backlog(), Backlog { packets: 8, bytes: 950 });
    }
}
