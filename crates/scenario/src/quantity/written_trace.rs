//! What a rate offers, written as a file: a packet-delivery trace for Mahimahi, or rates over time as CSV.

use bufferlab_simulator::{CapacityPlan, RatePiece};

use super::capacity::parse_capacity;
use super::empirical::Files;
use super::trace::OPPORTUNITY_BYTES;
use super::{PS_PER_MS, PS_PER_S};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// A rate over time as a packet-delivery trace of this length: an opportunity in the millisecond in which its last byte
/// could have left.
fn write_mahimahi(pieces: &[RatePiece], repeat_ps: u64, length_ps: u64) -> String {
    let mut lines = String::new();
    let need = u128::from(OPPORTUNITY_BYTES) * 8 * u128::from(PS_PER_S);
    let (mut done, mut at, mut round_ps, mut index) = (0_u128, 0_u64, 0_u64, 0);
    while at < length_ps {
        let piece = pieces[index];
        index += 1;
        let ends = match pieces.get(index) {
            Some(next) => round_ps + next.at_ps,
            None if repeat_ps == 0 => length_ps,
            None => {
                (index, round_ps) = (0, round_ps + repeat_ps);
                round_ps
            }
        };
        let ends = ends.min(length_ps);
        let work = u128::from(piece.rate_bps) * u128::from(ends.saturating_sub(at));
        let mut used = 0;
        while done + (work - used) >= need {
            used += need - done;
            done = 0;
            let ps = at + u64::try_from(used.div_ceil(u128::from(piece.rate_bps))).unwrap_or(u64::MAX);
            lines.extend([ps.div_ceil(PS_PER_MS).to_string(), "\n".to_owned()]);
        }
        done += work - used;
        at = ends.max(at);
    }
    lines
}

/// What a trace is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// A packet-delivery trace.
    Mahimahi,
    /// Rates over time; of opportunities, the mean of each step of this many ps.
    Csv(u64),
}

/// What a rate offers, as a file of a length in ps, or of its own.
///
/// # Errors
/// If it is no rate, has no length of its own, or is drawn by each run.
pub fn trace_text(
    rate: &Value,
    length_ps: Option<u64>,
    format: TraceFormat,
    files: &dyn Files,
) -> Result<String, Mistake> {
    let capacity = parse_capacity(rate, files)?;
    let own_ps = match &capacity.plan {
        Some(CapacityPlan::Opportunities { repeat_ms, .. }) => u64::from(*repeat_ms) * PS_PER_MS,
        _ => capacity.pieces().map_or(0, |(_, repeat_ps)| repeat_ps),
    };
    let length_ps = length_ps.unwrap_or(own_ps);
    if length_ps == 0 {
        let mistake = Mistake::new("has no end of its own").value(rate);
        return Err(mistake.accepted("a length, such as --duration '60 s'"));
    }
    match (&capacity.plan, capacity.pieces(), format) {
        (_, Some((pieces, repeat_ps)), TraceFormat::Mahimahi) => {
            Ok(write_mahimahi(&pieces, repeat_ps, length_ps))
        }
        (_, Some((pieces, repeat_ps)), TraceFormat::Csv(_)) => {
            Ok(csv_of_pieces(&pieces, repeat_ps, length_ps))
        }
        (Some(CapacityPlan::Opportunities { at_ms, bytes, repeat_ms }), None, format) => {
            let times = opportunities(at_ms, *repeat_ms).take_while(|ms| ms * PS_PER_MS <= length_ps);
            Ok(match format {
                TraceFormat::Mahimahi => times.flat_map(|ms| [ms.to_string(), "\n".to_owned()]).collect(),
                TraceFormat::Csv(step_ps) => csv_of_opportunities(times, *bytes, step_ps, length_ps),
            })
        }
        _ => {
            let accepted = "a constant rate, mahimahi(file), csv(file) or steps(…)";
            Err(Mistake::new("is drawn by each run, or depends on what is sent")
                .value(rate)
                .accepted(accepted))
        }
    }
}

/// The moments of a trace, endless, ms.
fn opportunities(at_ms: &[u32], repeat_ms: u32) -> impl Iterator<Item = u64> + '_ {
    let rounds = (0_u64..).map(move |round| round * u64::from(repeat_ms));
    rounds.flat_map(move |base| at_ms.iter().map(move |&at| base + u64::from(at)))
}

const CSV_HEADER: &str = "time_s,rate_Mbps\n";

fn csv_line(at_ps: u64, bps: f64) -> String {
    format!("{},{}\n", at_ps as f64 / PS_PER_S as f64, bps / 1e6)
}

fn csv_of_pieces(pieces: &[RatePiece], repeat_ps: u64, length_ps: u64) -> String {
    let rounds = if repeat_ps == 0 { 1 } else { length_ps.div_ceil(repeat_ps) };
    let lines = (0..rounds).flat_map(|round| {
        pieces.iter().map(move |piece| (round * repeat_ps + piece.at_ps, piece.rate_bps as f64))
    });
    let lines = lines.take_while(|(at_ps, _)| *at_ps < length_ps);
    std::iter::once(CSV_HEADER.to_owned()).chain(lines.map(|(at_ps, bps)| csv_line(at_ps, bps))).collect()
}

/// An opportunity counts for the step that it ends or lies in: that of the millisecond before it.
fn csv_of_opportunities(
    times: impl Iterator<Item = u64>,
    bytes: u32,
    step_ps: u64,
    length_ps: u64,
) -> String {
    let mut counts = vec![0_u64; usize::try_from(length_ps.div_ceil(step_ps)).unwrap_or(0)];
    for ms in times {
        let step = (ms * PS_PER_MS).saturating_sub(1) / step_ps;
        if let Some(count) = usize::try_from(step).ok().and_then(|step| counts.get_mut(step)) {
            *count += 1;
        }
    }
    let step_s = step_ps as f64 / PS_PER_S as f64;
    let rate = |count: u64| count as f64 * f64::from(bytes) * 8.0 / step_s;
    let lines = (0..).zip(counts).map(|(step, count)| csv_line(step * step_ps, rate(count)));
    std::iter::once(CSV_HEADER.to_owned()).chain(lines).collect()
}
