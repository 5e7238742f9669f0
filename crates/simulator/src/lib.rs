//! The simulator: plan in, outcome out.
//!
//! # Laws
//! - **Determinism.** A plan gives the same outcome on every machine. Events are ordered by (time, component,
//!   FIFO); each component has its own random stream; floating point is used only where IEEE 754 rounds
//!   exactly.
//! - **Conservation.** At every queue, arrived = departed + dropped + left, in packets and in bytes.
//! - **Watching changes nothing.** Samples are read between events; a run with samples equals one without.
//!
//! ```
//! use bufferlab_simulator::{Control, Plan, run};
//!
//! let plan: Plan = serde_json::from_str(include_str!("../tests/plans/two_flows.json")).unwrap();
//! let outcome = run(&plan, &Control::default()).unwrap();
//! assert!(outcome.packets > 0);
//! ```

mod check;
mod control;
mod engine;
mod histogram;
mod link;
mod marks;
mod outcome;
mod plan;
mod receiving;
mod report;
mod ring;
mod samples;
mod sending;
mod statistics;
mod tournament;
mod world;

pub use check::PlanError;
pub use control::Control;
pub use outcome::{
    ALL_GROUPS, FlowTable, HistogramTable, Outcome, QueueSampleTable, QueueTable, ReceiverSampleTable,
    SenderSampleTable,
};
pub use plan::{
    CongestionPlan, DisciplinePlan, FlowColumns, GroupPlan, GrowthPlan, JitterPlan, LimitChange, LimitPlan,
    LinkPlan, Plan, RecoveryPlan, SourcePlan, TcpPlan, UdpPlan, VariatePlan,
};

/// Runs a plan to its end, or until `control` cancels it.
///
/// # Errors
/// [`PlanError`] names the first field of the plan that is out of bounds.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, PlanError> {
    check::check(plan)?;
    Ok(engine::Engine::new(world::build(plan)).run(control))
}
