//! Quantities as people write them ("100 Mbps", "10 ms", "64 KiB") and as the engine takes them (integers).
//!
//! Times become picoseconds, rates bits per second, sizes bytes. A unit is always required. Prefixes are those of the SI
//! (1 KB is 1000 bytes); the binary ones are spelled KiB, MiB and GiB. Arithmetic is exact; a time is then rounded to the
//! nearest picosecond and a rate to the nearest bit per second, while a size must be whole.

pub mod buffer;
pub mod capacity;
pub mod congestion;
pub mod dscp;
pub mod empirical;
pub mod format;
pub mod handover;
pub mod hosts;
pub mod jitter;
pub mod kind;
pub mod law;
pub mod loss_bursts;
mod number;
mod sampling;
pub mod trace;
pub mod written_trace;

pub use number::{meant_number, meant_whole, nearest_quotient, nearest_whole, split_quantity, whole};

use bufferlab_parameters::{FASTEST_BPS, LONGEST};

use crate::text::mistake::Mistake;
use crate::text::value::Value;
use format::{format_rate, format_size, format_time};

/// Picoseconds in a second.
pub const PS_PER_S: u64 = 1_000_000_000_000;
/// Picoseconds in a millisecond.
pub const PS_PER_MS: u64 = PS_PER_S / 1000;
/// Longest time accepted, 100,000 s: sums of several still fit the engine's 64-bit picoseconds.
pub const MAX_TIME_PS: u64 = LONGEST.as_ps();
/// Highest rate accepted, 8 Tbps.
pub const MAX_RATE_BPS: u64 = FASTEST_BPS;
/// Largest size accepted, 1 PB: a simulation's counters of bytes stay within 64 bits.
pub const MAX_SIZE_BYTES: u64 = 1_000_000_000_000_000;
/// Largest number of packets accepted.
pub const MAX_PACKETS: u64 = 1_000_000_000_000;

/// A unit's usual spelling, and how many of the least unit it is.
pub type Unit = (&'static str, u64);

/// Units of time, in picoseconds.
pub const TIME_UNITS: &[Unit] = &[
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("ms", PS_PER_MS),
    ("s", PS_PER_S),
    ("min", 60 * PS_PER_S),
    ("h", 3600 * PS_PER_S),
];

/// Units of rate, in bits per second.
pub const RATE_UNITS: &[Unit] =
    &[("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];

/// Units of size, in bytes.
pub const SIZE_UNITS: &[Unit] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];

/// Reads "10 ms" as picoseconds.
pub fn parse_time(value: &Value, least_ps: u64, most_ps: u64) -> Result<u64, Mistake> {
    let limits = format!("{} to {}", format_time(least_ps), format_time(most_ps));
    let accepted = format!("a time of {limits}, such as '10 ms' (units ps, ns, us, ms, s, min, h)");
    let (number, (_, factor)) = split_quantity(value, TIME_UNITS, &accepted)?;
    bounded(nearest_whole(&(number * factor_of(factor))), least_ps, most_ps, value, &accepted)
}

/// Reads "100 Mbps" as bits per second, at least 1.
pub fn parse_rate(value: &Value) -> Result<u64, Mistake> {
    let limits = format!("{} to {}", format_rate(1), format_rate(MAX_RATE_BPS));
    let accepted = format!(
        "a rate of {limits}, such as '100 Mbps' (units bps, kbps, Mbps, Gbps, Tbps: bits, not bytes)"
    );
    let (number, (_, factor)) = split_quantity(value, RATE_UNITS, &accepted)?;
    bounded(nearest_whole(&(number * factor_of(factor))), 1, MAX_RATE_BPS, value, &accepted)
}

/// Reads "64 KiB" as bytes; it must come to a whole number of them.
pub fn parse_size(value: &Value, least_bytes: u64, most_bytes: u64) -> Result<u64, Mistake> {
    let limits = format!("{} to {}", format_size(least_bytes), format_size(most_bytes));
    let accepted = format!("a size of {limits}, such as '1500 B' (units B, KB, MB, GB, KiB, MiB, GiB)");
    let (number, (_, factor)) = split_quantity(value, SIZE_UNITS, &accepted)?;
    let size = whole(&(number * factor_of(factor)), value, &accepted)?;
    bounded(size, least_bytes, most_bytes, value, &accepted)
}

fn factor_of(factor: u64) -> num_rational::BigRational {
    num_rational::BigRational::from_integer(factor.into())
}

fn bounded(
    amount: num_bigint::BigInt,
    least: u64,
    most: u64,
    value: &Value,
    accepted: &str,
) -> Result<u64, Mistake> {
    let problem = if amount < 0.into() {
        "is negative"
    } else if amount < least.into() {
        "is too small"
    } else if amount > most.into() {
        "is too large"
    } else {
        return Ok(u64::try_from(amount).expect("it is within bounds"));
    };
    Err(Mistake::new(problem).value(value).accepted(accepted))
}

#[cfg(test)]
mod tests;
