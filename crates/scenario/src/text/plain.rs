//! What no scenario may hold, whoever gives it.

use super::mistake::Mistake;
use super::value::{DEEPEST, Node, Table, Value};

/// Checks that a table holds only what a scenario may hold: no dates, no deeper nesting than [`DEEPEST`].
pub fn check_plain(table: &Table) -> Result<(), Mistake> {
    table.entries.iter().try_for_each(|entry| check_node(&entry.node, &entry.name, 0))
}

fn check_node(node: &Node, key: &str, depth: usize) -> Result<(), Mistake> {
    if depth > DEEPEST {
        let accepted = format!("at most {DEEPEST} levels");
        return Err(Mistake::new("is nested too deeply").key(key).place(node.place).accepted(accepted));
    }
    match &node.value {
        Value::Other(_) => Err(Mistake::new("is not a value of a scenario")
            .key(key)
            .value(&node.value)
            .place(node.place)
            .accepted("tables, lists, texts, numbers, true and false")),
        Value::List(items) => {
            let mut items = items.iter().enumerate();
            items.try_for_each(|(index, item)| check_node(item, &format!("{key}[{index}]"), depth + 1))
        }
        Value::Table(table) => {
            let mut entries = table.entries.iter();
            entries.try_for_each(|e| check_node(&e.node, &format!("{key}.{}", e.name), depth + 1))
        }
        _ => Ok(()),
    }
}
