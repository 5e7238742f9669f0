//! First in, first out, with tail drop: what most routers run.
//!
//! Like Linux's `pfifo` and `bfifo` (`net/sched/sch_fifo.c`): a packet is refused if it would take the backlog
//! above the limit. Cost: one copy of 32 bytes each way.

use std::collections::VecDeque;

use bufferlab_units::Time;

use crate::{Backlog, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

/// A FIFO queue with a limit in packets or bytes.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    bytes: u64,
    limit: Limit,
}

impl Fifo {
    /// An empty queue.
    pub fn new(limit: Limit) -> Fifo {
        Fifo { packets: VecDeque::new(), bytes: 0, limit }
    }
}

impl QueueDisc for Fifo {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if self.limit.admits(self.backlog(), packet.wire_bytes) {
            packet.enqueued = now;
            self.bytes += u64::from(packet.wire_bytes);
            self.packets.push_back(packet);
        } else {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PacketKind;

    fn packet(seq: u32, wire_bytes: u32) -> Packet {
        let (enqueued, sent) = (Time::ZERO, Time::ZERO);
        Packet { enqueued, sent, flow: 0, seq, wire_bytes, group: 0, kind: PacketKind::Data, hop: 0 }
    }

    fn offer(queue: &mut Fifo, sizes: &[u32]) -> Vec<u32> {
        let mut drops = Drops::new();
        for (seq, &bytes) in sizes.iter().enumerate() {
            queue.enqueue(Time::ZERO, packet(seq as u32, bytes), &mut drops);
        }
        drops.iter().map(|dropped| dropped.packet.seq).collect()
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
}
