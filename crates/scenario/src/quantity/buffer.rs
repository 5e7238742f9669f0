//! How much may wait in a queue: sizes as written, and the words that depend on the traffic.
//!
//! | written | means |
//! | --- | --- |
//! | "6250 packets" | that number of packets, whatever their sizes |
//! | "1 MB" | that many bytes on the wire |
//! | "300 ms" | what the link sends in that time, in packets |
//! | "1 bdp", "0.5 bdp" | rate times mean round-trip time, in packets |
//! | "stanford", "2 stanford" | the same divided by the square root of the number of flows |
//! | "unlimited" | no limit |
//!
//! The packet in transmission is not counted. Words that become packets are divided by the wire size of the largest full
//! packet among the flows that cross the link, and rounded to the nearest packet (a tie to the even one), at least 1:
//! 25 ms at 100 Mbps and 1000 bytes are 312 packets. The mean round-trip time is the arithmetic mean over flows of the
//! two-way propagation delay, as `SplitBuff` defines it.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, ToPrimitive, Zero};
use serde::{Serialize, Serializer};

use super::{
    MAX_PACKETS, MAX_SIZE_BYTES, MAX_TIME_PS, PS_PER_S, SIZE_UNITS, TIME_UNITS, Unit, nearest_whole,
    parse_size, parse_time, split_quantity, whole,
};
use crate::text::mistake::Mistake;
use crate::text::value::Value;

/// What a buffer may be, for messages.
pub const ACCEPTED: &str = "'6250 packets', '1 MB', '300 ms' (of draining), '1 bdp', '0.5 bdp', 'stanford' (bdp/sqrt n) \
                            or 'unlimited'";

const WORDS: &[Unit] = &[("packets", 1), ("bdp", 1), ("stanford", 1)];
const MOST_SCALE: u64 = 1000;

pub use bufferlab_qdisc::Limit;

/// A buffer as written, its number parsed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Buffer {
    /// As written.
    pub text: String,
    /// What the amount counts.
    pub kind: BufferKind,
    /// Packets, bytes, picoseconds of draining time, or multiples of the BDP or of BDP/√n.
    #[serde(serialize_with = "as_number")]
    pub amount: BigRational,
    /// What it comes to with the flows of a seed; nothing before they are drawn.
    pub limit: Option<Limit>,
}

/// What a buffer's amount counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferKind {
    /// Packets.
    Packets,
    /// Bytes.
    Bytes,
    /// Picoseconds of draining time.
    Time,
    /// Bandwidth-delay products.
    Bdp,
    /// The same over the square root of the number of flows.
    Stanford,
    /// No limit.
    Unlimited,
}

/// The flows that cross a link, as far as buffer rules look at them.
#[derive(Clone, Copy, Debug)]
pub struct LinkTraffic {
    /// The link's rate, bit/s.
    pub rate_bps: u64,
    /// How many flows count.
    pub flows: u64,
    /// Arithmetic mean of their two-way propagation delays, ps.
    pub mean_rtt_ps: f64,
    /// Largest full packet on the wire, bytes.
    pub packet_bytes: u64,
}

/// Reads a buffer.
///
/// # Errors
/// If it is not one of the forms above, or is 0.
pub fn parse_buffer(value: &Value) -> Result<Buffer, Mistake> {
    let refused =
        |problem: &str, accepted: String| Err(Mistake::new(problem).value(value).accepted(accepted));
    let Some(text) = value.as_text() else {
        return refused("is not a text with a number and a unit", ACCEPTED.to_owned());
    };
    let buffer = |kind, amount: BigRational| Ok(Buffer { text: text.to_owned(), kind, amount, limit: None });
    let counted = |kind, amount: u64| buffer(kind, BigRational::from_integer(amount.into()));
    let word = match text.trim() {
        "unlimited" => return buffer(BufferKind::Unlimited, BigRational::zero()),
        word @ ("bdp" | "stanford") => format!("1 {word}"),
        word => word.to_owned(),
    };
    let units = [WORDS, SIZE_UNITS, TIME_UNITS].concat();
    let (number, (unit, _)) =
        split_quantity(&Value::Text(word), &units, ACCEPTED).map_err(|m| m.value(value))?;
    if number <= BigRational::zero() {
        return refused("leaves no room for a packet", format!("more than 0: {ACCEPTED}"));
    }
    if TIME_UNITS.iter().any(|(name, _)| *name == unit) {
        return counted(BufferKind::Time, parse_time(value, 0, MAX_TIME_PS)?);
    }
    if SIZE_UNITS.iter().any(|(name, _)| *name == unit) {
        return counted(BufferKind::Bytes, parse_size(value, 1, MAX_SIZE_BYTES)?);
    }
    if unit == "packets" {
        let packets = whole(&number, value, ACCEPTED)?;
        return match u64::try_from(packets) {
            Ok(packets) if packets <= MAX_PACKETS => counted(BufferKind::Packets, packets),
            _ => refused("is too large", format!("at most {MAX_PACKETS} packets, or 'unlimited'")),
        };
    }
    if number > BigRational::from_integer(MOST_SCALE.into()) {
        return refused("is too large", format!("at most {MOST_SCALE} {unit}, or 'unlimited'"));
    }
    buffer(if unit == "bdp" { BufferKind::Bdp } else { BufferKind::Stanford }, number)
}

