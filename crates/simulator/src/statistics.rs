//! A link's counters: in total, for each group of flows and for each class of its discipline.

mod backlogs;
mod books;
mod classes;
mod work;

use bufferlab_qdisc::{Backlog, Packet};
use bufferlab_units::{Span, Time};

use backlogs::Backlogs;
use books::{Counters, GroupStatistics, Waits, count, less};
use work::Work;

use crate::histogram::Histogram;
use crate::outcome::{ALL_GROUPS, GroupCounters, HistogramTable, LinkCounters, Outcome, QueueTable};
use crate::readings::Schedule;

/// What a link's queue did since the run's start.
pub(crate) struct Totals {
    pub(crate) arrived: Backlog,
    pub(crate) dropped: Backlog,
    pub(crate) departed: Backlog,
}

/// A link's statistics.
#[derive(Clone, Debug)]
pub(crate) struct LinkStatistics {
    groups: Vec<GroupStatistics>,
    /// The measured window.
    from: Time,
    to: Time,
    /// Time integrals of the backlog over the window, packet·ps and byte·ps.
    packet_area: u128,
    byte_area: u128,
    last_change: Time,
    /// Time in the window with a backlog.
    waiting: Span,
    /// Where FIFO service counts it: all of it before this is counted.
    waiting_until: Time,
    max: Backlog,
    backlogs: Backlogs,
    /// By class, if the discipline has classes.
    classes: Vec<GroupStatistics>,
    /// Where the rate varies, in place of the time that the transmitter is busy.
    work: Option<Box<Work>>,
}

impl LinkStatistics {
    pub(crate) fn new(groups: usize, schedule: &Schedule) -> LinkStatistics {
        LinkStatistics {
            groups: vec![GroupStatistics::default(); groups],
            from: schedule.warmup,
            to: schedule.end,
            packet_area: 0,
            byte_area: 0,
            last_change: Time::ZERO,
            waiting: Span::ZERO,
            waiting_until: Time::ZERO,
            max: Backlog::default(),
            backlogs: Backlogs::default(),
            classes: Vec::new(),
            work: None,
        }
    }

    #[inline]
    pub(crate) fn on_lost(&mut self, group: usize) {
        self.groups[group].counters.lost_packets += 1;
    }

    /// Packets of a group lost at random, and dropped, so far.
    pub(crate) fn losses(&self, group: u16) -> (u64, u64) {
        let counters = &self.groups[usize::from(group)].counters;
        (counters.lost_packets, counters.dropped.packets)
    }

    pub(crate) fn on_mark(&mut self, group: u16) {
        self.groups[usize::from(group)].counters.marked_packets += 1;
    }

    #[inline]
    pub(crate) fn on_arrival(&mut self, group: u16, wire_bytes: u32) {
        count(&mut self.groups[usize::from(group)].counters.arrived, wire_bytes);
    }

    /// A packet that arrived at `arrived` is dropped. The window's drops are those of its arrivals: what came before it
    /// may be dropped in it, and then there would be more drops than arrivals.
    #[inline]
    pub(crate) fn on_drop(&mut self, group: u16, wire_bytes: u32, arrived: Time) {
        let books = &mut self.groups[usize::from(group)];
        count(&mut books.counters.dropped, wire_bytes);
        if arrived < self.from {
            count(&mut books.at_warmup.dropped, wire_bytes);
        }
    }

    #[inline]
    pub(crate) fn on_departure(&mut self, group: u16, wire_bytes: u32) {
        count(&mut self.groups[usize::from(group)].counters.departed, wire_bytes);
    }

    /// Counts departures where that is not done one by one: all that was taken has left, but for what is `held`.
    pub(crate) fn count_departures(&mut self, held: impl Iterator<Item = (u16, u32)>) {
        for GroupStatistics { counters, .. } in &mut self.groups {
            counters.departed = less(counters.arrived, counters.dropped);
        }
        for (group, wire_bytes) in held {
            let departed = &mut self.groups[usize::from(group)].counters.departed;
            *departed = less(*departed, Backlog { packets: 1, bytes: u64::from(wire_bytes) });
        }
    }

