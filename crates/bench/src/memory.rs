//! Memory per flow beyond the data in flight: peak memory with many flows, minus that with few on the same link.
//!
//! Measured twice. First, the flows' windows share a fixed number of packets. Then many flows have exactly as many
//! packets in flight as few, and lose none, so the difference is the cost of the flows. Second, windows have no bound,
//! and the link is overrun from the first slow start on. Then many flows have more data outstanding than few, because
//! data beyond a gap stays outstanding until the gap is filled, and the difference includes the state for that.

use std::error::Error;

use crate::child;
use crate::engine::Stack;
use crate::report::{grouped, table};
use crate::workload::{NO_WINDOW, Workload};

/// The bar, bytes per flow.
const BAR_BYTES: u64 = 1024;
/// One link for all; it and its queue hold 250 000 packets.
const RATE_BPS: u64 = 10_000_000_000;
const DURATION_S: u64 = 10;
const FEW_FLOWS: usize = 10;
const MANY_FLOWS: [usize; 2] = [10_000, 100_000];
/// Packets that the bounded flows together have in flight: more than the link alone holds, so that it is full, and less
/// than the link and its queue hold.
const SHARED_PACKETS: u64 = 200_000;

/// Measures and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let mut rows = Vec::new();
    for bounded in [true, false] {
        let Some(few) = peak(FEW_FLOWS, bounded)? else {
            return Ok("MEMORY NOT MEASURED: this kernel has no /proc/self/status\n".to_owned());
        };
        rows.push(row(FEW_FLOWS, few, few));
        for flows in MANY_FLOWS {
            let many = peak(flows, bounded)?.ok_or("the memory peak is missing")?;
            rows.push(row(flows, many, few));
        }
    }
    Ok(format!(
        "Peak resident memory of a process that runs the engine at {} Gbit/s (plan and result tables included);\n\
         bytes a flow: what it is above that with {FEW_FLOWS} flows. Rows without losses: windows bounded so that the\n\
         flows have {} packets in flight together, however many they are; rows with losses: no bound\n\n{}",
        RATE_BPS / 1_000_000_000,
        grouped(SHARED_PACKETS),
        table(&["flows", "window", "lost %", "peak KiB", "bytes per flow", "bar", ""], &rows)
    ))
}

/// What one run took.
#[derive(Clone, Copy)]
struct Peak {
    kib: u64,
    window_packets: u64,
    lost_percent: f64,
}

fn row(flows: usize, peak: Peak, few: Peak) -> Vec<String> {
    let mut row = vec![
        flows.to_string(),
        if peak.window_packets == NO_WINDOW { "–".to_owned() } else { peak.window_packets.to_string() },
        format!("{:.1}", peak.lost_percent),
        grouped(peak.kib),
    ];
    if flows == FEW_FLOWS {
        row.extend([const { String::new() }; 3]);
        return row;
    }
    let bytes = peak.kib.saturating_sub(few.kib) * 1024 / flows as u64;
    let judgment = if bytes <= BAR_BYTES { "met" } else { "MISSED" };
    row.extend([bytes.to_string(), BAR_BYTES.to_string(), judgment.to_owned()]);
    row
}

fn peak(flows: usize, bounded: bool) -> Result<Option<Peak>, Box<dyn Error>> {
    let window_packets = if bounded { SHARED_PACKETS / flows as u64 } else { NO_WINDOW };
    let work = Workload { flows, window_packets, ..Workload::at_rate(RATE_BPS, DURATION_S) };
    let mut command = child::this_program(&child::arguments(&work, Stack::Rfc))?;
    let counts = child::counts(&child::output(&mut command)?)?;
    let lost_percent =
        100.0 * counts.dropped_packets.unwrap_or(0) as f64 / counts.arrived_packets.max(1) as f64;
    Ok(counts.peak_kib.map(|kib| Peak { kib, window_packets, lost_percent }))
}
