//! The part of a plan that names queue disciplines.

use serde::{Deserialize, Serialize};

use super::LimitPlan;

/// A queue discipline with its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum DisciplinePlan {
    /// First in, first out, tail drop.
    Fifo {
        /// How much may wait.
        limit: LimitPlan,
        /// Packets of flows that listen (ECN) are marked if they find more waiting; `null` for never.
        #[serde(default)]
        mark_above: Option<LimitPlan>,
    },
    /// RFC 8289.
    Codel {
        /// How much may wait.
        limit: LimitPlan,
        /// Wait that the queue may stand at, ps.
        target_ps: u64,
        /// How long it has to stand before the first drop, ps.
        interval_ps: u64,
        /// Packets of flows that listen are marked in place of being dropped.
        ecn: bool,
        /// Packets of flows that listen are marked if they waited for longer, ps; `null` for never.
        #[serde(default)]
        ce_threshold_ps: Option<u64>,
        /// How the drops follow each other.
        #[serde(default)]
        control_law: ControlLawPlan,
    },
    /// Shreedhar and Varghese 1995.
    Drr {
        /// How much may wait.
        limit: LimitPlan,
        /// Bytes that a flow may send each round.
        quantum_bytes: u32,
    },
    /// Floyd and Jacobson 1993; Floyd, Gummadi and Shenker 2001.
    Red {
        /// How much may wait.
        limit: LimitPlan,
        /// Average above which packets may be dropped.
        min_threshold: LimitPlan,
        /// Average above which all are, in the same unit.
        max_threshold: LimitPlan,
        /// Share by which an arrival moves the average; `null` for one that fits the rate.
        weight: Option<f64>,
        /// Chance of a drop at the upper threshold; where it starts if adapted.
        max_p: f64,
        /// The chance goes on to 1 at twice the upper threshold.
        gentle: bool,
        /// `max_p` is adapted.
        adaptive: bool,
        /// Packets of flows that listen are marked in place of being dropped early.
        ecn: bool,
        /// Size of a typical packet, for idle times and the automatic weight.
        mean_packet_bytes: u32,
    },
    /// RFC 8033.
    Pie {
        /// How much may wait.
        limit: LimitPlan,
        /// Wait to hold, ps.
        target_ps: u64,
        /// Time between updates of the chance of a drop, ps.
        t_update_ps: u64,
        /// Change of the chance for a second above the target, 1/s.
        alpha: f64,
        /// Change of the chance for a second of growth, 1/s.
        beta: f64,
        /// How long a burst passes after a calm time, ps.
        max_burst_ps: u64,
        /// Packets of flows that listen are marked in place of being dropped while the chance is small.
        ecn: bool,
    },
    /// RFC 8290.
    FqCodel {
        /// How much may wait.
        limit: LimitPlan,
        /// Queues to which flows are hashed.
        flows: u32,
        /// Bytes that a queue may send each round.
        quantum_bytes: u32,
        /// Most packets dropped at once for the limit.
        drop_batch: u32,
        /// Wait that a queue may stand at, ps.
        target_ps: u64,
        /// How long it has to stand before the first drop, ps.
        interval_ps: u64,
        /// Packets of flows that listen are marked in place of being dropped.
        ecn: bool,
        /// Packets of flows that listen are marked if they waited for longer, ps; `null` for never.
        #[serde(default)]
        ce_threshold_ps: Option<u64>,
        /// How the drops follow each other.
        #[serde(default)]
        control_law: ControlLawPlan,
    },
    /// Sub-buffers by round-trip time.
    Splitbuff {
        /// How much may wait in all.
        limit: LimitPlan,
        /// Number of sub-buffers.
        sub_buffers: u32,
        /// Update period, ps.
        update_ps: u64,
        /// The first one, ps; each is twice the one before until they are as long as `update_ps`. `null` for that.
        #[serde(default)]
        first_update_ps: Option<u64>,
        /// Weight of a period's delay in the smoothed one, 0 to 1.
        smoothing: f64,
        /// How packets are told apart.
        classes: ClassesPlan,
        /// Sub-buffers share the link by their numbers of flows, not alike.
        weighted: bool,
        /// Where the thresholds lie.
        #[serde(default)]
        thresholds: ThresholdsPlan,
        /// Part by which a threshold must change to be moved; 0 for always.
        #[serde(default)]
        hysteresis: f64,
        /// Whose mean round-trip time counts.
        #[serde(default)]
        mean: MeanPlan,
    },
}

/// Where SplitBuff's thresholds lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThresholdsPlan {
    /// At the mean and half a sigma from each other.
    #[default]
    Mean,
    /// Where round-trip times leave room.
    Gaps,
}

/// Over what SplitBuff's mean round-trip time is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeanPlan {
    /// Packets.
    #[default]
    Packets,
    /// Flows.
    Flows,
}

/// How packets are told apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum ClassesPlan {
    /// Each flow at random.
    Random,
    /// By round-trip time.
    Rtt {
        /// Where it comes from.
        information: RttPlan,
    },
}

/// Where a queue has round-trip times from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum RttPlan {
    /// The true propagation delays.
    Oracle,
    /// Senders write their smoothed round-trip times into their packets.
    Header,
    /// The same in few bits.
    Quantized {
        /// How many.
        bits: u32,
    },
    /// From handshakes.
    Syn {
        /// Flows that are remembered, about.
        flows: u32,
    },
    /// From timestamps.
    Timestamps {
        /// Flows that are remembered, about.
        flows: u32,
    },
}

/// How the distance to CoDel's next drop follows from the count of drops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlLawPlan {
    /// The interval over the root of the count.
    #[default]
    Rfc,
    /// With Linux's approximation of the root.
    Linux,
}
