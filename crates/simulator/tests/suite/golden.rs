//! Tables small enough to be read, committed in `golden/`: what the engine does today, and on every machine.
//!
//! A change that moves a number must be meant. `make golden` writes the tables anew.

use std::fmt::Write;
use std::path::Path;

use bufferlab_congestion::{CongestionConfig, DctcpConfig, RenoConfig};
use bufferlab_qdisc::{
    CakeConfig, CobaltConfig, CodelConfig, DisciplineConfig, DrrConfig, FairQueueConfig, FifoConfig,
    FqCodelConfig, FqPieConfig, Limit, Pi2Config, PieConfig, StepConfig, Threshold,
};
use bufferlab_simulator::{ALL_GROUPS, Control, JitterPlan, Outcome, Plan, QueuePlan, run};
use bufferlab_transport::Recovery;
use bufferlab_units::Span;

use crate::oracle;
use crate::scenes::{MS, RATE_BPS, S, dumbbell, red, tcp_of};

const RECOVERIES: [(&str, Recovery); 9] = [
    ("tahoe", Recovery::Tahoe),
    ("reno", Recovery::Reno),
    ("newreno", Recovery::NewReno),
    ("sack", Recovery::Sack),
    ("sack-ns2", Recovery::SackNs2),
    ("reno-ns2", Recovery::RenoNs2),
    ("newreno-ns2", Recovery::NewRenoNs2),
    ("linux-ns2", Recovery::LinuxNs2),
    ("quic", Recovery::Quic),
];

/// Compares with the committed text, or writes it if `BUFFERLAB_GOLDEN=update`.
fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden").join(name);
    if std::env::var("BUFFERLAB_GOLDEN").is_ok_and(|what| what == "update") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == text,
        "golden/{name} differs; if it should, `make golden`\n{}",
        difference(&committed, text)
    );
}

/// The lines that differ, without what both texts begin and end with.
fn difference(old: &str, new: &str) -> String {
    let (mut old, mut new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    while old.last().is_some_and(|line| new.last() == Some(line)) {
        old.pop();
        new.pop();
    }
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let prefixed = |prefix: &str, lines: &[&str]| -> String {
        lines[same..].iter().map(|line| [prefix, line, "\n"].concat()).collect()
    };
    let (gone, come) = (prefixed("- ", &old), prefixed("+ ", &new));
    format!("@ line {}\n{gone}{come}", same + 1)
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, &Control::default()).unwrap()
}

/// The link's row of all groups.
pub(crate) fn link_row(outcome: &Outcome) -> usize {
    outcome.queues.group.iter().position(|&group| group == ALL_GROUPS).unwrap()
}

/// Goodput in thousandths of the link's rate, over the measured window.
fn goodput_permille(plan: &Plan, bytes: u64) -> u64 {
    let window_ms = (plan.duration_ps - plan.warmup_ps) / MS;
    bytes * 8 * 1_000 / (RATE_BPS / 1_000 * window_ms)
}

#[test]
fn recoveries_by_buffer() {
    let mut text = String::from(
        "One flow over 10 Mbit/s, round trip 50 ms: 62 packets of 1000 bytes. The first 20 s.\n\
         Goodput in thousandths of the rate (960 at most: headers), wait in microseconds.\n\n\
         recovery  buffer  goodput  mean wait  max wait  drops  resent  timeouts  recoveries\n",
    );
    for (name, recovery) in RECOVERIES {
        for buffer in [5, 20, 60, 120] {
            let plan = Plan { warmup_ps: 0, ..dumbbell(recovery, buffer, &[50]) };
            let outcome = outcome(&plan);
            let (flows, queues, row) = (&outcome.flows, &outcome.queues, link_row(&outcome));
            writeln!(
                text,
                "{name:<9} {buffer:>6} {:>8} {:>10} {:>9} {:>6} {:>7} {:>9} {:>11}",
                goodput_permille(&plan, flows.delivered_bytes[0]),
                queues.wait_mean_ps[row] as u64 / 1_000_000,
                queues.wait_max_ps[row] / 1_000_000,
                queues.dropped_packets[row],
                flows.retransmissions[0],
                flows.timeouts[0],
                flows.recoveries[0],
            )
            .unwrap();
        }
    }
    compare("recoveries.txt", &text);
}

