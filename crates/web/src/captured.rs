//! The packets of a run as a file for Wireshark and tcptrace.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

use bufferlab_capture::{Output, Places, Recording};
use bufferlab_simulator::{Control, Plan, PlanError, run_recorded};
use bufferlab_units::Time;

/// A file in memory: the recording owns one handle of it.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Memory {
    fn with<T>(&self, work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Memory {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.with(|bytes| bytes.extend_from_slice(data));
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Output for Memory {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.with(|bytes| bytes.truncate(length as usize));
        Ok(())
    }
}

/// Runs a plan to its end; the capture at its senders, as the command with `--pcap` writes it.
pub fn of(plan: &Plan, most: u32) -> Result<Vec<u8>, PlanError> {
    let file = Memory::default();
    let places = Places { senders: true, ..Places::default() };
    let mut recording =
        Recording::new(plan, None).with_pcap(Box::new(file.clone()), &places, u64::from(most));
    let outcome = run_recorded(plan, &Control::default(), &mut recording)?;
    recording.finish(Time::from_ps(outcome.reached_ps));
    Ok(file.with(mem::take))
}
