//! What a discipline knows of a packet's round-trip time.

use std::str::FromStr;
use std::sync::Arc;

use bufferlab_estimator::{FrequencyEstimator, SynEstimator, TimestampEstimator};
use bufferlab_parameters::{Field, Form, Kind, OutOfBounds, form, within};
use bufferlab_units::{Span, Time};

use serde::{Deserialize, Serialize};

use crate::{Packet, PacketKind};

/// Shortest round-trip time of a quantized header; the longest is 2¹⁴ times as long, 8.192 s.
const LOWEST: Span = Span::from_us(500);
const OCTAVES: u32 = 14;
/// Most bits of a quantized header.
const MAX_RTT_BITS: u32 = 12;

/// Flows that a table remembers unless said otherwise, and at most.
const TABLE_FLOWS: u32 = 1024;
const MAX_TABLE_FLOWS: u32 = 1 << 22;
/// Timestamps in headers are whole microseconds; a difference of two may be one off.
const STAMP_TICK: Span = Span::from_us(2);

/// Where a queue has its packets' round-trip times from, as scenarios and plans name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "kind")]
pub enum RttSource {
    /// Senders write their smoothed round-trip times into their packets.
    Header,
    /// The same in few bits, on a logarithmic scale.
    Quantized {
        /// How many.
        bits: u32,
    },
    /// From handshakes, seen in passing.
    Handshake {
        /// Flows that are remembered, about.
        flows: u32,
    },
    /// From timestamps, seen in passing.
    Timestamps {
        /// Flows that are remembered, about.
        flows: u32,
    },
    /// From the period of arrivals, seen in passing.
    Frequency {
        /// Flows that are remembered, about.
        flows: u32,
    },
    /// The true propagation delays, which no router can know: to compare with.
    Oracle,
}

impl RttSource {
    /// What scenarios may write.
    pub const FORM: Form = form::<RttSource>(
        "'header', 'header(4 bits)' (1 to 12), 'handshake', 'timestamps', 'frequency', each of the three with a table's size as in \
         'timestamps(1024 flows)' (1 to 4194304), or 'oracle'",
        &["header", "header(4 bits)", "handshake", "timestamps(1024 flows)", "frequency", "oracle"],
    );

    /// What the queue keeps for it; `propagation` gives the flows' delays.
    pub(crate) fn build(self, propagation: &dyn Fn() -> Arc<[Span]>) -> RttInformation {
        match self {
            RttSource::Header => RttInformation::Header,
            RttSource::Quantized { bits } => RttInformation::Quantized(RttScale::new(bits)),
            RttSource::Handshake { flows } => RttInformation::Handshake(SynEstimator::new(flows as usize)),
            RttSource::Timestamps { flows } => {
                RttInformation::Timestamps(TimestampEstimator::new(flows as usize, STAMP_TICK))
            }
            RttSource::Frequency { flows } => {
                RttInformation::Frequency(FrequencyEstimator::new(flows as usize))
            }
            RttSource::Oracle => RttInformation::Oracle(propagation()),
        }
    }
}

impl Field for RttSource {
    fn check(&self, field: &str, _kind: &Kind) -> Result<(), OutOfBounds> {
        match *self {
            RttSource::Quantized { bits } => within(bits, 1, MAX_RTT_BITS, format!("{field}.bits")),
            RttSource::Handshake { flows }
            | RttSource::Timestamps { flows }
            | RttSource::Frequency { flows } => within(flows, 1, MAX_TABLE_FLOWS, format!("{field}.flows")),
            RttSource::Header | RttSource::Oracle => Ok(()),
        }
    }
}

impl FromStr for RttSource {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<RttSource, &'static str> {
        let problem = "is no source of round-trip times";
        let (word, amount) = match text.trim().split_once('(') {
            Some((word, rest)) => (word, Some(rest.strip_suffix(')').ok_or(problem)?)),
            None => (text.trim(), None),
        };
        let number = |unit: &str| -> Result<Option<u32>, &'static str> {
            let Some(amount) = amount else { return Ok(None) };
            let (number, given) = amount.trim().split_once(char::is_whitespace).ok_or(problem)?;
            let is_unit = given.trim_start().strip_prefix(unit).is_some_and(|rest| matches!(rest, "" | "s"));
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            number.parse().ok().filter(|_| is_unit && is_number).map(Some).ok_or(problem)
        };
        let source = match word {
            "header" => number("bit")?.map_or(RttSource::Header, |bits| RttSource::Quantized { bits }),
            "handshake" => RttSource::Handshake { flows: number("flow")?.unwrap_or(TABLE_FLOWS) },
            "timestamps" => RttSource::Timestamps { flows: number("flow")?.unwrap_or(TABLE_FLOWS) },
            "frequency" => RttSource::Frequency { flows: number("flow")?.unwrap_or(TABLE_FLOWS) },
            "oracle" if amount.is_none() => RttSource::Oracle,
            _ => return Err(problem),
        };
        source.check("", &Kind::Form(&RttSource::FORM)).map(|()| source).map_err(|_| problem)
    }
}

/// What a queue keeps to know a packet's round-trip time.
#[derive(Clone, Debug)]
pub enum RttInformation {
    /// The true propagation delay of each flow: what no router can know, to compare with.
    Oracle(Arc<[Span]>),
    /// The sender writes its smoothed round-trip time into the packet.
    Header,
    /// The same in few bits, on a logarithmic scale.
    Quantized(RttScale),
    /// From the handshake, seen in passing.
    Handshake(SynEstimator),
    /// From timestamps, seen in passing.
    Timestamps(TimestampEstimator),
    /// From the period of arrivals.
    Frequency(FrequencyEstimator),
}

