//! Memory that the queues of several links share.

use bufferlab_parameters::{OutOfBounds, within};
use bufferlab_qdisc::DisciplineConfig;
use serde::{Deserialize, Serialize};

/// A link's part in a memory: what waits at all links with the same number shares it.
///
/// Dynamic Threshold (A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches",
/// IEEE/ACM Transactions on Networking 6(2), 1998): no queue may be longer than alpha times the memory that is free, and one
/// whose length equals or exceeds that accepts no more. Without alpha, complete sharing. What waits counts, as for limits,
/// and not the packet in transmission.
///
/// Active Buffer Management (V. Addanki, M. Apostolaki, M. Ghobadi, S. Schmid and L. Vanbever, "ABM: Active Buffer Management
/// in Datacenters", SIGCOMM 2022, equation 1): alpha is divided by the number of congested queues and multiplied by the share
/// of its port that a queue is served with. Which queues are congested is as in the authors' simulator (ns3-datacenter,
/// `GenQueueDisc::ActiveBufferManagement`): one counts in proportion to its length, up to a bound, and all together for one
/// at least.
///
/// Departures: a port has one queue, so all are of one priority and are served with all of their port; the number is known at
/// each arrival (theirs: every so often); no packet is marked by its sender as one of the first round trip, which theirs
/// takes with an alpha of 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryPlan {
    /// Which memory; links of one number give it the same size and threshold.
    pub number: u32,
    /// Its size, bytes.
    pub bytes: u64,
    /// The most that may wait at a link, as a multiple of what is free, in millionths; `null` for no bound.
    pub alpha_ppm: Option<u64>,
    /// From which length on a queue counts as a congested one, bytes; `null` for a threshold that does not depend on how
    /// many are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congested_bytes: Option<u64>,
}

impl MemoryPlan {
    /// Largest length from which on a queue counts as a congested one, bytes.
    pub const MOST_CONGESTED: u64 = 1 << 30;

    /// Whether it may hold such a queue: what is refused has no class, so none of a discipline with classes.
    pub fn holds(config: &DisciplineConfig) -> bool {
        !matches!(
            config,
            DisciplineConfig::SplitBuff(_)
                | DisciplineConfig::SplitBuffBlind(_)
                | DisciplineConfig::DualPi2(_)
        )
    }

    /// Checks its parameters.
    pub(crate) fn validate(&self) -> Result<(), OutOfBounds> {
        within(self.bytes, 1, 1 << 50, "bytes")?;
        self.alpha_ppm.map_or(Ok(()), |alpha| within(alpha, 1, 1_000_000_000, "alpha_ppm"))?;
        self.congested_bytes
            .map_or(Ok(()), |bytes| within(bytes, 1, MemoryPlan::MOST_CONGESTED, "congested_bytes"))
    }
}
