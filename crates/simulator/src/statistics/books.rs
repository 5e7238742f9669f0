//! What is counted for a group of flows, and for a class.

use bufferlab_qdisc::Backlog;
use bufferlab_units::Span;

use crate::histogram::Histogram;

/// Packets and bytes counted from the run's start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) arrived: Backlog,
    pub(super) dropped: Backlog,
    pub(super) departed: Backlog,
    pub(super) lost_packets: u64,
    pub(super) marked_packets: u64,
    pub(super) left_packets: u64,
}

/// Waits of packets that left the queue in the measured window.
#[derive(Clone, Debug)]
pub(super) struct Waits {
    pub(super) sum_ps: u128,
    pub(super) max: Span,
    pub(super) histogram: Histogram,
}

impl Waits {
    pub(super) fn new() -> Waits {
        Waits { sum_ps: 0, max: Span::ZERO, histogram: Histogram::new() }
    }

    pub(super) fn clear(&mut self) {
        (self.sum_ps, self.max) = (0, Span::ZERO);
        self.histogram.clear();
    }

    #[inline]
    pub(super) fn record(&mut self, wait: Span) {
        self.sum_ps += u128::from(wait.as_ps());
        self.max = self.max.max(wait);
        self.histogram.record(wait);
    }

    /// 0 if there are none.
    pub(super) fn mean_ps(&self) -> f64 {
        let waits = self.histogram.total();
        if waits == 0 { 0.0 } else { self.sum_ps as f64 / waits as f64 }
    }

    pub(super) fn add(&mut self, other: &Waits) {
        self.sum_ps += other.sum_ps;
        self.max = self.max.max(other.max);
        self.histogram.add(&other.histogram);
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct GroupStatistics {
    pub(super) counters: Counters,
    pub(super) at_warmup: Counters,
    /// Transmission time within the window.
    pub(super) busy: Span,
    /// Made with the group's first service here: most groups cross few of a large network's links.
    pub(super) waits: Option<Box<Waits>>,
}

/// Counts one packet.
#[inline]
pub(super) fn count(counter: &mut Backlog, wire_bytes: u32) {
    counter.packets += 1;
    counter.bytes += u64::from(wire_bytes);
}

/// What is left of `all`.
#[inline]
pub(super) fn less(all: Backlog, part: Backlog) -> Backlog {
    Backlog { packets: all.packets - part.packets, bytes: all.bytes - part.bytes }
}

impl Counters {
    pub(super) fn add(&mut self, other: &Counters) {
        let pairs = [
            (&mut self.arrived, other.arrived),
            (&mut self.dropped, other.dropped),
            (&mut self.departed, other.departed),
        ];
        for (sum, part) in pairs {
            sum.packets += part.packets;
            sum.bytes += part.bytes;
        }
        self.lost_packets += other.lost_packets;
        self.marked_packets += other.marked_packets;
        self.left_packets += other.left_packets;
    }
}

impl GroupStatistics {
    #[inline(always)]
    pub(super) fn record(&mut self, wait: Span) {
        self.waits.get_or_insert_with(|| Box::new(Waits::new())).record(wait);
    }

    /// A packet starts its transmission after a wait.
    #[inline(always)]
    pub(super) fn serve(&mut self, wait: Span, transmission: Span) {
        self.busy = self.busy + transmission;
        self.record(wait);
    }

    pub(super) fn add(&mut self, other: &GroupStatistics) {
        self.busy = self.busy + other.busy;
        self.counters.add(&other.counters);
        self.at_warmup.add(&other.at_warmup);
        if let (Some(sum), Some(part)) = (self.waits.as_deref_mut(), other.waits.as_deref()) {
            sum.add(part);
        }
    }
}
