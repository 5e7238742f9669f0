//! The scenario under a seed: what the flows drawn settle of it.

use bufferlab_qdisc::{DisciplineConfig, RedConfig};
use bufferlab_simulator::Plan;
use bufferlab_units::Rate;

use crate::parts::queue::Queue;
use crate::quantity::buffer::{Limit, LinkTraffic};
use crate::resolved::Resolved;

/// The scenario with the plan's seed, its limits, and the queues' parameters that were left open.
pub(super) fn settled(scenario: &Resolved, traffic: &[Option<LinkTraffic>], plan: &Plan) -> Resolved {
    let mut settled = scenario.clone();
    settled.run.seed = plan.seed;
    for ((link, planned), traffic) in settled.links.iter_mut().zip(&plan.links).zip(traffic) {
        link.packet_bytes = traffic.map(|traffic| traffic.packet_bytes);
        link.buffer.limit = Some(planned.discipline.limit);
        let buffers = link.changes.iter_mut().filter_map(|change| change.buffer.as_mut());
        for (buffer, planned) in buffers.zip(&planned.changes) {
            buffer.limit = Some(planned.limit);
        }
        link.queue.config = in_full(&link.queue, &planned.discipline.config, link.rate_bps);
        link.queue.thresholds.clear();
        if let Some(mark) = &mut link.mark_above {
            mark.limit = link.queue.mark_above().map(Limit::from);
        }
    }
    settled
}

/// A discipline's parameters as the plan has them, and those that the engine chooses by the rate.
fn in_full(queue: &Queue, planned: &DisciplineConfig, rate_bps: u64) -> DisciplineConfig {
    match (&queue.config, planned, Rate::from_bps(rate_bps)) {
        (DisciplineConfig::Red(given), DisciplineConfig::Red(planned), Some(rate)) => {
            let thresholds_given = !queue.thresholds.is_empty();
            let given =
                RedConfig { min_threshold: planned.min_threshold.filter(|_| thresholds_given), ..*given };
            DisciplineConfig::Red(planned.in_full(&given, rate))
        }
        _ => planned.clone(),
    }
}
