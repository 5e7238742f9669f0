//! The kinds of values that keys have.

use std::marker::PhantomData;

use bufferlab_parameters::Words;
use serde_json::{Value as Json, json};

use super::{Kind, Reading, Schemas};
use crate::quantity::{MAX_TIME_PS, meant_number, meant_whole, parse_rate, parse_size, parse_time};
use crate::text::meant::{FEW, Meant, meant_word, page, short_list};
use crate::text::mistake::Mistake;
use crate::text::show::{is_printable, show_float};
use crate::text::value::Value;

/// True or false.
#[derive(Clone, Copy, Debug)]
pub struct Flag;
/// A text of one line.
#[derive(Clone, Copy, Debug)]
pub struct Title;
/// The name of a link or group: it must be usable in a `--set` path.
#[derive(Clone, Copy, Debug)]
pub struct Name;
/// A rate of at least 1 bit/s.
#[derive(Clone, Copy, Debug)]
pub struct Rate;

/// See [`Flag`].
pub const FLAG: Flag = Flag;
/// See [`Title`].
pub const TITLE: Title = Title;
/// See [`Name`].
pub const NAME: Name = Name;
/// See [`Rate`].
pub const RATE: Rate = Rate;

const NAME_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_-]{0,63}$";

impl Kind for Flag {
    type Read = bool;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<bool> {
        let read = match *value {
            Value::Flag(flag) => Ok(flag),
            _ => Err(Mistake::new("is not true or false").value(value).accepted("true or false")),
        };
        reading.value(read)
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "boolean"})
    }

    fn words(&self) -> String {
        "true, false".to_owned()
    }

    fn python(&self) -> String {
        "bool".to_owned()
    }
}

impl Kind for Title {
    type Read = String;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<String> {
        let text = value
            .as_text()
            .filter(|text| (1..=200).contains(&text.chars().count()) && text.chars().all(is_printable));
        let refused = || {
            let accepted = "one line of text, 1 to 200 characters";
            Mistake::new("is not a usable title").value(value).accepted(accepted)
        };
        reading.value(text.map(str::to_owned).ok_or_else(refused))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "string", "minLength": 1, "maxLength": 200})
    }

    fn words(&self) -> String {
        "text".to_owned()
    }

    fn python(&self) -> String {
        "str".to_owned()
    }
}

impl Kind for Name {
    type Read = String;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<String> {
        let is_name = |text: &&str| {
            let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            starts && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        };
        let refused = || {
            let accepted = "a letter, then letters, digits, '_' or '-', at most 64";
            Mistake::new("is not a usable name").value(value).accepted(accepted)
        };
        let name = value.as_text().filter(is_name);
        reading.value(name.map(str::to_owned).ok_or_else(refused))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "string", "pattern": NAME_PATTERN})
    }

    fn words(&self) -> String {
        "letters, digits, `_`, `-`".to_owned()
    }

    fn python(&self) -> String {
        "str".to_owned()
    }
}

impl Kind for Rate {
    type Read = u64;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<u64> {
        reading.value(parse_rate(value))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "string"})
    }

    fn words(&self) -> String {
        "rate".to_owned()
    }

    fn python(&self) -> String {
        "str".to_owned()
    }
}

/// A length of time within bounds, in ps.
#[derive(Clone, Copy, Debug)]
pub struct Time {
    /// Shortest.
    pub least: u64,
    /// Longest.
    pub most: u64,
}

impl Time {
    /// At least so long.
    pub const fn from(least: u64) -> Time {
        Time { least, most: MAX_TIME_PS }
    }
}

impl Kind for Time {
    type Read = u64;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<u64> {
        reading.value(parse_time(value, self.least, self.most))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "string"})
    }

    fn words(&self) -> String {
        "time".to_owned()
    }

    fn python(&self) -> String {
        "str".to_owned()
    }
}

/// A size within bounds, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Smallest.
    pub least: u64,
    /// Largest.
    pub most: u64,
}

impl Kind for Size {
    type Read = u64;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<u64> {
        reading.value(parse_size(value, self.least, self.most))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "string"})
    }

    fn words(&self) -> String {
        "size".to_owned()
    }

    fn python(&self) -> String {
        "str".to_owned()
    }
}

/// A whole number within bounds.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Smallest.
    pub least: u64,
    /// Largest.
    pub most: u64,
    /// What it counts, for messages.
    pub noun: &'static str,
}

impl Whole {
    /// Checks a whole number against the bounds.
    pub fn check(&self, value: &Value) -> Result<u64, Mistake> {
        let refused = |problem: &str| {
            let accepted = format!("{}: a whole number of {} to {}", self.noun, self.least, self.most);
            Err(Mistake::new(problem).value(value).accepted(accepted))
        };
        let number = match value {
            Value::Whole(number) => *number,
            Value::Huge(digits) if digits.starts_with('-') => i128::MIN,
            Value::Huge(_) => i128::MAX,
            _ => return refused(&format!("is not a whole number{}", meant_whole(value))),
        };
        match u64::try_from(number) {
            Ok(number) if (self.least..=self.most).contains(&number) => Ok(number),
            Err(_) if number < 0 => refused("is negative"),
            Ok(number) if number < self.least => refused("is too small"),
            _ => refused("is too large"),
        }
    }
}

