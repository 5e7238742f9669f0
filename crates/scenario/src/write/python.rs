//! Python's types of scenarios as dictionaries, as given and as resolved.

use std::collections::BTreeMap;

use crate::keys::{Key, Part, Presence, Schemas};
use crate::parts::advise::{Advise, Weights};
use crate::parts::application::{application_fields, applications};
use crate::parts::flow::Flow;
use crate::parts::host::{Host, HostModel};
use crate::parts::link::{Change, Link};
use crate::parts::memory::Memory;
use crate::parts::probes::Probes;
use crate::parts::queue::{disciplines, part_name};
use crate::parts::run::Run;
use crate::parts::tcp::Stack;
use crate::resolved::Root;

/// Keys that are words of Python, so that no class can have them.
const KEYWORDS: [&str; 1] = ["for"];

const HEAD: &str = r#""""Types of scenarios as dictionaries: as given (`ScenarioDict`) and as resolved (`ResolvedScenario`).

Written by `make docs` from the declarations in crates/scenario; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

"#;

const RESOLVED: &str = r#"
ResolvedLimit = dict[Literal["packets", "bytes"], int] | Literal["unlimited"]
"""How much may wait: {"packets": 50}, {"bytes": 75000}, or "unlimited"."""


class ResolvedBuffer(TypedDict):
    """A buffer as written, its number parsed: packets, bytes, ps of draining, or multiples of the word.

    `limit` is what it comes to with the flows of a seed, `None` without one.
    """

    text: str
    kind: Literal["packets", "bytes", "time", "bdp", "stanford", "unlimited"]
    amount: float
    limit: ResolvedLimit | None


class ResolvedLaw(TypedDict):
    """A law of times in ps or sizes in bytes: its text, its kind and that kind's parameters."""

    text: str
    kind: Literal["constant", "uniform", "normal", "lognormal", "exponential", "pareto", "choice", "empirical"]
    least: int
    most: int
    truncated: bool
    value: NotRequired[int]
    low: NotRequired[int]
    high: NotRequired[int]
    mean: NotRequired[float]
    sd: NotRequired[int]
    median: NotRequired[float]
    sigma: NotRequired[float]
    shape: NotRequired[float]
    values: NotRequired[list[int]]
    weights: NotRequired[list[float]]


ResolvedQueue = dict[str, Any]
"""A queue: its `discipline` and that discipline's parameters, by their keys with units."""

"#;

const DRAWS: &str = r#"
class Draws(TypedDict):
    """What was drawn for the flows of a group, each list in their order; `None` where nothing is drawn."""

    rtt_ps: list[int]
    start_ps: list[int]
    stop_ps: list[int] | None
    transfer_bytes: list[int] | None
"#;

/// The module `bufferlab._scenario_types`.
pub fn types() -> String {
    let mut text = HEAD.to_owned();
    let parts = &mut Schemas::new();
    let mut names = BTreeMap::new();
    for (word, doc, keys) in disciplines(parts) {
        names.entry("Queue").or_insert_with(Vec::new).push(part_name(word));
        given(&mut text, &part_name(word), doc, &keys, Some(("discipline", word)));
    }
    for (word, name, doc, keys) in applications(parts) {
        names.entry("Application").or_insert_with(Vec::new).push(name.to_owned());
        given(&mut text, name, doc, &keys, Some(("kind", word)));
    }
    for (name, parts) in names {
        let members: Vec<String> = parts.iter().map(|part| format!("{part}Dict")).collect();
        text.extend([format!("\n{name}Dict = (\n    {}\n)\n", members.join("\n    | "))]);
    }
    given(&mut text, Run::NAME, Run::DOC, &Run::keys(parts), None);
    given(&mut text, Change::NAME, Change::DOC, &Change::keys(parts), None);
    given(&mut text, Link::NAME, Link::DOC, &link_keys(parts), None);
    given(&mut text, Memory::NAME, Memory::DOC, &Memory::keys(parts), None);
    given(&mut text, Host::NAME, Host::DOC, &Host::keys(parts), None);
    given(&mut text, Flow::NAME, Flow::DOC, &Flow::keys(parts), None);
    given(&mut text, Probes::NAME, Probes::DOC, &Probes::keys(parts), None);
    given(&mut text, Weights::NAME, Weights::DOC, &Weights::keys(parts), None);
    given(&mut text, Advise::NAME, Advise::DOC, &Advise::keys(parts), None);
    given(&mut text, "Scenario", Root::DOC, &Root::keys(parts), None);
    text.push('\n');
    text.push_str(RESOLVED);
    resolved_applications(&mut text);
    resolved::<Run>(&mut text);
    resolved::<Change>(&mut text);
    resolved::<Link>(&mut text);
    resolved::<Memory>(&mut text);
    class(&mut text, "ResolvedStack", "A TCP sender and its receiver.", &borrowed(&Stack::fields()));
    let fields = HostModel::fields().map(|(name, python)| (name, python.to_owned()));
    class(&mut text, "ResolvedHostModel", "What a host does beside TCP.", &fields);
    resolved::<Flow>(&mut text);
    resolved::<Probes>(&mut text);
    resolved::<Weights>(&mut text);
    resolved::<Advise>(&mut text);
    let fields = [
        ("run", "ResolvedRun"),
        ("links", "list[ResolvedLink]"),
        ("memories", "list[ResolvedMemory]"),
        ("flows", "list[ResolvedFlow]"),
        ("probes", "ResolvedProbes | None"),
        ("advise", "ResolvedAdvise | None"),
    ];
    let fields = fields.map(|(name, python)| (name, python.to_owned()));
    class(&mut text, "ResolvedScenario", "A scenario as it is meant.", &fields);
    text.push_str(DRAWS);
    text
}

