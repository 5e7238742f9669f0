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
mod mistake;
mod overrides;
mod parts;
mod quantity;
mod scenario;
mod text;
mod twin;
pub mod write;

pub use lower::{plan_hash, plan_json};
pub use mistake::{Details, Mistake, Mistakes};
pub use overrides::{parse_value, split_override};
pub use quantity::buffer::parse_buffer;
pub use quantity::empirical::{Files, NoFiles};
pub use scenario::{Resolved, Scenario};
pub use text::value::{DEEPEST, Entry, Node, Place, Table, Value};

/// Reads a quantity in its least unit: a "time" in picoseconds, a "rate" in bits per second, a "size" in bytes.
///
/// # Errors
/// If it is none.
pub fn parse_quantity(kind: &str, value: &Value) -> Result<u64, Mistake> {
    match kind {
        "time" => quantity::parse_time(value, 0, quantity::MAX_TIME_PS),
        "rate" => quantity::parse_rate(value),
        _ => quantity::parse_size(value, 1, quantity::MAX_SIZE_BYTES),
    }
}
