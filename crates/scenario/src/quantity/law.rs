//! Random times and sizes as scenarios write them: "uniform(0 s, 5 s)", "pareto(mean=30 KB, shape=1.2)".
//!
//! A plain quantity is a constant. Every law with a density takes `min=` and `max=`: a draw outside them is drawn again
//! (a truncated law). Without them draws stay within what is accepted of the quantity: 0 s to the longest time, a byte to
//! the largest size.

use bufferlab_simulator::LawPlan;
use bufferlab_units::exp;
use serde::Serialize;

use super::empirical::{Files, read_values};
use super::kind::Quantity;
use crate::text::mistake::Mistake;
use crate::text::nearest::{USUAL_CUTOFF, hint};
use crate::text::value::Value;

const LONGEST_TEXT: usize = 4000;
const LARGEST_SIGMA: f64 = 10.0;

/// A law of random times or sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Law {
    /// As written.
    pub text: String,
    /// Which law, with its parameters: times in ps, sizes in bytes.
    #[serde(flatten)]
    pub kind: LawKind,
    /// Draws below are drawn again.
    pub least: u64,
    /// Draws above are drawn again.
    pub most: u64,
    /// Whether `min=` or `max=` was given.
    pub truncated: bool,
}

/// The laws.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum LawKind {
    /// Always the same.
    Constant {
        /// That value.
        value: u64,
    },
    /// Evenly between two values.
    Uniform {
        /// The lower one.
        low: u64,
        /// The upper one.
        high: u64,
    },
    /// Normal.
    Normal {
        /// Its mean.
        mean: u64,
        /// Its standard deviation.
        sd: u64,
    },
    /// Lognormal.
    Lognormal {
        /// Its median, exp(µ).
        median: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
        /// Its mean, exp(µ + sigma²/2).
        mean: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean.
        mean: u64,
    },
    /// Pareto: P(X > x) = (least/x)^shape from the least value on, mean·(shape − 1)/shape.
    Pareto {
        /// Its mean.
        mean: u64,
        /// Its index, above 1.
        shape: f64,
    },
    /// One of some values.
    Choice(Choices),
    /// One of a file's values.
    Empirical(Choices),
}

/// Values to choose from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choices {
    /// The values.
    pub values: Vec<u64>,
    /// Their weights, as given.
    pub weights: Vec<f64>,
    /// Their cumulative chances; the last is 1.
    #[serde(skip)]
    pub shares: Vec<f64>,
}

impl Law {
    /// The law that always gives `value`.
    pub fn constant(value: u64, text: impl Into<String>, of: &Quantity) -> Law {
        Law {
            text: text.into(),
            kind: LawKind::Constant { value },
            least: of.least,
            most: of.most,
            truncated: false,
        }
    }

    /// The value of a law that has but one.
    pub fn fixed(&self) -> Option<u64> {
        if let LawKind::Constant { value } = self.kind { Some(value) } else { None }
    }

    /// The law's mean, ps or bytes; nothing where `min=` and `max=` make it another's.
    pub fn mean(&self) -> Option<f64> {
        match &self.kind {
            LawKind::Choice(choices) | LawKind::Empirical(choices) => Some(choices.mean()),
            _ if self.truncated => None,
            LawKind::Constant { value } => Some(*value as f64),
            LawKind::Uniform { low, high } => Some(f64::midpoint(*low as f64, *high as f64)),
            LawKind::Lognormal { mean, .. } => Some(*mean),
            LawKind::Normal { mean, .. } | LawKind::Exponential { mean } | LawKind::Pareto { mean, .. } => {
                Some(*mean as f64)
            }
        }
    }
}

impl Choices {
    fn new(text: &str, values: Vec<u64>, weights: Vec<f64>) -> Result<Choices, Mistake> {
        let refused = |problem| Err(Mistake::new(problem).text(text).accepted("weights >= 0, not all 0"));
        if weights.iter().any(|&weight| weight < 0.0) {
            return refused("has a negative weight");
        }
        let total: f64 = weights.iter().sum();
        if !(total.is_finite() && total > 0.0) {
            return refused("has weights that do not sum to more than 0");
        }
        let sums = weights.iter().scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum / total)
        });
        let shares = sums.collect();
        Ok(Choices { values, weights, shares })
    }

    fn mean(&self) -> f64 {
        let before = std::iter::once(0.0).chain(self.shares.iter().copied());
        let chances = self.shares.iter().zip(before).map(|(after, before)| after - before);
        chances.zip(&self.values).map(|(chance, &value)| chance * value as f64).sum()
    }
}

impl Quantity {
    /// What a law of it may be, for messages.
    pub fn accepted(&self) -> String {
        let noun = self.noun;
        format!(
            "a {noun} such as '{}', or uniform(low, high), normal(mean=, sd=), lognormal(mean=, sigma=), \
             exponential(mean=), pareto(mean=, shape=), choice({noun}, {noun}: weight, …), empirical(file.csv), \
             constant({noun})",
            self.example
        )
    }

