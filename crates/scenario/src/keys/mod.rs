//! What a part of a scenario is made of: keys, each declared once with its type, its default and what it means.

mod declare;
mod kinds;
mod nested;
mod reading;
mod shown;
mod texts;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

pub(crate) use declare::part;
pub use kinds::{Choice, FLAG, Fraction, NAME, RATE, Size, TITLE, Time, Whole, WordOf, unknown};
pub use nested::{ListOf, ListOfEach, Names, TableOf};
pub use reading::{Reading, Slot, read_key};
pub use shown::{Shown, literal};
pub(crate) use shown::{shown, shown_as_words};
pub use texts::Text;

use reading::read_each;

use crate::text::mistake::Mistake;
use crate::text::value::{Table, Value};

/// What a key's value may be, and how it is read.
pub trait Kind {
    /// What is read.
    type Read;

    /// Reads a value; what is wrong with it is reported to `reading`.
    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Self::Read>;

    /// Its JSON Schema; `parts` takes the tables that it refers to.
    fn schema(&self, parts: &mut Schemas) -> Json;

    /// In the column "unit, values" of the documentation.
    fn words(&self) -> String;

    /// Its type in a Python dictionary.
    fn python(&self) -> String;
}

/// The schemas of parts by name.
pub type Schemas = BTreeMap<String, Json>;

/// Whether a key has to be given.
#[derive(Clone, Debug)]
pub enum Presence {
    /// It has to be.
    Required,
    /// It need not be; what that means, for the documentation.
    Absent(Cow<'static, str>),
    /// It has this value unless given.
    Given(Value),
}

/// The presence of a key that has to be given.
pub const REQUIRED: Presence = Presence::Required;

/// The presence of a key that need not be given, and what that means.
pub const fn absent(meaning: &'static str) -> Presence {
    Presence::Absent(Cow::Borrowed(meaning))
}

/// The presence of a key with a default.
pub fn given(value: impl Into<Value>) -> Presence {
    Presence::Given(value.into())
}

/// A key as declared, for documentation.
#[derive(Clone, Debug)]
pub struct Key {
    /// As files spell it.
    pub name: String,
    /// What it means, in sentences.
    pub doc: String,
    /// Whether it has to be given.
    pub presence: Presence,
    /// Its JSON Schema, without default and description.
    pub schema: Json,
    /// Its unit or values.
    pub words: String,
    /// Its type in a Python dictionary.
    pub python: String,
    /// Some values.
    pub examples: Vec<Value>,
}

impl Key {
    /// A key of a kind.
    pub fn new(
        name: &str,
        doc: &str,
        presence: Presence,
        kind: &impl Kind,
        examples: Vec<Value>,
        parts: &mut Schemas,
    ) -> Key {
        let (schema, words, python) = (kind.schema(parts), kind.words(), kind.python());
        Key { name: name.to_owned(), doc: one_line(doc), presence, schema, words, python, examples }
    }

    fn property(&self) -> Json {
        let mut property = match &self.schema {
            Json::Object(schema) => schema.clone(),
            _ => Map::new(),
        };
        property.insert("description".to_owned(), self.doc.clone().into());
        if let Presence::Given(default) = &self.presence {
            property.insert("default".to_owned(), crate::text::write::json_value(default));
        }
        let is_text = property.get("type") == Some(&json!("string")) && property.get("pattern").is_none();
        if is_text && !self.examples.is_empty() {
            property.insert(
                "examples".to_owned(),
                self.examples.iter().map(crate::text::write::json_value).collect(),
            );
        }
        Json::Object(property)
    }
}

/// A table of a scenario.
pub trait Part: Sized {
    /// Its name in the JSON Schema and in Python.
    const NAME: &'static str;
    /// What it is, in a sentence.
    const DOC: &'static str;
    /// The heading of docs/scenario.md that has its keys; the page itself if there is none.
    const HEADING: &'static str = "";

    /// Its keys in the order of the documentation; `parts` takes the tables that they refer to.
    fn keys(parts: &mut Schemas) -> Vec<Key>;

    /// Its fields as read, with their types in Python.
    fn fields() -> Vec<(&'static str, String)>;

    /// The names of its keys.
    fn key_names() -> Vec<&'static str>;

    /// Reads its keys from a table, whose unknown keys are refused already.
    fn read_keys(table: &Table, reading: &mut Reading<'_>) -> Option<Self>;

    /// The table as it is read, where something in it stands for more.
    fn prepared(table: &Table) -> Option<Table> {
        let _ = table;
        None
    }

    /// Reads it.
    fn read(value: &Value, reading: &mut Reading<'_>) -> Option<Self> {
        let table = match value {
            Value::Table(table) => table,
            Value::List(items) if items.iter().any(|item| item.table().is_some()) => {
                let accepted = "one table of keys, in single brackets";
                reading.refuse(Mistake::new("is a list").accepted(accepted));
                read_each(items, reading, Self::read);
                return None;
            }
            _ => {
                reading.refuse(Mistake::new("is not a table").value(value).accepted("a table of keys"));
                return None;
            }
        };
        let prepared = Self::prepared(table);
        let table = prepared.as_ref().unwrap_or(table);
        reading.table(table, &Self::key_names(), Self::HEADING, Self::read_keys)
    }
}

/// The schema of a part: an object with these keys and no others.
pub fn object_schema(doc: &str, keys: &[Key]) -> Json {
    let properties: Map<String, Json> = keys.iter().map(|key| (key.name.clone(), key.property())).collect();
    let is_required = |key: &&Key| matches!(key.presence, Presence::Required);
    let required: Vec<&str> = keys.iter().filter(is_required).map(|key| key.name.as_str()).collect();
    let mut schema = json!({
        "additionalProperties": false,
        "description": one_line(doc),
        "properties": properties,
        "type": "object",
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// A value as TOML writes it, for examples.
pub fn toml(text: &str) -> Value {
    crate::text::toml::parse_value(text).expect("an example is TOML")
}

/// A doc comment as one line of text.
pub fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads a part from a table that names its kind in the key `tag`.
pub fn tagged_table<P: Part>(tag: &'static str, table: &Table, reading: &mut Reading<'_>) -> Option<P> {
    let names: Vec<&str> = std::iter::once(tag).chain(P::key_names()).collect();
    reading.table(table, &names, P::HEADING, P::read_keys)
}

/// The schema of a table that names its kind in the key `tag`, and a reference to it.
pub fn tagged_schema(
    tag: (&str, &str),
    word: &str,
    name: &str,
    doc: &str,
    keys: &[Key],
    parts: &mut Schemas,
) -> Json {
    let mut schema = object_schema(doc, keys);
    schema["properties"][tag.0] = json!({"const": word, "description": tag.1, "type": "string"});
    let required: Vec<Json> = schema["required"].as_array().cloned().unwrap_or_default();
    schema["required"] = std::iter::once(json!(tag.0)).chain(required).collect();
    parts.insert(name.to_owned(), schema);
    json!({"$ref": format!("#/$defs/{name}")})
}
