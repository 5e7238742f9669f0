//! Quantities as people read them: "10 ms", "62.5 Mbps", "1.5 MB".

use super::{PS_PER_S, RATE_UNITS, SIZE_UNITS, TIME_UNITS, Unit};

/// Writes a time in picoseconds.
pub fn format_time(time_ps: u64) -> String {
    let units: Vec<Unit> = TIME_UNITS.iter().copied().filter(|(_, factor)| *factor <= PS_PER_S).collect();
    format(time_ps, &units, "s")
}

/// Writes a rate in bits per second.
pub fn format_rate(rate_bps: u64) -> String {
    format(rate_bps, RATE_UNITS, "bps")
}

/// Writes a size in bytes, with SI prefixes.
pub fn format_size(size_bytes: u64) -> String {
    let units: Vec<Unit> = SIZE_UNITS.iter().copied().filter(|(unit, _)| !unit.contains('i')).collect();
    format(size_bytes, &units, "B")
}

fn format(amount: u64, units: &[Unit], unit_of_zero: &str) -> String {
    let Some((unit, factor)) = units.iter().rev().find(|(_, factor)| *factor <= amount) else {
        return format!("0 {unit_of_zero}");
    };
    if amount.is_multiple_of(*factor) {
        return format!("{} {unit}", amount / factor);
    }
    format!("{} {unit}", six_digits(amount as f64 / *factor as f64))
}

/// A number of 1 to 10⁶ in six digits, without zeros at its end.
fn six_digits(number: f64) -> String {
    let whole_digits = number.log10().floor() as usize + 1;
    let text = format!("{number:.*}", 6_usize.saturating_sub(whole_digits));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
