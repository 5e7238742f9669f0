//! Reports of links to a recorder. Without one, the compiler removes all of this.

use bufferlab_qdisc::{DropReason, Packet};
use bufferlab_units::Time;

use super::Engine;
use crate::recording::{Loss, Sight, Tap};
use crate::tournament::Key;

impl<K: Key, T: Tap> Engine<K, T> {
    /// A packet has arrived at a link, which had counted `before` until then.
    #[inline(always)]
    pub(super) fn note_arrival(&mut self, now: Time, index: usize, packet: &Packet, before: (u64, u64)) {
        if !T::ON {
            return;
        }
        self.context.tap.tell(|recorder| recorder.sees(now, Sight::Joins(index as u32), packet));
        let (lost, dropped) = self.world.links[index].losses(packet.group);
        let reason = if lost > before.0 {
            Loss::Random
        } else if dropped > before.1 && !self.world.links[index].keeps_drops() {
            Loss::Queue(DropReason::Overlimit)
        } else {
            return self.note_drops(now, index);
        };
        self.context.tap.tell(|recorder| recorder.sees(now, Sight::Lost(index as u32, reason), packet));
    }

    /// A packet leaves a link at `departs`.
    #[inline(always)]
    pub(super) fn note_departure(&mut self, departs: Time, index: usize, packet: &Packet) {
        self.context.tap.tell(|recorder| recorder.sees(departs, Sight::Departs(index as u32), packet));
    }

    /// A link's discipline may have dropped some.
    #[inline(always)]
    pub(super) fn note_drops(&mut self, now: Time, index: usize) {
        if !T::ON {
            return;
        }
        for dropped in self.world.links[index].take_drops() {
            let lost = Sight::Lost(index as u32, Loss::Queue(dropped.reason));
            self.context.tap.tell(|recorder| recorder.sees(now, lost, &dropped.packet));
        }
    }
}
