//! Round trips of a long flow over time: what flows have in common there is a queue.

use crate::link::{Bin, Series};
use crate::observation::TripRow;
use crate::sample::Sample;

/// Bins of a flow at most, a tenth of a second each; where there are more, pairs become one.
const MOST: usize = 64;
const WIDTH_NS: u64 = 100_000_000;

/// Samples below which the mean of a bin says little. Where most bins of a flow have fewer, as of one that loses all the time, those of
/// moments at which it misses data count, too, though they are not spread evenly over a bin. Our choice.
const FEWEST: u64 = 4;

/// The samples of a bin, and those of moments at which the flow misses data.
#[derive(Clone, Copy, Debug, Default)]
struct Means {
    clear: Mean,
    in_loss: Mean,
}

impl Bin for Means {
    fn merge(&mut self, later: Means) {
        self.clear.merge(later.clear);
        self.in_loss.merge(later.in_loss);
    }
}

impl Means {
    fn of_both(&self) -> Mean {
        let mut both = self.clear;
        both.merge(self.in_loss);
        both
    }
}

/// Some samples.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    samples: u64,
    sum_ns: u64,
    lowest_ns: u64,
}

impl Bin for Mean {
    fn merge(&mut self, later: Mean) {
        self.add_lowest(later.lowest_ns, later.samples);
        self.samples += later.samples;
        self.sum_ns += later.sum_ns;
    }
}

impl Mean {
    /// Before the samples are counted.
    fn add_lowest(&mut self, lowest_ns: u64, samples: u64) {
        self.lowest_ns = match (self.samples, samples) {
            (_, 0) => self.lowest_ns,
            (0, _) => lowest_ns,
            _ => self.lowest_ns.min(lowest_ns),
        };
    }
}

/// A flow's round trips between the vantage point and one end. Memory is taken when the first one comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips(Option<Box<Series<Means>>>);

impl RoundTrips {
    pub(crate) fn add(&mut self, now: u64, sample: &Sample) {
        let series = self.0.get_or_insert_with(|| Box::new(Series::new(WIDTH_NS, MOST)));
        let bin = series.at(now);
        let bin = if sample.in_loss { &mut bin.in_loss } else { &mut bin.clear };
        bin.add_lowest(sample.rtt_ns, 1);
        bin.samples += 1;
        bin.sum_ns += sample.rtt_ns;
    }

    /// A row a bin; `row` has what is common to them.
    pub(crate) fn rows<'a>(&'a self, row: &'a TripRow) -> impl Iterator<Item = TripRow> + 'a {
        self.0.iter().flat_map(move |series| {
            let enough = series.bins().filter(|(_, bin)| bin.clear.samples >= FEWEST).count();
            let is_lossy = 2 * enough < series.bins().count();
            let means =
                series.bins().map(move |(at, bin)| (at, if is_lossy { bin.of_both() } else { bin.clear }));
            means.filter(|(_, mean)| mean.samples > 0).map(move |(start_ns, mean)| TripRow {
                start_ns,
                width_ns: series.width_ns,
                samples: mean.samples,
                mean_ns: mean.sum_ns as f64 / mean.samples as f64,
                lowest_ns: mean.lowest_ns,
                ..row.clone()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_has_the_mean_of_its_samples() {
        let mut trips = RoundTrips::default();
        let row = TripRow::default();
        assert_eq!(trips.rows(&row).count(), 0);
        let sample = |rtt_ns| Sample { of: 0, ahead: true, in_loss: false, rtt_ns, excess_ns: 0, packets: 1 };
        trips.add(10, &sample(20));
        trips.add(WIDTH_NS - 1, &sample(30));
        trips.add(WIDTH_NS, &sample(50));
        let bins: Vec<_> =
            trips.rows(&row).map(|row| (row.start_ns, row.samples, row.mean_ns, row.lowest_ns)).collect();
        assert_eq!(bins, [(0, 2, 25.0, 20), (WIDTH_NS, 1, 50.0, 50)]);
    }

    #[test]
    fn samples_of_losses_count_where_there_are_few_others() {
        let mut trips = RoundTrips::default();
        let sample =
            |in_loss, rtt_ns| Sample { of: 0, ahead: true, in_loss, rtt_ns, excess_ns: 0, packets: 1 };
        let bins = |trips: &RoundTrips| -> Vec<_> {
            trips.rows(&TripRow::default()).map(|row| (row.samples, row.mean_ns)).collect()
        };
        (0..4).for_each(|n| trips.add(n, &sample(false, 20)));
        trips.add(5, &sample(true, 90));
        trips.add(WIDTH_NS, &sample(true, 40));
        assert_eq!(bins(&trips), [(4, 20.0)]);
        trips.add(2 * WIDTH_NS, &sample(false, 20));
        trips.add(2 * WIDTH_NS, &sample(true, 40));
        assert_eq!(bins(&trips), [(5, 34.0), (1, 40.0), (2, 30.0)]);
    }

    #[test]
    fn a_long_flow_takes_no_more_memory() {
        let mut trips = RoundTrips::default();
        let sample = Sample { of: 0, ahead: true, in_loss: false, rtt_ns: 7, excess_ns: 0, packets: 1 };
        (0..1_000)
            .for_each(|n| trips.add(n * WIDTH_NS, &Sample { rtt_ns: if n == 40 { 5 } else { 7 }, ..sample }));
        let rows: Vec<_> = trips.rows(&TripRow::default()).collect();
        assert!(rows.len() <= MOST && rows[0].width_ns == 16 * WIDTH_NS);
        assert_eq!(rows.iter().map(|row| row.samples).sum::<u64>(), 1_000);
        let lowest: Vec<_> = rows.iter().map(|row| row.lowest_ns).collect();
        assert_eq!((lowest[1], lowest[2], lowest[3]), (7, 5, 7));
        assert!((rows[2].mean_ns - 6.875).abs() < 1e-9 && rows[3].mean_ns == 7.0);
    }
}
