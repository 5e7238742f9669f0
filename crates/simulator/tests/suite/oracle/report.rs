//! From the logs to the engine's tables.

use std::collections::BTreeMap;

use bufferlab_simulator::{
    ALL_GROUPS, CapacityPlan, ExchangeTable, FlowTable, HistogramTable, Outcome, QueueSampleTable,
    QueueTable, ReceiverSampleTable, SegmentTable, SenderSampleTable,
};
use bufferlab_units::{Stream, Time};

use super::Oracle;
use super::classes::report_class_samples;
use super::link::{Link, Stay};

/// The random stream of the moments at which a link's backlog is read: part of what a plan means. It has
/// the same seed, zero, in all plans.
const MOMENTS_STREAM: u32 = 12;

/// A stretch of time, its end not included.
#[derive(Clone, Copy)]
struct Window {
    from: Time,
    to: Time,
}

impl Window {
    fn holds(&self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    /// How much of `from..to` lies within, ps.
    fn overlap(&self, from: Time, to: Time) -> u128 {
        u128::from(to.min(self.to).saturating_since(from.max(self.from)).as_ps())
    }

    fn length(&self) -> f64 {
        (self.to - self.from).as_ps() as f64
    }
}

impl Stay {
    /// Reached the queue: not lost before it.
    pub(super) fn came(&self) -> bool {
        !self.lost
    }

    fn left_by(&self, end: Time) -> bool {
        self.sent.is_some_and(|(_, ends)| ends < end)
    }
}

impl Oracle<'_> {
    pub(super) fn report(&self) -> Outcome {
        let end = Time::from_ps(self.plan.duration_ps);
        let mut outcome = Outcome { reached_ps: end.as_ps(), ..Outcome::default() };
        for (index, link) in self.links.iter().enumerate() {
            outcome.packets += link.stays.iter().filter(|stay| stay.left_by(end)).count() as u64;
            self.report_link(index as u32, link, &mut outcome);
        }
        for flow in 0..self.flows.len() {
            self.report_flow(flow, &mut outcome.flows);
            self.report_exchanges(flow, &mut outcome.exchanges);
            self.report_segments(flow, &mut outcome.segments);
            self.report_samples(flow, &mut outcome.sender_samples, &mut outcome.receiver_samples);
        }
        outcome
    }

    fn report_link(&self, index: u32, link: &Link, outcome: &mut Outcome) {
        let groups =
            (0..self.plan.groups.len() as u32).filter(|&group| link.stays.iter().any(|s| s.group == group));
        for group in groups.chain([ALL_GROUPS]) {
            let stays: Vec<Stay> =
                link.stays.iter().copied().filter(|s| group == ALL_GROUPS || s.group == group).collect();
            outcome.queues.link.push(index);
            outcome.queues.group.push(group);
            self.report_packets(&stays, &mut outcome.queues);
            self.report_use(index, link, &stays, &mut outcome.queues);
            self.report_waits(index, group, &stays, &mut outcome.queues, &mut outcome.histograms);
            self.report_backlog(index, link, group, &mut outcome.queues);
        }
        if self.plan.links[index as usize].sample {
            report_queue_samples(index, link, &mut outcome.queue_samples);
            report_class_samples(index, link, &mut outcome.class_samples);
        }
        self.report_classes(index, link, outcome);
    }

    fn window(&self) -> Window {
        Window { from: Time::from_ps(self.plan.warmup_ps), to: Time::from_ps(self.plan.duration_ps) }
    }

