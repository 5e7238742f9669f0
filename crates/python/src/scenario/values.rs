//! A scenario's values as Python has them.

use bufferlab_scenario::{Table, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

/// A table as a dictionary.
pub fn table_to_python<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for entry in &table.entries {
        dict.set_item(&entry.name, to_python(py, &entry.node.value)?)?;
    }
    Ok(dict)
}

/// A value as Python has it.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Flag(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Whole(number) => number.into_pyobject(py)?.into_any(),
        // no key takes one; of more than 4300 digits Python makes no number
        Value::Huge(digits) => {
            let number = py.get_type::<PyInt>().call1((digits,));
            number.unwrap_or_else(|_| PyString::new(py, digits).into_any())
        }
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Text(text) | Value::Other(text) => PyString::new(py, text).into_any(),
        Value::List(items) => {
            let items = items.iter().map(|item| to_python(py, &item.value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Table(table) => table_to_python(py, table)?.into_any(),
    })
}
