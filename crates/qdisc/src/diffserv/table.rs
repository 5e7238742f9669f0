//! Which codepoint belongs to which class, how each is served, and what its queue is.

use std::fmt;
use std::str::FromStr;

use bufferlab_parameters::{Field, Form, Kinds, form};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{DisciplineConfig, Header};

/// Most classes (Linux's, `TCQ_ETS_MAX_BANDS`).
const MOST_CLASSES: usize = 16;
/// Largest weight.
const MOST_WEIGHT: u32 = 1_000;
/// Disciplines that a class's queue may be: one rate, one queue or queues of flows, no classes of their own.
const QUEUES: [&str; 11] =
    ["fifo", "codel", "fq_codel", "cobalt", "pie", "fq_pie", "pi2", "red", "drr", "fair_queue", "step"];

/// Codepoints by name that follow no rule (RFC 3246 section 2.7, RFC 5865 section 2.3, RFC 8622 section 4).
const NAMED: [(&str, u8); 3] = [("EF", 46), ("VA", 44), ("LE", 1)];

/// The classes of a queue, in the order of their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffservClasses {
    /// Each class.
    pub(super) classes: Vec<DiffservClass>,
}

/// A class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffservClass {
    /// Its codepoints; none if it takes what no other class lists.
    codepoints: Vec<u8>,
    pub(super) service: Service,
    /// The word of its queue's discipline.
    queue: &'static str,
}

/// How a class is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Service {
    /// Before all that come after it, up to this part of the rate in percent, beyond which it is dropped from while the link is
    /// busy.
    Priority(Option<u32>),
    /// By deficit round robin with this many quanta a round.
    Weight(u32),
}

impl DiffservClasses {
    /// What scenarios may write.
    pub const FORM: Form = form::<DiffservClasses>(
        "up to 16 classes, divided by ';', each of them codepoints (names or 0 to 63), ':', and 'priority', 'priority 33 %' (1 to 100) or \
         'weight 4' (1 to 1000), with the queue behind it unless it is fifo: codel, fq_codel, cobalt, pie, fq_pie, pi2, red, drr, fair_queue or step; the last \
         one, or the one called 'rest', has what no class lists",
        &[
            "EF: priority 33 %; rest: weight 1 fq_codel",
            "EF CS6 CS7: priority; AF41 AF42 AF43: priority; rest: priority",
            "46: priority 10 %; AF31: weight 4 red; CS1: weight 1; rest: weight 5",
        ],
    );

    /// The class of a codepoint.
    pub(super) fn class_of(&self, dscp: u8) -> usize {
        let lists = |class: &DiffservClass| class.codepoints.contains(&dscp);
        self.classes.iter().position(lists).unwrap_or_else(|| self.rest())
    }

    /// The class of what no class lists.
    fn rest(&self) -> usize {
        let is_rest = |class: &DiffservClass| class.codepoints.is_empty();
        self.classes.iter().position(is_rest).unwrap_or(self.classes.len() - 1)
    }

    /// What is wrong with them together.
    fn check(&self) -> Result<(), &'static str> {
        if self.classes.len() > MOST_CLASSES {
            return Err("has too many classes");
        }
        if self.classes.iter().filter(|class| class.codepoints.is_empty()).count() > 1 {
            return Err("has more than one class called 'rest'");
        }
        let mut all: Vec<_> = self.classes.iter().flat_map(|class| &class.codepoints).collect();
        all.sort_unstable();
        let is_twice = all.windows(2).any(|pair| pair[0] == pair[1]);
        if is_twice { Err("names a codepoint twice") } else { Ok(()) }
    }
}

impl Default for DiffservClasses {
    /// Low latency queueing: calls first, up to a third of the rate, and a queue a flow for the rest.
    fn default() -> DiffservClasses {
        let calls = DiffservClass {
            codepoints: vec![NAMED[0].1],
            service: Service::Priority(Some(33)),
            queue: QUEUES[0],
        };
        let rest = DiffservClass { codepoints: Vec::new(), service: Service::Weight(1), queue: QUEUES[2] };
        DiffservClasses { classes: vec![calls, rest] }
    }
}

impl DiffservClass {
    /// Its queue's discipline, with every parameter at its default.
    pub(super) fn queue(&self) -> DisciplineConfig {
        let kind = DisciplineConfig::KINDS.iter().find(|kind| kind.word.word == self.queue);
        (kind.expect("the words of queues are words of disciplines").default)()
    }
}

impl Field for DiffservClasses {}

