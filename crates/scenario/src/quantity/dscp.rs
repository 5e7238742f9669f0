//! Differentiated services codepoints: "EF", "AF41", "CS1", 46.

use serde_json::{Value as Json, json};

use crate::text::mistake::Mistake;
use crate::text::value::Value;

const ACCEPTED: &str = "'CS0' to 'CS7', 'AF11' to 'AF43', 'EF', 'VA', 'LE', or 0 to 63";
const MOST: i128 = 63;

/// Names that follow no rule: RFC 3246 section 2.7, RFC 5865 section 2.3, RFC 8622 section 4.
const NAMED: [(&str, u64); 3] = [("EF", 46), ("VA", 44), ("LE", 1)];

/// All names: class selectors (RFC 2474 section 4.2.2.2), assured forwarding (RFC 2597 section 6), and the others.
fn names() -> impl Iterator<Item = (String, u64)> {
    let selectors = (0..8).map(|class| (format!("CS{class}"), 8 * class));
    let precedences = |class: u64| (1..4).map(move |drop| (format!("AF{class}{drop}"), 8 * class + 2 * drop));
    let named = NAMED.map(|(name, dscp)| (name.to_owned(), dscp));
    selectors.chain((1..5).flat_map(precedences)).chain(named)
}

/// Reads a codepoint.
pub fn parse_dscp(value: &Value) -> Result<u64, Mistake> {
    let read = match value {
        Value::Whole(number) if (0..=MOST).contains(number) => Some(*number as u64),
        Value::Text(text) => names().find(|(name, _)| name.eq_ignore_ascii_case(text)).map(|(_, dscp)| dscp),
        _ => None,
    };
    read.ok_or_else(|| Mistake::new("is no codepoint").value(value).accepted(ACCEPTED))
}

/// Its JSON Schema.
pub fn schema() -> Json {
    let names: Vec<_> = names().map(|(name, _)| name).collect();
    json!({"anyOf": [{"enum": names}, {"type": "integer", "minimum": 0, "maximum": MOST}]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_rfcs() {
        let of = |text| parse_dscp(&Value::text(text)).ok();
        assert_eq!(
            ["CS0", "CS6", "AF11", "AF23", "AF43", "EF", "VA", "LE", "le"].map(of).map(Option::unwrap),
            [0, 48, 10, 22, 38, 46, 44, 1, 1]
        );
        assert_eq!([of("AF14"), of("AF51"), of("CS8"), of("best")], [None; 4]);
        assert_eq!(parse_dscp(&Value::Whole(63)).ok(), Some(63));
        assert!(parse_dscp(&Value::Whole(64)).is_err() && parse_dscp(&Value::Whole(-1)).is_err());
    }
}
