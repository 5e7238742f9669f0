//! Disciplines against FIFO, alternating on one thread, by the thread's processor time.
//!
//! FIFO runs in two ways: as in scenarios, without events, since its departures are known in advance; and by events, as
//! every discipline that decides at the last moment. The ratio to the second is what a discipline itself costs; the
//! ratio to the first is what its users pay.

use std::error::Error;

use bufferlab_simulator::{
    ClassesPlan, Control, ControlLawPlan, DisciplinePlan, LimitPlan, MeanPlan, Outcome, Plan, PlanError,
    RttPlan, ThresholdsPlan, run, run_with_link_events,
};

use crate::clock::timed;
use crate::engine::{self, Stack};
use crate::report::{median, table};
use crate::workload::Workload;

/// Turns of each row, simulated seconds, and the numbers of flows.
const TURNS: usize = 9;
const DURATION_S: u64 = 60;
const FLOWS: [usize; 2] = [10, 100];
const PS_PER_MS: u64 = 1_000_000_000;

/// Disciplines, with the bar for the ratio of their time to that of FIFO by events, if there is one.
fn disciplines(limit: LimitPlan) -> Vec<(&'static str, DisciplinePlan, Option<f64>)> {
    let splitbuff = |weighted| DisciplinePlan::Splitbuff {
        limit,
        sub_buffers: if weighted { 4 } else { 2 },
        update_ps: 500 * PS_PER_MS,
        first_update_ps: Some(500 * PS_PER_MS / 8),
        smoothing: 0.5,
        classes: ClassesPlan::Rtt { information: RttPlan::Header },
        weighted,
        thresholds: if weighted { ThresholdsPlan::Gaps } else { ThresholdsPlan::Mean },
        hysteresis: 0.0,
        mean: MeanPlan::Packets,
    };
    let codel = DisciplinePlan::Codel {
        limit,
        target_ps: 5 * PS_PER_MS,
        interval_ps: 100 * PS_PER_MS,
        ecn: false,
        ce_threshold_ps: None,
        control_law: ControlLawPlan::Rfc,
    };
    let drr = DisciplinePlan::Drr { limit, quantum_bytes: 1_514 };
    let red = DisciplinePlan::Red {
        limit,
        min_threshold: LimitPlan::Packets(32),
        max_threshold: LimitPlan::Packets(96),
        weight: None,
        max_p: 0.1,
        gentle: true,
        adaptive: true,
        ecn: false,
        mean_packet_bytes: 1_000,
    };
    let pie = DisciplinePlan::Pie {
        limit,
        target_ps: 15 * PS_PER_MS,
        t_update_ps: 15 * PS_PER_MS,
        alpha: 0.125,
        beta: 1.25,
        max_burst_ps: 150 * PS_PER_MS,
        ecn: false,
    };
    let fq_codel = DisciplinePlan::FqCodel {
        limit,
        flows: 1_024,
        quantum_bytes: 1_514,
        drop_batch: 64,
        target_ps: 5 * PS_PER_MS,
        interval_ps: 100 * PS_PER_MS,
        ecn: true,
        ce_threshold_ps: None,
        control_law: ControlLawPlan::Rfc,
    };
    vec![
        ("codel", codel, None),
        ("fq-codel", fq_codel, Some(2.0)),
        ("pie", pie, None),
        ("red", red, None),
        ("drr", drr, None),
        ("splitbuff", splitbuff(false), Some(1.5)),
        ("splitbuff-weighted", splitbuff(true), None),
    ]
}

/// Measures all disciplines and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let mut rows = Vec::new();
    for flows in FLOWS {
        let work = Workload::new(flows, DURATION_S);
        for (name, discipline, bar) in disciplines(LimitPlan::Packets(work.limit_packets)) {
            rows.push(measure(&work, name, discipline, bar)?);
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
    name: &str,
    discipline: DisciplinePlan,
    bar: Option<f64>,
) -> Result<Vec<String>, Box<dyn Error>> {
    let fifo = engine::plan(work, Stack::Rfc);
    let mut other = fifo.clone();
    other.links[0].discipline = discipline;
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
    Ok(vec![
        work.flows.to_string(),
        name.to_owned(),
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
