//! Queues.

use bufferlab_simulator::QueuePlan;
use proptest::prelude::*;

use super::kinds::any_kind;
use super::limit;

/// The one that all links have, and those with most to go wrong.
const WEIGHTS: [(&str, u32); 3] = [("fifo", 5), ("codel", 3), ("splitbuff", 2)];

pub(super) fn discipline() -> impl Strategy<Value = QueuePlan> {
    (limit(), any_kind(&WEIGHTS)).prop_map(|(limit, config)| QueuePlan { limit, config })
}
