//! The smallest of samples, and how far below it the true minimum may be.

/// Confidence of [`Least::low`].
const CONFIDENCE: f64 = 0.9;

/// The two smallest samples of a quantity that noise only makes larger.
///
/// What is estimated is the lower end of the distribution. The smallest sample is never below it, so it is biased upward. D. Robson and J.
/// Whitlock ("Estimation of a truncation point", Biometrika 51, 1964, page 33) give the lower end of an interval from the two smallest, x
/// and y: x − (y − x)·c/(1 − c) has the confidence c, if the density at the end is not zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Least {
    smallest: u64,
    second: u64,
}

impl Default for Least {
    fn default() -> Least {
        Least { smallest: u64::MAX, second: u64::MAX }
    }
}

impl Least {
    pub(crate) fn add(&mut self, sample: u64) {
        if sample < self.smallest {
            self.second = self.smallest;
            self.smallest = sample;
        } else {
            self.second = self.second.min(sample);
        }
    }

    pub(crate) fn smallest(&self) -> Option<u64> {
        (self.smallest != u64::MAX).then_some(self.smallest)
    }

    /// The lower end of the interval with a confidence of 90 %; zero with a single sample.
    pub(crate) fn low(&self) -> Option<f64> {
        let smallest = self.smallest()? as f64;
        if self.second == u64::MAX {
            return Some(0.0);
        }
        let apart = self.second as f64 - smallest;
        Some((smallest - apart * CONFIDENCE / (1.0 - CONFIDENCE)).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_shrinks_with_the_distance_of_the_two_smallest() {
        let mut least = Least::default();
        assert_eq!(least.smallest(), None);
        least.add(1_000);
        assert_eq!(least.low(), Some(0.0));
        least.add(1_010);
        assert!((least.low().unwrap() - 910.0).abs() < 1e-6);
        least.add(1_001);
        assert!((least.low().unwrap() - 991.0).abs() < 1e-6);
        least.add(1_000);
        assert_eq!((least.smallest(), least.low()), (Some(1_000), Some(1_000.0)));
    }
}
