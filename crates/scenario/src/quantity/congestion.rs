//! Congestion controls by the words of scenarios: "reno", "cubic-0.8", "cubic(hystart)", "fixed(20)", ….

use std::sync::LazyLock;

use bufferlab_congestion::{ALIASES, CongestionConfig, VERSIONS};
use bufferlab_parameters::{Kinds, Parameter};
use serde::{Serialize, Serializer};

use crate::mistake::Mistake;
use crate::parts::MAX_SEGMENTS;
use crate::text::nearest::hint;
use crate::text::value::Value;

const LONGEST_WORD: usize = 40;
const CUTOFF: f64 = 0.5;

/// A congestion control: window growth and decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Congestion {
    /// The scenario's word without what stands in parentheses. `tahoe` and `newreno` are `reno` with another recovery.
    pub kind: &'static str,
    /// The window of `fixed`, segments.
    pub segments: u32,
    /// Whether a CUBIC's slow start is `HyStart++` (RFC 9406).
    pub hystart: bool,
}

impl Congestion {
    /// RFC 5681's.
    pub const RENO: Congestion = Congestion { kind: "reno", segments: 0, hystart: false };
    /// Linux's, with `HyStart++`.
    pub const CUBIC_LINUX_HYSTART: Congestion =
        Congestion { kind: "cubic-linux", segments: 0, hystart: true };

    /// As scenarios write it.
    pub fn word(&self) -> String {
        match (self.kind, self.hystart) {
            ("fixed", _) => format!("fixed({})", self.segments),
            (kind, true) => format!("{kind}(hystart)"),
            (kind, false) => kind.to_owned(),
        }
    }

    /// Its parameters, at their defaults but for what the word says.
    pub fn config(&self) -> CongestionConfig {
        let version = VERSIONS.iter().find(|(word, _)| *word == self.kind).map(|(_, config)| config.clone());
        let kind = if WITH_RECOVERY.contains(&self.kind) { "reno" } else { self.kind };
        let of_kind = || CongestionConfig::KINDS.iter().find(|known| known.word.word == kind);
        let config = version.or_else(|| of_kind().map(|known| (known.default)()));
        config.expect("every word is that of a kind or of a version")
    }
}

impl Serialize for Congestion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.word())
    }
}

/// Reno with a recovery of their own.
const WITH_RECOVERY: [&str; 2] = ["tahoe", "newreno"];

/// The words of scenarios with the control that each stands for and whether it is with `HyStart++`; `fixed(N)` is another.
pub static WORDS: LazyLock<Vec<(String, &'static str, bool)>> = LazyLock::new(|| {
    let kinds = || CongestionConfig::KINDS.iter().map(|kind| (kind.word.word, kind));
    let plain = |word: &'static str| (word.to_owned(), word, false);
    let mut words = vec![plain("tahoe"), plain("reno"), plain("newreno")];
    for (kind, _) in kinds().filter(|(kind, _)| !matches!(*kind, "reno" | "fixed")) {
        words
            .extend(VERSIONS.iter().filter(|(_, config)| config.word() == kind).map(|(word, _)| plain(word)));
        words.push(plain(kind));
    }
    let has_hystart = |table: &[Parameter]| table.iter().any(|parameter| parameter.key == "hystart");
    let with_hystart = kinds().filter(|(_, described)| has_hystart(&(described.table)()));
    words.extend(with_hystart.map(|(kind, _)| (format!("{kind}(hystart)"), kind, true)));
    words.extend(ALIASES.iter().map(|&(alias, kind)| (alias.to_owned(), kind, false)));
    words
});

/// Reads a congestion control.
pub fn parse_congestion(value: &Value) -> Result<Congestion, Mistake> {
    let word = value.as_text().filter(|text| text.chars().count() <= LONGEST_WORD);
    if let Some(&(_, kind, hystart)) = word.and_then(|word| WORDS.iter().find(|known| known.0 == word)) {
        return Ok(Congestion { kind, segments: 0, hystart });
    }
    if let Some(segments) = word.and_then(fixed) {
        return Ok(Congestion { kind: "fixed", segments, hystart: false });
    }
    let known: Vec<&str> = WORDS.iter().map(|known| known.0.as_str()).chain(["fixed(N)"]).collect();
    let hint = word.map_or(String::new(), |word| hint(&word.to_lowercase(), known.iter().copied(), CUTOFF));
    let accepted = format!("{} with N of 1 to {MAX_SEGMENTS} segments", known.join(", "));
    Err(Mistake::new(format!("is not a known congestion control{hint}")).value(value).accepted(accepted))
}

fn fixed(word: &str) -> Option<u32> {
    let digits = word.strip_prefix("fixed(")?.strip_suffix(')')?.trim();
    let is_number = (1..=10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let segments = digits.parse::<u64>().ok().filter(|_| is_number)?;
    (1..=MAX_SEGMENTS).contains(&segments).then(|| u32::try_from(segments).ok()).flatten()
}
