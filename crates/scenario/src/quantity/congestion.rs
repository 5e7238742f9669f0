//! Congestion controls by the words of scenarios: "reno", "cubic-0.8", "cubic(hystart)", "fixed(20)", ….

use bufferlab_congestion::{FixedConfig, NamedControl};
use bufferlab_parameters::{Kind, Parameters};

use crate::text::meant::{Meant, meant_word, page, short_list};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

const LONGEST_WORD: usize = 40;

/// Reads a congestion control.
pub fn parse_congestion(value: &Value) -> Result<NamedControl, Mistake> {
    let word = value.as_text().filter(|text| text.chars().count() <= LONGEST_WORD);
    word.and_then(NamedControl::of).ok_or_else(|| {
        let known: Vec<&str> = NamedControl::words().chain([NamedControl::FIXED]).collect();
        let written = word.unwrap_or_default();
        let meant = meant_word(written, &known);
        let hint = meant.map_or(String::new(), |word| Meant::Word(word).hint());
        let accepted = match meant {
            Some(NamedControl::FIXED) => format!("{} with N of {}", NamedControl::FIXED, fixed_windows()),
            _ => short_list(written, meant, &known, &page("congestion-controls")),
        };
        Mistake::new(format!("is not a known congestion control{hint}")).value(value).accepted(accepted)
    })
}

/// "1 to 1000 segments".
fn fixed_windows() -> String {
    let windows = FixedConfig::table().iter().find_map(|parameter| match parameter.kind {
        Kind::Count { noun, least, most } => Some(format!("{least} to {most} {noun}")),
        _ => None,
    });
    windows.expect("a fixed window is a number of segments")
}
