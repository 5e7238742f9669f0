//! Plans made by hand: flows over one link of 10 Mbit/s.

use bufferlab_simulator::{
    ClassesPlan, CongestionPlan, ControlLawPlan, DisciplinePlan, FlowColumns, GroupPlan, GrowthPlan,
    JitterPlan, LimitPlan, LinkPlan, MeanPlan, Plan, RecoveryPlan, RttPlan, SourcePlan, TcpPlan,
    ThresholdsPlan,
};

pub(crate) const MS: u64 = 1_000_000_000;
pub(crate) const S: u64 = 1_000 * MS;
pub(crate) const RATE_BPS: u64 = 10_000_000;

/// Bulk transfers with segments of 960 + 40 bytes and the given round-trip times, for 20 s, the last 15 of them
/// measured.
pub(crate) fn dumbbell(recovery: RecoveryPlan, buffer_packets: u64, rtts_ms: &[u64]) -> Plan {
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
        groups: vec![GroupPlan {
            name: "bulk".into(),
            source: SourcePlan::Tcp(tcp(recovery)),
            forward: vec![0],
            reverse: Vec::new(),
            jitter: JitterPlan::None,
            access_bps: None,
        }],
        flows,
    }
}

fn link(buffer_packets: u64) -> LinkPlan {
    LinkPlan {
        name: "bottleneck".into(),
        rate_bps: RATE_BPS,
        delay_ps: MS,
        discipline: DisciplinePlan::Fifo { limit: LimitPlan::Packets(buffer_packets), mark_above: None },
        loss_ppb: 0,
        changes: Vec::new(),
        sample: true,
    }
}

fn tcp(recovery: RecoveryPlan) -> TcpPlan {
    TcpPlan {
        congestion: CongestionPlan::Reno { growth: GrowthPlan::PerSegment },
        recovery,
        mss_bytes: 960,
        header_bytes: 40,
        ack_bytes: 40,
        initial_window: 2,
        initial_ssthresh: None,
        receive_window_bytes: 96_000_000,
        ack_every: 1,
        ack_delay_ps: 40 * MS,
        min_rto_ps: S,
        rto_margin_ps: 0,
        max_rto_ps: 60 * S,
        initial_rto_ps: S,
        clock_ps: 1,
        timestamps: false,
        limited_transmit: true,
        handshake: true,
        transfer_bytes: None,
        tuned_window: false,
        paced: false,
        offload: None,
        on_off: None,
    }
}

/// CoDel as everybody runs it (RFC 8289 section 5.3), over as large a buffer as the plan's link has.
pub(crate) fn codel(limit: LimitPlan) -> DisciplinePlan {
    DisciplinePlan::Codel {
        limit,
        target_ps: 5 * MS,
        interval_ps: 100 * MS,
        ecn: false,
        ce_threshold_ps: None,
        control_law: ControlLawPlan::Rfc,
    }
}

/// Adaptive RED with the thresholds of its paper for a wait of 10 ms on 10 Mbit/s.
pub(crate) fn red(limit: LimitPlan, ecn: bool) -> DisciplinePlan {
    DisciplinePlan::Red {
        limit,
        min_threshold: LimitPlan::Packets(6),
        max_threshold: LimitPlan::Packets(18),
        weight: None,
        max_p: 0.1,
        gentle: true,
        adaptive: true,
        ecn,
        mean_packet_bytes: 1_000,
    }
}

/// PIE with the constants of RFC 8033.
pub(crate) fn pie(limit: LimitPlan, ecn: bool) -> DisciplinePlan {
    DisciplinePlan::Pie {
        limit,
        target_ps: 15 * MS,
        t_update_ps: 15 * MS,
        alpha: 0.125,
        beta: 1.25,
        max_burst_ps: 150 * MS,
        ecn,
    }
}

/// FQ-CoDel with the constants of RFC 8290.
pub(crate) fn fq_codel(limit: LimitPlan) -> DisciplinePlan {
    DisciplinePlan::FqCodel {
        limit,
        flows: 1_024,
        quantum_bytes: 1_514,
        drop_batch: 64,
        target_ps: 5 * MS,
        interval_ps: 100 * MS,
        ecn: true,
        ce_threshold_ps: None,
        control_law: ControlLawPlan::Rfc,
    }
}

/// The only group's TCP.
pub(crate) fn tcp_of(plan: &mut Plan) -> &mut TcpPlan {
    match &mut plan.groups[0].source {
        SourcePlan::Tcp(tcp) => tcp,
        SourcePlan::Udp(_) => unreachable!("scenes are made of TCP flows"),
    }
}

/// SplitBuff with two sub-buffers by headers, its periods shorter than a slow start, so that flows change sides.
pub(crate) fn splitbuff(limit: LimitPlan) -> DisciplinePlan {
    DisciplinePlan::Splitbuff {
        limit,
        sub_buffers: 2,
        update_ps: 100 * MS,
        smoothing: 0.25,
        classes: ClassesPlan::Rtt { information: RttPlan::Header },
        weighted: false,
        first_update_ps: None,
        thresholds: ThresholdsPlan::Mean,
        hysteresis: 0.0,
        mean: MeanPlan::Packets,
    }
}
