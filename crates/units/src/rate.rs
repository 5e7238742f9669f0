//! Rates, and the time that a transmitter needs.

use serde::{Deserialize, Serialize};

use crate::Span;

const PS_TIMES_BITS_PER_BYTE: u64 = 8_000_000_000_000;

/// A rate in bits per second, never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u64);

impl Rate {
    /// A rate from bits per second; `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<Rate> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }

    /// Bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Time to send this number of bytes, rounded down to a picosecond.
    pub fn transmission(self, bytes: u64) -> Span {
        let ps = u128::from(bytes) * u128::from(PS_TIMES_BITS_PER_BYTE) / u128::from(self.0);
        Span::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

/// Converts packet sizes to transmission times in whole picoseconds, and carries the remainder from packet to
/// packet, so that the rate is exact in the long run (at 622 Mbit/s a 1500-byte packet takes
/// 19 292 604.5… ps).
#[derive(Clone, Debug)]
pub struct TransmissionClock {
    rate_bps: u64,
    /// Sum of the remainders so far, in units of 1/rate ps; less than the rate.
    carried: u64,
    /// The size for which the next two fields hold: nearly all packets of a link have one size.
    last_bytes: u32,
    last_ps: u64,
    last_remainder: u64,
}

impl TransmissionClock {
    /// Packets up to this size can be timed.
    pub const MAX_BYTES: u32 = 2_000_000;

    /// A clock for a transmitter of this rate.
    pub fn new(rate: Rate) -> TransmissionClock {
        TransmissionClock {
            rate_bps: rate.as_bps(),
            carried: 0,
            last_bytes: 0,
            last_ps: 0,
            last_remainder: 0,
        }
    }

    /// Time that the next packet takes; `bytes` is at most [`TransmissionClock::MAX_BYTES`].
    #[inline]
    pub fn next(&mut self, bytes: u32) -> Span {
        if bytes != self.last_bytes {
            debug_assert!(bytes <= TransmissionClock::MAX_BYTES);
            let scaled = u64::from(bytes) * PS_TIMES_BITS_PER_BYTE;
            self.last_bytes = bytes;
            self.last_ps = scaled / self.rate_bps;
            self.last_remainder = scaled % self.rate_bps;
        }
        self.carried += self.last_remainder;
        if self.carried >= self.rate_bps {
            self.carried -= self.rate_bps;
            return Span::from_ps(self.last_ps + 1);
        }
        Span::from_ps(self.last_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_rate_needs_no_remainder() {
        let rate = Rate::from_bps(100_000_000).unwrap();
        assert_eq!(rate.transmission(1000), Span::from_us(80));
        assert_eq!(TransmissionClock::new(rate).next(1000), Span::from_us(80));
    }

    #[test]
    fn remainders_are_carried_so_that_the_rate_is_exact() {
        let mut clock = TransmissionClock::new(Rate::from_bps(622_000_000).unwrap());
        let sum: u64 = (0..622_000).map(|_| clock.next(1500).as_ps()).sum();
        // 622,000 packets of 12,000 bits at 622 Mbit/s take exactly 12 s
        assert_eq!(sum, 12_000_000_000_000);
    }

    #[test]
    fn a_rate_of_zero_does_not_exist() {
        assert_eq!(Rate::from_bps(0), None);
    }
}
