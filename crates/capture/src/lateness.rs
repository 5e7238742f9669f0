//! How far behind the engine's time a report may be.

use bufferlab_simulator::{Plan, SourcePlan};
use bufferlab_transport::{Variate, most_by_size};
use bufferlab_units::{Rate, Span};

/// No datagram is larger (RFC 791 section 3.1).
const MOST_DATAGRAM_BYTES: u64 = 65_535;

/// A sender's delay to its first link, in whose time the engine runs, and a fetch's request, reported on its arrival.
pub(crate) fn of_hosts(plan: &Plan) -> Span {
    let lead = plan.flows.source_delay_ps.iter().copied().max().unwrap_or(0);
    let delay = |links: &[u32]| -> u64 { links.iter().map(|&link| plan.links[link as usize].delay_ps).sum() };
    let question = (0..plan.flows.group.len()).map(|flow| {
        let group = &plan.groups[plan.flows.group[flow] as usize];
        let asks =
            matches!(&group.source, SourcePlan::Tcp(tcp) if tcp.on_off.is_some_and(|on_off| on_off.fetch));
        let way = plan.flows.return_delay_ps[flow] + delay(&group.reverse) + plan.flows.home_delay_ps[flow];
        if asks { way } else { 0 }
    });
    Span::from_ps(lead + question.max().unwrap_or(0))
}

/// The longest transmission: a link may report its start when it ends.
pub(crate) fn of_transmissions(plan: &Plan) -> Span {
    let mut longest = Span::ZERO;
    for group in &plan.groups {
        let (there, back) = most_wire_bytes(&group.source);
        for (links, bytes) in [(&group.forward, there), (&group.reverse, back)] {
            let rates = links.iter().filter_map(|&link| Rate::from_bps(plan.links[link as usize].rate_bps));
            longest = rates.map(|rate| rate.transmission(bytes)).fold(longest, Span::max);
        }
    }
    longest
}

/// The largest packet that a flow sends, and the largest answer.
fn most_wire_bytes(source: &SourcePlan) -> (u64, u64) {
    match source {
        SourcePlan::Tcp(tcp) => {
            let segments = if tcp.config.offload.is_some() { most_by_size(tcp.config.mss_bytes) } else { 1 };
            let data = u64::from(segments) * u64::from(tcp.config.mss_bytes + tcp.config.header_bytes);
            (data.max(u64::from(tcp.config.ack_bytes)), u64::from(tcp.config.ack_bytes))
        }
        SourcePlan::Udp(udp) => {
            let constant = udp.config.sizes == Variate::Constant;
            let bytes = if constant { u64::from(udp.config.packet_bytes) } else { MOST_DATAGRAM_BYTES };
            (bytes, bytes)
        }
    }
}
