//! Bounds on what all parts come to together.

use super::listed;
use crate::keys::Reading;
use crate::parts::MAX_FLOWS;
use crate::parts::application::Application;
use crate::parts::flow::Flow;
use crate::parts::probes::Probes;
use crate::quantity::format::format_time;
use crate::resolved::Resolved;
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// Most rows of time series that one run may write.
const MAX_SAMPLES: u64 = 50_000_000;

pub(super) fn check_flows(scenario: &Resolved, reading: &mut Reading<'_>) {
    let mut total = 0;
    for (index, flow) in scenario.flows.iter().enumerate() {
        let expected = match &flow.application {
            Application::ShortFlows(short) => Some(scenario.run.duration_ps / short.interval_ps.max(1)),
            _ => None,
        };
        total += flow.count.max(expected.unwrap_or(0));
        if total > MAX_FLOWS {
            let mistake = Mistake::new("makes too many flows");
            let mistake = match expected {
                Some(expected) => mistake
                    .key(format!("flows[{index}].application"))
                    .text(format!("about {expected} short flows")),
                None => mistake.key(format!("flows[{index}].count")).value(&Value::from(flow.count)),
            };
            return reading
                .refuse(mistake.accepted(format!("at most {MAX_FLOWS} flows in all groups together")));
        }
    }
}

/// Pings, recorded datagrams, packets of video calls and segments of videos take a row each, in memory, too.
pub(super) fn check_records(scenario: &Resolved, reading: &mut Reading<'_>) {
    let mut rows = 0;
    for (index, flow) in scenario.flows.iter().enumerate() {
        let interval_ps = match &flow.application {
            Application::Ping(ping) => ping.interval_ps,
            Application::Video(video) => video.segment_ps,
            Application::VideoCall(call) => call.packet_ps(),
            Application::Udp(udp) if udp.is_recorded() => udp.interval_ps,
            _ => continue,
        };
        rows += u128::from(flow.count) * u128::from(scenario.run.duration_ps / interval_ps.max(1));
        if rows > MAX_SAMPLES.into() {
            let mistake = Mistake::new(format!("makes {rows} rows of exchanges"));
            let mistake = mistake.key(format!("flows[{index}].application")).text(format_time(interval_ps));
            let accepted = format!("intervals that make at most {MAX_SAMPLES} in all groups together");
            return reading.refuse(mistake.accepted(accepted));
        }
    }
}

pub(super) fn check_probes(scenario: &Resolved, reading: &mut Reading<'_>) {
    let Some(probes) = &scenario.probes else { return };
    let links: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
    let groups: Vec<&str> = scenario.flows.iter().map(|flow| flow.name.as_str()).collect();
    let mut all_known = true;
    for (key, names, known) in [("links", &probes.links, &links), ("flows", &probes.flows, &groups)] {
        for (index, name) in names.iter().flatten().enumerate() {
            if !known.contains(&name.as_str()) {
                all_known = false;
                let mistake = Mistake::new(format!("names no {key}")).key(format!("probes.{key}[{index}]"));
                reading.refuse(mistake.text(name).accepted(listed(known.iter().copied())));
            }
        }
    }
    if all_known {
        check_samples(probes, scenario, reading);
    }
}

fn check_samples(probes: &Probes, scenario: &Resolved, reading: &mut Reading<'_>) {
    let sampled_links = scenario.links.iter().filter(|link| samples_link(probes, &link.name)).count() as u64;
    let samples = |flow: &Flow| match flow.application {
        Application::ShortFlows(_) => probes.per_group,
        _ => flow.count.min(probes.per_group),
    };
    let sampled = scenario.flows.iter().filter(|flow| samples_group(probes, flow));
    let sampled_flows: u64 = sampled.map(samples).sum();
    let rows = u128::from(scenario.run.duration_ps / probes.interval_ps)
        * u128::from(sampled_links + 2 * sampled_flows);
    if rows > MAX_SAMPLES.into() {
        let accepted = format!("an interval, links, flows and per_group that make at most {MAX_SAMPLES}");
        let mistake = Mistake::new(format!("makes {rows} samples")).key("probes.interval");
        reading.refuse(mistake.text(format_time(probes.interval_ps)).accepted(accepted));
    }
}

/// Whether a link is sampled.
pub fn samples_link(probes: &Probes, name: &str) -> bool {
    probes.links.as_ref().is_none_or(|links| links.iter().any(|link| link == name))
}

/// Whether a group is sampled: if it is named, or if none is and it is not one of short flows.
pub fn samples_group(probes: &Probes, flow: &Flow) -> bool {
    match &probes.flows {
        Some(names) => names.contains(&flow.name),
        None => !matches!(flow.application, Application::ShortFlows(_)),
    }
}
