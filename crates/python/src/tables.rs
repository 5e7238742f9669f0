//! The outcome's columns as Arrow record batches, and their way to Python.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, StringArray, UInt32Array, UInt64Array,
};
use arrow_schema::ArrowError;
use bufferlab_observe::Observation;
use bufferlab_simulator::{Column, Outcome, Table};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// The tables of an outcome.
pub struct Tables<T> {
    pub flows: T,
    pub queues: T,
    pub histograms: T,
    pub classes: T,
    pub class_histograms: T,
    pub queue_samples: T,
    pub class_samples: T,
    pub sender_samples: T,
    pub receiver_samples: T,
    pub exchanges: T,
    pub segments: T,
}

/// A table on its way to Python; anything that reads Arrow streams takes it, as often as it likes.
#[pyclass(name = "Table", module = "bufferlab._core", frozen)]
pub struct PyTable {
    batch: RecordBatch,
}

impl PyTable {
    /// Shares the batch's buffers.
    pub fn new(batch: &RecordBatch) -> Self {
        Self { batch: batch.clone() }
    }
}

#[pymethods]
impl PyTable {
    /// The Arrow stream of the table. `requested_schema` may be ignored by the interface's rules.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let schema = self.batch.schema();
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], schema);
        // The capsule owns the stream; a reader that takes it leaves a released one, which drops to nothing.
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }
}

/// Moves an outcome's columns into batches.
///
/// # Errors
///
/// If the columns of a table differ in length, which is a bug of the engine.
pub fn from_outcome(outcome: Outcome) -> Result<Tables<RecordBatch>, ArrowError> {
    Ok(Tables {
        flows: batch(outcome.flows)?,
        queues: batch(outcome.queues)?,
        histograms: batch(outcome.histograms)?,
        classes: batch(outcome.classes)?,
        class_histograms: batch(outcome.class_histograms)?,
        queue_samples: batch(outcome.queue_samples)?,
        class_samples: batch(outcome.class_samples)?,
        sender_samples: batch(outcome.sender_samples)?,
        receiver_samples: batch(outcome.receiver_samples)?,
        exchanges: batch(outcome.exchanges)?,
        segments: batch(outcome.segments)?,
    })
}

/// Moves an observation's columns into batches, by their tables' names.
///
/// # Errors
///
/// If the columns of a table differ in length, which is a bug of the analysis.
pub fn observed(observation: Observation) -> Result<BTreeMap<&'static str, RecordBatch>, ArrowError> {
    let batch = |(name, columns): (_, Vec<_>)| {
        let arrays = columns.into_iter().map(|(name, column)| (name, observed_array(column)));
        Ok((name, RecordBatch::try_from_iter(arrays)?))
    };
    observation.into_tables().into_iter().map(batch).collect()
}

fn batch(table: impl Table) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter(table.into_columns().into_iter().map(|(name, column)| (name, array(column))))
}

/// The column as an Arrow array, without a copy.
fn array(column: Column) -> ArrayRef {
    match column {
        Column::U32(values) => Arc::new(UInt32Array::from(values)),
        Column::U64(values) => Arc::new(UInt64Array::from(values)),
        Column::F64(values) => Arc::new(Float64Array::from(values)),
    }
}

/// The same for an observation's; text is copied.
fn observed_array(column: bufferlab_observe::Column) -> ArrayRef {
    use bufferlab_observe::Column::{F64, Text, U32, U64};
    match column {
        U32(values) => Arc::new(UInt32Array::from(values)),
        U64(values) => Arc::new(UInt64Array::from(values)),
        F64(values) => Arc::new(Float64Array::from(values)),
        Text(values) => Arc::new(StringArray::from(values)),
    }
}