impl Kind for Whole {
    type Read = u64;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<u64> {
        reading.value(self.check(value))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "integer", "minimum": self.least, "maximum": self.most})
    }

    fn words(&self) -> String {
        if self.most <= 1 << 16 {
            format!("{} to {}", self.least, self.most)
        } else {
            "whole number".to_owned()
        }
    }

    fn python(&self) -> String {
        "int".to_owned()
    }
}

/// A number from 0 to `most`.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    /// Largest.
    pub most: f64,
    /// Whether that is accepted itself.
    pub inclusive: bool,
    /// What it is, for messages.
    pub noun: &'static str,
}

impl Kind for Fraction {
    type Read = f64;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<f64> {
        let (noun, most) = (self.noun, show_float(self.most));
        let most = most.trim_end_matches(".0");
        let accepted = if self.inclusive {
            format!("{noun}: a number of 0 to {most}")
        } else {
            format!("{noun}: 0 or more, below {most}")
        };
        let refused = |problem: &str| Err(Mistake::new(problem).value(value).accepted(accepted));
        let read = match *value {
            Value::Whole(number) => Some(number as f64),
            Value::Huge(_) => Some(f64::INFINITY),
            Value::Float(number) => Some(number),
            _ => None,
        };
        let is_within =
            |number: f64| 0.0 <= number && number <= self.most && (self.inclusive || number < self.most);
        let read = match read {
            Some(number) if is_within(number) => Ok(number),
            Some(_) => refused("is out of bounds"),
            None => refused(&format!("is not a number{}", meant_number(value))),
        };
        reading.value(read)
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        let top = if self.inclusive { "maximum" } else { "exclusiveMaximum" };
        json!({"type": "number", "minimum": 0, top: self.most})
    }

    fn words(&self) -> String {
        let most = show_float(self.most);
        format!("0 to {}{}", if self.inclusive { "" } else { "below " }, most.trim_end_matches(".0"))
    }

    fn python(&self) -> String {
        "float".to_owned()
    }
}

/// The mistake of a value that is none of the known words, or of none where one is needed; `heading` of the documentation
/// has them all.
pub fn unknown(noun: &str, value: Option<&Value>, known: &[&str], heading: &str) -> Mistake {
    let Some(value) = value else { return Mistake::new("is required").accepted(known.join(", ")) };
    let written = value.as_text().unwrap_or_default();
    let meant = meant_word(written, known);
    let hint = meant.map_or(String::new(), |word| Meant::Word(word).hint());
    let accepted =
        if known.len() > FEW { short_list(written, meant, known, &page(heading)) } else { known.join(", ") };
    Mistake::new(format!("is not a known {noun}{hint}")).value(value).accepted(accepted)
}

/// One of some words, which stand for something.
#[derive(Clone, Copy, Debug)]
pub struct WordOf(pub &'static [&'static str]);

impl WordOf {
    /// The place of the word among them.
    pub fn index(self, value: &Value) -> Result<usize, Mistake> {
        let index = value.as_text().and_then(|text| self.0.iter().position(|word| *word == text));
        index.ok_or_else(|| unknown("word", Some(value), self.0, ""))
    }
}

impl Kind for WordOf {
    type Read = &'static str;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<&'static str> {
        reading.value(self.index(value)).map(|index| self.0[index])
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"enum": self.0})
    }

    fn words(&self) -> String {
        let quoted: Vec<String> = self.0.iter().map(|word| format!("`{word}`")).collect();
        quoted.join(", ")
    }

    fn python(&self) -> String {
        let quoted: Vec<String> = self.0.iter().map(|word| format!("\"{word}\"")).collect();
        format!("Literal[{}]", quoted.join(", "))
    }
}

/// One of the words of `W`.
#[derive(Clone, Copy, Debug)]
pub struct Choice<W>(PhantomData<W>);

impl<W: Words> Choice<W> {
    /// Any of them.
    pub const fn any() -> Choice<W> {
        Choice(PhantomData)
    }

    fn words() -> WordOf {
        let words: Vec<&'static str> = W::WORDS.iter().map(|word| word.word).collect();
        WordOf(words.leak())
    }
}

impl<W: Words> Kind for Choice<W> {
    type Read = W;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<W> {
        reading.value(Self::words().index(value)).map(|index| W::ALL[index])
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        Self::words().schema(parts)
    }

    fn words(&self) -> String {
        Kind::words(&Self::words())
    }

    fn python(&self) -> String {
        Self::words().python()
    }
}
