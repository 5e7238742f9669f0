//! The link's rate from the distance of packets.

use super::rates::{Cluster, Rates};

/// Smaller packets are left out: their distance is what processing takes.
const LEAST_BYTES: u32 = 500;

/// Pairs of packets in a row with the same size. Behind a link that they have waited for, they are as far apart as one takes to be
/// transmitted, so size / distance is the rate (V. Jacobson, SIGCOMM 1988; C. Dovrolis, P. Ramanathan and D. Moore, "Packet-dispersion
/// techniques and a capacity-estimation methodology", IEEE/ACM Transactions on Networking 12(6), 2004, section III: the mode of many pairs,
/// since cross traffic makes other modes).
///
/// Before the bottleneck the mode is the rate of the link from there to the vantage point, or the card's. A card that delivers packets in
/// batches shows distances that are too small; equal times give no rate, but count against the share of the mode.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dispersion {
    rates: Rates,
    /// Pairs without a distance.
    batched: u64,
    /// Time and size of the last packet; none of several segments.
    last: Option<(u64, u32)>,
}

impl Dispersion {
    /// A packet, of one segment or of several.
    pub(crate) fn packet(&mut self, now: u64, bytes: u32, is_one: bool) {
        let last = std::mem::replace(&mut self.last, is_one.then_some((now, bytes)));
        let Some((at, size)) = last.filter(|&(_, size)| is_one && size == bytes && size >= LEAST_BYTES)
        else {
            return;
        };
        if now > at {
            self.rates.add(f64::from(size) * 8e9 / (now - at) as f64);
        } else {
            self.batched += 1;
        }
    }

    /// Pairs seen.
    pub(crate) fn pairs(&self) -> u64 {
        self.rates.total() + self.batched
    }

    /// The mode, and its share of all pairs.
    pub(crate) fn mode(&self) -> Option<Cluster> {
        let cluster = self.rates.cluster()?;
        let share = cluster.share * self.rates.total() as f64 / self.pairs() as f64;
        Some(Cluster { share, ..cluster })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_to_back_packets_show_the_rate() {
        let mut dispersion = Dispersion::default();
        // 1500 bytes at 100 Mbit/s take 120 us; after every tenth there is a pause
        let mut now = 0;
        for n in 0..100 {
            now += if n % 10 == 0 { 5_000_000 } else { 120_000 };
            dispersion.packet(now, 1_500, true);
        }
        let mode = dispersion.mode().unwrap();
        assert_eq!((dispersion.pairs(), mode.rate_bps), (99, 100e6));
        assert!((mode.share - 90.0 / 99.0).abs() < 1e-9);
    }

    #[test]
    fn batches_count_against_the_mode() {
        let mut dispersion = Dispersion::default();
        for now in [0, 120_000, 120_000, 120_000, 120_000] {
            dispersion.packet(now, 1_500, true);
        }
        assert_eq!(dispersion.mode().unwrap().share, 0.25);
        // another size, and several segments
        for (bytes, is_one) in [(1_000, true), (1_000, false), (1_000, true), (60, true), (60, true)] {
            dispersion.packet(200_000, bytes, is_one);
        }
        assert_eq!(dispersion.pairs(), 4);
    }
}
