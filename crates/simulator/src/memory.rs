//! Which packets find room in a memory that several queues share: [`crate::MemoryPlan`] says by which rule.

use std::collections::BTreeMap;

use crate::plan::{MemoryPlan, Plan};

/// A memory and the links whose queues it holds.
#[derive(Clone, Debug)]
pub(crate) struct SharedMemory {
    plan: MemoryPlan,
    pub(crate) links: Vec<u32>,
}

impl SharedMemory {
    /// Those of a plan by number.
    pub(crate) fn all(plan: &Plan) -> BTreeMap<u32, SharedMemory> {
        let mut memories = BTreeMap::<u32, SharedMemory>::new();
        for (index, link) in (0..).zip(&plan.links) {
            if let Some(plan) = link.memory {
                let memory = memories.entry(plan.number);
                memory.or_insert(SharedMemory { plan, links: Vec::new() }).links.push(index);
            }
        }
        memories
    }

    /// Whether a packet finds room where `own` bytes wait at its link, and `all` at all of them.
    pub(crate) fn has_room(&self, own: u64, all: u64, wire_bytes: u32) -> bool {
        let free = self.plan.bytes.saturating_sub(all);
        let below = |alpha: u64| u128::from(own) * 1_000_000 < u128::from(alpha) * u128::from(free);
        u64::from(wire_bytes) <= free && self.plan.alpha_ppm.is_none_or(below)
    }
}