    pub(crate) fn on_left(&mut self, group: u16) {
        self.groups[usize::from(group)].counters.left_packets += 1;
    }

    /// The backlog after an arrival; gives the largest until now.
    #[inline]
    pub(crate) fn on_backlog(&mut self, backlog: Backlog) -> Backlog {
        self.max.packets = self.max.packets.max(backlog.packets);
        self.max.bytes = self.max.bytes.max(backlog.bytes);
        self.max
    }

    /// A packet of `bytes` of a group arrives at `now`, will start at `starts` and leave at `departs`. Returns whether it
    /// leaves before the run's end. (Not one struct of all that: it would be assembled in memory.)
    #[inline(always)]
    pub(crate) fn on_passage(
        &mut self,
        group: u16,
        wire_bytes: u32,
        now: Time,
        starts: Time,
        departs: Time,
    ) -> bool {
        let books = &mut self.groups[usize::from(group)];
        count(&mut books.counters.arrived, wire_bytes);
        if now < self.from || departs >= self.to {
            return self.on_passage_at_the_edge(group, wire_bytes, now, starts, departs);
        }
        let wait = starts - now;
        books.serve(wait, departs - starts);
        self.add_areas(wait, wire_bytes);
        self.waiting = self.waiting + (starts - now.max(self.waiting_until));
        self.waiting_until = starts;
        true
    }

    /// The same for a packet that may be here when the window begins or ends.
    #[inline(never)]
    fn on_passage_at_the_edge(
        &mut self,
        group: u16,
        wire_bytes: u32,
        now: Time,
        starts: Time,
        departs: Time,
    ) -> bool {
        let since = std::mem::replace(&mut self.waiting_until, starts);
        if departs <= self.from {
            return departs < self.to;
        }
        let within = |begin: Time, end: Time| end.min(self.to).saturating_since(begin.max(self.from));
        let (wait, busy) = (within(now, starts), within(starts, departs));
        self.waiting = self.waiting + within(now.max(since), starts);
        self.add_areas(wait, wire_bytes);
        let books = &mut self.groups[usize::from(group)];
        books.busy = books.busy + busy;
        if starts >= self.from && starts < self.to {
            books.record(starts - now);
        }
        departs < self.to
    }

    #[inline]
    fn add_areas(&mut self, wait: Span, wire_bytes: u32) {
        self.packet_area += u128::from(wait.as_ps());
        self.byte_area += u128::from(wait.as_ps()) * u128::from(wire_bytes);
    }

    /// A packet starts its transmission after this wait.
    #[inline]
    pub(crate) fn on_service(&mut self, packet: &Packet, wait: Span, transmission: Span) {
        self.groups[usize::from(packet.group)].serve(wait, transmission);
    }

    /// The backlog has been this since the last change.
    #[inline]
    pub(crate) fn before_change(&mut self, now: Time, backlog: Backlog) {
        let since = now - self.last_change;
        self.packet_area += u128::from(since.as_ps()) * u128::from(backlog.packets);
        self.byte_area += u128::from(since.as_ps()) * u128::from(backlog.bytes);
        if backlog.packets > 0 {
            self.waiting = self.waiting + since;
        }
        self.last_change = now;
    }

    /// The backlog at a random moment of the window.
    pub(crate) fn on_moment(&mut self, backlog: Backlog) {
        self.backlogs.note(backlog.packets);
    }

    /// The measured window ends there, before the plan's end.
    pub(crate) fn end_at(&mut self, end: Time) {
        self.to = self.to.min(end);
    }

    /// The warm-up ends: counters of the measured window start from here.
    pub(crate) fn start_measuring(&mut self, backlog: Backlog) {
        for group in self.groups.iter_mut().chain(&mut self.classes) {
            group.at_warmup = group.counters;
        }
        self.max = backlog;
    }

