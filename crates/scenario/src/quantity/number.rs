//! Numbers with units, exactly.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed};

use super::Unit;
use crate::text::mistake::Mistake;
use crate::text::nearest::{USUAL_CUTOFF, nearest};
use crate::text::value::Value;

const LONGEST_TEXT: usize = 100;

/// An exponent that the digits of a text that long do not make up for.
const MOST_POWER: i32 = 200;

/// Other spellings of units; tc and iperf write rates as the last ones.
const SPELLINGS: &[(&str, &str)] = &[
    ("µs", "us"),
    ("μs", "us"),
    ("sec", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("minute", "min"),
    ("minutes", "min"),
    ("hour", "h"),
    ("hours", "h"),
    ("bit/s", "bps"),
    ("kbit/s", "kbps"),
    ("Mbit/s", "Mbps"),
    ("Gbit/s", "Gbps"),
    ("Tbit/s", "Tbps"),
    ("kbit", "kbps"),
    ("Mbit", "Mbps"),
    ("Gbit", "Gbps"),
    ("Tbit", "Tbps"),
    ("k", "kbps"),
    ("M", "Mbps"),
    ("G", "Gbps"),
    ("T", "Tbps"),
    ("byte", "B"),
    ("bytes", "B"),
    ("kB", "KB"),
    ("packet", "packets"),
    ("segment", "segments"),
];

/// Splits a text such as "2.5 Mbps" into its number and its unit.
pub fn split_quantity(value: &Value, units: &[Unit], accepted: &str) -> Result<(BigRational, Unit), Mistake> {
    let refused = |problem: String| Err(Mistake::new(problem).value(value).accepted(accepted));
    let Some(text) = value.as_text() else {
        return refused("is not a text with a number and a unit".to_owned());
    };
    let short = text.chars().count() <= LONGEST_TEXT;
    let Some((number, written)) = short.then(|| split(text.trim())).flatten() else {
        return refused("is not a number with a unit".to_owned());
    };
    if written.bytes().all(|b| b.is_ascii_digit() || b == b',') {
        return refused("has no unit".to_owned());
    }
    let usual = usual_spelling(written);
    if let Some(&unit) = units.iter().find(|(unit, _)| *unit == usual) {
        return Ok((number, unit));
    }
    if is_rest_of_number(written, units) {
        return refused("is not a number with a unit".to_owned());
    }
    let meant = without_comma(text.trim(), units);
    if !meant.is_empty() {
        return refused(format!("has a comma in its number (did you mean {}?)", meant.join(" or ")));
    }
    let hint = nearest_unit(usual, units).map_or(String::new(), |unit| format!(" (did you mean '{unit}'?)"));
    refused(format!("has a wrong unit{hint}"))
}

fn usual_spelling(unit: &str) -> &str {
    SPELLINGS.iter().find(|(other, _)| *other == unit).map_or(unit, |(_, usual)| usual)
}

/// Whether what follows a number belongs to it, as in `10_0 Mbps` and `0x10 Mbps`; of commas more is said.
fn is_rest_of_number(written: &str, units: &[Unit]) -> bool {
    let Some((number, unit)) = written.rfind(|c: char| c.is_ascii_digit()).map(|at| written.split_at(at + 1))
    else {
        return false;
    };
    let unit = usual_spelling(unit.trim());
    !number.contains(',') && units.iter().any(|(known, _)| *known == unit)
}

/// What a quantity whose number has a comma may mean: "1,5 s" is 1.5 s, "1,500 s" may be 1500 s, too.
fn without_comma(text: &str, units: &[Unit]) -> Vec<String> {
    let number_end = text.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(text.len());
    let (number, rest) = text.split_at(number_end);
    let unit = usual_spelling(rest.trim());
    let unit = units.iter().map(|(unit, _)| *unit).find(|known| *known == unit);
    let Some(unit) = unit.or_else(|| nearest_unit(rest.trim(), units)) else { return Vec::new() };
    let readings = plain_numbers(number).into_iter();
    readings.map(|number| format!("'{number} {unit}'")).collect()
}

/// What a number with commas may mean, with a point or none: first with the commas as thousands', then as the decimal one.
fn plain_numbers(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(',').collect();
    let are_digits = parts.iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if parts.len() < 2 || !are_digits {
        return Vec::new();
    }
    let thousands =
        (parts[0] != "0" && parts[1..].iter().all(|part| part.len() == 3)).then(|| parts.concat());
    let decimal = (parts.len() == 2).then(|| parts.join("."));
    thousands.into_iter().chain(decimal).collect()
}

/// What to add to "is not a number" for a share in percent or a number with a comma: what it stands for.
pub fn meant_number(value: &Value) -> String {
    let Some(text) = value.as_text().map(str::trim) else { return String::new() };
    let (number, power) = text.strip_suffix('%').map_or((text, "0"), |share| (share.trim(), "-2"));
    let number = plain_numbers(number).pop().unwrap_or_else(|| number.to_owned());
    let meant = (number != text).then(|| format!("{number}e{power}").parse::<f64>().ok()).flatten();
    meant.map_or(String::new(), |number| format!(" (did you mean {number}?)"))
}

/// The same for a whole number with commas.
pub fn meant_whole(value: &Value) -> String {
    let readings = value.as_text().map(|text| plain_numbers(text.trim())).unwrap_or_default();
    let meant = readings.into_iter().find(|number| !number.contains('.'));
    meant.map_or(String::new(), |number| format!(" (did you mean {number}?)"))
}

/// A whole number as an integer.
pub fn whole(number: &BigRational, value: &Value, accepted: &str) -> Result<BigInt, Mistake> {
    if number.is_integer() {
        return Ok(number.to_integer());
    }
    Err(Mistake::new("is not a whole number of bytes or packets").value(value).accepted(accepted))
}

/// The nearest whole number, the even one of two.
pub fn nearest_whole(number: &BigRational) -> BigInt {
    let two = BigInt::from(2);
    let below = number.floor().to_integer();
    let rest = number - BigRational::from_integer(below.clone());
    let half = BigRational::new(BigInt::one(), two.clone());
    let is_odd = (&below % &two).abs() == BigInt::one();
    if rest > half || (rest == half && is_odd) { below + 1 } else { below }
}

/// A decimal number, and what follows it, which is on one line.
fn split(text: &str) -> Option<(BigRational, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let before = digits(unsigned);
    let after = match unsigned[before..].strip_prefix('.') {
        Some(rest) if before > 0 || digits(rest) > 0 => Some(digits(rest)),
        _ => None,
    };
    if before == 0 && after.is_none() {
        return None;
    }
    let mantissa_end = before + after.map_or(0, |count| count + 1);
    let (exponent, end) = exponent(unsigned, mantissa_end);
    let unit = unsigned[end..].trim_start_matches([' ', '\t', '\r', '\n', '\u{b}', '\u{c}']);
    if unit.contains('\n') {
        return None;
    }
    let mantissa: String = unsigned[..mantissa_end].chars().filter(|&c| c != '.').collect();
    let mantissa: BigInt = mantissa.parse().ok()?;
    let signed = if text.starts_with('-') { -mantissa } else { mantissa };
    let scale = exponent - i32::try_from(after.unwrap_or(0)).ok()?;
    let power = BigRational::from_integer(BigInt::from(10)).pow(scale);
    Some((BigRational::from_integer(signed) * power, unit))
}

/// The exponent that begins at `at`, if there is one, and where it ends; of those beyond all quantities one stands for all.
fn exponent(text: &str, at: usize) -> (i32, usize) {
    let Some(rest) = text[at..].strip_prefix(['e', 'E']) else { return (0, at) };
    let unsigned = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (0, at);
    }
    let power = unsigned[..digits].parse().unwrap_or(MOST_POWER).min(MOST_POWER);
    let end = at + 1 + (rest.len() - unsigned.len()) + digits;
    (if rest.starts_with('-') { -power } else { power }, end)
}

fn nearest_unit(written: &str, units: &[Unit]) -> Option<&'static str> {
    let same = units.iter().find(|(unit, _)| unit.to_lowercase() == written.to_lowercase());
    same.map(|(unit, _)| *unit)
        .or_else(|| nearest(written, units.iter().map(|(unit, _)| *unit), USUAL_CUTOFF))
}

/// The whole number nearest to a quotient, the even one of two.
pub fn nearest_quotient(dividend: u128, divisor: u64) -> u64 {
    let divisor = u128::from(divisor);
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let up = 2 * rest > divisor || (2 * rest == divisor && quotient % 2 == 1);
    u64::try_from(quotient + u128::from(up)).unwrap_or(u64::MAX)
}
