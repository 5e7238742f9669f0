//! What a link offers over time: "100 Mbps", or a rate that varies: "mahimahi(lte.down)", "csv(rate.csv)",
//! "steps(50 Mbps for 10 s, 0 bps for 1 s)", "markov(20 Mbps for 2 s, 5 Mbps for 1 s)",
//! "bursts(rate=300 Mbps, on=2 ms, off=uniform(0.2 ms, 2 ms))", "bucket(rate=50 Mbps, burst=32 KB, line=1 Gbps)".

use bufferlab_simulator::{CapacityPlan, MarkovState, RatePiece};
use num_traits::Zero;
use serde::{Serialize, Serializer};

use super::empirical::Files;
use super::kind::{SIZE, TIME};
use super::law::{LawKind, call, parse_law};
use super::trace::{read_csv, read_mahimahi};
use super::{
    MAX_RATE_BPS, MAX_TIME_PS, PS_PER_MS, PS_PER_S, RATE_UNITS, parse_rate, parse_time, split_quantity,
};
use crate::text::mistake::Mistake;
use crate::text::nearest::{USUAL_CUTOFF, hint};
use crate::text::value::Value;

const ACCEPTED: &str = "a rate such as '100 Mbps', or mahimahi(file), csv(file), csv(file, repeat=60 s), \
                        steps(50 Mbps for 10 s, …), markov(20 Mbps for 2 s, 5 Mbps for 1 s, …), \
                        bursts(rate=300 Mbps, on=2 ms, off=1 ms), bucket(rate=50 Mbps, burst=32 KB, line=1 Gbps)";
const KNOWN: [&str; 6] = ["mahimahi", "csv", "steps", "markov", "bursts", "bucket"];
/// Shortest stay at a rate.
const SHORTEST_PS: u64 = 1_000_000;
/// A bucket holds at least a full frame of Ethernet, so that no packet is larger.
const LEAST_BURST_BYTES: u64 = 1_514;

/// A rate, or what takes its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// As written.
    pub text: String,
    /// Where it varies.
    pub plan: Option<CapacityPlan>,
    /// Delays from moments on, ps, if the file has them.
    pub delays: Vec<(u64, u64)>,
    /// The rate where it is constant.
    constant_bps: u64,
}

/// The text if the rate varies.
impl Serialize for Capacity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.plan.as_ref().map(|_| &self.text).serialize(serializer)
    }
}

impl Capacity {
    /// The mean rate over a run of this length, to the nearest bit per second; that of a random rate in the long run.
    pub fn mean_bps(&self, duration_ps: u64) -> u64 {
        let Some(plan) = &self.plan else { return self.constant_bps };
        let mean = match plan {
            CapacityPlan::Rates { pieces, repeat_ps } => rates_mean(pieces, *repeat_ps, duration_ps),
            CapacityPlan::Opportunities { at_ms, bytes, repeat_ms } => {
                let bits = opportunities(at_ms, *repeat_ms, duration_ps) * u128::from(*bytes) * 8;
                bits as f64 * PS_PER_S as f64 / duration_ps as f64
            }
            CapacityPlan::Markov { states } => markov_mean(states),
            CapacityPlan::Bursts { rate_bps, on_ps, off_low_ps, off_high_ps } => {
                let (on, off) = (*on_ps as f64, f64::midpoint(*off_low_ps as f64, *off_high_ps as f64));
                *rate_bps as f64 * on / (on + off)
            }
            CapacityPlan::Bucket { rate_bps, .. } => *rate_bps as f64,
        };
        mean.round_ties_even() as u64
    }

    /// The pieces of a constant rate, or of one with given pieces; nothing of others.
    pub fn pieces(&self) -> Option<(Vec<RatePiece>, u64)> {
        match &self.plan {
            None => Some((vec![RatePiece { at_ps: 0, rate_bps: self.constant_bps }], 0)),
            Some(CapacityPlan::Rates { pieces, repeat_ps }) => Some((pieces.clone(), *repeat_ps)),
            Some(_) => None,
        }
    }
}

/// The mean of pieces that may repeat, over a time.
pub fn rates_mean(pieces: &[RatePiece], repeat_ps: u64, duration_ps: u64) -> f64 {
    let work = |until_ps: u64| -> u128 {
        let ends = pieces.iter().skip(1).map(|piece| piece.at_ps).chain([u64::MAX]);
        let parts = pieces.iter().zip(ends).map(|(piece, end)| {
            u128::from(piece.rate_bps) * u128::from(end.min(until_ps).saturating_sub(piece.at_ps))
        });
        parts.sum()
    };
    let (rounds, rest) = match duration_ps.checked_div(repeat_ps) {
        Some(rounds) => (rounds, duration_ps % repeat_ps),
        None => (0, duration_ps),
    };
    let whole = if rounds > 0 { u128::from(rounds) * work(repeat_ps) } else { 0 };
    (whole + work(rest)) as f64 / duration_ps as f64
}

