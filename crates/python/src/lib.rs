//! The Python module `bufferlab._core`: a plan (JSON) or a capture goes in, Arrow tables come out.
//!
//! No logic lives here. [`simulate`] reads the plan, detaches from the interpreter while the engine runs, so that
//! Python threads run seeds in parallel, and hands the outcome's columns over without copying them, by the Arrow
//! `PyCapsule` interface (<https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html>).

mod faults;
mod forwarding;
mod observing;
mod recording;
mod scenario;
mod session;
mod tables;

use std::sync::Arc;

use arrow_array::RecordBatch;
use bufferlab_simulator::{Control, Outcome, Plan};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::tables::{PyTable, Tables};

/// A handle on a running simulation: cancels it and reports its progress. All threads may share it.
#[pyclass(name = "Control", module = "bufferlab._core", frozen)]
#[derive(Default)]
struct PyControl {
    shared: Arc<Control>,
}

#[pymethods]
impl PyControl {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks the simulation to end as soon as it can.
    fn cancel(&self) {
        self.shared.cancel();
    }

    /// Whether the simulation was asked to end.
    fn is_canceled(&self) -> bool {
        self.shared.is_canceled()
    }

    /// Simulated time reached so far, ps.
    fn reached_ps(&self) -> u64 {
        self.shared.reached_ps()
    }
}

/// What a run measured.
#[pyclass(name = "Outcome", module = "bufferlab._core", frozen)]
struct PyOutcome {
    /// Simulated time reached, ps.
    #[pyo3(get)]
    reached_ps: u64,
    /// The run was canceled before the plan's end.
    #[pyo3(get)]
    canceled: bool,
    /// Engine events processed.
    #[pyo3(get)]
    events: u64,
    /// Packets that left a link, summed over links.
    #[pyo3(get)]
    packets: u64,
    /// What became of the recordings that were asked for, the capture's first: records, those left out, bytes, and what
    /// ended it early.
    #[pyo3(get)]
    recordings: Vec<recording::Finished>,
    tables: Tables<RecordBatch>,
}

impl PyOutcome {
    fn of(outcome: Outcome) -> PyResult<Self> {
        let (reached_ps, canceled) = (outcome.reached_ps, outcome.canceled);
        let (events, packets) = (outcome.events, outcome.packets);
        let tables = tables::from_outcome(outcome).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(Self { reached_ps, canceled, events, packets, recordings: Vec::new(), tables })
    }
}

#[pymethods]
impl PyOutcome {
    /// One without rows, which has the columns of every table.
    #[new]
    fn empty() -> PyResult<Self> {
        Self::of(Outcome::default())
    }

    /// One row a flow.
    fn flows(&self) -> PyTable {
        PyTable::new(&self.tables.flows)
    }

    /// One row a link and group.
    fn queues(&self) -> PyTable {
        PyTable::new(&self.tables.queues)
    }

    /// One row a bucket of the waits.
    fn histograms(&self) -> PyTable {
        PyTable::new(&self.tables.histograms)
    }

    /// One row a link and class.
    fn classes(&self) -> PyTable {
        PyTable::new(&self.tables.classes)
    }

    /// One row a bucket of the classes' waits.
    fn class_histograms(&self) -> PyTable {
        PyTable::new(&self.tables.class_histograms)
    }

    /// Time series of what the sampled links' classes hold and estimate.
    fn class_samples(&self) -> PyTable {
        PyTable::new(&self.tables.class_samples)
    }

    /// Time series of the sampled links.
    fn queue_samples(&self) -> PyTable {
        PyTable::new(&self.tables.queue_samples)
    }

    /// Time series of the sampled senders.
    fn sender_samples(&self) -> PyTable {
        PyTable::new(&self.tables.sender_samples)
    }

    /// One row an exchange: a burst, a fetch, a datagram, a ping.
    fn exchanges(&self) -> PyTable {
        PyTable::new(&self.tables.exchanges)
    }

