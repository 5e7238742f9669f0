//! Values with a grammar of their own.

use serde_json::{Value as Json, json};

use super::{Kind, Reading, Schemas};
use crate::quantity::empirical::Files;
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// A value that a function reads.
#[derive(Clone, Copy)]
pub struct Text<T> {
    /// Reads it.
    pub parse: fn(&Value, &dyn Files) -> Result<T, Mistake>,
    /// In the column "unit, values" of the documentation.
    pub words: &'static str,
    /// Its JSON Schema; a text if there is none.
    pub schema: Option<fn() -> Json>,
    /// Its type in a Python dictionary.
    pub python: &'static str,
}

impl<T> Text<T> {
    /// A text.
    pub const fn of(words: &'static str, parse: fn(&Value, &dyn Files) -> Result<T, Mistake>) -> Text<T> {
        Text { parse, words, schema: None, python: "str" }
    }
}

impl<T> Kind for Text<T> {
    type Read = T;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<T> {
        let read = (self.parse)(value, reading.files);
        reading.value(read)
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        self.schema.map_or_else(|| json!({"type": "string"}), |schema| schema())
    }

    fn words(&self) -> String {
        self.words.to_owned()
    }

    fn python(&self) -> String {
        self.python.to_owned()
    }
}
