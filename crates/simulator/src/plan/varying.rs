//! Links that vary: what a transmitter offers over time, what a packet's way takes beyond the propagation delay, and losses
//! that come in bursts.

use bufferlab_parameters::{FASTEST_BPS, LONGEST, OutOfBounds, require, within};
use serde::{Deserialize, Serialize};

use super::JitterPlan;

/// Shortest stay at a rate, ps: a run of a day has at most some 10¹¹ of them, and none can stop it.
const SHORTEST_PS: u64 = 1_000_000;
/// Most pieces of a list, and most opportunities.
const MOST: usize = 4_000_000;

/// What a transmitter offers over time, where that is no constant rate.
///
/// The link's `rate_bps` is then the mean of it: what queue disciplines know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum CapacityPlan {
    /// A rate from each moment on. While it is 0 no packet is taken from the queue, and one in transmission stays there.
    Rates {
        /// From the run's start on, in order of time.
        pieces: Vec<RatePiece>,
        /// They begin again then, ps; 0 if the last one lasts.
        repeat_ps: u64,
    },
    /// At each of these moments this many bytes of what waits may leave, as in Mahimahi's packet-delivery traces. What finds
    /// nothing to send is lost; a packet that does not fit goes on with the next.
    Opportunities {
        /// When, ms, in order.
        at_ms: Vec<u32>,
        /// At each of them.
        bytes: u32,
        /// They begin again then, ms.
        repeat_ms: u32,
    },
    /// A rate for an exponential time, then the one before or after it in the list, with equal chances; first the first.
    Markov {
        /// The rates, in order.
        states: Vec<MarkovState>,
    },
    /// At the full rate for a time, then nothing for another, which may be random; first nothing.
    Bursts {
        /// While it sends, bit/s.
        rate_bps: u64,
        /// How long, ps.
        on_ps: u64,
        /// The time between, ps: uniform in [low, high), or constant if these are equal.
        off_low_ps: u64,
        /// See there.
        off_high_ps: u64,
    },
    /// A token bucket before a faster line: a packet leaves once there are tokens for all its bytes. The bucket is full at
    /// the run's start.
    Bucket {
        /// Tokens come at this rate, bit/s.
        rate_bps: u64,
        /// Most of them, bytes.
        burst_bytes: u64,
        /// Rate of the line, bit/s.
        line_bps: u64,
    },
}

/// A rate from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatePiece {
    /// From when on, ps.
    pub at_ps: u64,
    /// Rate, bit/s; 0 for an outage.
    pub rate_bps: u64,
}

/// A state of a Markov-modulated rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkovState {
    /// Rate, bit/s; 0 for an outage.
    pub rate_bps: u64,
    /// Mean stay, ps.
    pub stay_ps: u64,
}

impl CapacityPlan {
    /// Checks its parameters.
    pub(crate) fn validate(&self) -> Result<(), OutOfBounds> {
        match self {
            CapacityPlan::Rates { pieces, repeat_ps } => check_pieces(pieces, *repeat_ps),
            CapacityPlan::Opportunities { at_ms, bytes, repeat_ms } => {
                check_opportunities(at_ms, *bytes, *repeat_ms)
            }
            CapacityPlan::Markov { states } => {
                within(states.len(), 2, 1_000, "states (count)")?;
                for (index, state) in states.iter().enumerate() {
                    within(state.rate_bps, 0, FASTEST_BPS, format!("states[{index}].rate_bps"))?;
                    within(state.stay_ps, SHORTEST_PS, LONGEST.as_ps(), format!("states[{index}].stay_ps"))?;
                }
                let some = states.iter().any(|state| state.rate_bps > 0);
                require(some, "states", "no rate", "a rate above 0 in at least one")
            }
            CapacityPlan::Bursts { rate_bps, on_ps, off_low_ps, off_high_ps } => {
                within(*rate_bps, 1, FASTEST_BPS, "rate_bps")?;
                within(*on_ps, SHORTEST_PS, LONGEST.as_ps(), "on_ps")?;
                within(*off_low_ps, 0, LONGEST.as_ps(), "off_low_ps")?;
                within(*off_high_ps, *off_low_ps, LONGEST.as_ps(), "off_high_ps")
            }
            CapacityPlan::Bucket { rate_bps, burst_bytes, line_bps } => {
                within(*line_bps, 1, FASTEST_BPS, "line_bps")?;
                within(*rate_bps, 1, *line_bps, "rate_bps")?;
                within(*burst_bytes, 1, 1 << 40, "burst_bytes")
            }
        }
    }
}

