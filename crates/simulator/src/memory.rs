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

    /// Whether a packet finds room where `own` bytes wait at its link, and these at each of all.
    pub(crate) fn has_room(
        &self,
        own: u64,
        waiting: impl Iterator<Item = u64> + Clone,
        wire_bytes: u32,
    ) -> bool {
        let free = self.plan.bytes.saturating_sub(waiting.clone().sum());
        if u64::from(wire_bytes) > free {
            return false;
        }
        let Some(alpha_ppm) = self.plan.alpha_ppm else { return true };
        let (congested, one) = self.congested(waiting);
        u128::from(own) * 1_000_000 * congested < u128::from(alpha_ppm) * u128::from(free) * one
    }

    /// How many queues are congested, as a fraction; where that does not matter, one.
    fn congested(&self, waiting: impl Iterator<Item = u64>) -> (u128, u128) {
        let Some(bytes) = self.plan.congested_bytes else { return (1, 1) };
        let sum: u64 = waiting.map(|length| length.min(bytes)).sum();
        (u128::from(sum.max(bytes)), u128::from(bytes))
    }
}