impl FromStr for DiffservClasses {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<DiffservClasses, &'static str> {
        let classes = text.split(';').map(str::parse).collect::<Result<_, _>>()?;
        let classes = DiffservClasses { classes };
        classes.check().map(|()| classes)
    }
}

impl FromStr for DiffservClass {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<DiffservClass, &'static str> {
        let (who, how) = text.split_once(':').ok_or("has a class without ':'")?;
        let mut words = how.split_whitespace().peekable();
        let service = match words.next() {
            Some("priority") => {
                let most = words.next_if(|word| word.trim_end_matches('%').parse::<u32>().is_ok());
                // "33 %" and "33%"
                if most.is_some_and(|word| !word.ends_with('%')) && words.next_if_eq(&"%").is_none() {
                    return Err("has a part of the rate without '%'");
                }
                Service::Priority(most.map(|word| number(word.trim_end_matches('%'), 100)).transpose()?)
            }
            Some("weight") => Service::Weight(number(words.next().unwrap_or_default(), MOST_WEIGHT)?),
            _ => return Err("has a class without 'priority' or 'weight'"),
        };
        let word = words.next().unwrap_or(QUEUES[0]);
        let queue = QUEUES.into_iter().find(|queue| *queue == word).filter(|_| words.next().is_none());
        let queue = queue.ok_or("has a queue that a class cannot be")?;
        Ok(DiffservClass { codepoints: codepoints(who)?, service, queue })
    }
}

/// A whole number of 1 to `most`.
fn number(text: &str, most: u32) -> Result<u32, &'static str> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let read = text.parse().ok().filter(|number| is_number && (1..=most).contains(number));
    read.ok_or("has a number that is out of bounds")
}

/// The codepoints of a class; none for 'rest'.
fn codepoints(text: &str) -> Result<Vec<u8>, &'static str> {
    let words: Vec<_> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    match words.as_slice() {
        [] => Err("has a class without codepoints"),
        ["rest"] => Ok(Vec::new()),
        words => words.iter().map(|word| codepoint(word).ok_or("has a word that is no codepoint")).collect(),
    }
}

/// A codepoint by its name or number: class selectors (RFC 2474 section 4.2.2.2), assured forwarding (RFC 2597 section 6).
fn codepoint(word: &str) -> Option<u8> {
    let word = word.to_ascii_uppercase();
    let digits = |text: &str| -> Option<Vec<u8>> { text.bytes().map(|b| b.checked_sub(b'0')).collect() };
    let named = NAMED.into_iter().find(|(name, _)| *name == word).map(|(_, dscp)| dscp);
    let selector = || match digits(word.strip_prefix("CS")?)?.as_slice() {
        &[class] if class < 8 => Some(8 * class),
        _ => None,
    };
    let assured = || match digits(word.strip_prefix("AF")?)?.as_slice() {
        &[class, drop] if (1..5).contains(&class) && (1..4).contains(&drop) => Some(8 * class + 2 * drop),
        _ => None,
    };
    let plain = || word.parse().ok().filter(|dscp| *dscp <= Header::MOST_DSCP && !word.starts_with('+'));
    named.or_else(selector).or_else(assured).or_else(plain)
}

/// The shortest name of a codepoint.
fn name_of(dscp: u8) -> String {
    let (class, low) = (dscp / 8, dscp % 8);
    match NAMED.iter().find(|(_, named)| *named == dscp) {
        Some((name, _)) => (*name).to_owned(),
        None if low == 0 => format!("CS{class}"),
        None if (1..5).contains(&class) && [2, 4, 6].contains(&low) => format!("AF{class}{}", low / 2),
        None => dscp.to_string(),
    }
}

impl fmt::Display for DiffservClasses {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, class) in self.classes.iter().enumerate() {
            let who = class.codepoints.iter().map(|dscp| name_of(*dscp)).collect::<Vec<_>>().join(" ");
            let who = if who.is_empty() { "rest" } else { &who };
            write!(formatter, "{}{who}: ", if index == 0 { "" } else { "; " })?;
            match class.service {
                Service::Priority(None) => write!(formatter, "priority")?,
                Service::Priority(Some(percent)) => write!(formatter, "priority {percent} %")?,
                Service::Weight(weight) => write!(formatter, "weight {weight}")?,
            }
            if class.queue != QUEUES[0] {
                write!(formatter, " {}", class.queue)?;
            }
        }
        Ok(())
    }
}

impl Serialize for DiffservClasses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DiffservClasses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DiffservClasses, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
