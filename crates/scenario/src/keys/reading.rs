//! Reading of tables: every mistake is kept with its key and its place.

use super::{Kind, Presence, one_line};
use crate::quantity::empirical::Files;
use crate::text::mistake::{Mistake, Mistakes};
use crate::text::nearest::hint;
use crate::text::places::Places;
use crate::text::value::{Node, Table, Value};
use crate::text::write::inline_toml;

/// Keys that are often sought in another table than their own, and where they are.
const ELSEWHERE: [(&str, &str); 7] = [
    ("ecn", "a link's queue has it, such as queue = { discipline = \"codel\", ecn = true }"),
    ("buffer", "links have it: bottleneck.buffer"),
    ("queue", "links have it: bottleneck.queue"),
    ("mark_above", "links have it: bottleneck.mark_above"),
    ("congestion", "groups of flows have it: flows[0].congestion"),
    ("rtt", "groups of flows have it: flows[0].rtt"),
    ("warmup", "the run has it: run.warmup"),
];

/// Where a key is that the table does not have, as a hint.
fn elsewhere(written: &str) -> Option<String> {
    let found = ELSEWHERE.iter().find(|(key, _)| *key == written);
    found.map(|(_, place)| format!(" ({place})"))
}

/// Least likeness of a key that is suggested.
const KEY_CUTOFF: f64 = 0.5;
const LONGEST_KEY: usize = 64;

/// A scenario that is being read: where, and what was wrong so far.
pub struct Reading<'a> {
    /// Where the files are that a scenario names.
    pub files: &'a dyn Files,
    places: &'a Places,
    path: String,
    /// Keys that a misspelled one of this table was meant to be.
    meant: Vec<String>,
    mistakes: Vec<Mistake>,
}

impl<'a> Reading<'a> {
    /// Nothing read yet.
    pub fn new(files: &'a dyn Files, places: &'a Places) -> Reading<'a> {
        Reading { files, places, path: String::new(), meant: Vec::new(), mistakes: Vec::new() }
    }

    /// A reading that keeps its mistakes to itself.
    pub fn apart(&self) -> Reading<'a> {
        Reading::new(self.files, self.places)
    }

    /// Whether anything was wrong.
    pub fn has_failed(&self) -> bool {
        !self.mistakes.is_empty()
    }

    /// What was read, or all that was wrong.
    pub fn finish<T>(self, read: Option<T>) -> Result<T, Mistakes> {
        match read {
            Some(read) if self.mistakes.is_empty() => Ok(read),
            _ => Err(Mistakes::sorted(self.mistakes)),
        }
    }

    /// Notes a mistake of what is being read, or of a key below it if it names one.
    pub fn refuse(&mut self, mistake: Mistake) {
        let mistake = if self.path.is_empty() { mistake } else { mistake.below(&self.path) };
        let path = mistake.key.clone().unwrap_or_default();
        let place = if mistake.value.is_some() { self.places.value(&path) } else { self.places.key(&path) };
        self.mistakes.push(mistake.place(place));
    }

    /// Notes the mistake of a value, if it has one.
    pub fn value<T>(&mut self, read: Result<T, Mistake>) -> Option<T> {
        read.map_err(|mistake| self.refuse(mistake)).ok()
    }

    /// Reads what is below a key.
    pub fn below<T>(&mut self, segment: &str, read: impl FnOnce(&mut Reading<'a>) -> T) -> T {
        let length = self.path.len();
        if !self.path.is_empty() && !segment.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(segment);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Reads a table whose keys are known.
    pub fn table<T>(&mut self, table: &Table, known: &[&str], read: impl FnOnce(&mut Reading<'a>) -> T) -> T {
        let outer = std::mem::take(&mut self.meant);
        for entry in table.entries.iter().filter(|entry| !known.contains(&entry.name.as_str())) {
            let written: String = entry.name.chars().take(LONGEST_KEY).collect();
            let hint =
                elsewhere(&written).unwrap_or_else(|| hint(&written, known.iter().copied(), KEY_CUTOFF));
            self.meant.extend(hint.split('\'').nth(1).map(str::to_owned));
            let mistake = Mistake::new(format!("is not a known key{hint}")).accepted(known.join(", "));
            self.below(&entry.name, |reading| reading.refuse(mistake));
        }
        let result = read(self);
        self.meant = outer;
        result
    }

    /// Notes that a key is missing, unless a misspelled one was meant to be it.
    pub fn missing(&mut self, name: &str, doc: &str, accepted: &str) {
        if self.meant.iter().any(|meant| meant == name) {
            // its own mistake says so; that it leaves the table unread must not stay without one
            return;
        }
        let doc = one_line(doc);
        let problem = format!("is required ({})", doc.trim_end_matches('.'));
        self.below(name, |reading| reading.refuse(Mistake::new(problem).accepted(accepted)));
    }
}

/// A field of a part, from what was read of its key.
pub trait Slot<T>: Sized {
    /// The field; nothing if a value is needed and there is none.
    fn filled(read: Option<T>) -> Option<Self>;
}

impl<T> Slot<T> for T {
    fn filled(read: Option<T>) -> Option<T> {
        read
    }
}

impl<T> Slot<T> for Option<T> {
    fn filled(read: Option<T>) -> Option<Option<T>> {
        Some(read)
    }
}

/// Reads a key of a table: what it holds, or its default. Nothing at all if it is wrong or missing.
#[expect(clippy::option_option, reason = "a key that is wrong is another thing than one that is absent")]
pub fn read_key<K: Kind>(
    name: &str,
    doc: &str,
    kind: &K,
    presence: &Presence,
    examples: &dyn Fn() -> Vec<Value>,
    table: &Table,
    reading: &mut Reading<'_>,
) -> Option<Option<K::Read>> {
    if let Some(node) = table.get(name) {
        return reading.below(name, |reading| kind.read(&node.value, reading)).map(Some);
    }
    match presence {
        Presence::Absent(_) => Some(None),
        Presence::Given(value) => kind.read(value, reading).map(Some),
        Presence::Required => {
            reading.missing(name, doc, &accepted(&kind.words(), &examples()));
            None
        }
    }
}

/// What a key may hold, from its unit or values in the documentation and from its examples.
fn accepted(words: &str, examples: &[Value]) -> String {
    let words = if words.contains("](") { String::new() } else { words.replace('`', "") };
    let examples: Vec<String> = examples.iter().map(inline_toml).collect();
    let such = if examples.is_empty() { String::new() } else { format!("such as {}", examples.join(" or ")) };
    let parts: Vec<String> = [words, such].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Reads each item of a list; nothing if one is wrong.
pub fn read_each<T>(
    items: &[Node],
    reading: &mut Reading<'_>,
    read: impl Fn(&Value, &mut Reading<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let items = items.iter().enumerate();
    let read: Vec<Option<T>> = items
        .map(|(index, item)| reading.below(&format!("[{index}]"), |reading| read(&item.value, reading)))
        .collect();
    read.into_iter().collect()
}
