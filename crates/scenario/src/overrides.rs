//! Changes to a scenario by path: `links.bottleneck.rate`, `flows.short.count`, `flows[0].rtt`.

use crate::parts::queue::table_of;
use crate::text::mistake::Mistake;
use crate::text::plain::check_plain;
use crate::text::toml;
use crate::text::value::{Node, Table, Value};

/// What stands for the file in messages about overrides.
pub const SOURCE: &str = "--set";
/// Stems of the names of links and groups that are given none: link0, flows0.
const STEMS: [(&str, &str); 2] = [("links", "link"), ("flows", "flows")];
const ACCEPTED: &str =
    "a path such as run.duration, links.bottleneck.rate, flows.short.count or flows[0].rtt";
const LONGEST_VALUE: usize = 10_000;
const LONGEST_PATH: usize = 500;
const MOST_LISTED: usize = 20;

/// Splits "path=value" as a command line has it.
///
/// # Errors
/// If there is no path or no equals sign.
pub fn split_override(text: &str) -> Result<(String, String), Mistake> {
    match text.split_once('=') {
        Some((path, value)) if !path.trim().is_empty() => {
            Ok((path.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err(Mistake::new("is not an override").file(Some(SOURCE)).text(text).accepted("path=value")),
    }
}

/// Reads a value from a command line: TOML where it is TOML (10, true, [1, 2]), else the text itself.
pub fn parse_value(text: &str) -> Value {
    let is_line = text.chars().count() <= LONGEST_VALUE && !text.contains(['\n', '\r']);
    let read = is_line.then(|| toml::parse_value(text)).flatten();
    // a date, which no key takes, is a text
    read.filter(|value| check_plain(&Table::of([("value", value.clone())])).is_ok())
        .unwrap_or_else(|| Value::text(text))
}

/// A copy of a scenario's table with overrides applied in their order, and the mistakes of those that cannot be.
///
/// Texts are read as on a command line: "10" is a number, "10 ms" a text. Tables that are missing on the way are made, a
/// queue in one word becomes its table, list items must exist.
pub fn apply(table: &Table, overrides: &Table) -> (Table, Vec<Mistake>) {
    let mut changed = table.clone();
    let mut mistakes = Vec::new();
    for entry in &overrides.entries {
        let value = match &entry.node.value {
            Value::Text(text) => parse_value(text),
            value => value.clone(),
        };
        let assigned = check_plain(&Table::of([("value", value.clone())])).and_then(|()| {
            let segments = segments(&entry.name, &changed)?;
            assign(&mut changed, &segments, value)
        });
        if let Err(mistake) = assigned {
            mistakes.push(mistake.key(&entry.name).file(Some(SOURCE)));
        }
    }
    (changed, mistakes)
}

/// The mistake as one of the last override that gave what it is about, if one did: with the path as it was written.
///
/// `table` is the scenario with the overrides applied.
pub fn attributed(mistake: Mistake, table: &Table, overrides: &Table) -> Mistake {
    let about = mistake.key.clone().filter(|_| mistake.file.is_none()).and_then(|key| {
        let mut latest_first = overrides.entries.iter().rev();
        latest_first.find_map(|entry| {
            let rest = key.strip_prefix(&canonical(&entry.name, table)?)?;
            let is_within = rest.is_empty() || rest.starts_with(['.', '[']);
            is_within.then(|| format!("{}{rest}", entry.name.trim()))
        })
    });
    match about {
        Some(key) => mistake.key(key).file(Some(SOURCE)).without_place(),
        None => mistake,
    }
}

/// A path as messages write it, with positions for names: `flows[0].rtt` for `flows.short.rtt`.
fn canonical(path: &str, table: &Table) -> Option<String> {
    let segments = segments(path, table).ok()?;
    let (first, rest) = segments.split_first()?;
    let (mut written, mut parent, mut node) = (vec![first.clone()], first, table.get(first));
    for segment in rest {
        if let Some(Value::List(items)) = node.map(|node| &node.value) {
            let position = index(items, segment, parent).ok()?;
            written.push(format!("[{position}]"));
            node = items.get(position);
        } else {
            written.push(format!(".{segment}"));
            node = node.and_then(Node::table).and_then(|table| table.get(segment));
        }
        parent = segment;
    }
    Some(written.concat())
}

fn segments(path: &str, table: &Table) -> Result<Vec<String>, Mistake> {
    let mut found = Vec::new();
    for part in path.split('.') {
        let part = Some(part.trim()).filter(|_| path.chars().count() < LONGEST_PATH).and_then(split_indices);
        found.extend(part.ok_or_else(|| Mistake::new("is not a path").accepted(ACCEPTED))?);
    }
    short_form(found, table)
}

/// A name and the indices that follow it: `flows[0]`.
fn split_indices(part: &str) -> Option<Vec<String>> {
    let (name, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
    let is_name = (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    let mut found = vec![is_name.then(|| name.to_owned())?];
    while !rest.is_empty() {
        let (index, after) = rest.strip_prefix('[')?.split_once(']')?;
        let is_index = (1..=7).contains(&index.len()) && index.bytes().all(|b| b.is_ascii_digit());
        found.push(is_index.then(|| index.to_owned())?);
        rest = after;
    }
    Some(found)
}

/// Lets `links.bottleneck` and `bottleneck` mean the same in both forms of a scenario.
fn short_form(segments: Vec<String>, table: &Table) -> Result<Vec<String>, Mistake> {
    let has = |key: &str| table.entry(key).is_some();
    match segments.as_slice() {
        [first, name, rest @ ..] if first == "links" && has("bottleneck") && !has("links") => {
            let link = table.get("bottleneck").and_then(Node::table);
            let known = link.and_then(|link| link.text("name")).unwrap_or("bottleneck");
            if name != known && name != "0" {
                return Err(Mistake::new(format!("names no link '{name}'")).accepted(known));
            }
            Ok(std::iter::once("bottleneck".to_owned()).chain(rest.iter().cloned()).collect())
        }
        [first, _, ..] if first == "bottleneck" && !has("bottleneck") && has("links") => {
            Ok(std::iter::once("links".to_owned()).chain(segments.iter().cloned()).collect())
        }
        _ => Ok(segments),
    }
}

fn assign(table: &mut Table, segments: &[String], value: Value) -> Result<(), Mistake> {
    let [first, rest @ ..] = segments else { return Ok(()) };
    if rest.is_empty() {
        table.set(first, Node::new(value));
        return Ok(());
    }
    if table.entry(first).is_none() {
        table.set(first, Node::new(Value::Table(Table::default())));
    }
    let entry = table.entries.iter_mut().find(|entry| entry.name == *first);
    entry.map_or(Ok(()), |entry| assign_in(&mut entry.node, first, rest, value))
}

fn assign_in(node: &mut Node, parent: &str, segments: &[String], value: Value) -> Result<(), Mistake> {
    let [segment, rest @ ..] = segments else {
        *node = Node::new(value);
        return Ok(());
    };
    let in_a_word = node.value.as_text().filter(|_| parent == "queue").and_then(table_of);
    if let Some(table) = in_a_word {
        *node = Node::new(Value::Table(table));
    }
    match &mut node.value {
        Value::Table(table) => assign(table, segments, value),
        Value::List(items) => {
            let index = index(items, segment, parent)?;
            assign_in(&mut items[index], segment, rest, value)
        }
        _ => {
            let problem = format!("leads into a value that is no table, before '{segment}'");
            Err(Mistake::new(problem).accepted(ACCEPTED))
        }
    }
}

/// Position of a list's item, given by number or by name.
fn index(items: &[Node], segment: &str, parent: &str) -> Result<usize, Mistake> {
    if segment.bytes().all(|byte| byte.is_ascii_digit()) {
        return segment.parse().ok().filter(|&index| index < items.len()).ok_or_else(|| {
            let accepted = match items.len() {
                0 => "nothing, the list is empty".to_owned(),
                1 => "0, the only item".to_owned(),
                count => format!("0 to {}", count - 1),
            };
            Mistake::new(format!("has no item {segment}")).accepted(accepted)
        });
    }
    let names = names(items, parent);
    names.iter().position(|name| name == segment).ok_or_else(|| {
        let listed = names.iter().take(MOST_LISTED).cloned().collect::<Vec<_>>().join(", ");
        let accepted = if listed.is_empty() { "an index".to_owned() } else { listed };
        Mistake::new(format!("names nothing called '{segment}'")).accepted(accepted)
    })
}

/// The names of a list's items, given or by default.
pub fn names(items: &[Node], list: &str) -> Vec<String> {
    let stem = STEMS.iter().find(|(known, _)| *known == list).map_or("item", |(_, stem)| stem);
    let name = |(index, item): (usize, &Node)| {
        let given = item.table().and_then(|table| table.text("name"));
        given.map_or_else(|| format!("{stem}{index}"), str::to_owned)
    };
    items.iter().enumerate().map(name).collect()
}
