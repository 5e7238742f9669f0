//! What a discipline has inside at a moment: classes with their thresholds, or queues for flows.

use bufferlab_qdisc::{ClassEstimate, Limit, SubQueue};
use bufferlab_simulator::{PlanError, Session};
use bufferlab_units::Span;
use serde::Serialize;

/// Queues that are shown at most: more would be thinner than a line.
const MOST_QUEUES: usize = 64;

/// Of a link. Both are empty if its discipline has one queue.
#[derive(Serialize)]
pub struct Inside {
    classes: Vec<Class>,
    /// In the order of their turns, the first ones only.
    queues: Vec<Queue>,
    /// How many there are.
    queues_in_all: usize,
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
    })
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
