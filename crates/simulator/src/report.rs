//! From a finished world to an outcome.

use bufferlab_units::{Span, Time};

use crate::ends::Ends;
use crate::network::World;
use crate::outcome::{FlowTable, Outcome};
use crate::samples::Samples;

pub(crate) fn outcome(world: &World, samples: Samples, events: u64, end: Time, canceled: bool) -> Outcome {
    let mut outcome = Outcome { reached_ps: end.as_ps(), canceled, events, ..Outcome::default() };
    for (index, link) in world.links.iter().enumerate() {
        outcome.packets += link.statistics.departed_packets();
        link.statistics.report(index as u32, &mut outcome);
    }
    for flow in 0..world.ends.len() {
        push_flow(&mut outcome.flows, world, flow);
        let Ends { sender, .. } = &world.ends[world.ranks[flow] as usize];
        if let Some(log) = sender.exchanges() {
            log.report(flow as u32, end, &mut outcome.exchanges);
            if let Some(video) = sender.video() {
                video.report(flow as u32, end, log, &mut outcome.segments);
            }
        }
    }
    samples.report(&mut outcome);
    outcome
}

fn push_flow(table: &mut FlowTable, world: &World, flow: usize) {
    let Ends { sender, receiver } = &world.ends[world.ranks[flow] as usize];
    let (now, then) = (sender.counters(), sender.counters_at_warmup());
    table.flow.push(flow as u32);
    table.group.push(world.groups[flow]);
    table.start_ps.push(sender.start().as_ps());
    table.rtt_ps.push(rtt(world, flow).as_ps());
    table.delivered_bytes.push(receiver.delivered_bytes() - receiver.delivered_at_warmup());
    table.whole_delivered_bytes.push(receiver.delivered_bytes());
    table.sent_packets.push(now.sent - then.sent);
    table.whole_sent_packets.push(now.sent);
    table.retransmissions.push(now.retransmissions - then.retransmissions);
    table.whole_retransmissions.push(now.retransmissions);
    table.timeouts.push(now.timeouts - then.timeouts);
    table.whole_timeouts.push(now.timeouts);
    table.recoveries.push(now.recoveries - then.recoveries);
    table.whole_recoveries.push(now.recoveries);
    let (now_disorder, then_disorder) = (receiver.disorder(), receiver.disorder_at_warmup());
    table.reordered_packets.push(now_disorder.reordered - then_disorder.reordered);
    table.whole_reordered_packets.push(now_disorder.reordered);
    table.spurious_retransmissions.push(now_disorder.duplicates - then_disorder.duplicates);
    table.whole_spurious_retransmissions.push(now_disorder.duplicates);
    table.rtt_sum_ps.push(now.rtt_sum_ps - then.rtt_sum_ps);
    table.rtt_samples.push(now.rtt_samples - then.rtt_samples);
    table.finished_ps.push(sender.finished().as_ps());
    table.received_ps.push(receiver.received().as_ps());
}

/// Two-way propagation delay, links' delays included.
fn rtt(world: &World, flow: usize) -> Span {
    let route = &world.routes[world.groups[flow] as usize];
    let delays = |path: &[u32]| {
        let inner = path.iter().rev().skip(1);
        inner.fold(Span::ZERO, |sum, &link| sum + world.links[link as usize].delay)
    };
    let Ends { sender, receiver } = &world.ends[world.ranks[flow] as usize];
    let ends = sender.offset() + receiver.offset() + receiver.return_delay + receiver.home_delay;
    ends + delays(&route.forward) + delays(&route.reverse)
}
