//! Disciplines against FIFO, alternating on one thread, by the thread's processor time.
//!
//! FIFO runs in two ways: as in scenarios, without events, since its departures are known in advance; and by events, as
//! every discipline that decides at the last moment. The ratio to the second is what a discipline itself costs; the
//! ratio to the first is what its users pay.

use std::error::Error;

use bufferlab_parameters::Kinds;
use bufferlab_qdisc::{DisciplineConfig, SplitBuffConfig, Thresholds};
use bufferlab_simulator::{Control, Outcome, Plan, PlanError, run, run_with_link_events};
use bufferlab_units::Rate;

use crate::clock::timed;
use crate::engine::{self, Stack};
use crate::report::{median, table};
use crate::workload::{WIRE_BYTES, Workload};

/// Turns of each row, simulated seconds, and the numbers of flows.
const TURNS: usize = 9;
const DURATION_S: u64 = 60;
const FLOWS: [usize; 2] = [10, 100];

/// Bars for the ratio of a discipline's time to that of FIFO by events; the others have none.
const BARS: [(&str, f64); 8] = [
    ("cobalt", 1.3),
    ("cake", 2.5),
    ("fq_codel", 2.0),
    ("step", 1.2),
    ("fq_pie", 2.0),
    ("pi2", 1.3),
    ("dualpi2", 1.5),
    ("splitbuff", 1.5),
];

/// Every discipline but FIFO with its defaults, and one with costly parameters.
fn disciplines() -> impl Iterator<Item = (&'static str, DisciplineConfig)> {
    let weighted = SplitBuffConfig {
        sub_buffers: 4,
        weighted: true,
        thresholds: Thresholds::Gaps,
        ..SplitBuffConfig::default()
    };
    let kinds = DisciplineConfig::KINDS.iter().map(|kind| (kind.word.word, (kind.default)()));
    kinds.filter(|(word, _)| *word != "fifo").chain([("splitbuff-weighted", weighted.into())])
}

/// Measures all disciplines and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let mut rows = Vec::new();
    for flows in FLOWS {
        let work = Workload::new(flows, DURATION_S);
        for (word, discipline) in disciplines() {
            rows.push(measure(&work, word, discipline)?);
        }
    }
    let headings = ["flows", "discipline", "FIFO ns", "by events", "ns", "ratio", "to by events", "bar", ""];
    Ok(format!(
        "Disciplines (100 Mbit/s, SACK flows): processor time per packet that reaches the bottleneck, over FIFO's\n\
         as scenarios run it and over FIFO's served by events; medians of paired turns\n\n{}",
        table(&headings, &rows)
    ))
}

fn measure(
    work: &Workload,
    word: &str,
    mut discipline: DisciplineConfig,
) -> Result<Vec<String>, Box<dyn Error>> {
    let fifo = engine::plan(work, Stack::Rfc);
    let mut other = fifo.clone();
    let rate = Rate::from_bps(fifo.links[0].rate_bps).ok_or("the workload's link has no rate")?;
    discipline.fill(rate, WIRE_BYTES as u32);
    other.links[0].discipline.config = discipline;
    let (mut plain, mut by_events, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..=TURNS {
        let times =
            [ns_a_packet(&fifo, run)?, ns_a_packet(&fifo, run_with_link_events)?, ns_a_packet(&other, run)?];
        // the first turn warms up the caches
        if turn > 0 {
            plain.push(times[0]);
            by_events.push(times[1]);
            own.push(times[2]);
        }
    }
    let ratio = |to: &[f64]| median(own.iter().zip(to).map(|(own, to)| own / to).collect());
    let (to_plain, to_events) = (ratio(&plain), ratio(&by_events));
    let bar = BARS.iter().find(|(known, _)| *known == word).map(|(_, bar)| *bar);
    Ok(vec![
        work.flows.to_string(),
        word.to_owned(),
        format!("{:.1}", median(plain)),
        format!("{:.1}", median(by_events)),
        format!("{:.1}", median(own)),
        format!("{to_plain:.2}"),
        format!("{to_events:.2}"),
        bar.map_or("–".to_owned(), |bar| format!("{bar:.1}")),
        bar.map_or("", |bar| if to_events <= bar { "met" } else { "MISSED" }).to_owned(),
    ])
}

fn ns_a_packet(
    plan: &Plan,
    run: impl FnOnce(&Plan, &Control) -> Result<Outcome, PlanError>,
) -> Result<f64, Box<dyn Error>> {
    let (spent_s, outcome) = timed(|| run(plan, &Control::default()))?;
    let queues = outcome?.queues;
    let arrived = queues.whole_arrived_packets.last().copied().unwrap_or(1);
    Ok(spent_s * 1e9 / arrived as f64)
}
