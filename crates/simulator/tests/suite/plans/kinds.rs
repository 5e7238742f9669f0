//! Kinds of configurations: every one, each parameter drawn from what it may be.

use bufferlab_parameters::{Kind, Kinds, Parameter};
use bufferlab_units::Span;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::STEP_PS;

/// Most parameters of a kind.
const MOST: usize = 16;

/// A configuration of any kind; `weights` says how often a kind is drawn for each draw of one that has no weight, whichever,
/// so that its share stays when kinds are added.
pub(crate) fn any_kind<K: Kinds + Clone + std::fmt::Debug>(
    weights: &[(&str, f64)],
) -> impl Strategy<Value = K> + use<K> {
    let others = K::KINDS.len() - weights.len();
    let times = |word: &str| match weights.iter().find(|(name, _)| *name == word) {
        Some((_, weight)) => (weight * others as f64).round() as usize,
        None => 1,
    };
    let kinds: Vec<_> = K::KINDS.iter().flat_map(|kind| vec![kind; times(kind.word.word)]).collect();
    (any::<Index>(), vec((any::<Index>(), 0..4_u8), MOST)).prop_map(move |(kind, draws)| {
        let kind = kind.get(&kinds);
        let mut config = (kind.default)();
        for (parameter, (index, turn)) in (kind.table)().iter().zip(draws) {
            let old = config.clone();
            config
                .set(parameter.key, value(parameter, index, turn))
                .expect("a value of the parameter's kind");
            // what is required has no usable default
            if config.validate().is_err() && !parameter.is_required {
                config = old;
            }
        }
        config
    })
}

/// A value in the plan's form, small enough for runs of a second or two to drop and mark.
fn value(parameter: &Parameter, index: Index, turn: u8) -> Value {
    let below = |most: u64| index.index(most as usize) as u64;
    let whole = |least: u64, most: u64, few: u64| least + below((most - least).min(few) + 1);
    if parameter.is_optional && turn == 0 {
        return Value::Null;
    }
    match parameter.kind {
        Kind::Flag => json!(index.index(2) == 0),
        // often on the grid, so that what comes together and what is decided coincide
        Kind::Time { least, most } => {
            let ps = if turn < 3 { below(12) * STEP_PS } else { below(12 * STEP_PS) };
            json!(Span::from_ps(ps).clamp(least, most))
        }
        Kind::Rate => json!(1 + below(20_000_000)),
        Kind::Bytes { least, most } => json!(whole(least, most, 3_000)),
        // of few queues some are shared
        Kind::Count { least, most, .. } => json!(whole(least, most, 8)),
        Kind::Number { most, .. } => json!(below(11) as f64 / 10.0 * most.min(100.0)),
        Kind::Words(words) => json!(index.get(words).in_plan()),
        Kind::Threshold if turn < 3 => json!({"packets": below(8)}),
        Kind::Threshold => json!({"bytes": below(8_000)}),
        Kind::Form(form) => {
            (form.parse)(form.examples[index.index(form.examples.len())]).expect("an example is accepted")
        }
    }
}
