//! Moments and lengths of time.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

/// A moment: picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Time = Time(0);
    /// Later than every event: an idle component waits for this.
    pub const NEVER: Time = Time(u64::MAX);

    /// A moment, in picoseconds after the start.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }

    /// Picoseconds since the start.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// The length of time since `earlier`; zero if `earlier` is later.
    pub const fn saturating_since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// This moment plus a span; [`Time::NEVER`] stays the same.
    #[must_use]
    pub const fn saturating_add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);

    /// A span in picoseconds.
    pub const fn from_ps(ps: u64) -> Span {
        Span(ps)
    }

    /// A span in microseconds.
    pub const fn from_us(us: u64) -> Span {
        Span(us * 1_000_000)
    }

    /// A span in milliseconds.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms * 1_000_000_000)
    }

    /// A span in seconds.
    pub const fn from_s(s: u64) -> Span {
        Span(s * 1_000_000_000_000)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds, for reports and ratios.
    pub fn as_s(self) -> f64 {
        self.0 as f64 * 1e-12
    }

    /// The sum, saturated.
    #[must_use]
    pub const fn saturating_add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }

    /// `factor` times as long, saturated.
    #[must_use]
    pub const fn saturating_mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Sub for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        debug_assert!(self >= earlier, "time runs backwards: {self} after {earlier}");
        Span(self.0 - earlier.0)
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        Span(self.0 - other.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER { write!(f, "never") } else { write!(f, "{} s", self.0 as f64 * 1e-12) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.as_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_after_a_moment_is_found_again() {
        let start = Time::from_ps(7);
        assert_eq!((start + Span::from_us(3)) - start, Span::from_ps(3_000_000));
        assert_eq!(Time::ZERO.saturating_since(start), Span::ZERO);
        assert_eq!(Time::NEVER.saturating_add(Span::from_s(1)), Time::NEVER);
    }

    #[test]
    fn moments_read_as_seconds() {
        assert_eq!((Time::ZERO + Span::from_ms(1500)).to_string(), "1.5 s");
        assert_eq!(Time::NEVER.to_string(), "never");
    }
}
