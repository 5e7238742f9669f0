//! Packets in the order of their arrival, and how much they are.

use std::collections::VecDeque;

use crate::{Backlog, Packet};

/// First in, first out, without a policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketQueue {
    packets: VecDeque<Packet>,
    bytes: u64,
}

impl PacketQueue {
    #[inline]
    pub(crate) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.wire_bytes);
        self.packets.push_back(packet);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    /// The next one to go.
    #[inline]
    pub(crate) fn front(&self) -> Option<&Packet> {
        self.packets.front()
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The group of each packet, the next one to go first.
    pub(crate) fn groups(&self) -> Vec<u16> {
        self.packets.iter().map(|packet| packet.group).collect()
    }

    /// What is in it.
    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}