    /// One row a segment of a video.
    fn segments(&self) -> PyTable {
        PyTable::new(&self.tables.segments)
    }

    /// Time series of the sampled receivers.
    fn receiver_samples(&self) -> PyTable {
        PyTable::new(&self.tables.receiver_samples)
    }
}

/// Runs a plan given as JSON to its end, or until `control` cancels it. The interpreter stays free meanwhile.
///
/// `recording_json` says which files to write on the way (see `recording::Request`).
///
/// Raises `ValueError` with one line if the plan is not valid, `OSError` if a file cannot be opened, `RuntimeError` if the
/// engine has a bug.
#[pyfunction]
#[pyo3(signature = (plan_json, control = None, recording_json = None))]
fn simulate(
    py: Python<'_>,
    plan_json: &str,
    control: Option<&PyControl>,
    recording_json: Option<&str>,
) -> PyResult<PyOutcome> {
    let plan = read_plan(plan_json)?;
    let request = recording_json.map(recording::Request::read).transpose()?;
    let control = control.map_or_else(Arc::default, |control| Arc::clone(&control.shared));
    py.detach(|| {
        let mut recording = request.map(|request| request.open(&plan)).transpose()?;
        let run = faults::caught(|| match &mut recording {
            Some(recording) => bufferlab_simulator::run_recorded(&plan, &control, recording),
            None => bufferlab_simulator::run(&plan, &control),
        });
        let outcome = run
            .map_err(|fault| PyRuntimeError::new_err(format!("the engine failed: {fault}")))?
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let recordings = recording.map(|recording| recording::finish(recording, outcome.reached_ps));
        Ok(PyOutcome { recordings: recordings.unwrap_or_default(), ..PyOutcome::of(outcome)? })
    })
}

fn read_plan(plan_json: &str) -> PyResult<Plan> {
    serde_json::from_str(plan_json).map_err(|error| PyValueError::new_err(format!("plan: {error}")))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    faults::install_hook();
    module.add_class::<PyControl>()?;
    module.add_class::<PyOutcome>()?;
    module.add_class::<PyTable>()?;
    module.add_class::<observing::PyObservation>()?;
    module.add_class::<forwarding::PyForwarder>()?;
    module.add_class::<session::PyLinkCounters>()?;
    module.add_class::<session::PyFlowState>()?;
    module.add_class::<session::PySession>()?;
    module.add_class::<scenario::PyScenario>()?;
    module.add_class::<scenario::PySeeded>()?;
    module.add_function(wrap_pyfunction!(scenario::parse_value, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::split_override, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::trace_text, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::plain, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::parse_quantity, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::check_word, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::format_quantity, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::size_unit, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::queue_words, module)?)?;
    module.add("NOUNS", bufferlab_scenario::nouns())?;
    module.add_function(wrap_pyfunction!(scenario::canonical_plan, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::hash_plan, module)?)?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(recording::write_capture, module)?)?;
    module.add_function(wrap_pyfunction!(forwarding::datagrams, module)?)?;
    module.add_function(wrap_pyfunction!(forwarding::turns, module)?)?;
    module.add_function(wrap_pyfunction!(observing::observe, module)?)?;
    module.add_function(wrap_pyfunction!(observing::anonymize, module)?)?;
    module.add("SPLITBUFF_CAP", bufferlab_scenario::SPLITBUFF_CAP)?;
    module.add("ALL_GROUPS", bufferlab_simulator::ALL_GROUPS)?;
    module.add("ALL_CLASSES", bufferlab_simulator::ALL_CLASSES)?;
    module.add("PLAN_VERSION", Plan::VERSION)?;
    module.add("engine_version", env!("CARGO_PKG_VERSION"))?;
    module.add("engine_fingerprint", env!("BUFFERLAB_ENGINE_FINGERPRINT"))?;
    Ok(())
}