    pub(super) fn report_packets(&self, stays: &[Stay], table: &mut QueueTable) {
        let measured = self.window();
        let whole = Window { from: Time::ZERO, ..measured };
        let count = |filter: &dyn Fn(&Stay) -> bool| {
            let chosen: Vec<_> = stays.iter().filter(|stay| filter(stay)).collect();
            (chosen.len() as u64, chosen.iter().map(|stay| stay.bytes).sum::<u64>())
        };
        let arrived = |window: Window| count(&|stay| stay.came() && window.holds(stay.arrived));
        let dropped = |window: Window| {
            count(&|s| window.holds(s.arrived) && s.dropped.is_some_and(|at| at < window.to))
        };
        let lost = |window: Window| count(&|s| s.lost && window.holds(s.arrived));
        let departed = |window: Window| count(&|s| s.sent.is_some_and(|(_, ends)| window.holds(ends)));
        table.arrived_packets.push(arrived(measured).0);
        table.arrived_bytes.push(arrived(measured).1);
        table.dropped_packets.push(dropped(measured).0);
        table.dropped_bytes.push(dropped(measured).1);
        table.lost_packets.push(lost(measured).0);
        table.marked_packets.push(count(&|s| s.marked.is_some_and(|at| measured.holds(at))).0);
        table.departed_packets.push(departed(measured).0);
        table.departed_bytes.push(departed(measured).1);
        table.whole_arrived_packets.push(arrived(whole).0);
        table.whole_dropped_packets.push(dropped(whole).0);
        table.whole_lost_packets.push(lost(whole).0);
        table.whole_departed_packets.push(departed(whole).0);
        table.left_packets.push(count(&|s| s.came() && s.dropped.is_none() && !s.left_by(whole.to)).0);
    }

    /// The time in which the transmitter was busy, or the work that was done where the rate varies.
    pub(super) fn report_use(&self, index: u32, link: &Link, stays: &[Stay], table: &mut QueueTable) {
        let measured = self.window();
        let sent = stays.iter().filter_map(|stay| stay.sent);
        let share = match self.offered(index, link) {
            None => {
                let busy: u128 = sent.map(|(starts, ends)| measured.overlap(starts, ends)).sum();
                busy as f64 / measured.length()
            }
            Some(0) => 0.0,
            Some(offered) => stays.iter().map(|stay| stay.work).sum::<i128>() as f64 / offered as f64,
        };
        table.busy_fraction.push(share);
        let offered = self.offered(index, link);
        table.offered_bps.push(offered.map_or(0.0, |work| work as f64 / measured.length()));
    }

    /// Where the rate varies, the work that the link could have done in the window.
    fn offered(&self, index: u32, link: &Link) -> Option<i128> {
        let bytes = match self.plan.links[index as usize].capacity {
            Some(CapacityPlan::Opportunities { bytes, .. }) => u64::from(bytes),
            _ => 0,
        };
        let Window { from, to } = self.window();
        link.capacity.as_ref().map(|capacity| capacity.offered(from, to, bytes))
    }

    pub(super) fn report_waits(
        &self,
        link: u32,
        group: u32,
        stays: &[Stay],
        table: &mut QueueTable,
        histograms: &mut HistogramTable,
    ) {
        let window = self.window();
        let started = stays.iter().filter_map(|stay| Some((stay.arrived, stay.sent?.0)));
        let served = started.filter(|(_, starts)| window.holds(*starts));
        let waits: Vec<u64> = served.map(|(arrived, starts)| (starts - arrived).as_ps()).collect();
        let sum: u128 = waits.iter().copied().map(u128::from).sum();
        let mean = if waits.is_empty() { 0.0 } else { sum as f64 / waits.len() as f64 };
        table.served_packets.push(waits.len() as u64);
        table.wait_mean_ps.push(mean);
        table.wait_max_ps.push(waits.iter().copied().max().unwrap_or(0));
        let mut buckets = BTreeMap::<(u64, u64), u64>::new();
        for wait in waits {
            *buckets.entry(bucket(wait)).or_default() += 1;
        }
        for ((lower, upper), count) in buckets {
            histograms.link.push(link);
            histograms.group.push(group);
            histograms.lower_ps.push(lower);
            histograms.upper_ps.push(upper);
            histograms.count.push(count);
        }
    }

