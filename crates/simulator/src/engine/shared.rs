//! Links whose queues share a memory.

use bufferlab_qdisc::Packet;
use bufferlab_units::Time;

use super::Engine;
use crate::link::Fate;
use crate::recording::Tap;
use crate::tournament::Key;

impl<K: Key, T: Tap> Engine<K, T> {
    /// A packet arrives at a link of a memory, whose queues are all served by events, so that what waits is known.
    #[inline(never)]
    pub(super) fn arrive_in_memory(&mut self, now: Time, index: usize, number: u32, packet: &Packet) -> Fate {
        let world = &mut self.world;
        let Some(memory) = world.memories.get(&number) else { return Fate::Stays };
        let waiting = |link: usize| world.links[link].waiting_bytes();
        let all = memory.links.iter().map(|&link| waiting(link as usize));
        let room = memory.has_room(waiting(index), all, packet.wire_bytes);
        world.links[index].arrive_if(now, packet, room)
    }
}
