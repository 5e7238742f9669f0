//! Parameters of a call.

use bufferlab_parameters::{LARGEST_PACKET, LONGEST, OutOfBounds, require, within};
use serde::{Deserialize, Serialize};

use crate::MOST_HEADERS;

/// Parameters of both sides of a video call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallConfig {
    /// Least bitrate of the video, bit/s.
    pub min_bps: u64,
    /// The bitrate at first, bit/s.
    pub start_bps: u64,
    /// Highest bitrate, bit/s.
    pub max_bps: u64,
    /// Time between two frames, ps.
    pub frame_ps: u64,
    /// Scale of the frame sizes' Laplacian deviation, as a share of their mean.
    pub deviation: f64,
    /// Largest packet on the wire, headers included.
    pub packet_bytes: u32,
    /// Headers of a packet.
    pub header_bytes: u32,
    /// Least time between two reports, ps: the first packet after it makes one.
    pub report_ps: u64,
    /// Size of a report on the wire.
    pub report_bytes: u32,
}

impl CallConfig {
    /// Fastest video, bit/s.
    pub const MOST_BPS: u64 = 1_000_000_000;
    /// Least and longest time between two frames, ps.
    pub const FRAMES_PS: (u64, u64) = (1_000_000_000, 1_000_000_000_000);
    /// Least payload of a full packet, bytes.
    pub const LEAST_PAYLOAD_BYTES: u32 = 100;
    /// Largest deviation.
    pub const MOST_DEVIATION: f64 = 1.0;

    /// Most payload of a packet, bytes.
    pub fn payload_bytes(&self) -> u32 {
        self.packet_bytes.saturating_sub(self.header_bytes).max(1)
    }

    /// Packets a second at the highest bitrate, at most: those that are full, and one that is not of each frame.
    pub fn most_packets(&self) -> u64 {
        self.max_bps / (8 * u64::from(self.payload_bytes())) + 1_000_000_000_000 / self.frame_ps + 1
    }

    /// Checks them.
    ///
    /// # Errors
    /// The first one that is out of bounds.
    pub fn validate(&self) -> Result<(), OutOfBounds> {
        within(self.max_bps, 1_000, Self::MOST_BPS, "max_bps")?;
        within(self.min_bps, 1_000, self.max_bps, "min_bps")?;
        within(self.start_bps, self.min_bps, self.max_bps, "start_bps")?;
        within(self.frame_ps, Self::FRAMES_PS.0, Self::FRAMES_PS.1, "frame_ps")?;
        let accepted = format!("0 to {}", Self::MOST_DEVIATION);
        require(
            (0.0..=Self::MOST_DEVIATION).contains(&self.deviation),
            "deviation",
            self.deviation,
            accepted,
        )?;
        within(u64::from(self.header_bytes), 0, MOST_HEADERS, "header_bytes")?;
        let least = u64::from(self.header_bytes + Self::LEAST_PAYLOAD_BYTES);
        within(u64::from(self.packet_bytes), least, LARGEST_PACKET, "packet_bytes")?;
        within(self.report_ps, 1, LONGEST.as_ps(), "report_ps")?;
        within(u64::from(self.report_bytes), 1, LARGEST_PACKET, "report_bytes")
    }
}
