//! The words of scenarios for controls: those of the kinds, and what else there is for some of them.

use std::sync::LazyLock;

use bufferlab_parameters::{Kinds, Parameters};
use serde::{Serialize, Serializer};

use crate::{
    CongestionConfig, FixedConfig, Growth, Linux26Config, Linux26Law, LinuxCubicConfig, LinuxVersion,
    RenoConfig,
};

/// A control by the word of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedControl {
    /// Its word; of several for the same the usual one.
    pub word: String,
    /// Its parameters, at their defaults but for what the word says.
    pub config: CongestionConfig,
}

/// Words for kinds with other parameters or with a recovery of their own, which is the transport's (Tahoe, `NewReno`), and
/// the place of a kind's own word among them.
const VARIANTS: [(&str, CongestionConfig); 11] = [
    ("tahoe", RENO),
    ("reno", RENO),
    ("newreno", RENO),
    ("cubic-0.8", linux_cubic(LinuxVersion::V2_6_24)),
    ("cubic-0.7", linux_cubic(LinuxVersion::V2_6_26)),
    ("reno-2.6", linux26(Linux26Law::Reno)),
    ("scalable-2.6", linux26(Linux26Law::Scalable)),
    ("htcp-2.6", linux26(Linux26Law::Htcp)),
    ("vegas-2.6", linux26(Linux26Law::Vegas)),
    ("westwood-2.6", linux26(Linux26Law::Westwood)),
    ("compound-2.6", linux26(Linux26Law::Compound)),
];

/// What those words are that differ from their kind by more than the recovery.
const VARIANT_DOCS: [(&str, &str); 2] = [
    (
        "cubic-0.8",
        "CUBIC of Linux up to 2.6.25: a loss leaves 0.8 (CUBIC'). Source: S. Ha, I. Rhee and L. Xu, SIGOPS OSR 42(5), \
         2008; Linux 2.6.24",
    ),
    ("cubic-0.7", "CUBIC of Linux from 2.6.26 on: a loss leaves 0.7 (CUBIC''). Source: Linux 2.6.26"),
];

/// Second words for some kinds.
const ALIASES: [(&str, &str); 2] = [("compound", "ctcp"), ("bbr1", "bbr")];

const RENO: CongestionConfig = CongestionConfig::Reno(RenoConfig { growth: Growth::PerSegment });

const fn linux26(law: Linux26Law) -> CongestionConfig {
    CongestionConfig::Linux26(Linux26Config { law })
}

const fn linux_cubic(version: LinuxVersion) -> CongestionConfig {
    CongestionConfig::LinuxCubic(LinuxCubicConfig { version, fast_convergence: true, hystart: false })
}

static WORDS: LazyLock<Vec<(String, NamedControl)>> = LazyLock::new(|| {
    let kinds = || CongestionConfig::KINDS.iter().filter(|kind| kind.word.word != "fixed");
    let mut words = Vec::new();
    for kind in kinds() {
        let variants: Vec<_> =
            VARIANTS.iter().filter(|(_, config)| config.word() == kind.word.word).collect();
        words.extend(variants.iter().map(|(word, config)| named(word, config.clone())));
        if variants.iter().all(|(word, _)| *word != kind.word.word) {
            words.push(named(kind.word.word, (kind.default)()));
        }
    }
    for kind in kinds() {
        let mut config = (kind.default)();
        if config.set("hystart", true.into()).is_ok() {
            words.push(named(&format!("{}(hystart)", kind.word.word), config));
        }
    }
    for (alias, word) in ALIASES {
        let control = words.iter().find(|known| known.0 == word).map(|known| known.1.clone());
        words.extend(control.map(|control| (alias.to_owned(), control)));
    }
    words
});

fn named(word: &str, config: CongestionConfig) -> (String, NamedControl) {
    (word.to_owned(), NamedControl { word: word.to_owned(), config })
}

