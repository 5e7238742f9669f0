//! The plan's form of parameters: a map whose keys are the fields' names with their units.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

use crate::kind::Words;
use crate::table::{Parameter, Parameters};

/// Writes parameters.
///
/// # Errors
/// The serializer's own.
pub fn write<T: Parameters, S: Serializer>(parameters: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    parameters.write_fields(&mut map)?;
    map.end()
}

/// Reads parameters. What is not there has its default.
///
/// # Errors
/// If a required one is missing, one is there that is unknown, twice or of another type.
pub fn read<'de, T: Parameters, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(Reader(PhantomData))
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Parameters> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of parameters")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut parameters = T::default();
        let mut seen: Vec<String> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            if !parameters.read_field(&key, &mut map)? {
                return Err(A::Error::custom(unknown(&key, &T::table())));
            }
            seen.push(key);
        }
        let is_missing =
            |parameter: &&Parameter| parameter.is_required && !seen.iter().any(|key| parameter.is(key));
        match T::table().iter().find(is_missing) {
            Some(parameter) => {
                Err(A::Error::custom(format_args!("missing field `{}`", parameter.plan_key())))
            }
            None => Ok(parameters),
        }
    }
}

fn unknown(key: &str, table: &[Parameter]) -> String {
    let keys: Vec<_> = table.iter().map(|parameter| format!("`{}`", parameter.plan_key())).collect();
    let expected =
        if keys.is_empty() { "there are none".to_owned() } else { format!("expected {}", keys.join(", ")) };
    format!("unknown field `{key}`, {expected}")
}

/// Writes a word.
///
/// # Errors
/// The serializer's own.
pub fn write_word<W: Words, S: Serializer>(word: W, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&W::WORDS[word.index()].in_plan())
}

/// Reads a word.
///
/// # Errors
/// If it is not one of them.
pub fn read_word<'de, W: Words, D: Deserializer<'de>>(deserializer: D) -> Result<W, D::Error> {
    let given = String::deserialize(deserializer)?;
    let index = W::WORDS.iter().position(|word| word.in_plan() == given);
    index.map(|index| W::ALL[index]).ok_or_else(|| {
        let words: Vec<_> = W::WORDS.iter().map(|word| format!("`{}`", word.in_plan())).collect();
        D::Error::custom(format_args!("unknown variant `{given}`, expected one of {}", words.join(", ")))
    })
}
