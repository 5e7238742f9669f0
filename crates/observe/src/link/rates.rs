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

    /// How many are higher.
    pub(crate) fn above(&self, rate_bps: f64) -> u64 {
        let first = (bucket((rate_bps as u64).max(LEAST_BPS)) - bucket(LEAST_BPS) + 1).min(self.cells.len());
        self.cells[first..].iter().map(|cell| cell.count).sum()
    }

    /// The largest cluster; the faster of equal ones.
    pub(crate) fn cluster(&self) -> Option<Cluster> {
        self.middle(|_| true).map(|middle| self.around(middle))
    }

    /// The largest of those that share nothing with that.
    pub(crate) fn second(&self) -> Option<Cluster> {
        let first = self.middle(|_| true)?;
        self.middle(|place| place.abs_diff(first) > 2 * NEIGHBORS).map(|middle| self.around(middle))
    }

    fn cells_around(&self, place: usize) -> &[Cell] {
        let last = (place + NEIGHBORS).min(self.cells.len() - 1);
        &self.cells[place.saturating_sub(NEIGHBORS)..=last]
    }

    fn count(&self, place: usize) -> u64 {
        self.cells_around(place).iter().map(|cell| cell.count).sum()
    }

    /// Where the largest cluster is, of such places.
    fn middle(&self, is_possible: impl Fn(usize) -> bool) -> Option<usize> {
        // of places with the same cluster the one in its middle, which has the largest own count
        (0..self.cells.len())
            .filter(|&place| self.cells[place].count > 0 && is_possible(place))
            .max_by_key(|&place| (self.count(place), self.cells[place].count, place))
    }

    fn around(&self, place: usize) -> Cluster {
        let sum = |part: fn(&Cell) -> f64| self.cells_around(place).iter().map(part).sum::<f64>();
        let number = self.count(place) as f64;
        let rate_bps = sum(|cell| cell.sum) / number;
        let variance = sum(|cell| cell.squares) / number - rate_bps * rate_bps;
        let share = number / self.total as f64;
        Cluster { rate_bps, error_bps: variance.max(0.0).sqrt(), share }
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
        assert_eq!([10e6, 19e6, 98e6, 1e9].map(|bps| rates.above(bps)), [18, 9, 9, 0]);
        let second = rates.second().unwrap();
        assert!((second.rate_bps - 19e6).abs() < 1.0 && second.share == 1.0 / 20.0, "{second:?}");
        let mut same = Rates::default();
        (0..10).for_each(|_| same.add(5e6));
        assert_eq!(same.second(), None);
    }
}
