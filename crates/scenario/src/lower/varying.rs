//! Links that vary: what was written of their rate and delay, as the plan has it.

use bufferlab_simulator::{CapacityPlan, DelayPiece, DelayPlan, JitterPlan, StreamKind};
use bufferlab_units::Stream;

use crate::parts::link::Link;
use crate::parts::varying::{capacity, moments};
use crate::text::mistake::Mistake;

/// What a link's plan takes from here.
pub struct Varying {
    /// What its transmitter offers, if that is no constant rate.
    pub capacity: Option<CapacityPlan>,
    /// The least propagation delay, ps.
    pub delay_ps: u64,
    /// What comes to it.
    pub delays: Option<DelayPlan>,
}

/// A link over a run of a length, the `index`th under a seed.
pub fn varying(link: &Link, duration_ps: u64, seed: u64, index: u32) -> Result<Varying, Mistake> {
    let (delay_ps, delays) = delays(link, duration_ps, seed, index)?;
    let jitter = super::jitter_plan(&link.jitter);
    let varies = !delays.is_empty() || jitter != JitterPlan::None;
    let repeat_ps = if delays.is_empty() { 0 } else { delay_repeat(link) };
    let plan = DelayPlan { delays, repeat_ps, jitter, reorders: link.reorder };
    Ok(Varying { capacity: capacity(link, duration_ps), delay_ps, delays: varies.then_some(plan) })
}

/// When delays begin again.
fn delay_repeat(link: &Link) -> u64 {
    let of_file = !link.capacity.delays.is_empty();
    match link.capacity.pieces() {
        Some((_, repeat_ps)) if of_file => repeat_ps,
        _ => 0,
    }
}

/// The least delay, and what comes to it from moments on; nothing where it never changes.
fn delays(link: &Link, duration_ps: u64, seed: u64, index: u32) -> Result<(u64, Vec<DelayPiece>), Mistake> {
    let mut steps: Vec<(u64, u64)> = vec![(0, link.delay_ps)];
    let changes = link.changes.iter().filter_map(|change| Some((change.at_ps, change.delay_ps?)));
    steps.extend(link.capacity.delays.iter().copied().chain(changes));
    if let Some((handover, law)) = link.handover.as_ref().and_then(|each| Some((each, each.delay.as_ref()?)))
    {
        let stream = &mut Stream::new(seed, StreamKind::LinkDelay as u32, index);
        let times: Vec<u64> = std::iter::once(0).chain(moments(handover, duration_ps)).collect();
        let drawn = law.draw(stream, times.len()).map_err(|mistake| mistake.key("handover"))?;
        steps =
            times.into_iter().zip(drawn).map(|(at_ps, more_ps)| (at_ps, link.delay_ps + more_ps)).collect();
    }
    // of several at one moment the last one holds
    let mut last_of_each: Vec<(u64, u64)> = Vec::new();
    for step in steps {
        last_of_each.retain(|(at_ps, _)| *at_ps != step.0);
        last_of_each.push(step);
    }
    let least = last_of_each.iter().map(|(_, delay_ps)| *delay_ps).min().unwrap_or(link.delay_ps);
    if last_of_each.iter().all(|(_, delay_ps)| *delay_ps == least) {
        return Ok((least, Vec::new()));
    }
    let pieces =
        last_of_each.iter().map(|&(at_ps, delay_ps)| DelayPiece { at_ps, more_ps: delay_ps - least });
    Ok((least, pieces.collect()))
}