    /// The step function of the backlog; only for all groups together.
    fn report_backlog(&self, index: u32, link: &Link, group: u32, table: &mut QueueTable) {
        let window = self.window();
        let ends = link.backlogs.iter().skip(1).map(|(at, _)| *at).chain([window.to]);
        let (mut packet_area, mut byte_area, mut waiting, mut max) = (0, 0, 0, (0, 0));
        let before = link.backlogs.iter().take_while(|(at, _)| *at < window.from).count();
        for ((change, &(from, backlog)), to) in link.backlogs.iter().enumerate().zip(ends) {
            packet_area += window.overlap(from, to) * u128::from(backlog.packets);
            byte_area += window.overlap(from, to) * u128::from(backlog.bytes);
            waiting += window.overlap(from, to) * u128::from(backlog.packets.min(1));
            // what is there when the window begins counts as well
            if change + 1 >= before {
                max = (backlog.packets.max(max.0), backlog.bytes.max(max.1));
            }
        }
        let share = |area: u128| if group == ALL_GROUPS { area as f64 / window.length() } else { 0.0 };
        table.backlog_mean_packets.push(share(packet_area));
        table.backlog_mean_bytes.push(share(byte_area));
        table.backlog_max_packets.push(if group == ALL_GROUPS { max.0 } else { 0 });
        table.backlog_max_bytes.push(if group == ALL_GROUPS { max.1 } else { 0 });
        table.empty_fraction.push(share(u128::from((window.to - window.from).as_ps()) - waiting));
        let found = if group == ALL_GROUPS { self.at_moments(index, link) } else { vec![0] };
        // of n in order, the one with at least that share of them up to it
        let percentile = |percent: usize| found[(found.len() * percent).div_ceil(100) - 1];
        table.backlog_p1_packets.push(percentile(1));
        table.backlog_p50_packets.push(percentile(50));
        table.backlog_p95_packets.push(percentile(95));
        table.backlog_p99_packets.push(percentile(99));
    }

    /// The backlog just before a random moment of each five-thousandth of the window, in order of size.
    fn at_moments(&self, index: u32, link: &Link) -> Vec<u64> {
        let Window { from, to } = self.window();
        let stretch = (to - from).as_ps().div_ceil(5_000);
        let mut stream = Stream::new(0, MOMENTS_STREAM, index);
        let begins =
            (0..).map(|number| from.as_ps() + number * stretch).take_while(|&begin| begin < to.as_ps());
        let moments = begins.map(|begin| Time::from_ps(begin + stream.below(stretch)));
        let mut found: Vec<u64> = moments
            .filter(|&moment| moment < to)
            .map(|moment| {
                let changes = link.backlogs.partition_point(|(at, _)| *at < moment);
                changes.checked_sub(1).map_or(0, |last| link.backlogs[last].1.packets)
            })
            .collect();
        found.sort_unstable();
        found
    }

    fn report_flow(&self, index: usize, table: &mut FlowTable) {
        let (flow, columns) = (&self.flows[index], &self.plan.flows);
        let group = &self.plan.groups[columns.group[index] as usize];
        let links: u64 = group
            .forward
            .iter()
            .chain(&group.reverse)
            .map(|&link| self.plan.links[link as usize].delay_ps)
            .sum();
        let hosts = [
            &columns.source_delay_ps,
            &columns.sink_delay_ps,
            &columns.return_delay_ps,
            &columns.home_delay_ps,
        ];
        let (now, then) = (flow.counters(), flow.counters_at_warmup);
        table.flow.push(index as u32);
        table.group.push(columns.group[index]);
        table.start_ps.push(columns.start_ps[index]);
        table.rtt_ps.push(links + hosts.iter().map(|column| column[index]).sum::<u64>());
        table.delivered_bytes.push(flow.delivered_bytes() - flow.delivered_at_warmup);
        table.whole_delivered_bytes.push(flow.delivered_bytes());
        table.sent_packets.push(now.sent - then.sent);
        table.whole_sent_packets.push(now.sent);
        table.retransmissions.push(now.retransmissions - then.retransmissions);
        table.whole_retransmissions.push(now.retransmissions);
        table.timeouts.push(now.timeouts - then.timeouts);
        table.whole_timeouts.push(now.timeouts);
        table.recoveries.push(now.recoveries - then.recoveries);
        table.whole_recoveries.push(now.recoveries);
        let (reordered, duplicates) = disorder(&flow.arrivals, Time::ZERO);
        table.whole_reordered_packets.push(reordered);
        table.whole_spurious_retransmissions.push(duplicates);
        let (reordered, duplicates) = disorder(&flow.arrivals, self.window().from);
        table.reordered_packets.push(reordered);
        table.spurious_retransmissions.push(duplicates);
        table.rtt_sum_ps.push(now.rtt_sum_ps - then.rtt_sum_ps);
        table.rtt_samples.push(now.rtt_samples - then.rtt_samples);
        table.finished_ps.push(flow.finished().as_ps());
        table.received_ps.push(flow.received.unwrap_or(Time::NEVER).as_ps());
    }

