//! Mistakes as Python's `InputError`, and back.

use bufferlab_scenario::{Mistake, Mistakes};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::values::to_python;

/// The exception for one mistake.
pub fn raise(py: Python<'_>, mistake: &Mistake) -> PyErr {
    let value = mistake.value.as_ref().map(|value| to_python(py, value)).transpose();
    value.and_then(|value| input_error(py, mistake, value)).map_or_else(|error| error, PyErr::from_value)
}

/// The exception for a mistake about a Python object.
pub fn raise_about(py: Python<'_>, mistake: &Mistake, value: &Bound<'_, PyAny>) -> PyErr {
    input_error(py, mistake, Some(value.clone())).map_or_else(|error| error, PyErr::from_value)
}

/// The exception for all mistakes of a scenario: a line each.
pub fn raise_all(py: Python<'_>, mistakes: &Mistakes) -> PyErr {
    let errors: Vec<PyErr> = mistakes.iter().map(|mistake| raise(py, mistake)).collect();
    match <[PyErr; 1]>::try_from(errors) {
        Ok([only]) => only,
        Err(errors) => {
            let values: Vec<Bound<'_, PyAny>> =
                errors.into_iter().map(|error| error.into_value(py).into_bound(py).into_any()).collect();
            let joined = class(py).and_then(|class| class.call_method1("of", (PyList::new(py, values)?,)));
            joined.map_or_else(|error| error, PyErr::from_value)
        }
    }
}

/// A mistake from what a reader of files raised.
pub fn to_mistake(py: Python<'_>, error: &PyErr, path: &str) -> Mistake {
    let value = error.value(py);
    let text = |name: &str| {
        value.getattr(name).ok().and_then(|text| text.extract::<Option<String>>().ok()).flatten()
    };
    let file = text("file").unwrap_or_else(|| path.to_owned());
    let mistake = Mistake::new(text("problem").unwrap_or_else(|| error.to_string())).file(Some(&file));
    match text("accepted") {
        Some(accepted) => mistake.accepted(accepted),
        None => mistake,
    }
}

fn class(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("bufferlab.errors")?.getattr("InputError")
}

fn input_error<'py>(
    py: Python<'py>,
    mistake: &Mistake,
    value: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let details = PyDict::new(py);
    details.set_item("file", mistake.file.as_deref())?;
    details.set_item("key", mistake.key.as_deref())?;
    details.set_item("accepted", mistake.accepted.as_deref())?;
    if let Some(value) = value {
        details.set_item("value", value)?;
    }
    if let Some(place) = mistake.place {
        details.set_item("line", place.line)?;
        details.set_item("column", place.column)?;
    }
    class(py)?.call((mistake.problem.as_str(),), Some(&details))
}
