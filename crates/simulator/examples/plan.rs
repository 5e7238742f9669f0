//! Runs a plan file and prints what happened, for profilers: `cargo run --release --example plan -- plan.json`.

use std::io::Write;

use bufferlab_simulator::{ALL_GROUPS, Control, Plan, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: plan FILE")?;
    let plan: Plan = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let outcome = run(&plan, &Control::default())?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "events {} packets {}", outcome.events, outcome.packets)?;
    let queues = &outcome.queues;
    for row in 0..queues.link.len() {
        let group =
            if queues.group[row] == ALL_GROUPS { "all".into() } else { queues.group[row].to_string() };
        writeln!(
            out,
            "link {} group {group}: arrived {} dropped {} busy {:.6} wait {:.4} ms backlog {:.3}",
            queues.link[row],
            queues.arrived_packets[row],
            queues.dropped_packets[row],
            queues.busy_fraction[row],
            queues.wait_mean_ps[row] * 1e-9,
            queues.backlog_mean_packets[row],
        )?;
    }
    let flows = &outcome.flows;
    for row in 0..flows.flow.len().min(4) {
        writeln!(
            out,
            "flow {}: {} bytes, {} sent, {} again, {} timeouts, {} recoveries",
            flows.flow[row],
            flows.delivered_bytes[row],
            flows.sent_packets[row],
            flows.retransmissions[row],
            flows.timeouts[row],
            flows.recoveries[row],
        )?;
    }
    if std::env::args().nth(2).as_deref() == Some("--samples") {
        let samples = &outcome.sender_samples;
        for row in 0..samples.flow.len() {
            writeln!(
                out,
                "{:.3} s flow {}: cwnd {:.2} ssthresh {:.0} srtt {:.3} ms inflight {} again {}",
                samples.time_ps[row] as f64 * 1e-12,
                samples.flow[row],
                samples.cwnd_segments[row],
                samples.ssthresh_segments[row],
                samples.srtt_ps[row] as f64 * 1e-9,
                samples.inflight_segments[row],
                samples.retransmissions[row],
            )?;
        }
    }
    Ok(())
}
