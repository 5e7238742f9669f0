//! What a discipline with classes says of them, for those who watch.

use bufferlab_units::Span;

use crate::{Backlog, Limit};

/// What a discipline thinks of its traffic at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimates {
    /// Of all of it.
    pub whole: ClassEstimate,
    /// Of each class, by its number.
    pub classes: Vec<ClassEstimate>,
}

/// What a discipline holds of a class and thinks of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassEstimate {
    /// What waits.
    pub backlog: Backlog,
    /// How much may.
    pub limit: Limit,
    /// Round-trip time (without queueing) from which on packets belong to the next class; nothing if there is no such.
    pub threshold: Option<Span>,
    /// Mean round-trip time of its packets without queueing; nothing before the first estimate.
    pub rtt: Option<Span>,
    /// Smoothed wait of its packets.
    pub delay: Span,
    /// Its active flows, about; nothing if they are not counted.
    pub flows: Option<f64>,
    /// Its part of the service, in that of the class with the least.
    pub weight: f64,
    /// What a router must keep for it beside the packets that wait, bytes.
    pub state_bytes: u64,
}

/// A queue within a discipline that keeps flows apart, at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubQueue {
    /// What waits in it.
    pub backlog: Backlog,
    /// The group of the flow whose packet is its next.
    pub group: u16,
    /// Its flow is new: it is served before the old ones.
    pub is_new: bool,
}
