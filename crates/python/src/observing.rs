//! A capture goes in, Arrow tables of what it tells come out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use bufferlab_capture::reading::{ReadError, Reader, Report};
use bufferlab_observe::{Anonymizer, Limits, Observation, Observer};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::tables::{PyTable, observed};
use crate::{PyControl, faults};

/// Packets between two looks at whether to go on.
const PACKETS_A_LOOK: u64 = 65_536;

/// Where a capture comes from.
#[derive(FromPyObject)]
pub enum Source {
    /// Its content.
    Content(PyBackedBytes),
    /// A file; "-" is standard input.
    File(PathBuf),
}

impl Source {
    fn open(self) -> PyResult<Box<dyn Read + Send>> {
        match self {
            Source::Content(content) => Ok(Box::new(Cursor::new(content))),
            Source::File(path) if path == Path::new("-") => Ok(Box::new(io::stdin())),
            Source::File(path) => match File::open(&path) {
                Ok(file) => Ok(Box::new(file)),
                Err(error) => Err(PyOSError::new_err((error.raw_os_error(), error.to_string(), path))),
            },
        }
    }
}

/// An interface: name, link type, bytes kept of a packet, packets missed, rate, all as the file states them.
type Interface = (Option<String>, u16, Option<u32>, Option<u64>, Option<u64>);

/// What a capture tells.
#[pyclass(name = "Observation", module = "bufferlab._core", frozen)]
pub struct PyObservation {
    /// It was canceled before the capture's end.
    #[pyo3(get)]
    canceled: bool,
    /// Counters of the whole capture.
    #[pyo3(get)]
    totals: BTreeMap<&'static str, u64>,
    /// The format of the file.
    #[pyo3(get)]
    format: String,
    /// Frames that carry no IP packet.
    #[pyo3(get)]
    other_frames: u64,
    #[pyo3(get)]
    interfaces: Vec<Interface>,
    /// Bytes that were read, without compression.
    #[pyo3(get)]
    bytes: u64,
    /// Bytes of the capture that were skipped as damaged.
    #[pyo3(get)]
    skipped_bytes: u64,
    /// Whether the file is compressed.
    #[pyo3(get)]
    compressed: bool,
    /// What could not be read: what, how often, and its first byte.
    #[pyo3(get)]
    warnings: Vec<(String, u64, u64)>,
    tables: BTreeMap<&'static str, RecordBatch>,
}

#[pymethods]
impl PyObservation {
    /// One row a connection.
    fn connections(&self) -> PyTable {
        self.table("connections")
    }

    /// Two rows a connection: the initiator's packets and the responder's.
    fn directions(&self) -> PyTable {
        self.table("directions")
    }

    /// One row an interface and direction.
    fn links(&self) -> PyTable {
        self.table("links")
    }

    /// Time series of the round trips of long flows.
    fn trips(&self) -> PyTable {
        self.table("trips")
    }

    /// Times at which losses began.
    fn losses(&self) -> PyTable {
        self.table("losses")
    }

    /// Time series of who uses the links.
    fn seconds(&self) -> PyTable {
        self.table("seconds")
    }

    /// What waits for the links.
    fn queueing(&self) -> PyTable {
        self.table("queueing")
    }

    /// Time series of what waits.
    fn moments(&self) -> PyTable {
        self.table("moments")
    }

    /// Sizes, times and lengths, one row a value.
    fn distributions(&self) -> PyTable {
        self.table("distributions")
    }
}

impl PyObservation {
    fn of(observation: Observation, report: Report, canceled: bool) -> Result<Self, ArrowError> {
        let interface = |interface: bufferlab_capture::reading::Interface| {
            (
                interface.name,
                interface.link_type,
                interface.snap_length,
                interface.dropped,
                interface.rate_bps,
            )
        };
        Ok(Self {
            canceled,
            totals: observation.totals.entries().into_iter().collect(),
            format: format!("{:?}", report.format).to_lowercase(),
            other_frames: report.others,
            bytes: report.bytes,
            skipped_bytes: report.skipped_bytes,
            compressed: report.compression.is_some(),
            interfaces: report.interfaces.into_iter().map(interface).collect(),
            warnings: report
                .warnings
                .into_iter()
                .map(|notice| (notice.warning.to_string(), notice.count, notice.first_byte))
                .collect(),
            tables: observed(observation)?,
        })
    }

