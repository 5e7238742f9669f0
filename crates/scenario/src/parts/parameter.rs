//! Parameters that are declared beside their algorithm, as keys of a scenario.

use std::collections::BTreeMap;

use bufferlab_parameters::{Kind as ParameterKind, Kinds, Parameter, Parameters};
use bufferlab_qdisc::DisciplineConfig;
use bufferlab_transport::TcpConfig;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::keys::{
    FLAG, Fraction, Key, Kind, Presence, RATE, Reading, Schemas, Shown, Size, Time, Whole, WordOf, literal,
    one_line,
};
use crate::quantity::buffer::{Buffer, parse_threshold};
use crate::quantity::format::format_time;
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// What a parameter was given.
pub enum Held {
    /// The plan's form of it.
    Plan(Json),
    /// A threshold of the backlog, whose word may depend on the traffic.
    Threshold(Buffer),
}

/// How scenarios write a parameter.
pub fn kind_of(parameter: &Parameter) -> Of {
    Of(parameter.kind)
}

/// A parameter's kind as a key's.
#[derive(Clone, Copy, Debug)]
pub struct Of(ParameterKind);

impl Kind for Of {
    type Read = Held;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Held> {
        let plan = match self.0 {
            ParameterKind::Flag => FLAG.read(value, reading)?.into(),
            ParameterKind::Time { least, most } => {
                time(least.as_ps(), most.as_ps()).read(value, reading)?.into()
            }
            ParameterKind::Rate => RATE.read(value, reading)?.into(),
            ParameterKind::Bytes { least, most } => Size { least, most }.read(value, reading)?.into(),
            ParameterKind::Count { noun, least, most } => {
                Whole { least, most, noun }.read(value, reading)?.into()
            }
            ParameterKind::Number { noun, most } => fraction(noun, most).read(value, reading)?.into(),
            ParameterKind::Words(words) => {
                let index = reading.value(self.word_of().index(value))?;
                words[index].in_plan().into()
            }
            ParameterKind::Threshold => {
                return reading.value(parse_threshold(value, "")).map(Held::Threshold);
            }
            ParameterKind::Form(form) => {
                let read = (form.parse)(value.as_text().unwrap_or_default());
                reading.value(
                    read.map_err(|problem| Mistake::new(problem).value(value).accepted(form.accepted)),
                )?
            }
        };
        Some(Held::Plan(plan))
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        match self.0 {
            ParameterKind::Flag => FLAG.schema(parts),
            ParameterKind::Count { noun, least, most } => Whole { least, most, noun }.schema(parts),
            ParameterKind::Number { noun, most } => fraction(noun, most).schema(parts),
            ParameterKind::Words(_) => self.word_of().schema(parts),
            _ => json!({"type": "string"}),
        }
    }

    fn words(&self) -> String {
        match self.0 {
            ParameterKind::Flag => FLAG.words(),
            ParameterKind::Time { least, .. } => match least.as_ps() {
                0 | 1 => "time".to_owned(),
                least => format!("time, at least `\"{}\"`", format_time(least)),
            },
            ParameterKind::Rate => RATE.words(),
            ParameterKind::Bytes { least, .. } => match least {
                0 | 1 => "size".to_owned(),
                least => format!("size, at least `\"{least} B\"`"),
            },
            ParameterKind::Count { noun, least, most } => Whole { least, most, noun }.words(),
            ParameterKind::Number { noun, most } => fraction(noun, most).words(),
            ParameterKind::Words(_) => self.word_of().words(),
            ParameterKind::Threshold => "a size as `buffer`, not `\"unlimited\"`".to_owned(),
            ParameterKind::Form(form) => {
                let quoted: Vec<String> = form.examples.iter().map(|text| format!("`\"{text}\"`")).collect();
                quoted.join(", ")
            }
        }
    }

    fn python(&self) -> String {
        match self.0 {
            ParameterKind::Flag => FLAG.python(),
            ParameterKind::Count { .. } => "int".to_owned(),
            ParameterKind::Number { .. } => "float".to_owned(),
            ParameterKind::Words(_) => self.word_of().python(),
            _ => "str".to_owned(),
        }
    }
}

impl Of {
    fn word_of(self) -> WordOf {
        let words = if let ParameterKind::Words(words) = self.0 { words } else { &[] };
        WordOf(words.iter().map(|word| word.word).collect::<Vec<_>>().leak())
    }

    /// A value of the plan as scenarios write it.
    pub fn written(self, plan: &Json) -> Value {
        let number = plan.as_u64().unwrap_or_default();
        match self.0 {
            ParameterKind::Flag => Value::Flag(plan.as_bool().unwrap_or_default()),
            ParameterKind::Time { .. } => Value::text(format_time(number)),
            ParameterKind::Bytes { .. } => Value::text(format!("{number} B")),
            ParameterKind::Count { .. } => Value::from(number),
            ParameterKind::Number { .. } => Value::from(plan.as_f64().unwrap_or_default()),
            ParameterKind::Words(words) => {
                let word = words.iter().find(|word| plan.as_str() == Some(&word.in_plan()));
                Value::text(word.map_or("", |word| word.word))
            }
            ParameterKind::Form(form) => {
                let same = form.examples.iter().find(|text| (form.parse)(text).as_ref() == Ok(plan));
                Value::text(*same.unwrap_or(&""))
            }
            ParameterKind::Rate | ParameterKind::Threshold => Value::Null,
        }
    }

