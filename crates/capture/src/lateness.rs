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
        SourcePlan::VideoCall(call) => (u64::from(call.packet_bytes), u64::from(call.report_bytes)),
        SourcePlan::Udp(udp) => {
            let constant = udp.config.sizes == Variate::Constant;
            let bytes = if constant { u64::from(udp.config.packet_bytes) } else { MOST_DATAGRAM_BYTES };
            (bytes, bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        serde_json::from_str(include_str!("../../simulator/tests/plans/two_flows.json")).unwrap()
    }

    const MS: u64 = 1_000_000_000;

    /// The engine runs in the time of the first link, from which senders are up to 9 ms away.
    #[test]
    fn a_report_is_as_late_as_the_farthest_sender() {
        assert_eq!(of_hosts(&plan()), Span::from_ms(9));
    }

    /// A request is reported when it arrives: behind the way back, which for the second flow is 20 ms and the links of its path.
    #[test]
    fn a_request_is_as_late_as_its_way() {
        let mut plan = plan();
        let page = r#"{"on": {"bytes": {"kind": "constant", "value": 1}}, "off_ps": {"kind": "constant", "value": 1},
            "after_idle": "keep", "fetch": true}"#;
        let SourcePlan::Tcp(tcp) = &mut plan.groups[0].source else { panic!() };
        tcp.on_off = Some(serde_json::from_str(page).unwrap());
        assert_eq!(of_hosts(&plan), Span::from_ms(9 + 20));
        let mut back = plan.links[0].clone();
        back.delay_ps = 7 * MS;
        plan.links.push(back);
        plan.groups[0].reverse = vec![1, 0];
        plan.flows.home_delay_ps = vec![30 * MS, 5 * MS];
        // 10 + 8 + 30 of the first are more than 20 + 8 + 5 of the second
        assert_eq!(of_hosts(&plan), Span::from_ms(9 + 10 + 8 + 30));
    }

    /// On the slowest link of either way, of the largest packet that goes there.
    #[test]
    fn the_longest_transmission_is_of_the_largest_packet_on_the_slowest_link() {
        let mut plan = plan();
        // 960 and 40 bytes at 10 Mbit/s
        assert_eq!(of_transmissions(&plan), Span::from_us(800));
        let mut back = plan.links[0].clone();
        back.rate_bps = 100_000;
        plan.links.push(back);
        plan.groups[0].reverse = vec![1];
        // an acknowledgment of 40 bytes at 100 kbit/s
        assert_eq!(of_transmissions(&plan), Span::from_us(3_200));
        let SourcePlan::Tcp(tcp) = &mut plan.groups[0].source else { panic!() };
        tcp.config.offload = Some(bufferlab_transport::Offload::Segments(2));
        let most = u64::from(most_by_size(960));
        assert_eq!(of_transmissions(&plan), Span::from_us(800 * most));
        let datagrams = |sizes: &str| -> SourcePlan {
            let text = format!(
                r#"{{"kind": "udp", "packet_bytes": 500, "interval_ps": 1, "sizes": "{sizes}", "echo": true, "record": false}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        plan.groups[0].source = datagrams("constant");
        assert_eq!(of_transmissions(&plan), Span::from_ms(40), "of its answer");
        plan.groups[0].source = datagrams("exponential");
        assert_eq!(of_transmissions(&plan), Span::from_us(65_535 * 80));
    }
}
