//! The network that the engine runs: links, and the flows' hosts with their places and routes.

use std::collections::BTreeMap;

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_units::{Span, Time};

use crate::ends::Ends;
use crate::link::Link;
use crate::memory::SharedMemory;
use crate::readings::Schedule;
use crate::samples::Samples;

/// A group's links in both directions.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) forward: Vec<u32>,
    pub(crate) reverse: Vec<u32>,
}

impl Route {
    /// The links that a packet crosses.
    #[inline]
    pub(crate) fn path(&self, packet: &Packet) -> &[u32] {
        if packet.kind == PacketKind::Ack { &self.reverse } else { &self.forward }
    }
}

/// A network.
pub(crate) struct World {
    pub(crate) links: Vec<Link>,
    /// Each flow's ends, in the senders' order at one moment: the longer delay to the first link comes first.
    pub(crate) ends: Vec<Ends>,
    /// Place of each flow in that order.
    pub(crate) ranks: Vec<u32>,
    /// Group of each flow.
    pub(crate) groups: Vec<u32>,
    /// Route of each group.
    pub(crate) routes: Vec<Route>,
    /// Memories that queues share, by number.
    pub(crate) memories: BTreeMap<u32, SharedMemory>,
    pub(crate) schedule: Schedule,
    /// Whether any receiver may have events of its own.
    pub(crate) receiver_events: bool,
}

impl World {
    /// From here on the run has ended for every sender, by its own clock too.
    pub(crate) fn horizon(&self) -> Time {
        let offset = self.ends.iter().map(|ends| ends.sender.offset()).max();
        self.schedule.end + offset.unwrap_or(Span::ZERO)
    }

    /// No samples, and memory for those that the run gives.
    pub(crate) fn room_for_samples(&self) -> Samples {
        let links = self.links.iter().filter(|link| link.is_sampled()).count();
        let flows = self.ends.iter().filter(|ends| ends.sender.is_sampled()).count();
        Samples::with_room(self.schedule.samples(), links, flows)
    }
}
