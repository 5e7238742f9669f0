//! What a packet tells beyond its own connection.

/// A round trip of a moment, which says what a queue held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Whose data waited: that of the initiator (0) or of the responder (1).
    pub(crate) of: usize,
    /// Whether the queue is ahead of the vantage point, between it and the receiver; otherwise behind, towards the sender.
    pub(crate) ahead: bool,
    /// Whether it is of a moment at which the flow misses data: those are not spread evenly over time.
    pub(crate) in_loss: bool,
    pub(crate) rtt_ns: u64,
    /// Beyond the smallest of this leg so far.
    pub(crate) excess_ns: u64,
    /// For how many packets it stands: those of its flow since the sample before.
    pub(crate) packets: u64,
}

/// Linux holds acknowledgments with SACK blocks back for up to 1 ms, and its timer may take 0.1 ms more (`net.ipv4.tcp_comp_sack_delay_ns` and
/// `tcp_comp_sack_slack_ns`, since 4.18); the rest is for scheduling.
const HELD_NS: u64 = 1_500_000;

impl Sample {
    /// What of the excess no host can have made that held an acknowledgment back.
    pub(crate) fn sure_ns(&self) -> u64 {
        let held_ns = if self.ahead && self.in_loss { HELD_NS } else { 0 };
        self.excess_ns.saturating_sub(held_ns)
    }
}

/// Data that has to be sent again for the first time since an earlier loss was repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Whose data.
    pub(crate) of: usize,
    /// Whether it was lost behind the vantage point's back, on its way to the receiver.
    pub(crate) ahead: bool,
    /// The longest of about the last two round trips before it, on the side where it was lost, and by how much that exceeds the smallest so
    /// far.
    pub(crate) trip_ns: Option<u64>,
    pub(crate) excess_ns: Option<u64>,
}

/// What became known by one packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) samples: Vec<Sample>,
    pub(crate) loss: Option<Loss>,
    /// Payload that its acknowledgment says arrived, of the other direction.
    pub(crate) delivered_bytes: u64,
    /// Payload, and what the packet takes on the wire.
    pub(crate) payload_bytes: u32,
    pub(crate) wire_bytes: u32,
    /// Whether it is one packet on the wire, too.
    pub(crate) is_one: bool,
    /// Whether long flows send over the link of late, in the direction of the initiator's packets and of the responder's.
    pub(crate) loaded: [bool; 2],
}

impl Seen {
    /// Nothing yet, but the packet's sizes.
    pub(crate) fn begin(&mut self, payload_bytes: u32, wire_bytes: u32, is_one: bool) {
        self.samples.clear();
        let samples = std::mem::take(&mut self.samples);
        let loaded = self.loaded;
        *self = Seen { samples, payload_bytes, wire_bytes, is_one, loaded, ..Seen::default() };
    }
}
