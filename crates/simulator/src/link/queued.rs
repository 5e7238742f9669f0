//! A transmitter that asks a discipline for each packet.
//!
//! A packet that arrives while the transmitter is idle starts at once; what waits is in the discipline, the
//! packet in transmission is not. Where the rate varies, a packet may have to wait although nothing is in transmission:
//! the link then has an event when its turn comes.

use bufferlab_qdisc::{
    AnyQdisc, Backlog, DisciplineConfig, DropReason, Dropped, Drops, Estimates, Limit, Packet, QueueDisc,
    SubQueue,
};
use bufferlab_units::{Rate, Span, Time, TransmissionClock};

use super::Fate;
use super::capacity::{Call, Capacity};
use crate::statistics::LinkStatistics;

/// How long a transmitter needs.
#[derive(Clone, Debug)]
enum Pace {
    Constant(TransmissionClock),
    Varying(Box<Capacity>),
}

/// A discipline with its transmitter.
#[derive(Clone, Debug)]
pub(crate) struct Queued {
    qdisc: AnyQdisc,
    pace: Pace,
    /// The packet being sent.
    in_service: Option<Packet>,
    /// Its class.
    class: usize,
    /// When it leaves, or if there is none, when one may be taken; never if neither is known.
    departs: Time,
    drops: Drops,
    /// What was dropped, if that is kept.
    pub(super) kept: Option<Vec<Dropped>>,
    /// Marks counted so far.
    marks: u64,
}

impl Queued {
    pub(crate) fn new(qdisc: AnyQdisc, rate: Rate) -> Queued {
        Queued::with_pace(qdisc, Pace::Constant(TransmissionClock::new(rate)))
    }

    /// With a rate that varies.
    pub(crate) fn varying(qdisc: AnyQdisc, capacity: Capacity) -> Queued {
        Queued::with_pace(qdisc, Pace::Varying(Box::new(capacity)))
    }

