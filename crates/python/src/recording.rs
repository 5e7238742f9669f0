//! Files that are written while a run goes on.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use bufferlab_capture::others::{self, Place, Seen};
use bufferlab_capture::{Output, Places, Recording, Report, TraceFormat};
use bufferlab_simulator::Plan;
use bufferlab_units::Time;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;

/// What became of a recording: records, those left out, bytes, and what ended it early.
pub type Finished = (u64, u64, u64, Option<String>);

/// Which files to write.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Indices of the groups to record; `null` for all.
    groups: Option<Vec<u32>>,
    pcap: Option<PcapRequest>,
    trace: Option<TraceRequest>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PcapRequest {
    path: PathBuf,
    senders: bool,
    receivers: bool,
    /// Indices.
    links: Vec<u32>,
    most: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TraceRequest {
    path: PathBuf,
    csv: bool,
    most: u64,
}

impl Request {
    pub fn read(json: &str) -> PyResult<Request> {
        serde_json::from_str(json).map_err(|error| PyValueError::new_err(format!("recording: {error}")))
    }

    /// Opens the files.
    pub fn open(self, plan: &Plan) -> PyResult<Recording> {
        let mut recording = Recording::new(plan, self.groups.as_deref());
        if let Some(PcapRequest { path, senders, receivers, mut links, most }) = self.pcap {
            links.retain(|&link| (link as usize) < plan.links.len());
            recording = recording.with_pcap(create(path)?, &Places { senders, receivers, links }, most);
        }
        if let Some(TraceRequest { path, csv, most }) = self.trace {
            let format = if csv { TraceFormat::Csv } else { TraceFormat::Ns2 };
            recording = recording.with_trace(create(path)?, format, most);
        }
        Ok(recording)
    }
}

/// Ends the files of a run that came so far.
pub fn finish(recording: Recording, reached_ps: u64) -> Vec<Finished> {
    let (pcap, trace) = recording.finish(Time::from_ps(reached_ps));
    pcap.into_iter().chain(trace).map(finished).collect()
}

/// A place as name, description and a link's rate.
type PlaceRow = (String, String, Option<u64>);

/// A packet as time in ns, index of the place, whether it left there, its first bytes, and how many it had.
type PacketRow = (u64, u32, bool, Vec<u8>, u32);

/// Writes packets that a kernel sent as a capture. The interpreter stays free meanwhile.
///
/// Raises `OSError` if the file cannot be opened.
#[pyfunction]
pub fn write_capture(
    py: Python<'_>,
    path: PathBuf,
    comment: &str,
    places: Vec<PlaceRow>,
    packets: Vec<PacketRow>,
    most: u64,
) -> PyResult<Finished> {
    let output = create(path)?;
    let place = |(name, description, rate_bps)| Place { name, description, rate_bps };
    let places: Vec<Place> = places.into_iter().map(place).collect();
    let seen = |(time_ns, place, outbound, headers, original_bytes)| Seen {
        time_ns,
        place,
        outbound,
        headers,
        original_bytes,
    };
    Ok(py.detach(|| {
        let packets = packets.into_iter().map(seen).collect();
        finished(others::write(output, comment, &places, packets, most))
    }))
}

fn finished(report: Report) -> Finished {
    (report.records, report.left_out, report.bytes, report.problem)
}

fn create(path: PathBuf) -> PyResult<Box<dyn Output>> {
    match File::create(&path) {
        Ok(file) => Ok(Box::new(Target(file))),
        Err(error) => Err(PyOSError::new_err((error.raw_os_error(), error.to_string(), path))),
    }
}

/// A file on disk.
struct Target(File);

impl Write for Target {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for Target {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}
