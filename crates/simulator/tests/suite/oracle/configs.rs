//! What the transport's endpoints are made of.

use bufferlab_simulator::{OffloadPlan, RecoveryPlan, TcpPlan, UdpPlan, VariatePlan};
use bufferlab_transport::{Offload, Recovery, TcpConfig, TuningConfig, UdpConfig, Variate};
use bufferlab_units::Span;

use super::bursts;

pub(super) fn tcp_config(plan: &TcpPlan) -> TcpConfig {
    let mss = u64::from(plan.mss_bytes);
    let tuning = plan.tuned_window.then_some(TuningConfig {
        mss_bytes: plan.mss_bytes,
        most_bytes: plan.receive_window_bytes,
        timestamps: plan.timestamps,
    });
    TcpConfig {
        recovery: match plan.recovery {
            RecoveryPlan::Tahoe => Recovery::Tahoe,
            RecoveryPlan::Reno => Recovery::Reno,
            RecoveryPlan::Newreno => Recovery::NewReno,
            RecoveryPlan::Sack => Recovery::Sack,
            RecoveryPlan::Linux => Recovery::Linux,
            RecoveryPlan::SackNs2 => Recovery::SackNs2,
        },
        transfer_segments: plan.transfer_bytes.map_or(u32::MAX, |bytes| bytes.div_ceil(mss) as u32),
        receive_window: match tuning {
            Some(tuning) => tuning.first_segments(),
            None => (plan.receive_window_bytes / mss) as u32,
        },
        tuning,
        ack_every: plan.ack_every,
        ack_delay: Span::from_ps(plan.ack_delay_ps),
        min_rto: Span::from_ps(plan.min_rto_ps),
        rto_margin: Span::from_ps(plan.rto_margin_ps),
        max_rto: Span::from_ps(plan.max_rto_ps),
        initial_rto: Span::from_ps(plan.initial_rto_ps),
        clock: Span::from_ps(plan.clock_ps),
        timestamps: plan.timestamps,
        limited_transmit: plan.limited_transmit,
        handshake: plan.handshake,
        paced: plan.paced,
        offload: match plan.offload {
            Some(OffloadPlan::Segments(segments)) => Some(Offload::Segments(segments)),
            Some(OffloadPlan::Auto) => Some(Offload::Auto { mss_bytes: plan.mss_bytes }),
            None => None,
        },
        bursts: bursts::config(plan),
    }
}

pub(super) fn udp_config(plan: &UdpPlan) -> UdpConfig {
    let variate = |law| match law {
        VariatePlan::Constant => Variate::Constant,
        VariatePlan::Exponential => Variate::Exponential,
    };
    UdpConfig {
        packet_bytes: plan.packet_bytes,
        header_bytes: plan.header_bytes,
        interval: Span::from_ps(plan.interval_ps),
        arrivals: variate(plan.arrivals),
        sizes: variate(plan.sizes),
        max_bytes: 65_535,
    }
}
