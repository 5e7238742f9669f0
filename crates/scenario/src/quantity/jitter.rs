//! What a host's processing takes, at random: "uniform(0 s, 50 us)", "exponential(mean=1 ms)", "none".

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
    /// Evenly up to so many microseconds.
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

fn not_jitter(value: &Value) -> Mistake {
    let accepted = "'uniform(0 s, 1 ms)', 'exponential(mean=1 ms)', '0 s' or 'none'";
    Mistake::new("is not a usable jitter").value(value).accepted(accepted)
}
