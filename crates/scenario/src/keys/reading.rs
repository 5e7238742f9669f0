//! Reading of tables: every mistake is kept with its key and its place.

use super::{Kind, Presence, one_line};
use crate::quantity::empirical::Files;
use crate::text::meant::{Meant, meant_key, page, short_list};
use crate::text::mistake::{Mistake, Mistakes};
use crate::text::places::Places;
use crate::text::value::{Node, Table, Value};
use crate::text::write::inline_toml;

/// A scenario that is being read: where, and what was wrong so far.
pub struct Reading<'a> {
    /// Where the files are that a scenario names.
    pub files: &'a dyn Files,
    places: &'a Places,
    path: String,
    /// Keys of this table that another word stands for, with that word.
    renamed: Vec<(String, String)>,
    mistakes: Vec<Mistake>,
}

impl<'a> Reading<'a> {
    /// Nothing read yet.
    pub fn new(files: &'a dyn Files, places: &'a Places) -> Reading<'a> {
        Reading { files, places, path: String::new(), renamed: Vec::new(), mistakes: Vec::new() }
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
        let written =
            self.renamed.iter().find(|(key, _)| key == segment).map(|(_, written)| written.as_str());
        self.path.push_str(written.unwrap_or(segment));
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Reads a table whose keys are known, and documented under a heading. What stands under a key that is not known is read
    /// as that of the key which was meant.
    pub fn table<T>(
        &mut self,
        table: &Table,
        known: &[&str],
        heading: &str,
        read: impl FnOnce(&Table, &mut Reading<'a>) -> T,
    ) -> T {
        let mut meant_table = table.clone();
        let mut renamed = Vec::new();
        for entry in meant_table.entries.iter_mut().filter(|entry| !known.contains(&entry.name.as_str())) {
            let meant = meant_key(&entry.name, &entry.node.value, known);
            self.refuse_key(&entry.name, meant.as_ref(), known, heading);
            let Some(Meant::Word(key)) = meant else { continue };
            if table.get(key).is_none() && renamed.iter().all(|(other, _)| other != key) {
                renamed.push((key.to_owned(), std::mem::replace(&mut entry.name, key.to_owned())));
            }
        }
        let outer = std::mem::replace(&mut self.renamed, renamed);
        let result = read(&meant_table, self);
        self.renamed = outer;
        result
    }

    fn refuse_key(&mut self, written: &str, meant: Option<&Meant<'_>>, known: &[&str], heading: &str) {
        let hint = meant.map_or(String::new(), Meant::hint);
        let word = if let Some(Meant::Word(word)) = meant { Some(*word) } else { None };
        let accepted = short_list(written, word, known, &page(heading));
        let mistake = Mistake::new(format!("is not a known key{hint}")).accepted(accepted);
        self.below(written, |reading| reading.refuse(mistake));
    }

    /// Notes that none or both of two keys are given; `accepted` says how each is written.
    pub fn either(&mut self, table: &Table, [one, other, accepted]: [&str; 3]) {
        if table.get(one).is_some() == table.get(other).is_some() {
            let problem = format!("needs either {one} or {other}");
            self.refuse(Mistake::new(problem).accepted(accepted));
        }
    }

    /// Notes that a key is missing.
    pub fn missing(&mut self, name: &str, doc: &str, accepted: &str) {
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
