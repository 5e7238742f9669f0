//! What a link's classes did, and what its discipline said of them.

use bufferlab_qdisc::{ClassEstimate, Limit};
use bufferlab_simulator::{
    ALL_CLASSES, ClassSampleTable, ClassTable, HistogramTable, NONE, Outcome, QueueTable,
};
use bufferlab_units::Span;

use super::Oracle;
use super::link::{Link, Stay};

impl Oracle<'_> {
    /// Counted as groups are.
    pub(super) fn report_classes(&self, index: u32, link: &Link, outcome: &mut Outcome) {
        let (mut queues, mut histograms) = (QueueTable::default(), HistogramTable::default());
        for class in 0..link.classes() {
            let of_class = |stay: &&Stay| stay.came() && stay.class == class;
            let stays: Vec<Stay> = link.stays.iter().filter(of_class).copied().collect();
            queues.link.push(index);
            queues.group.push(class as u32);
            self.report_packets(&stays, &mut queues);
            self.report_use(index, link, &stays, &mut queues);
            self.report_waits(index, class as u32, &stays, &mut queues, &mut histograms);
        }
        push(queues, &mut outcome.classes);
        let table = &mut outcome.class_histograms;
        table.link.extend(histograms.link);
        table.class.extend(histograms.group);
        table.lower_ps.extend(histograms.lower_ps);
        table.upper_ps.extend(histograms.upper_ps);
        table.count.extend(histograms.count);
    }
}

fn push(rows: QueueTable, table: &mut ClassTable) {
    table.link.extend(rows.link);
    table.class.extend(rows.group);
    table.arrived_packets.extend(rows.arrived_packets);
    table.arrived_bytes.extend(rows.arrived_bytes);
    table.dropped_packets.extend(rows.dropped_packets);
    table.dropped_bytes.extend(rows.dropped_bytes);
    table.marked_packets.extend(rows.marked_packets);
    table.departed_packets.extend(rows.departed_packets);
    table.departed_bytes.extend(rows.departed_bytes);
    table.served_packets.extend(rows.served_packets);
    table.wait_mean_ps.extend(rows.wait_mean_ps);
    table.wait_max_ps.extend(rows.wait_max_ps);
    table.whole_arrived_packets.extend(rows.whole_arrived_packets);
    table.whole_dropped_packets.extend(rows.whole_dropped_packets);
    table.whole_departed_packets.extend(rows.whole_departed_packets);
    table.left_packets.extend(rows.left_packets);
    table.busy_fraction.extend(rows.busy_fraction);
    table.offered_bps.extend(rows.offered_bps);
}

pub(super) fn report_class_samples(index: u32, link: &Link, table: &mut ClassSampleTable) {
    for (time, estimates) in &link.samples {
        let Some(estimates) = estimates else { continue };
        let classes = estimates.classes.iter().enumerate();
        let mut rows: Vec<_> = classes.map(|(class, &estimate)| (class as u32, estimate)).collect();
        rows.insert(0, (ALL_CLASSES, estimates.whole));
        for (class, estimate) in rows {
            let ClassEstimate { backlog, limit, threshold, rtt, delay, flows, weight, state_bytes } =
                estimate;
            table.time_ps.push(time.as_ps());
            table.link.push(index);
            table.class.push(class);
            table.backlog_packets.push(backlog.packets);
            table.backlog_bytes.push(backlog.bytes);
            table.limit_packets.push(if let Limit::Packets(packets) = limit { packets } else { NONE });
            table.limit_bytes.push(if let Limit::Bytes(bytes) = limit { bytes } else { NONE });
            table.threshold_ps.push(threshold.map_or(NONE, Span::as_ps));
            table.rtt_ps.push(rtt.map_or(NONE, Span::as_ps));
            table.delay_ps.push(delay.as_ps());
            table.flows.push(flows.unwrap_or(-1.0));
            table.weight.push(weight);
            table.state_bytes.push(state_bytes);
        }
    }
}
