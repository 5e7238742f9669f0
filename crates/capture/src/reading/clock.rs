//! Times of pcapng: units since 1970, as an interface says (`if_tsresol`, `if_tsoffset`; section 4.2 of the draft).

const NS_PER_S: u64 = 1_000_000_000;

/// What a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// This many nanoseconds.
    Times(u64),
    /// One of this many parts of a nanosecond.
    Part(u64),
    /// A second halved so often.
    Halved(u8),
    /// Shorter than 10⁻²⁸ s: all times that can be written are below a nanosecond.
    Nothing,
}

/// How an interface counts time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    unit: Unit,
    offset_s: i64,
}

impl Default for Clock {
    /// Microseconds, if the interface says nothing.
    fn default() -> Clock {
        Clock::new(None, 0)
    }
}

impl Clock {
    /// The resolution's first bit chooses between powers of two and of ten; the others are the negative exponent.
    pub(super) fn new(resolution: Option<u8>, offset_s: i64) -> Clock {
        let resolution = resolution.unwrap_or(6);
        let exponent = resolution & 0x7F;
        let unit = if resolution & 0x80 != 0 {
            Unit::Halved(exponent)
        } else if exponent <= 9 {
            Unit::Times(10_u64.pow(u32::from(9 - exponent)))
        } else {
            10_u64.checked_pow(u32::from(exponent - 9)).map_or(Unit::Nothing, Unit::Part)
        };
        Clock { unit, offset_s }
    }

    /// Nanoseconds since 1970, rounded down; 0 for what is before, and the most that there is for what is beyond.
    #[inline]
    pub(super) fn ns(self, units: u64) -> u64 {
        match self {
            Clock { unit: Unit::Times(1), offset_s: 0 } => units,
            Clock { unit: Unit::Times(ns), offset_s: 0 } => units.saturating_mul(ns),
            _ => self.any(units),
        }
    }

    #[cold]
    fn any(self, units: u64) -> u64 {
        let wide = u128::from(units);
        let ns = match self.unit {
            Unit::Times(ns) => wide * u128::from(ns),
            Unit::Part(parts) => wide / u128::from(parts),
            Unit::Halved(times) => (wide * u128::from(NS_PER_S)) >> times,
            Unit::Nothing => 0,
        };
        // 64 bits and 30 more: far from 127
        let shifted = ns.cast_signed() + i128::from(self.offset_s) * i128::from(NS_PER_S);
        shifted.clamp(0, i128::from(u64::MAX)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_ten_and_of_two() {
        for (resolution, units, expected_ns) in [
            (None, 7, 7000),
            (Some(0), 7, 7 * NS_PER_S),
            (Some(6), 1_700_000_000_123_456, 1_700_000_000_123_456_000),
            (Some(9), 7, 7),
            (Some(12), 7999, 7),
            (Some(28), u64::MAX, 1),
            (Some(29), u64::MAX, 0),
            (Some(127), u64::MAX, 0),
            (Some(0x80), 3, 3 * NS_PER_S),
            (Some(0x81), 3, 1_500_000_000),
            // as of NTP: 2^-32 s
            (Some(0xA0), 3 << 31, 1_500_000_000),
            (Some(0xFF), u64::MAX, 0),
            (Some(0), u64::MAX, u64::MAX),
        ] {
            assert_eq!(Clock::new(resolution, 0).ns(units), expected_ns, "{resolution:?}");
        }
    }

    #[test]
    fn an_offset_is_added_in_seconds() {
        assert_eq!(Clock::new(Some(9), 2).ns(5), 2 * NS_PER_S + 5);
        assert_eq!(Clock::new(None, -1).ns(1_500_000), NS_PER_S / 2);
        assert_eq!(Clock::new(None, -2).ns(1_500_000), 0);
        assert_eq!(Clock::new(None, i64::MAX).ns(u64::MAX), u64::MAX);
        assert_eq!(Clock::new(Some(0xA0), i64::MIN).ns(u64::MAX), 0);
    }
}
