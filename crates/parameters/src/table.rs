//! What is known of a struct's parameters.

use std::fmt::Display;

use serde::Serialize;
use serde::de::MapAccess;
use serde::ser::SerializeMap;

use crate::entry::OneEntry;
use crate::kind::{Kind, Word};

/// A parameter as declared.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The scenario's key.
    pub key: &'static str,
    /// The struct's field.
    pub name: &'static str,
    /// The unit behind the plan's key.
    #[doc(hidden)]
    pub suffix: &'static str,
    /// The doc comment, as the macro has it.
    #[doc(hidden)]
    pub raw_doc: &'static str,
    /// What it may be, with its bounds.
    pub kind: Kind,
    /// It may be left without a value, which is then `null` in the plan; the doc comment says what that means.
    pub is_optional: bool,
    /// It has to be given.
    pub is_required: bool,
}

impl Parameter {
    /// What it is, in a sentence or two.
    pub fn doc(&self) -> &'static str {
        self.raw_doc.trim()
    }

    /// The plan's key: the name with the unit.
    pub fn plan_key(&self) -> String {
        [self.name, self.suffix].concat()
    }

    /// Whether that is the plan's key.
    pub(crate) fn is(&self, plan_key: &str) -> bool {
        plan_key.strip_suffix(self.suffix) == Some(self.name)
    }
}

/// A struct declared by [`crate::parameters!`].
pub trait Parameters: Default + Serialize {
    /// Its parameters in the order of declaration, those of included structs among them.
    fn table() -> Vec<Parameter>;

    /// Reads the value of a field from the plan; `false` if there is no such field.
    ///
    /// # Errors
    /// The map's own.
    #[doc(hidden)]
    fn read_field<'de, A: MapAccess<'de>>(&mut self, plan_key: &str, map: &mut A) -> Result<bool, A::Error>;

    /// Writes all fields to the plan.
    ///
    /// # Errors
    /// The map's own.
    #[doc(hidden)]
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;

    /// Checks every field against its bounds.
    ///
    /// # Errors
    /// The first that is out of bounds.
    fn validate(&self) -> Result<(), OutOfBounds>;

    /// Sets a field by its scenario's key to a value in the plan's form: a length of time in picoseconds, a rate in bits
    /// per second, a size in bytes, a word, `null` for none.
    ///
    /// # Errors
    /// If there is no such key, or the value is of another type.
    fn set(&mut self, key: &str, value: serde_json::Value) -> Result<(), Unread> {
        let unread = |why: String| Unread { key: key.to_owned(), why };
        let table = Self::table();
        let parameter = table.iter().find(|parameter| parameter.key == key);
        let plan_key = parameter.ok_or_else(|| unread("there is no such parameter".to_owned()))?.plan_key();
        let mut map = OneEntry(Some(value));
        self.read_field(&plan_key, &mut map).map_err(|error| unread(error.to_string()))?;
        Ok(())
    }

    /// The value of a field by its scenario's key, in the plan's form; nothing if there is no such key.
    fn get(&self, key: &str) -> Option<serde_json::Value> {
        let parameter = Self::table().into_iter().find(|parameter| parameter.key == key)?;
        match serde_json::to_value(self).ok()? {
            serde_json::Value::Object(mut plan) => plan.remove(&parameter.plan_key()),
            _ => None,
        }
    }
}

/// A kind of configuration: its word and its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Described<T> {
    /// The word by which plan and scenarios name it.
    pub word: Word,
    /// Its parameters.
    pub table: fn() -> Vec<Parameter>,
    /// One with every parameter at its default.
    pub default: fn() -> T,
}

/// An enum of configurations declared by [`crate::kinds!`].
pub trait Kinds: Sized + 'static {
    /// Every kind.
    const KINDS: &'static [Described<Self>];

    /// The word by which plan and scenarios name it.
    fn word(&self) -> &'static str;

    /// The parameters of this kind.
    fn table(&self) -> Vec<Parameter>;

    /// [`Parameters::validate`] of this kind.
    ///
    /// # Errors
    /// The first field that is out of bounds.
    fn validate(&self) -> Result<(), OutOfBounds>;

    /// [`Parameters::set`] of this kind.
    ///
    /// # Errors
    /// If there is no such key, or the value is of another type.
    fn set(&mut self, key: &str, value: serde_json::Value) -> Result<(), Unread>;
}

/// A value out of bounds: which field, its value and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfBounds {
    /// The plan's name of the field.
    pub field: String,
    /// What it holds.
    pub value: String,
    /// What it may hold.
    pub accepted: String,
}

impl OutOfBounds {
    /// This error with the path of what holds the field before its name.
    #[must_use]
    pub fn under(self, path: &str) -> OutOfBounds {
        OutOfBounds { field: format!("{path}.{}", self.field), ..self }
    }
}

/// Fails unless a bound holds.
///
/// # Errors
/// If it does not.
pub fn require(
    holds: bool,
    field: impl Into<String>,
    value: impl Display,
    accepted: impl Display,
) -> Result<(), OutOfBounds> {
    let error =
        || OutOfBounds { field: field.into(), value: format!("{value}"), accepted: format!("{accepted}") };
    if holds { Ok(()) } else { Err(error()) }
}

/// A value that a parameter cannot be set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The scenario's key.
    pub key: String,
    /// Why not.
    pub why: String,
}
