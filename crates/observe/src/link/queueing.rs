//! What waits at the bottleneck, and how much can.

use super::series::{Bin, Series};
use crate::sample::{Loss, Sample};
use crate::sketch::Sketch;
use crate::thinned::Thinned;

/// Bins of a tenth of a second.
const WIDTH_NS: u64 = 100_000_000;
/// Samples of a bin that are kept; of more, every second, fourth, …
const MOST: usize = 256;
/// A queue stands if a round trip exceeds its minimum by more than both: scheduling of hosts takes less.
const LEAST_NS: u64 = 1_000_000;
const LEAST_PART: u64 = 10;
/// The buffer fills if losses come when the excess is at least such a part of its 99th percentile, in at least such a number of episodes.
const PLATEAU: f64 = 0.75;
const LEAST_LOSSES: u64 = 3;

/// Whether a sample shows a queue.
pub(crate) fn is_queued(sample: &Sample) -> bool {
    sample.sure_ns() > LEAST_NS.max((sample.rtt_ns - sample.excess_ns) / LEAST_PART)
}

/// What one bin has, in nanoseconds beyond the minimum.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moment {
    pub(crate) samples: u64,
    pub(crate) long_samples: u64,
    pub(crate) median_ns: f64,
    pub(crate) p95_ns: f64,
    pub(crate) max_ns: u64,
    pub(crate) losses: u64,
}

impl Bin for Moment {
    /// The median of the two is taken as their weighted mean, the 95th percentile as the larger; of long flows if either has some.
    fn merge(&mut self, later: Moment) {
        let has_long = self.long_samples + later.long_samples > 0;
        let weight = |of: &Moment| if has_long { of.long_samples } else { of.samples } as f64;
        let (own, other) = (weight(self), weight(&later));
        if own + other > 0.0 {
            self.median_ns = (self.median_ns * own + later.median_ns * other) / (own + other);
        }
        self.p95_ns = match (own > 0.0, other > 0.0) {
            (true, true) => self.p95_ns.max(later.p95_ns),
            (false, true) => later.p95_ns,
            _ => self.p95_ns,
        };
        self.samples += later.samples;
        self.long_samples += later.long_samples;
        self.max_ns = self.max_ns.max(later.max_ns);
        self.losses += later.losses;
    }
}

/// Round trips beyond each connection's minimum, of one direction's data on one leg.
///
/// There are some samples a round trip, so flows have most while little waits; each counts as often as packets went since the one before.
/// The excess contains all queues of the leg, both ways, and receivers that hold acknowledgments back, so it errs upward; the median of
/// many flows' is what they share. It errs downward by a queue that has stood since a connection's first packet: that hides in the
/// minimum. Early samples are compared with the minimum so far.
///
/// A short flow may never meet an empty queue, and its first sample never exceeds its minimum. So the bins of time, which say what others
/// waited while it lasted, have the median and the 95th percentile of long flows wherever those have samples.
#[derive(Clone, Debug)]
pub(crate) struct Queueing {
    pub(crate) moments: Series<Moment>,
    pub(crate) excess: Sketch,
    pub(crate) at_loss: Sketch,
    pub(crate) largest_ns: u64,
    pub(crate) losses: u64,
    pub(crate) samples: u64,
    /// The open bin: when it began to be filled, samples of it that are kept (of long flows alone once it has some), and what else it has.
    now: Option<u64>,
    kept: Thinned<u64, MOST>,
    open: Moment,
}