    /// Values other than the default, where that is easy to say.
    pub fn examples(self, presence: &Presence) -> Vec<Value> {
        let default = if let Presence::Given(value) = presence { Some(value) } else { None };
        match self.0 {
            ParameterKind::Threshold => ["20 packets", "30 KB", "1 ms", "0.2 bdp"].map(Value::from).to_vec(),
            ParameterKind::Form(form) => form.examples.iter().map(|text| Value::text(*text)).collect(),
            ParameterKind::Flag => vec![Value::Flag(default != Some(&Value::Flag(true)))],
            ParameterKind::Words(words) => {
                let words = words.iter().map(|word| Value::text(word.word));
                words.filter(|word| Some(word) != default).take(1).collect()
            }
            ParameterKind::Time { .. } => vec![default.cloned().unwrap_or_else(|| "10 ms".into())],
            ParameterKind::Bytes { .. } => vec![default.cloned().unwrap_or_else(|| "1000 B".into())],
            ParameterKind::Rate => vec!["100 Mbps".into()],
            ParameterKind::Number { .. } => vec![default.cloned().unwrap_or(Value::Float(0.5))],
            ParameterKind::Count { least, .. } => vec![default.cloned().unwrap_or_else(|| least.into())],
        }
    }
}

/// A parameter as a key; `default` is a configuration with every parameter at its default.
pub fn key_of<C: Serialize>(parameter: &Parameter, default: &C, parts: &mut Schemas) -> Key {
    let kind = kind_of(parameter);
    let (doc, meaning) = split_default(parameter.doc());
    let plan = serde_json::to_value(default).unwrap_or_default();
    let presence = match plan.get(parameter.plan_key()) {
        _ if parameter.is_required => Presence::Required,
        None | Some(Json::Null) => Presence::Absent(meaning.into()),
        Some(value) => Presence::Given(kind.written(value)),
    };
    let examples = kind.examples(&presence);
    Key::new(parameter.key, &doc, presence, &kind, examples, parts)
}

/// A parameter's name in a resolved scenario: the key with its unit.
pub fn resolved_name(parameter: &Parameter) -> String {
    let unit = match parameter.kind {
        ParameterKind::Time { .. } => "_ps",
        ParameterKind::Rate => "_bps",
        ParameterKind::Bytes { .. } => "_bytes",
        _ => "",
    };
    [parameter.key, unit].concat()
}

/// What each parameter of a connection and of a queue counts, by its name there, for those that count something.
pub fn nouns() -> BTreeMap<String, &'static str> {
    let noun = |parameter: &Parameter| match parameter.kind {
        ParameterKind::Count { noun, .. } => Some((resolved_name(parameter), noun)),
        _ => None,
    };
    TcpConfig::table().into_iter().chain(queue_parameters()).filter_map(|each| noun(&each)).collect()
}

fn queue_parameters() -> impl Iterator<Item = Parameter> {
    DisciplineConfig::KINDS.iter().flat_map(|kind| (kind.table)())
}

/// Its type there, in Python.
pub fn python_of(parameter: &Parameter) -> String {
    let python = match parameter.kind {
        ParameterKind::Flag => bool::python(),
        ParameterKind::Number { .. } => f64::python(),
        ParameterKind::Words(words) => literal(words),
        ParameterKind::Threshold | ParameterKind::Form(_) => "Any".to_owned(),
        _ => u64::python(),
    };
    if parameter.is_optional { format!("{python} | None") } else { python }
}

/// A doc comment, and what it says of the default: "…; default never."
fn split_default(doc: &str) -> (String, String) {
    match doc.split_once("; default ") {
        Some((doc, rest)) => {
            let (meaning, more) = rest.split_once('.').unwrap_or((rest, ""));
            let (meaning, source) = meaning
                .split_once(" (")
                .map_or((meaning, String::new()), |(meaning, source)| (meaning, format!(" ({source}")));
            (format!("{doc}{source}.{more}"), one_line(meaning))
        }
        None => (doc.to_owned(), String::new()),
    }
}

const fn time(least: u64, most: u64) -> Time {
    Time { least, most }
}

const fn fraction(noun: &'static str, most: f64) -> Fraction {
    Fraction { most, inclusive: true, noun }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_one_name_count_the_same() {
        let nouns = nouns();
        assert_eq!(nouns.get("initial_window"), Some(&"segments"));
        for parameter in TcpConfig::table().into_iter().chain(queue_parameters()) {
            if let ParameterKind::Count { noun, .. } = parameter.kind {
                assert_eq!(nouns[&resolved_name(&parameter)], noun, "{}", parameter.key);
            }
        }
    }
}
