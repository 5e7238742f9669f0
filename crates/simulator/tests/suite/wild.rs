//! Plans gone wild: any number anywhere, fields missing or of another type, broken text.
//!
//! Whatever comes, reading and running it ends in an outcome or in an error that names the field: no panic (this
//! profile checks every overflow), no endless run. Valid plans may ask for years of work, so each run has a short
//! time until it is canceled, and then must end.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use bufferlab_congestion::CongestionConfig;
use bufferlab_simulator::{Control, GroupPlan, JitterPlan, Outcome, Plan, PlanError, SourcePlan, run};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

use crate::differential::assert_agreement;
use crate::laws::assert_conservation;
use crate::plans::{config, plans};

/// A run may take so long before it is canceled.
const BUDGET: Duration = Duration::from_millis(30);
/// A canceled run that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);
/// Packets of one burst and samples of one component: more is valid, but takes more memory than a test should.
const MAX_BURST: u64 = 1 << 18;
/// The slow engine is asked about runs up to this many events and packets.
const MAX_COMPARED: u64 = 20_000;

/// What is done to a place in a document.
#[derive(Clone, Debug)]
enum Change {
    Set(Value),
    Remove,
    /// Once more, in an array.
    Repeat,
}

fn number() -> impl Strategy<Value = u64> {
    let near_power =
        (0..64_u32, 0..3_u64).prop_map(|(bits, more)| ((1_u64 << bits) - 1).saturating_add(more));
    prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(u64::from(u32::MAX)), near_power, any::<u64>()]
}

fn change() -> impl Strategy<Value = Change> {
    let odd = prop_oneof![
        Just(Value::Null),
        Just(Value::from(true)),
        Just(Value::from("sack")),
        Just(Value::from(-1)),
        Just(Value::from(0.5)),
        Just(Value::from(1e300)),
        Just(Value::Array(Vec::new())),
    ];
    prop_oneof![
        40 => number().prop_map(|number| Change::Set(Value::from(number))),
        2 => odd.prop_map(Change::Set),
        1 => Just(Change::Remove),
        1 => Just(Change::Repeat),
    ]
}

/// Every place below `value`, as a path.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Object(fields) => fields.iter().map(|(name, field)| (name.clone(), field)).collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        let path = format!("{path}/{name}");
        places(child, &path, found);
        found.push(path);
    }
}

/// Changes a place; numbers only go where numbers are, so that many plans stay readable.
fn apply(document: &mut Value, place: Index, change: &Change) {
    let mut found = Vec::new();
    places(document, "", &mut found);
    if matches!(change, Change::Set(Value::Number(_))) {
        found.retain(|path| document.pointer(path).is_some_and(|value| value.is_number() || value.is_null()));
    }
    if found.is_empty() {
        return;
    }
    let path = place.get(&found).clone();
    if let Change::Set(value) = change {
        *document.pointer_mut(&path).unwrap() = value.clone();
        return;
    }
    let (parent, name) = path.rsplit_once('/').unwrap();
    match (document.pointer_mut(parent).unwrap(), change) {
        (Value::Object(fields), Change::Remove) => {
            fields.remove(name);
        }
        (Value::Array(items), Change::Remove) => {
            items.remove(name.parse().unwrap());
        }
        (Value::Array(items), Change::Repeat) => items.push(items[name.parse::<usize>().unwrap()].clone()),
        _ => {}
    }
}

/// Bursts and time series beyond what a test should hold in memory, or wait for: a run is not canceled in the
/// middle of what one event sends.
fn is_too_large(plan: &Plan) -> bool {
    let samples = plan.duration_ps.checked_div(plan.sample_interval_ps).unwrap_or(0);
    samples > MAX_BURST || plan.groups.iter().any(|group| burst(group) > MAX_BURST)
}

