//! A link's direction as rows of tables.

use super::Link;
use super::plateau::Windows;
use super::queueing::Queueing;
use super::rate::{By, Faster, choose};
use super::rates::Cluster;
use super::side::{Side, is_ahead};
use crate::observation::{DistributionRow, LinkRow, MomentRow, Observation, QueueingRow, SecondRow};
use crate::sketch::Sketch;

/// Interface and direction.
type Place = (u32, u32);

impl Link {
    /// Adds what was seen to the tables, if anything was.
    pub(crate) fn finish(mut self, place: Place, tables: &mut Observation) {
        if self.packets == 0 {
            return;
        }
        self.trains.end();
        self.queueing.iter_mut().for_each(Queueing::end);
        tables.links.push(self.row(place));
        let sketches = [
            ("short_flow_bytes", &self.load.short_bytes),
            ("interarrival_ns", &self.load.apart_ns),
            ("train_packets", &self.trains.lengths),
            ("excess_ahead_ns", &self.queueing[0].excess),
            ("excess_behind_ns", &self.queueing[1].excess),
            ("excess_at_loss_ahead_ns", &self.queueing[0].at_loss),
            ("excess_at_loss_behind_ns", &self.queueing[1].at_loss),
        ];
        for (quantity, sketch) in sketches {
            distribution(place, quantity, sketch, tables);
        }
        let width_ns = self.load.seconds.width_ns;
        for (start_ns, bin) in self.load.seconds.into_bins() {
            tables.seconds.push(SecondRow {
                interface: place.0,
                direction: place.1,
                start_ns,
                width_ns,
                packets: bin.packets,
                wire_bytes: bin.wire_bytes,
                long_flows: bin.long_flows,
                new_flows: bin.new_flows,
            });
        }
        for (is_ahead, queueing) in [1, 0].into_iter().zip(self.queueing) {
            finish_queueing(place, is_ahead, queueing, tables);
        }
    }

    fn is_queue_ahead(&self) -> bool {
        let standing_ns = self.windows[0].standing_ns();
        let side = |place: usize| {
            let queueing: &Queueing = &self.queueing[place];
            Side { standing_ns: standing_ns[place], samples: queueing.samples, losses: queueing.losses }
        };
        is_ahead(side(0), side(1))
    }

    fn row(&self, (interface, direction): Place) -> LinkRow {
        let is_ahead = self.is_queue_ahead();
        let estimate = |windows: &Windows| (windows.plateau(is_ahead), windows.queued_windows(is_ahead));
        let [tenths, seconds] = self.windows.each_ref().map(estimate);
        let [second_tenths, second_seconds] = self.windows.each_ref().map(|each| each.second(is_ahead));
        let dispersion = (self.dispersion.mode(), self.dispersion.pairs());
        let tenth = &self.windows[0];
        let faster = Faster {
            than: |rate_bps| tenth.faster_windows(is_ahead, rate_bps),
            waiting: tenths.1 + tenth.idle_windows(is_ahead),
            idle: tenth.idle_windows(is_ahead),
        };
        let steady = self.windows[1].steady(is_ahead);
        let chosen = choose(seconds, tenths, [second_seconds, second_tenths], dispersion, &faster);
        let rate = |cluster: Option<Cluster>| cluster.map_or(f64::NAN, |cluster| cluster.rate_bps);
        let error = |cluster: Option<Cluster>| cluster.map_or(f64::NAN, |cluster| cluster.error_bps);
        let share = |cluster: Option<Cluster>| cluster.map_or(f64::NAN, |cluster| cluster.share);
        LinkRow {
            interface,
            direction,
            packets: self.packets,
            frame_bytes: self.frame_bytes,
            wire_bytes: self.wire_bytes,
            payload_bytes: self.payload_bytes,
            rate_bps: rate(chosen.map(|(cluster, _)| cluster)),
            rate_error_bps: error(chosen.map(|(cluster, _)| cluster)),
            rate_by: chosen.map_or(By::Nothing, |(_, by)| by) as u32,
            is_queue_ahead: is_ahead.into(),
            plateau_1s_bps: rate(seconds.0),
            plateau_1s_error_bps: error(seconds.0),
            plateau_1s_share: share(seconds.0),
            second_1s_bps: rate(second_seconds),
            second_1s_share: share(second_seconds),
            queued_1s_windows: seconds.1,
            steady_1s_bps: rate(steady.0),
            steady_1s_error_bps: error(steady.0),
            steady_1s_share: share(steady.0),
            steady_1s_windows: steady.1,
            plateau_100ms_bps: rate(tenths.0),
            plateau_100ms_error_bps: error(tenths.0),
            plateau_100ms_share: share(tenths.0),
            second_100ms_bps: rate(second_tenths),
            second_100ms_share: share(second_tenths),
            queued_100ms_windows: tenths.1,
            idle_100ms_windows: self.windows[0].idle_windows(is_ahead),
            dispersion_bps: rate(dispersion.0),
            dispersion_error_bps: error(dispersion.0),
            dispersion_share: share(dispersion.0),
            dispersion_pairs: dispersion.1,
            highest_100ms_bps: self.windows[0].highest_bps(),
            highest_1s_bps: self.windows[1].highest_bps(),
        }
    }
}

fn finish_queueing(place: Place, is_ahead: u32, queueing: Queueing, tables: &mut Observation) {
    if queueing.samples == 0 && queueing.losses == 0 {
        return;
    }
    let (interface, direction) = place;
    let quantile = |part| queueing.excess.quantile(part).unwrap_or(f64::NAN);
    let depth = queueing.depth();
    let of_depth = |part: fn(super::queueing::Depth) -> f64| depth.map_or(f64::NAN, part);
    tables.queueing.push(QueueingRow {
        interface,
        direction,
        is_ahead,
        samples: queueing.samples,
        median_ns: quantile(0.5),
        p95_ns: quantile(0.95),
        p99_ns: quantile(0.99),
        max_ns: queueing.largest_ns,
        loss_episodes: queueing.losses,
        at_loss_samples: queueing.at_loss.total(),
        at_loss_median_ns: queueing.at_loss.quantile(0.5).unwrap_or(f64::NAN),
        is_filled: depth.is_some().into(),
        depth_ns: of_depth(|depth| depth.median),
        depth_low_ns: of_depth(|depth| depth.low),
        depth_high_ns: of_depth(|depth| depth.high),
    });
    let width_ns = queueing.moments.width_ns;
    for (start_ns, bin) in queueing.moments.into_bins() {
        tables.moments.push(MomentRow {
            interface,
            direction,
            is_ahead,
            start_ns,
            width_ns,
            samples: bin.samples,
            long_samples: bin.long_samples,
            median_ns: if bin.samples > 0 { bin.median_ns } else { f64::NAN },
            p95_ns: if bin.samples > 0 { bin.p95_ns } else { f64::NAN },
            max_ns: bin.max_ns,
            loss_episodes: bin.losses,
        });
    }
}

fn distribution((interface, direction): Place, quantity: &str, sketch: &Sketch, tables: &mut Observation) {
    for (value, count) in sketch.pairs() {
        let quantity = quantity.to_owned();
        tables.distributions.push(DistributionRow { interface, direction, quantity, value, count });
    }
}