#[test]
fn fairness_by_flows() {
    let mut text = String::from(
        "SACK flows over 10 Mbit/s, buffer 60 packets, senders with 1 ms of jitter. 5 s to 20 s.\n\
         Goodputs and Jain's index in thousandths (of the rate, of 1).\n\n\
         flows  round trips  goodput  least  most  index  drops  timeouts\n",
    );
    for flows in [2, 5, 10, 20] {
        for (name, spread_ms) in [("equal", 0), ("1 to 5", 80 / (flows - 1))] {
            let rtts: Vec<u64> =
                (0..flows).map(|flow| 20 + if spread_ms == 0 { 40 } else { flow * spread_ms }).collect();
            let mut plan = dumbbell(Recovery::Sack, 60, &rtts);
            plan.groups[0].jitter = JitterPlan::Uniform { low_ps: 0, high_ps: MS };
            let outcome = outcome(&plan);
            let bytes = &outcome.flows.delivered_bytes;
            writeln!(
                text,
                "{flows:>5}  {name:<11} {:>8} {:>6} {:>5} {:>6} {:>6} {:>9}",
                goodput_permille(&plan, bytes.iter().sum()),
                goodput_permille(&plan, *bytes.iter().min().unwrap()),
                goodput_permille(&plan, *bytes.iter().max().unwrap()),
                jain_permille(bytes),
                outcome.queues.dropped_packets[link_row(&outcome)],
                outcome.flows.timeouts.iter().sum::<u64>(),
            )
            .unwrap();
        }
    }
    compare("fairness.txt", &text);
}

/// Jain's index (Jain, Chiu and Hawe 1984): (sum of x)² / (n · sum of x²), in thousandths.
fn jain_permille(shares: &[u64]) -> u128 {
    let shares = || shares.iter().copied().map(u128::from);
    let sum: u128 = shares().sum();
    sum * sum * 1_000 / (shares().count() as u128 * shares().map(|share| share * share).sum::<u128>())
}

