//! The cost of recording, alternating with runs that record nothing on one thread, by the thread's processor time.
//! Nothing is written to disk.

use std::error::Error;
use std::io::{self, Write};

use bufferlab_capture::{Output, Places, Recording, TraceFormat};
use bufferlab_simulator::{Control, Plan, PlanError, run, run_recorded};
use bufferlab_units::Time;

use crate::clock::timed;
use crate::engine::{self, Stack};
use crate::report::{grouped, median, table};
use crate::workload::Workload;

/// Turns of each row, simulated seconds, and the numbers of flows.
const TURNS: usize = 5;
const DURATION_S: u64 = 60;
const FLOWS: [usize; 2] = [10, 100];

/// What is recorded.
#[derive(Clone, Copy)]
enum What {
    Senders,
    AllPlaces,
    Trace,
}

/// A file that discards what is written.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Nowhere {
    fn cut(&mut self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

/// Measures all rows and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let headings = ["flows", "recorded", "records", "bytes per record", "time over none", "ns per record"];
    let mut rows = Vec::new();
    for flows in FLOWS {
        let plan = engine::plan(&Workload::new(flows, DURATION_S), Stack::Rfc);
        for (name, what) in
            [("senders", What::Senders), ("all places", What::AllPlaces), ("trace", What::Trace)]
        {
            rows.push(measure(flows, name, what, &plan)?);
        }
    }
    Ok(format!(
        "Captures and traces: processor time relative to a run that records nothing, medians of paired turns\n\n{}",
        table(&headings, &rows)
    ))
}

fn measure(flows: usize, name: &str, what: What, plan: &Plan) -> Result<Vec<String>, Box<dyn Error>> {
    let (mut ratios, mut extra_s, mut counted) = (Vec::new(), Vec::new(), (0, 0));
    // the first turn warms up the caches and is not counted
    for turn in 0..=TURNS {
        let (plain_s, outcome) = timed(|| run(plan, &Control::default()))?;
        outcome?;
        let (recorded_s, counts) = timed(|| record(what, plan))?;
        counted = counts?;
        if turn > 0 {
            ratios.push(recorded_s / plain_s);
            extra_s.push(recorded_s - plain_s);
        }
    }
    let (records, bytes) = counted;
    Ok(vec![
        flows.to_string(),
        name.to_owned(),
        grouped(records),
        format!("{:.0}", bytes as f64 / records as f64),
        format!("{:.1}", median(ratios)),
        format!("{:.0}", median(extra_s) * 1e9 / records as f64),
    ])
}

/// Records a run; returns the numbers of records and bytes.
fn record(what: What, plan: &Plan) -> Result<(u64, u64), PlanError> {
    let recording = Recording::new(plan, None);
    let every = Places { senders: true, receivers: true, links: (0..plan.links.len() as u32).collect() };
    let senders = Places { senders: true, ..Places::default() };
    let mut recording = match what {
        What::Senders => recording.with_pcap(Box::new(Nowhere), &senders, u64::MAX),
        What::AllPlaces => recording.with_pcap(Box::new(Nowhere), &every, u64::MAX),
        What::Trace => recording.with_trace(Box::new(Nowhere), TraceFormat::Ns2, u64::MAX),
    };
    let outcome = run_recorded(plan, &Control::default(), &mut recording)?;
    let (pcap, trace) = recording.finish(Time::from_ps(outcome.reached_ps));
    Ok(pcap.or(trace).map_or((0, 0), |report| (report.records, report.bytes)))
}
