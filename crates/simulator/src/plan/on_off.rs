//! Applications that are silent at times.

use bufferlab_parameters::{LONGEST, OutOfBounds, require, within};
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
    pub fetch: bool,
}

impl OnOffPlan {
    /// Checks it; a flow can send at most `most_bytes`.
    pub(crate) fn validate(&self, most_bytes: u64) -> Result<(), OutOfBounds> {
        let (law, most, at) = match self.on {
            OnPlan::TimePs(law) => (law, LONGEST.as_ps(), "on.time_ps"),
            OnPlan::Bytes(law) => (law, most_bytes, "on.bytes"),
        };
        law.validate(most).map_err(|error| error.under(at))?;
        let holds = !self.fetch || matches!(self.on, OnPlan::Bytes(_));
        require(holds, "on", "time_ps", "bytes with fetch")?;
        self.off_ps.validate(LONGEST.as_ps()).map_err(|error| error.under("off_ps"))
    }
}

/// How long, or how much, an application sends at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum OnPlan {
    /// As much as the windows allow for so long, ps.
    TimePs(LawPlan),
    /// This many bytes, in whole segments.
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

impl LawPlan {
    /// Largest index of a Pareto law, which is next to a constant by then.
    pub const LARGEST_SHAPE: f64 = 100.0;

    /// Checks its parameters; its mean is at most `most`.
    pub(super) fn validate(self, most: u64) -> Result<(), OutOfBounds> {
        match self {
            LawPlan::Constant { value } => within(value, 1, most, "value"),
            LawPlan::Exponential { mean } => within(mean, 1, most, "mean"),
            LawPlan::Pareto { mean, shape } => {
                within(mean, 1, most, "mean")?;
                let accepted = format!("above 1, to {}", Self::LARGEST_SHAPE);
                require(1.0 < shape && shape <= Self::LARGEST_SHAPE, "shape", shape, accepted)
            }
        }
    }
}
