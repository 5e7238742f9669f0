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
    /// Counts a sample that stands for such a number of packets, or for the minimum only if that is none. Returns by how much it exceeds the
    /// smallest so far.
    pub(crate) fn add(&mut self, rtt: u64, packets: u64) -> u64 {
        self.samples += 1;
        self.least.add(rtt);
        if packets > 0 {
            self.largest = self.largest.max(rtt);
            self.sketch.add_many(rtt, packets);
        }
        rtt - self.least.smallest().unwrap_or(rtt)
    }
}

/// The longest of about the last round trip or two: what a queue held before a loss shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    since: u64,
    now: u64,
    before: u64,
}

impl Recent {
    pub(crate) fn add(&mut self, at: u64, rtt: u64) {
        if at.saturating_sub(self.since) > rtt {
            *self = Recent { since: at, now: 0, before: self.now };
        }
        self.now = self.now.max(rtt);
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
        assert_eq!(leg.add(30, 1), 0);
        assert_eq!(leg.add(50, 7), 20);
        assert_eq!(leg.add(900, 0), 870);
        assert_eq!((leg.samples, leg.largest, leg.least.smallest()), (3, 50, Some(30)));
        // most packets are of the second
        assert_eq!((leg.sketch.total(), leg.sketch.quantile(0.2)), (8, leg.sketch.quantile(1.0)));
    }

    #[test]
    fn the_recent_maximum_is_forgotten() {
        let mut recent = Recent::default();
        assert_eq!(recent.largest(), None);
        recent.add(100, 10);
        recent.add(105, 8);
        assert_eq!(recent.largest(), Some(10));
        recent.add(112, 6);
        assert_eq!(recent.largest(), Some(10));
        recent.add(122, 5);
        assert_eq!(recent.largest(), Some(6));
    }
}