/// Opportunities before a moment.
fn opportunities(at_ms: &[u32], repeat_ms: u32, until_ps: u64) -> u128 {
    let (until, repeat) = (until_ps.div_ceil(PS_PER_MS), u64::from(repeat_ms));
    let last = u64::from(at_ms[at_ms.len() - 1]);
    let whole = if until > last { (until - 1 - last) / repeat + 1 } else { 0 };
    let rounds = until.div_ceil(repeat);
    let begun = (whole..rounds)
        .map(|round| at_ms.partition_point(|&at| round * repeat + u64::from(at) < until) as u128);
    u128::from(whole) * at_ms.len() as u128 + begun.sum::<u128>()
}

/// A state is visited as often as it has neighbors; a visit lasts as long as its mean stay.
fn markov_mean(states: &[MarkovState]) -> f64 {
    let last = states.len() - 1;
    let visits = |index: usize| if index == 0 || index == last { 1.0 } else { 2.0 };
    let shares = || states.iter().enumerate().map(|(index, state)| visits(index) * state.stay_ps as f64);
    let sum: f64 = shares().sum();
    states.iter().zip(shares()).map(|(state, share)| state.rate_bps as f64 * share).sum::<f64>() / sum
}

/// Reads a rate of a link.
pub fn parse_capacity(value: &Value, files: &dyn Files) -> Result<Capacity, Mistake> {
    let text = value.as_text().unwrap_or_default();
    let Some((name, inside)) = call(text.trim()) else {
        let constant_bps = parse_rate(value)?;
        return Ok(Capacity { text: text.to_owned(), plan: None, delays: Vec::new(), constant_bps });
    };
    let Some(name) = KNOWN.iter().find(|known| **known == name) else {
        let hint = hint(&name.to_lowercase(), KNOWN, USUAL_CUTOFF);
        return Err(Mistake::new(format!("is not a known rate{hint}")).text(text).accepted(ACCEPTED));
    };
    let arguments = Arguments { text, name, list: split(inside) };
    let (plan, delays) = match *name {
        "mahimahi" => (read_mahimahi(arguments.file()?, files)?, Vec::new()),
        "csv" => {
            let repeat_ps = arguments.named("repeat").map(|text| time(text, SHORTEST_PS)).transpose()?;
            arguments.only(1, &["repeat"])?;
            read_csv(arguments.file()?, repeat_ps.unwrap_or(0), files)?
        }
        "steps" => (arguments.steps()?, Vec::new()),
        "markov" => (arguments.markov()?, Vec::new()),
        "bursts" => (arguments.bursts()?, Vec::new()),
        _ => (arguments.bucket()?, Vec::new()),
    };
    Ok(Capacity { text: text.to_owned(), plan: Some(plan), delays, constant_bps: 0 })
}

/// Reads a rate that may be 0, for an outage.
pub fn parse_rate_or_none(value: &Value) -> Result<u64, Mistake> {
    let accepted = "a rate such as '10 Mbps', or '0 bps' for an outage";
    let is_zero = split_quantity(value, RATE_UNITS, accepted).is_ok_and(|(number, _)| number.is_zero());
    if is_zero { Ok(0) } else { parse_rate(value) }
}

fn time(text: &str, least_ps: u64) -> Result<u64, Mistake> {
    parse_time(&Value::text(text), least_ps, MAX_TIME_PS)
}

