//! Values as messages show them: short, on one line, in the notation of Python, where most readers meet them.

use super::value::{Entry, Node, Value};

const MOST_CHARACTERS: usize = 60;
const MOST_DIGITS: usize = 40;
const MOST_ITEMS: usize = 4;
const DEEPEST: usize = 2;

/// A short, one-line picture of any value, however large it is.
pub fn show(value: &Value) -> String {
    one_line(&picture(value, DEEPEST))
}

/// A key as it stands, or quoted and shortened if it is not a plain one.
pub fn show_key(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '[' | ']' | '-');
    let is_plain = (1..=200).contains(&key.len()) && key.chars().all(plain);
    if is_plain { key.to_owned() } else { show(&Value::text(key)) }
}

/// The text with what cannot be printed escaped.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if is_printable(c) { c.to_string() } else { escape(c) }).collect()
}

/// Whether a character is neither a control nor an unusual space, nor invisible.
pub fn is_printable(c: char) -> bool {
    let unusual = matches!(
        u32::from(c),
        0xa0 | 0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x1680 | 0x180e | 0x2000..=0x200f | 0x2028..=0x202f
            | 0x205f..=0x206f | 0x3000 | 0xe000..=0xf8ff | 0xfeff | 0xfff0..=0xfffb | 0xfffe..=0xffff
            | 0xe0000..
    );
    !c.is_control() && !unusual
}

/// A number as messages show it: 0.1, 1e+16, nan.
pub fn show_float(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&exponent) {
        format!("{number:?}")
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{digits}e{sign}{:02}", exponent.abs())
    }
}

fn picture(value: &Value, level: usize) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Flag(true) => "True".to_owned(),
        Value::Flag(false) => "False".to_owned(),
        Value::Whole(number) => shortened(&number.to_string(), MOST_DIGITS),
        Value::Huge(digits) => shortened(digits, MOST_DIGITS),
        Value::Float(number) => show_float(*number),
        Value::Other(text) => shortened(text, MOST_CHARACTERS),
        Value::Text(text) => picture_text(text),
        Value::List(items) => {
            format!("[{}]", listed(items, level, |item: &Node| picture(&item.value, level - 1)))
        }
        Value::Table(table) => {
            let mut entries: Vec<&Entry> = table.entries.iter().collect();
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            let pair = |entry: &&Entry| {
                format!("{}: {}", picture_text(&entry.name), picture(&entry.node.value, level - 1))
            };
            format!("{{{}}}", listed(&entries, level, pair))
        }
    }
}

fn listed<T>(items: &[T], level: usize, picture: impl Fn(&T) -> String) -> String {
    if level == 0 && !items.is_empty() {
        return "...".to_owned();
    }
    let mut pictures: Vec<String> = items.iter().take(MOST_ITEMS).map(picture).collect();
    if items.len() > MOST_ITEMS {
        pictures.push("...".to_owned());
    }
    pictures.join(", ")
}

fn picture_text(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let whole = quoted(&characters[..characters.len().min(MOST_CHARACTERS)]);
    if characters.len() <= MOST_CHARACTERS && whole.chars().count() <= MOST_CHARACTERS {
        return whole;
    }
    let (head, tail) = ends(MOST_CHARACTERS);
    let kept: Vec<char> = characters
        .iter()
        .take(head)
        .chain(&characters[characters.len().saturating_sub(tail)..])
        .copied()
        .collect();
    cut(&quoted(&kept), MOST_CHARACTERS)
}

fn quoted(characters: &[char]) -> String {
    let quote = if characters.contains(&'\'') && !characters.contains(&'"') { '"' } else { '\'' };
    let escaped = characters.iter().map(|&c| match c {
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c == quote => format!("\\{c}"),
        c if is_printable(c) => c.to_string(),
        c => escape(c),
    });
    format!("{quote}{}{quote}", escaped.collect::<String>())
}

fn escape(c: char) -> String {
    match u32::from(c) {
        0x0a => "\\n".to_owned(),
        0x0d => "\\r".to_owned(),
        0x09 => "\\t".to_owned(),
        code @ 0..=0xff => format!("\\x{code:02x}"),
        code @ 0x100..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { cut(text, most) }
}

/// The ends of a text around three dots.
fn cut(text: &str, most: usize) -> String {
    let characters: Vec<char> = text.chars().collect();
    let (head, tail) = ends(most);
    let end: String = characters[characters.len().saturating_sub(tail)..].iter().collect();
    format!("{}...{end}", characters.iter().take(head).collect::<String>())
}

fn ends(most: usize) -> (usize, usize) {
    let head = (most - 3) / 2;
    (head, most - 3 - head)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::json;

    #[test]
    fn values_are_shown_on_one_short_line() {
        let shown = |text: &str| show(&json::parse_value(text).unwrap());
        let cases = [
            ("true", "True"),
            ("null", "None"),
            ("1.5", "1.5"),
            ("1e16", "1e+16"),
            ("0.00001", "1e-05"),
            ("\"it's\"", "\"it's\""),
            ("\"a\\u0007\"", "'a\\x07'"),
            ("[\"bic\"]", "['bic']"),
            ("{\"rate\": \"1 Mbps\"}", "{'rate': '1 Mbps'}"),
            ("[1, 2, 3, 4, 5]", "[1, 2, 3, 4, ...]"),
            ("[[[1]]]", "[[[...]]]"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected);
        }
        let long = show(&Value::text("x".repeat(500)));
        assert_eq!(long, format!("'{}...{}'", "x".repeat(27), "x".repeat(28)));
    }

    #[test]
    fn keys_that_are_not_plain_are_quoted() {
        assert_eq!(show_key("links[0].rate"), "links[0].rate");
        assert_eq!(show_key("a b"), "'a b'");
    }
}
