//! The links with their queues.

use bufferlab_parameters::{Kinds, OutOfBounds};
use bufferlab_qdisc::{DisciplineConfig, Limit};
use bufferlab_simulator::{LimitChange, LinkPlan, QueuePlan};
use bufferlab_units::Rate;
use serde_json::json;

use super::varying::{Varying, varying};
use crate::checks::samples_link;
use crate::parts::link::Link;
use crate::parts::queue::{KEY_OF_LINKS, Queue};
use crate::quantity::buffer::{Buffer, LinkTraffic, limit};
use crate::resolved::Resolved;
use crate::text::mistake::Mistake;

/// A typical packet where no flow says one, bytes.
const PACKET_BYTES: u64 = 1000;

pub(super) fn links(
    scenario: &Resolved,
    traffic: &[Option<LinkTraffic>],
    seed: u64,
) -> Result<Vec<LinkPlan>, Mistake> {
    let links = scenario.links.iter().zip(traffic).enumerate().map(|(index, (link, traffic))| {
        let sample = scenario.probes.as_ref().is_some_and(|probes| samples_link(probes, &link.name));
        let plan = lower(link, traffic.as_ref(), sample)
            .map_err(|mistake| mistake.below(&scenario.link_key(index)))?;
        let Varying { capacity, delay_ps, delays } =
            varying(link, scenario.run.duration_ps, seed, index as u32)
                .map_err(|mistake| mistake.below(&scenario.link_key(index)))?;
        let memories = (0..).zip(&scenario.memories);
        let memory = memories.filter(|(_, memory)| memory.links.contains(&link.name));
        let memory = memory.map(|(number, memory)| memory.plan(number)).next();
        Ok(LinkPlan { capacity, delay_ps, varying_delay: delays, memory, ..plan })
    });
    links.collect()
}

fn lower(link: &Link, traffic: Option<&LinkTraffic>, sample: bool) -> Result<LinkPlan, Mistake> {
    let sized = |buffer: &Buffer, key: &str| limit(buffer, traffic).map_err(|mistake| mistake.key(key));
    let first = sized(&link.buffer, "buffer")?;
    let changes = link.changes.iter().enumerate().filter_map(|(index, change)| {
        let limit = sized(change.buffer.as_ref()?, &format!("changes[{index}].buffer"));
        Some(limit.map(|limit| LimitChange { at_ps: change.at_ps, limit }))
    });
    let changes = changes.collect::<Result<_, Mistake>>()?;
    let mark = link.mark_above.as_ref().map(|mark| sized(mark, "mark_above")).transpose()?;
    let config =
        discipline(&link.queue, mark, link.rate_bps, traffic).map_err(|mistake| mistake.below("queue"))?;
    let plan = link.plan(QueuePlan { limit: first, config });
    Ok(LinkPlan { changes, sample, ..plan })
}

/// The discipline with what was left open filled in.
fn discipline(
    queue: &Queue,
    mark: Option<Limit>,
    rate_bps: u64,
    traffic: Option<&LinkTraffic>,
) -> Result<DisciplineConfig, Mistake> {
    let mut config = queue.config.clone();
    for (key, buffer) in &queue.thresholds {
        let threshold = limit(buffer, traffic).map_err(|mistake| mistake.key(*key))?;
        config.set(key, json!(threshold)).expect("a threshold is one of packets or bytes");
    }
    if let Some(mark) = mark {
        config.set(KEY_OF_LINKS, json!(mark)).expect("a threshold is one of packets or bytes");
    }
    let packet_bytes = traffic.map_or(PACKET_BYTES, |traffic| traffic.packet_bytes);
    let rate = Rate::from_bps(rate_bps).expect("a rate is at least 1 bit/s");
    let agrees = config.validate().and_then(|()| {
        config.fill(rate, packet_bytes as u32);
        config.validate()
    });
    agrees.map(|()| config).map_err(|wrong| contradiction(queue, &wrong))
}

/// What is wrong with parameters that were within their bounds one by one.
fn contradiction(queue: &Queue, wrong: &OutOfBounds) -> Mistake {
    if queue.thresholds.is_empty() {
        return Mistake::new("does not go with the rest")
            .key(&wrong.field)
            .text(&wrong.value)
            .accepted(&wrong.accepted);
    }
    let upper = queue.thresholds.iter().find(|(key, _)| *key == "max_threshold");
    let text = upper.map_or("", |(_, buffer)| buffer.text.as_str());
    let accepted = "more than min_threshold, in packets if that is in packets, in bytes if in bytes";
    Mistake::new("does not go with min_threshold").key("max_threshold").text(text).accepted(accepted)
}
