//! The scenario language: what users write, read and checked, and what the engine gets of it.
//!
//! Text (TOML, JSON) or a table comes in, a [`Scenario`] with everything [`Resolved`] or all [`Mistakes`] of the text come
//! out. [`Scenario::lower`] draws what is random and makes the plan. A key is declared once, with its type, default,
//! bounds and meaning, in `parts`; the JSON Schema, the tables of docs/scenario.md and Python's types are written from
//! these declarations.
//!
//! No clock, no thread, no file: files that a scenario names are read by the caller's [`Files`].

mod checks;
mod draw;
mod keys;
mod lower;
mod overrides;
mod parts;
mod quantity;
mod resolved;
mod scenario;
mod text;
mod twin;
pub mod write;

pub use draw::Draws;
pub use lower::{Seeded, canonical_json, hash_of, plan_hash, plan_json};
pub use overrides::{parse_value, split_override};
pub use parts::link::SPLITBUFF_CAP;
pub use parts::parameter::nouns;
pub use quantity::empirical::{Files, NoFiles};
pub use quantity::written_trace::{TraceFormat, trace_text};
pub use resolved::Resolved;
pub use scenario::Scenario;
pub use text::mistake::{Details, Mistake, Mistakes};
pub use text::value::{DEEPEST, Entry, Node, Place, Table, Value};

/// Reads a quantity in its least unit: a "time" in picoseconds, a "rate" in bits per second, a "size" in bytes.
///
/// # Errors
/// If it is none, or less than `least`.
pub fn parse_quantity(kind: &str, value: &Value, least: u64) -> Result<u64, Mistake> {
    match kind {
        "time" => quantity::parse_time(value, least, quantity::MAX_TIME_PS),
        "rate" => quantity::parse_rate(value),
        _ => quantity::parse_size(value, least, quantity::MAX_SIZE_BYTES),
    }
}

/// Writes such a quantity for people.
pub fn format_quantity(kind: &str, amount: u64) -> String {
    match kind {
        "time" => quantity::format::format_time(amount),
        "rate" => quantity::format::format_rate(amount),
        _ => quantity::format::format_size(amount),
    }
}

/// Checks the size of a "buffer" or the word of a "congestion" control.
///
/// # Errors
/// If it is none.
pub fn check_word(kind: &str, value: &Value) -> Result<(), Mistake> {
    match kind {
        "buffer" => quantity::buffer::parse_buffer(value).map(|_| ()),
        _ => quantity::congestion::parse_congestion(value).map(|_| ()),
    }
}

/// A unit of size in its usual spelling and how many bytes it is, if it is one.
pub fn size_unit(unit: &str) -> Option<(&'static str, u64)> {
    let one = Value::text(format!("1 {unit}"));
    quantity::split_quantity(&one, quantity::SIZE_UNITS, "").ok().map(|(_, unit)| unit)
}

/// What `queue` may be in one word, and what each is.
pub fn described_queues() -> Vec<(&'static str, String)> {
    parts::queue::described_words()
}

/// What `queue` may be in one word, and the table that each stands for.
pub fn queue_words() -> Vec<(&'static str, Table)> {
    let words = parts::queue::words().into_iter();
    words.filter_map(|word| Some((word, parts::queue::table_of(word)?))).collect()
}
