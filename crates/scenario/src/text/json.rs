//! JSON whose outermost value is an object; a key that is given twice is an error.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::value::{Entry, Node, Place, Table, Value};
use crate::text::mistake::Mistake;

/// What an error of a key that is given twice begins with; the key follows.
const TWICE: &str = "given twice: ";

/// Reads a text of JSON.
pub fn parse(text: &str) -> Result<Table, Mistake> {
    match parse_value(text)? {
        Value::Table(table) => Ok(table),
        other => {
            Err(Mistake::new("is not a scenario").value(&other).accepted("a table with run, links and flows"))
        }
    }
}

/// Reads a text of JSON whatever its outermost value is.
pub fn parse_value(text: &str) -> Result<Value, Mistake> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = AnyValue.deserialize(&mut deserializer);
    read.and_then(|value| deserializer.end().map(|()| value)).map_err(|error| mistake(&error, text))
}

fn mistake(error: &serde_json::Error, text: &str) -> Mistake {
    let place = Some(Place { line: error.line(), column: error.column().max(1) });
    let whole = error.to_string();
    let reason = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(reason, _)| reason);
    if let Some(key) = reason.strip_prefix(TWICE) {
        return Mistake::new("is given twice").key(key).place(place).accepted("each key once");
    }
    if reason.contains("recursion limit") {
        return Mistake::new("is not JSON: nested too deeply").place(place).accepted("at most 12 levels");
    }
    let constants = ["NaN", "Infinity", "-Infinity"];
    let at = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    let from = at.get(error.column().saturating_sub(2)..).unwrap_or_default();
    if let Some(word) =
        constants.into_iter().find(|word| from.starts_with(word) || at.contains(&format!(" {word}")))
    {
        return Mistake::new("is not a number of JSON").text(word).place(place).accepted("finite numbers");
    }
    Mistake::new(format!("is not JSON: {reason}"))
        .place(place)
        .accepted("JSON (or TOML in a file named *.toml)")
}

struct AnyValue;

impl<'de> DeserializeSeed<'de> for AnyValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Float(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = items.next_element_seed(AnyValue)? {
            list.push(Node::new(value));
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut table = Table::default();
        while let Some(name) = items.next_key::<String>()? {
            if table.entry(&name).is_some() {
                return Err(A::Error::custom(format!("{TWICE}{name}")));
            }
            let node = Node::new(items.next_value_seed(AnyValue)?);
            table.entries.push(Entry { name, place: None, node });
        }
        Ok(Value::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_syntax_is_named() {
        let cases = [
            (r#"{"run": "#, "line 1, column 8: is not JSON: EOF while parsing a value; accepted: JSON"),
            ("[1]", "[1] is not a scenario; accepted: a table with run, links and flows"),
            (r#"{"a": NaN}"#, "'NaN' is not a number of JSON"),
            (r#"{"a": 1, "a": 2}"#, "a: is given twice; accepted: each key once"),
        ];
        for (text, expected) in cases {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
        let deep = parse(&"[".repeat(100_000)).unwrap_err().to_string();
        assert!(deep.contains("nested too deeply"), "{deep}");
    }

    #[test]
    fn keys_keep_their_order() {
        let table = parse(r#"{"b": 1, "a": null}"#).unwrap();
        let names: Vec<&str> = table.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert!(table.get("a").is_none());
    }
}
