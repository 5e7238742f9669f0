//! What those in video calls see: frames in time, or late.
//!
//! As in `python/bufferlab/results/frames_seen.py`, which says where the bounds are from; tests/web compares the two.

use std::collections::BTreeMap;

use bufferlab_simulator::{Outcome, Plan, SourcePlan};
use serde::Serialize;

/// A frame that takes longer is late, ps (ITU-T G.114).
const LATE_PS: u64 = 150_000_000_000;
/// A packet that is sent as long before the run's end and does not come is lost, ps.
const PATIENCE_PS: u64 = 1_000_000_000_000;

/// Of all calls of a group together.
#[derive(Clone, Copy, Serialize)]
pub struct Frames {
    /// The share that was not whole in time.
    late: f64,
    /// In which 95 % of those that became whole did; none if none did.
    p95_ms: Option<f64>,
}

/// What a group's video calls came to; nothing if it has none.
pub fn of_group(outcome: &Outcome, plan: &Plan, group: usize) -> Option<Frames> {
    let SourcePlan::VideoCall(_) = &plan.groups[group].source else { return None };
    let table = &outcome.exchanges;
    let is_counted = |row: usize| {
        plan.flows.group[table.flow[row] as usize] as usize == group && table.start_ps[row] >= plan.warmup_ps
    };
    // The packets of a frame begin together, and it ends with the last; without one it ends never.
    let mut frames: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    for row in (0..table.flow.len()).filter(|&row| is_counted(row)) {
        let end = frames.entry((table.flow[row], table.start_ps[row])).or_default();
        *end = table.end_ps[row].max(*end);
    }
    let known_ps: Vec<Option<u64>> = frames
        .into_iter()
        .filter(|&((_, start), end)| end != u64::MAX || start + PATIENCE_PS < outcome.reached_ps)
        .map(|((_, start), end)| (end != u64::MAX).then(|| end - start))
        .collect();
    let late = known_ps.iter().filter(|took| took.is_none_or(|took| took > LATE_PS)).count();
    let mut whole_ps: Vec<u64> = known_ps.iter().copied().flatten().collect();
    whole_ps.sort_unstable();
    let p95_ms = quantile(&whole_ps, 95).map(|ps| ps / 1e9);
    (!known_ps.is_empty()).then(|| Frames { late: late as f64 / known_ps.len() as f64, p95_ms })
}

/// A quantile of sorted values, in proportion between its two neighbors, as numpy takes it.
fn quantile(sorted: &[u64], percent: usize) -> Option<f64> {
    let at = percent * sorted.len().checked_sub(1)?;
    let (below, above) = (sorted[at / 100] as f64, sorted[at.div_ceil(100)] as f64);
    Some(below + (above - below) * (at % 100) as f64 / 100.0)
}