    fn read(&self, text: &str) -> Result<u64, Mistake> {
        (self.parse)(&Value::text(text))
    }
}

/// The laws with arguments, and the names of these in order.
const SIGNATURES: &[(&str, &[&str])] = &[
    ("constant", &["value"]),
    ("uniform", &["low", "high"]),
    ("normal", &["mean", "sd"]),
    ("lognormal", &["mean", "sigma"]),
    ("exponential", &["mean"]),
    ("pareto", &["mean", "shape"]),
];

/// The laws with values.
const CHOICE: &str = "choice";
const EMPIRICAL: &str = "empirical";

/// Reads a law from its text: a quantity ("10 ms") or a call such as "uniform(0 s, 5 s)".
pub fn parse_law(value: &Value, of: &Quantity, files: &dyn Files) -> Result<Law, Mistake> {
    let not_one = || {
        Mistake::new(format!("is not a {} or a distribution", of.noun)).value(value).accepted(of.accepted())
    };
    let text = value.as_text().filter(|text| text.chars().count() <= LONGEST_TEXT).ok_or_else(not_one)?;
    let Some((name, inside)) = call(text.trim()) else {
        return Ok(Law::constant(plain(text, of)?, text, of));
    };
    parse_call(text, name, inside, of, files).map_err(|mistake| match with_points(text) {
        Some(meant) if name != EMPIRICAL && parse_law(&Value::text(&*meant), of, files).is_ok() => {
            let problem = format!("has a comma in a number (did you mean '{meant}'?)");
            Mistake::new(problem).text(text).accepted(of.accepted())
        }
        _ => mistake,
    })
}

fn parse_call(
    text: &str,
    name: &str,
    inside: &str,
    of: &Quantity,
    files: &dyn Files,
) -> Result<Law, Mistake> {
    let law = |kind| Law { text: text.to_owned(), kind, least: of.least, most: of.most, truncated: false };
    if name == EMPIRICAL {
        let path = inside.trim_matches(['\'', '"']);
        let (values, weights) = read_values(path, files, of)?;
        return Ok(law(LawKind::Empirical(Choices::new(text, values, weights)?)));
    }
    if name == CHOICE {
        let (values, weights) = choices(text, inside, of)?;
        return Ok(law(LawKind::Choice(Choices::new(text, values, weights)?)));
    }
    let Some((_, signature)) = SIGNATURES.iter().find(|(known, _)| *known == name) else {
        let known = SIGNATURES.iter().map(|(known, _)| *known).chain([CHOICE, EMPIRICAL]);
        let hint = hint(&name.to_lowercase(), known, USUAL_CUTOFF);
        let problem = format!("is not a known distribution{hint}");
        return Err(Mistake::new(problem).text(text).accepted(of.accepted()));
    };
    Arguments::split(text, name, signature, inside, of)?.law()
}

/// A name and what stands in parentheses after it.
pub(super) fn call(text: &str) -> Option<(&str, &str)> {
    let name_end = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = text.split_at(name_end);
    let inside = rest.trim_start().strip_prefix('(')?.strip_suffix(')')?;
    (1..=20).contains(&name.len()).then(|| (name, inside.trim()))
}

/// The text with points where commas stand between digits, if there are such.
fn with_points(text: &str) -> Option<String> {
    let is_digit =
        |index: Option<usize>| index.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    let changed = |(at, c): (usize, char)| {
        let is_within = c == ',' && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        if is_within { '.' } else { c }
    };
    Some(text.char_indices().map(changed).collect()).filter(|points: &String| points != text)
}

fn plain(text: &str, of: &Quantity) -> Result<u64, Mistake> {
    of.read(text).map_err(|mistake| {
        let looks_like_one =
            text.trim().starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.'));
        if looks_like_one {
            return mistake;
        }
        Mistake::new(format!("is not a {} or a distribution", of.noun)).text(text).accepted(of.accepted())
    })
}

fn choices(text: &str, inside: &str, of: &Quantity) -> Result<(Vec<u64>, Vec<f64>), Mistake> {
    let pairs = inside.split(',').map(|part| match part.split_once(':') {
        Some((value, weight)) => Ok((of.read(value.trim())?, number(text, weight, of)?)),
        None => Ok((of.read(part.trim())?, 1.0)),
    });
    pairs.collect::<Result<Vec<_>, Mistake>>().map(|pairs| pairs.into_iter().unzip())
}

fn number(text: &str, written: &str, of: &Quantity) -> Result<f64, Mistake> {
    written.trim().parse().map_err(|_| {
        let start: String = written.trim().chars().take(20).collect();
        let problem = format!("has '{start}' where a plain number belongs");
        Mistake::new(problem).text(text).accepted(of.accepted())
    })
}

/// The arguments of a law by name; those without one take the names of its signature in order.
struct Arguments<'a> {
    text: &'a str,
    name: &'a str,
    of: &'a Quantity,
    given: Vec<(&'a str, &'a str)>,
}

