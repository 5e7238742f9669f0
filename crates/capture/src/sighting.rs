//! A packet at a point of its path, as both kinds of files need it.

use bufferlab_qdisc::{DropReason, Ecn};
use bufferlab_simulator::Loss;
use bufferlab_units::Time;

use crate::flows::{Endpoints, Flow, Group};
use crate::headers::Content;

/// A point of a packet's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It leaves its host.
    Leaves,
    /// It arrives at a link's queue; whether that is the first link of its path.
    Joins(u32, bool),
    /// A link starts to transmit it.
    Starts(u32),
    /// It reaches a link's far end; whether that is the last link of its path.
    Reaches(u32, bool),
    /// A link loses it.
    Lost(u32, Loss),
    /// It reaches the other host.
    Arrives,
}

/// A remark about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remark {
    /// The first of a connection without a handshake.
    NoHandshake,
    /// A client's first SYN.
    DelayOnly,
}

/// What is known of a packet from its start.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Different for every packet of a run.
    pub(crate) id: u64,
    pub(crate) flow: u32,
    pub(crate) group: u32,
    pub(crate) from_sender: bool,
    pub(crate) ends: Endpoints,
    pub(crate) identification: u16,
    pub(crate) content: Content,
    /// Number of the segment or datagram; of an acknowledgment that of the last one in order. −1 for a SYN.
    pub(crate) number: i64,
    pub(crate) wire_bytes: u32,
    pub(crate) remark: Option<Remark>,
}

/// A packet at a point of its path.
pub(crate) struct Sighting<'a> {
    pub(crate) at: Time,
    pub(crate) step: Step,
    pub(crate) ecn: Ecn,
    pub(crate) packet: &'a Known,
}

/// The network's parts, and the current state of flows.
pub(crate) struct Network {
    pub(crate) links: Vec<LinkFacts>,
    pub(crate) groups: Vec<Group>,
    pub(crate) flows: Vec<Flow>,
    /// Packets sent so far by all.
    pub(crate) packets: u64,
}

/// A link, as files describe it.
pub(crate) struct LinkFacts {
    pub(crate) name: String,
    pub(crate) rate_bps: u64,
}

/// Why a packet was lost, in words.
pub(crate) fn reason(loss: Loss) -> &'static str {
    match loss {
        Loss::Random => "random loss before the queue",
        Loss::Queue(DropReason::Overlimit) => "buffer full",
        Loss::Queue(DropReason::Standing) => "standing queue",
        Loss::Queue(DropReason::Early) => "early drop",
    }
}
