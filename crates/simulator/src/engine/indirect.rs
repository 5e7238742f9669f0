//! Senders whose packets or acknowledgments cross several links, that keep a pace, or that have a card.

use bufferlab_units::Time;

use super::Engine;
use crate::recording::{Sight, Tap};
use crate::sending::Turn;
use crate::tournament::Key;

impl<K: Key, T: Tap> Engine<K, T> {
    /// The same for a sender whose packets or acknowledgments cross several links, or that keeps a pace.
    #[inline(never)]
    pub(super) fn on_indirect(&mut self, now: Time, local: Time, rank: usize) {
        let sender = &mut self.world.ends[rank].sender;
        let turn = sender.handle_in_turn(now, local, &mut self.context);
        sender.note_fetch(local, &mut self.context);
        if sender.card().is_some() {
            self.transmit_by_card(now, local, rank, turn);
            return;
        }
        let (transmits, one_link) = (sender.may_transmit(), sender.identity.single_link);
        if transmits && !(one_link && self.transmit_directly(now, local, rank, turn)) {
            self.transmit(now, local, rank, turn);
        } else {
            self.schedule(rank);
        }
    }

    /// A sender sends what it may, whatever way its packets go.
    #[inline(never)]
    pub(super) fn transmit(&mut self, now: Time, local: Time, rank: usize, turn: Turn) {
        let index = self.world.ends[rank].sender.identity.first_link as usize;
        while let Some(packet) = self.world.ends[rank].sender.transmit(now, local, turn) {
            self.context.tap.tell(|recorder| recorder.sees(local, Sight::Leaves, &packet));
            self.offer(now, index, packet);
        }
        self.schedule(rank);
    }

    /// The same for a sender with a card.
    pub(super) fn transmit_by_card(&mut self, now: Time, local: Time, rank: usize, turn: Turn) {
        let index = self.world.ends[rank].sender.identity.first_link as usize;
        while let Some(packet) = self.world.ends[rank].sender.transmit_by_card(now, local, turn) {
            self.context.tap.tell(|recorder| recorder.sees(local, Sight::Leaves, &packet));
            self.offer(now, index, packet);
        }
        self.schedule(rank);
    }
}
