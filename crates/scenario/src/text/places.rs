//! Where the keys and values of a text stand.

use std::collections::BTreeMap;

use super::value::{Node, Place, Table, Value};

/// The places of keys and values by path: `links[0].rate`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Places(BTreeMap<String, (Option<Place>, Option<Place>)>);

impl Places {
    /// Those of a table.
    pub fn of(table: &Table) -> Places {
        let mut places = Places::default();
        places.add_table(table, "");
        places
    }

    /// The place of a key.
    pub fn key(&self, path: &str) -> Option<Place> {
        self.nearest(path).and_then(|(key, value)| key.or(*value))
    }

    /// The place of a value.
    pub fn value(&self, path: &str) -> Option<Place> {
        self.nearest(path).and_then(|(key, value)| value.or(*key))
    }

    /// What is known of a path, or of the nearest table around it.
    fn nearest(&self, path: &str) -> Option<&(Option<Place>, Option<Place>)> {
        let mut path = path;
        loop {
            if let Some(found) = self.0.get(path) {
                return Some(found);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }

    fn add_table(&mut self, table: &Table, path: &str) {
        for entry in &table.entries {
            let below = if path.is_empty() { entry.name.clone() } else { format!("{path}.{}", entry.name) };
            self.add(&entry.node, entry.place, below);
        }
    }

    fn add(&mut self, node: &Node, key: Option<Place>, path: String) {
        match &node.value {
            Value::Table(table) => self.add_table(table, &path),
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add(item, None, format!("{path}[{index}]"));
                }
            }
            _ => {}
        }
        // also what has no place, as an override: the table's would be wrong
        self.0.insert(path, (key, node.place));
    }
}
