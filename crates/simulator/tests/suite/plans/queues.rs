//! Queues.

use bufferlab_simulator::QueuePlan;
use proptest::prelude::*;

use super::kinds::any_kind;
use super::limit;

/// The one that all links have, and those with most to go wrong.
const WEIGHTS: [(&str, f64); 4] = [("fifo", 1.0), ("codel", 0.6), ("splitbuff", 0.4), ("dualpi2", 0.4)];

pub(super) fn discipline() -> impl Strategy<Value = QueuePlan> {
    (limit(), any_kind(&WEIGHTS)).prop_map(|(limit, config)| QueuePlan { limit, config })
}
