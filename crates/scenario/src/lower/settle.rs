//! The scenario under a seed: what the flows drawn settle of it.

use bufferlab_simulator::Plan;

use crate::quantity::buffer::{Limit, LinkTraffic};
use crate::resolved::Resolved;

/// The scenario with the plan's seed, its limits, and the queues' parameters that were left open.
pub(super) fn settled(scenario: &Resolved, traffic: &[Option<LinkTraffic>], plan: &Plan) -> Resolved {
    let mut settled = scenario.clone();
    settled.run.seed = plan.seed;
    for ((link, planned), traffic) in settled.links.iter_mut().zip(&plan.links).zip(traffic) {
        link.packet_bytes = traffic.map(|traffic| traffic.packet_bytes);
        link.buffer.limit = Some(planned.discipline.limit);
        for (change, planned) in link.changes.iter_mut().zip(&planned.changes) {
            change.buffer.limit = Some(planned.limit);
        }
        link.queue.config = planned.discipline.config.clone();
        link.queue.thresholds.clear();
        if let Some(mark) = &mut link.mark_above {
            mark.limit = link.queue.mark_above().map(Limit::from);
        }
    }
    settled
}
