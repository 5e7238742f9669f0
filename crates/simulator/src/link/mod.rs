//! A link: random loss, a queue with its transmitter, a propagation delay.
//!
//! There are two ways to serve. [`Fifo`] knows a packet's departure when it arrives and needs no event;
//! [`Queued`] asks a discipline for every packet when the transmitter falls idle. The link does not know
//! where packets go.
//!
//! Links that vary are served by events: their rate ([`Capacity`]) is the transmitter's, and what comes to the
//! propagation delay is waited for in a [`DelayLine`].

mod capacity;
mod delay_line;
mod fifo;
mod losses;
mod moments;
mod queued;

use bufferlab_qdisc::{Backlog, DisciplineConfig, Dropped, Estimates, Limit, Packet, SubQueue};
use bufferlab_units::{Span, Stream, Time};

pub(crate) use capacity::Capacity;
pub(crate) use delay_line::DelayLine;
pub(crate) use fifo::Fifo;
pub(crate) use losses::LossBursts;
pub(crate) use moments::Moments;
pub(crate) use queued::Queued;

use crate::context::Context;
use crate::outcome::{GroupCounters, LinkCounters};
use crate::plan::LinkPlan;
use crate::readings::{Reading, Readings};
use crate::samples::QueueSample;
use crate::statistics::LinkStatistics;

/// How packets are queued and sent.
#[derive(Clone, Debug)]
pub(crate) enum Server {
    /// First in, first out, without events.
    Fifo(Fifo),
    /// Any discipline.
    Queued(Queued),
}

/// What happens to a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It will leave the transmitter at this time.
    Leaves(Time),
    /// The same, with a mark.
    LeavesMarked(Time),
    /// Its transmission starts; the link's next event is at this time.
    Starts(Time),
    /// It waits or is lost; the link's next event does not change.
    Stays,
}

/// A link.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    server: Server,
    readings: Readings,
    moments: Moments,
    /// The next of both, or the run's end.
    due: Time,
    /// A packet is lost if 64 random bits are below; 0 for never.
    loss_below: u64,
    loss: Stream,
    /// Losses beside these.
    bursts: Option<Box<LossBursts>>,
    /// Changes of the limit to come, the next one last.
    changes: Vec<(Time, Limit)>,
    /// Arrivals from here on may be lost, or find another limit.
    heed_from: Time,
    /// What was counted.
    pub(crate) statistics: LinkStatistics,
    /// Propagation delay.
    pub(crate) delay: Span,
    /// The memory that its queue shares, if any, by number.
    pub(crate) memory: Option<u32>,
    /// What the way takes beyond it, if anything.
    pub(crate) delay_line: Option<Box<DelayLine>>,
}

/// The parts of a link.
pub(crate) struct LinkSetup<'a> {
    /// What was asked for.
    pub(crate) plan: &'a LinkPlan,
    pub(crate) server: Server,
    pub(crate) loss: Stream,
    pub(crate) bursts: Option<Box<LossBursts>>,
    pub(crate) delay_line: Option<Box<DelayLine>>,
    pub(crate) readings: Readings,
    pub(crate) moments: Moments,
    pub(crate) statistics: LinkStatistics,
}

impl Link {
    pub(crate) fn new(setup: LinkSetup<'_>) -> Link {
        let (plan, mut statistics) = (setup.plan, setup.statistics);
        let changes = plan.changes.iter().rev();
        if let Server::Queued(queued) = &setup.server {
            statistics.set_classes(queued.estimates().map_or(0, |estimates| estimates.classes.len()));
            if plan.capacity.is_some() {
                statistics.count_work();
            }
        }
        Link {
            server: setup.server,
            due: setup.readings.next().min(setup.moments.next()),
            readings: setup.readings,
            moments: setup.moments,
            loss_below: losses::threshold(plan.loss_ppb),
            loss: setup.loss,
            bursts: setup.bursts,
            heed_from: Time::ZERO,
            changes: changes.map(|change| (Time::from_ps(change.at_ps), change.limit)).collect(),
            statistics,
            delay: Span::from_ps(plan.delay_ps),
            memory: plan.memory.map(|memory| memory.number),
            delay_line: setup.delay_line,
        }
    }

