//! Scenarios for Python: text and dictionaries in, what they mean and their plans out.

mod convert;
mod errors;
mod values;

use bufferlab_scenario::{Files, Mistake, Scenario, Seeded, TraceFormat, canonical_json, hash_of, plan_json};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use convert::{from_python, table_from_python};
use errors::{raise, raise_all};
use values::{table_to_python, to_python};

/// A scenario: what was given, and what it means.
#[pyclass(name = "Scenario", module = "bufferlab._core", frozen)]
pub struct PyScenario {
    scenario: Scenario,
    /// Reads the files that the scenario names: a path in, the file's name and text out.
    read: Py<PyAny>,
}

/// Files as Python reads them.
struct PythonFiles<'a, 'py> {
    read: &'a Bound<'py, PyAny>,
}

impl Files for PythonFiles<'_, '_> {
    fn read(&self, path: &str) -> Result<(String, String), Mistake> {
        let read = self.read.call1((path,)).and_then(|read| read.extract());
        read.map_err(|error| errors::to_mistake(self.read.py(), &error, path))
    }
}

impl PyScenario {
    fn build(
        read: &Bound<'_, PyAny>,
        build: impl FnOnce(&dyn Files) -> Result<Scenario, bufferlab_scenario::Mistakes>,
    ) -> PyResult<PyScenario> {
        let scenario = build(&PythonFiles { read }).map_err(|mistakes| raise_all(read.py(), &mistakes))?;
        Ok(PyScenario { scenario, read: read.clone().unbind() })
    }
}

#[pymethods]
impl PyScenario {
    /// Reads a text, JSON or TOML by the file's suffix or by its first character, with overrides.
    #[staticmethod]
    fn from_text(
        text: &str,
        file: Option<&str>,
        overrides: &Bound<'_, PyAny>,
        read: &Bound<'_, PyAny>,
    ) -> PyResult<PyScenario> {
        let overrides = convert::overrides_from_python(overrides)?;
        PyScenario::build(read, |files| Scenario::from_text(text, file, &overrides, files))
    }

    /// What `parts` tells, back.
    #[staticmethod]
    fn of_parts(
        parts: (Bound<'_, PyAny>, Option<String>, Option<String>, Bound<'_, PyAny>),
        read: &Bound<'_, PyAny>,
    ) -> PyResult<PyScenario> {
        let (table, text, file, overrides) = parts;
        let table = table_from_python(&table, file.as_deref())?;
        let overrides = convert::overrides_from_python(&overrides)?;
        PyScenario::build(read, |files| Scenario::of_parts(table, text, file.as_deref(), overrides, files))
    }

    /// Reads TOML.
    #[staticmethod]
    fn from_toml(text: &str, file: Option<&str>, read: &Bound<'_, PyAny>) -> PyResult<PyScenario> {
        PyScenario::build(read, |files| Scenario::from_toml(text, file, files))
    }

    /// Reads JSON.
    #[staticmethod]
    fn from_json(text: &str, file: Option<&str>, read: &Bound<'_, PyAny>) -> PyResult<PyScenario> {
        PyScenario::build(read, |files| Scenario::from_json(text, file, files))
    }

    /// Reads a table.
    #[staticmethod]
    fn from_dict(
        table: &Bound<'_, PyAny>,
        file: Option<&str>,
        read: &Bound<'_, PyAny>,
    ) -> PyResult<PyScenario> {
        let table = table_from_python(table, file)?;
        PyScenario::build(read, |files| Scenario::from_table(table, file, files))
    }

    /// A changed copy.
    fn with_overrides(&self, py: Python<'_>, overrides: &Bound<'_, PyAny>) -> PyResult<PyScenario> {
        let overrides = convert::overrides_from_python(overrides)?;
        PyScenario::build(self.read.bind(py), |files| self.scenario.with_overrides(&overrides, files))
    }

    /// The twin with a part of the rates and flows.
    fn twin(&self, py: Python<'_>, factor: u64) -> PyResult<PyScenario> {
        PyScenario::build(self.read.bind(py), |files| self.scenario.twin(factor, files))
    }

