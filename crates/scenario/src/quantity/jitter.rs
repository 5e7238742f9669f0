//! What a host's processing takes, and what else it takes, at random: "uniform(0 s, 50 us)", "exponential(mean=1 ms)", "none".

use bufferlab_simulator::JitterPlan;
use serde::{Serialize, Serializer};

use super::empirical::NoFiles;
use super::kind::TIME;
use super::law::{Law, LawKind, parse_law};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// A host's random processing delay, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Jitter(pub Option<Law>);

impl Jitter {
    /// Evenly up to that many microseconds.
    pub fn up_to_us(most: u64) -> Jitter {
        let text = Value::text(format!("uniform(0 s, {most} us)"));
        parse_jitter(&text).expect("a uniform law is a jitter")
    }
}

impl Serialize for Jitter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Reads a jitter; `0 s` is none.
pub fn parse_jitter(value: &Value) -> Result<Jitter, Mistake> {
    let Some(text) = value.as_text() else { return Err(not_jitter(value)) };
    if text == "none" {
        return Ok(Jitter(None));
    }
    let law = parse_law(value, &TIME, &NoFiles)?;
    let longest_ps = match law.kind {
        LawKind::Constant { value: 0 } => return Ok(Jitter(None)),
        LawKind::Uniform { high: ps, .. } | LawKind::Exponential { mean: ps } if !law.truncated => ps,
        _ => return Err(not_jitter(value)),
    };
    if longest_ps > JitterPlan::LONGEST.as_ps() {
        let accepted = format!("times of at most {} s", JitterPlan::LONGEST.as_s());
        return Err(Mistake::new("is too long a jitter").value(value).accepted(accepted));
    }
    Ok(Jitter(Some(law)))
}

/// What a host takes at random before it handles what has come, if it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Noise(pub Option<Law>);

impl Noise {
    /// A Pareto law.
    pub fn pareto(mean: &str, shape: &str) -> Noise {
        let text = Value::text(format!("pareto(mean={mean}, shape={shape})"));
        parse_noise(&text).expect("a Pareto law is a noise")
    }
}

impl Serialize for Noise {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Reads a host's noise; `0 s` is none.
pub fn parse_noise(value: &Value) -> Result<Noise, Mistake> {
    let refused = |problem: &str| {
        let accepted = "'pareto(mean=8 us, shape=1.5)', 'exponential(mean=5 us)' with a mean of at most 100 s, '0 s' or 'none'";
        Err(Mistake::new(problem).value(value).accepted(accepted))
    };
    let Some(text) = value.as_text() else { return refused("is not a usable noise") };
    if text == "none" {
        return Ok(Noise(None));
    }
    let law = parse_law(value, &TIME, &NoFiles)?;
    match law.kind {
        LawKind::Constant { value: 0 } => Ok(Noise(None)),
        LawKind::Exponential { mean } | LawKind::Pareto { mean, .. } if !law.truncated => {
            if mean == 0 || mean > JitterPlan::LONGEST.as_ps() {
                return refused("has a mean that no host has");
            }
            Ok(Noise(Some(law)))
        }
        _ => refused("is not a usable noise"),
    }
}

fn not_jitter(value: &Value) -> Mistake {
    let accepted = "'uniform(0 s, 1 ms)', 'exponential(mean=1 ms)', '0 s' or 'none'";
    Mistake::new("is not a usable jitter").value(value).accepted(accepted)
}
