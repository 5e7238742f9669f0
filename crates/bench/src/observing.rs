//! The speed of reading captures, and of analyzing them, on one thread, by the thread's processor time. The capture is in memory.

use std::error::Error;
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bufferlab_capture::reading::Reader;
use bufferlab_capture::{Output, Places, Recording};
use bufferlab_observe::{Limits, Observer};
use bufferlab_simulator::{Control, run_recorded};
use bufferlab_units::Time;

use crate::clock::timed;
use crate::engine::{self, Stack};
use crate::report::{grouped, median, table};
use crate::workload::Workload;

/// Turns of each row, simulated seconds, and the numbers of flows.
const TURNS: usize = 5;
const DURATION_S: u64 = 20;
const FLOWS: [usize; 4] = [10, 100, 1_000, 10_000];

/// A file in memory.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn take(self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Memory {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Memory {
    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).truncate(bytes as usize);
        Ok(())
    }
}

/// Measures all rows and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    let headings = ["flows", "packets", "read, GB/s", "read, million/s", "analyzed, million/s"];
    let rows = FLOWS.into_iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    Ok(format!(
        "Captures of senders and acknowledgments, 20 s: medians of {TURNS} turns\n\n{}",
        table(&headings, &rows)
    ))
}

fn measure(flows: usize) -> Result<Vec<String>, Box<dyn Error>> {
    let capture: Arc<[u8]> = capture(flows)?.into();
    let open = || Reader::new(Box::new(Cursor::new(Arc::clone(&capture))));
    let (mut read_s, mut analyzed_s, mut packets) = (Vec::new(), Vec::new(), 0);
    // the first turn warms up the caches and is not counted
    for turn in 0..=TURNS {
        let (read, counted) = timed(|| open().map(Iterator::count))?;
        let (analyzed, observed) = timed(|| {
            let mut observer = Observer::new(Limits::default());
            open()?.for_each(|packet| observer.packet(&packet));
            Ok::<_, bufferlab_capture::reading::ReadError>(observer.finish())
        })?;
        packets = observed?.totals.packets;
        assert_eq!(packets, counted? as u64, "both read the same");
        if turn > 0 {
            read_s.push(read);
            analyzed_s.push(analyzed);
        }
    }
    let (read_s, analyzed_s) = (median(read_s), median(analyzed_s));
    Ok(vec![
        flows.to_string(),
        grouped(packets),
        format!("{:.1}", capture.len() as f64 / read_s / 1e9),
        format!("{:.1}", packets as f64 / read_s / 1e6),
        format!("{:.1}", packets as f64 / analyzed_s / 1e6),
    ])
}

/// What the senders' interfaces carry, whole packets' headers.
fn capture(flows: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let plan = engine::plan(&Workload::new(flows, DURATION_S), Stack::Rfc);
    let memory = Memory::default();
    let places = Places { senders: true, ..Places::default() };
    let mut recording = Recording::new(&plan, None).with_pcap(Box::new(memory.clone()), &places, u64::MAX);
    let outcome = run_recorded(&plan, &Control::default(), &mut recording)?;
    recording.finish(Time::from_ps(outcome.reached_ps));
    Ok(memory.take())
}
