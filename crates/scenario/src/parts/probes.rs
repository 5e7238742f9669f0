//! What to sample over time.

use super::MAX_FLOWS;
use crate::keys::{Names, REQUIRED, Time, Whole, absent, given, part};

part! {
    /// What to sample over time.
    pub struct Probes under "probes" {
        /// Time between samples.
        interval_ps as "interval": u64 = REQUIRED, Time::from(1_000_000), "10 ms";
        /// Links to sample.
        links: Option<Vec<String>> = absent("all"), Names { of: "links", least: 0 }, ["bottleneck"];
        /// Flow groups to sample.
        flows: Option<Vec<String>> = absent("all but short flows"), Names { of: "groups", least: 0 }, ["short"];
        /// Most flows sampled in each group, the first ones.
        per_group: u64 = given(10), Whole { least: 1, most: MAX_FLOWS, noun: "flows" }, 5;
    }
}
