//! What a fuzzer throws at: each function takes any bytes, reads them as one of the inputs of others, and panics if what
//! must hold of the answer does not.
//!
//! `make fuzz` guides them by coverage (`fuzz/`, libFuzzer). The tests of this crate replay the inputs that are kept in
//! `corpus/`, one folder a function, and every prefix and some changes of them.

mod observation;
mod plan;

pub use observation::{observation, observed};
pub use plan::plan;

use std::io::Cursor;

use bufferlab_capture::reading::Reader;
use bufferlab_scenario::{Mistakes, NoFiles, Scenario, Table, Value, parse_value, split_override};

/// Flows of a scenario that is lowered: more is valid, but takes more memory than a fuzzer has.
const MOST_FLOWS: u64 = 100;

/// The scenario that overrides are for.
const BASE: &str = r#"
run = { duration = "10 s", warmup = "1 s" }
[bottleneck]
rate = "10 Mbps"
buffer = "100 packets"
queue = { discipline = "codel", target = "5 ms" }
[[flows]]
name = "short"
count = 2
rtt = "20 ms"
application = { kind = "transfer", bytes = "100 kB" }
[[flows]]
rtt = "choice(10 ms: 1, 20 ms: 3)"
"#;

/// A scenario's text, TOML or JSON. What is read is written as TOML that means the same, and has a plan; what is not
/// has mistakes of one line each.
pub fn scenario(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    match Scenario::from_text(text, None, &Table::default(), &NoFiles) {
        Ok(scenario) => {
            let written = scenario.to_toml();
            let again = Scenario::from_toml(&written, None, &NoFiles);
            let again = again.unwrap_or_else(|mistakes| panic!("{mistakes} in what was written: {written}"));
            assert_eq!(again.to_toml(), written, "written twice, it differs");
            if flows(&scenario) <= MOST_FLOWS {
                let [given, read] = [&scenario, &again].map(|each| each.lower(Some(1)).ok());
                assert_eq!(given, read, "what is written means something else: {written}");
            }
        }
        Err(mistakes) => check(&mistakes),
    }
}

/// Lines of `PATH=VALUE` as `--set` takes them, on a fixed scenario.
pub fn overrides(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let mut table = Table::default();
    for line in text.lines() {
        match split_override(line) {
            Ok((path, value)) => table.set(&path, bufferlab_scenario::Node::new(Value::text(value))),
            Err(mistake) => check(&Mistakes::from(mistake)),
        }
        drop(parse_value(line));
    }
    let base = Scenario::from_toml(BASE, None, &NoFiles).expect("the scenario is one");
    match base.with_overrides(&table, &NoFiles) {
        Ok(changed) => {
            let written = changed.to_toml();
            let again = Scenario::from_toml(&written, None, &NoFiles);
            assert!(again.is_ok_and(|again| again.to_toml() == written), "{written}");
        }
        Err(mistakes) => check(&mistakes),
    }
}

/// A capture. Whatever it is, reading ends, and each frame is a packet, counted among the others, or a warning's.
pub fn capture(bytes: &[u8]) {
    let Ok(mut reader) = Reader::new(Box::new(Cursor::new(bytes.to_vec()))) else { return };
    let packets = reader.by_ref().count() as u64;
    let report = reader.report();
    assert_eq!(report.packets, packets);
    assert!(report.skipped_bytes == 0 || !report.warnings.is_empty(), "{report:?}");
    let read = report.packets + report.others;
    assert!(report.frames == read || report.frames > read && !report.warnings.is_empty(), "{report:?}");
    assert_eq!(reader.next().map(|_| ()), None, "what has ended goes on");
}

fn flows(scenario: &Scenario) -> u64 {
    let resolved = serde_json::to_value(scenario.resolved()).expect("it is JSON");
    let counts = resolved["flows"].as_array().into_iter().flatten().map(|flow| flow["count"].as_u64());
    counts.map(|count| count.expect("a count is a number")).fold(0, u64::saturating_add)
}

fn check(mistakes: &Mistakes) {
    assert!(mistakes.iter().next().is_some(), "an error without a mistake");
    for mistake in mistakes.iter() {
        let text = mistake.to_string();
        assert!(!text.is_empty() && !text.contains(['\n', '\r', '\0']), "{text:?}");
    }
}
