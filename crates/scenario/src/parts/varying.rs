//! What a link whose rate varies offers over a run, and its mean.

use bufferlab_simulator::{CapacityPlan, RatePiece};

use super::link::Link;
use crate::quantity::MAX_TIME_PS;
use crate::quantity::capacity::rates_mean;
use crate::quantity::handover::Handover;

/// The mean rate over a run; at least 1, where the run ends before anything is offered.
pub fn mean_rate(link: &Link, duration_ps: u64) -> u64 {
    let mean = match capacity(link, duration_ps) {
        Some(CapacityPlan::Rates { pieces, repeat_ps }) => {
            rates_mean(&pieces, repeat_ps, duration_ps).round_ties_even() as u64
        }
        _ => link.capacity.mean_bps(duration_ps),
    };
    mean.max(1)
}

/// What a link offers, with its changes and the outages of its handovers; nothing for a constant rate.
///
/// They go with a constant rate and with given pieces only: others are refused where they are read.
pub fn capacity(link: &Link, duration_ps: u64) -> Option<CapacityPlan> {
    let changes: Vec<RatePiece> = link
        .changes
        .iter()
        .filter_map(|change| change.rate_bps.map(|rate_bps| RatePiece { at_ps: change.at_ps, rate_bps }))
        .collect();
    let outage = link.handover.as_ref().filter(|handover| handover.outage_ps > 0);
    let Some((mut pieces, repeat_ps)) =
        link.capacity.pieces().filter(|_| outage.is_some() || !changes.is_empty())
    else {
        return link.capacity.plan.clone();
    };
    if repeat_ps > 0 {
        pieces = unrolled(&pieces, repeat_ps, duration_ps);
    }
    if let Some(first) = changes.first() {
        pieces.retain(|piece| piece.at_ps < first.at_ps);
        pieces.extend(changes);
    }
    if let Some(handover) = outage {
        pieces = with_outages(&pieces, handover, duration_ps);
    }
    Some(CapacityPlan::Rates { pieces, repeat_ps: 0 })
}

/// Pieces that repeat, as many as a run needs.
fn unrolled(pieces: &[RatePiece], repeat_ps: u64, duration_ps: u64) -> Vec<RatePiece> {
    let rounds = (0..=duration_ps / repeat_ps).map(|round| round * repeat_ps);
    let all = rounds.flat_map(|base| {
        pieces.iter().map(move |piece| RatePiece { at_ps: base + piece.at_ps, rate_bps: piece.rate_bps })
    });
    all.take_while(|piece| piece.at_ps <= duration_ps.min(MAX_TIME_PS)).collect()
}

/// Pieces with nothing for a time from each handover on.
fn with_outages(pieces: &[RatePiece], handover: &Handover, duration_ps: u64) -> Vec<RatePiece> {
    let outages: Vec<(u64, u64)> =
        moments(handover, duration_ps).map(|at_ps| (at_ps, at_ps + handover.outage_ps)).collect();
    let rate_at = |at_ps: u64| {
        let out = outages.iter().any(|(from, to)| (*from..*to).contains(&at_ps));
        let piece = pieces.iter().rfind(|piece| piece.at_ps <= at_ps);
        if out { 0 } else { piece.map_or(0, |piece| piece.rate_bps) }
    };
    let ends = outages.iter().flat_map(|(from, to)| [*from, *to]);
    let mut times: Vec<u64> = pieces.iter().map(|piece| piece.at_ps).chain(ends).collect();
    times.sort_unstable();
    // what is closer than the shortest piece of a plan is one moment
    times.dedup_by(|later, earlier| *later < *earlier + 1_000_000);
    times.into_iter().map(|at_ps| RatePiece { at_ps, rate_bps: rate_at(at_ps) }).collect()
}

/// The moments of handovers within a run, ps.
pub fn moments(handover: &Handover, duration_ps: u64) -> impl Iterator<Item = u64> {
    let (first, every) = (handover.first_ps, handover.every_ps);
    (0..).map(move |number| first + number * every).take_while(move |&at_ps| at_ps < duration_ps)
}
