//! What laws are of: times and sizes.

use super::{MAX_SIZE_BYTES, MAX_TIME_PS, SIZE_UNITS, TIME_UNITS, Unit, parse_size, parse_time};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// What a law is of.
#[derive(Debug)]
pub struct Quantity {
    /// For messages: "time".
    pub noun: &'static str,
    /// A plain one.
    pub example: &'static str,
    /// Reads one in its least unit, ps or bytes.
    pub parse: fn(&Value) -> Result<u64, Mistake>,
    /// Its units, by the words that files' headers end with.
    pub units: &'static [Unit],
    /// Draws below are drawn again.
    pub least: u64,
    /// Draws above are drawn again.
    pub most: u64,
}

/// Times, in ps.
pub const TIME: Quantity = Quantity {
    noun: "time",
    example: "10 ms",
    parse: |value| parse_time(value, 0, MAX_TIME_PS),
    units: TIME_UNITS,
    least: 0,
    most: MAX_TIME_PS,
};

/// Times of an application's turns, at least a microsecond.
pub const TURN: Quantity =
    Quantity { parse: |value| parse_time(value, 1_000_000, MAX_TIME_PS), least: 1, ..TIME };

/// Sizes, in bytes.
pub const SIZE: Quantity = Quantity {
    noun: "size",
    example: "30 KB",
    parse: |value| parse_size(value, 1, MAX_SIZE_BYTES),
    units: SIZE_UNITS,
    least: 1,
    most: MAX_SIZE_BYTES,
};
