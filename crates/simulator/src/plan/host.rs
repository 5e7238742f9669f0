//! What hosts do with packets beside TCP.

use bufferlab_parameters::{OutOfBounds, within};
use serde::{Deserialize, Serialize};

use super::{JitterPlan, LawPlan};

/// A sending host and a receiving one. What is `null` or 0 takes no part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostPlan {
    /// Both hosts' network cards; `null` if packets leave and come as TCP forms them.
    pub card: Option<CardPlan>,
    /// Acknowledgments of a connection's start that are not delayed (Linux 6.1 `include/net/tcp.h`, `TCP_MAX_QUICKACKS`).
    pub quick_acks: u16,
    /// What a host takes at random, ps, before it handles what has come: drawn when something comes that finds it idle. What
    /// comes meanwhile is handled with it.
    pub noise: Option<LawPlan>,
}

/// A network card with the queue before it. It cuts packets of several segments into these (TSO), which leave one after
/// the other at its rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardPlan {
    /// Rate of the line, bit/s.
    pub rate_bps: u64,
    /// A sender without a pace hands over no more while more than this many bytes wait for the card; `null` for no bound
    /// (Linux 6.1 `net/ipv4/tcp_output.c`, `tcp_small_queue_check`: `tcp_limit_output_bytes`).
    pub most_bytes: Option<u64>,
    /// How long after the first packet that comes the host is interrupted, ps. It then takes all that have come:
    /// consecutive segments as one packet (GRO), acknowledgments one by one.
    pub interrupt_ps: u64,
}

impl HostPlan {
    /// Checks its parameters; `max_bps` is the highest rate.
    pub(crate) fn validate(&self, max_bps: u64) -> Result<(), OutOfBounds> {
        if let Some(card) = &self.card {
            within(card.rate_bps, 1, max_bps, "card.rate_bps")?;
            within(card.interrupt_ps, 0, JitterPlan::LONGEST.as_ps(), "card.interrupt_ps")?;
        }
        let most = JitterPlan::LONGEST.as_ps();
        self.noise.map_or(Ok(()), |law| law.validate(most).map_err(|error| error.under("noise")))
    }
}
