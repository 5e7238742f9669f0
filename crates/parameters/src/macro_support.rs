//! What the macros' output refers to.

use std::slice::Iter;

pub use serde::de::{Deserialize, Deserializer, MapAccess};
pub use serde::ser::{Serialize, SerializeMap, Serializer};
pub use serde::{Deserialize as DeriveDeserialize, Serialize as DeriveSerialize};
pub use serde_json::Value;

use crate::{Field, OutOfBounds, Parameter};

/// The scenario's key of a field: the one given, else the name less its unit.
pub const fn key(name: &'static str, given: &[&'static str]) -> &'static str {
    const UNIT: &str = "_bytes";
    match given {
        [key, ..] => return key,
        [] if name.len() <= UNIT.len() => return name,
        [] => {}
    }
    let (start, mut unit) = name.as_bytes().split_at(name.len() - UNIT.len());
    let mut wanted = UNIT.as_bytes();
    while let ([a, more @ ..], [b, rest @ ..]) = (unit, wanted) {
        if *a != *b {
            return name;
        }
        (unit, wanted) = (more, rest);
    }
    name.split_at(start.len()).0
}

/// Whether the plan's key is that of a field of this name and type.
pub fn is_key_of<T: Field>(plan_key: &str, name: &str, _field: &T) -> bool {
    plan_key.strip_suffix(T::SUFFIX) == Some(name)
}

/// Writes a field to the plan.
///
/// # Errors
/// The map's own.
pub fn write_field<T: Field + Serialize, M: SerializeMap>(
    map: &mut M,
    name: &str,
    field: &T,
) -> Result<(), M::Error> {
    map.serialize_entry(&[name, T::SUFFIX].concat(), field)
}

/// Checks a field against the next parameter's bounds.
///
/// # Errors
/// If it is out of them.
pub fn check_field<T: Field>(table: &mut Iter<'_, Parameter>, field: &T) -> Result<(), OutOfBounds> {
    match table.next() {
        Some(parameter) => field.check(&parameter.plan_key(), &parameter.kind),
        None => Ok(()),
    }
}
