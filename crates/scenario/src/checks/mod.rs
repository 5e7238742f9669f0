//! Checks across the parts of a scenario: names, paths, totals, and what TCP keys come to together.

mod readable;
mod stacks;
mod totals;

pub use readable::check_readable;
pub use totals::{samples_group, samples_link};

use bufferlab_simulator::MemoryPlan;

use crate::keys::Reading;
use crate::parts::advise::{Advise, group_of};
use crate::parts::application::Application;
use crate::parts::flow::Flow;
use crate::parts::link::Link;
use crate::quantity::format::{format_size, format_time};
use crate::resolved::{Resolved, Root};
use crate::text::mistake::Mistake;
use crate::text::nearest::{USUAL_CUTOFF, hint};
use crate::text::value::Value;

const MOST_LISTED: usize = 20;

/// Checks what no part can check alone, and resolves the scenario.
pub fn check(root: Root, reading: &mut Reading<'_>) -> Option<Resolved> {
    if !check_one_form(root.bottleneck.is_some(), !root.links.is_empty(), reading) {
        return None;
    }
    let scenario = Resolved::of(root);
    let group_names = || scenario.flows.iter().map(|flow| flow.name.as_str());
    check_unique(scenario.links.iter().map(|link| link.name.as_str()), "links", reading);
    check_unique(group_names(), "flows", reading);
    check_not_reserved(group_names(), reading);
    totals::check_flows(&scenario, reading);
    check_echoes(&scenario, reading);
    totals::check_records(&scenario, reading);
    let names: Vec<&str> = scenario.links.iter().map(|link| link.name.as_str()).collect();
    for (index, flow) in scenario.flows.iter().enumerate() {
        check_flow(flow, index, scenario.run.stack, &names, &scenario.links, reading);
    }
    check_memories(&scenario, reading);
    check_hosts(&scenario, reading);
    stacks::check_round_trips(&scenario, reading);
    totals::check_probes(&scenario, reading);
    check_targets(scenario.advise.as_ref(), &group_names().collect::<Vec<_>>(), reading);
    Some(scenario)
}

/// Memories hold links that there are, each in one memory at most, and no queue with classes.
fn check_memories(scenario: &Resolved, reading: &mut Reading<'_>) {
    let names = || scenario.links.iter().map(|link| link.name.as_str());
    let mut held: Vec<&str> = Vec::new();
    for (index, memory) in scenario.memories.iter().enumerate() {
        for (place, name) in memory.links.iter().enumerate() {
            let link = scenario.links.iter().find(|link| link.name == *name);
            let (problem, accepted) = match link {
                None => ("names no link", listed(names())),
                Some(_) if held.contains(&name.as_str()) => {
                    ("is in a memory already", "each link in one memory".to_owned())
                }
                Some(link) if !MemoryPlan::holds(&link.queue.config) => (
                    "has a queue with classes",
                    "links with other queues than splitbuff and dualpi2".to_owned(),
                ),
                Some(_) => {
                    held.push(name);
                    continue;
                }
            };
            let mistake = Mistake::new(problem).key(format!("memories[{index}].links[{place}]"));
            reading.refuse(mistake.text(name).accepted(accepted));
        }
    }
}

/// A table of hosts changes some.
fn check_hosts(scenario: &Resolved, reading: &mut Reading<'_>) {
    if scenario.host.is_some() && scenario.flows.iter().all(|flow| flow.host_model.is_none()) {
        let mistake = Mistake::new("means nothing where all hosts are ideal").key("host");
        reading.refuse(mistake.accepted("it with run.host, or a group's host, such as 'linux-10g'"));
    }
}

/// Targets of groups name groups.
fn check_targets(advise: Option<&Advise>, names: &[&str], reading: &mut Reading<'_>) {
    let names = || names.iter().copied();
    let targets = advise.iter().flat_map(|advise| &advise.targets);
    for (index, target) in targets.enumerate() {
        let Some(group) = group_of(target).filter(|group| !names().any(|name| name == *group)) else {
            continue;
        };
        let problem = format!("names no flow group{}", hint(group, names(), USUAL_CUTOFF));
        let mistake = Mistake::new(problem).key(format!("advise.targets[{index}]")).text(target);
        reading.refuse(mistake.accepted(listed(names())));
    }
}

/// Whether links are given, in one of the two forms.
fn check_one_form(bottleneck: bool, links: bool, reading: &mut Reading<'_>) -> bool {
    let mistake = match (bottleneck, links) {
        (true, true) => Mistake::new("cannot be combined with links")
            .key("bottleneck")
            .accepted("either [bottleneck] or [[links]]"),
        (false, false) => Mistake::new("is required")
            .key("links")
            .accepted("[[links]] with rate and buffer, or one [bottleneck]"),
        _ => return true,
    };
    reading.refuse(mistake);
    false
}

/// Tables say "all" for the sum over groups.
fn check_not_reserved<'a>(mut names: impl Iterator<Item = &'a str>, reading: &mut Reading<'_>) {
    if let Some(index) = names.position(|name| name == "all") {
        let mistake = Mistake::new("is reserved for the sum over groups").key(format!("flows[{index}].name"));
        reading.refuse(mistake.text("all").accepted("any other name"));
    }
}

fn check_unique<'a>(names: impl Iterator<Item = &'a str>, key: &str, reading: &mut Reading<'_>) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, name) in names.enumerate() {
        if let Some(first) = seen.iter().position(|other| *other == name) {
            let mistake = Mistake::new(format!("is the name of {key}[{first}] too")).text(name);
            reading.refuse(mistake.key(format!("{key}[{index}].name")).accepted("names used once"));
        }
        seen.push(name);
    }
}

