//! Round trips between the vantage point and one end of a connection.

use crate::least::Least;
use crate::sketch::Sketch;

/// The samples of one side of the vantage point: from there to an end, and back.
///
/// The minimum is over all samples. Quantiles and the maximum are over those whose moment is good: not of an echo after a silence of the
/// host, which contains that silence, nor of an acknowledgment that may have been held back. All contain the end's processing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leg {
    pub(crate) least: Least,
    /// All samples.
    pub(crate) samples: u32,
    pub(crate) largest: u64,
    pub(crate) sketch: Sketch,
}

impl Leg {
    /// Counts a sample. Returns by how much it exceeds the smallest so far.
    pub(crate) fn add(&mut self, rtt: u64, is_good: bool) -> u64 {
        self.samples += 1;
        self.least.add(rtt);
        if is_good {
            self.largest = self.largest.max(rtt);
            self.sketch.add(rtt);
        }
        rtt - self.least.smallest().unwrap_or(rtt)
    }
}

/// The largest excess of about the last round trip or two: what a queue held before a loss shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    since: u64,
    now: u64,
    before: u64,
}

impl Recent {
    pub(crate) fn add(&mut self, at: u64, rtt: u64, excess: u64) {
        if at.saturating_sub(self.since) > rtt {
            *self = Recent { since: at, now: 0, before: self.now };
        }
        self.now = self.now.max(excess);
    }

    /// `None` before the first sample.
    pub(crate) fn largest(&self) -> Option<u64> {
        (self.since > 0).then(|| self.now.max(self.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn echoes_after_a_silence_count_for_the_minimum_only() {
        let mut leg = Leg::default();
        assert_eq!(leg.add(30, true), 0);
        assert_eq!(leg.add(50, true), 20);
        assert_eq!(leg.add(900, false), 870);
        assert_eq!((leg.samples, leg.largest, leg.least.smallest()), (3, 50, Some(30)));
    }

    #[test]
    fn the_recent_maximum_is_forgotten() {
        let mut recent = Recent::default();
        assert_eq!(recent.largest(), None);
        recent.add(100, 10, 7);
        recent.add(105, 10, 5);
        assert_eq!(recent.largest(), Some(7));
        recent.add(111, 10, 3);
        assert_eq!(recent.largest(), Some(7));
        recent.add(122, 10, 2);
        assert_eq!(recent.largest(), Some(3));
    }
}
