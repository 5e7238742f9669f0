//! Queue disciplines, as scenarios write them. Their parameters are declared where they are implemented.

use bufferlab_parameters::{Described, Kinds, Parameter};
use bufferlab_qdisc::{DisciplineConfig, RttSource, Threshold};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

use super::parameter::{Held, key_of, kind_of, resolved_name};
use crate::keys::{Key, Kind, Reading, Schemas, shown, tagged_schema, unknown};
use crate::quantity::buffer::Buffer;
use crate::text::meant::{Meant, meant_word, page, short_list, tag};
use crate::text::mistake::Mistake;
use crate::text::value::{Table, Value};
use crate::text::write::inline_toml;

/// The heading of docs/scenario.md that has them.
const HEADING: &str = "queue-disciplines";

/// A parameter of `fifo` that scenarios write beside the queue, as a key of the link.
pub const KEY_OF_LINKS: &str = "mark_above";

/// A queue discipline with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Its name.
    pub discipline: &'static str,
    /// Its parameters, but for the thresholds.
    pub config: DisciplineConfig,
    /// Thresholds that were given, whose words may depend on the traffic.
    pub thresholds: Vec<(&'static str, Buffer)>,
}

shown! { Queue => "ResolvedQueue", }

impl Queue {
    /// What it reads in the packets that pass, if they must have it: `handshake` or `timestamps`.
    pub fn reads(&self) -> Option<&'static str> {
        match &self.config {
            DisciplineConfig::SplitBuff(config) => match config.rtt {
                RttSource::Handshake { .. } => Some("handshake"),
                RttSource::Timestamps { .. } => Some("timestamps"),
                _ => None,
            },
            _ => None,
        }
    }

    /// The backlog above which a FIFO marks.
    pub fn mark_above(&self) -> Option<Threshold> {
        match &self.config {
            DisciplineConfig::Fifo(config) => config.mark_above,
            _ => None,
        }
    }
}

impl Serialize for Queue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = Map::from_iter([("discipline".to_owned(), json!(self.discipline))]);
        if let Ok(Json::Object(mut config)) = serde_json::to_value(&self.config) {
            let own = self.config.table().into_iter().filter(|parameter| parameter.key != KEY_OF_LINKS);
            fields.extend(own.filter_map(|parameter| {
                let value = config.remove(&parameter.plan_key())?;
                Some((resolved_name(&parameter), value))
            }));
        }
        for (key, threshold) in &self.thresholds {
            fields.insert((*key).to_owned(), json!(threshold));
        }
        fields.serialize(serializer)
    }
}

/// Words for a discipline with other parameters than its defaults, and what they are.
fn aliases() -> Vec<(&'static str, &'static str, Table)> {
    let weighted = Table::of([
        ("discipline", Value::text("splitbuff")),
        ("weighted", Value::Flag(true)),
        ("thresholds", Value::text("gaps")),
        ("sub_buffers", Value::Whole(4)),
    ]);
    let doc = "up to four sub-buffers, cut in the gaps of the round-trip times, that share the link by their numbers of \
               flows";
    vec![("splitbuff-weighted", doc, weighted)]
}

/// Every word with what it is.
pub fn described_words() -> Vec<(&'static str, String)> {
    let kinds = DisciplineConfig::KINDS.iter().map(|kind| (kind.word.word, kind.word.doc().to_owned()));
    let aliases = aliases().into_iter().map(|(word, doc, table)| {
        let written = inline_toml(&Value::Table(table));
        (word, format!("{doc}: `{written}`"))
    });
    kinds.chain(aliases).collect()
}

/// What a queue may be in one word.
pub fn words() -> Vec<&'static str> {
    let kinds = DisciplineConfig::KINDS.iter().map(|kind| kind.word.word);
    kinds.chain(aliases().into_iter().map(|(word, ..)| word)).collect()
}

/// The table that a word stands for.
pub fn table_of(word: &str) -> Option<Table> {
    let alias = aliases().into_iter().find(|(known, ..)| *known == word).map(|(.., table)| table);
    alias.or_else(|| described(word).map(|kind| Table::of([("discipline", Value::text(kind.word.word))])))
}

/// The discipline that a value of `queue` names.
pub(super) fn discipline(queue: &Value) -> Option<String> {
    match queue {
        Value::Text(word) => table_of(word)?.text("discipline").map(str::to_owned),
        Value::Table(table) => table.text("discipline").map(str::to_owned),
        _ => None,
    }
}