/// How deep the buffer is, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Depth {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Queueing {
    pub(crate) fn new(bins: usize) -> Queueing {
        Queueing {
            moments: Series::new(WIDTH_NS, bins),
            excess: Sketch::default(),
            at_loss: Sketch::default(),
            largest_ns: 0,
            losses: 0,
            samples: 0,
            now: None,
            kept: Thinned::default(),
            open: Moment::default(),
        }
    }

    /// A sample, of a long flow or another.
    pub(crate) fn sample(&mut self, now: u64, sample: &Sample, is_long: bool) {
        self.advance(now);
        self.samples += 1;
        self.excess.add_many(sample.excess_ns, sample.packets);
        self.largest_ns = self.largest_ns.max(sample.excess_ns);
        self.open.max_ns = self.open.max_ns.max(sample.excess_ns);
        self.open.samples += 1;
        if is_long && self.open.long_samples == 0 {
            self.kept.clear();
        }
        self.open.long_samples += u64::from(is_long);
        if is_long || self.open.long_samples == 0 {
            self.kept.add(sample.excess_ns);
        }
    }

    pub(crate) fn loss(&mut self, now: u64, loss: &Loss) {
        self.advance(now);
        self.losses += 1;
        self.open.losses += 1;
        if let Some(excess) = loss.excess_ns {
            self.at_loss.add(excess);
        }
    }

    /// The buffer's depth as time, if it ever fills: the median of the largest excess in the round trips before losses, with its 10th and
    /// 90th percentiles. A buffer fills if losses come at the plateau of the excess. Else they come by chance, from a discipline that drops
    /// early, or from elsewhere.
    pub(crate) fn depth(&self) -> Option<Depth> {
        let plateau_ns = self.excess.quantile(0.99)?;
        let quantile = |part| self.at_loss.quantile(part);
        let depth = Depth { median: quantile(0.5)?, low: quantile(0.1)?, high: quantile(0.9)? };
        let is_full = depth.median >= PLATEAU * plateau_ns && plateau_ns > LEAST_NS as f64;
        (is_full && self.at_loss.total() >= LEAST_LOSSES).then_some(depth)
    }

    /// Closes the last bin.
    pub(crate) fn end(&mut self) {
        let Some(at) = self.now.take() else {
            return;
        };
        self.kept.kept_mut().sort_unstable();
        let kept = self.kept.kept();
        let rank = |part: f64| {
            let rank = (part * kept.len() as f64).ceil().max(1.0) as usize;
            kept.get(rank - 1).map_or(0.0, |&excess| excess as f64)
        };
        let closed = Moment { median_ns: rank(0.5), p95_ns: rank(0.95), ..self.open };
        self.moments.at(at).merge(closed);
        self.kept.clear();
        self.open = Moment::default();
    }

    fn advance(&mut self, now: u64) {
        if self.now.is_some_and(|at| !self.moments.is_same(at, now)) {
            self.end();
        }
        self.now.get_or_insert(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn sample(excess_ns: u64) -> Sample {
        Sample { of: 0, ahead: true, in_loss: false, rtt_ns: 20 * MS + excess_ns, excess_ns, packets: 1 }
    }

    #[test]
    fn bins_have_medians() {
        let mut queueing = Queueing::new(100);
        (0..1_000).for_each(|n| queueing.sample(n * MS / 10, &sample(n * MS), false));
        queueing.sample(250 * MS, &sample(7 * MS), false);
        queueing.end();
        let bins: Vec<_> = queueing.moments.into_bins().collect();
        assert_eq!(bins.len(), 2);
        let (at, first) = bins[0];
        assert_eq!((at, first.samples, first.max_ns), (0, 1_000, 999 * MS));
        assert!((first.median_ns / 5e8 - 1.0).abs() < 0.01, "{}", first.median_ns);
        assert!((first.p95_ns / 9.5e8 - 1.0).abs() < 0.01, "{}", first.p95_ns);
        assert_eq!((bins[1].0, bins[1].1.median_ns), (200 * MS, 7e6));
    }

    #[test]
    fn bins_are_of_long_flows_where_those_have_samples() {
        let mut queueing = Queueing::new(2);
        let mut put =
            |at_ms, excess_ms, is_long| queueing.sample(at_ms * MS, &sample(excess_ms * MS), is_long);
        (0..10).for_each(|at| put(at, 0, false));
        put(20, 60, true);
        put(21, 0, false);
        put(22, 80, true);
        put(23, 70, true);
        put(110, 5, false);
        let first = queueing.clone();
        queueing.sample(250 * MS, &sample(9 * MS), false);
        queueing.end();
        let bins: Vec<_> = queueing.moments.into_bins().map(|(_, bin)| bin).collect();
        // the first two have become one
        assert_eq!((bins[0].samples, bins[0].long_samples), (15, 3));
        assert_eq!((bins[0].median_ns, bins[0].p95_ns), (70e6, 80e6));
        assert_eq!((bins[1].long_samples, bins[1].median_ns), (0, 9e6));
        assert_eq!(first.excess.total(), 15);
    }

    #[test]
    fn losses_at_the_plateau_show_the_depth() {
        let lose = |excess: &dyn Fn(u64) -> u64| {
            let mut queueing = Queueing::new(100);
            for n in 0..100 {
                queueing.sample(n * 10 * MS, &sample(n % 20 * MS), true);
                if n % 20 == 19 {
                    queueing.loss(
                        n * 10 * MS,
                        &Loss { of: 0, ahead: true, trip_ns: None, excess_ns: Some(excess(n)) },
                    );
                }
            }
            queueing.end();
            queueing.depth()
        };
        let depth = lose(&|_| 19 * MS).unwrap();
        assert!((depth.median / 19e6 - 1.0).abs() < 0.01);
        assert_eq!(lose(&|n| n % 3 * MS), None);
    }

    #[test]
    fn a_queue_is_more_than_hosts_take() {
        assert!(!is_queued(&sample(2 * MS)));
        assert!(is_queued(&sample(2 * MS + 1)));
        assert!(!is_queued(&Sample { rtt_ns: MS, excess_ns: MS, ..sample(0) }));
        // a receiver's acknowledgments with SACK blocks may be held back; what comes from a sender is not
        assert!(!is_queued(&Sample { in_loss: true, ..sample(3 * MS) }));
        assert!(is_queued(&Sample { in_loss: true, ..sample(4 * MS) }));
    }
}
