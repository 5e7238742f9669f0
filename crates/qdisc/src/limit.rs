//! How much may wait, and what does.

use bufferlab_parameters::{Field, Kind, OutOfBounds, within};
use serde::{Deserialize, Serialize};

use crate::Packet;

/// Most packets and bytes of a limit or a threshold.
const MOST_PACKETS: u64 = 1 << 40;
const MOST_BYTES: u64 = 1 << 50;

/// How much may wait in a queue (the packet in transmission is not counted).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Limit {
    /// That number of packets, whatever their sizes.
    Packets(u64),
    /// That number of bytes on the wire.
    Bytes(u64),
    /// As much as memory holds.
    Unlimited,
}

impl Limit {
    /// A backlog cut to what may wait.
    #[must_use]
    pub fn bound(self, backlog: Backlog) -> Backlog {
        match self {
            Limit::Packets(packets) => Backlog { packets: backlog.packets.min(packets), ..backlog },
            Limit::Bytes(bytes) => Backlog { bytes: backlog.bytes.min(bytes), ..backlog },
            Limit::Unlimited => backlog,
        }
    }

    /// Whether a backlog is larger.
    #[inline]
    pub fn is_below(self, backlog: Backlog) -> bool {
        match self {
            Limit::Packets(packets) => backlog.packets > packets,
            Limit::Bytes(bytes) => backlog.bytes > bytes,
            Limit::Unlimited => false,
        }
    }

    /// Whether a packet of `bytes` may join `backlog`.
    #[inline]
    pub fn admits(self, backlog: Backlog, bytes: u32) -> bool {
        match self {
            Limit::Packets(packets) => backlog.packets < packets,
            Limit::Bytes(limit) => backlog.bytes + u64::from(bytes) <= limit,
            Limit::Unlimited => true,
        }
    }

    /// Checks its bounds.
    ///
    /// # Errors
    /// If it is out of them; `field` is the plan's name of it.
    pub fn validate(self, field: &str) -> Result<(), OutOfBounds> {
        match self {
            Limit::Packets(packets) => within(packets, 1, MOST_PACKETS, format!("{field}.packets")),
            Limit::Bytes(bytes) => within(bytes, 1, MOST_BYTES, format!("{field}.bytes")),
            Limit::Unlimited => Ok(()),
        }
    }
}

/// A backlog above which something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Threshold {
    /// That number of packets.
    Packets(u64),
    /// That number of bytes on the wire.
    Bytes(u64),
}

impl Threshold {
    /// Packets or bytes.
    pub(crate) fn value(self) -> u64 {
        match self {
            Threshold::Packets(value) | Threshold::Bytes(value) => value,
        }
    }

    /// Another threshold in the same unit.
    pub(crate) fn with_value(self, value: u64) -> Threshold {
        match self {
            Threshold::Packets(_) => Threshold::Packets(value),
            Threshold::Bytes(_) => Threshold::Bytes(value),
        }
    }

    /// A backlog in this threshold's unit.
    #[inline]
    pub(crate) fn measure(self, backlog: Backlog) -> f64 {
        match self {
            Threshold::Packets(_) => backlog.packets as f64,
            Threshold::Bytes(_) => backlog.bytes as f64,
        }
    }
}

impl Field for Threshold {
    fn check(&self, field: &str, _kind: &Kind) -> Result<(), OutOfBounds> {
        match *self {
            Threshold::Packets(packets) => within(packets, 0, MOST_PACKETS, format!("{field}.packets")),
            Threshold::Bytes(bytes) => within(bytes, 0, MOST_BYTES, format!("{field}.bytes")),
        }
    }
}

impl From<Threshold> for Limit {
    fn from(threshold: Threshold) -> Limit {
        match threshold {
            Threshold::Packets(packets) => Limit::Packets(packets),
            Threshold::Bytes(bytes) => Limit::Bytes(bytes),
        }
    }
}

/// What waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// One packet more.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_bytes);
    }

    /// One packet less.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
    }
}
