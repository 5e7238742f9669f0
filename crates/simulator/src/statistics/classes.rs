//! Counters of the classes of a discipline. A link without classes does nothing here.

use bufferlab_units::{Span, Time};

use super::{GroupStatistics, LinkStatistics, Waits, count};
use crate::outcome::Outcome;

impl LinkStatistics {
    /// The discipline has this many classes.
    pub(crate) fn set_classes(&mut self, classes: usize) {
        self.classes = vec![GroupStatistics::default(); classes];
    }

    /// A packet arrived, and was refused or not.
    #[inline]
    pub(crate) fn on_class_arrival(&mut self, class: usize, wire_bytes: u32, refused: bool) {
        if let Some(books) = self.classes.get_mut(class) {
            count(&mut books.counters.arrived, wire_bytes);
            if refused {
                count(&mut books.counters.dropped, wire_bytes);
            }
        }
    }

    /// A packet that had been taken at `arrived` is dropped: of the window, as in [`Self::on_drop`], if that is in it.
    #[inline]
    pub(crate) fn on_class_drop(&mut self, class: usize, wire_bytes: u32, arrived: Time) {
        let from = self.from;
        if let Some(books) = self.classes.get_mut(class) {
            count(&mut books.counters.dropped, wire_bytes);
            if arrived < from {
                count(&mut books.at_warmup.dropped, wire_bytes);
            }
        }
    }

    pub(crate) fn on_class_mark(&mut self, class: usize) {
        if let Some(books) = self.classes.get_mut(class) {
            books.counters.marked_packets += 1;
        }
    }

    /// A packet starts its transmission after this wait.
    #[inline]
    pub(crate) fn on_class_service(&mut self, class: usize, wait: Span, transmission: Span) {
        if let Some(books) = self.classes.get_mut(class) {
            books.serve(wait, transmission);
        }
    }

    #[inline]
    pub(crate) fn on_class_departure(&mut self, class: usize, wire_bytes: u32) {
        if let Some(books) = self.classes.get_mut(class) {
            count(&mut books.counters.departed, wire_bytes);
        }
    }

    pub(crate) fn on_class_left(&mut self, class: usize) {
        if let Some(books) = self.classes.get_mut(class) {
            books.counters.left_packets += 1;
        }
    }

    pub(super) fn report_classes(&self, link: u32, outcome: &mut Outcome) {
        for (class, books) in (0..).zip(&self.classes) {
            let (now, then, table) = (&books.counters, &books.at_warmup, &mut outcome.classes);
            let waits = books.waits.as_deref();
            table.link.push(link);
            table.class.push(class);
            table.arrived_packets.push(now.arrived.packets - then.arrived.packets);
            table.arrived_bytes.push(now.arrived.bytes - then.arrived.bytes);
            table.dropped_packets.push(now.dropped.packets - then.dropped.packets);
            table.dropped_bytes.push(now.dropped.bytes - then.dropped.bytes);
            table.marked_packets.push(now.marked_packets - then.marked_packets);
            table.departed_packets.push(now.departed.packets - then.departed.packets);
            table.departed_bytes.push(now.departed.bytes - then.departed.bytes);
            table.served_packets.push(waits.map_or(0, |waits| waits.histogram.total()));
            table.wait_mean_ps.push(waits.map_or(0.0, Waits::mean_ps));
            table.wait_max_ps.push(waits.map_or(0, |waits| waits.max.as_ps()));
            table.whole_arrived_packets.push(now.arrived.packets);
            table.whole_dropped_packets.push(now.dropped.packets);
            table.whole_departed_packets.push(now.departed.packets);
            table.left_packets.push(now.left_packets);
            let of_time = || self.a_window(books.busy.as_ps() as f64);
            let busy = self.work.as_ref().map_or_else(of_time, |work| work.class_share(class));
            table.busy_fraction.push(busy);
            table.offered_bps.push(self.offered_bps());
            report_histogram(link, class, waits, outcome);
        }
    }
}

fn report_histogram(link: u32, class: u32, waits: Option<&Waits>, outcome: &mut Outcome) {
    let table = &mut outcome.class_histograms;
    for (lower, upper, count) in waits.iter().flat_map(|waits| waits.histogram.buckets()) {
        table.link.push(link);
        table.class.push(class);
        table.lower_ps.push(lower);
        table.upper_ps.push(upper);
        table.count.push(count);
    }
}
