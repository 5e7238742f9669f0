//! Links whose delay varies: what has left is held until its way is over.

use bufferlab_qdisc::Packet;
use bufferlab_units::Time;

use super::Engine;
use crate::recording::Tap;
use crate::tournament::Key;

impl<K: Key, T: Tap> Engine<K, T> {
    /// A packet leaves a link whose delay varies. On its last link only what comes to the propagation delay is waited for,
    /// since hosts are handled in shifted time.
    #[inline(never)]
    pub(super) fn hold(&mut self, departs: Time, index: usize, mut packet: Packet) {
        self.note_departure(departs, index, &packet);
        packet.hop += 1;
        let is_last = self.is_last(&packet);
        let link = &mut self.world.links[index];
        let delay = link.delay;
        if let Some(line) = &mut link.delay_line {
            let passes = line.passes(departs);
            let until = if is_last { passes } else { passes.saturating_add(delay) };
            let next = line.hold(until, packet);
            self.agenda.set_line(index, next);
        }
    }

    /// The way of a packet is over.
    #[inline(never)]
    pub(super) fn release(&mut self, now: Time, index: usize) {
        let line = self.world.links[index].delay_line.as_mut();
        let Some((packet, next)) = line.and_then(|line| line.release()) else { return };
        self.agenda.set_line(index, next);
        if self.is_last(&packet) {
            self.hand_over(now, packet);
            return;
        }
        let path = self.world.routes[usize::from(packet.group)].path(&packet);
        let link = path[packet.crossed()];
        self.offer(now, link as usize, packet);
    }

    /// Whether a packet has crossed the last link of its path.
    fn is_last(&self, packet: &Packet) -> bool {
        let path = self.world.routes[usize::from(packet.group)].path(packet);
        packet.crossed() >= path.len()
    }
}
