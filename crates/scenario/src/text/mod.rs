//! Texts and values as they come in and go out: TOML, JSON, and what people are shown of them.

pub mod json;
pub mod meant;
pub mod mistake;
pub mod nearest;
pub mod places;
pub mod plain;
pub mod show;
pub mod toml;
pub mod value;
pub mod write;
