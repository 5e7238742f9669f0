//! Applications that are silent at times.

use bufferlab_transport::AfterIdle;
use serde::{Deserialize, Serialize};

/// An application that has data, then none, by turns. It starts with data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnOffPlan {
    /// How long, or how much, it sends at a time.
    pub on: OnPlan,
    /// How long it is silent then, ps: from the end of the time, or from the acknowledgment of the last byte.
    pub off_ps: LawPlan,
    /// The window after an idle time.
    pub after_idle: AfterIdle,
    /// Each burst is what a client fetches: it asks over a new connection, `off_ps` after it asked last, or at once when
    /// it has the last one, if that is later. The sender is the server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fetch: bool,
}

/// How long, or how much, an application sends at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum OnPlan {
    /// As much as the windows allow for so long, ps.
    TimePs(LawPlan),
    /// So many bytes, in whole segments.
    Bytes(LawPlan),
}

/// A law of times or sizes; what is drawn is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum LawPlan {
    /// Always the same.
    Constant {
        /// That value.
        value: u64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: u64,
    },
    /// Pareto: P(X > x) = (least/x)^shape from the least value on, mean·(shape − 1)/shape.
    Pareto {
        /// Its mean.
        mean: u64,
        /// Its index, above 1.
        shape: f64,
    },
}
