//! What a run came to, in the few numbers that a page shows. tests/web compares them with those of the command.

use bufferlab_simulator::{ALL_GROUPS, Outcome, Plan, QueueTable};
use serde::Serialize;

use crate::call::{self, Call};
use crate::frames::{self, Frames};

/// Of the measured window, from the warm-up's end on.
#[derive(Serialize)]
pub struct Summary {
    links: Vec<OfLink>,
    groups: Vec<OfGroup>,
}

#[derive(Serialize)]
struct OfLink {
    /// The part of the time in which it sent.
    utilization: f64,
    all: Queued,
    /// By group; none of a group without packets here.
    groups: Vec<Option<Queued>>,
}

/// Packets at a link's queue.
#[derive(Clone, Copy, Serialize)]
struct Queued {
    /// The share that the queue dropped; nothing came: 0.
    loss: f64,
    wait_mean_ms: f64,
}

#[derive(Serialize)]
struct OfGroup {
    /// Mean of its flows.
    goodput_bps: f64,
    /// Mean time of the pages, pings, … that began in the window and ended.
    exchange_s: Option<f64>,
    /// How good its calls were, if it has any.
    call: Option<Call>,
    /// How its video calls' frames came, if it has any.
    frames: Option<Frames>,
}

/// Reads an outcome.
pub fn of(outcome: &Outcome, plan: &Plan) -> Summary {
    let links = (0..plan.links.len()).map(|link| of_link(&outcome.queues, link as u32, plan.groups.len()));
    let groups = (0..plan.groups.len()).map(|group| of_group(outcome, plan, group as u32));
    Summary { links: links.collect(), groups: groups.collect() }
}

fn of_link(queues: &QueueTable, link: u32, groups: usize) -> OfLink {
    let row = |group: u32| {
        (0..queues.link.len()).find(|&row| (queues.link[row], queues.group[row]) == (link, group))
    };
    let read = |row: usize| Queued {
        loss: ratio(queues.dropped_packets[row], queues.arrived_packets[row]),
        wait_mean_ms: queues.wait_mean_ps[row] / 1e9,
    };
    let whole = row(ALL_GROUPS);
    OfLink {
        utilization: whole.map_or(0.0, |row| queues.busy_fraction[row]),
        all: whole.map_or(Queued { loss: 0.0, wait_mean_ms: 0.0 }, read),
        groups: (0..groups).map(|group| row(group as u32).map(read)).collect(),
    }
}

fn of_group(outcome: &Outcome, plan: &Plan, group: u32) -> OfGroup {
    let window_s = plan.duration_ps.saturating_sub(plan.warmup_ps) as f64 / 1e12;
    let flows = &outcome.flows;
    let of_group = |flow: u32| plan.flows.group.get(flow as usize).is_some_and(|&of| of == group);
    let rows = (0..flows.flow.len()).filter(|&row| flows.group[row] == group);
    let (count, bytes) =
        rows.fold((0, 0), |(count, bytes), row| (count + 1, bytes + flows.delivered_bytes[row]));
    let exchanges = &outcome.exchanges;
    let ended = (0..exchanges.flow.len()).filter(|&row| {
        of_group(exchanges.flow[row])
            && exchanges.start_ps[row] >= plan.warmup_ps
            && exchanges.end_ps[row] != u64::MAX
    });
    let (ends, sum_ps) = ended
        .fold((0, 0), |(ends, sum), row| (ends + 1, sum + exchanges.end_ps[row] - exchanges.start_ps[row]));
    OfGroup {
        goodput_bps: 8.0 * ratio(bytes, count) / window_s,
        exchange_s: (ends > 0).then(|| ratio(sum_ps, ends) / 1e12),
        call: call::of_group(outcome, plan, group as usize),
        frames: frames::of_group(outcome, plan, group as usize),
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