    fn with_pace(qdisc: AnyQdisc, pace: Pace) -> Queued {
        Queued {
            qdisc,
            pace,
            in_service: None,
            class: 0,
            departs: Time::NEVER,
            drops: Drops::new(),
            kept: None,
            marks: 0,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.qdisc.set_limit(limit);
    }

    pub(crate) fn change(&mut self, config: &DisciplineConfig) -> bool {
        self.qdisc.change(config)
    }

    /// By value and separate, so that a packet that crosses only FIFO links is never assembled in memory.
    #[inline(never)]
    pub(crate) fn arrive(&mut self, now: Time, mut packet: Packet, statistics: &mut LinkStatistics) -> Fate {
        packet.enqueued = now;
        statistics.on_arrival(packet.group, packet.wire_bytes);
        statistics.before_change(now, self.qdisc.backlog());
        self.qdisc.enqueue(now, packet, &mut self.drops);
        // a discipline with classes drops on arrival only what arrives
        statistics.on_class_arrival(self.qdisc.class(), packet.wire_bytes, !self.drops.is_empty());
        self.count_mark(packet.group, statistics);
        let idle = self.in_service.is_none();
        if idle {
            self.serve(now, Call::Arrival, statistics);
        }
        statistics.on_backlog(self.qdisc.backlog());
        self.count_drops(statistics);
        if idle { Fate::Starts(self.departs) } else { Fate::Stays }
    }

    /// A packet arrives and finds no room in the memory that the queue shares.
    pub(crate) fn refuse(&mut self, now: Time, packet: Packet, statistics: &mut LinkStatistics) -> Fate {
        statistics.on_arrival(packet.group, packet.wire_bytes);
        statistics.on_drop(packet.group, packet.wire_bytes, now);
        if let Some(kept) = &mut self.kept {
            kept.push(Dropped { packet: Packet { enqueued: now, ..packet }, reason: DropReason::Overlimit });
        }
        Fate::Stays
    }

    pub(crate) fn depart(&mut self, now: Time, statistics: &mut LinkStatistics) -> Option<(Packet, Time)> {
        let packet = self.in_service.take()?;
        statistics.on_departure(packet.group, packet.wire_bytes);
        statistics.on_class_departure(self.class, packet.wire_bytes);
        statistics.before_change(now, self.qdisc.backlog());
        self.serve(now, Call::Turn, statistics);
        self.count_drops(statistics);
        Some((packet, self.departs))
    }

    /// Nothing is in transmission, and what waits may be taken; returns the next event.
    #[inline(never)]
    pub(crate) fn take_turn(&mut self, now: Time, statistics: &mut LinkStatistics) -> Time {
        if self.in_service.is_none() {
            statistics.before_change(now, self.qdisc.backlog());
            self.serve(now, Call::Turn, statistics);
            self.count_drops(statistics);
        }
        self.departs
    }

    #[inline]
    fn serve(&mut self, now: Time, call: Call, statistics: &mut LinkStatistics) {
        if matches!(self.pace, Pace::Varying(_)) {
            self.serve_varying(now, call, statistics);
            return;
        }
        self.take(now, statistics);
        if let Some(packet) = self.in_service {
            self.count_mark(packet.group, statistics);
        }
        self.departs = match (&self.in_service, &mut self.pace) {
            (Some(packet), Pace::Constant(clock)) => {
                let transmission = clock.next(self.qdisc.line_bytes(packet));
                self.class = self.qdisc.class();
                statistics.on_class_service(self.class, now - packet.enqueued, transmission);
                statistics.on_service(packet, now - packet.enqueued, transmission);
                now + transmission
            }
            _ => Time::NEVER,
        };
    }

    /// The same where the rate varies: a packet is taken when it may leave, and its work is counted, not its time.
    #[inline(never)]
    fn serve_varying(&mut self, now: Time, call: Call, statistics: &mut LinkStatistics) {
        let Pace::Varying(capacity) = &mut self.pace else { return };
        self.qdisc.has_left();
        self.departs = Time::NEVER;
        if self.qdisc.backlog().packets == 0 {
            return;
        }
        let ready = capacity.ready(now, call);
        if ready > now {
            self.departs = ready;
            return;
        }
        self.take(now, statistics);
        let (Some(packet), Pace::Varying(capacity)) = (self.in_service, &mut self.pace) else { return };
        let passage = capacity.send(now, self.qdisc.line_bytes(&packet));
        self.departs = passage.departs;
        self.class = self.qdisc.class();
        self.count_mark(packet.group, statistics);
        statistics.on_class_service(self.class, now - packet.enqueued, Span::ZERO);
        statistics.on_service(&packet, now - packet.enqueued, Span::ZERO);
        statistics.on_work(packet.group, self.class, passage.work);
    }

    /// Takes the next packet from the discipline, which may drop others on the way.
    #[inline]
    fn take(&mut self, now: Time, statistics: &mut LinkStatistics) {
        let refused = self.drops.len();
        self.in_service = self.qdisc.dequeue(now, &mut self.drops);
        for Dropped { packet, .. } in &self.drops[refused..] {
            let class = self.qdisc.class_of_dropped(packet);
            statistics.on_class_drop(class, packet.wire_bytes, packet.enqueued);
        }
    }

    /// The packet that arrives or leaves may have been marked.
    #[inline]
    fn count_mark(&mut self, group: u16, statistics: &mut LinkStatistics) {
        let marks = self.qdisc.marks();
        if marks != self.marks {
            self.marks = marks;
            statistics.on_mark(group);
            statistics.on_class_mark(self.qdisc.class());
        }
    }

    #[inline]
    fn count_drops(&mut self, statistics: &mut LinkStatistics) {
        for dropped in self.drops.drain(..) {
            let packet = &dropped.packet;
            statistics.on_drop(packet.group, packet.wire_bytes, packet.enqueued);
            if let Some(kept) = &mut self.kept {
                kept.push(dropped);
            }
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.qdisc.backlog()
    }

    /// What waits or is in transmission.
    pub(crate) fn held(&self) -> Backlog {
        let mut held = self.qdisc.backlog();
        self.in_service.iter().for_each(|packet| held.add(packet));
        held
    }

    pub(crate) fn estimates(&self) -> Option<Estimates> {
        self.qdisc.estimates()
    }

    pub(crate) fn sub_queues(&self) -> Vec<SubQueue> {
        self.qdisc.sub_queues()
    }

    /// The group of each packet that is in transmission or waits, the next one to be out first; nothing if the discipline
    /// shows no order.
    pub(crate) fn groups_in_order(&self) -> Vec<u16> {
        let waiting = self.qdisc.groups_in_order();
        if waiting.len() as u64 != self.qdisc.backlog().packets {
            return Vec::new();
        }
        self.in_service.iter().map(|packet| packet.group).chain(waiting).collect()
    }

    pub(crate) fn start_measuring(&self, now: Time, statistics: &mut LinkStatistics) {
        statistics.forget_window(now);
        if let (Some(packet), Pace::Constant(_)) = (&self.in_service, &self.pace) {
            statistics.add_rest(packet.group, self.class, self.departs.saturating_since(now));
        }
    }

    /// What is left is counted through the discipline's service.
    pub(crate) fn finish(&mut self, end: Time, statistics: &mut LinkStatistics) {
        statistics.before_change(end, self.qdisc.backlog());
        match (&self.in_service, &self.pace) {
            (_, Pace::Varying(capacity)) => statistics.set_offered(capacity.offered()),
            (Some(packet), Pace::Constant(_)) => {
                statistics.cut_rest(packet.group, self.class, self.departs.saturating_since(end));
            }
            (None, Pace::Constant(_)) => {}
        }
        let mut left: Vec<Packet> = self.in_service.take().into_iter().collect();
        if !left.is_empty() {
            statistics.on_class_left(self.class);
        }
        while let Some(packet) = self.qdisc.dequeue(end, &mut self.drops) {
            statistics.on_class_left(self.qdisc.class());
            left.push(packet);
        }
        for Dropped { packet, .. } in self.drops.drain(..) {
            statistics.on_class_left(self.qdisc.class_of_dropped(&packet));
            left.push(packet);
        }
        for packet in left {
            statistics.on_left(packet.group);
        }
    }
}
