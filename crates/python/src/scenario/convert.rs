//! Python's values as scenarios have them.

use bufferlab_scenario::{DEEPEST, Entry, Mistake, Node, Table, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use super::errors::{raise, raise_about};

const ACCEPTED: &str = "tables, lists, texts, numbers, true and false";

/// A mapping with all within it, copied.
pub fn table_from_python(value: &Bound<'_, PyAny>, file: Option<&str>) -> PyResult<Table> {
    let Ok(mapping) = value.cast::<PyMapping>() else {
        let mistake =
            Mistake::new("is not a scenario").accepted("a table with run, links and flows").file(file);
        return Err(raise_about(value.py(), &mistake, value));
    };
    table(mapping, "", 0, file)
}

/// Overrides by path; what is wrong with a value names its path.
pub fn overrides_from_python(value: &Bound<'_, PyAny>) -> PyResult<Table> {
    let mapping = value.cast::<PyMapping>()?;
    let mut overrides = Table::default();
    for pair in mapping.items()?.iter() {
        let (path, given): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let path = path.str()?.to_string_lossy().into_owned();
        let value = convert(&given, &path, 0, Some("--set"))?;
        overrides.set(&path, Node::new(value));
    }
    Ok(overrides)
}

/// A value of any nesting; `key` is for messages.
pub fn from_python(value: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
    convert(value, key, 0, None)
}

fn convert(value: &Bound<'_, PyAny>, key: &str, depth: usize, file: Option<&str>) -> PyResult<Value> {
    let py = value.py();
    let placed = |mistake: Mistake| {
        let mistake = mistake.file(file);
        if key.is_empty() { mistake } else { mistake.key(key) }
    };
    if depth > DEEPEST {
        let accepted = format!("at most {DEEPEST} levels");
        return Err(raise(py, &placed(Mistake::new("is nested too deeply").accepted(accepted))));
    }
    if is_numpy_scalar(value) {
        return convert(&value.call_method0("item")?, key, depth, file);
    }
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(Value::Flag(flag.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(match value.extract::<i128>() {
            Ok(number) => Value::Whole(number),
            Err(_) => Value::Huge(huge(value)),
        });
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Value::Float(number.value()));
    }
    if let Some(text) = value.cast::<PyString>().ok().and_then(|text| text.to_str().ok().map(str::to_owned)) {
        return Ok(Value::Text(text));
    }
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return table(mapping, key, depth, file).map(Value::Table);
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value
            .try_iter()?
            .enumerate()
            .map(|(index, item)| convert(&item?, &format!("{key}[{index}]"), depth + 1, file).map(Node::new));
        return items.collect::<PyResult<_>>().map(Value::List);
    }
    let mistake = placed(Mistake::new("is not a value of a scenario").accepted(ACCEPTED));
    Err(raise_about(py, &mistake, value))
}

fn table(mapping: &Bound<'_, PyMapping>, key: &str, depth: usize, file: Option<&str>) -> PyResult<Table> {
    let mut entries = Vec::new();
    for pair in mapping.items()?.iter() {
        let (name, item): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let text = name.cast::<PyString>().ok().and_then(|name| name.to_str().ok().map(str::to_owned));
        let Some(name) = text else {
            let mistake = Mistake::new("has a key that is no text").accepted("texts as keys").file(file);
            let mistake = if key.is_empty() { mistake } else { mistake.key(key) };
            return Err(raise_about(mapping.py(), &mistake, mapping.as_any()));
        };
        let below = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        let below_depth = if key.is_empty() && depth == 0 { 0 } else { depth + 1 };
        let node = Node::new(convert(&item, &below, below_depth, file)?);
        entries.push(Entry { name, place: None, node });
    }
    Ok(Table { entries })
}

fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> bool {
    let module = value.get_type().module().ok();
    let of_numpy = module.is_some_and(|module| module.to_str().is_ok_and(|module| module == "numpy"));
    of_numpy
        && value.hasattr("dtype").unwrap_or(false)
        && value.getattr("ndim").is_ok_and(|n| n.eq(0).unwrap_or(false))
}

/// A whole number of very many digits; where Python refuses to write them its sign is enough.
fn huge(value: &Bound<'_, PyAny>) -> String {
    let is_negative = value.lt(0).unwrap_or(false);
    let digits = value.str().map(|text| text.to_string_lossy().into_owned());
    digits.unwrap_or_else(|_| format!("{}{}", if is_negative { "-" } else { "" }, "9".repeat(100)))
}
