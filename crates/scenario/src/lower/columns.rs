//! The flows by columns, group after group.

use bufferlab_simulator::FlowColumns;

use crate::checks::{links_rtt_ps, path_ps, samples_group};
use crate::draw::Draws;
use crate::parts::application::Application;
use crate::parts::flow::Flow;
use crate::resolved::Resolved;

/// No other flow, among the flows whose data is returned.
const NO_FLOW: u32 = u32::MAX;
/// Never, among times; the group's, among transfers.
const NONE: u64 = u64::MAX;

pub(super) fn columns(scenario: &Resolved, draws: &[Draws]) -> FlowColumns {
    let mut columns = FlowColumns::default();
    for (index, (flow, drawn)) in scenario.flows.iter().zip(draws).enumerate() {
        let count = drawn.rtt_ps.len();
        columns.group.extend(std::iter::repeat_n(index as u32, count));
        columns.start_ps.extend(&drawn.start_ps);
        match &drawn.stop_ps {
            Some(stop_ps) => columns.stop_ps.extend(stop_ps),
            None => columns.stop_ps.extend(std::iter::repeat_n(NONE, count)),
        }
        add_delays(&mut columns, flow, scenario, &drawn.rtt_ps);
        let sampled = scenario.probes.as_ref().filter(|probes| samples_group(probes, flow));
        let most = sampled.map_or(0, |probes| probes.per_group);
        columns.sample.extend((0..count as u64).map(|flow| flow < most));
    }
    columns.echo_of = echoes(scenario, draws);
    columns.transfer_bytes = transfers(draws);
    columns
}

/// Splits what the links leave of the round-trip time in four: each side's access, each way.
///
/// Without queued reverse links the way back is one delay: half the round-trip time. Picoseconds that do not divide go to
/// the way back, so that the parts sum to the round-trip time exactly.
fn add_delays(columns: &mut FlowColumns, flow: &Flow, scenario: &Resolved, rtt_ps: &[u64]) {
    let links_ps = links_rtt_ps(flow, &scenario.links);
    let (forward_ps, reverse_ps) =
        (path_ps(&flow.path, &scenario.links), path_ps(&flow.reverse_path, &scenario.links));
    for &rtt_ps in rtt_ps {
        let access_ps = (rtt_ps - links_ps) / 4;
        let home_ps = if flow.reverse_path.is_empty() { 0 } else { access_ps };
        columns.source_delay_ps.push(access_ps);
        columns.sink_delay_ps.push(access_ps);
        columns.return_delay_ps.push(rtt_ps - 2 * access_ps - forward_ps - reverse_ps - home_ps);
        columns.home_delay_ps.push(home_ps);
    }
}

/// The flows whose data flows return; nothing without any.
fn echoes(scenario: &Resolved, draws: &[Draws]) -> Vec<u32> {
    let is_echo = |flow: &Flow| matches!(flow.application, Application::Echo(_));
    if !scenario.flows.iter().any(is_echo) {
        return Vec::new();
    }
    let counts: Vec<u32> = draws.iter().map(|drawn| drawn.rtt_ps.len() as u32).collect();
    let first = |name: &str| -> Option<u32> {
        let group = scenario.flows.iter().position(|flow| flow.name == name)?;
        Some(counts[..group].iter().sum())
    };
    let of_group = |(flow, &count): (&Flow, &u32)| -> Vec<u32> {
        match &flow.application {
            Application::Echo(echo) => {
                first(&echo.of).map_or(Vec::new(), |first| (first..first + count).collect())
            }
            _ => vec![NO_FLOW; count as usize],
        }
    };
    scenario.flows.iter().zip(&counts).flat_map(of_group).collect()
}

/// The flows' own transfers; nothing without any.
fn transfers(draws: &[Draws]) -> Vec<u64> {
    if draws.iter().all(|drawn| drawn.transfer_bytes.is_none()) {
        return Vec::new();
    }
    let of_group = |drawn: &Draws| match &drawn.transfer_bytes {
        Some(sizes) => sizes.clone(),
        None => vec![NONE; drawn.rtt_ps.len()],
    };
    draws.iter().flat_map(of_group).collect()
}
