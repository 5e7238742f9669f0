//! A receiving host that is interrupted some time after a packet has come.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_simulator::{GroupPlan, Plan, SourcePlan};
use bufferlab_transport::most_by_size;
use bufferlab_units::{Span, Time};

use super::noise::Noise;
use super::{Flow, RECEIVER_NOISE_STREAM};

/// How long the host's card waits at least, if what comes is not handled at once.
pub(super) fn wait(group: &GroupPlan) -> Option<Span> {
    let host = group.host?;
    let wait = Span::from_ps(host.card.map_or(0, |card| card.interrupt_ps));
    (wait > Span::ZERO || host.noise.is_some()).then_some(wait)
}

/// What has come, in order, and when the host will take it.
pub(super) struct Interrupts {
    wait: Span,
    noise: Option<Noise>,
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
    pub(super) fn of(plan: &Plan, flow: usize, group: &GroupPlan) -> Option<Interrupts> {
        let (wait, SourcePlan::Tcp(tcp)) = (wait(group)?, &group.source) else { return None };
        let segment_bytes = tcp.config.mss_bytes + tcp.config.header_bytes;
        Some(Interrupts {
            wait,
            noise: Noise::of(plan, flow, group, RECEIVER_NOISE_STREAM),
            segment_bytes,
            most_segments: most_by_size(tcp.config.mss_bytes),
            come: Vec::new(),
        })
    }

    /// Where, among those that came, packets begin.
    fn begins(&self) -> Vec<usize> {
        let ms = |packet: &Packet| packet.sent.as_ps() / 1_000_000_000;
        let sum = |packets: &[Packet]| packets.iter().map(|packet| self.segments(packet)).sum::<u32>();
        let mut begins: Vec<usize> = Vec::new();
        for (index, packet) in self.come.iter().enumerate() {
            let first = begins.last().map_or(index, |&first| first);
            let before = &self.come[first..index];
            // those at the end that were sent together
            let together = before.last().map_or(before, |last| {
                let others = before.iter().rposition(|packet| packet.sent != last.sent);
                &before[others.map_or(0, |place| place + 1)..]
            });
            let goes_on = together.last().is_some_and(|last| last.sent == packet.sent);
            let joins = before.last().is_some_and(|last| packet.seq == last.seq + self.segments(last))
                && sum(before) + self.segments(packet) <= self.most_segments
                && matches!(packet.kind, PacketKind::Data(_))
                && packet.kind == before[0].kind
                && !packet.is_reduced()
                && !before[0].is_reduced()
                && ms(packet) == ms(&before[0])
                && (goes_on || sum(together) < 2);
            if !joins {
                begins.push(index);
            }
        }
        begins
    }

    fn segments(&self, packet: &Packet) -> u32 {
        packet.wire_bytes / self.segment_bytes
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
        let noise = interrupts.noise.as_mut().map_or(Span::ZERO, Noise::draw);
        Coming::WaitsUntil(now + interrupts.wait + noise)
    }

    /// What has come, with consecutive segments as one packet.
    pub(in super::super) fn take_collected(&mut self) -> Vec<Packet> {
        let Some(interrupts) = self.interrupts.as_mut() else { return Vec::new() };
        let begins = interrupts.begins();
        let come = std::mem::take(&mut interrupts.come);
        let ends = begins.iter().skip(1).copied().chain([come.len()]);
        let packets = begins.iter().zip(ends).map(|(&first, end)| {
            let wire_bytes = come[first..end].iter().map(|packet| packet.wire_bytes).sum();
            Packet { wire_bytes, ..come[first] }
        });
        packets.collect()
    }
}
