//! A link's counters: in total, for each group of flows and for each class of its discipline.

mod classes;

use bufferlab_qdisc::{Backlog, Packet};
use bufferlab_units::{Span, Time};

use crate::histogram::Histogram;
use crate::outcome::{ALL_GROUPS, HistogramTable, LinkCounters, Outcome, QueueTable};
use crate::readings::Schedule;

/// Packets and bytes counted from the run's start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    arrived: Backlog,
    dropped: Backlog,
    departed: Backlog,
    lost_packets: u64,
    marked_packets: u64,
    left_packets: u64,
}

/// Waits of packets that left the queue in the measured window.
#[derive(Clone, Debug)]
struct Waits {
    sum_ps: u128,
    max: Span,
    histogram: Histogram,
}

impl Waits {
    fn new() -> Waits {
        Waits { sum_ps: 0, max: Span::ZERO, histogram: Histogram::new() }
    }

    fn clear(&mut self) {
        (self.sum_ps, self.max) = (0, Span::ZERO);
        self.histogram.clear();
    }

    #[inline]
    fn record(&mut self, wait: Span) {
        self.sum_ps += u128::from(wait.as_ps());
        self.max = self.max.max(wait);
        self.histogram.record(wait);
    }

    /// 0 if there are none.
    fn mean_ps(&self) -> f64 {
        let waits = self.histogram.total();
        if waits == 0 { 0.0 } else { self.sum_ps as f64 / waits as f64 }
    }

    fn add(&mut self, other: &Waits) {
        self.sum_ps += other.sum_ps;
        self.max = self.max.max(other.max);
        self.histogram.add(&other.histogram);
    }
}

#[derive(Clone, Debug, Default)]
struct GroupStatistics {
    counters: Counters,
    at_warmup: Counters,
    /// Transmission time within the window.
    busy: Span,
    /// Made with the group's first service here: most groups cross few of a large network's links.
    waits: Option<Box<Waits>>,
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
    max: Backlog,
    /// By class, if the discipline has classes.
    classes: Vec<GroupStatistics>,
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
            max: Backlog::default(),
            classes: Vec::new(),
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

    /// Several packets left.
    #[inline]
    pub(crate) fn on_departures(&mut self, group: u16, gone: Backlog) {
        let departed = &mut self.groups[usize::from(group)].counters.departed;
        departed.packets += gone.packets;
        departed.bytes += gone.bytes;
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
        if departs <= self.from {
            return departs < self.to;
        }
        let within = |begin: Time, end: Time| end.min(self.to).saturating_since(begin.max(self.from));
        let (wait, busy) = (within(now, starts), within(starts, departs));
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
        let since = u128::from((now - self.last_change).as_ps());
        self.packet_area += since * u128::from(backlog.packets);
        self.byte_area += since * u128::from(backlog.bytes);
        self.last_change = now;
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
        (self.packet_area, self.byte_area, self.last_change) = (0, 0, now);
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

    /// Arrived and dropped packets and transmitted bytes since the run's start.
    pub(crate) fn totals(&self) -> (u64, u64, u64) {
        self.groups.iter().fold((0, 0, 0), |(arrived, dropped, departed), group| {
            let counters = &group.counters;
            (
                arrived + counters.arrived.packets,
                dropped + counters.dropped.packets,
                departed + counters.departed.bytes,
            )
        })
    }

    /// What a session may read at any moment, except the backlog.
    pub(crate) fn counters(&self) -> LinkCounters {
        let (arrived_packets, dropped_packets, departed_bytes) = self.totals();
        let waits = || self.groups.iter().filter_map(|group| group.waits.as_deref());
        LinkCounters {
            arrived_packets,
            dropped_packets,
            departed_packets: self.departed_packets(),
            departed_bytes,
            served_packets: waits().map(|waits| waits.histogram.total()).sum(),
            waited_ps: waits().map(|waits| waits.sum_ps).sum(),
            ..LinkCounters::default()
        }
    }

    /// Packets that left the link since the run's start.
    pub(crate) fn departed_packets(&self) -> u64 {
        self.groups.iter().map(|group| group.counters.departed.packets).sum()
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
        table.backlog_max_packets.push(if whole_link { self.max.packets } else { 0 });
        table.backlog_max_bytes.push(if whole_link { self.max.bytes } else { 0 });
        table.whole_arrived_packets.push(now.arrived.packets);
        table.whole_dropped_packets.push(now.dropped.packets);
        table.whole_lost_packets.push(now.lost_packets);
        table.whole_departed_packets.push(now.departed.packets);
        table.left_packets.push(now.left_packets);
        table.busy_fraction.push(self.a_window(statistics.busy.as_ps() as f64));
    }

    /// Part of the window's length; 0 if there is none.
    fn a_window(&self, ps: f64) -> f64 {
        let window = self.to.saturating_since(self.from).as_ps() as f64;
        if window > 0.0 { ps / window } else { 0.0 }
    }
}

/// Counts one packet.
#[inline]
fn count(counter: &mut Backlog, wire_bytes: u32) {
    counter.packets += 1;
    counter.bytes += u64::from(wire_bytes);
}

impl Counters {
    fn add(&mut self, other: &Counters) {
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
    fn record(&mut self, wait: Span) {
        self.waits.get_or_insert_with(|| Box::new(Waits::new())).record(wait);
    }

    /// A packet starts its transmission after a wait.
    #[inline(always)]
    fn serve(&mut self, wait: Span, transmission: Span) {
        self.busy = self.busy + transmission;
        self.record(wait);
    }

    fn add(&mut self, other: &GroupStatistics) {
        self.busy = self.busy + other.busy;
        self.counters.add(&other.counters);
        self.at_warmup.add(&other.at_warmup);
        if let (Some(sum), Some(part)) = (self.waits.as_deref_mut(), other.waits.as_deref()) {
            sum.add(part);
        }
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
