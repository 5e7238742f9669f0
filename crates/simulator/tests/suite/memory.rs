//! Queues that share a memory.

use bufferlab_parameters::Kinds;
use bufferlab_qdisc::{DisciplineConfig, FifoConfig, Limit, QueueDisc};
use bufferlab_simulator::{
    ALL_GROUPS, Control, FlowColumns, GroupPlan, LinkPlan, MemoryPlan, Outcome, Plan, QueuePlan, SourcePlan,
    UdpPlan, run,
};
use bufferlab_transport::{UdpConfig, Variate};
use bufferlab_units::Span;

use crate::differential::assert_agreement;
use crate::scenes::{MS, RATE_BPS, S};

const BYTES: u64 = 120_000;
const PACKET: u32 = 1_000;

/// Each of some links of one memory is offered twice its rate; the last of all is idle.
fn overloaded(busy: u32, alpha_ppm: Option<u64>) -> Plan {
    overloaded_in(MemoryPlan { number: 3, bytes: BYTES, alpha_ppm, congested_bytes: None }, busy)
}

fn overloaded_in(memory: MemoryPlan, busy: u32) -> Plan {
    let link = || LinkPlan {
        memory: Some(memory),
        ..LinkPlan::new(RATE_BPS, MS, QueuePlan::new(Limit::Unlimited, FifoConfig::default()))
    };
    let config = UdpConfig {
        packet_bytes: PACKET,
        header_bytes: 28,
        interval: Span::from_us(400),
        arrivals: Variate::Constant,
        sizes: Variate::Constant,
    };
    let source = SourcePlan::Udp(UdpPlan { config, echo: false, record: false });
    let flows = busy as usize;
    Plan {
        version: Plan::VERSION,
        seed: 1,
        duration_ps: 10 * S,
        warmup_ps: 2 * S,
        sample_interval_ps: 0,
        links: (0..=busy).map(|_| link()).collect(),
        groups: (0..busy).map(|link| GroupPlan::new("", source.clone(), vec![link])).collect(),
        flows: FlowColumns {
            group: (0..busy).collect(),
            // not at one moment
            start_ps: (0..u64::from(busy)).map(|flow| flow * 7 * MS / 100).collect(),
            stop_ps: vec![u64::MAX; flows],
            source_delay_ps: vec![MS; flows],
            sink_delay_ps: vec![MS; flows],
            return_delay_ps: vec![MS; flows],
            home_delay_ps: vec![0; flows],
            sample: vec![false; flows],
            ..FlowColumns::default()
        },
    }
}

fn backlogs(plan: &Plan) -> Vec<(f64, u64)> {
    let Outcome { queues, .. } = run(plan, &Control::default()).unwrap();
    let rows = (0..queues.link.len()).filter(|&row| queues.group[row] == ALL_GROUPS);
    rows.map(|row| (queues.backlog_mean_bytes[row], queues.backlog_max_bytes[row])).collect()
}

/// The closed form of Choudhury and Hahne (1998): with M queues that want more, each is alpha·B/(1 + alpha·M) long, and
/// B/(1 + alpha·M) of the memory stays free. Here within a packet a queue, since lengths are whole packets.
#[test]
fn overloaded_queues_are_as_long_as_the_closed_form_says() {
    for busy in [1, 2, 5] {
        for alpha in [0.5, 1.0, 2.0, 8.0] {
            let expected = alpha * BYTES as f64 / (1.0 + alpha * f64::from(busy));
            let plan = overloaded(busy, Some((alpha * 1e6) as u64));
            let found = backlogs(&plan);
            for &(mean, _) in &found[..busy as usize] {
                let off = (mean - expected).abs();
                assert!(off <= f64::from(PACKET), "{busy} queues, alpha {alpha}: {mean}, not {expected}");
            }
            assert_eq!(found[busy as usize], (0.0, 0), "an idle link holds nothing");
        }
    }
}

