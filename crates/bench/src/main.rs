//! Measures the engine: against a bare loop, against ns-2, its memory, and its instructions per packet.
//!
//! Times are compared only within one run, as medians of paired turns: a shared machine's speed can change by a factor
//! of two from one minute to the next. Only the count of instructions is stable enough for a gate.
//!
//! ```text
//! bufferlab-bench speed | controls | control NAME FLOWS SECONDS BDPS | disciplines | memory | ns2 | recording | observing
//! bufferlab-bench gate | gate --update
//! bufferlab-bench engine FLOWS RATE_BPS SECONDS rfc|ns2 [WINDOW]
//! ```

mod bare;
mod child;
mod clock;
mod controls;
mod disciplines;
mod engine;
mod gate;
mod memory;
mod ns2;
mod observing;
mod recording;
mod report;
mod speed;
mod workload;

use std::env;
use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

use engine::Stack;
use gate::Verdict;
use workload::Workload;

const USAGE: &str = "usage: bufferlab-bench speed | controls | control NAME FLOWS SECONDS BDPS | disciplines | memory | ns2 | recording | observing | gate [--update] | engine FLOWS RATE_BPS SECONDS STACK [WINDOW]";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words[..] {
        ["speed"] => speed::report(),
        ["controls"] => controls::report(),
        ["control", name, flows, seconds, buffer] => run_control(name, flows, seconds, buffer),
        ["disciplines"] => disciplines::report(),
        ["memory"] => memory::report(),
        ["ns2"] => ns2::report(),
        ["recording"] => recording::report(),
        ["observing"] => observing::report(),
        ["gate"] => return finish_gate(gate::report(false)),
        ["gate", "--update"] => return finish_gate(gate::report(true)),
        ["engine", flows, rate_bps, seconds, stack, ref window @ ..] if window.len() <= 1 => {
            run_engine(flows, rate_bps, seconds, stack, window.first().copied())
        }
        _ => return fail(&USAGE),
    };
    match answer {
        Ok(text) => print(&text, ExitCode::SUCCESS),
        Err(error) => fail(&error),
    }
}

fn finish_gate(answer: Result<(Verdict, String), Box<dyn Error>>) -> ExitCode {
    match answer {
        Ok((Verdict::Passed, text)) => print(&text, ExitCode::SUCCESS),
        Ok((Verdict::Regressed, text)) => print(&text, ExitCode::FAILURE),
        Err(error) => fail(&error),
    }
}

fn run_control(name: &str, flows: &str, seconds: &str, buffer: &str) -> Result<String, Box<dyn Error>> {
    controls::run_one(name, flows.parse()?, seconds.parse()?, buffer.parse()?)
}

fn run_engine(
    flows: &str,
    rate_bps: &str,
    seconds: &str,
    stack: &str,
    window: Option<&str>,
) -> Result<String, Box<dyn Error>> {
    let mut work =
        Workload { flows: flows.parse()?, ..Workload::at_rate(rate_bps.parse()?, seconds.parse()?) };
    if let Some(window) = window {
        work.window_packets = window.parse()?;
    }
    let counts = engine::simulate(&engine::plan(&work, Stack::from_name(stack)?))?;
    Ok(serde_json::to_string(&counts)? + "\n")
}

fn print(text: &str, code: ExitCode) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => code,
        Err(error) => fail(&error),
    }
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    // If even this cannot be written, there is nothing left to do.
    let _ = writeln!(io::stderr(), "bufferlab-bench: {error}");
    ExitCode::from(2)
}