    fn table(&self, name: &str) -> PyTable {
        PyTable::new(&self.tables[name])
    }
}

/// Reads a capture to its end, or until `control` cancels it. The interpreter stays free meanwhile.
///
/// Raises `ValueError` if it is no capture, or a network or limit is not valid, `OSError` if the file cannot be opened or
/// read, `RuntimeError` if the analysis has a bug.
#[pyfunction]
#[pyo3(signature = (source, control = None, *, joined = false, inside = Vec::new(), only = Vec::new(), flows = None))]
pub fn observe(
    py: Python<'_>,
    source: Source,
    control: Option<&PyControl>,
    joined: bool,
    inside: Vec<String>,
    only: Vec<String>,
    flows: Option<usize>,
) -> PyResult<PyObservation> {
    let networks = |names: Vec<String>| names.iter().map(|name| parse_network(name)).collect::<PyResult<_>>();
    let (inside, only) = (networks(inside)?, networks(only)?);
    let default = Limits::default();
    let limits = Limits { joined, inside, only, flows: flows.unwrap_or(default.flows), ..default };
    let is_canceled = || control.is_some_and(PyControl::is_canceled);
    py.detach(|| {
        let input = source.open()?;
        let observed = faults::caught(|| {
            let mut reader = Reader::new(input)?;
            let (observation, canceled) = read(&mut reader, limits, is_canceled);
            Ok((observation, reader.report(), canceled))
        });
        let (observation, report, canceled) = observed
            .map_err(|fault| PyRuntimeError::new_err(format!("the analysis failed: {fault}")))?
            .map_err(refused)?;
        PyObservation::of(observation, report, canceled).map_err(|e| PyRuntimeError::new_err(e.to_string()))
    })
}

/// Addresses in place of others, in the same order: Crypto-PAn by a key of 32 bytes.
///
/// Raises `ValueError` if the key has another length, or a text is no address.
#[pyfunction]
pub fn anonymize(addresses: Vec<String>, key: &[u8]) -> PyResult<Vec<String>> {
    let key = key.try_into().map_err(|_| PyValueError::new_err("a key has 32 bytes"))?;
    let anonymizer = Anonymizer::new(key);
    let other = |text: String| match text.parse() {
        Ok(address) => Ok(anonymizer.address(address).to_string()),
        Err(_) => Err(PyValueError::new_err(format!("'{text}' is not an address"))),
    };
    addresses.into_iter().map(other).collect()
}

fn read(reader: &mut Reader, limits: Limits, is_canceled: impl Fn() -> bool) -> (Observation, bool) {
    let mut observer = Observer::new(limits);
    for (number, packet) in (1_u64..).zip(reader) {
        observer.packet(&packet);
        if number.is_multiple_of(PACKETS_A_LOOK) && is_canceled() {
            return (observer.finish(), true);
        }
    }
    (observer.finish(), false)
}

fn refused(error: ReadError) -> PyErr {
    match error {
        ReadError::Input(error) => PyOSError::new_err((error.raw_os_error(), error.to_string())),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// A network as an address with the length of its prefix; of an address alone, all bits.
fn parse_network(text: &str) -> PyResult<(IpAddr, u8)> {
    let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
    let parsed = address.parse::<IpAddr>().ok().and_then(|address| {
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Some(all), |bits| bits.parse().ok().filter(|&bits| bits <= all))?;
        Some((address, bits))
    });
    parsed.ok_or_else(|| PyValueError::new_err(format!("'{text}' is not a network, such as 192.0.2.0/24")))
}
