//! Files of what a link offered: Mahimahi's packet-delivery traces, and rates over time as CSV.

use bufferlab_simulator::{CapacityPlan, RatePiece};

use super::empirical::Files;
use super::{MAX_TIME_PS, RATE_UNITS, TIME_UNITS, Unit};
use crate::text::mistake::Mistake;

/// Bytes of an opportunity: an IP packet of 1500 bytes and the four that Mahimahi's interface puts before it
/// (`src/packet/queued_packet.hh`, `PACKET_SIZE`, as of 2018).
pub const OPPORTUNITY_BYTES: u32 = 1_504;

const MOST_LINES: usize = 4_000_000;
const MAHIMAHI: &str = "a packet-delivery trace of Mahimahi: a whole number of milliseconds a line, none smaller than the \
                        one before it, the last above 0";
const CSV: &str = "a CSV file with the header time_UNIT,rate_UNIT or time_UNIT,rate_UNIT,delay_UNIT, such as \
                   time_s,rate_Mbps, and times that begin with 0 and grow by a microsecond or more";

/// Reads a packet-delivery trace (`man mm-link`, Mahimahi 2018).
pub fn read_mahimahi(path: &str, files: &dyn Files) -> Result<CapacityPlan, Mistake> {
    let (name, text) = files.read(path)?;
    let refused = |problem: &str| Mistake::new(problem).file(Some(&name)).accepted(MAHIMAHI);
    let mut at_ms: Vec<u32> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let of_line = |problem: &str| refused(problem).key(format!("line {}", index + 1)).text(line);
        let Ok(ms) = line.trim().parse::<u32>() else {
            return Err(of_line("is not a whole number of milliseconds"));
        };
        if at_ms.last().is_some_and(|last| *last > ms) {
            return Err(of_line("is smaller than the line before it"));
        }
        at_ms.push(ms);
        if at_ms.len() > MOST_LINES {
            return Err(refused(&format!("has more than {MOST_LINES} lines")));
        }
    }
    match at_ms.last() {
        None => Err(refused("is empty")),
        Some(0) => Err(refused("lasts no time")),
        Some(&repeat_ms) => Ok(CapacityPlan::Opportunities { at_ms, bytes: OPPORTUNITY_BYTES, repeat_ms }),
    }
}

/// What a CSV file says: the rates, and delays from moments on.
type RatesAndDelays = (CapacityPlan, Vec<(u64, u64)>);

/// Reads rates over time, each from its time on, and delays if there is such a column.
pub fn read_csv(path: &str, repeat_ps: u64, files: &dyn Files) -> Result<RatesAndDelays, Mistake> {
    let (name, text) = files.read(path)?;
    let refused = |problem: &str| Mistake::new(problem).file(Some(&name)).accepted(CSV);
    let mut lines = text.lines().enumerate();
    let header: Vec<&str> = lines.next().map_or("", |(_, line)| line).split(',').map(str::trim).collect();
    let factors = factors(&header).ok_or_else(|| refused("has no usable header").text(header.join(",")))?;
    let (mut pieces, mut delays): (Vec<RatePiece>, Vec<(u64, u64)>) = (Vec::new(), Vec::new());
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let of_line = |problem: &str| refused(problem).key(format!("line {}", index + 1)).text(line);
        let row = numbers(line, &factors).ok_or_else(|| of_line("is not usable"))?;
        let least = pieces.last().map_or(0, |piece| piece.at_ps + 1_000_000);
        let begins = !pieces.is_empty() || row[0] == 0;
        if row[0] < least || !begins || row[0] > MAX_TIME_PS {
            return Err(of_line(if begins {
                "is not later than the line before it"
            } else {
                "does not begin at 0"
            }));
        }
        pieces.push(RatePiece { at_ps: row[0], rate_bps: row[1] });
        delays.extend(row.get(2).map(|&delay_ps| (row[0], delay_ps)));
        if pieces.len() > MOST_LINES {
            return Err(refused(&format!("has more than {MOST_LINES} lines")));
        }
    }
    let Some(last) = pieces.last() else { return Err(refused("has no values")) };
    if repeat_ps != 0 && repeat_ps < last.at_ps + 1_000_000 {
        let problem = "has a line after the time at which it is to begin again";
        return Err(refused(problem));
    }
    if pieces.iter().all(|piece| piece.rate_bps == 0) {
        return Err(refused("has no rate above 0"));
    }
    Ok((CapacityPlan::Rates { pieces, repeat_ps }, delays))
}

/// How many of the least unit a number of each column is.
fn factors(header: &[&str]) -> Option<Vec<u64>> {
    let columns: [(&str, &[Unit]); 3] = [("time", TIME_UNITS), ("rate", RATE_UNITS), ("delay", TIME_UNITS)];
    if !(2..=3).contains(&header.len()) {
        return None;
    }
    let factor = |(written, (name, units)): (&&str, (&str, &[Unit]))| {
        let unit = written.strip_prefix(name)?.strip_prefix('_')?;
        units.iter().find(|(known, _)| *known == unit).map(|(_, factor)| *factor)
    };
    header.iter().zip(columns).map(factor).collect()
}

/// A line's numbers in the least units: ps, bit/s, ps.
fn numbers(line: &str, factors: &[u64]) -> Option<Vec<u64>> {
    let most = [MAX_TIME_PS, super::MAX_RATE_BPS, MAX_TIME_PS / 1_000];
    let cells: Vec<&str> = line.split(',').collect();
    if cells.len() != factors.len() {
        return None;
    }
    let number = |((cell, factor), most): ((&&str, &u64), u64)| {
        let number = cell.trim().parse::<f64>().ok()? * *factor as f64;
        (0.0..=most as f64).contains(&number).then(|| number.round_ties_even() as u64)
    };
    cells.iter().zip(factors).zip(most).map(number).collect()
}
