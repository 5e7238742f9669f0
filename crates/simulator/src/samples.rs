//! Rows of the time series, and their way into columns.

use std::borrow::Cow;

use bufferlab_qdisc::{Backlog, ClassEstimate, Estimates, Limit};
use bufferlab_units::{Span, Time};

use crate::outcome::{
    ALL_CLASSES, ClassSampleTable, NONE, Outcome, QueueSampleTable, ReceiverSampleTable, SenderSampleTable,
};

/// A link at a moment; counters from the run's start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueSample {
    pub(crate) time: Time,
    pub(crate) link: u32,
    pub(crate) backlog: Backlog,
    pub(crate) arrived: u64,
    pub(crate) dropped: u64,
    pub(crate) departed_bytes: u64,
}

/// A class of a link's discipline at a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClassSample {
    time: Time,
    link: u32,
    class: u32,
    estimate: ClassEstimate,
}

/// A sender at a moment of its own time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderSample {
    pub(crate) time: Time,
    pub(crate) flow: u32,
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    pub(crate) srtt: Span,
    pub(crate) rtt_sum_ps: f64,
    pub(crate) rtt_samples: u64,
    pub(crate) inflight: u32,
    pub(crate) retransmissions: u64,
}

/// A receiver at a moment of its own time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiverSample {
    pub(crate) time: Time,
    pub(crate) flow: u32,
    pub(crate) delivered_bytes: u64,
}

/// What was sampled, in the order in which components came to it.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    pub(crate) queues: Vec<QueueSample>,
    pub(crate) classes: Vec<ClassSample>,
    pub(crate) senders: Vec<SenderSample>,
    pub(crate) receivers: Vec<ReceiverSample>,
}

impl Samples {
    /// Samples of that many links and flows with memory for a number of each: growing would copy them again and again.
    pub(crate) fn with_room(each: usize, links: usize, flows: usize) -> Samples {
        let mut samples = Samples::default();
        // without the memory the run may still end before it is needed
        let _ = samples.queues.try_reserve_exact(links.saturating_mul(each));
        let _ = samples.senders.try_reserve_exact(flows.saturating_mul(each));
        let _ = samples.receivers.try_reserve_exact(flows.saturating_mul(each));
        samples
    }

    /// A link's discipline's own estimates.
    pub(crate) fn note_classes(&mut self, time: Time, link: u32, estimates: Estimates) {
        let whole = (ALL_CLASSES, estimates.whole);
        for (class, estimate) in [whole].into_iter().chain((0..).zip(estimates.classes)) {
            self.classes.push(ClassSample { time, link, class, estimate });
        }
    }

    /// Moves the rows into an outcome's tables, each ordered by component, then time.
    pub(crate) fn report(self, outcome: &mut Outcome) {
        outcome.queue_samples = queue_table(&by_component(&self.queues, |row| row.link));
        outcome.class_samples = class_table(&by_component(&self.classes, |row| row.link));
        outcome.sender_samples = sender_table(&by_component(&self.senders, |row| row.flow));
        outcome.receiver_samples = receiver_table(&by_component(&self.receivers, |row| row.flow));
    }
}

/// The rows by component. Each component's rows came in order of time and stay in it, so counting replaces comparing
/// (Knuth 1973 volume 3 section 5.2, algorithm D).
fn by_component<T: Copy>(rows: &[T], component: impl Fn(&T) -> u32) -> Cow<'_, [T]> {
    if rows.is_sorted_by_key(&component) {
        return rows.into();
    }
    let components = rows.iter().map(|row| component(row) as usize + 1).max().unwrap_or(0);
    // one slot further, so that after the sums below each holds its component's first place
    let mut places = vec![0_usize; components + 1];
    for row in rows {
        places[component(row) as usize + 1] += 1;
    }
    for index in 0..components {
        places[index + 1] += places[index];
    }
    let mut order = vec![0_u32; rows.len()];
    for (index, row) in (0..).zip(rows) {
        let place = &mut places[component(row) as usize];
        order[*place] = index;
        *place += 1;
    }
    order.into_iter().map(|index| rows[index as usize]).collect()
}

fn queue_table(rows: &[QueueSample]) -> QueueSampleTable {
    QueueSampleTable {
        time_ps: rows.iter().map(|row| row.time.as_ps()).collect(),
        link: rows.iter().map(|row| row.link).collect(),
        backlog_packets: rows.iter().map(|row| row.backlog.packets).collect(),
        backlog_bytes: rows.iter().map(|row| row.backlog.bytes).collect(),
        arrived_packets: rows.iter().map(|row| row.arrived).collect(),
        dropped_packets: rows.iter().map(|row| row.dropped).collect(),
        departed_bytes: rows.iter().map(|row| row.departed_bytes).collect(),
    }
}

fn class_table(rows: &[ClassSample]) -> ClassSampleTable {
    let limits = || rows.iter().map(|row| row.estimate.limit);
    let ps = |span: Option<Span>| span.map_or(NONE, Span::as_ps);
    ClassSampleTable {
        time_ps: rows.iter().map(|row| row.time.as_ps()).collect(),
        link: rows.iter().map(|row| row.link).collect(),
        class: rows.iter().map(|row| row.class).collect(),
        backlog_packets: rows.iter().map(|row| row.estimate.backlog.packets).collect(),
        backlog_bytes: rows.iter().map(|row| row.estimate.backlog.bytes).collect(),
        limit_packets: limits()
            .map(|limit| if let Limit::Packets(packets) = limit { packets } else { NONE })
            .collect(),
        limit_bytes: limits()
            .map(|limit| if let Limit::Bytes(bytes) = limit { bytes } else { NONE })
            .collect(),
        threshold_ps: rows.iter().map(|row| ps(row.estimate.threshold)).collect(),
        rtt_ps: rows.iter().map(|row| ps(row.estimate.rtt)).collect(),
        delay_ps: rows.iter().map(|row| row.estimate.delay.as_ps()).collect(),
        flows: rows.iter().map(|row| row.estimate.flows.unwrap_or(-1.0)).collect(),
        weight: rows.iter().map(|row| row.estimate.weight).collect(),
        state_bytes: rows.iter().map(|row| row.estimate.state_bytes).collect(),
    }
}

fn sender_table(rows: &[SenderSample]) -> SenderSampleTable {
    SenderSampleTable {
        time_ps: rows.iter().map(|row| row.time.as_ps()).collect(),
        flow: rows.iter().map(|row| row.flow).collect(),
        cwnd_segments: rows.iter().map(|row| row.cwnd).collect(),
        ssthresh_segments: rows.iter().map(|row| row.ssthresh).collect(),
        srtt_ps: rows.iter().map(|row| row.srtt.as_ps()).collect(),
        rtt_sum_ps: rows.iter().map(|row| row.rtt_sum_ps).collect(),
        rtt_samples: rows.iter().map(|row| row.rtt_samples).collect(),
        inflight_segments: rows.iter().map(|row| u64::from(row.inflight)).collect(),
        retransmissions: rows.iter().map(|row| row.retransmissions).collect(),
    }
}

fn receiver_table(rows: &[ReceiverSample]) -> ReceiverSampleTable {
    ReceiverSampleTable {
        time_ps: rows.iter().map(|row| row.time.as_ps()).collect(),
        flow: rows.iter().map(|row| row.flow).collect(),
        delivered_bytes: rows.iter().map(|row| row.delivered_bytes).collect(),
    }
}
