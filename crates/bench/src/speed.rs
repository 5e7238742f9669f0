//! The engine against the bare loop, alternating on one thread, by the thread's processor time.

use std::error::Error;

use crate::bare;
use crate::clock::timed;
use crate::engine::{self, Stack};
use crate::report::{grouped, median, table};
use crate::workload::Workload;

/// Highest ratio of the engine's time per packet to the bare loop's. With few flows the loop's state stays in registers,
/// which no engine can match; with very many, memory decides, and there is no bar.
fn bar(flows: usize) -> Option<f64> {
    match flows {
        0..100 => Some(4.0),
        100..=1000 => Some(3.0),
        _ => None,
    }
}

/// Flows, simulated seconds and turns of each row: about a million packets per turn.
const ROWS: [(usize, u64, usize); 6] =
    [(2, 160, 9), (10, 160, 9), (100, 160, 9), (1000, 160, 9), (10_000, 20, 5), (100_000, 10, 3)];

/// Times of one row, ns per packet that reached the queue.
#[derive(Default)]
struct Row {
    bare: Vec<f64>,
    small: Vec<f64>,
    engine: Vec<f64>,
}

fn ns_a_packet(spent_s: f64, packets: u64) -> f64 {
    spent_s * 1e9 / packets as f64
}

/// Measures all rows and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let headings = [
        "flows",
        "rate Mbit/s",
        "packets",
        "bare ns",
        "engine ns",
        "ratio",
        "bar",
        "",
        "ratio to 64-bit",
        "engine packets/s",
    ];
    let mut rows = Vec::new();
    for (flows, seconds, turns) in ROWS {
        rows.push(measure(&Workload::new(flows, seconds), turns)?);
    }
    Ok(format!(
        "Engine (SACK recovery, queue statistics, samples every 10 ms) and bare loop (AIMD without recovery)\n\
         ns: processor time per packet that reaches the bottleneck; medians of paired turns\n\
         64-bit: the bare loop with nanoseconds and the flow in one word instead of all bits of both\n\n{}",
        table(&headings, &rows)
    ))
}

fn measure(work: &Workload, turns: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let plan = engine::plan(work, Stack::Rfc);
    let mut row = Row::default();
    let mut packets = 0;
    // The first turn warms up the caches and the allocator and is not counted.
    for turn in 0..=turns {
        let (bare_s, bare) = timed(|| bare::run::<u128>(work))?;
        let (engine_s, engine) = timed(|| engine::simulate(&plan))?;
        let (small_s, small) = timed(|| bare::run::<u64>(work))?;
        packets = engine?.arrived_packets;
        if turn > 0 {
            row.bare.push(ns_a_packet(bare_s, bare.arrived_packets));
            row.engine.push(ns_a_packet(engine_s, packets));
            row.small.push(ns_a_packet(small_s, small.arrived_packets));
        }
    }
    Ok(cells(work, packets, row))
}

fn cells(work: &Workload, packets: u64, row: Row) -> Vec<String> {
    let ratios = |to: &[f64]| median(row.engine.iter().zip(to).map(|(engine, bare)| engine / bare).collect());
    let ratio = ratios(&row.bare);
    let small_ratio = ratios(&row.small);
    let engine_ns = median(row.engine);
    vec![
        work.flows.to_string(),
        (work.rate_bps / 1_000_000).to_string(),
        grouped(packets),
        format!("{:.1}", median(row.bare)),
        format!("{engine_ns:.1}"),
        format!("{ratio:.2}"),
        bar(work.flows).map_or("–".to_owned(), |bar| format!("{bar:.0}")),
        bar(work.flows).map_or("", |bar| if ratio <= bar { "met" } else { "MISSED" }).to_owned(),
        format!("{small_ratio:.2}"),
        grouped((1e9 / engine_ns) as u64),
    ]
}
