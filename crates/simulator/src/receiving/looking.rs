//! What some receivers look at: the end of a transfer or a burst, what is to be returned, datagrams.

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_transport::Ack;
use bufferlab_units::Time;

use super::{Datagrams, ReceivingHost, Watch};
use crate::readings::Schedule;
use crate::recording::Tap;
use crate::sending::SendingHost;
use crate::under_way::UnderWay;

impl ReceivingHost {
    /// A segment has come, and been taken.
    pub(super) fn look<T: Tap>(
        &mut self,
        local: Time,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
        schedule: &Schedule,
    ) {
        if let (Some(echo), Some(receiver)) = (self.echo.as_deref_mut(), &self.receiver)
            && receiver.delivered() > echo.fed
        {
            echo.fed = receiver.delivered();
            under_way.fed.push((echo.by, local, echo.fed));
        }
        match (self.watch, &self.receiver) {
            (Watch::Transfer, _) if self.delivered_bytes() >= self.transfer_bytes => {
                let echoed = self.echo.is_some();
                (self.received, self.watch) = (local, if echoed { Watch::Echo } else { Watch::Nothing });
                self.readings.watch(echoed || self.apart, schedule);
            }
            (Watch::Bursts, Some(receiver)) => sender.note_delivered(local, receiver.delivered()),
            _ => {}
        }
    }

    /// A packet of one or more segments is here, whole; the receiver may tune its window.
    #[inline(never)]
    pub(super) fn take_apart<T: Tap>(
        &mut self,
        local: Time,
        packet: &Packet,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
    ) {
        let segment_bytes = self.payload_bytes + self.header_bytes;
        let Some(receiver) = &mut self.receiver else { return };
        if packet.kind == PacketKind::Syn {
            let window = receiver.restart_tuning(local);
            let ack = receiver.on_syn(packet.sent);
            self.answer_with(local, ack, window, sender, under_way);
            return;
        }
        let (count, marked) =
            (packet.wire_bytes / segment_bytes, packet.kind == PacketKind::Data(Ecn::Marked));
        let ack = receiver.on_packet(local, packet.seq, count, packet.sent, marked);
        let window = receiver.tune(local, count, packet.srtt(), ack.is_some());
        if let Some(ack) = ack {
            self.answer_with(local, ack, window, sender, under_way);
        }
    }

    /// A datagram is here. Apart, so that the way of segments stays short.
    #[inline(never)]
    pub(super) fn take_datagram<T: Tap>(
        &mut self,
        local: Time,
        packet: &Packet,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
    ) {
        self.datagram_bytes += u64::from(packet.wire_bytes - self.header_bytes.min(packet.wire_bytes));
        match self.datagrams {
            Datagrams::Counted => {}
            Datagrams::Recorded => sender.note_datagram(local, packet.seq),
            Datagrams::Returned => {
                self.ack_bytes = packet.wire_bytes;
                let ack = Ack { ack: packet.seq, echo: packet.sent, ..Ack::default() };
                self.answer_apart(local, ack, sender, under_way);
            }
        }
    }
}
