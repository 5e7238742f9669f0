//! What a host sends, and when: its processing delay, its interface, its card.

use bufferlab_congestion::CongestionConfig;
use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_simulator::JitterPlan;
use bufferlab_transport::{EcnUse, SegmentKind};
use bufferlab_units::{Span, Time};

use super::noise::Noise;
use super::{Ends, Flow};

impl Flow {
    /// What may leave now. An answer waits for a processing delay, which is drawn when there is none yet.
    pub(super) fn transmit(&mut self, now: Time, answers: bool) -> Vec<Packet> {
        self.last = now;
        if self.card.is_some() {
            return self.hand_over(now);
        }
        let mut packets = Vec::new();
        loop {
            let prompt = self.jitter != JitterPlan::None && self.is_prompt();
            if !self.is_ready(now) {
                break;
            }
            if answers && self.jitter != JitterPlan::None && !prompt {
                if self.held_until.is_none() {
                    self.held_until = Some(now + self.draw());
                }
                break;
            }
            if now < self.access_busy_until {
                if !prompt || self.held_until.is_none() {
                    self.held_until = Some(self.access_busy_until);
                }
                break;
            }
            let Some(packet) = self.next_packet(now) else { break };
            if let Some(bps) = self.access_bps {
                let ps = u128::from(packet.wire_bytes) * 8_000_000_000_000 / u128::from(bps);
                self.access_busy_until = now + Span::from_ps(ps as u64);
            }
            packets.push(packet);
        }
        packets
    }

    /// What the card sends of what may leave now, at the moments that the packets say.
    pub(super) fn hand_over(&mut self, now: Time) -> Vec<Packet> {
        let mut segments = Vec::new();
        while let (Some(card), Ends::Tcp { sender, .. }) = (&mut self.card, &self.ends) {
            if !card.has_room(now, sender) {
                break;
            }
            let Some(packet) = self.next_packet(now) else { break };
            segments.extend(self.card.iter_mut().flat_map(|card| card.cut(now, packet)));
        }
        segments
    }

    /// ns-2's limited transmit and fast retransmission wait for no processing delay.
    pub(super) fn is_prompt(&mut self) -> bool {
        match &mut self.ends {
            Ends::Tcp { sender, .. } => sender.is_prompt(),
            Ends::Datagrams(_) => false,
        }
    }

    pub(super) fn is_ready(&self, now: Time) -> bool {
        let may_send = match &self.ends {
            Ends::Tcp { sender, .. } => sender.may_send(),
            Ends::Datagrams(ends) => ends.source.deadline() <= now,
        };
        may_send && self.started
    }

    pub(super) fn draw(&mut self) -> Span {
        let noise = self.noise.as_mut().map_or(Span::ZERO, Noise::draw);
        noise + self.draw_jitter()
    }

    pub(super) fn draw_jitter(&mut self) -> Span {
        match self.jitter {
            JitterPlan::None => Span::ZERO,
            JitterPlan::Uniform { low_ps, high_ps } => {
                self.stream.uniform_span(Span::from_ps(low_ps), Span::from_ps(high_ps))
            }
            JitterPlan::Exponential { mean_ps } => self.stream.exponential_span(Span::from_ps(mean_ps)),
        }
    }

    pub(super) fn next_packet(&mut self, now: Time) -> Option<Packet> {
        let mut reduced = false;
        let (kind, seq, wire_bytes) = match &mut self.ends {
            Ends::Tcp { sender, plan, .. } => {
                let segment = sender.poll_transmit(now)?;
                reduced = sender.tells_of_reduction(segment.kind);
                let count = sender.segments_in_packet();
                if segment.kind == SegmentKind::Syn {
                    (PacketKind::Syn, 0, plan.config.ack_bytes)
                } else {
                    let classic = plan.config.ecn != EcnUse::Off && segment.kind == SegmentKind::New;
                    let capable = plan.congestion.uses_ecn() || classic;
                    let ecn = match plan.congestion {
                        CongestionConfig::Prague(_) => Ecn::Scalable,
                        _ if plan.config.ecn == EcnUse::L4s => Ecn::Scalable,
                        _ if capable => Ecn::Capable,
                        _ => Ecn::Incapable,
                    };
                    (
                        PacketKind::Data(ecn),
                        segment.seq,
                        count * (plan.config.mss_bytes + plan.config.header_bytes),
                    )
                }
            }
            Ends::Datagrams(ends) => {
                let number = ends.source.sent() as u32;
                let (since, bytes) = ends.source.emit(now);
                ends.log.push((since, None, u64::from(bytes)));
                (PacketKind::Datagram, number, bytes)
            }
        };
        let hop = if reduced { Packet::REDUCED } else { 0 };
        Some(Packet { hop, ..self.packet(now, kind, seq, wire_bytes) })
    }

    pub(super) fn packet(&mut self, now: Time, kind: PacketKind, seq: u32, wire_bytes: u32) -> Packet {
        let (flow, group) = (self.index, self.group);
        let (mut srtt_us, mut echo_age_us) = (0, 0);
        if let Ends::Tcp { sender, .. } = &mut self.ends
            && kind != PacketKind::Ack
        {
            let micros = |span: Span| (span.as_ps() / 1_000_000) as u32;
            let (srtt, echo_age) = sender.stated(now);
            (srtt_us, echo_age_us) = (micros(srtt), micros(echo_age));
        }
        let (enqueued, sent, hop) = (now, now, 0);
        Packet { enqueued, sent, flow, seq, wire_bytes, group, kind, hop, srtt_us, echo_age_us }
    }
}
