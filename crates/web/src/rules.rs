//! What published rules ask for: marks on the slider of a buffer. tests/web compares them with those of the command.

use bufferlab_qdisc::Limit;
use bufferlab_scenario::{NoFiles, Node, Scenario, Seeded, Table, Value};
use bufferlab_simulator::SourcePlan;
use serde::Serialize;

/// A rule's answer for a link.
#[derive(Clone, Serialize)]
pub struct Mark {
    name: &'static str,
    packets: u64,
}

/// The one-sided quantile of the normal distribution at 0.99: how sure Theorem 2 is to be of a full link.
const Z_99: f64 = 2.326_347_874_040_840_8;

/// The rules that are words of scenarios, with their names.
const WORDS: [(&str, &str); 2] = [("Stanford", "stanford"), ("BDP", "1 bdp")];

/// What the rules ask for at each link; those that do not apply are left out.
pub fn marks(text: &str, overrides: &Table, seed: Option<u64>, seeded: &Seeded) -> Vec<Vec<Mark>> {
    let (plan, resolved) = (&seeded.plan, &seeded.resolved);
    let mut marks = vec![Vec::new(); plan.links.len()];
    for (name, word) in WORDS {
        let mut asked = overrides.clone();
        for link in 0..plan.links.len() {
            asked.set(&format!("{}.buffer", resolved.link_key(link)), Node::new(Value::text(word)));
        }
        let read =
            Scenario::from_text(text, None, &asked, &NoFiles).and_then(|scenario| scenario.seeded(seed));
        for (marks, link) in marks.iter_mut().zip(read.iter().flat_map(|seeded| &seeded.plan.links)) {
            if let Limit::Packets(packets) = link.discipline.limit {
                marks.push(Mark { name, packets });
            }
        }
    }
    for (link, marks) in marks.iter_mut().enumerate() {
        if let Some(packets) = theorem_2(link, seeded) {
            marks.insert(marks.len().min(1), Mark { name: "Theorem 2, 99 %", packets });
        }
    }
    marks
}

/// Theorem 2: BDP/(1 − z·a/√n) − BDP, in full packets, rounded up. Of the endless TCP flows of a link; nothing if a control has no
/// characteristic value of its own, or if no buffer is enough.
///
/// Source: P. Yang, E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous TCP (2013), (6) and (7), with z of one
/// side, as `bufferlab.theory.normal` has it.
#[expect(clippy::cast_sign_loss, reason = "at least one packet")]
fn theorem_2(link: usize, Seeded { plan, resolved, draws }: &Seeded) -> Option<u64> {
    let (mut flows, mut rtt_ps, mut squares, mut packet_bytes) = (0.0, 0.0, 0.0, 0);
    for (index, group) in plan.groups.iter().enumerate() {
        let SourcePlan::Tcp(tcp) = &group.source else { continue };
        let endless = tcp.transfer_bytes.is_none() && !tcp.is_by_turns();
        if !endless || !group.forward.contains(&(link as u32)) {
            continue;
        }
        let drawn = &draws[index].rtt_ps;
        let word = &resolved.flows[index].tcp.as_ref()?.congestion.word;
        flows += drawn.len() as f64;
        rtt_ps += drawn.iter().map(|&rtt| rtt as f64).sum::<f64>();
        squares += drawn.len() as f64 * characteristic(word)?.powi(2);
        packet_bytes = packet_bytes.max(tcp.config.mss_bytes + tcp.config.header_bytes);
    }
    if flows == 0.0 {
        return None;
    }
    let bdp_packets =
        plan.links[link].rate_bps as f64 * (rtt_ps / flows / 1e12) / 8.0 / f64::from(packet_bytes);
    let left = 1.0 - Z_99 * (squares / flows).sqrt() / flows.sqrt();
    (left > 0.0).then(|| (bdp_packets / left - bdp_packets).ceil().max(1.0) as u64)
}

/// Standard deviation over mean of a window in an epoch, (4) and (5), for the growth functions of Table II whose shape does not depend
/// on window and round-trip time. In parts of the window before the loss, which leaves `beta` of it.
fn characteristic(word: &str) -> Option<f64> {
    let uniform = |from: f64, to: f64| (to - from) / 12_f64.sqrt() / f64::midpoint(from, to);
    match word {
        "reno" | "newreno" | "tahoe" => Some(uniform(0.5, 1.0)),
        // a round trip at β + 0.1·t/R
        "bic" => Some(uniform(0.8, 0.9)),
        "cubic-0.8" => Some(cubic(0.8)),
        "cubic-0.7" => Some(cubic(0.7)),
        "ctcp" | "compound" => Some(fourth_power(0.5)),
        _ => None,
    }
}

/// 1 − (1 − β)·x³ over x from 0 to 1, the epoch read backward.
fn cubic(beta: f64) -> f64 {
    let depth = 1.0 - beta;
    depth * (1.0_f64 / 7.0 - 1.0 / 16.0).sqrt() / (1.0 - depth / 4.0)
}

/// x⁴ over x from β^¼ to 1.
fn fourth_power(beta: f64) -> f64 {
    let from = beta.powf(0.25);
    let mean = (1.0 - from.powi(5)) / (5.0 * (1.0 - from));
    let square = (1.0 - from.powi(9)) / (9.0 * (1.0 - from));
    (square - mean * mean).sqrt() / mean
}
