//! What the users of the network need. Runs ignore it; commands that choose a queue or a buffer read it.

use serde_json::{Value as Json, json};

use crate::keys::{Fraction, Kind, ListOfEach, Reading, Schemas, TableOf, absent, given, part, toml};
use crate::text::mistake::Mistake;
use crate::text::nearest::{USUAL_CUTOFF, hint};
use crate::text::value::Value;

/// What users feel, by kind; the weights have the same names.
pub const KINDS: &[&str] = &["throughput", "fairness", "latency", "calls", "pages", "video", "transfers"];

const MOST_WEIGHT: f64 = 1_000.0;
const WEIGHT: Fraction = Fraction { most: MOST_WEIGHT, inclusive: true, noun: "a weight" };

part! {
    /// What users need: commands that choose a queue or a buffer read it, and runs ignore it.
    pub struct Advise under "advise" {
        /// What matters most: it weighs ten times as much as each other kind.
        emphasis as "for": Option<&'static str> = absent("all weigh alike"), KindOfAspect, "calls";
        /// The weight of each kind, in place of for; those that are left out weigh 1.
        weights: Option<Weights> = absent("1 each"), TableOf::<Weights>::any(),
            toml("{ calls = 10, throughput = 2 }");
        /// What shall be met: a [metric](metrics.md), alone or of a group, a relation and a value.
        targets: Vec<String> = given(Value::List(Vec::new())),
            ListOfEach { item: TargetText, of: "targets" }, ["utilization >= 98 %", "wait_p99 < 20 ms"];
        agree agree;
    }
}

part! {
    /// How much each kind of what users feel weighs.
    pub struct Weights under "advise" {
        /// Goodput of flows without end.
        throughput: Option<f64> = absent("1"), WEIGHT, 2;
        /// How evenly the flows of a group share.
        fairness: Option<f64> = absent("1"), WEIGHT, 0.5;
        /// Round trips: of pings, or with the mean wait.
        latency: Option<f64> = absent("1"), WEIGHT, 5;
        /// Rating and loss of calls and other datagrams.
        calls: Option<f64> = absent("1"), WEIGHT, 10;
        /// Fetch times of pages and exchanges.
        pages: Option<f64> = absent("1"), WEIGHT, 3;
        /// Bitrates of videos, and how long they stand still.
        video: Option<f64> = absent("1"), WEIGHT, 3;
        /// Completion times of transfers and short flows.
        transfers: Option<f64> = absent("1"), WEIGHT, 0;
    }
}

fn agree(advise: &mut Advise, reading: &mut Reading<'_>) {
    if let (Some(word), Some(_)) = (advise.emphasis, &advise.weights) {
        let mistake = Mistake::new("does not go with weights").key("for").text(word);
        reading.refuse(mistake.accepted("either for, which weighs 10 where others weigh 1, or weights"));
    }
}

/// One of the kinds of what users feel.
#[derive(Clone, Copy, Debug)]
pub struct KindOfAspect;

impl Kind for KindOfAspect {
    type Read = &'static str;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<&'static str> {
        let written = value.as_text().unwrap_or_default();
        let refused = || {
            let problem =
                format!("is not a valid kind{}", hint(written, KINDS.iter().copied(), USUAL_CUTOFF));
            Mistake::new(problem).value(value).accepted(KINDS.join(", "))
        };
        let known = KINDS.iter().find(|kind| **kind == written).copied();
        reading.value(known.ok_or_else(refused))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"enum": KINDS})
    }

    fn words(&self) -> String {
        let quoted: Vec<String> = KINDS.iter().map(|kind| format!("`{kind}`")).collect();
        quoted.join(", ")
    }

    fn python(&self) -> String {
        let quoted: Vec<String> = KINDS.iter().map(|kind| format!("\"{kind}\"")).collect();
        format!("Literal[{}]", quoted.join(", "))
    }
}

/// A target as it is written. Which metrics there are, and what their values may be, is known where they are computed.
#[derive(Clone, Copy, Debug)]
pub struct TargetText;

impl Kind for TargetText {
    type Read = String;

    fn read(&self, value: &Value, reading: &mut Reading<'_>) -> Option<String> {
        let refused = || {
            let accepted = "a metric, a relation and a value, such as 'utilization >= 99 %', 'wait_p99 < 20 ms' or \
                            'call.r > 80'";
            Mistake::new("is not a target").value(value).accepted(accepted)
        };
        let text = value.as_text().filter(|text| metric_of(text).is_some());
        reading.value(text.map(str::to_owned).ok_or_else(refused))
    }

    fn schema(&self, _: &mut Schemas) -> Json {
        json!({"type": "string"})
    }

    fn words(&self) -> String {
        "target".to_owned()
    }

    fn python(&self) -> String {
        "str".to_owned()
    }
}

/// The group of a target, if it names one.
pub fn group_of(target: &str) -> Option<&str> {
    metric_of(target).and_then(|(group, _)| group)
}

/// The group and the metric before a target's relation; nothing if it has not the form of a target.
fn metric_of(target: &str) -> Option<(Option<&str>, &str)> {
    let (left, right) = target.split_once(['<', '>'])?;
    let value = right.strip_prefix('=').unwrap_or(right);
    let (group, metric) = match left.split_once('.') {
        Some((group, metric)) => (Some(group.trim()), metric.trim()),
        None => (None, left.trim()),
    };
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let is_group = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    (is_name(metric) && group.is_none_or(is_group) && !value.trim().is_empty()).then_some((group, metric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_names_a_metric_a_relation_and_a_value() {
        assert_eq!(metric_of("utilization >= 98 %"), Some((None, "utilization")));
        assert_eq!(metric_of(" call . r>80"), Some((Some("call"), "r")));
        assert_eq!(group_of("a-b.goodput_bps >= 1 Mbps"), Some("a-b"));
        for written in
            ["", "utilization", "utilization = 98 %", "wait p99 < 1 ms", ".r > 80", "r >=  ", "> 80"]
        {
            assert_eq!(metric_of(written), None, "{written}");
        }
    }
}
