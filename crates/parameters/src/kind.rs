//! What a parameter may be.

use std::str::FromStr;

use bufferlab_units::Span;
use serde::Serialize;

/// Longest run, and longest time that a parameter may be: sums of a few stay far below the type's bound.
pub const LONGEST: Span = Span::from_s(100_000);
/// Highest rate of a link or an interface, bit/s: a byte takes a picosecond, the engine's unit.
pub const FASTEST_BPS: u64 = 8_000_000_000_000;
/// Largest packet that a parameter may be, bytes: with headers on top it stays below an IP packet's 65,535 (RFC 791
/// section 3.1).
pub const LARGEST_PACKET: u64 = 60_000;

/// What a parameter may be, with its bounds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A length of time; scenarios write "15 ms", the plan picoseconds.
    Time {
        /// Shortest.
        least: Span,
        /// Longest.
        most: Span,
    },
    /// A rate; scenarios write "100 Mbps", the plan bits per second.
    Rate,
    /// A size; scenarios write "1514 B", the plan bytes.
    Bytes {
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// A whole number.
    Count {
        /// What it counts, in the plural.
        noun: &'static str,
        /// Smallest.
        least: u64,
        /// Largest.
        most: u64,
    },
    /// A number of 0 to `most`.
    Number {
        /// What it is, with an article.
        noun: &'static str,
        /// Largest.
        most: f64,
    },
    /// One of these words.
    Words(&'static [Word]),
    /// How much must wait for something to happen; scenarios write "20 packets", "30 KB", "1 ms" or "0.2 bdp", the plan
    /// packets or bytes.
    Threshold,
    /// A text with a grammar of its own.
    Form(&'static Form),
}

/// A text with a grammar of its own, such as "header(4 bits)".
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// What is accepted, for messages.
    pub accepted: &'static str,
    /// Some texts.
    pub examples: &'static [&'static str],
    /// The plan's form of a text, or what is wrong with it: "is no …".
    pub parse: fn(&str) -> Result<serde_json::Value, &'static str>,
}

/// A word that a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// As scenarios write it; the plan has `_` in place of `-`.
    pub word: &'static str,
    /// What it means.
    doc: &'static str,
}

impl Word {
    /// A word and its doc comment.
    pub const fn new(word: &'static str, doc: &'static str) -> Word {
        Word { word, doc }
    }

    /// What it means, in a sentence or two.
    pub fn doc(&self) -> &'static str {
        self.doc.trim()
    }

    /// As the plan has it.
    pub fn in_plan(&self) -> String {
        self.word.replace('-', "_")
    }
}

/// A choice of words, declared by [`crate::words!`].
pub trait Words: Sized + Copy + 'static {
    /// The words in the order of [`Words::ALL`].
    const WORDS: &'static [Word];
    /// Every value.
    const ALL: &'static [Self];

    /// Its place in [`Words::ALL`].
    fn index(self) -> usize;

    /// As scenarios write it.
    fn word(self) -> &'static str {
        Self::WORDS[self.index()].word
    }
}

/// True or false.
pub const FLAG: Kind = Kind::Flag;
/// A rate of at least 1 bit/s.
pub const RATE: Kind = Kind::Rate;
/// A threshold of the backlog.
pub const THRESHOLD: Kind = Kind::Threshold;

/// A length of time within bounds.
pub const fn time(least: Span, most: Span) -> Kind {
    Kind::Time { least, most }
}

/// A size within bounds.
pub const fn bytes(least: u64, most: u64) -> Kind {
    Kind::Bytes { least, most }
}

/// A whole number of `noun` (in the plural) within bounds.
pub const fn count(noun: &'static str, least: u64, most: u64) -> Kind {
    Kind::Count { noun, least, most }
}

/// A number of 0 to `most`; `noun` says what it is, with an article.
pub const fn fraction(noun: &'static str, most: f64) -> Kind {
    Kind::Number { noun, most }
}

/// One of the words of `W`.
pub const fn choice<W: Words>() -> Kind {
    Kind::Words(W::WORDS)
}

/// A text that `T` reads; [`Form`] for a constant.
pub const fn form<T: FromStr<Err = &'static str> + Serialize>(
    accepted: &'static str,
    examples: &'static [&'static str],
) -> Form {
    Form { accepted, examples, parse: parse::<T> }
}

fn parse<T: FromStr<Err = &'static str> + Serialize>(text: &str) -> Result<serde_json::Value, &'static str> {
    serde_json::to_value(text.parse::<T>()?).map_err(|_| "cannot be written to the plan")
}
