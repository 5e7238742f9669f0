//! First in, first out, in the memory of a switch: packets take whole cells, until their last bit has left.
//!
//! Sources, both by Juniper Networks on the QFX5000 series (Broadcom's Trident and Tomahawk):
//! - "QFX5K-Series Switches Packet Buffer Architecture" (Parthipan TS, 25 April 2025), section "Packet Buffers": buffers are
//!   counted in cells, of 208 bytes (QFX5100, 5110, 5200, 5210) or 256 (QFX5120); the first cell of a packet holds 64
//!   bytes about it, the others data only: `cell`, `metadata`.
//! - Junos OS Traffic Management User Guide (QFX), "Understanding `CoS` Buffer Configuration": "Packets are accounted for as
//!   they enter and leave the switch": `frees`.
//!
//! A packet that finds no room is dropped as it comes (tail drop). With `frees = "start"`, cells of 1 byte and no metadata
//! this is `fifo`.
//!
//! Departures: one queue has all of `buffer`; what ports share is the table `[[memories]]`, which counts bytes. Cells are
//! freed when the last bit has left, all at once.
//!
//! Cost: one copy of 40 bytes each way, a division.

use bufferlab_parameters::{LARGEST_PACKET, bytes, choice, parameters, words};
use bufferlab_units::Time;

use crate::packet_queue::PacketQueue;
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

words! {
    /// When the room of a packet is free again.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Frees {
        /// As the transmission starts: the packet on the wire takes no room, as in Linux and in the other queues here.
        Start = "start",
        /// As the packet has left: the packet on the wire takes room as well.
        End = "end",
    }
}

parameters! {
    /// Parameters of a switch's memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct SwitchConfig {
        /// Size of a cell; a buffer in bytes has as many as fit (Juniper's QFX5100; QFX5120: 256 B). One in packets has none.
        cell_bytes: u32 = 208, bytes(1, LARGEST_PACKET);
        /// What the first cell of a packet holds beside it.
        metadata_bytes: u32 = 64, bytes(0, LARGEST_PACKET);
        /// When the room of a packet is free again.
        frees: Frees = Frees::End, choice::<Frees>();
    }
}

impl SwitchConfig {
    /// The cells that a packet takes.
    fn cells(&self, wire_bytes: u32) -> u64 {
        (u64::from(wire_bytes) + u64::from(self.metadata_bytes)).div_ceil(u64::from(self.cell_bytes))
    }
}

impl Discipline for SwitchConfig {
    type Qdisc = Switch;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Switch {
        Switch::new(context.limit, *self)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        vec![SwitchConfig { frees: Frees::Start, ..SwitchConfig::default() }]
    }
}

/// A FIFO queue in cells.
#[derive(Clone, Debug)]
pub struct Switch {
    packets: PacketQueue,
    limit: Limit,
    config: SwitchConfig,
    /// Of what waits.
    cells: u64,
    /// Of the packet on the wire, if it takes room; 0 without one.
    leaving: u64,
}

impl Switch {
    /// An empty queue.
    pub fn new(limit: Limit, config: SwitchConfig) -> Switch {
        Switch { packets: PacketQueue::default(), limit, config, cells: 0, leaving: 0 }
    }

    fn admits(&self, cells: u64) -> bool {
        match self.limit {
            Limit::Packets(packets) => self.backlog().packets + u64::from(self.leaving > 0) < packets,
            Limit::Bytes(limit) => {
                self.cells + self.leaving + cells <= limit / u64::from(self.config.cell_bytes)
            }
            Limit::Unlimited => true,
        }
    }
}

impl QueueDisc for Switch {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        let cells = self.config.cells(packet.wire_bytes);
        if self.admits(cells) {
            packet.enqueued = now;
            self.cells += cells;
            self.packets.push(packet);
        } else {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }

    #[inline]
    fn dequeue(&mut self, _now: Time, _drops: &mut Drops) -> Option<Packet> {
        self.has_left();
        let packet = self.packets.pop()?;
        let cells = self.config.cells(packet.wire_bytes);
        self.cells -= cells;
        if self.config.frees == Frees::End {
            self.leaving = cells;
        }
        Some(packet)
    }

