//! Which of a link's estimated rates is to be trusted.

use super::rates::Cluster;

/// A plateau counts with such a number of windows with a queue, and such a part of them within its cluster.
const LEAST_WINDOWS: u64 = 10;
const PLATEAU_SHARE: f64 = 0.5;
/// The mode of distances counts with such a number of pairs, and such a part of them.
const LEAST_PAIRS: u64 = 100;
const MODE_SHARE: f64 = 0.2;

/// A rate is that of bursts, not of the link, if there are as many faster windows as such a part of those in which packets wait: where
/// links were full all the time it was next to none, where bursts kept packets waiting half of each window a third and more. Our choice.
const FASTER: f64 = 0.15;
/// A faster rate that such a part of the windows has is another of a link that varies. Our choice.
const VARIES: f64 = 0.15;
/// The other rate is as many times the first at least.
const APART: f64 = 1.15;

/// What an estimate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// None can be trusted: the highest rate seen is a lower bound.
    Nothing = 0,
    /// The plateau of windows of 1 s.
    Seconds = 1,
    /// The plateau of windows of 100 ms.
    Tenths = 2,
    /// The mode of packets' distances.
    Dispersion = 3,
}

/// An estimate with the number of its measurements.
pub(crate) type Estimate = (Option<Cluster>, u64);

/// Windows of 100 ms in which a rate may be exceeded.
pub(crate) struct Faster<F: Fn(f64) -> u64> {
    /// How many carry more than a link of this rate.
    pub(crate) than: F,
    /// In how many packets wait, and in how many of these the link is idle for a while.
    pub(crate) waiting: u64,
    pub(crate) idle: u64,
}

/// The rate: of the plateaus that of longer windows first, since fewer packets at their ends count wrong; then the distances, which are
/// the bottleneck's only behind it. Plateaus need a queue, so a link that none was seen to wait for has at most the last.
///
/// None is the link's that many windows exceed, unless it varies: `others` are the second rates of the windows of 1 s and of 100 ms. A link
/// that varies has both rates in short windows, too; one that is idle at times, as flows pause, has one in these if most have it.
pub(crate) fn choose(
    seconds: Estimate,
    tenths: Estimate,
    others: [Option<Cluster>; 2],
    dispersion: Estimate,
    faster: &Faster<impl Fn(f64) -> u64>,
) -> Option<(Cluster, By)> {
    let most = FASTER * faster.waiting.max(LEAST_WINDOWS) as f64;
    let is_possible = |cluster: &Cluster| ((faster.than)(cluster.rate_bps) as f64) < most;
    let trusted = |(cluster, number): Estimate, least: u64, share: f64| {
        cluster.filter(|cluster| number >= least && cluster.share >= share)
    };
    let plateau = |estimate, by| trusted(estimate, LEAST_WINDOWS, PLATEAU_SHARE).map(|cluster| (cluster, by));
    let [of_seconds, of_tenths] = others;
    let second = if plateau(tenths, By::Tenths).is_some() { of_tenths } else { of_seconds };
    let varies = |rate_bps: f64| {
        second.is_some_and(|other| other.share >= VARIES && other.rate_bps > APART * rate_bps)
    };
    let steady = plateau(seconds, By::Seconds);
    let fine = steady.filter(|(cluster, _)| is_possible(cluster) || varies(cluster.rate_bps));
    // bursts that leave the link idle in many windows do so for shorter than is seen in others
    let is_blurred = steady.is_some() && faster.idle as f64 >= most;
    let short = plateau(tenths, By::Tenths).filter(|(cluster, _)| is_possible(cluster) && !is_blurred);
    fine.or(short).or_else(|| {
        trusted(dispersion, LEAST_PAIRS, MODE_SHARE)
            .filter(is_possible)
            .map(|cluster| (cluster, By::Dispersion))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plateau_goes_before_distances() {
        let estimate = |rate_bps, share, number| (Some(Cluster { rate_bps, error_bps: 0.0, share }), number);
        let faster_than = |rate_bps| move |bps: f64| if bps < rate_bps { 9 } else { 0 };
        let above = |rate_bps, others, seconds, tenths, pairs| {
            let faster = Faster { than: faster_than(rate_bps), waiting: 30, idle: 0 };
            choose(seconds, tenths, others, pairs, &faster).map(|(cluster, by)| (cluster.rate_bps, by))
        };
        let chosen = |seconds, tenths, pairs| above(0.0, [None; 2], seconds, tenths, pairs);
        let (good, few, wide) = (estimate(1.0, 0.6, 10), estimate(2.0, 0.6, 9), estimate(3.0, 0.4, 100));
        let pairs = estimate(4.0, 0.2, 100);
        assert_eq!(chosen(good, good, pairs), Some((1.0, By::Seconds)));
        assert_eq!(chosen(few, good, pairs), Some((1.0, By::Tenths)));
        assert_eq!(chosen(few, wide, pairs), Some((4.0, By::Dispersion)));
        assert_eq!(chosen((None, 0), wide, few), None);
        // what many windows exceed is none, unless the link varies
        let (other, rare) = (estimate(2.0, 0.2, 0).0, estimate(2.0, 0.1, 0).0);
        let fast = estimate(2.0, 0.6, 10);
        assert_eq!(above(1.5, [rare; 2], good, fast, pairs), Some((2.0, By::Tenths)));
        assert_eq!(above(1.5, [other; 2], good, good, pairs), Some((1.0, By::Seconds)));
        // in most short windows it has one
        assert_eq!(above(1.5, [other, rare], good, fast, pairs), Some((2.0, By::Tenths)));
        assert_eq!(above(1.5, [other, rare], good, wide, pairs), Some((1.0, By::Seconds)));
        assert_eq!(above(3.5, [None; 2], good, good, pairs), Some((4.0, By::Dispersion)));
        assert_eq!(above(4.5, [None; 2], good, good, pairs), None);
    }
}
