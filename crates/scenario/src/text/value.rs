//! A scenario before it is read: tables, lists and scalars, with their places in the text.

/// Deepest nesting of tables and lists.
pub const DEEPEST: usize = 12;

/// A place in a text; both numbers start at 1, columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// A value as TOML, JSON or a caller gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing: a key without a value is a key that is not given.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(i128),
    /// A whole number of more digits than that, as text.
    Huge(String),
    /// Another number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table.
    Table(Table),
    /// What no key takes, as text: a date.
    Other(String),
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Its place; `None` if it does not come from a text.
    pub place: Option<Place>,
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub name: String,
    /// Where the key stands.
    pub place: Option<Place>,
    /// The value.
    pub node: Node,
}

/// A table, in the order of its text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// The keys with their values.
    pub entries: Vec<Entry>,
}

impl Node {
    /// A value that comes from no text.
    pub fn new(value: Value) -> Node {
        Node { value, place: None }
    }

    /// The value as a table.
    pub fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Value {
        Value::Text(text.into())
    }

    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }
}

impl Table {
    /// A table from keys and values.
    pub fn of<const N: usize>(pairs: [(&str, Value); N]) -> Table {
        let entry = |(name, value): (&str, Value)| Entry {
            name: name.to_owned(),
            place: None,
            node: Node::new(value),
        };
        Table { entries: pairs.into_iter().map(entry).collect() }
    }

    /// The entry of a key; a value of nothing is an entry too.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// The value of a key, if there is one.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.node).filter(|node| node.value != Value::Null)
    }

    /// The text of a key, if it is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.value.as_text()
    }

    /// Gives a key a value, in place of the one it may have.
    pub fn set(&mut self, name: &str, node: Node) {
        match self.entries.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => *entry = Entry { name: name.to_owned(), place: node.place, node },
            None => self.entries.push(Entry { name: name.to_owned(), place: node.place, node }),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::text(text)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<i32> for Value {
    fn from(number: i32) -> Value {
        Value::Whole(number.into())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Whole(number.into())
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Float(number)
    }
}

impl<const N: usize> From<[&str; N]> for Value {
    fn from(texts: [&str; N]) -> Value {
        Value::List(texts.into_iter().map(|text| Node::new(Value::text(text))).collect())
    }
}
