//! Video calls whose bitrate follows the receiver's reports, on a link of 10 Mbit/s and slower.

use bufferlab_simulator::{Control, ExchangeTable, GroupPlan, NONE, Plan, SourcePlan, run};
use bufferlab_transport::{CallConfig, Recovery};

use crate::differential::assert_agreement;
use crate::scenes::{MS, S, dumbbell};

/// A call alone, whose round trip is 40 ms.
fn call(rate_bps: u64, buffer_packets: u64) -> Plan {
    let mut plan = dumbbell(Recovery::Linux, buffer_packets, &[40]);
    (plan.duration_ps, plan.warmup_ps) = (60 * S, 30 * S);
    plan.links[0].rate_bps = rate_bps;
    let config = CallConfig {
        min_bps: 150_000,
        start_bps: 300_000,
        max_bps: 2_500_000,
        frame_ps: 40 * MS,
        deviation: 0.15,
        packet_bytes: 1_228,
        header_bytes: 40,
        report_ps: 100 * MS,
        report_bytes: 80,
    };
    plan.groups = vec![GroupPlan::new("call", SourcePlan::VideoCall(config), vec![0])];
    plan
}

/// The share of a call's packets that did not come.
fn lost(exchanges: &ExchangeTable) -> f64 {
    let lost = exchanges.end_ps.iter().filter(|&&ps| ps == NONE).count();
    lost as f64 / exchanges.end_ps.len() as f64
}

#[test]
fn a_call_follows_its_link_whatever_way_reports_take() {
    let plan = call(1_000_000, 100);
    let outcome = run(&plan, &Control::default()).unwrap();
    let mbps = 8.0 * outcome.flows.delivered_bytes[0] as f64 / 30e6;
    assert!((0.7..0.97).contains(&mbps), "{mbps}");
    assert!(outcome.queues.backlog_max_packets[0] < 20);
    // a round trip is measured with each report, ten times a second at most
    assert!((250..=300).contains(&outcome.flows.rtt_samples[0]), "{}", outcome.flows.rtt_samples[0]);
    assert_agreement(&plan);
    let mut queued = plan.clone();
    queued.links.push(plan.links[0].clone());
    queued.groups[0].reverse = vec![1];
    let reports = run(&queued, &Control::default()).unwrap().queues;
    assert!((0..reports.link.len()).any(|row| reports.link[row] == 1 && reports.departed_packets[row] > 250));
    assert_agreement(&queued);
}

#[test]
fn a_call_of_which_much_is_lost_comes_down_and_of_which_little_is_lost_does_not() {
    let mbps = |loss_ppb: u32| {
        let mut plan = call(10_000_000, 100);
        plan.links[0].loss_ppb = loss_ppb;
        let outcome = run(&plan, &Control::default()).unwrap();
        assert!((lost(&outcome.exchanges) - f64::from(loss_ppb) / 1e9).abs() < 0.05);
        8.0 * outcome.flows.whole_sent_packets[0] as f64 / 1e6
    };
    let rates = [0, 10_000_000, 200_000_000].map(mbps);
    assert!(rates[1] > 0.9 * rates[0] && rates[2] < 0.3 * rates[0], "{rates:?}");
}

#[test]
fn nothing_is_sent_after_the_stop() {
    let mut plan = call(10_000_000, 100);
    plan.flows.stop_ps[0] = 20 * S;
    let outcome = run(&plan, &Control::default()).unwrap();
    assert!(outcome.exchanges.start_ps.iter().all(|&ps| ps < 20 * S));
    assert_eq!(lost(&outcome.exchanges), 0.0);
    assert_agreement(&plan);
}
