//! What TCP hosts do with windows and packets: "64 KiB", "100 segments", "auto", ….

use bufferlab_transport::MAX_PACKET_SEGMENTS;
use serde::{Serialize, Serializer};

use super::{SIZE_UNITS, parse_size, split_quantity, whole};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// Largest window without the window-scale option: 16 bits (RFC 9293 section 3.1).
pub const UNSCALED_WINDOW_BYTES: u64 = 65_535;
/// Largest window with it, 1,073,725,440 bytes: the shift "MUST be limited to 14" (RFC 7323 section 2.3).
pub const SCALED_WINDOW_BYTES: u64 = UNSCALED_WINDOW_BYTES << 14;
/// Half of a receive buffer is window (Linux's `tcp_adv_win_scale` = 1), since packets take memory beside it.
pub const WINDOW_PART: u64 = 2;
/// Largest receive buffer of a host that nobody tuned: `tcp_rmem[2]`, net/ipv4/tcp.c, `tcp_init()`.
const DEFAULT_BUFFER_BYTES: u64 = 6 << 20;
/// Largest receive buffer: half of it is as much as TCP can advertise.
const MAX_BUFFER_BYTES: u64 = SCALED_WINDOW_BYTES * WINDOW_PART;

/// An advertised window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// That many bytes.
    Bytes(u64),
    /// That many full segments.
    Segments(u64),
    /// One that is tuned: it grows with what comes, to half of a receive buffer of that many bytes.
    Tuned(u64),
}

impl Window {
    /// Whether the receiver tunes it.
    pub fn is_tuned(self) -> bool {
        matches!(self, Window::Tuned(_))
    }

    /// As scenarios write it.
    pub fn text(self) -> String {
        match self {
            Window::Bytes(bytes) => format!("{bytes} B"),
            Window::Segments(segments) => format!("{segments} segments"),
            Window::Tuned(bytes) => format!("auto({bytes} B)"),
        }
    }

    /// The window in bytes for this segment size, at most.
    pub fn size_bytes(self, segment_bytes: u64) -> u64 {
        match self {
            Window::Bytes(bytes) => bytes,
            Window::Segments(segments) => segments * segment_bytes,
            Window::Tuned(bytes) => bytes / WINDOW_PART,
        }
    }
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

/// Reads an advertised window: "64 KiB", "100 segments", "auto", or "auto(16 MiB)", a buffer's size.
pub fn parse_window(value: &Value) -> Result<Window, Mistake> {
    let accepted = format!(
        "a size such as '64 KiB' (at most {SCALED_WINDOW_BYTES} B, RFC 7323), '100 segments', 'auto', or \
         'auto(16 MiB)' with the largest receive buffer (at most {MAX_BUFFER_BYTES} B)"
    );
    if let Some(size) = value.as_text().and_then(tuned) {
        if size.is_empty() {
            return Ok(Window::Tuned(DEFAULT_BUFFER_BYTES));
        }
        let read = parse_size(&Value::text(size), 1, MAX_BUFFER_BYTES);
        return read.map(Window::Tuned).map_err(|mistake| mistake.value(value).accepted(accepted));
    }
    let units = [SIZE_UNITS, &[("segments", 1)]].concat();
    let (number, (unit, factor)) = split_quantity(value, &units, &accepted)?;
    let amount = whole(&(number * num_rational::BigRational::from_integer(factor.into())), value, &accepted)?;
    let refused = |problem: &str| Err(Mistake::new(problem).value(value).accepted(accepted.clone()));
    match u64::try_from(&amount) {
        Ok(amount) if (1..=SCALED_WINDOW_BYTES).contains(&amount) => {
            Ok(if unit == "segments" { Window::Segments(amount) } else { Window::Bytes(amount) })
        }
        _ if amount < 1.into() => refused("is too small"),
        _ => refused("is too large"),
    }
}

/// What stands in the parentheses of "auto(…)"; nothing of "auto".
fn tuned(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("auto")?;
    if rest.is_empty() {
        return Some("");
    }
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
    let is_size = (1..=40).contains(&inside.chars().count()) && !inside.contains(['(', ')']);
    is_size.then_some(inside)
}

/// How many consecutive segments leave as one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// One.
    None,
    /// As many as Linux takes.
    Auto,
    /// At most that many.
    Segments(u64),
}

impl Serialize for Offload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Offload::None => serializer.serialize_str("none"),
            Offload::Auto => serializer.serialize_str("auto"),
            Offload::Segments(segments) => serializer.serialize_u64(*segments),
        }
    }
}

/// Reads how many segments leave as one packet: "6 segments", "auto" or "none".
pub fn parse_offload(value: &Value) -> Result<Offload, Mistake> {
    match value.as_text() {
        Some("auto") => return Ok(Offload::Auto),
        Some("none") => return Ok(Offload::None),
        _ => {}
    }
    let accepted = format!("'6 segments' (1 to {MAX_PACKET_SEGMENTS}), 'auto' or 'none'");
    let (number, _) = split_quantity(value, &[("segments", 1)], &accepted)?;
    match u32::try_from(number.to_integer()) {
        Ok(segments) if number.is_integer() && (1..=MAX_PACKET_SEGMENTS).contains(&segments) => {
            Ok(Offload::Segments(u64::from(segments)))
        }
        _ => Err(Mistake::new("is not a packet's number of segments").value(value).accepted(accepted)),
    }
}