/// What a sender may have to send at once, packets.
fn burst(group: &GroupPlan) -> u64 {
    match &group.source {
        SourcePlan::Tcp(tcp) => {
            let window = match &tcp.congestion {
                CongestionConfig::Fixed(fixed) => fixed.segments,
                _ => tcp.config.initial_window,
            };
            u64::from(window).min(tcp.config.receive_window_bytes / u64::from(tcp.config.mss_bytes.max(1)))
        }
        // it keeps a pace
        SourcePlan::VideoCall(_) => 1,
        // what a processing delay holds back leaves together
        SourcePlan::Udp(udp) => {
            let held_ps = match group.jitter {
                JitterPlan::None => 0,
                JitterPlan::Uniform { high_ps, .. } => high_ps,
                JitterPlan::Exponential { mean_ps } => mean_ps.saturating_mul(40),
            };
            held_ps / udp.config.interval.as_ps().max(1)
        }
    }
}

/// Runs a plan for a short time and then cancels it.
fn run_briefly(plan: &Plan) -> Result<Outcome, PlanError> {
    let control = Arc::new(Control::default());
    let (done, wait) = mpsc::channel();
    let thread = thread::spawn({
        let (plan, control) = (plan.clone(), Arc::clone(&control));
        move || done.send(run(&plan, &control)).is_ok()
    });
    let first = wait.recv_timeout(BUDGET);
    if first == Err(RecvTimeoutError::Timeout) {
        control.cancel();
    }
    let result = first.or_else(|_| wait.recv_timeout(PATIENCE));
    assert_ne!(result, Err(RecvTimeoutError::Timeout), "a canceled run goes on");
    thread.join().expect("a run does not panic");
    result.expect("a run that does not panic gives its result")
}

/// Runs what may be no plan at all, and checks what comes of it.
fn try_plan(plan: &Plan) {
    if is_too_large(plan) {
        return;
    }
    let outcome = match run_briefly(plan) {
        Ok(outcome) => outcome,
        Err(error) => {
            assert!(
                !error.field.is_empty() && !error.accepted.is_empty() && !error.to_string().contains('\n')
            );
            return;
        }
    };
    assert_conservation(&outcome);
    let rows = outcome.queue_samples.time_ps.len() + outcome.receiver_samples.time_ps.len();
    let size = outcome.events.max(outcome.packets).max(rows as u64);
    if !outcome.canceled && size <= MAX_COMPARED {
        assert_agreement(plan);
    }
}

/// What may be a plan; printed as it is.
#[derive(Clone)]
struct Text(String);

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Plans with a few fields changed.
fn changed_plans() -> impl Strategy<Value = Text> {
    (plans(), vec((any::<Index>(), change()), 1..=4)).prop_map(|(case, changes)| {
        let mut document = serde_json::to_value(&case.0).unwrap();
        for (place, change) in &changes {
            apply(&mut document, *place, change);
        }
        Text(document.to_string())
    })
}

/// Plans with a few characters of their text changed.
fn broken_plans() -> impl Strategy<Value = Text> {
    let edit = (any::<Index>(), 0..4_usize, "[-0-9a-z{}\\[\\]\",:.\\\\ é]{0,3}");
    (plans(), vec(edit, 1..=3)).prop_map(|(case, edits)| {
        let mut text: Vec<char> = serde_json::to_string(&case.0).unwrap().chars().collect();
        for (from, length, insert) in edits {
            let from = from.index(text.len() + 1);
            let to = text.len().min(from + length);
            text.splice(from..to, insert.chars());
        }
        Text(text.into_iter().collect())
    })
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn plans_with_wild_fields_end_in_an_outcome_or_an_error(text in changed_plans()) {
        if let Ok(plan) = serde_json::from_str(&text.0) {
            try_plan(&plan);
        }
    }

    #[test]
    fn broken_text_is_refused_or_read(text in broken_plans()) {
        if let Ok(plan) = serde_json::from_str(&text.0) {
            try_plan(&plan);
        }
    }

    #[test]
    fn a_plan_survives_its_text(case in plans()) {
        let text = serde_json::to_string(&case.0).unwrap();
        prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), case.0);
    }
}