/// The keys of each discipline, but for its name.
pub fn disciplines(parts: &mut Schemas) -> Vec<(&'static str, &'static str, Vec<Key>)> {
    let mut of_kind = |kind: &'static Described<DisciplineConfig>| {
        let default = (kind.default)();
        let keys = parameters(kind).iter().map(|p| key_of(p, &default, parts)).collect();
        (kind.word.word, kind.word.doc(), keys)
    };
    DisciplineConfig::KINDS.iter().map(&mut of_kind).collect()
}

fn described(word: &str) -> Option<&'static Described<DisciplineConfig>> {
    DisciplineConfig::KINDS.iter().find(|kind| kind.word.word == word)
}

fn parameters(kind: &Described<DisciplineConfig>) -> Vec<Parameter> {
    (kind.table)().into_iter().filter(|parameter| parameter.key != KEY_OF_LINKS).collect()
}

/// A queue: one of the words, or a table whose `discipline` says which.
#[derive(Clone, Copy, Debug)]
pub struct QueueKind;

impl Kind for QueueKind {
    type Read = Queue;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<Queue> {
        let alias = value.as_text().and_then(table_of);
        let ((Some(table), _) | (None, Value::Table(table))) = (alias.as_ref(), value) else {
            reading.refuse(not_a_queue(value));
            return None;
        };
        let given = tag(table, "discipline");
        let Some(kind) = given.and_then(|entry| entry.node.value.as_text()).and_then(described) else {
            let known: Vec<&str> = DisciplineConfig::KINDS.iter().map(|kind| kind.word.word).collect();
            let mistake = unknown("discipline", given.map(|entry| &entry.node.value), &known, HEADING);
            reading.refuse(mistake.key(given.map_or("discipline", |entry| &entry.name)));
            return None;
        };
        read_queue(kind, table, reading)
    }

    fn schema(&self, parts: &mut Schemas) -> Json {
        let mut references = Vec::new();
        for (word, doc, keys) in disciplines(parts) {
            let tag = ("discipline", "Name of the queue discipline.");
            references.push(tagged_schema(tag, word, &part_name(word), doc, &keys, parts));
        }
        json!({"anyOf": [{"enum": words()}, {"oneOf": references}]})
    }

    fn words(&self) -> String {
        "`\"fifo\"`, `\"codel\"`, `\"splitbuff\"`, …, or a [table](#queue-disciplines)".to_owned()
    }

    fn python(&self) -> String {
        "QueueDict | str".to_owned()
    }
}

fn not_a_queue(value: &Value) -> Mistake {
    let (known, written) = (words(), value.as_text().unwrap_or_default());
    let meant = meant_word(written, &known);
    let hint = meant.map_or(String::new(), |word| Meant::Word(word).hint());
    let words = short_list(written, meant, &known, &page(HEADING));
    let accepted = format!("{words}, or a table such as {{discipline = 'codel'}}");
    Mistake::new(format!("is not accepted here{hint}")).value(value).accepted(accepted)
}

fn read_queue(kind: &Described<DisciplineConfig>, table: &Table, reading: &mut Reading<'_>) -> Option<Queue> {
    let parameters = parameters(kind);
    let known: Vec<&str> = std::iter::once("discipline").chain(parameters.iter().map(|p| p.key)).collect();
    reading.table(table, &known, HEADING, |table, reading| {
        let mut queue =
            Queue { discipline: kind.word.word, config: (kind.default)(), thresholds: Vec::new() };
        for parameter in &parameters {
            let Some(node) = table.get(parameter.key) else { continue };
            let held = reading.below(parameter.key, |reading| kind_of(parameter).read(&node.value, reading));
            match held {
                Some(Held::Plan(value)) => {
                    queue.config.set(parameter.key, value).expect("a kind reads what its parameter takes");
                }
                Some(Held::Threshold(threshold)) => queue.thresholds.push((parameter.key, threshold)),
                None => {}
            }
        }
        check_target_delay(&queue, table, reading);
        Some(queue)
    })
}

/// RED has one way to choose its thresholds.
fn check_target_delay(queue: &Queue, table: &Table, reading: &mut Reading<'_>) {
    if let (Some(delay), [_, ..]) = (table.get("target_delay"), queue.thresholds.as_slice()) {
        let mistake =
            Mistake::new("does not go with given thresholds").key("target_delay").value(&delay.value);
        reading.refuse(mistake.accepted("either target_delay or min_threshold and max_threshold"));
    }
}

/// The name of a discipline's table in the JSON Schema and in Python: `FqCodel`.
pub fn part_name(word: &str) -> String {
    let known = [("splitbuff", "SplitBuff"), ("splitbuff-blind", "SplitBuffBlind")];
    if let Some((_, name)) = known.iter().find(|(discipline, _)| *discipline == word) {
        return (*name).to_owned();
    }
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    };
    word.split(['-', '_']).map(capital).collect()
}
