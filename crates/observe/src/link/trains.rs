//! Bursts: packets that follow each other without a gap.

use crate::sketch::Sketch;

/// Packets are of one train if the distance is less than such a multiple of a packet's own time on the link.
const APART: f64 = 1.2;
/// The rate has changed if it differs by such a part.
const CHANGED: f64 = 0.05;

/// Lengths of trains: runs of packets that are as close as the link lets them be (R. Jain and S. Routhier, "Packet trains", IEEE JSAC 4(6),
/// 1986, with a gap relative to the packet's size in place of a constant).
///
/// The link's rate is the mode of packets' distances so far; counting begins anew when that changes. A vantage point before the bottleneck
/// shows the trains of the sender's own link.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trains {
    /// Nanoseconds that a byte takes, with the allowance; zero before a rate is known.
    byte_ns: f64,
    rate_bps: f64,
    last: Option<(u64, u32)>,
    length: u64,
    pub(crate) lengths: Sketch,
}

impl Trains {
    /// A rate from now on.
    pub(crate) fn set_rate(&mut self, rate_bps: f64) {
        if (rate_bps - self.rate_bps).abs() > CHANGED * self.rate_bps {
            *self = Trains { byte_ns: APART * 8e9 / rate_bps, rate_bps, ..Trains::default() };
        }
    }

    /// A packet, with its size on the wire.
    #[inline]
    pub(crate) fn packet(&mut self, now: u64, bytes: u32) {
        if self.byte_ns == 0.0 {
            return;
        }
        // times may be of a packet's first bit or of its last: the larger of the two is in between
        let follows = self
            .last
            .is_some_and(|(at, size)| ((now - at) as f64) < f64::from(bytes.max(size)) * self.byte_ns);
        if follows {
            self.length += 1;
        } else {
            self.end();
            self.length = 1;
        }
        self.last = Some((now, bytes));
    }

    /// Counts the train that is under way.
    pub(crate) fn end(&mut self) {
        if self.length > 0 {
            self.lengths.add(self.length);
        }
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trains_end_with_a_gap() {
        let mut trains = Trains::default();
        trains.packet(0, 1_500);
        trains.set_rate(100e6);
        // 120 us each: 144 us are a gap
        for now in [0, 120, 250, 393, 540, 1_000, 1_120] {
            trains.packet(now * 1_000, 1_500);
        }
        trains.end();
        assert_eq!(trains.lengths.pairs().collect::<Vec<_>>(), [(1.0, 1), (2.0, 1), (4.0, 1)]);
        trains.set_rate(101e6);
        assert_eq!(trains.lengths.total(), 3);
        trains.set_rate(200e6);
        assert_eq!(trains.lengths.total(), 0);
    }
}
