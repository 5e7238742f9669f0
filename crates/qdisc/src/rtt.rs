//! What a discipline knows of a packet's round-trip time.

use std::sync::Arc;

use bufferlab_estimator::{SynEstimator, TimestampEstimator};
use bufferlab_units::{Span, Time};

use crate::{Packet, PacketKind};

/// Shortest round-trip time of a quantized header; the longest is 2¹⁴ times as long, 8.192 s.
const LOWEST: Span = Span::from_us(500);
const OCTAVES: u32 = 14;
/// Most bits of a quantized header.
pub const MAX_RTT_BITS: u32 = 12;

/// Where the round-trip time of a packet comes from.
#[derive(Clone, Debug)]
pub enum RttInformation {
    /// The true propagation delay of each flow: what no router can know, to compare with.
    Oracle(Arc<[Span]>),
    /// The sender writes its smoothed round-trip time into the packet.
    Header,
    /// The same in few bits, on a logarithmic scale.
    Quantized(RttScale),
    /// From the handshake, seen in passing.
    Syn(SynEstimator),
    /// From timestamps, seen in passing.
    Timestamps(TimestampEstimator),
}

impl RttInformation {
    /// The round-trip time of a packet that passes now, if it is known.
    pub fn of(&mut self, now: Time, packet: &Packet) -> Option<Span> {
        let (key, srtt) = (u64::from(packet.flow), packet.srtt());
        match self {
            RttInformation::Oracle(delays) => delays.get(packet.flow as usize).copied(),
            RttInformation::Header => srtt,
            RttInformation::Quantized(scale) => srtt.map(|srtt| scale.nearest(srtt)),
            RttInformation::Syn(estimator) => match packet.kind {
                PacketKind::Data(_) => estimator.on_data(now, key),
                _ => None,
            },
            RttInformation::Timestamps(estimator) => match packet.kind {
                PacketKind::Data(_) => estimator.on_packet(now, key, packet.sent, packet.echoed()),
                _ => None,
            },
        }
    }

    /// A packet leaves this queue. The handshake is measured from here on, so that the queue's own delay is no part of
    /// it: that of the one moment would stay in it, and that of other moments would be taken off it.
    pub fn on_departure(&mut self, now: Time, packet: &Packet) {
        if let RttInformation::Syn(estimator) = self
            && packet.kind == PacketKind::Syn
        {
            estimator.on_syn(now, u64::from(packet.flow));
        }
    }

    /// Whether the delay in this queue is part of what it says.
    pub fn has_queueing(&self) -> bool {
        !matches!(self, RttInformation::Oracle(_) | RttInformation::Syn(_))
    }

    /// Memory that a router would need for it, bytes.
    pub fn bytes(&self) -> usize {
        match self {
            RttInformation::Oracle(_) | RttInformation::Header => 0,
            RttInformation::Quantized(scale) => size_of_val(scale.levels.as_ref()),
            RttInformation::Syn(estimator) => estimator.bytes(),
            RttInformation::Timestamps(estimator) => estimator.bytes(),
        }
    }
}

/// Round-trip times from 0.5 ms to 8.192 s in 2^b steps of equal ratio.
#[derive(Clone, Debug)]
pub struct RttScale {
    levels: Arc<[Span]>,
}

impl RttScale {
    /// A scale of so many bits, 1 to [`MAX_RTT_BITS`] (others are cut to that).
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
}
