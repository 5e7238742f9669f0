//! A run that stops at moments, for Python.

use std::sync::{Arc, Mutex, PoisonError};

use bufferlab_simulator::{Control, FlowState, LinkCounters, PlanError, Session};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::{PyControl, PyOutcome, faults, read_plan};

/// What a link has counted by a moment.
#[pyclass(name = "LinkCounters", module = "bufferlab._core", frozen, get_all)]
pub struct PyLinkCounters {
    arrived_packets: u64,
    dropped_packets: u64,
    departed_packets: u64,
    departed_bytes: u64,
    backlog_packets: u64,
    backlog_bytes: u64,
    served_packets: u64,
    /// In picoseconds.
    waited_ps: u128,
}

impl From<LinkCounters> for PyLinkCounters {
    fn from(counters: LinkCounters) -> Self {
        Self {
            arrived_packets: counters.arrived_packets,
            dropped_packets: counters.dropped_packets,
            departed_packets: counters.departed_packets,
            departed_bytes: counters.departed_bytes,
            backlog_packets: counters.backlog_packets,
            backlog_bytes: counters.backlog_bytes,
            served_packets: counters.served_packets,
            waited_ps: counters.waited_ps,
        }
    }
}

/// A flow's sender at a moment.
#[pyclass(name = "FlowState", module = "bufferlab._core", frozen, get_all)]
pub struct PyFlowState {
    cwnd_segments: f64,
    /// In picoseconds; zero before the first sample.
    srtt_ps: u64,
    inflight_segments: u64,
    acknowledged_segments: u64,
    sent_packets: u64,
    retransmissions: u64,
}

impl From<FlowState> for PyFlowState {
    fn from(state: FlowState) -> Self {
        Self {
            cwnd_segments: state.cwnd_segments,
            srtt_ps: state.srtt_ps,
            inflight_segments: state.inflight_segments,
            acknowledged_segments: state.acknowledged_segments,
            sent_packets: state.sent_packets,
            retransmissions: state.retransmissions,
        }
    }
}

/// A simulation that is looked at, and changed, on its way. One thread at a time works on it.
#[pyclass(name = "Session", module = "bufferlab._core", frozen)]
pub struct PySession {
    /// `None` once it was finished, or a bug of the engine broke it.
    session: Mutex<Option<Session>>,
}

#[pymethods]
impl PySession {
    #[new]
    fn new(plan_json: &str) -> PyResult<Self> {
        let session = Session::new(&read_plan(plan_json)?).map_err(|error| invalid(&error))?;
        Ok(Self { session: Mutex::new(Some(session)) })
    }

    /// The moment reached, ps.
    #[getter]
    fn now_ps(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |session| session.now_ps())
    }

    /// Runs up to a moment; false if `control` canceled it. The interpreter stays free meanwhile.
    #[pyo3(signature = (until_ps, control = None))]
    fn advance(&self, py: Python<'_>, until_ps: u64, control: Option<&PyControl>) -> PyResult<bool> {
        let control = shared(control);
        self.with(py, move |session| session.advance(until_ps, &control))
    }

    /// Gives a link another limit, as JSON of the plan's form, from now on.
    fn set_limit(&self, py: Python<'_>, link: usize, limit_json: &str) -> PyResult<()> {
        let limit = serde_json::from_str(limit_json)
            .map_err(|error| PyValueError::new_err(format!("limit: {error}")))?;
        self.with(py, move |session| session.set_limit(link, limit))?.map_err(|error| invalid(&error))
    }

    /// What a link has counted by now.
    fn counters(&self, py: Python<'_>, link: usize) -> PyResult<PyLinkCounters> {
        let counters = self.with(py, move |session| session.counters(link))?;
        counters.map(Into::into).map_err(|error| invalid(&error))
    }

    /// What can be seen of a flow's sender now.
    fn flow(&self, py: Python<'_>, flow: usize) -> PyResult<PyFlowState> {
        let state = self.with(py, move |session| session.flow(flow))?;
        state.map(Into::into).map_err(|error| invalid(&error))
    }

    /// Ends the session: what it measured.
    #[pyo3(signature = (control = None))]
    fn finish(&self, py: Python<'_>, control: Option<&PyControl>) -> PyResult<PyOutcome> {
        let control = shared(control);
        py.detach(|| {
            let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
            let session = session.ok_or_else(finished)?;
            PyOutcome::of(faults::caught(|| session.finish(&control)).map_err(|fault| failed(&fault))?)
        })
    }
}

impl PySession {
    /// Works on the session with the interpreter free.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Session) -> T + Send) -> PyResult<T> {
        py.detach(|| {
            let mut held = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            // taken out meanwhile, so that a session that panicked is gone
            let mut session = held.take().ok_or_else(finished)?;
            let result = faults::caught(|| work(&mut session)).map_err(|fault| failed(&fault))?;
            *held = Some(session);
            Ok(result)
        })
    }
}

fn shared(control: Option<&PyControl>) -> Arc<Control> {
    control.map_or_else(Arc::default, |control| Arc::clone(&control.shared))
}

fn invalid(error: &PlanError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn finished() -> PyErr {
    PyValueError::new_err("session: it is finished")
}

fn failed(fault: &str) -> PyErr {
    PyRuntimeError::new_err(format!("the engine failed: {fault}"))
}
