//! The parameters of a TCP connection, which are declared in [`TcpConfig`], as keys of a flow group.

use bufferlab_parameters::{Kind as ParameterKind, Parameter, Parameters};
use bufferlab_transport::TcpConfig;
use serde::Serializer;
use serde_json::{Value as Json, json};

use super::parameter::{Held, kind_of, python_of, resolved_name};
use crate::keys::{Key, Kind, Presence, Reading, Schemas, Whole, absent, read_key};
use crate::text::value::{Table, Value};

/// What a TCP key is without being given.
pub const STACK: Presence = absent("the stack's");

/// Parameters that keys of the host come to.
const OF_HOST: [&str; 3] = ["window", "tuned_window", "offload"];

/// The parameters that are keys.
pub fn parameters() -> impl Iterator<Item = Parameter> {
    TcpConfig::table().into_iter().filter(|parameter| !OF_HOST.contains(&parameter.key))
}

/// The keys; `presets` are looked at for examples.
pub fn keys(presets: &[&TcpConfig], parts: &mut Schemas) -> Vec<Key> {
    let key = |parameter: Parameter| {
        let examples = vec![example(&parameter, presets)];
        Key::new(parameter.key, parameter.doc(), STACK, &Written(parameter), examples, parts)
    };
    parameters().map(key).collect()
}

/// A value other than the standards': a preset's, if one has another.
fn example(parameter: &Parameter, presets: &[&TcpConfig]) -> Value {
    let standard = TcpConfig::default().get(parameter.key);
    let other = presets.iter().map(|preset| preset.get(parameter.key)).find(|value| *value != standard);
    let written = |plan: Option<Json>| kind_of(parameter).written(&plan.unwrap_or_default());
    match other {
        Some(other) => written(other),
        None if standard.as_ref().is_none_or(Json::is_null) => {
            kind_of(parameter).examples(&STACK).swap_remove(0)
        }
        None => kind_of(parameter).examples(&Presence::Given(written(standard))).swap_remove(0),
    }
}

/// Reads the keys that a table has, in the plan's form.
pub fn read(table: &Table, reading: &mut Reading<'_>) -> Option<Vec<(&'static str, Json)>> {
    let read: Vec<_> = parameters()
        .map(|parameter| {
            let kind = Written(parameter);
            let value = read_key(parameter.key, parameter.doc(), &kind, &STACK, &Vec::new, table, reading)?;
            Some(value.map(|value| (parameter.key, value)))
        })
        .collect();
    let read: Option<Vec<_>> = read.into_iter().collect();
    read.map(|read| read.into_iter().flatten().collect())
}

/// The parameters as a resolved scenario shows them.
///
/// # Errors
/// The serializer's own.
pub fn resolve<S: Serializer>(connection: &TcpConfig, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = parameters().map(|parameter| (resolved_name(&parameter), connection.get(parameter.key)));
    serializer.collect_map(fields)
}

/// The same, with their types in Python.
pub fn fields() -> impl Iterator<Item = (String, String)> {
    parameters().map(|parameter| (resolved_name(&parameter), python_of(&parameter)))
}

/// How a flow group writes a parameter.
struct Written(Parameter);

/// A number that may be written in another way, too.
struct Also {
    key: &'static str,
    noun: &'static str,
    words: &'static str,
    python: &'static str,
    schema: fn() -> Json,
    read: fn(&Value) -> Option<Json>,
}

const ALSO: [Also; 2] = [
    Also {
        key: "initial_ssthresh",
        noun: "segments, or 'none'",
        words: "segments or `\"none\"`",
        python: "int | Literal[\"none\"]",
        schema: || json!({"const": "none"}),
        read: |value| (value.as_text() == Some("none")).then_some(Json::Null),
    },
    Also {
        key: "delayed_ack",
        noun: "true, false, or segments an acknowledgment waits for",
        words: "true, false, segments",
        python: "bool | int",
        schema: || json!({"type": "boolean"}),
        read: |value| match *value {
            Value::Flag(is_delayed) => Some(json!(if is_delayed { 2 } else { 1 })),
            _ => None,
        },
    },
];

impl Written {
    fn also(&self) -> Option<(&'static Also, Whole)> {
        let also = ALSO.iter().find(|also| also.key == self.0.key)?;
        match self.0.kind {
            ParameterKind::Count { least, most, .. } => Some((also, Whole { least, most, noun: also.noun })),
            _ => None,
        }
    }
}

impl Kind for Written {
    type Read = Json;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Json> {
        if let Some((also, number)) = self.also() {
            return (also.read)(value).or_else(|| number.read(value, reading).map(Json::from));
        }
        match kind_of(&self.0).read(value, reading)? {
            Held::Plan(plan) => Some(plan),
            Held::Threshold(_) => unreachable!("a connection has no backlog"),
        }
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        match self.also() {
            Some((also, number)) => json!({"anyOf": [(also.schema)(), number.schema(parts)]}),
            None => kind_of(&self.0).schema(parts),
        }
    }

    fn words(&self) -> String {
        self.also().map_or_else(|| kind_of(&self.0).words(), |(also, _)| also.words.to_owned())
    }

    fn python(&self) -> String {
        self.also().map_or_else(|| kind_of(&self.0).python(), |(also, _)| also.python.to_owned())
    }
}
