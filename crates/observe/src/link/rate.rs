//! Which of a link's estimated rates is to be trusted.

use super::rates::Cluster;

/// A plateau counts with such a number of windows with a queue, and such a part of them within its cluster.
const LEAST_WINDOWS: u64 = 10;
const PLATEAU_SHARE: f64 = 0.5;
/// The mode of distances counts with such a number of pairs, and such a part of them.
const LEAST_PAIRS: u64 = 100;
const MODE_SHARE: f64 = 0.2;

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

/// The rate: of the plateaus that of longer windows first, since fewer packets at their ends count wrong; then the distances, which are
/// the bottleneck's only behind it. Plateaus need a queue, so a link that none was seen to wait for has at most the last.
pub(crate) fn choose(seconds: Estimate, tenths: Estimate, dispersion: Estimate) -> Option<(Cluster, By)> {
    let trusted = |(cluster, number): Estimate, least: u64, share: f64| {
        cluster.filter(|cluster| number >= least && cluster.share >= share)
    };
    let plateau = |estimate, by| trusted(estimate, LEAST_WINDOWS, PLATEAU_SHARE).map(|cluster| (cluster, by));
    plateau(seconds, By::Seconds)
        .or_else(|| plateau(tenths, By::Tenths))
        .or_else(|| trusted(dispersion, LEAST_PAIRS, MODE_SHARE).map(|cluster| (cluster, By::Dispersion)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plateau_goes_before_distances() {
        let estimate = |rate_bps, share, number| (Some(Cluster { rate_bps, error_bps: 0.0, share }), number);
        let chosen = |seconds, tenths, pairs| {
            choose(seconds, tenths, pairs).map(|(cluster, by)| (cluster.rate_bps, by))
        };
        let (good, few, wide) = (estimate(1.0, 0.6, 10), estimate(2.0, 0.6, 9), estimate(3.0, 0.4, 100));
        let pairs = estimate(4.0, 0.2, 100);
        assert_eq!(chosen(good, good, pairs), Some((1.0, By::Seconds)));
        assert_eq!(chosen(few, good, pairs), Some((1.0, By::Tenths)));
        assert_eq!(chosen(few, wide, pairs), Some((4.0, By::Dispersion)));
        assert_eq!(chosen((None, 0), wide, few), None);
    }
}
