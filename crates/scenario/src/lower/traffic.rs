//! What crosses each link, as far as buffer rules look at it.

use crate::draw::Draws;
use crate::parts::application::Application;
use crate::parts::link::Link;
use crate::quantity::buffer::LinkTraffic;
use crate::resolved::Resolved;

/// Flows of one kind on a link; filled group by group.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    flows: u64,
    /// Sum of their round-trip times, ps.
    rtt_sum_ps: f64,
    /// Their largest full packet on the wire, bytes.
    packet_bytes: u64,
}

impl Crossing {
    /// Counts a group. Short flows count for one, as few of them are there at a time.
    fn add(&mut self, count: u64, mean_rtt_ps: f64, packet_bytes: u64) {
        self.flows += count;
        self.rtt_sum_ps += count as f64 * mean_rtt_ps;
        self.packet_bytes = self.packet_bytes.max(packet_bytes);
    }
}

/// What buffer words depend on at each link; nothing where nothing crosses.
pub(super) fn of_links(scenario: &Resolved, draws: &[Draws]) -> Vec<Option<LinkTraffic>> {
    scenario.links.iter().map(|link| Traffic::of(link, scenario, draws).on(link)).collect()
}

/// What crosses one link: data of TCP, data of UDP, acknowledgments.
#[derive(Clone, Copy, Debug, Default)]
struct Traffic {
    tcp: Crossing,
    udp: Crossing,
    acks: Crossing,
}

impl Traffic {
    /// The traffic of a link.
    fn of(link: &Link, scenario: &Resolved, draws: &[Draws]) -> Traffic {
        let mut traffic = Traffic::default();
        for (flow, drawn) in scenario.flows.iter().zip(draws) {
            let sum_ps: u128 = drawn.rtt_ps.iter().map(|&rtt_ps| u128::from(rtt_ps)).sum();
            let mean_ps = sum_ps as f64 / drawn.rtt_ps.len() as f64;
            let (there, back) = (flow.path.contains(&link.name), flow.reverse_path.contains(&link.name));
            let datagram_bytes = match &flow.application {
                Application::Udp(udp) => Some(udp.packet_bytes),
                Application::Ping(ping) => Some(ping.packet_bytes),
                Application::VideoCall(call) => Some(call.packet_bytes),
                _ => None,
            };
            if let Some(bytes) = datagram_bytes {
                for _ in [there, back].into_iter().filter(|crosses| *crosses) {
                    traffic.udp.add(flow.count, mean_ps, bytes);
                }
            }
            let Some(tcp) = flow.tcp.as_ref().map(|stack| &stack.connection) else { continue };
            if there {
                traffic.tcp.add(flow.count, mean_ps, u64::from(tcp.mss_bytes + tcp.header_bytes));
            }
            if back {
                traffic.acks.add(flow.count, mean_ps, tcp.ack_bytes.into());
            }
        }
        traffic
    }

    /// What buffer words depend on: data before acknowledgments, TCP before UDP.
    fn on(&self, link: &Link) -> Option<LinkTraffic> {
        let chosen = [self.tcp, self.udp, self.acks].into_iter().find(|kind| kind.flows > 0)?;
        let data_bytes = self.tcp.packet_bytes.max(self.udp.packet_bytes);
        Some(LinkTraffic {
            rate_bps: link.rate_bps,
            flows: chosen.flows,
            mean_rtt_ps: chosen.rtt_sum_ps / chosen.flows as f64,
            packet_bytes: if data_bytes > 0 { data_bytes } else { self.acks.packet_bytes },
        })
    }
}