    #[inline]
    fn has_left(&mut self) {
        self.leaving = 0;
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Fifo;

    fn packet(seq: u32, wire_bytes: u32) -> Packet {
        Packet { seq, wire_bytes, ..Packet::default() }
    }

    /// Offers packets of these sizes; returns the numbers of those that are dropped.
    fn offer(queue: &mut impl QueueDisc, first: u32, sizes: &[u32]) -> Vec<u32> {
        let mut drops = Drops::new();
        for (seq, &bytes) in (first..).zip(sizes) {
            queue.enqueue(Time::ZERO, packet(seq, bytes), &mut drops);
        }
        drops.iter().map(|dropped| dropped.packet.seq).collect()
    }

    fn serve(queue: &mut impl QueueDisc) -> Option<u32> {
        queue.dequeue(Time::ZERO, &mut Drops::new()).map(|packet| packet.seq)
    }

    /// The first of 208 bytes has room for 144 of the packet.
    #[test]
    fn a_packet_takes_whole_cells_the_first_of_which_holds_metadata() {
        let sizes = [1, 144, 145, 352, 353, 1500];
        assert_eq!(sizes.map(|bytes| SwitchConfig::default().cells(bytes)), [1, 1, 2, 2, 3, 8]);
    }

    #[test]
    fn a_small_packet_takes_as_much_as_its_cell() {
        // 10 cells and a half: a packet of 8, and two of 64 bytes
        let mut queue = Switch::new(Limit::Bytes(10 * 208 + 104), SwitchConfig::default());
        assert_eq!(offer(&mut queue, 0, &[1500, 64, 64, 64, 1]), [3, 4]);
        assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: 1628 });
    }

    #[test]
    fn the_packet_on_the_wire_takes_room_until_it_has_left() {
        for (frees, refused) in [(Frees::End, vec![2, 3]), (Frees::Start, vec![3])] {
            for limit in [Limit::Packets(2), Limit::Bytes(16 * 208)] {
                let mut queue = Switch::new(limit, SwitchConfig { frees, ..SwitchConfig::default() });
                assert!(offer(&mut queue, 0, &[1500, 1500]).is_empty());
                assert_eq!(serve(&mut queue), Some(0));
                assert_eq!(offer(&mut queue, 2, &[1500, 1500]), refused, "{frees:?} {limit:?}");
            }
        }
    }

    #[test]
    fn who_finds_the_wire_idle_finds_all_of_the_room() {
        for informed in [false, true] {
            let mut queue = Switch::new(Limit::Packets(1), SwitchConfig::default());
            assert!(offer(&mut queue, 0, &[1500]).is_empty());
            assert_eq!(serve(&mut queue), Some(0));
            assert_eq!(offer(&mut queue, 1, &[1500]), [1]);
            // a link asks for the next one as a packet has left, or, where its rate varies, says that it has
            if informed {
                queue.has_left();
            } else {
                assert_eq!(serve(&mut queue), None);
            }
            assert!(offer(&mut queue, 2, &[1500]).is_empty());
        }
    }

    proptest! {
        #[test]
        fn cells_of_a_byte_that_are_free_at_the_start_are_a_fifo(
            bytes in 100..9000_u64,
            script in prop::collection::vec((any::<bool>(), 40..1500_u32), 1..200),
        ) {
            let plain = SwitchConfig { cell_bytes: 1, metadata_bytes: 0, frees: Frees::Start };
            let limit = Limit::Bytes(bytes);
            let (mut switch, mut fifo) = (Switch::new(limit, plain), Fifo::new(limit));
            for (seq, (serves, bytes)) in (0..).zip(script) {
                if serves {
                    prop_assert_eq!(serve(&mut switch), serve(&mut fifo));
                } else {
                    prop_assert_eq!(offer(&mut switch, seq, &[bytes]), offer(&mut fifo, seq, &[bytes]));
                }
            }
        }
    }
}
