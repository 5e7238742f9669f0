//! Adaptive video, segment by segment.

use bufferlab_parameters::{FASTEST_BPS, LONGEST, OutOfBounds, require, within, words};
use bufferlab_transport::AfterIdle;
use serde::{Deserialize, Serialize};

/// A client that fetches a video's segments over one connection, each at a bitrate of its choice, and plays them. The
/// sender is the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VideoPlan {
    /// Playing time of a segment, ps.
    pub segment_ps: u64,
    /// The bitrates that there are, bit/s, from the lowest.
    pub ladder_bps: Vec<u64>,
    /// Most that the client buffers, ps of playing time: a segment that would not fit is asked for later.
    pub buffer_ps: u64,
    /// Playing begins with this much in the buffer, ps of playing time.
    pub startup_ps: u64,
    /// After a stall it goes on with this much, ps of playing time.
    pub resume_ps: u64,
    /// Who chooses the bitrates.
    pub rule: RateRule,
    /// What part of the measured throughput counts.
    pub safety: f64,
    /// The window after an idle time.
    pub after_idle: AfterIdle,
}

words! {
    /// How a video client chooses bitrates.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RateRule {
        /// The highest below the safe part of the last segments' throughput.
        Throughput = "throughput",
        /// By the buffer's level, with a placeholder for what delays take from it: BOLA-E and BOLA-O, as in dash.js.
        Bola = "bola",
    }
}

impl VideoPlan {
    /// Most bitrates.
    pub const MOST_RATES: usize = 100;
    /// Shortest segment, ps: a run of a day has at most some 10⁷ of them.
    pub const SHORTEST_PS: u64 = 10_000_000_000;

    /// Checks it; a flow can send at most `most_bytes`.
    pub(crate) fn validate(&self, most_bytes: u64) -> Result<(), OutOfBounds> {
        within(self.segment_ps, Self::SHORTEST_PS, LONGEST.as_ps(), "segment_ps")?;
        within(self.ladder_bps.len(), 1, Self::MOST_RATES, "ladder_bps (count)")?;
        let mut least = 1;
        for (index, &bps) in self.ladder_bps.iter().enumerate() {
            within(bps, least, FASTEST_BPS, format!("ladder_bps[{index}]"))?;
            within(
                self.segment_bytes(bps),
                1,
                most_bytes,
                format!("ladder_bps[{index}] (bytes of a segment)"),
            )?;
            least = bps + 1;
        }
        within(self.buffer_ps, self.segment_ps, LONGEST.as_ps(), "buffer_ps")?;
        within(self.startup_ps, 1, self.buffer_ps, "startup_ps")?;
        within(self.resume_ps, 1, self.buffer_ps, "resume_ps")?;
        require(self.safety > 0.0 && self.safety <= 1.0, "safety", self.safety, "above 0, to 1")
    }

    /// Size of a segment at a bitrate: all of its segments are of one size.
    pub(crate) fn segment_bytes(&self, bps: u64) -> u64 {
        let bits_ps = u128::from(bps) * u128::from(self.segment_ps);
        u64::try_from(bits_ps.div_ceil(8_000_000_000_000)).unwrap_or(u64::MAX)
    }
}
