//! The engine in a process of its own, so that its memory and instructions can be measured.

use std::env;
use std::error::Error;
use std::io;
use std::process::{Command, Output};

use crate::engine::{Counts, Stack};
use crate::workload::Workload;

/// Arguments of the command whose output [`counts`] reads.
pub fn arguments(work: &Workload, stack: Stack) -> Vec<String> {
    vec![
        "engine".to_owned(),
        work.flows.to_string(),
        work.rate_bps.to_string(),
        work.duration_s().to_string(),
        stack.name().to_owned(),
        work.window_packets.to_string(),
    ]
}

/// This program with these arguments.
pub fn this_program(arguments: &[String]) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// Runs `command`; if it fails, the error has its last output.
pub fn output(command: &mut Command) -> Result<Output, Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(output);
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(format!("{} ended with {}: {}", command.get_program().display(), output.status, words.trim()).into())
}

/// What the engine printed.
pub fn counts(output: &Output) -> Result<Counts, serde_json::Error> {
    serde_json::from_slice(&output.stdout)
}
