//! Rates that were measured, and where most of them lie.

use crate::buckets::bucket;

/// Slower rates count as 1 kbit/s.
const LEAST_BPS: u64 = 1 << 10;
/// Neighbors of a bucket of 1.6 % that count as the same rate: in all about 8 %.
const NEIGHBORS: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: u64,
    sum: f64,
    squares: f64,
}

/// Rates by buckets of 1.6 %, with their sums, so that the mean of a cluster is exact.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    cells: Vec<Cell>,
    total: u64,
}

/// The rate that most measurements have, within 4 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cluster {
    pub(crate) rate_bps: f64,
    /// The standard deviation within the cluster.
    pub(crate) error_bps: f64,
    /// The part of all measurements that lie in it.
    pub(crate) share: f64,
}

impl Rates {
    pub(crate) fn add(&mut self, rate_bps: f64) {
        let place = bucket((rate_bps as u64).max(LEAST_BPS)) - bucket(LEAST_BPS);
        if self.cells.len() <= place {
            self.cells.resize(place + 1, Cell::default());
        }
        let cell = &mut self.cells[place];
        cell.count += 1;
        cell.sum += rate_bps;
        cell.squares += rate_bps * rate_bps;
        self.total += 1;
    }

    /// How many were measured.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The largest cluster; the faster of equal ones.
    pub(crate) fn cluster(&self) -> Option<Cluster> {
        let around = |place: usize| {
            let last = (place + NEIGHBORS).min(self.cells.len() - 1);
            &self.cells[place.saturating_sub(NEIGHBORS)..=last]
        };
        let count = |place: usize| around(place).iter().map(|cell| cell.count).sum::<u64>();
        // of places with the same cluster the one in its middle, which has the largest own count
        let best = (0..self.cells.len())
            .filter(|&place| self.cells[place].count > 0)
            .max_by_key(|&place| (count(place), self.cells[place].count, place))?;
        let sum = |part: fn(&Cell) -> f64| around(best).iter().map(part).sum::<f64>();
        let number = count(best) as f64;
        let rate_bps = sum(|cell| cell.sum) / number;
        let variance = sum(|cell| cell.squares) / number - rate_bps * rate_bps;
        let share = number / self.total as f64;
        Some(Cluster { rate_bps, error_bps: variance.max(0.0).sqrt(), share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_is_where_most_rates_are() {
        let mut rates = Rates::default();
        assert_eq!(rates.cluster(), None);
        (0..10).for_each(|n| rates.add(10e6 + 1e6 * f64::from(n)));
        (0..9).for_each(|n| rates.add(99.6e6 + 0.1e6 * f64::from(n)));
        rates.add(1.0);
        let cluster = rates.cluster().unwrap();
        assert!((cluster.rate_bps - 100e6).abs() < 1.0, "{cluster:?}");
        assert!((cluster.error_bps - 0.258e6).abs() < 1e3, "{cluster:?}");
        assert_eq!(cluster.share, 9.0 / 20.0);
    }
}