/// What the queue does to one greedy flow's delay: a FIFO fills what it has, CoDel holds 5 ms, PIE 15 ms.
#[test]
fn disciplines_by_buffer() {
    let mut text = String::from(
        "One flow over 10 Mbit/s, round trip 50 ms: 62 packets of 1000 bytes. 5 s to 20 s.\n\
         Goodput in thousandths of the rate (960 at most: headers), wait in microseconds. DCTCP listens to marks.\n\n\
         discipline      control  buffer  goodput  mean wait  max wait  drops  marks  timeouts\n",
    );
    let fifo = || FifoConfig::default().into();
    let reno = CongestionConfig::from(RenoConfig::default());
    let dctcp = CongestionConfig::from(DctcpConfig::default());
    let codel = |ecn, ce_threshold| CodelConfig { ecn, ce_threshold, ..CodelConfig::default() }.into();
    let pie = |ecn| PieConfig { ecn, ..PieConfig::default() }.into();
    let step = StepConfig { threshold: Some(Threshold::Packets(20)), target: None }.into();
    let fq_pie = |ecn| {
        let pie = PieConfig { ecn, ..PieConfig::default() };
        FqPieConfig { pie, ..FqPieConfig::default() }.into()
    };
    let fq_codel = || FqCodelConfig::default().into();
    let rows: [(_, _, _, DisciplineConfig, _); 26] = [
        ("fifo", "reno", 60, fifo(), reno.clone()),
        ("fifo", "reno", 1_000, fifo(), reno.clone()),
        ("codel", "reno", 60, codel(false, None), reno.clone()),
        ("codel", "reno", 1_000, codel(false, None), reno.clone()),
        ("codel ecn", "reno", 1_000, codel(true, None), reno.clone()),
        ("codel", "dctcp", 1_000, codel(false, None), dctcp.clone()),
        ("codel ecn", "dctcp", 1_000, codel(true, None), dctcp.clone()),
        ("codel ce 1 ms", "dctcp", 1_000, codel(false, Some(Span::from_ms(1))), dctcp.clone()),
        ("drr", "reno", 1_000, DrrConfig::default().into(), reno.clone()),
        ("fair_queue", "reno", 200, FairQueueConfig::default().into(), reno.clone()),
        ("red", "reno", 1_000, red(false).into(), reno.clone()),
        ("red ecn", "dctcp", 1_000, red(true).into(), dctcp.clone()),
        ("pie", "reno", 1_000, pie(false), reno.clone()),
        ("pie ecn", "dctcp", 1_000, pie(true), dctcp.clone()),
        ("fq_codel", "reno", 1_000, fq_codel(), reno.clone()),
        ("fq_codel", "dctcp", 1_000, fq_codel(), dctcp.clone()),
        ("step 1 ms", "dctcp", 1_000, StepConfig::default().into(), dctcp.clone()),
        ("step 20", "dctcp", 1_000, step, dctcp.clone()),
        ("pi2", "reno", 1_000, Pi2Config::default().into(), reno.clone()),
        ("pi2", "dctcp", 1_000, Pi2Config::default().into(), dctcp.clone()),
        ("cobalt", "reno", 1_000, CobaltConfig::default().into(), reno.clone()),
        ("cobalt", "dctcp", 1_000, CobaltConfig::default().into(), dctcp.clone()),
        ("cake", "reno", 1_000, CakeConfig::default().into(), reno.clone()),
        ("cake", "dctcp", 1_000, CakeConfig::default().into(), dctcp.clone()),
        ("fq_pie", "reno", 1_000, fq_pie(false), reno),
        ("fq_pie ecn", "dctcp", 1_000, fq_pie(true), dctcp),
    ];
    for (name, control, buffer, config, congestion) in rows {
        let mut plan = dumbbell(Recovery::Sack, 1, &[50]);
        plan.links[0].discipline = QueuePlan::new(Limit::Packets(buffer), config);
        tcp_of(&mut plan).congestion = congestion;
        let outcome = outcome(&plan);
        let (flows, queues, row) = (&outcome.flows, &outcome.queues, link_row(&outcome));
        writeln!(
            text,
            "{name:<14}  {control:<7} {buffer:>7} {:>8} {:>10} {:>9} {:>6} {:>6} {:>9}",
            goodput_permille(&plan, flows.delivered_bytes[0]),
            queues.wait_mean_ps[row] as u64 / 1_000_000,
            queues.wait_max_ps[row] / 1_000_000,
            queues.dropped_packets[row],
            queues.marked_packets[row],
            flows.timeouts[0],
        )
        .unwrap();
        crate::differential::assert_agreement(&plan);
    }
    compare("disciplines.txt", &text);
}

/// A short transfer that loses two segments, as the slow engine has it: the two agree.
#[test]
fn packets_of_a_short_transfer() {
    let mut plan = dumbbell(Recovery::Sack, 4, &[20]);
    (plan.warmup_ps, plan.duration_ps) = (0, S);
    let tcp = tcp_of(&mut plan);
    (tcp.config.initial_window, tcp.transfer_bytes) = (7, Some(11_000));
    let mut text =
        String::from("Eleven and a half segments over 10 Mbit/s, round trip 20 ms, buffer 4 packets.\n\n");
    for line in oracle::trace(&plan) {
        writeln!(text, "{line}").unwrap();
    }
    crate::differential::assert_agreement(&plan);
    compare("transfer.txt", &text);
}
