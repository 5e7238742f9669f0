//! The distribution of many numbers in bounded memory.

use crate::buckets::{bucket, middle};

/// Buckets kept: twelve octaves, so that the largest number is 4096 times the smallest that is distinguished.
const MOST: usize = 12 << 6;

/// Counts by buckets of 1.6 %. If numbers differ by more than it holds, the smallest are counted as the smallest that it holds, as
/// `DDSketch` does it (Masson, Rim and Lee, VLDB 2019, section 3.1): upper quantiles stay right.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    /// The bucket of the first count.
    first: usize,
    counts: Vec<u32>,
    total: u64,
}

impl Sketch {
    pub(crate) fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    /// The same number many times.
    pub(crate) fn add_many(&mut self, value: u64, times: u64) {
        let bucket = bucket(value);
        self.total += times;
        if self.counts.is_empty() {
            self.first = bucket;
        }
        if bucket < self.first {
            self.lower(bucket);
        } else if bucket >= self.first + self.counts.len() {
            self.raise(bucket);
        }
        let place = bucket.saturating_sub(self.first);
        self.counts[place] = self.counts[place].saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
    }

    /// How many numbers it has seen.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// The number below or at which such a part of them is (nearest rank), within 0.8 %.
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        let rank = (part * self.total as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        self.pairs().find_map(|(value, count)| {
            below += count;
            (below >= rank).then_some(value)
        })
    }

    /// What is counted: the bucket's middle and its count, in order.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (f64, u64)> {
        let filled = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        filled.map(|(place, &count)| (middle(self.first + place), u64::from(count)))
    }

    /// Room below, as far as there may be.
    fn lower(&mut self, bucket: usize) {
        let more = (self.first - bucket).min(MOST - self.counts.len());
        self.counts.splice(0..0, std::iter::repeat_n(0, more));
        self.first -= more;
    }

    /// Room above; what would be too far below is collapsed.
    fn raise(&mut self, bucket: usize) {
        let first = self.first.max((bucket + 1).saturating_sub(MOST));
        let gone = (first - self.first).min(self.counts.len());
        let collapsed = self.counts.drain(..gone).fold(0_u32, u32::saturating_add);
        self.first = first;
        self.counts.resize(bucket + 1 - first, 0);
        self.counts[0] = self.counts[0].saturating_add(collapsed);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_within_a_percent() {
        let mut sketch = Sketch::default();
        (1..=1_000).rev().for_each(|value| sketch.add(value * 1_000));
        for (part, exact) in [(0.5, 500_000.0), (0.9, 900_000.0), (1.0, 1_000_000.0)] {
            let value = sketch.quantile(part).unwrap();
            assert!((value / exact - 1.0).abs() < 0.01, "{part}: {value}");
        }
        assert_eq!(Sketch::default().quantile(0.5), None);
    }

    #[test]
    fn the_smallest_collapse() {
        let mut sketch = Sketch::default();
        for value in [1, 2, 1 << 40] {
            sketch.add(value);
        }
        let pairs: Vec<_> = sketch.pairs().collect();
        assert_eq!(pairs.len(), 2);
        assert_eq!(pairs[0].1, 2);
        assert!((pairs[1].0 / (1_u64 << 40) as f64 - 1.0).abs() < 0.01);
        sketch.add(3);
        assert_eq!(sketch.pairs().next().unwrap().1, 3);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_memory_is_bounded(values in prop::collection::vec(any::<u64>(), 0..200)) {
            let mut sketch = Sketch::default();
            for &value in &values {
                sketch.add(value);
            }
            prop_assert_eq!(sketch.pairs().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
            prop_assert_eq!(sketch.total(), values.len() as u64);
            prop_assert!(sketch.counts.len() <= MOST);
            if let Some(&largest) = values.iter().max() {
                let last = sketch.quantile(1.0).unwrap();
                prop_assert!((last - largest as f64).abs() <= largest as f64 / 128.0);
            }
        }
    }
}
