//! A table as text: TOML for files, JSON for programs.

use serde_json::{Map, Number};

use super::value::{Node, Table, Value};

const WIDTH: usize = 100;

/// TOML that reads as the same table. Keys without a value are left out, as TOML has no null.
pub fn toml(table: &Table) -> String {
    let mut text = String::new();
    section(table, "", &mut text);
    text
}

/// The same as JSON.
pub fn json(table: &Table) -> serde_json::Value {
    let pairs = table.entries.iter().map(|entry| (entry.name.clone(), json_value(&entry.node.value)));
    serde_json::Value::Object(pairs.collect::<Map<_, _>>())
}

pub fn json_value(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Flag(flag) => (*flag).into(),
        Value::Whole(number) => Number::from_i128(*number)
            .map_or_else(|| serde_json::Value::from(number.to_string()), serde_json::Value::Number),
        Value::Float(number) => (*number).into(),
        Value::Text(text) | Value::Huge(text) | Value::Other(text) => text.as_str().into(),
        Value::List(items) => items.iter().map(|item| json_value(&item.value)).collect(),
        Value::Table(table) => json(table),
    }
}

/// A value as it stands after an equals sign, on one line.
pub fn inline_toml(value: &Value) -> String {
    let mut text = String::new();
    inline(value, 0, &mut text);
    text
}

/// Plain keys first, then the tables below headers of their own.
fn section(table: &Table, header: &str, text: &mut String) {
    let given = || table.entries.iter().filter(|entry| entry.node.value != Value::Null);
    for entry in given().filter(|entry| !is_section(&entry.node)) {
        let begin = format!("{} = ", key(&entry.name));
        text.push_str(&begin);
        inline(&entry.node.value, begin.len(), text);
        text.push('\n');
    }
    for entry in given().filter(|entry| is_section(&entry.node)) {
        let name =
            if header.is_empty() { key(&entry.name) } else { format!("{header}.{}", key(&entry.name)) };
        let (tables, brackets): (Vec<&Table>, _) = match &entry.node.value {
            Value::List(items) => (items.iter().filter_map(Node::table).collect(), ("[[", "]]")),
            _ => (entry.node.table().into_iter().collect(), ("[", "]")),
        };
        for table in tables {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.extend([format!("{gap}{}{name}{}\n", brackets.0, brackets.1)]);
            section(table, &name, text);
        }
    }
}

/// Whether a value goes below a header: a table, or a list of tables.
fn is_section(node: &Node) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::List(items) => !items.is_empty() && items.iter().all(|item| item.table().is_some()),
        _ => false,
    }
}

fn inline(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Whole(number) => text.push_str(&number.to_string()),
        Value::Huge(digits) => text.push_str(digits),
        Value::Float(number) => text.push_str(&float(*number)),
        Value::Text(inner) => text.push_str(&quoted(inner)),
        Value::Other(inner) => text.push_str(inner),
        Value::Null => text.push_str("\"\""),
        Value::List(items) => list(items, indent, text),
        Value::Table(table) => {
            let given = table.entries.iter().filter(|entry| entry.node.value != Value::Null);
            let pairs = given.map(|entry| {
                let mut pair = format!("{} = ", key(&entry.name));
                inline(&entry.node.value, 0, &mut pair);
                pair
            });
            text.extend([format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))]);
        }
    }
}

fn list(items: &[Node], indent: usize, text: &mut String) {
    let items: Vec<String> = items
        .iter()
        .filter(|item| item.value != Value::Null)
        .map(|item| {
            let mut item_text = String::new();
            inline(&item.value, 0, &mut item_text);
            item_text
        })
        .collect();
    let one_line = format!("[{}]", items.join(", "));
    if indent + one_line.len() <= WIDTH {
        text.push_str(&one_line);
    } else {
        text.extend([format!("[\n    {},\n]", items.join(",\n    "))]);
    }
}

fn float(number: f64) -> String {
    if number.is_nan() {
        "nan".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        super::show::show_float(number)
    }
}

fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::toml as reading;

    #[test]
    fn what_is_written_reads_as_the_same() {
        let text = "[run]\nname = \"a\\\"b\"\nloss = 1e-05\n\n[links.queue]\ndiscipline = \"red\"\n\n[[flows]]\n\
                    path = [\"a\", \"b\"]\napplication = { kind = \"udp\", x = [] }\n\n[[flows]]\ncount = 3\n";
        let table = reading::parse(text).unwrap();
        let written = toml(&table);
        assert_eq!(json(&reading::parse(&written).unwrap()), json(&table));
        assert!(written.contains("[flows.application]") && written.contains("[links.queue]"), "{written}");
    }
}
