//! Instructions per packet, counted by valgrind: the same on a busy machine and on a quiet one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::child;
use crate::engine::Stack;
use crate::report::table;
use crate::workload::Workload;

const FILE: &str = "benchmarks/instructions.json";
/// A count that exceeds the committed one by more than this share is a regression.
const TOLERANCE: f64 = 0.03;
/// Flows and stack of each counted run.
const SCENARIOS: [(usize, Stack); 5] =
    [(2, Stack::Rfc), (10, Stack::Rfc), (100, Stack::Rfc), (1000, Stack::Rfc), (100, Stack::Ns2)];
/// Long enough to leave the slow starts behind: 250,000 packets.
const DURATION_S: u64 = 20;

/// The committed file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Committed {
    /// The compiler of the counted program.
    rustc: String,
    /// Instructions per packet that reached the bottleneck, by scenario.
    instructions_per_packet: BTreeMap<String, f64>,
}

/// How the gate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No regression, or counting was not possible.
    Passed,
    /// At least one count grew beyond the tolerance.
    Regressed,
}

/// Counts instructions and compares them with the committed file, or writes it anew if `update` is set.
pub fn report(update: bool) -> Result<(Verdict, String), Box<dyn Error>> {
    match Command::new("valgrind").arg("--version").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = "INSTRUCTIONS NOT COUNTED: valgrind is not installed; on Debian and Ubuntu: apt-get install valgrind\n";
            return Ok((Verdict::Passed, text.to_owned()));
        }
        tried => tried?,
    };
    let mut measured = Committed { rustc: rustc()?, instructions_per_packet: BTreeMap::new() };
    for (flows, stack) in SCENARIOS {
        let count = instructions_per_packet(&Workload::new(flows, DURATION_S), stack)?;
        measured
            .instructions_per_packet
            .insert(format!("{}-{flows}", stack.name()), (count * 10.0).round() / 10.0);
    }
    if update {
        fs::write(FILE, serde_json::to_string_pretty(&measured)? + "\n")?;
    }
    let text =
        fs::read_to_string(FILE).map_err(|error| format!("{FILE}: {error}; `make golden` writes it"))?;
    let committed = serde_json::from_str(&text).map_err(|error| format!("{FILE}: {error}"))?;
    Ok(compare(&committed, &measured))
}

fn rustc() -> Result<String, Box<dyn Error>> {
    let output = child::output(Command::new("rustc").arg("--version"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn instructions_per_packet(work: &Workload, stack: Stack) -> Result<f64, Box<dyn Error>> {
    let program = child::this_program(&child::arguments(work, stack))?;
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program.get_program())
        .args(program.get_args());
    let output = child::output(&mut command)?;
    let words = String::from_utf8_lossy(&output.stderr);
    let instructions = total(&words).ok_or_else(|| format!("valgrind printed no total: {}", words.trim()))?;
    Ok(instructions as f64 / child::counts(&output)?.arrived_packets as f64)
}

/// Reads valgrind's "I refs" line.
fn total(words: &str) -> Option<u64> {
    let line = words.lines().find(|line| line.contains("I ") && line.contains("refs:"))?;
    line.rsplit_once("refs:")?.1.trim().replace(',', "").parse().ok()
}

fn compare(committed: &Committed, measured: &Committed) -> (Verdict, String) {
    let mut rows = Vec::new();
    let mut verdict = Verdict::Passed;
    for (name, &now) in &measured.instructions_per_packet {
        let Some(&before) = committed.instructions_per_packet.get(name) else {
            verdict = Verdict::Regressed;
            rows.push(vec![
                name.clone(),
                String::new(),
                format!("{now:.1}"),
                String::new(),
                "NOT COMMITTED".to_owned(),
            ]);
            continue;
        };
        let change = now / before - 1.0;
        let judgment = if change > TOLERANCE {
            verdict = Verdict::Regressed;
            "REGRESSED"
        } else if change < -TOLERANCE {
            "better: `make golden` keeps it"
        } else {
            "as before"
        };
        let change = format!("{:+.1} %", 100.0 * change);
        rows.push(vec![
            name.clone(),
            format!("{before:.1}"),
            format!("{now:.1}"),
            change,
            judgment.to_owned(),
        ]);
    }
    let mut text = format!(
        "Instructions per packet that reaches the bottleneck; tolerance {:.0} %\n",
        100.0 * TOLERANCE
    );
    if committed.rustc != measured.rustc {
        let _ = writeln!(text, "NOTE: committed with {}, counted with {}", committed.rustc, measured.rustc);
    }
    text += "\n";
    text += &table(&["scenario", "committed", "now", "change", ""], &rows);
    (verdict, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(value: f64) -> Committed {
        Committed {
            rustc: "rustc 1.88.0".to_owned(),
            instructions_per_packet: BTreeMap::from([("rfc-2".to_owned(), value)]),
        }
    }

    #[test]
    fn growth_beyond_the_tolerance_fails_the_gate() {
        assert_eq!(compare(&counts(100.0), &counts(102.9)).0, Verdict::Passed);
        assert_eq!(compare(&counts(100.0), &counts(90.0)).0, Verdict::Passed);
        let (verdict, text) = compare(&counts(100.0), &counts(103.1));
        assert_eq!(verdict, Verdict::Regressed);
        assert!(text.contains("rfc-2") && text.contains("+3.1 %") && text.contains("REGRESSED"), "{text}");
    }

    #[test]
    fn a_scenario_without_a_committed_count_fails_the_gate() {
        let empty = Committed { instructions_per_packet: BTreeMap::new(), ..counts(1.0) };
        assert_eq!(compare(&empty, &counts(1.0)).0, Verdict::Regressed);
    }

    #[test]
    fn another_compiler_is_pointed_out() {
        let other = Committed { rustc: "rustc 1.99.0".to_owned(), ..counts(1.0) };
        assert!(compare(&other, &counts(1.0)).1.contains("NOTE: committed with rustc 1.99.0"));
    }

    #[test]
    fn valgrinds_total_is_read() {
        assert_eq!(total("==1== Cachegrind\n==1== I   refs:      1,234,567\n"), Some(1_234_567));
        assert_eq!(total("==1== I refs: 89\n"), Some(89));
        assert_eq!(total("==1== nothing\n"), None);
    }
}