/// A group that is returned is there, once, with as many flows and the same segments.
fn check_echoes(scenario: &Resolved, reading: &mut Reading<'_>) {
    let can_be_returned =
        |flow: &&Flow| matches!(flow.application, Application::Bulk(_) | Application::Transfer(_));
    let groups: Vec<&Flow> = scenario.flows.iter().filter(can_be_returned).collect();
    let mut returned: Vec<&str> = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        let Application::Echo(echo) = &flow.application else { continue };
        let of = groups.iter().find(|group| group.name == echo.of);
        let Some(of) = of.filter(|_| !returned.contains(&echo.of.as_str())) else {
            let problem = if of.is_some() {
                "is returned by another group already"
            } else {
                "names no group to return"
            };
            let free = groups.iter().map(|group| group.name.as_str()).filter(|name| !returned.contains(name));
            let free = listed(free);
            let free =
                if free.is_empty() { ", of which there is none".to_owned() } else { format!(": {free}") };
            let mistake = Mistake::new(problem).key(format!("flows[{index}].application.of")).text(&echo.of);
            reading.refuse(mistake.accepted(format!("a bulk or transfer group that no other returns{free}")));
            continue;
        };
        returned.push(&of.name);
        if flow.count != of.count {
            let accepted = format!("as many flows as '{}' has, {}", of.name, of.count);
            let mistake = Mistake::new("does not fit").key(format!("flows[{index}].count"));
            reading.refuse(mistake.value(&Value::from(flow.count)).accepted(accepted));
        }
        let segment = |flow: &Flow| flow.tcp.as_ref().map_or(0, |tcp| tcp.connection.mss_bytes.into());
        if segment(flow) != segment(of) {
            let mistake = Mistake::new("does not fit").key(format!("flows[{index}].segment"));
            let accepted = format!("that of '{}', {}", of.name, format_size(segment(of)));
            reading.refuse(mistake.text(format_size(segment(flow))).accepted(accepted));
        }
    }
}

/// Checks a group's way and its TCP; `names` are those of all links, `links` those that could be read.
fn check_flow(
    flow: &Flow,
    index: usize,
    run_stack: &str,
    names: &[&str],
    links: &[Link],
    reading: &mut Reading<'_>,
) {
    let key = format!("flows[{index}]");
    reading.below(&key, |reading| {
        if flow.path.is_empty() {
            let accepted = format!("a list of links, of {}", listed(names.iter().copied()));
            return reading.refuse(Mistake::new("is required").key("path").accepted(accepted));
        }
        let leads = check_path(&flow.path, "path", names, reading);
        if leads & check_path(&flow.reverse_path, "reverse_path", names, reading) {
            check_rtt(flow, links, reading);
        }
        if let Some(tcp) = &flow.tcp {
            stacks::check_stack(flow, tcp, run_stack, reading);
        }
    });
}

/// Whether every name is that of a link, and none twice.
fn check_path(path: &[String], key: &str, names: &[&str], reading: &mut Reading<'_>) -> bool {
    let mut leads = true;
    for (index, name) in path.iter().enumerate() {
        let (problem, accepted) = if !names.contains(&name.as_str()) {
            ("names no link", listed(names.iter().copied()))
        } else if path[..index].contains(name) {
            ("is crossed twice", "each link once a path".to_owned())
        } else {
            continue;
        };
        leads = false;
        reading.refuse(Mistake::new(problem).key(format!("{key}[{index}]")).text(name).accepted(accepted));
    }
    leads
}

fn check_rtt(flow: &Flow, links: &[Link], reading: &mut Reading<'_>) {
    let Some(rtt_ps) = flow.rtt.fixed() else { return };
    let least_ps = links_rtt_ps(flow, links);
    let shortest = rtt_ps as f64 * (1.0 - flow.rtt_spread * (1.0 - 1.0 / flow.count as f64));
    if shortest.round_ties_even() < least_ps as f64 {
        reading.refuse(short_rtt(&flow.rtt.text, least_ps, !flow.reverse_path.is_empty()).key("rtt"));
    }
}

/// Propagation delay of a flow's links both ways, ps.
///
/// Acknowledgments without a `reverse_path` come back over the same distance, without queues.
pub fn links_rtt_ps(flow: &Flow, links: &[Link]) -> u64 {
    let forward_ps = path_ps(&flow.path, links);
    forward_ps + if flow.reverse_path.is_empty() { forward_ps } else { path_ps(&flow.reverse_path, links) }
}

/// Propagation delay of a path's links, ps.
pub fn path_ps(path: &[String], links: &[Link]) -> u64 {
    let link = |name: &String| links.iter().find(|link| link.name == *name);
    path.iter().filter_map(link).map(|link| link.delay_ps).sum()
}

/// The mistake of a round-trip time that its links' delays alone exceed.
pub fn short_rtt(text: &str, least_ps: u64, reverse: bool) -> Mistake {
    let ways = if reverse { "path and reverse_path" } else { "path, there and back" };
    let accepted = format!("at least {}, the delays of the links of its {ways}", format_time(least_ps));
    Mistake::new("is shorter than the links' delays").text(text).accepted(accepted)
}

/// Some names for messages.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut different: Vec<&str> = Vec::new();
    for name in names {
        if different.len() <= MOST_LISTED && !different.contains(&name) {
            different.push(name);
        }
    }
    let names = different;
    let more = if names.len() > MOST_LISTED { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(MOST_LISTED)].join(", "))
}
