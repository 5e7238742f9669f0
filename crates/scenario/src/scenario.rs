//! The scenario as a whole: reading, overriding, writing.

use crate::checks::{check, check_readable};
use crate::keys::{Part, Reading};
use crate::overrides;
use crate::quantity::empirical::Files;
use crate::resolved::{Resolved, Root};
use crate::text::mistake::{Mistake, Mistakes};
use crate::text::places::Places;
use crate::text::plain::check_plain;
use crate::text::value::{Place, Table, Value};
use crate::text::{json, toml, write};

/// A scenario: what was given, and what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    table: Table,
    text: Option<String>,
    file: Option<String>,
    overrides: Table,
    places: Places,
    resolved: Resolved,
}

impl Scenario {
    /// Reads a text: JSON if the file's name ends with `.json`, or if it begins with a brace and its file's name does not
    /// end with `.toml`; else TOML. Overrides are applied before it is checked, so they may give what the text lacks.
    ///
    /// # Errors
    /// With all mistakes of the text, or if a path leads nowhere.
    pub fn from_text(
        text: &str,
        file: Option<&str>,
        overrides: &Table,
        files: &dyn Files,
    ) -> Result<Scenario, Mistakes> {
        let suffix = file.and_then(|file| file.rsplit_once('.')).map(|(_, suffix)| suffix.to_lowercase());
        let is_json = match suffix.as_deref() {
            Some("json") => true,
            Some("toml") => false,
            _ => text.trim_start().starts_with('{'),
        };
        let parsed = if is_json { json::parse(text) } else { toml::parse(text) };
        let table = parsed.map_err(|mistake| mistake.file(file))?;
        if overrides.entries.is_empty() {
            let text = (!is_json).then(|| text.to_owned());
            return Scenario::of_parts(table, text, file, Table::default(), files);
        }
        Scenario::overridden(&table, overrides, None, file, overrides.clone(), files)
    }

    /// Reads TOML.
    ///
    /// # Errors
    /// With all mistakes of the text.
    pub fn from_toml(text: &str, file: Option<&str>, files: &dyn Files) -> Result<Scenario, Mistakes> {
        let table = toml::parse(text).map_err(|mistake| mistake.file(file))?;
        Scenario::of_parts(table, Some(text.to_owned()), file, Table::default(), files)
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// With all mistakes of the text.
    pub fn from_json(text: &str, file: Option<&str>, files: &dyn Files) -> Result<Scenario, Mistakes> {
        let table = json::parse(text).map_err(|mistake| mistake.file(file))?;
        Scenario::of_parts(table, None, file, Table::default(), files)
    }

    /// Reads a table; `file` is for messages.
    ///
    /// # Errors
    /// With all mistakes of the table.
    pub fn from_table(table: Table, file: Option<&str>, files: &dyn Files) -> Result<Scenario, Mistakes> {
        Scenario::of_parts(table, None, file, Table::default(), files)
    }

    /// A changed copy; texts are read as on a command line.
    ///
    /// # Errors
    /// If a path leads nowhere or the result is not a scenario.
    pub fn with_overrides(&self, overrides: &Table, files: &dyn Files) -> Result<Scenario, Mistakes> {
        let mut all = self.overrides.clone();
        for entry in &overrides.entries {
            all.set(&entry.name, entry.node.clone());
        }
        let text = if overrides.entries.is_empty() { self.text.clone() } else { None };
        Scenario::overridden(&self.table, overrides, text, self.file(), all, files)
    }

    /// Applies overrides; those that lead nowhere hide no other mistakes.
    fn overridden(
        table: &Table,
        overrides: &Table,
        text: Option<String>,
        file: Option<&str>,
        all: Table,
        files: &dyn Files,
    ) -> Result<Scenario, Mistakes> {
        let (table, mistakes) = overrides::apply(table, overrides);
        let scenario = Scenario::of_parts(table, text, file, all, files);
        if mistakes.is_empty() {
            return scenario;
        }
        Err(scenario.err().into_iter().fold(Mistakes::from(mistakes), Mistakes::and))
    }

    /// The scenario of a table, with what is known of where it comes from: its text, if the table is as that has it, its
    /// file, and the overrides since.
    ///
    /// # Errors
    /// With all mistakes of the table.
    pub fn of_parts(
        table: Table,
        text: Option<String>,
        file: Option<&str>,
        overrides: Table,
        files: &dyn Files,
    ) -> Result<Scenario, Mistakes> {
        check_plain(&table).map_err(|mistake| mistake.file(file))?;
        let places = Places::of(&table);
        let mut reading = Reading::new(files, &places);
        let root = Root::read(&Value::Table(table.clone()), &mut reading);
        let resolved = if let Some(root) = root.filter(|_| !reading.has_failed()) {
            check(root, &mut reading)
        } else {
            check_readable(&table, &mut reading);
            None
        };
        let resolved = reading.finish(resolved).map_err(|mistakes| {
            mistakes.map(|mistake| overrides::attributed(mistake, &table, &overrides)).file(file)
        })?;
        Ok(Scenario { table, text, file: file.map(str::to_owned), overrides, places, resolved })
    }

    /// What it means.
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// The table as given, overrides applied.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The file that it was read from.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The text, if nothing changed what it says.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The overrides since it was read, by path.
    pub fn overrides(&self) -> &Table {
        &self.overrides
    }

    /// The run's name, or the file's without folder and suffix, or "scenario".
    pub fn title(&self) -> String {
        let file = self.file.as_deref().map(|file| {
            let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
            name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
        });
        self.resolved.run.name.as_deref().or(file).unwrap_or("scenario").to_owned()
    }

    /// TOML that reads as the same scenario: the text as given if nothing changed it.
    ///
    /// Relative paths of `empirical(…)` stay relative to the original file's folder.
    pub fn to_toml(&self) -> String {
        self.text.clone().unwrap_or_else(|| write::toml(&self.table))
    }

    /// Where the value of a key stands in the file.
    pub fn place(&self, key: &str) -> Option<Place> {
        self.places.value(key)
    }

    /// A mistake found after reading, with its file and place.
    pub(crate) fn placed(&self, mistake: Mistake) -> Mistakes {
        let place = mistake.key.as_deref().and_then(|key| self.place(key));
        overrides::attributed(mistake.place(place), &self.table, &self.overrides).file(self.file()).into()
    }
}