    /// The table as given, overrides applied.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        table_to_python(py, self.scenario.table())
    }

    /// The text, if nothing changed what it says.
    #[getter]
    fn text(&self) -> Option<&str> {
        self.scenario.text()
    }

    /// TOML that reads as the same scenario.
    fn to_toml(&self) -> String {
        self.scenario.to_toml()
    }

    /// What it means, as JSON.
    fn resolved_json(&self) -> String {
        serde_json::to_string(self.scenario.resolved()).expect("a resolved scenario is JSON")
    }

    /// The scenario under a seed, its own if there is none.
    #[pyo3(signature = (seed = None))]
    fn seeded(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<PySeeded> {
        let seeded = py.detach(|| self.scenario.seeded(seed));
        seeded.map(PySeeded).map_err(|mistakes| raise_all(py, &mistakes))
    }

    /// The run's name, or the file's, or "scenario".
    #[getter]
    fn title(&self) -> String {
        self.scenario.title()
    }

    /// The file that it was read from.
    #[getter]
    fn file(&self) -> Option<&str> {
        self.scenario.file()
    }

    /// The overrides since it was read, by path.
    #[getter]
    fn overrides<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        table_to_python(py, self.scenario.overrides())
    }

    /// Line and column of a key's value in the file, if it stands there.
    fn place(&self, key: &str) -> Option<(usize, usize)> {
        self.scenario.place(key).map(|place| (place.line, place.column))
    }

    /// Whether two come from the same table.
    fn is_same(&self, other: &PyScenario) -> bool {
        self.scenario.resolved() == other.scenario.resolved()
    }
}

/// A scenario under a seed.
#[pyclass(name = "Seeded", module = "bufferlab._core", frozen)]
pub struct PySeeded(Seeded);

#[pymethods]
impl PySeeded {
    /// The plan as canonical JSON.
    fn plan_json(&self) -> String {
        plan_json(&self.0.plan)
    }

    /// The scenario with what the seed settles, as JSON.
    fn resolved_json(&self) -> String {
        serde_json::to_string(&self.0.resolved).expect("a resolved scenario is JSON")
    }

    /// What was drawn for each group, as JSON.
    fn draws_json(&self) -> String {
        serde_json::to_string(&self.0.draws).expect("numbers are JSON")
    }
}

/// A value of a command line: TOML where it is TOML, else the text itself.
#[pyfunction]
pub fn parse_value<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &bufferlab_scenario::parse_value(text))
}

/// What a rate offers as a file: a packet-delivery trace, or with a step in ps rates over time.
#[pyfunction]
pub fn trace_text(
    rate: &str,
    length_ps: Option<u64>,
    step_ps: Option<u64>,
    read: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let format = step_ps.map_or(TraceFormat::Mahimahi, |step_ps| TraceFormat::Csv(step_ps.max(1)));
    let rate = bufferlab_scenario::Value::text(rate);
    bufferlab_scenario::trace_text(&rate, length_ps, format, &PythonFiles { read })
        .map_err(|mistake| raise(read.py(), &mistake))
}

/// "path=value" as a command line has it.
#[pyfunction]
pub fn split_override(py: Python<'_>, text: &str) -> PyResult<(String, String)> {
    bufferlab_scenario::split_override(text).map_err(|mistake| raise(py, &mistake))
}

/// A Python value as a file could hold it: tables, lists and scalars, copied; `key` is for messages.
#[pyfunction]
pub fn plain<'py>(py: Python<'py>, value: &Bound<'py, PyAny>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    to_python(py, &from_python(value, key)?)
}

/// A quantity of text, in its least unit: "time" in picoseconds, "rate" in bits per second, "size" in bytes; at least so much.
#[pyfunction]
pub fn parse_quantity(py: Python<'_>, kind: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<u64> {
    let value = from_python(value, "")?;
    let read = bufferlab_scenario::parse_quantity(kind, &value, least);
    read.map_err(|mistake| raise(py, &mistake))
}

/// Checks the word of a congestion control or the size of a buffer, whichever `kind` says.
#[pyfunction]
pub fn check_word(py: Python<'_>, kind: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let value = from_python(value, "")?;
    bufferlab_scenario::check_word(kind, &value).map_err(|mistake| raise(py, &mistake))
}

/// A quantity in its least unit, a "time", "rate" or "size", for people.
#[pyfunction]
pub fn format_quantity(kind: &str, amount: u64) -> String {
    bufferlab_scenario::format_quantity(kind, amount)
}

/// A unit of size in its usual spelling and how many bytes it is; nothing if it is none.
#[pyfunction]
pub fn size_unit(unit: &str) -> Option<(&'static str, u64)> {
    bufferlab_scenario::size_unit(unit)
}

/// What `queue` may be in one word, and the table that each stands for.
#[pyfunction]
pub fn queue_words(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let words = PyDict::new(py);
    for (word, table) in bufferlab_scenario::queue_words() {
        words.set_item(word, table_to_python(py, &table)?)?;
    }
    Ok(words)
}

/// The canonical form of a plan's JSON.
#[pyfunction]
pub fn canonical_plan(text: &str) -> PyResult<String> {
    canonical_json(text).map_err(|error| PyValueError::new_err(format!("plan: {error}")))
}

/// The identity of a plan: SHA-256 of its canonical JSON, in hexadecimal.
#[pyfunction]
pub fn hash_plan(text: &str) -> PyResult<String> {
    Ok(hash_of(&canonical_plan(text)?))
}
