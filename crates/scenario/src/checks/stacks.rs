//! What the TCP keys of a group come to together, and with what routers read in its packets.

use bufferlab_parameters::Words;
use bufferlab_transport::most_by_size;

use crate::keys::Reading;
use crate::mistake::Mistake;
use crate::parts::flow::Flow;
use crate::parts::stack::STACKS;
use crate::parts::tcp::{Recovery, Stack};
use crate::quantity::format::format_time;
use crate::quantity::hosts::{Offload, UNSCALED_WINDOW_BYTES, WINDOW_PART};
use crate::scenario::Resolved;
use crate::text::value::Value;

pub(super) fn check_stack(flow: &Flow, tcp: &Stack, run_stack: &str, reading: &mut Reading<'_>) {
    check_timers(tcp, reading);
    check_recovery(flow, tcp, run_stack, reading);
    check_pace(flow, tcp, reading);
    check_offload(tcp, reading);
    check_window(tcp, reading);
}

fn check_timers(tcp: &Stack, reading: &mut Reading<'_>) {
    let mut timers = [("min_rto", tcp.min_rto_ps), ("rto_margin", tcp.rto_margin_ps)].into_iter();
    if let Some((key, timer_ps)) = timers.find(|(_, timer_ps)| *timer_ps > tcp.max_rto_ps) {
        let accepted = format!("at most {}", format_time(tcp.max_rto_ps));
        let mistake = Mistake::new("is above max_rto").key(key).text(format_time(timer_ps));
        reading.refuse(mistake.accepted(accepted));
    }
}

fn check_recovery(flow: &Flow, tcp: &Stack, run_stack: &str, reading: &mut Reading<'_>) {
    if !tcp.congestion.config().needs_rates() || tcp.recovery.computes_pipe() {
        return;
    }
    let word = tcp.congestion.word();
    let counting: Vec<&str> = Recovery::ALL
        .iter()
        .filter(|recovery| recovery.computes_pipe())
        .map(|recovery| recovery.word())
        .collect();
    let given = tcp.recovery.word();
    if flow.keys.recovery.is_some() {
        let mistake = Mistake::new(format!("does not go with {word}")).key("recovery").text(given);
        return reading.refuse(mistake.accepted(counting.join(" or ")));
    }
    let stack = flow.stack.unwrap_or(run_stack);
    let with_sack =
        STACKS.iter().filter(|(_, preset)| preset.recovery.computes_pipe()).map(|(name, _)| *name);
    let with_sack = with_sack.collect::<Vec<_>>().join(", ");
    let problem = format!("needs the recovery sack or linux, and the stack '{stack}' has {given}");
    let accepted = format!("it with recovery = 'sack' or 'linux', or with a stack of {with_sack}");
    reading.refuse(Mistake::new(problem).key("congestion").text(word).accepted(accepted));
}

fn check_pace(flow: &Flow, tcp: &Stack, reading: &mut Reading<'_>) {
    if let Some(paced) = flow.keys.paced.filter(|_| tcp.congestion.config().needs_rates()) {
        let problem = format!("means nothing to {}, which has a pace of its own", tcp.congestion.word());
        let mistake = Mistake::new(problem).key("paced").value(&Value::Flag(paced));
        reading.refuse(mistake.accepted("no paced here, or another congestion control"));
    }
}

fn check_offload(tcp: &Stack, reading: &mut Reading<'_>) {
    let most = most_by_size(tcp.segment_bytes as u32);
    if let Offload::Segments(segments) = tcp.offload
        && segments > u64::from(most)
    {
        let accepted = format!("1 to {most} segments of {} B, 'auto' or 'none'", tcp.segment_bytes);
        let mistake = Mistake::new("is more than 64 KB").key("offload").text(format!("{segments} segments"));
        reading.refuse(mistake.accepted(accepted));
    }
}

/// A window of less than a segment would let nothing pass.
fn check_window(tcp: &Stack, reading: &mut Reading<'_>) {
    if tcp.receive_window_bytes() >= tcp.segment_bytes {
        return;
    }
    let segment = format!("{} B", tcp.segment_bytes);
    let least = if tcp.window.is_tuned() {
        format!("auto({} B)", tcp.segment_bytes * WINDOW_PART)
    } else {
        segment.clone()
    };
    let limit = if tcp.window_scaling {
        String::new()
    } else {
        format!("; without window_scaling it is at most {UNSCALED_WINDOW_BYTES} B")
    };
    let mistake = Mistake::new("is less than a segment, so nothing could be sent").key("window");
    let accepted = format!("at least '{least}', a segment's {segment}{limit}");
    reading.refuse(mistake.text(tcp.window.text()).accepted(accepted));
}

/// What a router is to read must be in the packets.
pub(super) fn check_round_trips(scenario: &Resolved, reading: &mut Reading<'_>) {
    for (index, link) in scenario.links.iter().enumerate() {
        let Some(source) = link.queue.reads() else { continue };
        let lacks = |flow: &&Flow| {
            let reads = flow
                .tcp
                .as_ref()
                .is_none_or(|tcp| if source == "handshake" { tcp.handshake } else { tcp.timestamps });
            flow.path.contains(&link.name) && !reads
        };
        if let Some(flow) = scenario.flows.iter().find(lacks) {
            let problem = format!("needs {source} of all TCP flows, and '{}' has none", flow.name);
            let mistake =
                Mistake::new(problem).key(format!("{}.queue.rtt", scenario.link_key(index))).text(source);
            reading.refuse(mistake.accepted(format!("it with {source} = true there, or another source")));
        }
    }
}
