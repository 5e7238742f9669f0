//! Congestion controls against Reno, alternating on one thread, by the thread's processor time. All use Linux's recovery,
//! so that the congestion control is the only difference.

use std::error::Error;

use bufferlab_congestion::{CongestionConfig, Growth, NamedControl, RenoConfig};
use bufferlab_parameters::Kinds;
use bufferlab_simulator::{Plan, SourcePlan};
use bufferlab_transport::Recovery;

use crate::clock::timed;
use crate::engine::{self, Stack};
use crate::report::{median, table};
use crate::workload::Workload;

/// Turns of each pair.
const TURNS: usize = 9;
/// Simulated seconds, and the numbers of flows.
const DURATION_S: u64 = 60;
const FLOWS: [usize; 2] = [10, 100];

const RENO: CongestionConfig = CongestionConfig::Reno(RenoConfig { growth: Growth::PerSegment });

/// Bars for the ratio of a control's time to Reno's; the others have none.
const BARS: [(&str, f64); 8] = [
    ("bic", 1.3),
    ("cubic-0.8", 1.3),
    ("cubic-0.7", 1.3),
    ("cubic-linux", 1.3),
    ("cubic", 1.3),
    ("ctcp", 1.3),
    ("bbr", 2.0),
    ("bbr3", 2.0),
];

/// Every control but Reno, without what a word in brackets adds, and without those of Linux 2.6, which have a recovery of
/// their own.
fn controls() -> impl Iterator<Item = NamedControl> {
    let controls = NamedControl::words().filter_map(|word| {
        let control = NamedControl::of(word)?;
        (control.word == word && !word.contains('(')).then_some(control)
    });
    controls.filter(|control| !["reno", "reno-2.6"].contains(&control.config.word()))
}

/// Measures all congestion controls and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let mut rows = Vec::new();
    for flows in FLOWS {
        for control in controls() {
            rows.push(measure(flows, &control)?);
        }
    }
    let headings = ["flows", "control", "Reno ns", "ns", "ratio", "bar", ""];
    Ok(format!(
        "Congestion controls (Linux's recovery, 100 Mbit/s): processor time per packet that reaches the\n\
         bottleneck, over Reno's; medians of paired turns\n\n{}",
        table(&headings, &rows)
    ))
}

/// Runs one congestion control of the table or Reno, for profilers and for counting instructions; `bdps` is the buffer
/// in bandwidth-delay products, 1 in the table.
pub fn run_one(name: &str, flows: usize, duration_s: u64, bdps: f64) -> Result<String, Box<dyn Error>> {
    let of_name = || controls().find(|control| control.word == name).map(|control| control.config);
    let control = if name == "reno" { Some(RENO) } else { of_name() };
    let control = control.ok_or_else(|| format!("'{name}' is not a congestion control of the table"))?;
    let mut work = Workload::new(flows, duration_s);
    work.limit_packets = (work.limit_packets as f64 * bdps) as u64;
    Ok(serde_json::to_string(&engine::simulate(&plan(&work, &control))?)? + "\n")
}

fn measure(flows: usize, control: &NamedControl) -> Result<Vec<String>, Box<dyn Error>> {
    let NamedControl { word, config } = control;
    let bar = BARS.iter().find(|(known, _)| known == word).map(|(_, bar)| *bar);
    let work = Workload::new(flows, DURATION_S);
    let (reno, other) = (plan(&work, &RENO), plan(&work, config));
    let (mut of_reno, mut of_other, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..=TURNS {
        let (reno_ns, other_ns) = (ns_a_packet(&reno)?, ns_a_packet(&other)?);
        // the first turn warms up the caches
        if turn > 0 {
            of_reno.push(reno_ns);
            of_other.push(other_ns);
            ratios.push(other_ns / reno_ns);
        }
    }
    let ratio = median(ratios);
    Ok(vec![
        flows.to_string(),
        word.clone(),
        format!("{:.1}", median(of_reno)),
        format!("{:.1}", median(of_other)),
        format!("{ratio:.2}"),
        bar.map_or("–".to_owned(), |bar| format!("{bar:.1}")),
        bar.map_or("", |bar| if ratio <= bar { "met" } else { "MISSED" }).to_owned(),
    ])
}

fn ns_a_packet(plan: &Plan) -> Result<f64, Box<dyn Error>> {
    let (spent_s, counts) = timed(|| engine::simulate(plan))?;
    Ok(spent_s * 1e9 / counts?.arrived_packets as f64)
}

fn plan(work: &Workload, control: &CongestionConfig) -> Plan {
    let mut plan = engine::plan(work, Stack::Rfc);
    for group in &mut plan.groups {
        if let SourcePlan::Tcp(tcp) = &mut group.source {
            tcp.congestion = control.clone();
            tcp.config.recovery = Recovery::Linux;
        }
    }
    plan
}
