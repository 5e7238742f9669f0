//! The tables of docs/scenario.md, between markers.

use bufferlab_congestion::NamedControl;
use serde::Serialize;
use serde_json::Value as Json;

use crate::keys::{Key, Part, Presence, Schemas};
use crate::parts::advise::{Advise, Weights};
use crate::parts::application::applications;
use crate::parts::flow::Flow;
use crate::parts::host::{HOSTS, Host};
use crate::parts::link::Link;
use crate::parts::memory::Memory;
use crate::parts::probes::Probes;
use crate::parts::queue::{described_words, disciplines};
use crate::parts::run::Run;
use crate::parts::stack::STACKS;
use crate::parts::tcp_keys::TcpKeys;
use crate::quantity::format::{format_rate, format_time};
use crate::text::write::inline_toml;

/// A page with its generated tables written anew: what stands between `<!-- generated: NAME -->` and
/// `<!-- end of generated -->`.
///
/// # Errors
/// If a marker names no table, or is not ended.
pub fn fill_in(page: &str) -> Result<String, String> {
    const BEGIN: &str = "<!-- generated: ";
    const END: &str = "<!-- end of generated -->";
    let mut filled = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGIN) {
        let (name, after) = after.split_once(" -->\n").ok_or("a marker is not closed")?;
        let (_, after) = after.split_once(END).ok_or_else(|| format!("the table '{name}' is not ended"))?;
        let table = table(name).ok_or_else(|| format!("there is no table '{name}'"))?;
        filled.extend([format!("{before}{BEGIN}{name} -->\n{table}{END}")]);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn table(name: &str) -> Option<String> {
    let parts = &mut Schemas::new();
    let own = |keys: Vec<Key>| -> Vec<Key> {
        let inner = TcpKeys::key_names();
        keys.into_iter().filter(|key| !inner.contains(&key.name.as_str())).collect()
    };
    Some(match name {
        "run" => keys_table(&Run::keys(parts)),
        "links" => keys_table(&Link::keys(parts)),
        "flows" => keys_table(&own(Flow::keys(parts))),
        "memories" => keys_table(&Memory::keys(parts)),
        "host" => keys_table(&Host::keys(parts)),
        "probes" => keys_table(&Probes::keys(parts)),
        "advise" => keys_table(&Advise::keys(parts)),
        "weights" => keys_table(&Weights::keys(parts)),
        "tcp" => tcp_table(&TcpKeys::keys(parts)),
        "queues" => {
            let kinds =
                disciplines(parts).into_iter().map(|(word, _, keys)| (word, keys)).collect::<Vec<_>>();
            kinds_table("discipline", "discipline", "\"codel\"", "name of the queue discipline", &kinds)
        }
        "applications" => {
            let kinds =
                applications(parts).into_iter().map(|(word, _, _, keys)| (word, keys)).collect::<Vec<_>>();
            kinds_table("kind", "of kind", "\"udp\"", "what sends, see below", &kinds)
        }
        "queue words" => with_head(
            "| `queue` | what it is |",
            described_words().iter().map(|(word, doc)| format!("| `{word}` | {} |", meaning(doc))),
        ),
        "controls" => controls_table(),
        "stacks" => presets_table(&TcpKeys::keys(parts), &*STACKS),
        "hosts" => presets_table(&Host::keys(parts), &*HOSTS),
        _ => return None,
    })
}

fn keys_table(keys: &[Key]) -> String {
    let rows = keys.iter().map(|key| format!("| `{}` | {} |", key.name, cells(key).join(" | ")));
    with_head("| key | unit, values | default | example | meaning |", rows)
}

/// Keys that every stack has a default of.
fn tcp_table(keys: &[Key]) -> String {
    let rows = keys
        .iter()
        .map(|key| format!("| `{}` | {} | {} | {} |", key.name, key.words, examples(key), meaning(&key.doc)));
    with_head("| key | unit, values | example | meaning |", rows)
}

/// The keys of several kinds of a table; kinds that have the same key share a row.
fn kinds_table(tag: &str, column: &str, example: &str, doc: &str, kinds: &[(&str, Vec<Key>)]) -> String {
    let words: Vec<String> = kinds.iter().map(|(word, _)| format!("`{word}`")).collect();
    let mut rows: Vec<(String, Vec<&str>, String)> = Vec::new();
    for (word, keys) in kinds {
        for key in keys {
            let cells = cells(key).join(" | ");
            match rows.iter_mut().find(|(name, _, known)| *name == key.name && *known == cells) {
                Some((_, of, _)) => of.push(word),
                None => rows.push((key.name.clone(), vec![word], cells)),
            }
        }
    }
    let first = format!("| `{tag}` | | {} | required | `{example}` | {doc} |", words.join(", "));
    let rows = rows.iter().map(|(name, of, cells)| format!("| `{name}` | {} | {cells} |", of.join(", ")));
    with_head(
        &format!("| key | {column} | unit, values | default | example | meaning |"),
        std::iter::once(first).chain(rows),
    )
}

/// What a control's doc comment says before "Source:" and after it.
fn controls_table() -> String {
    let rows = NamedControl::described().into_iter().map(|(words, doc)| {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let (what, source) = doc.split_once(" Source: ").unwrap_or((doc, ""));
        format!("| {} | {} | {} |", words.join(", "), meaning(what), source.trim_end_matches('.'))
    });
    with_head("| `congestion` | what it is | source |", rows)
}

fn presets_table<P: Serialize>(keys: &[Key], presets: &[(&str, P)]) -> String {
    let presets: Vec<(&str, Json)> = presets
        .iter()
        .map(|(name, preset)| (*name, serde_json::to_value(preset).unwrap_or_default()))
        .collect();
    let rows = keys.iter().map(|key| {
        let values = presets.iter().map(|(_, preset)| {
            let fields = preset.as_object().into_iter().flatten();
            let unit = |field: &str| field.strip_prefix(&key.name).map(str::to_owned);
            let found = fields.filter_map(|(field, value)| unit(field).map(|unit| (unit, value)));
            let found = found.min_by_key(|(unit, _)| unit.len());
            found.map_or(String::new(), |(unit, value)| written(&unit, value))
        });
        format!("| `{}` | {} |", key.name, values.collect::<Vec<_>>().join(" | "))
    });
    let names: Vec<String> = presets.iter().map(|(name, _)| format!("`{name}`")).collect();
    with_head(&format!("| key | {} |", names.join(" | ")), rows)
}

fn written(unit: &str, value: &Json) -> String {
    match (unit, value) {
        ("_ps", Json::Number(number)) => format_time(number.as_u64().unwrap_or_default()),
        ("_bytes", number) => format!("{number} B"),
        ("_bps", Json::Number(number)) => format_rate(number.as_u64().unwrap_or_default()),
        (_, Json::Null) => "none".to_owned(),
        (_, Json::String(text)) => text.replace('_', "-"),
        (_, Json::Object(law)) => law.get("text").and_then(Json::as_str).unwrap_or_default().to_owned(),
        (_, other) => other.to_string(),
    }
}

fn cells(key: &Key) -> [String; 4] {
    let default = match &key.presence {
        Presence::Required => "required".to_owned(),
        Presence::Absent(meaning) => meaning.to_string(),
        Presence::Given(value) => match inline_toml(value).as_str() {
            "[]" => "none".to_owned(),
            text => format!("`{text}`"),
        },
    };
    [key.words.clone(), default, examples(key), meaning(&key.doc)]
}

fn examples(key: &Key) -> String {
    let written: Vec<String> = key.examples.iter().map(|value| format!("`{}`", inline_toml(value))).collect();
    written.join(", ")
}

/// A doc comment as a cell: without a capital, unless the word is one of capitals, and without the last full stop.
fn meaning(doc: &str) -> String {
    let doc = doc.trim_end_matches('.').replace('|', "\\|");
    let mut letters = doc.chars();
    let first = letters.next().map(|first| first.to_lowercase().collect::<String>()).unwrap_or_default();
    let capitals = doc.split(' ').next().unwrap_or_default().chars().filter(|c| c.is_uppercase()).count();
    let keeps_capital = capitals > 1;
    if keeps_capital { doc } else { format!("{first}{}", letters.as_str()) }
}

fn with_head(head: &str, rows: impl Iterator<Item = String>) -> String {
    let columns = head.matches(" | ").count() + 1;
    let rule = format!("|{}", " --- |".repeat(columns));
    let lines: Vec<String> = [head.to_owned(), rule].into_iter().chain(rows).collect();
    format!("{}\n", lines.join("\n"))
}