impl RttInformation {
    /// The round-trip time of a packet that passes now, if it is known.
    pub fn of(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let (key, srtt) = (u64::from(packet.flow), packet.srtt());
        match self {
            RttInformation::Oracle(delays) => delays.get(packet.flow as usize).copied(),
            RttInformation::Header => srtt,
            RttInformation::Quantized(scale) => srtt.map(|srtt| scale.nearest(srtt)),
            RttInformation::Handshake(estimator) => match packet.kind {
                PacketKind::Data(_) => estimator.on_data(now, key),
                _ => None,
            },
            RttInformation::Timestamps(estimator) => match packet.kind {
                PacketKind::Data(_) => estimator.on_packet(now, key, packet.sent, packet.echoed()),
                _ => None,
            },
            RttInformation::Frequency(estimator) => match packet.kind {
                PacketKind::Data(_) => estimator.on_data(now, key),
                _ => None,
            },
        }
    }

    /// A packet leaves this queue. The handshake is measured from here on, so that the queue's own delay is no part of
    /// it: that of the one moment would stay in it, and that of other moments would be taken off it.
    pub fn on_departure(&mut self, now: Time, packet: &Packet) {
        if let RttInformation::Handshake(estimator) = self
            && packet.kind == PacketKind::Syn
        {
            estimator.on_syn(now, u64::from(packet.flow));
        }
    }

    /// Whether the delay in this queue is part of what it says.
    pub fn has_queueing(&self) -> bool {
        !matches!(self, RttInformation::Oracle(_) | RttInformation::Handshake(_))
    }

    /// Memory that a router would need for it, bytes.
    pub fn bytes(&self) -> usize {
        match self {
            RttInformation::Oracle(_) | RttInformation::Header => 0,
            RttInformation::Quantized(scale) => size_of_val(scale.levels.as_ref()),
            RttInformation::Handshake(estimator) => estimator.bytes(),
            RttInformation::Timestamps(estimator) => estimator.bytes(),
            RttInformation::Frequency(estimator) => estimator.bytes(),
        }
    }
}

/// Round-trip times from 0.5 ms to 8.192 s in 2^b steps of equal ratio.
#[derive(Clone, Debug)]
pub struct RttScale {
    levels: Arc<[Span]>,
}

impl RttScale {
    /// A scale with this number of bits, 1 to 12 (others are clamped).
    pub fn new(bits: u32) -> RttScale {
        let bits = bits.clamp(1, MAX_RTT_BITS);
        // 2^b steps make 2^14: the ratio is its b-th repeated square root, which IEEE 754 rounds exactly
        let ratio = (0..bits).fold(f64::from(1_u32 << OCTAVES), |power, _| power.sqrt());
        let mut level = LOWEST.as_ps() as f64;
        let levels = (0..1_u32 << bits).map(|_| {
            let here = Span::from_ps(level as u64);
            level *= ratio;
            here
        });
        RttScale { levels: levels.collect() }
    }

    /// The nearest level below, or the lowest: what b bits can say.
    pub fn nearest(&self, rtt: Span) -> Span {
        let above = self.levels.partition_point(|&level| level <= rtt);
        self.levels[above.max(1) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_has_equal_ratios() {
        let scale = RttScale::new(4);
        assert_eq!(scale.levels.len(), 16);
        for pair in scale.levels.windows(2) {
            let ratio = pair[1].as_ps() as f64 / pair[0].as_ps() as f64;
            assert!((ratio - 2.0_f64.powf(14.0 / 16.0)).abs() < 1e-6, "{ratio}");
        }
        assert_eq!(scale.nearest(Span::ZERO), LOWEST);
        assert_eq!(scale.nearest(Span::from_s(100)), *scale.levels.last().unwrap());
    }

    #[test]
    fn more_bits_are_nearer() {
        let rtt = Span::from_ms(87);
        let errors = [3, 5, 8, 12].map(|bits| (rtt - RttScale::new(bits).nearest(rtt)).as_ps());
        assert!(errors.is_sorted_by(|a, b| a >= b) && errors[3] < 300_000_000, "{errors:?}");
    }

    #[test]
    fn sources_are_read_as_scenarios_write_them() {
        let read = |text: &str| text.parse::<RttSource>();
        assert_eq!(read("header"), Ok(RttSource::Header));
        assert_eq!(read(" header(4 bits) "), Ok(RttSource::Quantized { bits: 4 }));
        assert_eq!(read("header( 1  bit )"), Ok(RttSource::Quantized { bits: 1 }));
        assert_eq!(read("handshake"), Ok(RttSource::Handshake { flows: 1024 }));
        assert_eq!(read("timestamps(64 flows)"), Ok(RttSource::Timestamps { flows: 64 }));
        assert_eq!(read("frequency(64 flows)"), Ok(RttSource::Frequency { flows: 64 }));
        assert_eq!(read("oracle"), Ok(RttSource::Oracle));
        for text in [
            "",
            "headers",
            "header(",
            "header()",
            "header(4)",
            "header(4bits)",
            "header(13 bits)",
            "header(0 bits)",
            "header(+4 bits)",
            "header(4 flows)",
            "header(4 bitss)",
            "handshake(4 bits)",
            "oracle(4 flows)",
            "timestamps(0 flows)",
            "timestamps(4194305 flows)",
            "timestamps(64 flows) x",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        for example in RttSource::FORM.examples {
            assert!((RttSource::FORM.parse)(example).is_ok(), "{example}");
        }
        for bound in [MAX_RTT_BITS, MAX_TABLE_FLOWS] {
            assert!(RttSource::FORM.accepted.contains(&format!("1 to {bound})")), "{bound}");
        }
    }
}
