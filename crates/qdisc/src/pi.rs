//! The proportional integral controller that PI2 and `DualPI2` share: a base chance that follows the wait.
//!
//! Source: RFC 9332 appendix A.1, figure 6 (`dualpi2_update`), which is that of K. De Schepper, O. Bondarenko, I. Tsang and
//! B. Briscoe, "PI2: A Linearized AQM for both Classic and Scalable TCP", `CoNEXT` 2016.
//!
//! Updates are made by the first call after they were due, with the state of the time when they were.

use bufferlab_units::{Span, Stream, Time};

/// Least time between updates: making up for those that a slow link missed is then quick.
pub(crate) const LEAST_UPDATE: Span = Span::from_ms(1);
/// Largest gain, 1/s.
pub(crate) const MOST_GAIN: f64 = 1000.0;

/// What the base chance aims at, and how fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gains {
    /// Wait to hold.
    pub(crate) target: Span,
    /// Time between updates.
    pub(crate) update: Span,
    /// Change of the chance for a second above the target, each update.
    pub(crate) alpha: f64,
    /// Change of the chance for a second by which the wait has grown, each update.
    pub(crate) beta: f64,
}

/// The base chance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BaseChance {
    gains: Gains,
    /// `p'`.
    pub(crate) chance: f64,
    /// Most of it.
    most: f64,
    /// The wait at the last update (`prevq`).
    pub(crate) previous: Span,
    pub(crate) next_update: Time,
}

impl BaseChance {
    /// # Panics
    /// Without time between updates.
    pub(crate) fn new(gains: Gains, most: f64) -> BaseChance {
        assert!(gains.update > Span::ZERO, "updates need time between them");
        let next_update = Time::ZERO + gains.update;
        BaseChance { gains, chance: 0.0, most, previous: Span::ZERO, next_update }
    }

    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        now >= self.next_update
    }

    /// Makes the updates that are due by now. `wait` is that of the first packet at a time; if nothing waits, nothing will.
    #[inline]
    pub(crate) fn catch_up(&mut self, now: Time, is_idle: bool, mut wait: impl FnMut(Time) -> Span) {
        while now >= self.next_update {
            let before = (self.chance, self.previous);
            self.update(wait(self.next_update));
            self.next_update += self.gains.update;
            if (self.chance, self.previous) == before && now >= self.next_update && is_idle {
                // nothing changes any more
                let missed = (now - self.next_update).as_ps() / self.gains.update.as_ps();
                self.next_update += self.gains.update.saturating_mul(missed + 1);
            }
        }
    }

    /// One update (figure 6).
    pub(crate) fn update(&mut self, wait: Span) {
        let Gains { target, alpha, beta, .. } = self.gains;
        let change = alpha * (wait.as_s() - target.as_s()) + beta * (wait.as_s() - self.previous.as_s());
        self.chance = (self.chance + change).clamp(0.0, self.most);
        self.previous = wait;
    }
}

/// Whether a lot falls on this chance. None is drawn where the answer is known.
#[inline]
pub(crate) fn falls(chance: f64, stream: &mut Stream) -> bool {
    // `unit` is in (0, 1]
    chance >= 1.0 || (chance > 0.0 && stream.unit() <= chance)
}

/// Whether two lots fall on this chance: the square of it (figure 6 line 5).
#[inline]
pub(crate) fn falls_twice(chance: f64, stream: &mut Stream) -> bool {
    falls(chance, stream) && falls(chance, stream)
}
