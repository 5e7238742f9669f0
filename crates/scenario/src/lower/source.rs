//! What sends.

use bufferlab_congestion::CongestionConfig;
use bufferlab_parameters::Kinds;
use bufferlab_simulator::{LawPlan, OnOffPlan, OnPlan, SourcePlan, TcpPlan, UdpPlan};
use bufferlab_transport::{TcpConfig, UdpConfig, Variate};
use bufferlab_units::Span;
use serde_json::json;

use crate::parts::application::{Application, Arrivals, OnOff, Ping, Sizes, Udp, Web};
use crate::parts::flow::Flow;
use crate::parts::tcp::Stack;
use crate::quantity::hosts::Offload;
use crate::quantity::law::{Law, LawKind};

/// 20 bytes of IP and 8 of ICMP (RFC 791, RFC 792).
const PING_HEADER_BYTES: u64 = 28;

pub(super) fn source(flow: &Flow) -> SourcePlan {
    match (&flow.application, &flow.tcp) {
        (Application::Udp(udp), _) => SourcePlan::Udp(datagrams(udp)),
        (Application::Ping(ping), _) => SourcePlan::Udp(pings(ping)),
        (Application::VideoCall(call), _) => SourcePlan::VideoCall(call.plan()),
        (application, Some(stack)) => SourcePlan::Tcp(tcp(application, stack)),
        (_, None) => unreachable!("a resolved flow with TCP has a stack"),
    }
}

fn datagrams(udp: &Udp) -> UdpPlan {
    let config = UdpConfig {
        packet_bytes: udp.packet_bytes as u32,
        header_bytes: udp.header_bytes as u32,
        interval: Span::from_ps(udp.interval_ps),
        arrivals: match udp.arrivals {
            Arrivals::Constant => Variate::Constant,
            Arrivals::Poisson => Variate::Exponential,
        },
        sizes: match udp.sizes {
            Sizes::Constant => Variate::Constant,
            Sizes::Exponential => Variate::Exponential,
        },
    };
    UdpPlan { config, echo: false, record: udp.is_recorded() }
}

fn pings(ping: &Ping) -> UdpPlan {
    let config = UdpConfig {
        packet_bytes: ping.packet_bytes as u32,
        header_bytes: PING_HEADER_BYTES.min(ping.packet_bytes) as u32,
        interval: Span::from_ps(ping.interval_ps),
        ..UdpConfig::default()
    };
    UdpPlan { config, echo: true, record: false }
}

fn tcp(application: &Application, stack: &Stack) -> TcpPlan {
    TcpPlan {
        congestion: congestion(stack),
        config: connection(application, stack),
        transfer_bytes: match application {
            Application::Transfer(transfer) => Some(transfer.transfer_bytes),
            _ => None,
        },
        on_off: match application {
            Application::OnOff(turns) => Some(by_turns(turns, stack)),
            Application::Web(web) => Some(fetches(web, stack)),
            _ => None,
        },
        video: match application {
            Application::Video(video) => Some(Box::new(video.plan(stack))),
            _ => None,
        },
    }
}

/// The connection's parameters with what the host's keys come to.
fn connection(application: &Application, stack: &Stack) -> TcpConfig {
    TcpConfig {
        receive_window_bytes: stack.receive_window_bytes(),
        tuned_window: stack.window.is_tuned(),
        offload: match stack.offload {
            Offload::None => None,
            Offload::Auto => Some(bufferlab_transport::Offload::Auto),
            Offload::Segments(segments) => Some(bufferlab_transport::Offload::Segments(segments as u32)),
        },
        // an echo goes over the connection that is there
        handshake: stack.connection.handshake && !matches!(application, Application::Echo(_)),
        ..stack.connection.clone()
    }
}

fn by_turns(turns: &OnOff, stack: &Stack) -> OnOffPlan {
    let on = match (&turns.on, &turns.size) {
        (Some(on), _) => OnPlan::TimePs(law(on)),
        (None, Some(size)) => OnPlan::Bytes(law(size)),
        (None, None) => unreachable!("an application by turns has a time or a size"),
    };
    OnOffPlan { on, off_ps: law(&turns.off), after_idle: stack.after_idle, fetch: false }
}

fn fetches(web: &Web, stack: &Stack) -> OnOffPlan {
    let on = OnPlan::Bytes(law(&web.size));
    OnOffPlan { on, off_ps: law(&web.every), after_idle: stack.after_idle, fetch: true }
}

/// A law that is drawn during the run.
pub(super) fn law(law: &Law) -> LawPlan {
    match law.kind {
        LawKind::Constant { value } => LawPlan::Constant { value },
        LawKind::Exponential { mean } => LawPlan::Exponential { mean },
        LawKind::Pareto { mean, shape } => LawPlan::Pareto { mean, shape },
        _ => unreachable!("no other law is read there"),
    }
}

/// The control with the keys that it has of those of the stack.
fn congestion(stack: &Stack) -> CongestionConfig {
    let mut config = stack.congestion.config.clone();
    let keys = [("growth", json!(stack.growth)), ("fast_convergence", json!(stack.fast_convergence))];
    let table = config.table();
    for (key, value) in keys {
        if table.iter().any(|parameter| parameter.key == key) {
            config.set(key, value).expect("a value of the parameter's type");
        }
    }
    config
}
