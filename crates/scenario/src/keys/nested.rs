//! Lists and tables.

use std::marker::PhantomData;

use serde_json::{Value as Json, json};

use super::kinds::NAME;
use super::reading::read_each;
use super::{Kind, Part, Reading, Schemas, object_schema};
use crate::text::mistake::Mistake;
use crate::text::value::{Node, Value};

/// A list of names, with a least number of them.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// What they name, in the plural.
    pub of: &'static str,
    /// Least number of them.
    pub least: usize,
}

impl Kind for Names {
    type Read = Vec<String>;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Vec<String>> {
        let items = reading.value(list(value, self.least))?;
        read_each(items, reading, |item, reading| NAME.read(item, reading))
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        let mut schema = json!({"items": NAME.schema(parts), "type": "array"});
        if self.least > 0 {
            schema["minItems"] = json!(self.least);
        }
        schema
    }

    fn words(&self) -> String {
        format!("list of {}", self.of)
    }

    fn python(&self) -> String {
        "Sequence[str]".to_owned()
    }
}

/// A list of values of a kind.
#[derive(Clone, Copy, Debug)]
pub struct ListOfEach<K> {
    /// The kind of each.
    pub item: K,
    /// What they are, in the plural.
    pub of: &'static str,
}

impl<K: Kind> Kind for ListOfEach<K> {
    type Read = Vec<K::Read>;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Vec<K::Read>> {
        let items = reading.value(list(value, 0))?;
        read_each(items, reading, |item, reading| self.item.read(item, reading))
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        json!({"items": self.item.schema(parts), "type": "array"})
    }

    fn words(&self) -> String {
        format!("list of {}", self.of)
    }

    fn python(&self) -> String {
        format!("Sequence[{}]", self.item.python())
    }
}

/// A table with the keys of a part.
#[derive(Clone, Copy, Debug)]
pub struct TableOf<P>(PhantomData<P>);

impl<P: Part> TableOf<P> {
    /// Any of them.
    pub const fn any() -> TableOf<P> {
        TableOf(PhantomData)
    }
}

impl<P: Part> Kind for TableOf<P> {
    type Read = P;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<P> {
        P::read(value, reading)
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        if !parts.contains_key(P::NAME) {
            let keys = P::keys(parts);
            parts.insert(P::NAME.to_owned(), object_schema(P::DOC, &keys));
        }
        json!({"$ref": format!("#/$defs/{}", P::NAME)})
    }

    fn words(&self) -> String {
        "table".to_owned()
    }

    fn python(&self) -> String {
        format!("{}Dict", P::NAME)
    }
}

/// A list of tables with the keys of a part.
#[derive(Clone, Copy, Debug)]
pub struct ListOf<P> {
    /// Least number of them.
    pub least: usize,
    /// Most of them.
    pub most: usize,
    /// How files head them, where that is said.
    pub header: Option<&'static str>,
    part: PhantomData<P>,
}

impl<P: Part> ListOf<P> {
    /// From `least` to `most` of them.
    pub const fn within(least: usize, most: usize, header: Option<&'static str>) -> ListOf<P> {
        ListOf { least, most, header, part: PhantomData }
    }
}

impl<P: Part> Kind for ListOf<P> {
    type Read = Vec<P>;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Vec<P>> {
        if matches!(value, Value::Table(_)) {
            P::read(value, reading); // its own mistakes, too
        }
        let items = list(value, self.least).map_err(|mistake| match self.header {
            Some(header) if mistake.problem == "is not a list" => {
                mistake.accepted(format!("tables headed [[{header}]]"))
            }
            _ => mistake,
        });
        let items = reading.value(items)?;
        if items.len() > self.most {
            let mistake = Mistake::new("has too many items").value(value).accepted("a shorter list");
            reading.refuse(mistake);
            return None;
        }
        read_each(items, reading, P::read)
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        let mut schema = json!({"items": TableOf::<P>::any().schema(parts), "type": "array"});
        if self.least > 0 {
            schema["minItems"] = json!(self.least);
        }
        if self.most < usize::MAX {
            schema["maxItems"] = json!(self.most);
        }
        schema
    }

    fn words(&self) -> String {
        "list of tables".to_owned()
    }

    fn python(&self) -> String {
        format!("Sequence[{}Dict]", P::NAME)
    }
}

fn list(value: &Value, least: usize) -> Result<&[Node], Mistake> {
    match value {
        Value::List(items) if items.len() >= least => Ok(items),
        Value::List(_) => Err(Mistake::new("is empty").value(value).accepted("at least one item")),
        _ => Err(Mistake::new("is not a list").value(value).accepted("a list")),
    }
}
