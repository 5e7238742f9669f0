//! What hosts do beside TCP.

use std::collections::BTreeSet;

use bufferlab_simulator::{CardPlan, HostPlan};

use super::source::law;
use crate::parts::flow::Flow;
use crate::resolved::Resolved;

pub(super) fn host(flow: &Flow) -> Option<HostPlan> {
    let model = flow.host_model.as_ref()?;
    let card = model.line_rate_bps.map(|line_rate_bps| CardPlan {
        rate_bps: flow.access_rate_bps.unwrap_or(line_rate_bps),
        most_bytes: Some(model.queue_limit_bytes),
        interrupt_ps: model.interrupt_delay_ps,
    });
    Some(HostPlan { card, quick_acks: model.quick_acks as u16, noise: model.noise.0.as_ref().map(law) })
}

/// The rate of an interface that no card stands for.
pub(super) fn access_bps(flow: &Flow) -> Option<u64> {
    let has_card = flow.host_model.as_ref().is_some_and(|model| model.line_rate_bps.is_some());
    flow.access_rate_bps.filter(|_| !has_card)
}

/// A named host's number: its place among the names of the scenario.
pub(super) fn number(name: Option<&String>, scenario: &Resolved) -> Option<u32> {
    let named = scenario.flows.iter().flat_map(|flow| [&flow.sender, &flow.receiver]).flatten();
    let names: BTreeSet<_> = named.collect();
    names.into_iter().position(|known| Some(known) == name).map(|place| place as u32)
}