    /// A packet arrives.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, packet: &Packet) -> Fate {
        if now >= self.heed_from && self.is_lost(now, packet.group) {
            return Fate::Stays;
        }
        match &mut self.server {
            Server::Fifo(fifo) => fifo.arrive(now, packet, &mut self.statistics),
            Server::Queued(queued) => queued.arrive(now, *packet, &mut self.statistics),
        }
    }

    /// A packet arrives at a link of a shared memory, which has room for it or not.
    pub(crate) fn arrive_if(&mut self, now: Time, packet: &Packet, room: bool) -> Fate {
        if now >= self.heed_from && self.is_lost(now, packet.group) {
            return Fate::Stays;
        }
        match &mut self.server {
            Server::Queued(queued) if room => queued.arrive(now, *packet, &mut self.statistics),
            Server::Queued(queued) => queued.refuse(now, *packet, &mut self.statistics),
            Server::Fifo(fifo) => fifo.arrive(now, packet, &mut self.statistics),
        }
    }

    /// What waits, where departures are events.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        match &self.server {
            Server::Queued(queued) => queued.backlog().bytes,
            Server::Fifo(fifo) => fifo.backlog().bytes,
        }
    }

    /// The packet in transmission leaves and the next one starts: returns the packet, and the link's next event.
    pub(crate) fn depart(&mut self, now: Time) -> Option<(Packet, Time)> {
        match &mut self.server {
            Server::Fifo(_) => None,
            Server::Queued(queued) => queued.depart(now, &mut self.statistics),
        }
    }

    /// The transmitter may take a packet: returns the link's next event.
    pub(crate) fn take_turn(&mut self, now: Time) -> Time {
        match &mut self.server {
            Server::Fifo(_) => Time::NEVER,
            Server::Queued(queued) => queued.take_turn(now, &mut self.statistics),
        }
    }

    /// Whether a packet is lost before it reaches the queue; changes the limit if a change is due.
    #[inline(never)]
    fn is_lost(&mut self, now: Time, group: u16) -> bool {
        let by_itself = self.loss_below != 0 && self.loss.bits() < self.loss_below;
        if by_itself || self.bursts.as_deref_mut().is_some_and(LossBursts::loses) {
            self.statistics.on_lost(usize::from(group));
            return true;
        }
        self.change_limit(now);
        false
    }

    fn change_limit(&mut self, now: Time) {
        while let Some(&(_, limit)) = self.changes.last().filter(|(at, _)| *at <= now) {
            match &mut self.server {
                Server::Fifo(fifo) => fifo.set_limit(limit),
                Server::Queued(queued) => queued.set_limit(limit),
            }
            self.changes.pop();
        }
        let next_change = self.changes.last().map_or(Time::NEVER, |(at, _)| *at);
        let loses = self.loss_below != 0 || self.bursts.is_some();
        self.heed_from = if loses { Time::ZERO } else { next_change };
    }

    /// Arrivals from `now` on find this limit, until another change. All events before `now` were handled.
    pub(crate) fn set_limit(&mut self, now: Time, limit: Limit) {
        // the next one is last; what is due already comes before this one
        let place = self.changes.partition_point(|(at, _)| *at > now);
        self.changes.insert(place, (now, limit));
        self.heed_from = self.heed_from.min(now);
    }

    /// Its discipline has these parameters from now on; false if it cannot take them ([`AnyQdisc::change`]).
    ///
    /// [`AnyQdisc::change`]: bufferlab_qdisc::AnyQdisc::change
    pub(crate) fn change(&mut self, config: &DisciplineConfig) -> bool {
        if let Server::Queued(queued) = &mut self.server { queued.change(config) } else { false }
    }

    /// Packets of a group lost at random, and dropped by the queue.
    pub(crate) fn losses(&self, group: u16) -> (u64, u64) {
        self.statistics.losses(group)
    }

    /// From now on a discipline's drops are kept until they are taken.
    pub(crate) fn keep_drops(&mut self) {
        if let Server::Queued(queued) = &mut self.server {
            queued.kept = Some(Vec::new());
        }
    }

    /// Whether drops are kept.
    pub(crate) fn keeps_drops(&self) -> bool {
        matches!(&self.server, Server::Queued(queued) if queued.kept.is_some())
    }

    /// What was dropped and kept.
    pub(crate) fn take_drops(&mut self) -> Vec<Dropped> {
        match &mut self.server {
            Server::Queued(queued) => queued.kept.as_mut().map(std::mem::take).unwrap_or_default(),
            Server::Fifo(_) => Vec::new(),
        }
    }

    /// What was counted up to `now`, before which all events were handled.
    pub(crate) fn counters(&mut self, now: Time) -> LinkCounters {
        let backlog = self.backlog_before(now);
        LinkCounters {
            backlog_packets: backlog.packets,
            backlog_bytes: backlog.bytes,
            ..self.statistics.counters(self.held())
        }
    }

    /// How long packets waited whose wait is known: the buckets' bounds with their counts.
    pub(crate) fn waits(&mut self, now: Time) -> Vec<(u64, u64)> {
        self.backlog_before(now);
        self.statistics.waits()
    }

    /// The same by group.
    pub(crate) fn group_counters(&mut self, now: Time) -> Vec<GroupCounters> {
        self.backlog_before(now);
        if let Server::Fifo(fifo) = &self.server {
            fifo.count_departures(&mut self.statistics);
        }
        self.statistics.group_counters()
    }

    /// What its discipline holds and estimates of its classes.
    pub(crate) fn estimates(&self) -> Option<Estimates> {
        if let Server::Queued(queued) = &self.server { queued.estimates() } else { None }
    }

    /// The queues that its discipline keeps for flows.
    pub(crate) fn sub_queues(&self) -> Vec<SubQueue> {
        if let Server::Queued(queued) = &self.server { queued.sub_queues() } else { Vec::new() }
    }

    /// The group of each packet that is in transmission or waits, the next one to be out first; nothing if its discipline
    /// shows no order.
    pub(crate) fn groups_in_order(&mut self, now: Time) -> Vec<u16> {
        self.backlog_before(now);
        match &self.server {
            Server::Fifo(fifo) => fifo.groups_in_order(),
            Server::Queued(queued) => queued.groups_in_order(),
        }
    }

    /// Whether it takes part in the time series.
    pub(crate) fn is_sampled(&self) -> bool {
        self.readings.are_sampled()
    }

    /// Whether a reading is due.
    #[inline]
    pub(crate) fn reading_due(&self, now: Time) -> bool {
        now >= self.due
    }

    /// Takes the readings up to `now`; false once the run has ended.
    #[cold]
    pub(crate) fn take_readings<T>(&mut self, now: Time, link: u32, context: &mut Context<T>) -> bool {
        let end = context.schedule.end;
        while self.due <= now {
            let time = self.due;
            let (moment, reading) = (self.moments.next() == time, self.readings.next() == time);
            if !moment && !reading {
                break;
            }
            let backlog = self.backlog_before(time);
            if moment {
                self.moments.pass();
                self.statistics.on_moment(backlog);
            }
            if reading && let Some(reading) = self.readings.take(time, &context.schedule) {
                self.read(reading, backlog, link, context);
            }
            self.due = self.readings.next().min(self.moments.next()).min(end);
        }
        now < end
    }

    #[inline(never)]
    fn read<T>(&mut self, reading: Reading, backlog: Backlog, link: u32, context: &mut Context<T>) {
        let Reading { time, sample, warmup } = reading;
        if sample {
            let totals = self.statistics.totals(self.held());
            context.samples.queues.push(QueueSample {
                time,
                link,
                backlog,
                arrived: totals.arrived.packets,
                dropped: totals.dropped.packets,
                departed_bytes: totals.departed.bytes,
            });
            if let Server::Queued(queued) = &self.server
                && let Some(estimates) = queued.estimates()
            {
                context.samples.note_classes(time, link, estimates);
            }
        }
        if warmup {
            match &mut self.server {
                Server::Fifo(fifo) => fifo.start_measuring(&mut self.statistics),
                Server::Queued(queued) => queued.start_measuring(time, &mut self.statistics),
            }
            self.statistics.start_measuring(backlog);
        }
    }

    /// What waits just before a moment, which is not before the last event.
    fn backlog_before(&mut self, time: Time) -> Backlog {
        match &mut self.server {
            Server::Fifo(fifo) => {
                fifo.settle_before(time);
                fifo.backlog()
            }
            Server::Queued(queued) => queued.backlog(),
        }
    }

    /// What waits or is in transmission, as of the last event or reading.
    fn held(&self) -> Backlog {
        match &self.server {
            Server::Fifo(fifo) => fifo.held(),
            Server::Queued(queued) => queued.held(),
        }
    }

    /// Completes the counters at the run's end.
    pub(crate) fn finish(&mut self, end: Time) {
        match &mut self.server {
            Server::Fifo(fifo) => fifo.finish(end, &mut self.statistics),
            Server::Queued(queued) => queued.finish(end, &mut self.statistics),
        }
    }
}