impl<'a> Arguments<'a> {
    fn split(
        text: &'a str,
        name: &'a str,
        signature: &[&'a str],
        inside: &'a str,
        of: &'a Quantity,
    ) -> Result<Arguments<'a>, Mistake> {
        let mut names = signature.iter().copied();
        let mut arguments = Arguments { text, name, of, given: Vec::new() };
        for part in inside.split(',').filter(|_| !inside.is_empty()) {
            let (key, argument) = match part.split_once('=') {
                Some((key, argument)) => (key.trim(), argument.trim()),
                None => (names.next().unwrap_or_default(), part.trim()),
            };
            if key.is_empty() || argument.is_empty() || arguments.get(key).is_some() {
                let problem = "has arguments that make no sense";
                return Err(Mistake::new(problem).text(text).accepted(of.accepted()));
            }
            arguments.given.push((key, argument));
        }
        let signature = match name {
            "lognormal" if arguments.get("median").is_some() && arguments.get("mean").is_none() => {
                &["median", "sigma"]
            }
            _ => signature,
        };
        arguments.check(signature)?;
        Ok(arguments)
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.given.iter().find(|(name, _)| *name == key).map(|(_, argument)| *argument)
    }

    fn check(&self, signature: &[&str]) -> Result<(), Mistake> {
        let bounds: &[&str] = if self.name == "constant" { &[] } else { &["min", "max"] };
        let allowed = [signature, bounds].concat();
        let missing = signature.iter().find(|key| self.get(key).is_none());
        let unknown = self.given.iter().find(|(key, _)| !allowed.contains(key));
        let problem = match (missing, unknown) {
            (Some(key), _) => format!("lacks {key}"),
            (None, Some((key, _))) => format!("has the unknown parameter '{key}'"),
            (None, None) => return Ok(()),
        };
        let accepted = format!("{}({})", self.name, allowed.join(", "));
        Err(Mistake::new(problem).text(self.text).accepted(accepted))
    }

    fn quantity(&self, key: &str) -> Result<u64, Mistake> {
        self.of.read(self.get(key).unwrap_or_default())
    }

    fn law(&self) -> Result<Law, Mistake> {
        let kind = self.kind()?;
        let bound = |key, usual| self.get(key).map_or(Ok(usual), |argument| self.of.read(argument));
        let (least, most) = (bound("min", self.of.least)?, bound("max", self.of.most)?);
        let refused =
            |problem: &str, accepted: &str| Err(Mistake::new(problem).text(self.text).accepted(accepted));
        if least > most {
            return refused("has a min above its max", "min <= max");
        }
        if matches!(kind, LawKind::Uniform { low, high } if low > high) {
            return refused("has a low above its high", "uniform(low, high) with low <= high");
        }
        let truncated = (least, most) != (self.of.least, self.of.most);
        Ok(Law { text: self.text.to_owned(), kind, least, most, truncated })
    }

    fn kind(&self) -> Result<LawKind, Mistake> {
        Ok(match self.name {
            "constant" => LawKind::Constant { value: self.quantity("value")? },
            "uniform" => LawKind::Uniform { low: self.quantity("low")?, high: self.quantity("high")? },
            "normal" => LawKind::Normal { mean: self.quantity("mean")?, sd: self.quantity("sd")? },
            "exponential" => LawKind::Exponential { mean: self.quantity("mean")? },
            "pareto" => LawKind::Pareto { mean: self.quantity("mean")?, shape: self.shape()? },
            _ => self.lognormal()?,
        })
    }

    fn lognormal(&self) -> Result<LawKind, Mistake> {
        let of_median = self.get("mean").is_none();
        let given = self.quantity(if of_median { "median" } else { "mean" })? as f64;
        let sigma = self.sigma()?;
        let (median, mean) = if of_median {
            (given, given * exp(sigma * sigma / 2.0))
        } else {
            (given * exp(-(sigma * sigma) / 2.0), given)
        };
        Ok(LawKind::Lognormal { median, sigma, mean })
    }

    fn sigma(&self) -> Result<f64, Mistake> {
        let sigma = number(self.text, self.get("sigma").unwrap_or_default(), self.of)?;
        let accepted =
            format!("sigma of 0 to {LARGEST_SIGMA} (standard deviation of the logarithm, no unit)");
        let is_usable = (0.0..=LARGEST_SIGMA).contains(&sigma);
        let refused = || Mistake::new("has a sigma out of bounds").text(self.text).accepted(accepted);
        is_usable.then_some(sigma).ok_or_else(refused)
    }

    fn shape(&self) -> Result<f64, Mistake> {
        let shape = number(self.text, self.get("shape").unwrap_or_default(), self.of)?;
        let accepted = format!(
            "a shape above 1, so that there is a mean, to {} (a plain number)",
            LawPlan::LARGEST_SHAPE
        );
        let is_usable = 1.0 < shape && shape <= LawPlan::LARGEST_SHAPE;
        let refused = || Mistake::new("has a shape out of bounds").text(self.text).accepted(accepted);
        is_usable.then_some(shape).ok_or_else(refused)
    }
}

#[cfg(test)]
#[path = "law_tests.rs"]
mod tests;
