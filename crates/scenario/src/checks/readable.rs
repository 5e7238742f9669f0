//! What can be checked of a scenario of which some parts cannot be read, so that their mistakes hide no others.
//!
//! A part counts only if nothing is wrong with it: a misspelled key leaves open what was meant, and what depends on that
//! would be a guess. Names are taken as they are written.

use super::{check_flow, check_not_reserved, check_one_form, check_targets, check_unique};
use crate::keys::{Part, Reading};
use crate::overrides::names;
use crate::parts::advise::Advise;
use crate::parts::flow::Flow;
use crate::parts::host::Host;
use crate::parts::link::Link;
use crate::parts::run::Run;
use crate::resolved::{Hosts, Root, complete};
use crate::text::meant::{Meant, meant_key};
use crate::text::value::{Node, Table, Value};

/// Checks names, paths, round-trip times and the TCP of the groups that can be read.
pub fn check_readable(table: &Table, reading: &mut Reading<'_>) {
    let flows = list(table, "flows");
    let group_names = names(flows, "flows");
    let group_names: Vec<&str> = group_names.iter().map(String::as_str).collect();
    check_unique(group_names.iter().copied(), "flows", reading);
    check_not_reserved(group_names.iter().copied(), reading);
    if !flows.is_empty()
        && flows.iter().all(|flow| flow.table().is_some_and(|flow| !may_hide::<Flow>(flow, &["name"])))
    {
        let advise: Option<Advise> = table.get("advise").and_then(|node| alone(&node.value, reading));
        check_targets(advise.as_ref(), &group_names, reading);
    }
    let Some((link_names, links)) = links(table, reading) else { return };
    let link_names: Vec<&str> = link_names.iter().map(String::as_str).collect();
    let run: Option<Run> = table.get("run").and_then(|node| alone(&node.value, reading));
    let host: Option<Host> = table.get("host").and_then(|node| alone(&node.value, reading));
    let only = if let [only] = link_names.as_slice() { Some(*only) } else { None };
    for (index, node) in flows.iter().enumerate() {
        let Some(mut flow) = alone::<Flow>(&node.value, reading) else { continue };
        let stack = run.as_ref().map(|run| run.stack);
        let hosts = Hosts { preset: run.as_ref().map(|run| run.host), table: host.as_ref() };
        complete(&mut flow, only, stack, hosts);
        check_flow(&flow, index, stack.unwrap_or_default(), &link_names, &links, reading);
    }
}

/// The names of all links, and those links that can be read; nothing if it is open which links there are.
fn links(table: &Table, reading: &mut Reading<'_>) -> Option<(Vec<String>, Vec<Link>)> {
    let bottleneck = table.get("bottleneck");
    let given = list(table, "links");
    let is_open = table.get("links").is_some_and(|node| !matches!(node.value, Value::List(_)));
    if is_open
        || may_hide::<Root>(table, &["bottleneck", "links"])
        || !check_one_form(bottleneck.is_some(), !given.is_empty(), reading)
    {
        return None;
    }
    let (names, nodes) = match bottleneck {
        Some(node) => {
            let name = node.table().and_then(|link| link.text("name")).unwrap_or("bottleneck");
            (vec![name.to_owned()], std::slice::from_ref(node))
        }
        None => (names(given, "links"), given),
    };
    if nodes.iter().any(|node| node.table().is_none_or(|link| may_hide::<Link>(link, &["name"]))) {
        return None;
    }
    check_unique(names.iter().map(String::as_str), "links", reading);
    let links = nodes.iter().zip(&names).filter_map(|(node, name)| {
        let link: Link = alone(&node.value, reading)?;
        Some(Link { name: name.clone(), ..link })
    });
    let links = links.collect();
    Some((names, links))
}

/// Whether a key that is not known was meant to be one of these.
fn may_hide<P: Part>(table: &Table, keys: &[&str]) -> bool {
    let known = P::key_names();
    let unknown = table.entries.iter().filter(|entry| !known.contains(&entry.name.as_str()));
    let mut meant = unknown.filter_map(|entry| meant_key(&entry.name, &entry.node.value, &known));
    meant.any(|meant| matches!(meant, Meant::Word(key) if keys.contains(&key)))
}

fn list<'a>(table: &'a Table, key: &str) -> &'a [Node] {
    match table.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// A part, if nothing is wrong with it.
fn alone<P: Part>(value: &Value, reading: &Reading<'_>) -> Option<P> {
    let mut apart = reading.apart();
    P::read(value, &mut apart).filter(|_| !apart.has_failed())
}
