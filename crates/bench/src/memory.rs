//! Memory of a flow beyond the packets in flight: peak memory with many flows, less that with few on the same link.

use std::error::Error;

use crate::child;
use crate::engine::Stack;
use crate::report::{grouped, table};
use crate::workload::Workload;

/// The bar, bytes a flow.
const BAR_BYTES: u64 = 1024;
/// One link for all, so that about the same number of packets is in flight and in the queue.
const RATE_BPS: u64 = 10_000_000_000;
const DURATION_S: u64 = 10;
const FEW_FLOWS: usize = 10;
const MANY_FLOWS: [usize; 2] = [10_000, 100_000];

/// Measures and gives the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let Some(few_kib) = peak_kib(FEW_FLOWS)? else {
        return Ok("MEMORY NOT MEASURED: this kernel has no /proc/self/status\n".to_owned());
    };
    let mut rows =
        vec![vec![FEW_FLOWS.to_string(), grouped(few_kib), String::new(), String::new(), String::new()]];
    for flows in MANY_FLOWS {
        let kib = peak_kib(flows)?.ok_or("the peak of memory went missing")?;
        let bytes = kib.saturating_sub(few_kib) * 1024 / flows as u64;
        rows.push(vec![
            flows.to_string(),
            grouped(kib),
            bytes.to_string(),
            BAR_BYTES.to_string(),
            if bytes <= BAR_BYTES { "met" } else { "MISSED" }.to_owned(),
        ]);
    }
    Ok(format!(
        "Peak resident memory of a process that runs the engine at {} Gbit/s (plan and result tables included);\n\
         bytes a flow: what it is above that with {FEW_FLOWS} flows\n\n{}",
        RATE_BPS / 1_000_000_000,
        table(&["flows", "peak KiB", "bytes a flow", "bar", ""], &rows)
    ))
}

fn peak_kib(flows: usize) -> Result<Option<u64>, Box<dyn Error>> {
    let work = Workload { flows, ..Workload::at_rate(RATE_BPS, DURATION_S) };
    let mut command = child::this_program(&child::arguments(&work, Stack::Rfc))?;
    Ok(child::counts(&child::output(&mut command)?)?.peak_kib)
}
