//! What a receiving host sends: acknowledgments that come home after a delay, or cross queued links.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::Time;

use super::ReceivingHost;
use crate::recording::{Tap, Way};
use crate::sending::SendingHost;
use crate::under_way::UnderWay;

impl ReceivingHost {
    /// An acknowledgment leaves the host at `local`, its own time.
    #[inline(always)]
    pub(super) fn answer<T: Tap>(
        &mut self,
        local: Time,
        ack: Ack,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
    ) {
        let flow = sender.identity.flow;
        if self.returns.is_some() {
            let number = self.send_back(local, flow, sender.identity.group, ack);
            under_way.tap.tell(|recorder| {
                recorder.answers(local, flow, Way::Queues(number), &ack, &self.blocks(&ack));
            });
            return;
        }
        let home = local + self.return_delay;
        under_way
            .tap
            .tell(|recorder| recorder.answers(local, flow, Way::Home(home), &ack, &self.blocks(&ack)));
        sender.expect(home, ack, under_way);
        if ack.has_sack {
            self.answer_blocks(&ack, sender, under_way);
        }
    }

    /// Its SACK blocks go with the acknowledgment just sent.
    #[inline(never)]
    fn answer_blocks<T: Tap>(&self, ack: &Ack, sender: &mut SendingHost, under_way: &mut UnderWay<T>) {
        sender.expect_blocks(self.blocks(ack), under_way);
    }

    /// Acknowledgment `number` has left its last reverse link at `departs` and goes on to the sender.
    pub(crate) fn bring_home<T: Tap>(
        &mut self,
        departs: Time,
        number: u32,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
    ) {
        let at = departs + self.home_delay;
        if let Some((ack, blocks)) = self.returns.as_deref_mut().and_then(|returns| returns.take(number)) {
            sender.expect(at, ack, under_way);
            if ack.has_sack {
                sender.expect_blocks(blocks, under_way);
            }
        }
    }

    /// The SACK blocks of the acknowledgment just made.
    fn blocks(&self, ack: &Ack) -> SackBlocks {
        match &self.receiver {
            Some(receiver) if ack.has_sack => receiver.sack_blocks(),
            _ => SackBlocks::NONE,
        }
    }

    /// Puts an acknowledgment on its way to the first reverse link; its number.
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

    /// [`Self::answer`] where it is rare.
    #[inline(never)]
    pub(super) fn answer_apart<T: Tap>(
        &mut self,
        local: Time,
        ack: Ack,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
    ) {
        self.answer(local, ack, sender, under_way);
    }

    /// The same with an acknowledgment that tells of another window than the last one, segments.
    pub(super) fn answer_with<T: Tap>(
        &mut self,
        local: Time,
        ack: Ack,
        window: Option<u32>,
        sender: &mut SendingHost,
        under_way: &mut UnderWay<T>,
    ) {
        if let Some(window) = window {
            sender.note_window(ack.ack, window);
            let flow = sender.identity.flow;
            under_way.tap.tell(|recorder| recorder.offers(local, flow, window));
        }
        self.answer_apart(local, ack, sender, under_way);
    }
}
