//! What a packet's way over a link takes beyond its propagation delay: delays that change, and jitter.
//!
//! A packet that has left the transmitter is held here until the propagation delay is all that is left. Without reordering
//! one that would come before an earlier one comes with it.

use std::collections::BTreeMap;

use bufferlab_qdisc::Packet;
use bufferlab_units::{Span, Stream, Time};

use crate::plan::{DelayPiece, DelayPlan, JitterPlan};

/// Packets on their way.
#[derive(Clone, Debug)]
pub(crate) struct DelayLine {
    delays: Vec<DelayPiece>,
    repeat_ps: u64,
    jitter: JitterPlan,
    reorders: bool,
    stream: Stream,
    /// When the last packet that left came to its end.
    last: Time,
    /// By time, and of those at one moment in the order in which they left.
    held: BTreeMap<(Time, u64), Packet>,
    left: u64,
}

impl DelayLine {
    pub(crate) fn new(plan: &DelayPlan, stream: Stream) -> DelayLine {
        DelayLine {
            delays: plan.delays.clone(),
            repeat_ps: plan.repeat_ps,
            jitter: plan.jitter,
            reorders: plan.reorders,
            stream,
            last: Time::ZERO,
            held: BTreeMap::new(),
            left: 0,
        }
    }

    /// When a packet that leaves now has only the propagation delay before it.
    pub(crate) fn passes(&mut self, now: Time) -> Time {
        let more = self.delay(now) + self.jitter.draw(&mut self.stream);
        let at = now.saturating_add(more);
        self.last = if self.reorders { at } else { at.max(self.last) };
        self.last
    }

    fn delay(&self, now: Time) -> Span {
        let ps = now.as_ps();
        let ps = if self.repeat_ps == 0 { ps } else { ps % self.repeat_ps };
        let begun = self.delays.partition_point(|piece| piece.at_ps <= ps);
        begun.checked_sub(1).map_or(Span::ZERO, |last| Span::from_ps(self.delays[last].more_ps))
    }

    /// Holds a packet until a time; returns when the first one is due.
    pub(crate) fn hold(&mut self, until: Time, packet: Packet) -> Time {
        self.held.insert((until, self.left), packet);
        self.left += 1;
        self.next()
    }

    /// The first packet that is due, and when the next one is.
    pub(crate) fn release(&mut self) -> Option<(Packet, Time)> {
        let (_, packet) = self.held.pop_first()?;
        Some((packet, self.next()))
    }

    fn next(&self) -> Time {
        self.held.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn line(jitter: JitterPlan, reorders: bool) -> DelayLine {
        let piece = |at: u64, more: u64| DelayPiece { at_ps: at * MS, more_ps: more * MS };
        let plan =
            DelayPlan { delays: vec![piece(10, 20), piece(15, 0)], repeat_ps: 20 * MS, jitter, reorders };
        DelayLine::new(&plan, Stream::new(1, 2, 3))
    }

    fn passes(line: &mut DelayLine, at_ms: &[u64]) -> Vec<u64> {
        at_ms.iter().map(|ms| line.passes(Time::from_ps(ms * MS)).as_ps() / MS).collect()
    }

    #[test]
    fn delays_change_and_repeat() {
        let found = passes(&mut line(JitterPlan::None, true), &[0, 9, 10, 14, 15, 30, 36]);
        assert_eq!(found, [0, 9, 30, 34, 15, 50, 36]);
    }

    /// As over a handover to a shorter way: what leaves later comes with what left before.
    #[test]
    fn without_reordering_packets_keep_their_order() {
        let found = passes(&mut line(JitterPlan::None, false), &[0, 9, 10, 14, 15, 30, 36]);
        assert_eq!(found, [0, 9, 30, 34, 34, 50, 50]);
        let jitter = JitterPlan::Uniform { low_ps: 0, high_ps: 8 * MS };
        let times: Vec<u64> = (0..1_000).map(|n| n * MS / 10).collect();
        let mut ordered = line(jitter, false);
        let found: Vec<Time> = times.iter().map(|&ps| ordered.passes(Time::from_ps(ps))).collect();
        assert!(found.is_sorted());
        let mut free = line(jitter, true);
        let found: Vec<Time> = times.iter().map(|&ps| free.passes(Time::from_ps(ps))).collect();
        assert!(!found.is_sorted());
    }
}
