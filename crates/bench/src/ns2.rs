//! The engine against ns-2 on the same workload, both as processes, by user time.

use std::error::Error;
use std::io;
use std::process::{Command, Output};

use crate::child;
use crate::clock::children_user_s;
use crate::engine::{Counts, Stack};
use crate::report::{grouped, median, table};
use crate::workload::Workload;

/// Lowest ratio of packets per second of processor time, engine over ns-2.
const BAR: f64 = 20.0;
const SCRIPT: &str = "benchmarks/dumbbell.tcl";
const DURATION_S: u64 = 50;
const FLOWS: [usize; 4] = [2, 10, 100, 1000];
const TURNS: usize = 3;

/// Measures if ns-2 is installed, and returns the table.
pub fn report() -> Result<String, Box<dyn Error>> {
    match Command::new("ns").arg("/dev/null").output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok("NS-2 NOT MEASURED: there is no program `ns` on this machine; on Debian and Ubuntu it comes with\n\
                       apt-get install ns2\n"
                .to_owned());
        }
        tried => tried?,
    };
    let mut rows = Vec::new();
    for flows in FLOWS {
        rows.push(measure(&Workload::new(flows, DURATION_S))?);
    }
    let headings = [
        "flows",
        "ns-2 packets",
        "ns-2 loss",
        "ours",
        "our loss",
        "ns-2 packets/s",
        "our packets/s",
        "ratio",
        "bar",
        "",
    ];
    Ok(format!(
        "Engine (as ns-2's Sack1, queue statistics, samples every 10 ms) and ns-2 (Agent/TCP/Sack1, queue statistics)\n\
         on {DURATION_S} s of the same workload; packets that left the bottleneck in a second of user time\n\n{}",
        table(&headings, &rows)
    ))
}

fn measure(work: &Workload) -> Result<Vec<String>, Box<dyn Error>> {
    let mut theirs = None;
    let mut ours = None;
    let mut speeds = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let (seconds, output) = spent(&mut command(work))?;
        let counts = parse(&String::from_utf8_lossy(&output.stdout))?;
        speeds.0.push(counts.departed_packets as f64 / seconds);
        theirs = Some(counts);
        let (seconds, output) = spent(&mut child::this_program(&child::arguments(work, Stack::Ns2))?)?;
        let counts = child::counts(&output)?;
        speeds.1.push(counts.departed_packets as f64 / seconds);
        ours = Some(counts);
    }
    let (theirs, ours) = theirs.zip(ours).ok_or("no turns")?;
    let ratio = median(speeds.1.iter().zip(&speeds.0).map(|(ours, theirs)| ours / theirs).collect());
    Ok(vec![
        work.flows.to_string(),
        grouped(theirs.departed_packets),
        format!("{:.2} %", 100.0 * loss(&theirs)),
        grouped(ours.departed_packets),
        format!("{:.2} %", 100.0 * loss(&ours)),
        grouped(median(speeds.0) as u64),
        grouped(median(speeds.1) as u64),
        format!("{ratio:.1}"),
        format!("{BAR:.0}"),
        if ratio >= BAR { "met" } else { "MISSED" }.to_owned(),
    ])
}

/// The share of arrivals that were dropped or still wait.
fn loss(counts: &Counts) -> f64 {
    1.0 - counts.departed_packets as f64 / counts.arrived_packets as f64
}

fn command(work: &Workload) -> Command {
    let mut command = Command::new("ns");
    let arguments = [work.flows as u64, work.rate_bps, work.limit_packets, work.duration_s()];
    command.arg(SCRIPT).args(arguments.map(|argument| argument.to_string()));
    command
}

fn spent(command: &mut Command) -> Result<(f64, Output), Box<dyn Error>> {
    let before_s = children_user_s()?;
    let output = child::output(command)?;
    Ok((children_user_s()? - before_s, output))
}

/// Reads the script's last line, "packets=N arrived=N".
fn parse(text: &str) -> Result<Counts, String> {
    let wrong = || format!("{SCRIPT} printed '{}'", text.trim());
    let (departed, arrived) = text
        .lines()
        .next_back()
        .and_then(|line| line.strip_prefix("packets="))
        .and_then(|rest| rest.split_once(" arrived="))
        .ok_or_else(wrong)?;
    Ok(Counts {
        arrived_packets: arrived.parse().map_err(|_| wrong())?,
        dropped_packets: None,
        departed_packets: departed.parse().map_err(|_| wrong())?,
        events: 0,
        peak_kib: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_read() {
        let counts = parse("warning\npackets=590232 arrived=593473\n").expect("a good line");
        assert_eq!((counts.departed_packets, counts.arrived_packets), (590_232, 593_473));
        assert!(parse("packets=5 arrived=x\n").is_err());
        assert!(parse("").is_err());
    }
}
