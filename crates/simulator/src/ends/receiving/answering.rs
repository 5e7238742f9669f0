//! What a receiving host sends: acknowledgments that reach the sender after a delay, or cross queued links.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;

use super::ReceivingHost;
use crate::context::Context;
use crate::ends::Ends;
use crate::recording::{Tap, Way};

impl Ends {
    /// An acknowledgment leaves the receiver at `local`, its own time.
    #[inline(always)]
    pub(super) fn answer<T: Tap>(&mut self, local: Time, ack: Ack, context: &mut Context<T>) {
        let Ends { sender, receiver } = self;
        let flow = sender.identity.flow;
        if receiver.returns.is_some() {
            let number = receiver.send_back(local, flow, sender.identity.group, ack);
            context.tap.tell(|recorder| {
                recorder.answers(local, flow, Way::Queues(number), &ack, &receiver.blocks(&ack));
            });
            return;
        }
        let home = local + receiver.return_delay;
        context
            .tap
            .tell(|recorder| recorder.answers(local, flow, Way::Home(home), &ack, &receiver.blocks(&ack)));
        sender.expect(home, ack, context);
        if ack.has_sack {
            self.answer_blocks(&ack, context);
        }
    }

    /// Its SACK blocks go with the acknowledgment just sent.
    #[inline(never)]
    fn answer_blocks<T: Tap>(&mut self, ack: &Ack, context: &mut Context<T>) {
        self.sender.expect_blocks(self.receiver.blocks(ack), context);
    }

    /// [`Self::answer`] where it is rare.
    #[inline(never)]
    pub(super) fn answer_apart<T: Tap>(&mut self, local: Time, ack: Ack, context: &mut Context<T>) {
        self.answer(local, ack, context);
    }

    /// The same for an acknowledgment that advertises a new window, segments.
    pub(super) fn answer_with<T: Tap>(
        &mut self,
        local: Time,
        ack: Ack,
        window: Option<u32>,
        context: &mut Context<T>,
    ) {
        if let Some(window) = window {
            self.sender.note_window(ack.ack, window);
            let flow = self.sender.identity.flow;
            context.tap.tell(|recorder| recorder.offers(local, flow, window));
        }
        self.answer_apart(local, ack, context);
    }

    /// Acknowledgment `number` has left its last reverse link at `departs` and goes on to the sender.
    pub(crate) fn bring_home<T: Tap>(&mut self, departs: Time, number: u32, context: &mut Context<T>) {
        let at = departs + self.receiver.home_delay;
        let returns = self.receiver.returns.as_deref_mut();
        if let Some((ack, blocks)) = returns.and_then(|returns| returns.take(number)) {
            self.sender.expect(at, ack, context);
            if ack.has_sack {
                self.sender.expect_blocks(blocks, context);
            }
        }
    }
}

impl ReceivingHost {
    /// The SACK blocks of the acknowledgment just made.
    fn blocks(&self, ack: &Ack) -> SackBlocks {
        match &self.receiver {
            Some(receiver) if ack.has_sack => receiver.sack_blocks(),
            _ => SackBlocks::NONE,
        }
    }

    /// Sends an acknowledgment to the first reverse link; returns its number.
    #[inline(never)]
    fn send_back(&mut self, local: Time, flow: u32, group: u16, ack: Ack) -> u32 {
        let at = local + self.return_delay;
        let blocks = self.blocks(&ack);
        let Some(returns) = self.returns.as_deref_mut() else {
            return 0;
        };
        let seq = returns.push(ack, blocks);
        let (wire_bytes, kind) = (self.ack_bytes, PacketKind::Ack);
        returns.outgoing.push(Packet {
            enqueued: at,
            sent: ack.echo,
            flow,
            seq,
            wire_bytes,
            group,
            kind,
            ..Packet::default()
        });
        seq
    }

    /// The acknowledgment that reaches the first reverse link at `now`, if any.
    pub(crate) fn take_outgoing(&mut self, now: Time) -> Option<Packet> {
        let returns = self.returns.as_deref_mut()?;
        returns.outgoing.front().filter(|packet| packet.enqueued <= now)?;
        returns.outgoing.pop()
    }
}