impl NamedControl {
    /// How a window that never changes is written: N segments.
    pub const FIXED: &str = "fixed(N)";
    /// The same as a regular expression.
    pub const FIXED_PATTERN: &str = "^fixed\\(\\s*(\\d{1,10})\\s*\\)$";

    /// Every word but those of `fixed`, which is written as [`NamedControl::FIXED`].
    pub fn words() -> impl Iterator<Item = &'static str> {
        WORDS.iter().map(|(word, _)| word.as_str())
    }

    /// Every word with what it is; those of which the same is said stand together.
    pub fn described() -> Vec<(Vec<&'static str>, &'static str)> {
        let of_kind = |word: &str| {
            let kind = CongestionConfig::KINDS.iter().find(|kind| kind.word.word == word);
            kind.map_or("", |kind| kind.word.doc())
        };
        let words = WORDS.iter().map(|(word, control)| {
            let own = VARIANT_DOCS.iter().find(|(variant, _)| *variant == control.word);
            (word.as_str(), own.map_or_else(|| of_kind(control.config.word()), |(_, doc)| *doc))
        });
        let mut rows: Vec<(Vec<&str>, &str)> = Vec::new();
        for (word, doc) in words.chain([(NamedControl::FIXED, of_kind("fixed"))]) {
            match rows.iter_mut().find(|(_, known)| *known == doc) {
                Some((words, _)) => words.push(word),
                None => rows.push((vec![word], doc)),
            }
        }
        rows
    }

    /// The control of a word, if it is one.
    pub fn of(word: &str) -> Option<NamedControl> {
        let known = WORDS.iter().find(|(known, _)| known == word).map(|(_, control)| control.clone());
        known.or_else(|| fixed(word))
    }
}

fn fixed(word: &str) -> Option<NamedControl> {
    let digits = word.strip_prefix("fixed(")?.strip_suffix(')')?.trim();
    let is_number = (1..=10).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let config = FixedConfig { segments: digits.parse().ok().filter(|_| is_number)? };
    config.validate().ok()?;
    Some(NamedControl { word: format!("fixed({})", config.segments), config: config.into() })
}

impl Serialize for NamedControl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_word_and_every_word_is_read() {
        for kind in CongestionConfig::KINDS.iter().filter(|kind| kind.word.word != "fixed") {
            assert_eq!(NamedControl::of(kind.word.word).unwrap().config.word(), kind.word.word);
        }
        for word in NamedControl::words() {
            let control = NamedControl::of(word).unwrap();
            assert_eq!(NamedControl::of(&control.word), Some(control));
        }
    }

    #[test]
    fn a_second_word_is_that_of_the_kind() {
        assert_eq!(NamedControl::of("compound").unwrap().word, "ctcp");
    }

    #[test]
    fn a_fixed_window_is_within_its_bounds() {
        assert_eq!(NamedControl::of("fixed( 20 )").unwrap().word, "fixed(20)");
        for word in ["fixed(0)", "fixed(1000000001)", "fixed(99999999999)", "fixed(+1)", "fixed()", "fixed"] {
            assert_eq!(NamedControl::of(word), None, "{word}");
        }
    }

    #[test]
    fn every_word_stands_once_beside_what_its_kind_is() {
        let rows = NamedControl::described();
        let mut words: Vec<&str> = rows.iter().flat_map(|(words, _)| words.clone()).collect();
        let mut expected: Vec<&str> = NamedControl::words().chain([NamedControl::FIXED]).collect();
        words.sort_unstable();
        expected.sort_unstable();
        assert_eq!(words, expected);
        for (word, said) in
            [("vegas", "Brakmo"), ("dctcp", "RFC 8257"), (NamedControl::FIXED, "never changes")]
        {
            let row = rows.iter().find(|(words, _)| words.contains(&word)).unwrap();
            assert!(row.1.contains(said), "{word}: {}", row.1);
        }
    }
}