    /// Forgets what was measured before the window, where it was booked as it happened.
    pub(crate) fn forget_window(&mut self, now: Time) {
        for group in self.groups.iter_mut().chain(&mut self.classes) {
            group.waits.as_deref_mut().into_iter().for_each(Waits::clear);
            group.busy = Span::ZERO;
        }
        (self.packet_area, self.byte_area) = (0, 0);
        (self.waiting, self.last_change) = (Span::ZERO, now);
    }

    /// The window begins; the rest of a transmission under way belongs to it.
    pub(crate) fn add_rest(&mut self, group: u16, class: usize, rest: Span) {
        for books in self.books(group, class) {
            books.busy = books.busy + rest;
        }
    }

    /// The run ends, and the rest of a transmission under way does not count.
    pub(crate) fn cut_rest(&mut self, group: u16, class: usize, rest: Span) {
        for books in self.books(group, class) {
            books.busy = books.busy - rest.min(books.busy);
        }
    }

    /// Those of a packet's group and of its class, if there is one.
    fn books(&mut self, group: u16, class: usize) -> impl Iterator<Item = &mut GroupStatistics> {
        self.classes.get_mut(class).into_iter().chain(self.groups.get_mut(usize::from(group)))
    }

    /// What came and went; `held` waits or is in transmission.
    pub(crate) fn totals(&self, held: Backlog) -> Totals {
        let mut sum = Counters::default();
        self.groups.iter().for_each(|group| sum.add(&group.counters));
        let Counters { arrived, dropped, .. } = sum;
        Totals { arrived, dropped, departed: less(less(arrived, dropped), held) }
    }

    /// What a session may read at any moment, except the backlog; `held` waits or is in transmission.
    pub(crate) fn counters(&self, held: Backlog) -> LinkCounters {
        let Totals { arrived, dropped, departed } = self.totals(held);
        let waits = || self.groups.iter().filter_map(|group| group.waits.as_deref());
        LinkCounters {
            arrived_packets: arrived.packets,
            dropped_packets: dropped.packets,
            departed_packets: departed.packets,
            departed_bytes: departed.bytes,
            served_packets: waits().map(|waits| waits.histogram.total()).sum(),
            waited_ps: waits().map(|waits| waits.sum_ps).sum(),
            ..LinkCounters::default()
        }
    }

    /// The waits of all groups' packets: the buckets' bounds with their counts.
    pub(crate) fn waits(&self) -> Vec<(u64, u64)> {
        let mut all = Histogram::new();
        self.groups
            .iter()
            .filter_map(|group| group.waits.as_deref())
            .for_each(|waits| all.add(&waits.histogram));
        all.buckets().map(|(_, upper, count)| (upper, count)).collect()
    }

    /// The counters of each group.
    pub(crate) fn group_counters(&self) -> Vec<GroupCounters> {
        let read = |GroupStatistics { counters, .. }: &GroupStatistics| GroupCounters {
            arrived_packets: counters.arrived.packets,
            dropped_packets: counters.dropped.packets,
            departed_packets: counters.departed.packets,
            departed_bytes: counters.departed.bytes,
        };
        self.groups.iter().map(read).collect()
    }

    /// Packets that left the link since the run's start.
    pub(crate) fn departed_packets(&self) -> u64 {
        self.groups.iter().map(|group| group.counters.departed.packets).sum()
    }

    /// Packets that were marked since the run's start.
    pub(crate) fn marked_packets(&self) -> u64 {
        self.groups.iter().map(|group| group.counters.marked_packets).sum()
    }

