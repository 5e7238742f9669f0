//! A sending host's network card and the queue before it.
//!
//! TCP hands over packets of several segments as soon as they are formed. They wait, first in, first out; the card cuts
//! the first into its segments (TSO), which leave one after the other at the line's rate. So the network sees bursts of
//! segments as close as the line lets them be. Each segment's departure is an event, since the packets of other hosts may
//! reach the same link in between.
//!
//! Sources: Linux 6.1 `net/ipv4/tcp_output.c`, read as behavior: `tcp_write_xmit`; `tcp_small_queue_check` for how much may
//! wait; `tcp_wfree` and `tcp_tsq_handler` for when a sender that had to stop goes on: when a packet is out.
//!
//! Departures:
//! - a card has one host, and each flow has a host of its own;
//! - what waits is counted by its bytes on the wire, Linux counts the memory that it takes;
//! - a packet counts until its last segment begins to leave; the interrupt that reports it takes no time;
//! - a retransmission waits as new data does, in Linux twice as much may wait before it does;
//! - what waits is never dropped: the bound is far below the 1000 packets of `pfifo_fast`.

use std::collections::VecDeque;

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_units::{Rate, Time};

use crate::plan::CardPlan;

/// A card with the packets that wait for it.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    rate: Rate,
    /// Bound of what waits, of senders without a pace.
    pub(crate) most_bytes: u64,
    /// Bytes of a whole segment on the wire.
    pub(crate) segment_bytes: u32,
    packets: VecDeque<Packet>,
    /// Of the packets of which something waits, whole.
    pub(crate) bytes: u64,
    /// Of the first of them, whole.
    first_bytes: u64,
    /// The line is busy until then.
    pub(crate) free: Time,
    /// The sender had to stop, since too much waits.
    pub(crate) throttled: bool,
}

impl Card {
    pub(crate) fn new(plan: CardPlan, segment_bytes: u32) -> Card {
        Card {
            rate: Rate::from_bps(plan.rate_bps).expect("a checked plan has no rate of zero"),
            most_bytes: plan.most_bytes.unwrap_or(u64::MAX),
            segment_bytes,
            packets: VecDeque::new(),
            bytes: 0,
            first_bytes: 0,
            free: Time::ZERO,
            throttled: false,
        }
    }

    /// The sender hands over a packet.
    pub(crate) fn push(&mut self, packet: Packet) {
        if self.packets.is_empty() {
            self.first_bytes = packet.wire_bytes.into();
        }
        self.bytes += u64::from(packet.wire_bytes);
        self.packets.push_back(packet);
    }

    /// The next segment, if the line is free.
    pub(crate) fn cut(&mut self, local: Time) -> Option<Packet> {
        if local < self.free {
            return None;
        }
        let first = self.packets.front_mut()?;
        let mut segment = *first;
        if matches!(first.kind, PacketKind::Data(_)) && first.wire_bytes > self.segment_bytes {
            segment.wire_bytes = self.segment_bytes;
            first.wire_bytes -= self.segment_bytes;
            first.seq += 1;
            // the flag CWR is the first segment's
            first.hop &= !Packet::REDUCED;
        } else {
            self.packets.pop_front();
            self.bytes -= self.first_bytes;
            self.first_bytes = self.packets.front().map_or(0, |packet| packet.wire_bytes.into());
        }
        self.free = local + self.rate.transmission(u64::from(segment.wire_bytes));
        Some(segment)
    }

    /// Whether something waits.
    pub(crate) fn waits(&self) -> bool {
        !self.packets.is_empty()
    }
}
