//! What some receivers check: the end of a transfer or a burst, what is to be returned, datagrams.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_transport::{Ack, Arrived, Receiver};
use bufferlab_units::Time;

use super::delivering::notice;
use super::{Datagrams, Watch};
use crate::context::{Context, Fed};
use crate::ends::Ends;
use crate::recording::Tap;

impl Ends {
    /// A segment has arrived and was handled.
    pub(super) fn look<T: Tap>(&mut self, local: Time, context: &mut Context<T>) {
        let Ends { sender, receiver: host } = self;
        let delivered = host.receiver.as_ref().map_or(0, Receiver::delivered);
        if let Some(echo) = host.echo_mut()
            && delivered > echo.fed
        {
            echo.fed = delivered;
            context.fed.push(Fed { by: echo.by, at: local, segments: echo.fed });
        }
        match (host.watch, &host.receiver) {
            (Watch::Transfer, _) if host.delivered_bytes() >= host.transfer_bytes => {
                let echoed = host.echo_mut().is_some();
                (host.received, host.watch) = (local, if echoed { Watch::Echo } else { Watch::Nothing });
                host.readings.watch(echoed || host.apart, &context.schedule);
            }
            (Watch::Bursts, Some(receiver)) => sender.note_delivered(local, receiver.delivered()),
            _ => {}
        }
    }

    /// A packet of one or more segments has arrived, whole; the receiver may tune its window.
    #[inline(never)]
    pub(super) fn take_apart<T: Tap>(&mut self, local: Time, packet: &Packet, context: &mut Context<T>) {
        let segment_bytes = self.receiver.payload_bytes + self.receiver.header_bytes;
        let Some(receiver) = &mut self.receiver.receiver else { return };
        if packet.kind == PacketKind::Syn {
            let window = receiver.restart_tuning(local);
            let ack = receiver.on_syn(packet.sent);
            self.answer_with(local, ack, window, context);
            return;
        }
        let count = packet.wire_bytes / segment_bytes;
        let ack = receiver.on_packet(local, packet.seq, count, packet.sent, notice(packet));
        let window = receiver.tune(local, count, packet.srtt(), ack.is_some());
        if let Some(ack) = ack {
            self.answer_with(local, ack, window, context);
        }
    }

    /// A datagram has arrived. Separate, so that the path of segments stays short.
    #[inline(never)]
    pub(super) fn take_datagram<T: Tap>(&mut self, local: Time, packet: &Packet, context: &mut Context<T>) {
        let Ends { sender, receiver: host } = self;
        let payload_bytes = packet.wire_bytes - host.header_bytes.min(packet.wire_bytes);
        host.datagram_bytes += u64::from(payload_bytes);
        match host.datagrams {
            Datagrams::Counted => {}
            Datagrams::Recorded => sender.note_datagram(local, packet.seq),
            Datagrams::Returned => {
                host.ack_bytes = packet.wire_bytes;
                let ack = Ack { ack: packet.seq, echo: packet.sent, ..Ack::default() };
                self.answer_apart(local, ack, context);
            }
            Datagrams::Reported => {
                let (number, sent, at) = (packet.seq, packet.sent, local);
                sender.note_arrived(Arrived { number, sent, at, payload_bytes });
                if let Some(count) = host.reports_mut().and_then(|reports| reports.on_packet(local)) {
                    self.answer_apart(local, Ack { ack: count, echo: sent, ..Ack::default() }, context);
                }
            }
        }
    }
}
