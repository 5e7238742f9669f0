//! What one declaration gives.

use bufferlab_parameters::{
    FLAG, Kind, Kinds, Parameters, THRESHOLD, Words, bytes, choice, count, fraction, kinds, parameters,
    require, time, words,
};
use bufferlab_units::Span;
use serde_json::json;

words! {
    /// What a step counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Growth {
        /// Each acknowledgment.
        PerAck = "per-ack",
        /// Each segment.
        PerSegment = "per-segment",
    }
}

parameters! {
    /// What is included.
    #[derive(Clone, Debug, PartialEq)]
    struct Inner {
        /// The wait to hold.
        target: Span = Span::from_ms(5), time(Span::ZERO, Span::from_s(1));
        /// Packets are marked.
        ecn: bool = false, FLAG;
    }
}

parameters! {
    /// All kinds of fields.
    #[derive(Clone, Debug, PartialEq)]
    struct Outer {
        /// Queues, which
        /// are many.
        flows: u32, count("queues", 1, 1024);
        /// A round's bytes.
        quantum_bytes: u32 = 1514, bytes(256, 60_000);
        /// A chance.
        max_p as "chance": f64 = 0.5, fraction("a chance", 1.0);
        /// When to mark; default never.
        ce_threshold: Option<Span> = None, time(Span::from_ps(1), Span::from_s(1));
        /// What a step counts.
        growth: Growth = Growth::PerAck, choice::<Growth>();
        include /** The rest. */ inner: Inner = Inner { ecn: true, ..Inner::default() };
        agree Outer::agree;
    }
}

kinds! {
    /// One or the other.
    #[derive(Clone, Debug, PartialEq)]
    enum Config {
        /// What is included.
        Inner(Inner) = "inner-most",
        /// All.
        Outer(Outer) = "outer",
    }
}

impl Outer {
    fn agree(&self) -> Result<(), bufferlab_parameters::OutOfBounds> {
        require(self.flows != 13, "flows", self.flows, "no unlucky number")
    }
}

fn outer() -> Outer {
    Outer { flows: 8, ..Outer::default() }
}

#[test]
fn the_plan_has_units_behind_the_names() {
    let plan = json!({
        "flows": 8, "quantum_bytes": 1514, "max_p": 0.5, "ce_threshold_ps": null, "growth": "per_ack",
        "target_ps": 5_000_000_000_u64, "ecn": true,
    });
    assert_eq!(serde_json::to_value(outer()).unwrap(), plan);
    assert_eq!(serde_json::from_value::<Outer>(plan).unwrap(), outer());
}

#[test]
fn what_is_missing_has_its_default() {
    assert_eq!(serde_json::from_str::<Outer>(r#"{"flows": 8}"#).unwrap(), outer());
}

#[test]
fn plans_with_other_fields_are_refused() {
    let problem = |text| serde_json::from_str::<Outer>(text).unwrap_err().to_string();
    assert!(problem("{}").starts_with("missing field `flows`"), "{}", problem("{}"));
    assert!(problem(r#"{"flow": 8}"#).starts_with("unknown field `flow`, expected `flows`, `quantum_bytes`"));
    assert!(problem(r#"{"target": 8}"#).starts_with("unknown field `target`"));
    assert!(problem(r#"{"flows": 8, "flows": 8}"#).starts_with("duplicate field `flows`"));
    assert!(problem(r#"{"growth": "per-ack"}"#).contains("expected one of `per_ack`, `per_segment`"));
    assert!(problem(r#"{"quantum_bytes": -1}"#).contains("-1"));
}

#[test]
fn bounds_are_those_of_the_kind() {
    assert_eq!(outer().validate(), Ok(()));
    let problem = |outer: Outer| {
        let error = outer.validate().unwrap_err();
        [error.field, error.value, error.accepted].join("; ")
    };
    assert_eq!(problem(Outer { flows: 0, ..outer() }), "flows; 0; 1 to 1024");
    assert_eq!(problem(Outer { flows: 13, ..outer() }), "flows; 13; no unlucky number");
    assert_eq!(problem(Outer { quantum_bytes: 255, ..outer() }), "quantum_bytes; 255; 256 to 60000");
    assert_eq!(problem(Outer { max_p: f64::NAN, ..outer() }), "max_p; NaN; 0 to 1");
    let ce_threshold = Some(Span::ZERO);
    assert_eq!(problem(Outer { ce_threshold, ..outer() }), "ce_threshold_ps; 0; 1 to 1000000000000");
    let inner = Inner { target: Span::from_s(2), ecn: false };
    assert_eq!(problem(Outer { inner, ..outer() }), "target_ps; 2000000000000; 0 to 1000000000000");
}

#[test]
fn the_table_describes_every_parameter() {
    let table = Outer::table();
    let keys: Vec<_> = table.iter().map(|parameter| (parameter.key, parameter.plan_key())).collect();
    let expected = [
        ("flows", "flows"),
        ("quantum", "quantum_bytes"),
        ("chance", "max_p"),
        ("ce_threshold", "ce_threshold_ps"),
        ("growth", "growth"),
        ("target", "target_ps"),
        ("ecn", "ecn"),
    ];
    assert_eq!(keys, expected.map(|(key, plan)| (key, plan.to_owned())));
    assert_eq!(table[0].doc(), "Queues, which are many.");
    let given: Vec<_> = table.iter().filter(|parameter| parameter.is_required).map(|each| each.key).collect();
    assert_eq!(given, ["flows"]);
    assert!(table[3].is_optional && !table[4].is_optional);
    assert!(matches!(table[1].kind, Kind::Bytes { least: 256, most: 60_000 }));
    assert!(matches!(table[4].kind, Kind::Words([first, _]) if first.word == "per-ack"));
    assert_eq!(Growth::PerSegment.word(), "per-segment");
    assert!(matches!(THRESHOLD, Kind::Threshold));
}

#[test]
fn fields_are_set_and_read_by_their_keys() {
    let mut outer = outer();
    outer.set("target", json!(7)).unwrap();
    outer.set("quantum", json!(300)).unwrap();
    outer.set("ce_threshold", json!(null)).unwrap();
    outer.set("growth", json!("per_segment")).unwrap();
    assert_eq!((outer.inner.target, outer.quantum_bytes), (Span::from_ps(7), 300));
    assert_eq!(outer.get("growth"), Some(json!("per_segment")));
    assert_eq!(outer.get("target"), Some(json!(7)));
    assert_eq!(outer.get("target_ps"), None);
    assert_eq!(outer.set("target_ps", json!(7)).unwrap_err().key, "target_ps");
    assert!(outer.set("ecn", json!(7)).unwrap_err().why.contains("invalid type"));
}

#[test]
fn kinds_stand_beside_their_parameters() {
    let mut config = Config::from(Inner::default());
    let plan = json!({"kind": "inner-most", "target_ps": 5_000_000_000_u64, "ecn": false});
    assert_eq!(serde_json::to_value(&config).unwrap(), plan);
    assert_eq!(serde_json::from_value::<Config>(plan).unwrap(), config);
    let words: Vec<_> = Config::KINDS.iter().map(|kind| (kind.word.word, (kind.table)().len())).collect();
    assert_eq!(words, [("inner-most", 2), ("outer", 7)]);
    assert_eq!(((Config::KINDS[0].default)(), config.word()), (config.clone(), "inner-most"));
    config.set("target", json!(2_000_000_000_000_u64)).unwrap();
    assert_eq!(config.validate().unwrap_err().field, "target_ps");
    assert!(serde_json::from_str::<Config>(r#"{"kind": "inner-most", "flows": 3}"#).is_err());
}
