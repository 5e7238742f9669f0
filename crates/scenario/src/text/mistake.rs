//! What is wrong with a scenario, in one line each.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::text::show::{one_line, show, show_key};
use crate::text::value::{Place, Value};

/// Bad input: what is wrong, where, and what would be accepted.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistake(Box<Details>);

/// The parts of a mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// What is wrong, to be read after the value: "is not a time".
    pub problem: String,
    /// File or option that holds the bad input.
    pub file: Option<String>,
    /// Where in it: `links[0].rate`.
    pub key: Option<String>,
    /// The offending value.
    pub value: Option<Value>,
    /// What would be accepted.
    pub accepted: Option<String>,
    /// Line and column in the file.
    pub place: Option<Place>,
}

impl Mistake {
    /// A mistake whose place is not known yet.
    pub fn new(problem: impl Into<String>) -> Mistake {
        let (file, key, value, accepted, place) = (None, None, None, None, None);
        Mistake(Box::new(Details { problem: problem.into(), file, key, value, accepted, place }))
    }

    /// With what would be accepted.
    #[must_use]
    pub fn accepted(mut self, accepted: impl Into<String>) -> Mistake {
        self.accepted = Some(accepted.into());
        self
    }

    /// With the offending value.
    #[must_use]
    pub fn value(mut self, value: &Value) -> Mistake {
        self.value = Some(value.clone());
        self
    }

    /// With an offending value that is a text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Mistake {
        self.value = Some(Value::text(text));
        self
    }

    /// With its key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Mistake {
        self.key = Some(key.into());
        self
    }

    /// With its key below `path`; what it has of a key already is the end of it.
    #[must_use]
    pub fn below(mut self, path: &str) -> Mistake {
        self.key = Some(match self.key.take() {
            Some(key) => format!("{path}.{key}"),
            None => path.to_owned(),
        });
        self
    }

    /// With its place, where that is not known yet. What lies in another file keeps that file's.
    #[must_use]
    pub fn place(mut self, place: Option<Place>) -> Mistake {
        if self.file.is_none() {
            self.place = self.place.or(place);
        }
        self
    }

    /// Without line and column.
    #[must_use]
    pub fn without_place(mut self) -> Mistake {
        self.place = None;
        self
    }

    /// With its file, where that is not known yet.
    #[must_use]
    pub fn file(mut self, file: Option<&str>) -> Mistake {
        if self.file.is_none() {
            self.file = file.map(str::to_owned);
        }
        self
    }
}

impl Deref for Mistake {
    type Target = Details;

    fn deref(&self) -> &Details {
        &self.0
    }
}

impl DerefMut for Mistake {
    fn deref_mut(&mut self) -> &mut Details {
        &mut self.0
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match (&self.file, self.place) {
            (Some(file), Some(Place { line, column })) => Some(format!("{file}:{line}:{column}")),
            (Some(file), None) => Some(file.clone()),
            (None, Some(Place { line, column })) => Some(format!("line {line}, column {column}")),
            (None, None) => None,
        };
        let problem = match &self.value {
            Some(value) => format!("{} {}", show(value), self.problem),
            None => self.problem.clone(),
        };
        let parts: Vec<String> =
            place.into_iter().chain(self.key.as_deref().map(show_key)).chain([problem]).collect();
        let accepted = self.accepted.as_ref().map_or(String::new(), |text| format!("; accepted: {text}"));
        formatter.write_str(&one_line(&format!("{}{accepted}", parts.join(": "))))
    }
}

impl std::error::Error for Mistake {}

/// All mistakes of a scenario, at least one, in the order of its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// Several, put in the order of the text; those without a place follow the one before them.
    pub(crate) fn sorted(mut mistakes: Vec<Mistake>) -> Mistakes {
        let mut last = None;
        let mut keyed: Vec<(Option<Place>, Mistake)> = Vec::with_capacity(mistakes.len());
        for mistake in mistakes.drain(..) {
            last = mistake.place.or(last);
            keyed.push((last, mistake));
        }
        keyed.sort_by_key(|(place, _)| *place);
        Mistakes(keyed.into_iter().map(|(_, mistake)| mistake).collect())
    }

    /// These, then others.
    #[must_use]
    pub(crate) fn and(mut self, others: Mistakes) -> Mistakes {
        self.0.extend(others.0);
        self
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.0.iter()
    }

    /// With a file where none is known yet.
    #[must_use]
    pub fn file(self, file: Option<&str>) -> Mistakes {
        self.map(|mistake| mistake.file(file))
    }

    /// Each of them changed.
    #[must_use]
    pub(crate) fn map(self, change: impl FnMut(Mistake) -> Mistake) -> Mistakes {
        Mistakes(self.0.into_iter().map(change).collect())
    }
}

impl From<Vec<Mistake>> for Mistakes {
    fn from(mistakes: Vec<Mistake>) -> Mistakes {
        Mistakes(mistakes)
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Mistakes {
        Mistakes(vec![mistake])
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        formatter.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Mistakes {}
