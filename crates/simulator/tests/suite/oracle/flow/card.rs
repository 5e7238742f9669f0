//! A host's card, by the moments at which what it was given leaves it: these are known at once, and nothing changes them.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_simulator::{GroupPlan, SourcePlan};
use bufferlab_transport::Sender;
use bufferlab_units::{Span, Time};

/// A card and what it was given.
pub(super) struct Card {
    rate_bps: u64,
    most_bytes: Option<u64>,
    segment_bytes: u32,
    /// When the last segment of each packet that waits begins to leave, and the packet's size.
    given: Vec<(Time, u64)>,
    busy_until: Time,
    /// The sender waits for a packet to be out.
    pub(super) full: bool,
}

impl Card {
    pub(super) fn of(group: &GroupPlan) -> Option<Card> {
        let (card, SourcePlan::Tcp(tcp)) = (group.host?.card?, &group.source) else { return None };
        Some(Card {
            rate_bps: card.rate_bps,
            most_bytes: card.most_bytes,
            segment_bytes: tcp.config.mss_bytes + tcp.config.header_bytes,
            given: Vec::new(),
            busy_until: Time::ZERO,
            full: false,
        })
    }

    /// Whether the sender may hand over another packet.
    pub(super) fn has_room(&mut self, now: Time, sender: &Sender) -> bool {
        self.given.retain(|(out, _)| *out > now);
        let waiting: u64 = self.given.iter().map(|(_, bytes)| bytes).sum();
        let mut most = (sender.small_queue_segments() * f64::from(self.segment_bytes)) as u64;
        if !sender.is_paced() {
            most = most.min(self.most_bytes.unwrap_or(u64::MAX));
        }
        self.full = waiting > most;
        !self.full
    }

    /// Whether a packet is out that the sender has waited for.
    pub(super) fn goes_on(&self, now: Time) -> bool {
        self.full && self.given.iter().any(|(out, _)| *out <= now)
    }

    /// When the next packet is out, if the sender waits for that.
    pub(super) fn next(&self, now: Time) -> Option<Time> {
        let outs = self.given.iter().map(|(out, _)| *out).filter(|out| *out > now);
        outs.min().filter(|_| self.full)
    }

    /// A packet's segments, each with the moment at which it leaves.
    pub(super) fn cut(&mut self, now: Time, packet: Packet) -> Vec<Packet> {
        let whole = matches!(packet.kind, PacketKind::Data(_)).then_some(self.segment_bytes);
        let size = whole.filter(|&size| size < packet.wire_bytes).unwrap_or(packet.wire_bytes);
        let count = packet.wire_bytes / size;
        let segments: Vec<Packet> = (0..count)
            .map(|index| {
                let enqueued = now.max(self.busy_until);
                let ps = u128::from(size) * 8_000_000_000_000 / u128::from(self.rate_bps);
                self.busy_until = enqueued + Span::from_ps(ps as u64);
                let hop = if index == 0 { packet.hop } else { 0 };
                Packet { enqueued, seq: packet.seq + index, wire_bytes: size, hop, ..packet }
            })
            .collect();
        let out = segments.last().map_or(now, |last| last.enqueued);
        self.given.push((out, packet.wire_bytes.into()));
        segments
    }
}
