//! The outcome's columns as Arrow record batches, and their way to Python.

use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, Float64Array, RecordBatch, RecordBatchIterator, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use bufferlab_simulator::{
    ClassHistogramTable, ClassSampleTable, ClassTable, ExchangeTable, FlowTable, HistogramTable, Outcome,
    QueueSampleTable, QueueTable, ReceiverSampleTable, SenderSampleTable,
};
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

/// A column that becomes an Arrow array without being copied.
trait Column {
    fn into_array(self) -> ArrayRef;
}

impl Column for Vec<u32> {
    fn into_array(self) -> ArrayRef {
        Arc::new(UInt32Array::from(self))
    }
}

impl Column for Vec<u64> {
    fn into_array(self) -> ArrayRef {
        Arc::new(UInt64Array::from(self))
    }
}

impl Column for Vec<f64> {
    fn into_array(self) -> ArrayRef {
        Arc::new(Float64Array::from(self))
    }
}

/// A batch of the named columns. A column that is not named here does not compile.
macro_rules! batch {
    ($table:expr, $kind:ident { $($column:ident),* $(,)? }) => {{
        let $kind { $($column),* } = $table;
        RecordBatch::try_from_iter([$((stringify!($column), $column.into_array())),*])
    }};
}

/// Moves an outcome's columns into batches.
///
/// # Errors
///
/// If the columns of a table differ in length, which is a bug of the engine.
pub fn from_outcome(outcome: Outcome) -> Result<Tables<RecordBatch>, ArrowError> {
    Ok(Tables {
        flows: flows(outcome.flows)?,
        queues: queues(outcome.queues)?,
        histograms: batch!(outcome.histograms, HistogramTable { link, group, lower_ps, upper_ps, count })?,
        classes: classes(outcome.classes)?,
        class_histograms: batch!(
            outcome.class_histograms,
            ClassHistogramTable { link, class, lower_ps, upper_ps, count }
        )?,
        queue_samples: queue_samples(outcome.queue_samples)?,
        class_samples: class_samples(outcome.class_samples)?,
        sender_samples: sender_samples(outcome.sender_samples)?,
        receiver_samples: batch!(
            outcome.receiver_samples,
            ReceiverSampleTable { time_ps, flow, delivered_bytes }
        )?,
        exchanges: batch!(outcome.exchanges, ExchangeTable { flow, number, start_ps, end_ps, bytes })?,
    })
}

fn flows(table: FlowTable) -> Result<RecordBatch, ArrowError> {
    batch!(
        table,
        FlowTable {
            flow,
            group,
            start_ps,
            rtt_ps,
            delivered_bytes,
            whole_delivered_bytes,
            sent_packets,
            whole_sent_packets,
            retransmissions,
            whole_retransmissions,
            timeouts,
            whole_timeouts,
            recoveries,
            whole_recoveries,
            reordered_packets,
            whole_reordered_packets,
            spurious_retransmissions,
            whole_spurious_retransmissions,
            rtt_sum_ps,
            rtt_samples,
            finished_ps,
            received_ps,
        }
    )
}

fn queues(table: QueueTable) -> Result<RecordBatch, ArrowError> {
    batch!(
        table,
        QueueTable {
            link,
            group,
            arrived_packets,
            arrived_bytes,
            dropped_packets,
            dropped_bytes,
            lost_packets,
            marked_packets,
            departed_packets,
            departed_bytes,
            served_packets,
            wait_mean_ps,
            wait_max_ps,
            backlog_mean_packets,
            backlog_mean_bytes,
            backlog_p1_packets,
            backlog_p50_packets,
            backlog_p95_packets,
            backlog_p99_packets,
            backlog_max_packets,
            backlog_max_bytes,
            empty_fraction,
            whole_arrived_packets,
            whole_dropped_packets,
            whole_lost_packets,
            whole_departed_packets,
            left_packets,
            busy_fraction,
        }
    )
}

fn classes(table: ClassTable) -> Result<RecordBatch, ArrowError> {
    batch!(
        table,
        ClassTable {
            link,
            class,
            arrived_packets,
            arrived_bytes,
            dropped_packets,
            dropped_bytes,
            departed_packets,
            departed_bytes,
            served_packets,
            wait_mean_ps,
            wait_max_ps,
            whole_arrived_packets,
            whole_dropped_packets,
            whole_departed_packets,
            left_packets,
            busy_fraction,
        }
    )
}

fn class_samples(table: ClassSampleTable) -> Result<RecordBatch, ArrowError> {
    batch!(
        table,
        ClassSampleTable {
            time_ps,
            link,
            class,
            backlog_packets,
            backlog_bytes,
            limit_packets,
            limit_bytes,
            threshold_ps,
            rtt_ps,
            delay_ps,
            flows,
            weight,
            state_bytes,
        }
    )
}

fn queue_samples(table: QueueSampleTable) -> Result<RecordBatch, ArrowError> {
    batch!(
        table,
        QueueSampleTable {
            time_ps,
            link,
            backlog_packets,
            backlog_bytes,
            arrived_packets,
            dropped_packets,
            departed_bytes,
        }
    )
}

fn sender_samples(table: SenderSampleTable) -> Result<RecordBatch, ArrowError> {
    batch!(
        table,
        SenderSampleTable {
            time_ps,
            flow,
            cwnd_segments,
            ssthresh_segments,
            srtt_ps,
            rtt_sum_ps,
            rtt_samples,
            inflight_segments,
            retransmissions,
        }
    )
}
