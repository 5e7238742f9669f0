//! A receiving host that is interrupted some time after a packet has come.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_simulator::{GroupPlan, SourcePlan};
use bufferlab_transport::most_by_size;
use bufferlab_units::{Span, Time};

use super::Flow;

/// How long the host's card waits, if it does.
pub(super) fn wait(group: &GroupPlan) -> Option<Span> {
    let card = group.host?.card?;
    Some(Span::from_ps(card.interrupt_ps)).filter(|&wait| wait > Span::ZERO)
}

/// What has come, in order, and when the host will take it.
pub(super) struct Interrupts {
    wait: Span,
    segment_bytes: u32,
    most_segments: u32,
    come: Vec<Packet>,
}

/// What becomes of a packet that comes.
pub(in super::super) enum Coming {
    /// The host takes it at once.
    Taken,
    /// It waits with others.
    Waits,
    /// It is the first that waits, until then.
    WaitsUntil(Time),
}

impl Interrupts {
    pub(super) fn of(group: &GroupPlan) -> Option<Interrupts> {
        let (wait, SourcePlan::Tcp(tcp)) = (wait(group)?, &group.source) else { return None };
        let segment_bytes = tcp.config.mss_bytes + tcp.config.header_bytes;
        Some(Interrupts {
            wait,
            segment_bytes,
            most_segments: most_by_size(tcp.config.mss_bytes),
            come: Vec::new(),
        })
    }

    /// Where, among those that came, packets begin.
    fn begins(&self) -> Vec<usize> {
        let ms = |packet: &Packet| packet.sent.as_ps() / 1_000_000_000;
        let mut begins: Vec<usize> = Vec::new();
        for (index, packet) in self.come.iter().enumerate() {
            let first = begins.last().map_or(index, |&first| first);
            let mates =
                |of: &Packet| self.come[first..index].iter().rev().take_while(|p| p.sent == of.sent).count();
            let joins = index > first
                && index - first < self.most_segments as usize
                && matches!(packet.kind, PacketKind::Data(_))
                && packet.kind == self.come[first].kind
                && packet.seq == self.come[index - 1].seq + 1
                && ms(packet) == ms(&self.come[first])
                && (mates(packet) > 0 || mates(&self.come[index - 1]) < 2);
            if !joins {
                begins.push(index);
            }
        }
        begins
    }
}

impl Flow {
    /// A packet comes to the receiver's card.
    pub(in super::super) fn collect(&mut self, now: Time, packet: &Packet) -> Coming {
        let Some(interrupts) = self.interrupts.as_mut() else { return Coming::Taken };
        interrupts.come.push(*packet);
        if interrupts.come.len() > 1 {
            return Coming::Waits;
        }
        Coming::WaitsUntil(now + interrupts.wait)
    }

    /// What has come, with consecutive segments as one packet.
    pub(in super::super) fn take_collected(&mut self) -> Vec<Packet> {
        let Some(interrupts) = self.interrupts.as_mut() else { return Vec::new() };
        let begins = interrupts.begins();
        let come = std::mem::take(&mut interrupts.come);
        let ends = begins.iter().skip(1).copied().chain([come.len()]);
        let packets = begins.iter().zip(ends).map(|(&first, end)| {
            let count = (end - first) as u32;
            let one = count == 1;
            let wire_bytes = if one { come[first].wire_bytes } else { count * interrupts.segment_bytes };
            Packet { wire_bytes, ..come[first] }
        });
        packets.collect()
    }
}