    /// Appends this link's rows.
    pub(crate) fn report(&self, link: u32, outcome: &mut Outcome) {
        self.report_classes(link, outcome);
        let (queues, histograms) = (&mut outcome.queues, &mut outcome.histograms);
        let mut all = GroupStatistics { waits: Some(Box::new(Waits::new())), ..GroupStatistics::default() };
        for (group, statistics) in self.groups.iter().enumerate() {
            if statistics.counters.arrived.packets + statistics.counters.lost_packets > 0 {
                all.add(statistics);
                self.report_group(link, group as u32, statistics, queues);
                report_histogram(link, group as u32, statistics, histograms);
            }
        }
        self.report_group(link, ALL_GROUPS, &all, queues);
        report_histogram(link, ALL_GROUPS, &all, histograms);
    }

    fn report_group(&self, link: u32, group: u32, statistics: &GroupStatistics, table: &mut QueueTable) {
        let (now, then) = (&statistics.counters, &statistics.at_warmup);
        let whole_link = group == ALL_GROUPS;
        let of_link = |value: f64| if whole_link { self.a_window(value) } else { 0.0 };
        let percentile = |percent| if whole_link { self.backlogs.percentile(percent) } else { 0 };
        let empty = (self.to - self.from).as_ps().saturating_sub(self.waiting.as_ps());
        let waits = statistics.waits.as_deref();
        let served = waits.map_or(0, |waits| waits.histogram.total());
        table.link.push(link);
        table.group.push(group);
        table.arrived_packets.push(now.arrived.packets - then.arrived.packets);
        table.arrived_bytes.push(now.arrived.bytes - then.arrived.bytes);
        table.dropped_packets.push(now.dropped.packets - then.dropped.packets);
        table.dropped_bytes.push(now.dropped.bytes - then.dropped.bytes);
        table.lost_packets.push(now.lost_packets - then.lost_packets);
        table.marked_packets.push(now.marked_packets - then.marked_packets);
        table.departed_packets.push(now.departed.packets - then.departed.packets);
        table.departed_bytes.push(now.departed.bytes - then.departed.bytes);
        table.served_packets.push(served);
        table.wait_mean_ps.push(waits.map_or(0.0, Waits::mean_ps));
        table.wait_max_ps.push(waits.map_or(0, |waits| waits.max.as_ps()));
        table.backlog_mean_packets.push(of_link(self.packet_area as f64));
        table.backlog_mean_bytes.push(of_link(self.byte_area as f64));
        table.backlog_p1_packets.push(percentile(1));
        table.backlog_p50_packets.push(percentile(50));
        table.backlog_p95_packets.push(percentile(95));
        table.backlog_p99_packets.push(percentile(99));
        table.backlog_max_packets.push(if whole_link { self.max.packets } else { 0 });
        table.backlog_max_bytes.push(if whole_link { self.max.bytes } else { 0 });
        table.empty_fraction.push(of_link(empty as f64));
        table.whole_arrived_packets.push(now.arrived.packets);
        table.whole_dropped_packets.push(now.dropped.packets);
        table.whole_lost_packets.push(now.lost_packets);
        table.whole_departed_packets.push(now.departed.packets);
        table.left_packets.push(now.left_packets);
        table.busy_fraction.push(self.busy(group, statistics));
        table.offered_bps.push(self.offered_bps());
    }

    /// The share of what the link offered in the window that a group has used; of a constant rate, the share of the time.
    fn busy(&self, group: u32, statistics: &GroupStatistics) -> f64 {
        match &self.work {
            Some(work) => work.share(group),
            None => self.a_window(statistics.busy.as_ps() as f64),
        }
    }

    /// Part of the window's length; 0 if there is none.
    fn a_window(&self, ps: f64) -> f64 {
        let window = self.to.saturating_since(self.from).as_ps() as f64;
        if window > 0.0 { ps / window } else { 0.0 }
    }
}

fn report_histogram(link: u32, group: u32, statistics: &GroupStatistics, table: &mut HistogramTable) {
    for (lower, upper, count) in statistics.waits.iter().flat_map(|waits| waits.histogram.buckets()) {
        table.link.push(link);
        table.group.push(group);
        table.lower_ps.push(lower);
        table.upper_ps.push(upper);
        table.count.push(count);
    }
}