/// Reads a threshold of the backlog: as a buffer, but not "unlimited".
pub fn parse_threshold(value: &Value, hint: &str) -> Result<Buffer, Mistake> {
    let accepted = format!("'20 packets', '30 KB', '1 ms' (of draining), '0.2 bdp'{hint}");
    let buffer = parse_buffer(value).map_err(|mistake| mistake.accepted(accepted.clone()))?;
    if buffer.kind == BufferKind::Unlimited {
        return Err(Mistake::new("is not a threshold").value(value).accepted(accepted));
    }
    Ok(buffer)
}

/// The plan's limit of a buffer; `traffic` is what crosses the link, `None` if nothing does.
pub fn limit(buffer: &Buffer, traffic: Option<&LinkTraffic>) -> Result<Limit, Mistake> {
    match buffer.kind {
        BufferKind::Unlimited => return Ok(Limit::Unlimited),
        BufferKind::Packets => return Ok(Limit::Packets(buffer.count())),
        BufferKind::Bytes => return Ok(Limit::Bytes(buffer.count())),
        _ => {}
    }
    let refused =
        |problem: &str, accepted: String| Err(Mistake::new(problem).text(&buffer.text).accepted(accepted));
    let Some(traffic) = traffic else {
        let accepted = "a size in packets or bytes there".to_owned();
        return refused("depends on the flows of a link that no flow crosses", accepted);
    };
    let packets = bits(buffer, traffic) / whole_number(8 * traffic.packet_bytes);
    let packets = nearest_whole(&packets).max(BigInt::from(1));
    match u64::try_from(packets) {
        Ok(packets)
            if packets <= MAX_PACKETS
                && u128::from(packets) * u128::from(traffic.packet_bytes) <= u128::from(MAX_SIZE_BYTES) =>
        {
            Ok(Limit::Packets(packets))
        }
        _ => refused("comes to too many packets", format!("at most {MAX_PACKETS} packets")),
    }
}

/// Bits that the buffer's word stands for.
fn bits(buffer: &Buffer, traffic: &LinkTraffic) -> BigRational {
    let a_second = &buffer.amount * whole_number(traffic.rate_bps) / whole_number(PS_PER_S);
    match buffer.kind {
        BufferKind::Time => a_second,
        BufferKind::Stanford => a_second * exact(traffic.mean_rtt_ps) / exact((traffic.flows as f64).sqrt()),
        _ => a_second * exact(traffic.mean_rtt_ps),
    }
}

fn whole_number(number: u64) -> BigRational {
    BigRational::from_integer(number.into())
}

fn exact(number: f64) -> BigRational {
    BigRational::from_f64(number).expect("it is finite")
}

impl Buffer {
    /// The amount of packets, bytes or picoseconds.
    pub fn count(&self) -> u64 {
        u64::try_from(self.amount.to_integer()).expect("its bounds were checked")
    }
}

fn as_number<S: Serializer>(amount: &BigRational, serializer: S) -> Result<S::Ok, S::Error> {
    match amount.is_integer().then(|| amount.to_u64()).flatten() {
        Some(whole) => serializer.serialize_u64(whole),
        None => serializer.serialize_f64(amount.to_f64().unwrap_or_default()),
    }
}
