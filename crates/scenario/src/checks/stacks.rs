//! What the TCP keys of a group come to together, and with what routers read in its packets.

use bufferlab_parameters::Words;
use bufferlab_transport::{EcnUse, most_by_size};

use crate::keys::Reading;
use crate::parts::flow::Flow;
use crate::parts::stack::STACKS;
use crate::parts::tcp::{Recovery, Stack};
use crate::quantity::format::format_time;
use crate::quantity::hosts::{Offload, UNSCALED_WINDOW_BYTES, WINDOW_PART};
use crate::resolved::Resolved;
use crate::text::mistake::Mistake;
use crate::text::value::Value;

pub(super) fn check_stack(flow: &Flow, tcp: &Stack, run_stack: &str, reading: &mut Reading<'_>) {
    check_timers(tcp, reading);
    check_recovery(flow, tcp, run_stack, reading);
    check_pace(flow, tcp, reading);
    check_ecn(flow, tcp, reading);
    check_offload(tcp, reading);
    check_window(tcp, reading);
}

fn check_timers(tcp: &Stack, reading: &mut Reading<'_>) {
    let mut timers =
        [("min_rto", tcp.connection.min_rto), ("rto_margin", tcp.connection.rto_margin)].into_iter();
    let most = tcp.connection.max_rto;
    if let Some((key, timer)) = timers.find(|(_, timer)| *timer > most) {
        let accepted = format!("at most {}", format_time(most.as_ps()));
        let mistake = Mistake::new("is above max_rto").key(key).text(format_time(timer.as_ps()));
        reading.refuse(mistake.accepted(accepted));
    }
}

fn check_recovery(flow: &Flow, tcp: &Stack, run_stack: &str, reading: &mut Reading<'_>) {
    if !tcp.congestion.config.needs_rates() || tcp.connection.recovery.computes_pipe() {
        return;
    }
    let word = &tcp.congestion.word;
    let counting: Vec<&str> = Recovery::ALL
        .iter()
        .filter(|recovery| recovery.computes_pipe())
        .map(|recovery| recovery.word())
        .collect();
    let given = tcp.connection.recovery.word();
    if flow.keys.has("recovery") {
        let mistake = Mistake::new(format!("does not go with {word}")).key("recovery").text(given);
        return reading.refuse(mistake.accepted(counting.join(" or ")));
    }
    let stack = flow.stack.unwrap_or(run_stack);
    let with_sack =
        STACKS.iter().filter(|(_, preset)| preset.connection.recovery.computes_pipe()).map(|(name, _)| *name);
    let with_sack = with_sack.collect::<Vec<_>>().join(", ");
    let problem =
        format!("needs the recovery {}, and the stack '{stack}' has {given}", counting.join(" or "));
    let accepted = format!("it with recovery = 'sack' or 'linux', or with a stack of {with_sack}");
    reading.refuse(Mistake::new(problem).key("congestion").text(word).accepted(accepted));
}

fn check_pace(flow: &Flow, tcp: &Stack, reading: &mut Reading<'_>) {
    if flow.keys.has("paced") && tcp.congestion.config.has_pace() {
        let problem = format!("means nothing to {}, which has a pace of its own", tcp.congestion.word);
        let mistake = Mistake::new(problem).key("paced").value(&Value::Flag(tcp.connection.paced));
        reading.refuse(mistake.accepted("no paced here, or another congestion control"));
    }
}

fn check_ecn(flow: &Flow, tcp: &Stack, reading: &mut Reading<'_>) {
    let (ecn, control) = (tcp.connection.ecn, &tcp.congestion);
    let mistake = |problem: String| Mistake::new(problem).key("ecn").text(ecn.word());
    if flow.keys.has("ecn") && control.config.uses_ecn() && ecn != EcnUse::L4s {
        let problem = format!("means nothing to {}, which has its own response to marks", control.word);
        reading.refuse(mistake(problem).accepted("no ecn here, 'l4s', or another congestion control"));
    } else if ecn == EcnUse::L4s && !control.config.uses_ecn() {
        let problem = format!("does not go with {}, to which a mark is as a loss (RFC 9331)", control.word);
        reading.refuse(mistake(problem).accepted("'classic', or the congestion control prague or dctcp"));
    } else if ecn != EcnUse::Off
        && (tcp.connection.recovery.is_ns2() || tcp.connection.recovery == Recovery::LinuxNs2)
    {
        let problem = format!("does not go with the recovery {}", tcp.connection.recovery.word());
        reading.refuse(mistake(problem).accepted("'off', or a recovery that is not ns-2's"));
    } else if ecn == EcnUse::Abe && !control.config.has_mild_marks() {
        let problem = format!("does not go with {}, for which RFC 8511 has no factor", control.word);
        reading.refuse(mistake(problem).accepted("'classic', or the congestion control reno or cubic"));
    }
}

fn check_offload(tcp: &Stack, reading: &mut Reading<'_>) {
    let segment_bytes = tcp.connection.mss_bytes;
    let most = most_by_size(segment_bytes);
    if let Offload::Segments(segments) = tcp.offload
        && segments > u64::from(most)
    {
        let counts = if most == 1 { "1 segment".to_owned() } else { format!("1 to {most} segments") };
        let accepted = format!("{counts} of {segment_bytes} B, 'auto' or 'none'");
        let mistake = Mistake::new("is more than 64 KB").key("offload").text(format!("{segments} segments"));
        reading.refuse(mistake.accepted(accepted));
    }
}

/// A window of less than a segment would let nothing pass.
fn check_window(tcp: &Stack, reading: &mut Reading<'_>) {
    let segment_bytes = u64::from(tcp.connection.mss_bytes);
    if tcp.receive_window_bytes() >= segment_bytes {
        return;
    }
    let segment = format!("{segment_bytes} B");
    let least = if tcp.window.is_tuned() {
        format!("auto({} B)", segment_bytes * WINDOW_PART)
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
            let tcp = flow.tcp.as_ref().map(|stack| &stack.connection);
            let reads =
                tcp.is_none_or(|tcp| if source == "handshake" { tcp.handshake } else { tcp.timestamps });
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