/// ABM's closed form (equation 1, all queues congested): M queues that want more are alpha·B/(M·(1 + alpha)) long each, so
/// that B/(1 + alpha) of the memory stays free, however many they are.
#[test]
fn what_active_buffer_management_leaves_free_does_not_depend_on_how_many_want_it() {
    for busy in [1, 2, 5] {
        for alpha in [0.5, 1.0, 2.0] {
            let congested_bytes = Some(4 * u64::from(PACKET));
            let alpha_ppm = Some((alpha * 1e6) as u64);
            let memory = MemoryPlan { number: 3, bytes: BYTES, alpha_ppm, congested_bytes };
            let expected = alpha * BYTES as f64 / (1.0 + alpha) / f64::from(busy);
            for &(mean, _) in &backlogs(&overloaded_in(memory, busy))[..busy as usize] {
                let off = (mean - expected).abs();
                assert!(off <= f64::from(PACKET), "{busy} queues, alpha {alpha}: {mean}, not {expected}");
            }
        }
    }
}

/// A queue that is half as long as a congested one counts as half of one, and all together as one at least.
#[test]
fn a_short_queue_counts_in_part() {
    // Two queues of L each count as 2·L/S: L = alpha·(B − 2·L)·S/(2·L), so 2·L² + 2·alpha·S·L − alpha·S·B = 0.
    let (alpha, size) = (0.5, 50_000.0);
    let expected =
        (f64::sqrt(alpha * alpha * size * size + 2.0 * alpha * size * BYTES as f64) - alpha * size) / 2.0;
    assert!(expected > size / 2.0 && expected < size, "{expected}: neither one queue nor two");
    let memory =
        MemoryPlan { number: 3, bytes: BYTES, alpha_ppm: Some(500_000), congested_bytes: Some(size as u64) };
    for &(mean, _) in &backlogs(&overloaded_in(memory, 2))[..2] {
        assert!((mean - expected).abs() <= f64::from(PACKET), "{mean}, not {expected}");
    }
}

/// Without a threshold, the memory is full, and nothing is left for a link that begins later.
#[test]
fn complete_sharing_fills_the_memory() {
    let found = backlogs(&overloaded(3, None));
    let sum: f64 = found.iter().map(|(mean, _)| mean).sum();
    assert!(sum <= BYTES as f64 && sum > BYTES as f64 - 3.0 * f64::from(PACKET), "{sum}");
}

#[test]
fn a_shared_memory_agrees_with_its_slow_twin() {
    for alpha_ppm in [None, Some(1_000_000), Some(125_000)] {
        for congested_bytes in [None, Some(7_500)] {
            let memory = MemoryPlan { number: 3, bytes: BYTES, alpha_ppm, congested_bytes };
            let mut plan = overloaded_in(memory, 3);
            plan.duration_ps = 3 * S;
            plan.sample_interval_ps = 50 * MS;
            plan.links[0].loss_ppb = 50_000_000;
            plan.links[1].discipline.limit = Limit::Packets(20);
            assert_agreement(&plan);
        }
    }
}

/// Only disciplines without classes may be in a memory, so that classes' counts sum to the link's.
#[test]
fn disciplines_with_classes_share_no_memory() {
    let mut plan = overloaded(1, None);
    let mut refused = 0;
    for kind in DisciplineConfig::KINDS {
        let config = (kind.default)();
        plan.links[0].discipline.config = config.clone();
        let has_classes = plan.links[0].qdisc(&plan, 0).estimates().is_some();
        assert_eq!(MemoryPlan::holds(&config), !has_classes, "{}", kind.word.word);
        refused += u32::from(has_classes);
    }
    assert!(refused >= 3);
}

#[test]
fn links_of_one_memory_agree_on_it() {
    let mut plan = overloaded(2, Some(1_000_000));
    plan.links[1].memory = plan.links[0].memory.map(|memory| MemoryPlan { bytes: BYTES + 1, ..memory });
    let error = run(&plan, &Control::default()).unwrap_err().to_string();
    assert!(error.contains("links[1].memory") && error.contains("links[0]"), "{error}");
}
