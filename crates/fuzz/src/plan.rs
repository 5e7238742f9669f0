//! Plans.

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bufferlab_congestion::CongestionConfig;
use bufferlab_simulator::{Control, JitterPlan, Outcome, Plan, SourcePlan, run};

/// A run may take so long before it is canceled.
const BUDGET: Duration = Duration::from_millis(5);
/// Packets of one burst, samples, flows and buckets: more is valid, but takes more memory and time than a fuzzer has.
const MOST: u64 = 1 << 12;

/// A plan as JSON. What is run keeps its packets: arrived = departed + dropped + left at every queue.
pub fn plan(bytes: &[u8]) {
    let Ok(plan) = serde_json::from_slice::<Plan>(bytes) else { return };
    if is_large(&plan) {
        return;
    }
    let control = Arc::new(Control::default());
    let (done, wait) = mpsc::channel();
    let running = Arc::clone(&control);
    let thread = thread::spawn(move || {
        let outcome = run(&plan, &running);
        done.send(()).ok();
        outcome
    });
    if wait.recv_timeout(BUDGET) == Err(mpsc::RecvTimeoutError::Timeout) {
        control.cancel();
    }
    match thread.join().expect("a run does not panic") {
        Ok(outcome) => check(&outcome),
        Err(error) => assert!(!error.field.is_empty() && !error.accepted.is_empty()),
    }
}

fn check(outcome: &Outcome) {
    let queues = &outcome.queues;
    for row in 0..queues.link.len() {
        let gone = queues.whole_departed_packets[row] + queues.whole_dropped_packets[row];
        assert_eq!(queues.whole_arrived_packets[row], gone + queues.left_packets[row], "row {row}");
    }
}

fn is_large(plan: &Plan) -> bool {
    let samples = plan.duration_ps.checked_div(plan.sample_interval_ps).unwrap_or(0);
    samples > MOST
        || plan.flows.group.len() as u64 > MOST
        || plan.groups.iter().any(|group| match &group.source {
            SourcePlan::Tcp(tcp) => {
                let window = match &tcp.congestion {
                    CongestionConfig::Fixed(fixed) => fixed.segments,
                    _ => tcp.config.initial_window,
                };
                u64::from(window) > MOST
            }
            SourcePlan::VideoCall(call) => {
                call.most_packets() * (plan.duration_ps / 1_000_000_000_000 + 1) > MOST * MOST
            }
            SourcePlan::Udp(udp) => {
                let held_ps = match group.jitter {
                    JitterPlan::None => 0,
                    JitterPlan::Uniform { high_ps, .. } => high_ps,
                    JitterPlan::Exponential { mean_ps } => mean_ps.saturating_mul(40),
                };
                let interval_ps = udp.config.interval.as_ps().max(1);
                held_ps / interval_ps > MOST || plan.duration_ps / interval_ps > MOST * MOST
            }
        })
}
