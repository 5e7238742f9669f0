//! Measured times or sizes from a CSV file, for `empirical(file.csv)`.
//!
//! The first column's name ends with its unit (`rtt_ms`, `delay_us`, `time_s`, `size_KB`); a second column `weight` is
//! optional.

use super::kind::Quantity;
use crate::text::mistake::Mistake;

const ACCEPTED: &str = "a CSV file with a header that ends with a unit, such as 'rtt_ms' or 'size_KB,weight', \
                        and one value a line";
const MOST_ROWS: usize = 1_000_000;

/// What reads the files that a scenario names.
pub trait Files {
    /// The text of a file, relative to the scenario's folder, and what the file is called in messages.
    ///
    /// # Errors
    /// If it cannot be read; the mistake names the file.
    fn read(&self, path: &str) -> Result<(String, String), Mistake>;
}

/// There are no files.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, path: &str) -> Result<(String, String), Mistake> {
        Err(Mistake::new("no such file").file(Some(path)).accepted("the path of the distribution's file"))
    }
}

/// Reads values, in the least unit, and their weights (1 where the file has none).
pub fn read_values(path: &str, files: &dyn Files, of: &Quantity) -> Result<(Vec<u64>, Vec<f64>), Mistake> {
    let (name, text) = files.read(path)?;
    let refused = |problem: &str| Mistake::new(problem).file(Some(&name)).accepted(ACCEPTED);
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or(Ok(Vec::new()), |(_, line)| cells(line)).map_err(&refused)?;
    let header: Vec<&str> = header.iter().map(|cell| cell.trim()).collect();
    let unit = header.first().and_then(|first| {
        let word = first.rsplit_once('_').map_or(*first, |(_, unit)| unit);
        of.units.iter().find(|(unit, _)| *unit == word)
    });
    let Some(&(_, factor)) = unit.filter(|_| matches!(header[1..], [] | ["weight"])) else {
        return Err(refused("has no usable header").text(header.join(",")));
    };
    let (mut values, mut weights) = (Vec::new(), Vec::new());
    for (index, line) in lines.filter(|(_, line)| !line.is_empty()) {
        let row = cells(line).map_err(&refused)?;
        let (value, weight) = numbers(&row, header.len(), factor);
        if !(0.0 <= value && value <= of.most as f64 && (0.0..f64::INFINITY).contains(&weight)) {
            return Err(refused("is not usable").key(format!("line {}", index + 1)).text(row.join(",")));
        }
        values.push(value.round_ties_even() as u64);
        weights.push(weight);
        if values.len() > MOST_ROWS {
            return Err(refused(&format!("has more than {MOST_ROWS} lines")));
        }
    }
    if values.is_empty() { Err(refused("has no values")) } else { Ok((values, weights)) }
}

/// The cells of a line, which may be quoted.
fn cells(line: &str) -> Result<Vec<String>, &'static str> {
    line.split(',')
        .map(|cell| match cell.strip_prefix('"') {
            None => Ok(cell.to_owned()),
            Some(rest) => {
                rest.strip_suffix('"').map(str::to_owned).ok_or("is not CSV (unexpected end of data)")
            }
        })
        .collect()
}

/// A line's value in the least unit and its weight; not a number where it has none.
fn numbers(row: &[String], columns: usize, factor: u64) -> (f64, f64) {
    let number = |cell: &String| cell.trim().parse::<f64>().unwrap_or(f64::NAN);
    match row {
        [value] if columns == 1 => (number(value) * factor as f64, 1.0),
        [value, weight] if columns == 2 => (number(value) * factor as f64, number(weight)),
        _ => (f64::NAN, f64::NAN),
    }
}
