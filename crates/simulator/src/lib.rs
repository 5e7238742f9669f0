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

mod agenda;
mod card;
mod carried;
mod check;
mod context;
mod control;
mod controls;
mod disciplines;
mod drawn;
mod echo;
mod ends;
mod engine;
mod exchanges;
mod extras;
mod histogram;
mod link;
mod memory;
mod network;
mod on_off;
mod outcome;
mod plan;
mod pool;
mod readings;
mod recording;
mod report;
mod return_path;
mod ring;
mod samples;
mod sending;
mod session;
mod statistics;
mod streams;
mod table;
mod tournament;
mod under_way;
mod video;
mod world;

pub use carried::{Carried, CarriedLink};
pub use check::PlanError;
pub use control::Control;
pub use drawn::{datagrams, turns};
pub use outcome::{
    ALL_CLASSES, ALL_GROUPS, ClassHistogramTable, ClassSampleTable, ClassTable, ExchangeTable, FlowState,
    FlowTable, GroupCounters, HistogramTable, LinkCounters, NONE, Outcome, QueueSampleTable, QueueTable,
    ReceiverSampleTable, SegmentTable, SenderSampleTable,
};
pub use plan::{
    CapacityPlan, CardPlan, DelayPiece, DelayPlan, FlowColumns, GroupPlan, HostPlan, JitterPlan, LawPlan,
    LimitChange, LinkPlan, LossBurstsPlan, MarkovState, MemoryPlan, OnOffPlan, OnPlan, Plan, QueuePlan,
    RatePiece, RateRule, SourcePlan, TcpPlan, UdpPlan, VideoPlan,
};
pub use recording::{Loss, Recorder, Sight, Way};
pub use session::Session;
pub use streams::StreamKind;
pub use table::{Column, Table};

use world::Service;

/// Runs a plan to its end, or until `control` cancels it.
///
/// # Errors
/// [`PlanError`] names the first field of the plan that is out of bounds.
pub fn run(plan: &Plan, control: &Control) -> Result<Outcome, PlanError> {
    check::check(plan)?;
    Ok(engine::run(world::build(plan, Service::Shortest), control))
}

/// The same, with a recorder that receives every packet; the outcome is the same.
///
/// # Errors
/// As [`run`].
pub fn run_recorded(
    plan: &Plan,
    control: &Control,
    recorder: &mut dyn Recorder,
) -> Result<Outcome, PlanError> {
    check::check(plan)?;
    Ok(engine::run_recorded(world::build(plan, Service::Shortest), control, recorder))
}

/// [`run`] with every link served by its discipline and an event for every departure, which disciplines that decide at
/// the last moment need. The results are the same except for the number of events. Tests compare the two, and
/// benchmarks measure what an event costs.
///
/// # Errors
/// As [`run`].
pub fn run_with_link_events(plan: &Plan, control: &Control) -> Result<Outcome, PlanError> {
    check::check(plan)?;
    Ok(engine::run(world::build(plan, Service::Events), control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_leaves_out_is_off_and_what_is_unknown_is_refused() {
        let whole = include_str!("../tests/plans/two_flows.json");
        let plan: Plan = serde_json::from_str(whole).unwrap();
        let short = [
            r#" "loss_ppb": 0, "changes": [],"#,
            r#" "reverse": [], "jitter": {"kind": "none"}, "access_bps": null,"#,
            ",\n    \"echo_of\": [], \"transfer_bytes\": []",
        ];
        let left = short.iter().fold(whole.to_owned(), |text, part| {
            assert!(text.contains(part), "{part}");
            text.replacen(part, "", 1)
        });
        assert_eq!(serde_json::from_str::<Plan>(&left).unwrap(), plan);
        let misspelled = whole.replace("loss_ppb", "loss_ppm");
        let error = serde_json::from_str::<Plan>(&misspelled).unwrap_err().to_string();
        assert!(error.contains("unknown field `loss_ppm`"), "{error}");
        let required = whole.replace(r#""rate_bps": 10000000, "#, "");
        let error = serde_json::from_str::<Plan>(&required).unwrap_err().to_string();
        assert!(error.contains("missing field `rate_bps`"), "{error}");
    }

    #[test]
    fn links_with_and_without_events_give_the_same() {
        let mut plan: Plan = serde_json::from_str(include_str!("../tests/plans/two_flows.json")).unwrap();
        plan.sample_interval_ps = 7_000_000_000;
        plan.links[0].loss_ppb = 1_000_000;
        plan.links[0].changes =
            vec![LimitChange { at_ps: 2_000_000_000_000, limit: bufferlab_qdisc::Limit::Bytes(5_000) }];
        let control = Control::default();
        let shortest = run(&plan, &control).unwrap();
        let mut events = run_with_link_events(&plan, &control).unwrap();
        assert!(shortest.queues.dropped_packets[0] > 0 && shortest.queues.lost_packets[0] > 0);
        assert!(events.events > shortest.events);
        events.events = shortest.events;
        assert_eq!(shortest, events);
    }

    #[test]
    fn narrow_and_wide_keys_give_the_same() {
        let plan: Plan = serde_json::from_str(include_str!("../tests/plans/two_flows.json")).unwrap();
        let control = Control::default();
        let world = || world::build(&plan, Service::Shortest);
        assert_eq!(engine::run_with::<i64>(world(), &control), engine::run_with::<i128>(world(), &control));
    }
}