fn check_pieces(pieces: &[RatePiece], repeat_ps: u64) -> Result<(), OutOfBounds> {
    within(pieces.len(), 1, MOST, "pieces (count)")?;
    within(pieces[0].at_ps, 0, 0, "pieces[0].at_ps")?;
    for (index, piece) in pieces.iter().enumerate() {
        within(piece.rate_bps, 0, FASTEST_BPS, format!("pieces[{index}].rate_bps"))?;
        let least = if index == 0 { 0 } else { pieces[index - 1].at_ps + SHORTEST_PS };
        within(piece.at_ps, least, LONGEST.as_ps(), format!("pieces[{index}].at_ps"))?;
    }
    let last = pieces[pieces.len() - 1].at_ps;
    if repeat_ps != 0 {
        within(repeat_ps, last + SHORTEST_PS, 2 * LONGEST.as_ps(), "repeat_ps")?;
    }
    let some = pieces.iter().any(|piece| piece.rate_bps > 0);
    require(some, "pieces", "no rate", "a rate above 0 in at least one")
}

fn check_opportunities(at_ms: &[u32], bytes: u32, repeat_ms: u32) -> Result<(), OutOfBounds> {
    within(at_ms.len(), 1, MOST, "at_ms (count)")?;
    within(bytes, 1, 1_000_000, "bytes")?;
    for (index, pair) in at_ms.windows(2).enumerate() {
        within(pair[1], pair[0], u32::MAX, format!("at_ms[{}]", index + 1))?;
    }
    within(repeat_ms, at_ms[at_ms.len() - 1].max(1), u32::MAX, "repeat_ms")
}

/// What a packet's way over a link takes beyond its propagation delay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayPlan {
    /// From each moment on so much, in order of time; nothing before the first.
    #[serde(default)]
    pub delays: Vec<DelayPiece>,
    /// They begin again then, ps; 0 if the last one lasts.
    #[serde(default)]
    pub repeat_ps: u64,
    /// What comes to it at random, packet by packet.
    #[serde(default)]
    pub jitter: JitterPlan,
    /// Whether packets may come in another order than they have left; without, one that would come too early waits for those
    /// before it.
    #[serde(default)]
    pub reorders: bool,
}

/// A delay from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayPiece {
    /// From when on, ps.
    pub at_ps: u64,
    /// Delay beyond the propagation delay, ps.
    pub more_ps: u64,
}

impl DelayPlan {
    /// Checks its parameters.
    pub(crate) fn validate(&self) -> Result<(), OutOfBounds> {
        within(self.delays.len(), 0, MOST, "delays (count)")?;
        let mut least = 0;
        for (index, piece) in self.delays.iter().enumerate() {
            within(piece.at_ps, least, LONGEST.as_ps(), format!("delays[{index}].at_ps"))?;
            within(piece.more_ps, 0, JitterPlan::LONGEST.as_ps(), format!("delays[{index}].more_ps"))?;
            least = piece.at_ps + 1;
        }
        if self.repeat_ps != 0 {
            within(self.repeat_ps, least.max(SHORTEST_PS), 2 * LONGEST.as_ps(), "repeat_ps")?;
        }
        self.jitter.validate().map_err(|error| error.under("jitter"))
    }
}

/// Losses that come in bursts: the model of E. N. Gilbert, "Capacity of a burst-noise channel", Bell System Technical
/// Journal 39(5), 1960, and E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", ibid. 42(5), 1963,
/// with the four parameters of `tc-netem`'s `loss gemodel p r 1-h 1-k`, and its order of draws (Linux 6.1
/// `net/sched/sch_netem.c`, `loss_gilb_ell`): a packet first moves the state, then is lost with the chance of the state that
/// it found. In parts per billion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossBurstsPlan {
    /// Chance that a packet ends the good state: `p`.
    pub begin_ppb: u32,
    /// Chance that a packet ends the bad state: `r`.
    pub end_ppb: u32,
    /// Chance of a loss in the bad state: `1-h`.
    pub bad_ppb: u32,
    /// Chance of a loss in the good state: `1-k`.
    pub good_ppb: u32,
}

impl LossBurstsPlan {
    /// Checks its parameters.
    pub(crate) fn validate(&self) -> Result<(), OutOfBounds> {
        const ALL: u32 = 1_000_000_000;
        within(self.begin_ppb, 0, ALL, "begin_ppb")?;
        within(self.end_ppb, 0, ALL, "end_ppb")?;
        within(self.bad_ppb, 0, ALL, "bad_ppb")?;
        within(self.good_ppb, 0, ALL, "good_ppb")
    }
}
