//! Plans made by hand: flows over one link of 10 Mbit/s.

use bufferlab_congestion::RenoConfig;
use bufferlab_qdisc::{FifoConfig, Limit, RedConfig, SplitBuffConfig, Threshold};
use bufferlab_simulator::{FlowColumns, GroupPlan, LinkPlan, Plan, QueuePlan, SourcePlan, TcpPlan};
use bufferlab_transport::{Recovery, TcpConfig};
use bufferlab_units::Span;

pub(crate) const MS: u64 = 1_000_000_000;
pub(crate) const S: u64 = 1_000 * MS;
pub(crate) const RATE_BPS: u64 = 10_000_000;

/// Bulk transfers with segments of 960 + 40 bytes and the given round-trip times, for 20 s, the last 15 of them
/// measured.
pub(crate) fn dumbbell(recovery: Recovery, buffer_packets: u64, rtts_ms: &[u64]) -> Plan {
    let mut flows = FlowColumns::default();
    for (index, rtt_ms) in rtts_ms.iter().enumerate() {
        flows.group.push(0);
        flows.start_ps.push(index as u64 * 100 * MS);
        flows.stop_ps.push(u64::MAX);
        // a quarter of the round trip on each of four ways, less the link's own millisecond
        flows.source_delay_ps.push(rtt_ms * MS / 4);
        flows.sink_delay_ps.push(rtt_ms * MS / 4 - MS);
        flows.return_delay_ps.push(rtt_ms * MS / 2);
        flows.home_delay_ps.push(0);
        flows.sample.push(false);
    }
    Plan {
        version: Plan::VERSION,
        seed: 1,
        duration_ps: 20 * S,
        warmup_ps: 5 * S,
        sample_interval_ps: 0,
        links: vec![link(buffer_packets)],
        groups: vec![GroupPlan::new("bulk", SourcePlan::Tcp(tcp(recovery)), vec![0])],
        flows,
    }
}

fn link(buffer_packets: u64) -> LinkPlan {
    let discipline = QueuePlan::new(Limit::Packets(buffer_packets), FifoConfig::default());
    LinkPlan { name: "bottleneck".into(), sample: true, ..LinkPlan::new(RATE_BPS, MS, discipline) }
}

fn tcp(recovery: Recovery) -> TcpPlan {
    let config = TcpConfig {
        recovery,
        mss_bytes: 960,
        header_bytes: 40,
        ack_bytes: 40,
        initial_window: 2,
        receive_window_bytes: 96_000_000,
        ack_every: 1,
        ack_delay: Span::from_ms(40),
        timestamps: false,
        ..TcpConfig::default()
    };
    TcpPlan::new(RenoConfig::default(), config)
}

/// Adaptive RED with the thresholds of its paper for a wait of 10 ms on 10 Mbit/s.
pub(crate) fn red(ecn: bool) -> RedConfig {
    let [min_threshold, max_threshold] = [6, 18].map(|packets| Some(Threshold::Packets(packets)));
    RedConfig { min_threshold, max_threshold, ecn, mean_packet_bytes: Some(1_000), ..RedConfig::default() }
}

/// The only group's TCP.
pub(crate) fn tcp_of(plan: &mut Plan) -> &mut TcpPlan {
    match &mut plan.groups[0].source {
        SourcePlan::Tcp(tcp) => tcp,
        SourcePlan::Udp(_) | SourcePlan::VideoCall(_) => unreachable!("scenes are made of TCP flows"),
    }
}

/// SplitBuff with two sub-buffers by headers, its periods shorter than a slow start, so that flows change sides.
pub(crate) fn splitbuff() -> SplitBuffConfig {
    let update = Span::from_ms(100);
    SplitBuffConfig { update, first_update: Some(update), smoothing: 0.25, ..SplitBuffConfig::default() }
}