/// A link's keys; only some queues need a buffer.
fn link_keys(parts: &mut Schemas) -> Vec<Key> {
    let mut keys = Link::keys(parts);
    for key in keys.iter_mut().filter(|key| key.name == "buffer") {
        key.presence = crate::keys::absent("");
    }
    keys
}

fn given(text: &mut String, name: &str, doc: &str, keys: &[Key], tag: Option<(&str, &str)>) {
    let tag = tag.map(|(key, word)| (key, format!("Literal[\"{word}\"]")));
    let of_key = |key: &Key| {
        let needed = matches!(key.presence, Presence::Required);
        let python = if needed { key.python.clone() } else { format!("NotRequired[{} | None]", key.python) };
        (key.name.clone(), python)
    };
    let fields: Vec<(String, String)> = keys.iter().map(of_key).collect();
    let all: Vec<(&str, String)> = tag.into_iter().chain(borrowed(&fields)).collect();
    class(text, &format!("{name}Dict"), doc, &all);
}

fn resolved<P: Part>(text: &mut String) {
    class(text, &format!("Resolved{}", P::NAME), P::DOC, &P::fields());
}

fn resolved_applications(text: &mut String) {
    let applications = application_fields();
    for (word, name, doc, own) in &applications {
        let tag = ("kind", format!("Literal[\"{word}\"]"));
        let fields: Vec<_> = std::iter::once(tag).chain(own.iter().cloned()).collect();
        class(text, &format!("Resolved{name}"), doc, &fields);
    }
    let names: Vec<_> = applications.iter().map(|(_, name, ..)| format!("Resolved{name}")).collect();
    text.extend([format!("\nResolvedApplication = (\n    {}\n)\n", names.join("\n    | "))]);
}

fn borrowed(fields: &[(String, String)]) -> Vec<(&str, String)> {
    fields.iter().map(|(name, python)| (name.as_str(), python.clone())).collect()
}

fn class(text: &mut String, name: &str, doc: &str, fields: &[(&str, String)]) {
    let doc = crate::keys::one_line(doc);
    if fields.iter().any(|(field, _)| KEYWORDS.contains(field)) {
        let fields: Vec<String> =
            fields.iter().map(|(field, python)| format!("        \"{field}\": {python},\n")).collect();
        let fields = fields.concat();
        text.extend([format!(
            "\n{name} = TypedDict(\n    \"{name}\",\n    {{\n{fields}    }},\n)\n\"\"\"{doc}\"\"\"\n\n"
        )]);
        return;
    }
    text.extend([format!("\nclass {name}(TypedDict):\n    \"\"\"{doc}\"\"\"\n\n")]);
    for (field, python) in fields {
        text.extend([format!("    {field}: {python}\n")]);
    }
    text.push('\n');
}
