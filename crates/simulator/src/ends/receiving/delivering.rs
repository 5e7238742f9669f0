//! What reaches a receiving host: packets, and its own timer.

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_transport::Notice;
use bufferlab_units::Time;

use crate::context::Context;
use crate::ends::Ends;
use crate::recording::Tap;

/// What a data segment says of congestion.
#[inline(always)]
pub(super) fn notice(packet: &Packet) -> Notice {
    Notice::new(packet.kind == PacketKind::Data(Ecn::Marked), packet.is_reduced())
}

impl Ends {
    /// A packet leaves the last link at `departs`. The receiver's answer is sent to the sender.
    #[inline(always)]
    pub(crate) fn deliver<T: Tap>(&mut self, departs: Time, packet: &Packet, context: &mut Context<T>) {
        let local = departs + self.receiver.offset;
        if self.receiver.timer() <= local || self.receiver.readings.due(local) {
            self.deliver_after_dues(local, packet, context);
        } else {
            self.take(local, packet, context);
        }
    }

    /// [`Self::deliver`] where it is rare.
    #[inline(never)]
    pub(crate) fn deliver_apart<T: Tap>(&mut self, departs: Time, packet: &Packet, context: &mut Context<T>) {
        self.deliver(departs, packet, context);
    }

    /// A packet may be handed over before its time: what was due earlier comes first.
    #[inline(never)]
    fn deliver_after_dues<T: Tap>(&mut self, local: Time, packet: &Packet, context: &mut Context<T>) {
        if self.receiver.interrupts().is_some() {
            self.deliver_to_card(local, packet, context);
            return;
        }
        if self.receiver.timer() <= local {
            self.fire_timer(self.receiver.timer(), context);
        }
        if self.reads_receiver(local, context) {
            if self.receiver.apart {
                self.take_apart(local, packet, context);
            } else {
                self.take(local, packet, context);
            }
            self.look(local, context);
        }
    }

    /// Takes the receiver's readings up to `local`, its own time; false once the run has ended.
    pub(super) fn reads_receiver<T>(&mut self, local: Time, context: &mut Context<T>) -> bool {
        let flow = self.sender.identity.flow;
        !self.receiver.readings.due(local) || self.receiver.take_readings(local, flow, context)
    }

    /// A packet has arrived.
    #[inline(always)]
    fn take<T: Tap>(&mut self, local: Time, packet: &Packet, context: &mut Context<T>) {
        let Some(receiver) = &mut self.receiver.receiver else {
            self.take_datagram(local, packet, context);
            return;
        };
        if packet.kind == PacketKind::Syn {
            let ack = receiver.on_syn(packet.sent);
            self.answer_apart(local, ack, context);
        } else {
            let notice = notice(packet);
            if let Some(ack) = receiver.on_data(local, packet.seq, packet.sent, notice) {
                self.answer(local, ack, context);
            }
        }
    }

    /// The delayed acknowledgment may be due at the last link's `now`, or the host is interrupted.
    pub(crate) fn on_receiver_timer<T: Tap>(&mut self, now: Time, context: &mut Context<T>) {
        let local = now + self.receiver.offset;
        if self.receiver.interrupts().is_some() {
            self.act_until(local, context);
        } else if self.receiver.timer() <= local {
            self.fire_timer(local, context);
        }
    }

    #[inline(never)]
    pub(super) fn fire_timer<T: Tap>(&mut self, local: Time, context: &mut Context<T>) {
        if !self.reads_receiver(local, context) {
            return;
        }
        if let Some(receiver) = &mut self.receiver.receiver
            && let Some(ack) = receiver.on_timer(local)
        {
            let window = receiver.tuned_window();
            self.answer_with(local, ack, window, context);
        }
    }
}
