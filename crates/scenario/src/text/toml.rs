//! TOML with the places of its keys and values.

use std::ops::Range;

use num_bigint::BigInt;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::value::{Entry, Node, Place, Table, Value};
use crate::text::mistake::Mistake;

const ACCEPTED: &str = "TOML 1.0 (or JSON in a file named *.json)";

/// Reads a text of TOML.
pub fn parse(text: &str) -> Result<Table, Mistake> {
    let lines = Lines::of(text);
    let document = DeTable::parse(text).map_err(|error| {
        let place = error.span().map(|span| lines.place(text, &span));
        let reason = error.message().lines().collect::<Vec<_>>().join(", ");
        let reason = if reason.contains("recursion depth") { "nested too deeply".to_owned() } else { reason };
        Mistake::new(format!("is not TOML: {reason}")).place(place).accepted(ACCEPTED)
    })?;
    table(document.get_ref(), text, &lines)
}

/// Reads one value, as it stands after an equals sign.
pub fn parse_value(text: &str) -> Option<Value> {
    let document = parse(&format!("value = {text}")).ok()?;
    let [entry] = <[Entry; 1]>::try_from(document.entries).ok()?;
    let mut node = entry.node;
    forget_places(&mut node);
    Some(node.value)
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines(std::iter::once(0).chain(after).collect())
    }

    fn place(&self, text: &str, span: &Range<usize>) -> Place {
        let at = span.start.min(text.len());
        let line = self.0.partition_point(|&begin| begin <= at);
        let before = text.get(self.0[line - 1]..at).unwrap_or_default();
        Place { line, column: before.chars().count() + 1 }
    }
}

fn table(given: &DeTable<'_>, text: &str, lines: &Lines) -> Result<Table, Mistake> {
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &Spanned<std::borrow::Cow<'_, str>> = key;
        let place = Some(lines.place(text, &key.span()));
        Ok(Entry { name: key.get_ref().to_string(), place, node: node(value, text, lines)? })
    };
    let mut entries = given.iter().map(entry).collect::<Result<Vec<_>, Mistake>>()?;
    entries.sort_by_key(|entry| entry.place);
    Ok(Table { entries })
}

fn node(given: &Spanned<DeValue<'_>>, text: &str, lines: &Lines) -> Result<Node, Mistake> {
    let place = Some(lines.place(text, &given.span()));
    let refused =
        |reason: &str| Mistake::new(format!("is not TOML: {reason}")).place(place).accepted(ACCEPTED);
    let value = match given.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(flag) => Value::Flag(*flag),
        DeValue::Integer(number) => match i128::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::Whole(number),
            // the parser lets some through that are none, such as `1_0:`
            Err(_) => BigInt::parse_bytes(number.as_str().as_bytes(), number.radix())
                .map(|huge| Value::Huge(huge.to_string()))
                .ok_or_else(|| refused("invalid integer number"))?,
        },
        DeValue::Float(number) => {
            Value::Float(number.as_str().parse().map_err(|_| refused("invalid floating-point number"))?)
        }
        DeValue::Datetime(datetime) => Value::Other(datetime.to_string()),
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| node(item, text, lines)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(inner) => Value::Table(table(inner, text, lines)?),
    };
    Ok(Node { value, place })
}

fn forget_places(node: &mut Node) {
    node.place = None;
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(forget_places),
        Value::Table(table) => {
            for entry in &mut table.entries {
                entry.place = None;
                forget_places(&mut entry.node);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_know_their_places() {
        let table = parse("# é\n[run]\nduration = \"1 s\"\n\n[[flows]]\nrtt = '5 ms'\n").unwrap();
        let run = table.entry("run").unwrap();
        let duration = run.node.table().unwrap().entry("duration").unwrap();
        assert_eq!(duration.place, Some(Place { line: 3, column: 1 }));
        assert_eq!(duration.node.place, Some(Place { line: 3, column: 12 }));
        assert_eq!(table.entries[1].name, "flows");
    }

    #[test]
    fn wrong_syntax_names_its_place() {
        let cases = [("[run]\nduration 5\n", (2, 10)), ("a = 1\na = 2\n", (2, 1)), ("a = [\n", (1, 6))];
        for (text, (line, column)) in cases {
            let mistake = parse(text).unwrap_err();
            assert!(mistake.problem.starts_with("is not TOML: "), "{mistake}");
            assert_eq!(mistake.place, Some(Place { line, column }), "{mistake}");
        }
        let deep = parse(&format!("a = {}", "[".repeat(5_000))).unwrap_err();
        assert!(deep.problem.contains("nested too deeply"), "{deep}");
    }

    #[test]
    fn values_of_command_lines() {
        assert_eq!(parse_value("10"), Some(Value::Whole(10)));
        assert_eq!(
            parse_value("[1, 'a']").map(|value| crate::text::show::show(&value)),
            Some("[1, 'a']".into())
        );
        assert_eq!(parse_value("10 ms"), None);
        assert_eq!(parse_value("1\nb = 2"), None);
        assert_eq!(parse_value("1_0:"), None);
        let huge = format!("0x1{}", "0".repeat(32));
        assert_eq!(parse_value(&huge), Some(Value::Huge((BigInt::from(1) << 128_u32).to_string())));
    }
}
