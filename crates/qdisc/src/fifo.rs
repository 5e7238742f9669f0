//! First in, first out, with tail drop: what most routers run.
//!
//! Like Linux's `pfifo` and `bfifo` (`net/sched/sch_fifo.c`): a packet is refused if it would take the backlog
//! above the limit. Cost: one copy of 40 bytes each way.
//!
//! Packets of flows that listen can be marked in good time: those that find more than K waiting, as RFC 8257
//! section 3.1 has a switch do when "its queue length is greater than the congestion threshold".

use bufferlab_parameters::{THRESHOLD, parameters};
use bufferlab_units::Time;

use crate::packet_queue::PacketQueue;
use crate::{
    Backlog, Context, Discipline, DropReason, Dropped, Drops, Ecn, Limit, Packet, PacketKind, QueueDisc,
    Threshold,
};

parameters! {
    /// Parameters of a FIFO queue.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FifoConfig {
        /// An ECN-capable packet that finds more than this waiting is marked; default never.
        mark_above: Option<Threshold> = None, THRESHOLD;
    }
}

impl Discipline for FifoConfig {
    type Qdisc = Fifo;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Fifo {
        let mark_above = self.mark_above.map_or(Limit::Unlimited, Limit::from);
        Fifo::new(context.limit).marking_above(mark_above)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        vec![FifoConfig { mark_above: Some(Threshold::Packets(3)) }]
    }
}

/// A FIFO queue with a limit in packets or bytes.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: PacketQueue,
    limit: Limit,
    mark_above: Limit,
    marks: u64,
}

impl Fifo {
    /// An empty queue that marks nothing.
    pub fn new(limit: Limit) -> Fifo {
        Fifo { packets: PacketQueue::default(), limit, mark_above: Limit::Unlimited, marks: 0 }
    }

    /// The same, marking packets that find more than so much waiting.
    #[must_use]
    pub fn marking_above(self, mark_above: Limit) -> Fifo {
        Fifo { mark_above, ..self }
    }
}

impl QueueDisc for Fifo {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if self.limit.admits(self.backlog(), packet.wire_bytes) {
            packet.enqueued = now;
            if packet.may_be_marked() && self.mark_above.is_below(self.backlog()) {
                packet.kind = PacketKind::Data(Ecn::Marked);
                self.marks += 1;
            }
            self.packets.push(packet);
        } else {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Packet> {
        self.packets.pop()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.marks
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn groups_in_order(&self) -> Vec<u16> {
        self.packets.groups()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(seq: u32, wire_bytes: u32) -> Packet {
        let kind = PacketKind::Data(Ecn::Incapable);
        Packet { seq, wire_bytes, kind, ..Packet::default() }
    }

    fn offer(queue: &mut Fifo, sizes: &[u32]) -> Vec<u32> {
        let mut drops = Drops::new();
        for (seq, &bytes) in sizes.iter().enumerate() {
            queue.enqueue(Time::ZERO, packet(seq as u32, bytes), &mut drops);
        }
        drops.iter().map(|dropped| dropped.packet.seq).collect()
    }

    #[test]
    fn the_order_is_that_of_the_arrivals() {
        let mut queue = Fifo::new(Limit::Unlimited);
        for group in [3, 1, 1, 2] {
            queue.enqueue(Time::ZERO, Packet { group, ..packet(0, 1000) }, &mut Drops::new());
        }
        assert_eq!(queue.dequeue(Time::ZERO, &mut Drops::new()).map(|packet| packet.group), Some(3));
        assert_eq!(queue.groups_in_order(), [1, 1, 2]);
    }

    #[test]
    fn the_last_to_come_is_dropped_at_a_packet_limit() {
        let mut queue = Fifo::new(Limit::Packets(2));
        assert_eq!(offer(&mut queue, &[1000, 40, 1000]), [2]);
        assert_eq!(queue.dequeue(Time::ZERO, &mut Drops::new()).map(|packet| packet.seq), Some(0));
    }

    #[test]
    fn a_byte_limit_lets_small_packets_pass_where_large_ones_do_not_fit() {
        let mut queue = Fifo::new(Limit::Bytes(1500));
        assert_eq!(offer(&mut queue, &[1000, 1000, 500, 1]), [1, 3]);
    }

    #[test]
    fn shrinking_keeps_what_waits_and_refuses_what_is_new() {
        let mut queue = Fifo::new(Limit::Unlimited);
        offer(&mut queue, &[100; 5]);
        queue.set_limit(Limit::Packets(2));
        assert_eq!(queue.backlog(), Backlog { packets: 5, bytes: 500 });
        assert_eq!(offer(&mut queue, &[100]), [0]);
        for _ in 0..4 {
            queue.dequeue(Time::ZERO, &mut Drops::new());
        }
        assert_eq!(offer(&mut queue, &[100, 100]), [1]);
    }

    #[test]
    fn who_listens_is_marked_above_the_threshold() {
        let mut queue = Fifo::new(Limit::Packets(10)).marking_above(Limit::Packets(2));
        let (ect0, ect1) = (PacketKind::Data(Ecn::Capable), PacketKind::Data(Ecn::Scalable));
        for (seq, kind) in (0..).zip([ect0, ect1, ect0, ect0, ect1]) {
            queue.enqueue(Time::ZERO, Packet { kind, ..packet(seq, 100) }, &mut Drops::new());
        }
        queue.enqueue(Time::ZERO, packet(5, 100), &mut Drops::new());
        let kinds: Vec<_> =
            std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut Drops::new()).map(|packet| packet.kind))
                .collect();
        let (marked, deaf) = (PacketKind::Data(Ecn::Marked), PacketKind::Data(Ecn::Incapable));
        assert_eq!(kinds, [ect0, ect1, ect0, marked, marked, deaf]);
        assert_eq!(queue.marks(), 2);
    }
}
