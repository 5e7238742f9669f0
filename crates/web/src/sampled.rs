//! What can be seen of a run at a moment, as numbers in a fixed order:
//!
//! the moment in seconds; for each link [`LINK`] numbers, and behind them for each group [`GROUP`] numbers of its packets
//! at this link; then for each group [`SENDERS`] numbers of its senders. web/src/engine/layout.ts reads them.

use bufferlab_qdisc::{DisciplineConfig, Limit};
use bufferlab_simulator::{Plan, PlanError, Session};

/// Arrived, dropped and departed packets, departed bytes, waiting packets and bytes, packets whose wait is known, the sum
/// of their waits in seconds, and full packets that the sub-buffers of a discipline that sizes them have room for together (0 of others).
const LINK: usize = 9;
/// Arrived, dropped and departed packets, departed bytes.
const GROUP: usize = 4;
/// Means over the group's flows: congestion window in segments, smoothed round-trip time in seconds (of those that have
/// one), seconds that the last exchange that is done took (of those that have one; 0 if there is none). Sums: segments in flight,
/// acknowledged segments, retransmissions.
const SENDERS: usize = 6;
/// The numbers among them that are means over the flows that have one.
const OF_SOME: [usize; 2] = [1, 2];
/// As which a limit in bytes is counted.
const FULL_PACKET_BYTES: f64 = 1500.0;

/// Reads all of it.
pub fn sample(session: &mut Session, plan: &Plan) -> Result<Vec<f64>, PlanError> {
    let (links, groups) = (plan.links.len(), plan.groups.len());
    let mut numbers = Vec::with_capacity(1 + links * (LINK + groups * GROUP) + groups * SENDERS);
    numbers.push(session.now_ps() as f64 / 1e12);
    for link in 0..links {
        let counters = session.counters(link)?;
        let whole = [
            counters.arrived_packets,
            counters.dropped_packets,
            counters.departed_packets,
            counters.departed_bytes,
            counters.backlog_packets,
            counters.backlog_bytes,
            counters.served_packets,
        ];
        numbers.extend(whole.map(|number| number as f64));
        numbers.push(counters.waited_ps as f64 / 1e12);
        numbers.push(room(session, plan, link)?);
        for group in session.groups(link)? {
            let counters =
                [group.arrived_packets, group.dropped_packets, group.departed_packets, group.departed_bytes];
            numbers.extend(counters.map(|number| number as f64));
        }
    }
    numbers.extend(senders(session, plan)?);
    Ok(numbers)
}

/// What a `SplitBuff` has sized its sub-buffers to, all together.
fn room(session: &mut Session, plan: &Plan, link: usize) -> Result<f64, PlanError> {
    if !matches!(plan.links[link].discipline.config, DisciplineConfig::SplitBuff(_)) {
        return Ok(0.0);
    }
    let classes = session.estimates(link)?.map(|estimates| estimates.classes).unwrap_or_default();
    let packets = classes.iter().map(|class| match class.limit {
        Limit::Packets(packets) => packets as f64,
        Limit::Bytes(bytes) => (bytes as f64 / FULL_PACKET_BYTES).round().max(1.0),
        Limit::Unlimited => 0.0,
    });
    Ok(packets.sum())
}

fn senders(session: &Session, plan: &Plan) -> Result<Vec<f64>, PlanError> {
    let mut sums = vec![[0.0; SENDERS]; plan.groups.len()];
    let mut counts = vec![[0.0; SENDERS]; plan.groups.len()];
    for (flow, &group) in plan.flows.group.iter().enumerate() {
        let state = session.flow(flow)?;
        let exchange_ps = session.last_exchange_ps(flow)?.unwrap_or_default();
        let times = [state.srtt_ps, exchange_ps].map(|ps| ps as f64 / 1e12);
        let sent = [state.inflight_segments, state.acknowledged_segments, state.retransmissions]
            .map(|count| count as f64);
        let values = [state.cwnd_segments, times[0], times[1], sent[0], sent[1], sent[2]];
        let (sum, count) = (&mut sums[group as usize], &mut counts[group as usize]);
        for (number, value) in values.into_iter().enumerate() {
            sum[number] += value;
            count[number] += f64::from(u8::from(value > 0.0 || !OF_SOME.contains(&number)));
        }
    }
    for (sum, count) in sums.iter_mut().zip(&counts) {
        for number in [0, 1, 2] {
            sum[number] /= count[number].max(1.0);
        }
    }
    Ok(sums.into_iter().flatten().collect())
}
