//! What can be seen of a run at a moment, as numbers in a fixed order:
//!
//! the moment in seconds; for each link [`LINK`] numbers, and behind them for each group [`GROUP`] numbers of its packets
//! at this link; then for each group [`SENDERS`] numbers of its senders. web/src/engine/layout.ts reads them.

use bufferlab_simulator::{Plan, PlanError, Session};

/// Arrived, dropped and departed packets, departed bytes, waiting packets and bytes, packets whose wait is known, the sum
/// of their waits in seconds.
const LINK: usize = 8;
/// Arrived, dropped and departed packets, departed bytes.
const GROUP: usize = 4;
/// Means over the group's flows: congestion window in segments, smoothed round-trip time in seconds (of those that have
/// one). Sums: segments in flight, acknowledged segments, retransmissions.
const SENDERS: usize = 5;

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
        for group in session.groups(link)? {
            let counters =
                [group.arrived_packets, group.dropped_packets, group.departed_packets, group.departed_bytes];
            numbers.extend(counters.map(|number| number as f64));
        }
    }
    numbers.extend(senders(session, plan)?);
    Ok(numbers)
}

fn senders(session: &Session, plan: &Plan) -> Result<Vec<f64>, PlanError> {
    let mut sums = vec![[0.0; SENDERS]; plan.groups.len()];
    let mut counts = vec![[0.0; 2]; plan.groups.len()];
    for (flow, &group) in plan.flows.group.iter().enumerate() {
        let state = session.flow(flow)?;
        let srtt = state.srtt_ps as f64 / 1e12;
        let (sum, count) = (&mut sums[group as usize], &mut counts[group as usize]);
        let sent = [state.inflight_segments, state.acknowledged_segments, state.retransmissions];
        let values = [state.cwnd_segments, srtt, sent[0] as f64, sent[1] as f64, sent[2] as f64];
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        count[0] += 1.0;
        count[1] += f64::from(u8::from(state.srtt_ps > 0));
    }
    for (sum, count) in sums.iter_mut().zip(&counts) {
        for (sum, &count) in sum.iter_mut().zip(count) {
            *sum /= count.max(1.0);
        }
    }
    Ok(sums.into_iter().flatten().collect())
}
