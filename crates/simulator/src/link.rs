//! A link: random loss, a queue, a transmitter.
//!
//! A packet that arrives while the transmitter is idle starts at once; what waits is in the discipline, the
//! packet in transmission is not. The link knows nothing of where packets go.

use bufferlab_qdisc::{AnyQdisc, Drops, Limit, Packet, QueueDisc};
use bufferlab_units::{Rate, Span, Stream, Time, TransmissionClock};

use crate::marks::{Mark, MarkPlan, Marks};
use crate::samples::QueueSample;
use crate::statistics::LinkStatistics;

/// A link at work.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    qdisc: AnyQdisc,
    clock: TransmissionClock,
    /// The packet being sent.
    in_service: Option<Packet>,
    departs: Time,
    marks: Marks,
    /// A packet is lost if 64 random bits are below; 0 for never.
    loss_below: u64,
    loss: Stream,
    /// Changes of the limit to come, the next one last.
    changes: Vec<(Time, Limit)>,
    next_change: Time,
    drops: Drops,
    /// What was counted.
    pub(crate) statistics: LinkStatistics,
    /// Propagation delay.
    pub(crate) delay: Span,
}

/// What a link is made of.
pub(crate) struct LinkSetup {
    pub(crate) qdisc: AnyQdisc,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) loss_ppb: u32,
    pub(crate) loss: Stream,
    /// In order of time.
    pub(crate) changes: Vec<(Time, Limit)>,
    pub(crate) marks: Marks,
    pub(crate) groups: usize,
}

impl Link {
    pub(crate) fn new(setup: LinkSetup) -> Link {
        let mut changes = setup.changes;
        changes.reverse();
        Link {
            qdisc: setup.qdisc,
            clock: TransmissionClock::new(setup.rate),
            in_service: None,
            departs: Time::NEVER,
            marks: setup.marks,
            loss_below: loss_threshold(setup.loss_ppb),
            loss: setup.loss,
            next_change: changes.last().map_or(Time::NEVER, |(at, _)| *at),
            changes,
            drops: Drops::new(),
            statistics: LinkStatistics::new(setup.groups),
            delay: setup.delay,
        }
    }

    /// When the packet in transmission is out.
    #[inline]
    pub(crate) fn departs(&self) -> Time {
        self.departs
    }

    /// A packet of a group arrives. Returns whether the transmitter started with it.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, packet: Packet) -> bool {
        let group = usize::from(packet.group);
        if self.loss_below != 0 && self.loss.bits() < self.loss_below {
            self.statistics.on_lost(group);
            return false;
        }
        if now >= self.next_change {
            self.change_limit(now);
        }
        self.statistics.on_arrival(group, &packet);
        self.statistics.before_change(now, self.qdisc.backlog());
        self.qdisc.enqueue(now, packet, &mut self.drops);
        let starts = self.in_service.is_none();
        if starts {
            self.serve(now);
        }
        self.statistics.after_arrival(self.qdisc.backlog());
        self.account_drops();
        starts
    }

    /// The packet in transmission is out; the next one starts.
    #[inline]
    pub(crate) fn depart(&mut self, now: Time) -> Packet {
        let packet = self.in_service.take().expect("a departure needs a packet in transmission");
        let group = usize::from(packet.group);
        self.statistics.on_departure(group, &packet);
        self.statistics.before_change(now, self.qdisc.backlog());
        self.serve(now);
        self.account_drops();
        packet
    }

    #[inline]
    fn serve(&mut self, now: Time) {
        self.in_service = self.qdisc.dequeue(now, &mut self.drops);
        self.departs = match &self.in_service {
            Some(packet) => {
                let group = usize::from(packet.group);
                let transmission = self.clock.next(packet.wire_bytes);
                self.statistics.on_service(group, now - packet.enqueued, transmission);
                now + transmission
            }
            None => Time::NEVER,
        };
    }

    #[inline]
    fn account_drops(&mut self) {
        if !self.drops.is_empty() {
            self.count_drops();
        }
    }

    #[inline(never)]
    fn count_drops(&mut self) {
        for dropped in self.drops.drain(..) {
            let group = usize::from(dropped.packet.group);
            self.statistics.on_drop(group, &dropped.packet);
        }
    }

    #[cold]
    fn change_limit(&mut self, now: Time) {
        while let Some(&(at, limit)) = self.changes.last().filter(|(at, _)| *at <= now) {
            debug_assert!(at <= now);
            self.qdisc.set_limit(limit);
            self.changes.pop();
        }
        self.next_change = self.changes.last().map_or(Time::NEVER, |(at, _)| *at);
    }

    /// Whether a mark is due.
    #[inline]
    pub(crate) fn mark_due(&self, now: Time) -> bool {
        self.marks.due(now)
    }

    /// Handles the marks up to `now`; false once the run has ended.
    #[cold]
    pub(crate) fn pass_marks(
        &mut self,
        now: Time,
        plan: &MarkPlan,
        link: u32,
        samples: &mut Vec<QueueSample>,
    ) -> bool {
        while let Some(Mark { time, sample, warmup }) = self.marks.take(now, plan) {
            if sample {
                let (arrived, dropped, departed_bytes) = self.statistics.totals();
                let backlog = self.qdisc.backlog();
                samples.push(QueueSample { time, link, backlog, arrived, dropped, departed_bytes });
            }
            if warmup {
                self.statistics.start_measuring(time, self.qdisc.backlog(), self.departs);
            }
        }
        now < plan.end
    }

    /// Closes the books at the run's end. What is left is counted through the discipline's service.
    pub(crate) fn finish(&mut self, end: Time) {
        self.statistics.before_change(end, self.qdisc.backlog());
        self.statistics.stop_measuring(end, self.departs);
        let mut left: Vec<Packet> = self.in_service.take().into_iter().collect();
        while let Some(packet) = self.qdisc.dequeue(end, &mut self.drops) {
            left.push(packet);
        }
        left.extend(self.drops.drain(..).map(|dropped| dropped.packet));
        for packet in left {
            self.statistics.on_left(usize::from(packet.group));
        }
    }
}

/// `ppb` parts per billion as a bound for 64 random bits.
fn loss_threshold(ppb: u32) -> u64 {
    ((u128::from(ppb) << 64) / 1_000_000_000).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::loss_threshold;

    #[test]
    fn loss_thresholds_are_shares_of_all_numbers() {
        assert_eq!(loss_threshold(0), 0);
        assert_eq!(loss_threshold(500_000_000), 1 << 63);
        assert_eq!(loss_threshold(1_000_000_000), u64::MAX);
    }
}