    fn report_exchanges(&self, index: usize, table: &mut ExchangeTable) {
        // a video's client knows ahead when it will ask
        let begun = self.flows[index].exchanges().iter().filter(|(start, ..)| *start < self.window().to);
        for (number, &(start, end, bytes)) in begun.enumerate() {
            table.flow.push(index as u32);
            table.number.push(number as u64);
            table.start_ps.push(start.as_ps());
            table.end_ps.push(end.unwrap_or(Time::NEVER).as_ps());
            table.bytes.push(bytes);
        }
    }

    fn report_segments(&self, index: usize, table: &mut SegmentTable) {
        let segments = self.flows[index].video().map(|video| video.segments(self.window().to));
        for (number, (bps, due, plays, stood)) in segments.into_iter().flatten().enumerate() {
            table.flow.push(index as u32);
            table.number.push(number as u64);
            table.bitrate_bps.push(bps);
            table.due_ps.push(due.unwrap_or(Time::NEVER).as_ps());
            table.play_ps.push(plays.unwrap_or(Time::NEVER).as_ps());
            table.stall_ps.push(stood.as_ps());
        }
    }

    fn report_samples(
        &self,
        index: usize,
        senders: &mut SenderSampleTable,
        receivers: &mut ReceiverSampleTable,
    ) {
        let flow = &self.flows[index];
        for sample in &flow.sender_samples {
            senders.time_ps.push(sample.time.as_ps());
            senders.flow.push(index as u32);
            senders.cwnd_segments.push(sample.cwnd);
            senders.ssthresh_segments.push(sample.ssthresh);
            senders.srtt_ps.push(sample.srtt.as_ps());
            senders.rtt_sum_ps.push(sample.rtt_sum_ps);
            senders.rtt_samples.push(sample.rtt_samples);
            senders.inflight_segments.push(u64::from(sample.inflight));
            senders.retransmissions.push(sample.retransmissions);
        }
        for &(time, delivered_bytes) in &flow.receiver_samples {
            receivers.time_ps.push(time.as_ps());
            receivers.flow.push(index as u32);
            receivers.delivered_bytes.push(delivered_bytes);
        }
    }
}

/// From `from` on: packets that came after the highest so far, sent earlier than that; and packets that had come before.
fn disorder(arrivals: &[(Time, u32, Time)], from: Time) -> (u64, u64) {
    let (mut reordered, mut duplicates) = (0, 0);
    let mut seen = BTreeMap::<u32, Time>::new();
    for &(at, seq, sent) in arrivals {
        let late = seen.last_key_value().is_some_and(|(&highest, &then)| highest > seq && then > sent);
        if at >= from {
            reordered += u64::from(late);
            duplicates += u64::from(seen.contains_key(&seq));
        }
        seen.entry(seq).or_insert(sent);
    }
    (reordered, duplicates)
}

/// What had happened before each sampling time.
fn report_queue_samples(index: u32, link: &Link, table: &mut QueueSampleTable) {
    for &(time, _) in &link.samples {
        let backlog = link.backlogs.iter().take_while(|(at, _)| *at < time).last();
        let (packets, bytes) = backlog.map_or((0, 0), |(_, backlog)| (backlog.packets, backlog.bytes));
        let came = || link.stays.iter().filter(|stay| stay.came() && stay.arrived < time);
        table.time_ps.push(time.as_ps());
        table.link.push(index);
        table.backlog_packets.push(packets);
        table.backlog_bytes.push(bytes);
        table.arrived_packets.push(came().count() as u64);
        table
            .dropped_packets
            .push(came().filter(|stay| stay.dropped.is_some_and(|at| at < time)).count() as u64);
        table.departed_bytes.push(came().filter(|stay| stay.left_by(time)).map(|stay| stay.bytes).sum());
    }
}

/// The histogram's bucket of a wait: 64 to an octave, single picoseconds below.
fn bucket(ps: u64) -> (u64, u64) {
    let width = 1 << ps.max(1).ilog2().saturating_sub(6);
    let lower = ps / width * width;
    (lower, lower + width)
}
