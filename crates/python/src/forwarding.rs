//! A plan's link for packets that a kernel sends, for Python.

use bufferlab_forwarder::Forwarder;
use bufferlab_simulator::{Column, Outcome, Table};
use bufferlab_units::Time;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Map, Value};

use crate::{faults, read_plan};

const PS_PER_NS: u64 = 1_000;

/// A plan's link with the packets that are in it. Times are nanoseconds since the run's start.
#[pyclass(name = "Forwarder", module = "bufferlab._core")]
pub struct PyForwarder {
    /// `None` once it was finished, or a bug of the engine broke it.
    forwarder: Option<Forwarder>,
}

#[pymethods]
impl PyForwarder {
    #[new]
    #[pyo3(signature = (plan_json, first_port, program_group = None))]
    fn new(plan_json: &str, first_port: u16, program_group: Option<u16>) -> PyResult<Self> {
        let forwarder = Forwarder::new(&read_plan(plan_json)?, first_port);
        let forwarder = forwarder.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let forwarder = match program_group {
            Some(group) => forwarder.with_program(group),
            None => forwarder,
        };
        Ok(Self { forwarder: Some(forwarder) })
    }

    /// A packet comes.
    fn arrive(&mut self, now_ns: u64, packet: &[u8]) -> PyResult<()> {
        let packet = packet.to_vec();
        self.with(|forwarder| forwarder.arrive(time(now_ns), packet))?
            .map_err(|stray| PyValueError::new_err(stray.to_string()))
    }

    /// A flow's sender states this round-trip time from now on.
    fn state(&mut self, flow: usize, rtt_us: u32) -> PyResult<()> {
        self.with(|forwarder| forwarder.state(flow, rtt_us))
    }

    /// When to ask for packets, rounded up; `None` if there is nothing to wait for.
    fn next_ns(&mut self) -> PyResult<Option<u64>> {
        let next = self.with(|forwarder| forwarder.next())?;
        Ok((next < Time::NEVER).then(|| next.as_ps().div_ceil(PS_PER_NS)))
    }

    /// The next packet that has left by now.
    fn take<'py>(&mut self, py: Python<'py>, now_ns: u64) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let packet = self.with(|forwarder| forwarder.take(time(now_ns)))?;
        Ok(packet.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// Bytes and packets that left, packets and bytes that wait, drops, marks.
    fn counters(&mut self, now_ns: u64) -> PyResult<[u64; 6]> {
        let (counters, marks) = self.with(|forwarder| forwarder.counters(time(now_ns)))?;
        Ok([
            counters.departed_bytes,
            counters.departed_packets,
            counters.backlog_packets,
            counters.backlog_bytes,
            counters.dropped_packets,
            marks,
        ])
    }

    /// Ends it: the link's tables as of now, or of the plan's end if that comes first, as JSON, by table and column.
    #[pyo3(signature = (now_ns = u64::MAX))]
    fn finish(&mut self, now_ns: u64) -> PyResult<String> {
        let forwarder = self.forwarder.take().ok_or_else(finished)?;
        let outcome = faults::caught(|| forwarder.finish(time(now_ns))).map_err(|fault| failed(&fault))?;
        Ok(Value::Object(tables(outcome)).to_string())
    }
}

impl PyForwarder {
    fn with<T>(&mut self, work: impl FnOnce(&mut Forwarder) -> T) -> PyResult<T> {
        let mut forwarder = self.forwarder.take().ok_or_else(finished)?;
        let result = faults::caught(|| work(&mut forwarder)).map_err(|fault| failed(&fault))?;
        self.forwarder = Some(forwarder);
        Ok(result)
    }
}

fn tables(outcome: Outcome) -> Map<String, Value> {
    [
        ("queues", columns(outcome.queues)),
        ("histograms", columns(outcome.histograms)),
        ("classes", columns(outcome.classes)),
        ("class_histograms", columns(outcome.class_histograms)),
        ("queue_samples", columns(outcome.queue_samples)),
        ("class_samples", columns(outcome.class_samples)),
    ]
    .into_iter()
    .map(|(name, table)| (name.to_owned(), table))
    .collect()
}

fn columns(table: impl Table) -> Value {
    let column = |column: Column| match column {
        Column::U32(values) => Value::from(values),
        Column::U64(values) => Value::from(values),
        Column::F64(values) => Value::from(values),
    };
    table.into_columns().into_iter().map(|(name, values)| (name.to_owned(), column(values))).collect()
}

fn time(ns: u64) -> Time {
    Time::from_ps(ns.saturating_mul(PS_PER_NS))
}

fn finished() -> PyErr {
    PyValueError::new_err("forwarder: it is finished")
}

fn failed(fault: &str) -> PyErr {
    PyRuntimeError::new_err(format!("the engine failed: {fault}"))
}

/// When each datagram of each flow leaves, ps, and its size on the wire; at most `most` of a flow.
#[pyfunction]
pub fn datagrams(plan_json: &str, most: usize) -> PyResult<Vec<Vec<(u64, u32)>>> {
    let flows = bufferlab_simulator::datagrams(&read_plan(plan_json)?, most);
    let plain = |flow: Vec<(Time, u32)>| flow.into_iter().map(|(at, bytes)| (at.as_ps(), bytes)).collect();
    Ok(flows.into_iter().map(plain).collect())
}

/// The first turns of each flow that has data by turns: bytes, and how long it is silent then, ps.
#[pyfunction]
pub fn turns(plan_json: &str, count: usize) -> PyResult<Vec<Vec<(u64, u64)>>> {
    Ok(bufferlab_simulator::turns(&read_plan(plan_json)?, count))
}
