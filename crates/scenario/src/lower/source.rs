//! What sends.

use bufferlab_congestion::CongestionConfig;
use bufferlab_parameters::Kinds;
use bufferlab_simulator::{
    AfterIdlePlan, LawPlan, OffloadPlan, OnOffPlan, OnPlan, RecoveryPlan, SourcePlan, TcpPlan, UdpPlan,
    VariatePlan,
};
use serde_json::json;

use crate::parts::application::{Application, Arrivals, OnOff, Ping, Sizes, Udp, Web};
use crate::parts::flow::Flow;
use crate::parts::tcp::{AfterIdle, Recovery, Stack};
use crate::quantity::hosts::Offload;
use crate::quantity::law::{Law, LawKind};

/// 20 bytes of IP and 8 of ICMP (RFC 791, RFC 792).
const PING_HEADER_BYTES: u64 = 28;

pub(super) fn source(flow: &Flow) -> SourcePlan {
    match (&flow.application, &flow.tcp) {
        (Application::Udp(udp), _) => SourcePlan::Udp(datagrams(udp)),
        (Application::Ping(ping), _) => SourcePlan::Udp(pings(ping)),
        (application, Some(stack)) => SourcePlan::Tcp(tcp(application, stack)),
        (_, None) => unreachable!("a resolved flow with TCP has a stack"),
    }
}

fn datagrams(udp: &Udp) -> UdpPlan {
    UdpPlan {
        packet_bytes: udp.packet_bytes as u32,
        header_bytes: udp.header_bytes as u32,
        interval_ps: udp.interval_ps,
        arrivals: match udp.arrivals {
            Arrivals::Constant => VariatePlan::Constant,
            Arrivals::Poisson => VariatePlan::Exponential,
        },
        sizes: match udp.sizes {
            Sizes::Constant => VariatePlan::Constant,
            Sizes::Exponential => VariatePlan::Exponential,
        },
        echo: false,
        record: udp.record,
    }
}

fn pings(ping: &Ping) -> UdpPlan {
    UdpPlan {
        packet_bytes: ping.packet_bytes as u32,
        header_bytes: PING_HEADER_BYTES.min(ping.packet_bytes) as u32,
        interval_ps: ping.interval_ps,
        arrivals: VariatePlan::Constant,
        sizes: VariatePlan::Constant,
        echo: true,
        record: false,
    }
}

fn tcp(application: &Application, stack: &Stack) -> TcpPlan {
    TcpPlan {
        congestion: congestion(stack),
        recovery: recovery(stack.recovery),
        mss_bytes: stack.segment_bytes as u32,
        header_bytes: stack.header_bytes as u32,
        ack_bytes: stack.ack_bytes as u32,
        initial_window: stack.initial_window as u32,
        initial_ssthresh: stack.initial_ssthresh,
        receive_window_bytes: stack.receive_window_bytes(),
        tuned_window: stack.window.is_tuned(),
        ack_every: stack.delayed_ack as u32,
        ack_delay_ps: stack.ack_delay_ps,
        min_rto_ps: stack.min_rto_ps,
        rto_margin_ps: stack.rto_margin_ps,
        max_rto_ps: stack.max_rto_ps,
        initial_rto_ps: stack.initial_rto_ps,
        clock_ps: stack.clock_ps,
        timestamps: stack.timestamps,
        limited_transmit: stack.limited_transmit,
        // an echo goes over the connection that is there
        handshake: stack.handshake && !matches!(application, Application::Echo(_)),
        transfer_bytes: match application {
            Application::Transfer(transfer) => Some(transfer.transfer_bytes),
            _ => None,
        },
        paced: stack.paced,
        offload: match stack.offload {
            Offload::None => None,
            Offload::Auto => Some(OffloadPlan::Auto),
            Offload::Segments(segments) => Some(OffloadPlan::Segments(segments as u32)),
        },
        on_off: match application {
            Application::OnOff(turns) => Some(by_turns(turns, stack)),
            Application::Web(web) => Some(fetches(web, stack)),
            _ => None,
        },
    }
}

fn by_turns(turns: &OnOff, stack: &Stack) -> OnOffPlan {
    let on = match (&turns.on, &turns.size) {
        (Some(on), _) => OnPlan::TimePs(law(on)),
        (None, Some(size)) => OnPlan::Bytes(law(size)),
        (None, None) => unreachable!("an application by turns has a time or a size"),
    };
    OnOffPlan { on, off_ps: law(&turns.off), after_idle: after_idle(stack.after_idle), fetch: false }
}

fn fetches(web: &Web, stack: &Stack) -> OnOffPlan {
    let on = OnPlan::Bytes(law(&web.size));
    OnOffPlan { on, off_ps: law(&web.every), after_idle: after_idle(stack.after_idle), fetch: true }
}

/// A law that is drawn during the run.
fn law(law: &Law) -> LawPlan {
    match law.kind {
        LawKind::Constant { value } => LawPlan::Constant { value },
        LawKind::Exponential { mean } => LawPlan::Exponential { mean },
        LawKind::Pareto { mean, shape } => LawPlan::Pareto { mean, shape },
        _ => unreachable!("no other law is read there"),
    }
}

/// The control with the keys that it has of those of the stack.
fn congestion(stack: &Stack) -> CongestionConfig {
    let mut config = stack.congestion.config();
    let keys = [
        ("growth", json!(stack.growth)),
        ("fast_convergence", json!(stack.fast_convergence)),
        ("hystart", json!(stack.congestion.hystart)),
        ("segments", json!(stack.congestion.segments)),
    ];
    let table = config.table();
    for (key, value) in keys {
        if table.iter().any(|parameter| parameter.key == key) {
            config.set(key, value).expect("a value of the parameter's type");
        }
    }
    config
}

fn recovery(recovery: Recovery) -> RecoveryPlan {
    match recovery {
        Recovery::Tahoe => RecoveryPlan::Tahoe,
        Recovery::Reno => RecoveryPlan::Reno,
        Recovery::Newreno => RecoveryPlan::Newreno,
        Recovery::Sack => RecoveryPlan::Sack,
        Recovery::SackNs2 => RecoveryPlan::SackNs2,
        Recovery::Linux => RecoveryPlan::Linux,
    }
}

fn after_idle(after_idle: AfterIdle) -> AfterIdlePlan {
    match after_idle {
        AfterIdle::Keep => AfterIdlePlan::Keep,
        AfterIdle::Restart => AfterIdlePlan::Restart,
        AfterIdle::Decay => AfterIdlePlan::Decay,
    }
}
