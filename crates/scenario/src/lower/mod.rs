//! From a scenario and a seed to the plan: plain integers, the engine's only input.
//!
//! What is random about the flows is drawn here, so that a plan is the whole truth of a run.

mod columns;
mod host;
mod link;
mod settle;
mod source;
mod traffic;
mod varying;

use bufferlab_simulator::{GroupPlan, JitterPlan, Plan};
use sha2::{Digest, Sha256};

use crate::draw::{Draws, draw};
use crate::parts::flow::Flow;
use crate::quantity::jitter::Jitter;
use crate::quantity::law::LawKind;
use crate::resolved::Resolved;
use crate::scenario::Scenario;
use crate::text::mistake::{Mistake, Mistakes};

impl Scenario {
    /// The plan under a seed, the scenario's own if there is none.
    ///
    /// # Errors
    /// If a drawn round-trip time is shorter than its links' delays, no flow of a group starts before the run's end, or a
    /// buffer's word has no flows to depend on.
    pub fn lower(&self, seed: Option<u64>) -> Result<Plan, Mistakes> {
        self.seeded(seed).map(|seeded| seeded.plan)
    }

    /// The scenario under a seed, its own if there is none.
    ///
    /// # Errors
    /// As [`Scenario::lower`].
    pub fn seeded(&self, seed: Option<u64>) -> Result<Seeded, Mistakes> {
        let seed = seed.unwrap_or(self.resolved().run.seed);
        Seeded::of(self.resolved(), seed).map_err(|mistake| self.placed(mistake))
    }
}

/// A scenario under a seed.
#[derive(Clone, Debug)]
pub struct Seeded {
    /// What was drawn for each group.
    pub draws: Vec<Draws>,
    /// The engine's input.
    pub plan: Plan,
    /// The scenario with this seed, and with what the flows drawn make of its buffers and queues.
    pub resolved: Resolved,
}

impl Seeded {
    fn of(scenario: &Resolved, seed: u64) -> Result<Seeded, Mistake> {
        let draws = draw(scenario, seed)?;
        let traffic = traffic::of_links(scenario, &draws);
        let plan = Plan {
            version: Plan::VERSION,
            seed,
            duration_ps: scenario.run.duration_ps,
            warmup_ps: scenario.run.warmup_ps,
            sample_interval_ps: scenario.probes.as_ref().map_or(0, |probes| probes.interval_ps),
            links: link::links(scenario, &traffic, seed)?,
            groups: scenario.flows.iter().map(|flow| group(flow, scenario)).collect(),
            flows: columns::columns(scenario, &draws),
        };
        let resolved = settle::settled(scenario, &traffic, &plan);
        Ok(Seeded { draws, plan, resolved })
    }
}

/// A plan as canonical JSON: keys sorted, no spaces; equal plans give equal text.
pub fn plan_json(plan: &Plan) -> String {
    // serde_json's objects are sorted by key
    serde_json::to_value(plan).expect("a plan is JSON").to_string()
}

/// A plan's JSON, written anew in its canonical form.
///
/// # Errors
/// If it is no JSON.
pub fn canonical_json(text: &str) -> serde_json::Result<String> {
    serde_json::from_str::<serde_json::Value>(text).map(|plan| plan.to_string())
}

/// SHA-256 of the canonical JSON, in hexadecimal: with the engine's version, the identity of a run.
pub fn plan_hash(plan: &Plan) -> String {
    hash_of(&plan_json(plan))
}

/// SHA-256 of a text, in hexadecimal.
pub fn hash_of(text: &str) -> String {
    let digits = Sha256::digest(text);
    let digits = digits.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect()
}

fn group(flow: &Flow, scenario: &Resolved) -> GroupPlan {
    let position = |name: &String| scenario.links.iter().position(|link| link.name == *name);
    let positions = |names: &[String]| names.iter().filter_map(position).map(|index| index as u32).collect();
    GroupPlan {
        name: flow.name.clone(),
        source: source::source(flow),
        forward: positions(&flow.path),
        reverse: positions(&flow.reverse_path),
        jitter: jitter(flow),
        access_bps: host::access_bps(flow),
        host: host::host(flow),
        dscp: flow.dscp as u8,
        sender: host::number(flow.sender.as_ref(), scenario),
        receiver: host::number(flow.receiver.as_ref(), scenario),
    }
}

fn jitter(flow: &Flow) -> JitterPlan {
    flow.tcp.as_ref().map_or(JitterPlan::None, |tcp| jitter_plan(&tcp.jitter))
}

fn jitter_plan(jitter: &Jitter) -> JitterPlan {
    match jitter.0.as_ref().map(|law| &law.kind) {
        Some(&LawKind::Uniform { low, high }) => JitterPlan::Uniform { low_ps: low, high_ps: high },
        Some(&LawKind::Exponential { mean }) => JitterPlan::Exponential { mean_ps: mean },
        _ => JitterPlan::None,
    }
}
