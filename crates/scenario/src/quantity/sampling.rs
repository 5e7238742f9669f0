//! Draws of laws, the same on every machine.

use bufferlab_units::{Stream, exp, ln};

use super::law::{Choices, Law, LawKind};
use crate::text::mistake::Mistake;

/// How often a draw out of bounds is drawn again.
const MOST_REDRAWS: usize = 200;

impl Law {
    /// Draws `count` times in whole picoseconds, or sizes in whole bytes. More draws do not change the first ones.
    pub fn draw(&self, stream: &mut Stream, count: usize) -> Result<Vec<u64>, Mistake> {
        match self.fixed() {
            Some(value) => Ok(vec![value; count]),
            None => (0..count).map(|_| self.draw_one(stream)).collect(),
        }
    }

    fn draw_one(&self, stream: &mut Stream) -> Result<u64, Mistake> {
        let (least, most) = (self.least as f64, self.most as f64);
        let mut draws = (0..MOST_REDRAWS).map(|_| self.raw(stream));
        let drawn = draws.find(|drawn| (least..=most).contains(drawn));
        drawn.map(|drawn| drawn.round_ties_even() as u64).ok_or_else(|| {
            let accepted = "bounds that most draws meet";
            Mistake::new("hardly ever falls between its min and max").text(&self.text).accepted(accepted)
        })
    }

    fn raw(&self, stream: &mut Stream) -> f64 {
        match &self.kind {
            LawKind::Constant { value } => *value as f64,
            LawKind::Uniform { low, high } => *low as f64 + (*high as f64 - *low as f64) * below_one(stream),
            LawKind::Normal { mean, sd } => *mean as f64 + *sd as f64 * normal(stream),
            LawKind::Lognormal { median, sigma, .. } => median * exp(sigma * normal(stream)),
            LawKind::Exponential { mean } => *mean as f64 * stream.exponential(),
            LawKind::Pareto { mean, shape } => {
                let least = *mean as f64 * (shape - 1.0) / shape;
                least * exp(stream.exponential() / shape)
            }
            LawKind::Choice(choices) | LawKind::Empirical(choices) => choices.raw(below_one(stream)),
        }
    }
}

impl Choices {
    fn raw(&self, unit: f64) -> f64 {
        let chosen = self.shares.partition_point(|&share| share <= unit);
        self.values[chosen.min(self.values.len() - 1)] as f64
    }
}

/// A number in [0, 1).
fn below_one(stream: &mut Stream) -> f64 {
    1.0 - stream.unit()
}

/// A standard normal number by Marsaglia's polar method, which needs but a root and a logarithm.
fn normal(stream: &mut Stream) -> f64 {
    loop {
        let (x, y) = (2.0 * stream.unit() - 1.0, 2.0 * stream.unit() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * ln(square) / square).sqrt();
        }
    }
}
