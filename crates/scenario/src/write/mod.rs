//! What is written from the declarations of keys: the JSON Schema, the tables of the documentation, Python's types.

mod docs;
mod python;
mod schema;

pub use docs::fill_in;
pub use python::types;
pub use schema::schema_text;
