//! What a discipline has inside at a moment: classes with their thresholds, or queues for flows.

use bufferlab_qdisc::{ClassEstimate, Limit, SubQueue};
use bufferlab_simulator::{PlanError, Session};
use bufferlab_units::Span;
use serde::Serialize;

/// Queues that are shown at most: more would be thinner than a line.
const MOST_QUEUES: usize = 64;

/// Places in the order of what waits that are shown at most.
const MOST_PLACES: usize = 1000;

/// Of a link. Classes and queues are empty if its discipline has one queue.
#[derive(Serialize)]
pub struct Inside {
    classes: Vec<Class>,
    /// In the order of their turns, the first ones only.
    queues: Vec<Queue>,
    /// How many there are.
    queues_in_all: usize,
    /// The groups of what is in transmission or waits in one queue, the next one to be out first.
    order: Order,
}

/// Of a long queue, every second, third, … packet.
#[derive(Serialize)]
struct Order {
    every: usize,
    /// Nothing if the discipline has more than one queue.
    groups: Vec<u16>,
}

#[derive(Serialize)]
struct Class {
    packets: u64,
    limit: Limit,
    /// Round-trip time from which on packets belong to the next class.
    threshold_s: Option<f64>,
    /// Their mean round-trip time without queueing, as the discipline estimates it.
    rtt_s: Option<f64>,
    /// Their smoothed wait.
    delay_s: f64,
}

#[derive(Serialize)]
struct Queue {
    packets: u64,
    group: u16,
    is_new: bool,
}

/// Reads it.
pub fn of(session: &mut Session, link: usize) -> Result<Inside, PlanError> {
    let classes = session.estimates(link)?.map(|estimates| estimates.classes).unwrap_or_default();
    let queues = session.sub_queues(link)?;
    Ok(Inside {
        classes: classes.iter().map(class).collect(),
        queues: queues.iter().take(MOST_QUEUES).map(queue).collect(),
        queues_in_all: queues.len(),
        order: thinned(&session.groups_in_order(link)?),
    })
}

fn thinned(groups: &[u16]) -> Order {
    let every = groups.len().div_ceil(MOST_PLACES).max(1);
    Order { every, groups: groups.iter().copied().step_by(every).collect() }
}

fn class(estimate: &ClassEstimate) -> Class {
    let seconds = |span: Span| span.as_ps() as f64 / 1e12;
    Class {
        packets: estimate.backlog.packets,
        limit: estimate.limit,
        threshold_s: estimate.threshold.map(seconds),
        rtt_s: estimate.rtt.map(seconds),
        delay_s: seconds(estimate.delay),
    }
}

fn queue(queue: &SubQueue) -> Queue {
    Queue { packets: queue.backlog.packets, group: queue.group, is_new: queue.is_new }
}