/// Arguments, at commas that are in no parentheses.
pub(super) fn split(inside: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_i32, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(inside[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// What stands in the parentheses of a rate.
struct Arguments<'a> {
    text: &'a str,
    name: &'a str,
    list: Vec<&'a str>,
}

impl<'a> Arguments<'a> {
    fn refused(&self, problem: impl Into<String>) -> Mistake {
        let accepted = match self.name {
            "mahimahi" => "mahimahi(file)",
            "csv" => "csv(file) or csv(file, repeat=60 s)",
            "steps" => "steps(50 Mbps for 10 s, 0 bps for 1 s, …), times of 1 us and more",
            "markov" => "markov(20 Mbps for 2 s, 5 Mbps for 1 s, …), mean times of 1 us and more",
            "bursts" => "bursts(rate=300 Mbps, on=2 ms, off=1 ms), off also as uniform(0.2 ms, 2 ms)",
            _ => {
                "bucket(rate=50 Mbps, burst=32 KB, line=1 Gbps), a burst of 1514 B and more, a line as fast or faster"
            }
        };
        Mistake::new(problem).text(self.text).accepted(accepted)
    }

    fn named(&self, key: &str) -> Option<&'a str> {
        self.list.iter().find_map(|part| {
            let (name, value) = part.split_once('=')?;
            (name.trim() == key).then(|| value.trim())
        })
    }

    fn required(&self, key: &str) -> Result<&'a str, Mistake> {
        self.named(key).ok_or_else(|| self.refused(format!("lacks {key}")))
    }

    /// At most this number of arguments without a name, and no others than these with one.
    fn only(&self, unnamed: usize, names: &[&str]) -> Result<(), Mistake> {
        let (with, without): (Vec<&str>, Vec<&str>) = self.list.iter().partition(|part| part.contains('='));
        let unknown = with.iter().map(|part| part.split('=').next().unwrap_or_default().trim());
        match unknown.into_iter().find(|name| !names.contains(name)) {
            Some(name) => Err(self.refused(format!("has the unknown parameter '{name}'"))),
            None if without.len() > unnamed || with.len() > names.len() => {
                Err(self.refused("has arguments that make no sense"))
            }
            None => Ok(()),
        }
    }

    fn file(&self) -> Result<&'a str, Mistake> {
        if self.name == "mahimahi" {
            self.only(1, &[])?;
        }
        let path = self.list.first().filter(|part| !part.contains('=') || self.list.len() == 1);
        path.map(|path| path.trim_matches(['\'', '"'])).ok_or_else(|| self.refused("names no file"))
    }

    /// "50 Mbps for 10 s", each.
    fn stays(&self) -> Result<Vec<(u64, u64)>, Mistake> {
        let stay = |part: &&str| {
            let Some((rate, stay)) = part.split_once(" for ") else {
                return Err(self.refused(format!("has '{part}' where a rate for a time belongs")));
            };
            Ok((parse_rate_or_none(&Value::text(rate.trim()))?, time(stay.trim(), SHORTEST_PS)?))
        };
        let stays: Vec<(u64, u64)> = self.list.iter().map(stay).collect::<Result<_, _>>()?;
        if stays.iter().all(|(rate_bps, _)| *rate_bps == 0) {
            return Err(self.refused("has no rate above 0"));
        }
        Ok(stays)
    }

    fn steps(&self) -> Result<CapacityPlan, Mistake> {
        let mut at_ps = 0_u64;
        let mut pieces = Vec::new();
        for (rate_bps, length_ps) in self.stays()? {
            pieces.push(RatePiece { at_ps, rate_bps });
            at_ps = at_ps.saturating_add(length_ps);
        }
        if at_ps > MAX_TIME_PS {
            return Err(self.refused("is too long"));
        }
        Ok(CapacityPlan::Rates { pieces, repeat_ps: at_ps })
    }

    fn markov(&self) -> Result<CapacityPlan, Mistake> {
        let states = self.stays()?.into_iter().map(|(rate_bps, stay_ps)| MarkovState { rate_bps, stay_ps });
        let states: Vec<MarkovState> = states.collect();
        if !(2..=1_000).contains(&states.len()) {
            return Err(self.refused("does not have 2 to 1000 rates"));
        }
        Ok(CapacityPlan::Markov { states })
    }

    fn bursts(&self) -> Result<CapacityPlan, Mistake> {
        self.only(0, &["rate", "on", "off"])?;
        let rate_bps = parse_rate(&Value::text(self.required("rate")?))?;
        let on_ps = time(self.required("on")?, SHORTEST_PS)?;
        let off = parse_law(&Value::text(self.required("off")?), &TIME, &super::empirical::NoFiles)?;
        let (off_low_ps, off_high_ps) = match off.kind {
            LawKind::Constant { value } => (value, value),
            LawKind::Uniform { low, high } if !off.truncated => (low, high),
            _ => return Err(self.refused("has an off time of another law")),
        };
        Ok(CapacityPlan::Bursts { rate_bps, on_ps, off_low_ps, off_high_ps })
    }

    fn bucket(&self) -> Result<CapacityPlan, Mistake> {
        self.only(0, &["rate", "burst", "line"])?;
        let rate_bps = parse_rate(&Value::text(self.required("rate")?))?;
        let line_bps = self.named("line").map_or(Ok(MAX_RATE_BPS), |line| parse_rate(&Value::text(line)))?;
        let burst_bytes = (SIZE.parse)(&Value::text(self.required("burst")?))?;
        if !(LEAST_BURST_BYTES..=1 << 40).contains(&burst_bytes) {
            return Err(self.refused("has a burst out of bounds"));
        }
        if line_bps < rate_bps {
            return Err(self.refused("has a line slower than its rate"));
        }
        Ok(CapacityPlan::Bucket { rate_bps, burst_bytes, line_bps })
    }
}

#[cfg(test)]
#[path = "capacity_tests.rs"]
mod tests;
