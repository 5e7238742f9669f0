//! How many more segments are acknowledged at once than the bandwidth explains
//! (`bbr_update_ack_aggregation`).

use bufferlab_units::Time;

/// Rounds of each half of the aggregation's filter (`bbr_extra_acked_win_rtts`).
const EXTRA_ACKED_ROUNDS: u64 = 5;
/// An aggregation's count starts over here (`bbr_ack_epoch_acked_reset_thresh`).
const EXTRA_ACKED_RESET: u64 = 1 << 20;

/// Excess of acknowledgments over the bandwidth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    /// When the count began (`ack_epoch_mstamp`).
    begun: Time,
    /// Segments acknowledged since (`ack_epoch_acked`).
    acked: u64,
    /// The largest excess of this half of the filter and of the last, segments (`extra_acked`).
    best: [f64; 2],
    /// The round in which this half began.
    half_round: u64,
}

impl Aggregation {
    pub(super) fn new() -> Aggregation {
        Aggregation { begun: Time::ZERO, acked: 0, best: [0.0; 2], half_round: 0 }
    }

    /// Counts an acknowledgment in a round, at a bandwidth and with a window.
    pub(super) fn update(&mut self, now: Time, acked: u32, round: u64, (bandwidth, cwnd): (f64, f64)) {
        if round >= self.half_round + EXTRA_ACKED_ROUNDS {
            (self.best, self.half_round) = ([0.0, self.best[0]], round);
        }
        let mut expected = (bandwidth * now.saturating_since(self.begun).as_s()) as i64 as f64;
        if self.acked as f64 <= expected || self.acked + u64::from(acked) >= EXTRA_ACKED_RESET {
            (self.acked, self.begun, expected) = (0, now, 0.0);
        }
        self.acked += u64::from(acked);
        let extra = (self.acked as f64 - expected).min(cwnd);
        self.best[0] = self.best[0].max(extra);
    }

    /// The largest excess of the last five to ten rounds, segments.
    pub(super) fn best(&self) -> f64 {
        self.best[0].max(self.best[1])
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_units::Span;

    use super::*;

    #[test]
    fn acknowledgments_in_lumps_are_an_excess() {
        // a thousand segments a second, acknowledged twenty at a time
        let mut aggregation = Aggregation::new();
        for k in 1..=50 {
            aggregation.update(Time::ZERO + Span::from_ms(20 * k), 20, k / 10, (1_000.0, 100.0));
        }
        assert!((aggregation.best() - 20.0).abs() < 1e-9, "{}", aggregation.best());
    }

    #[test]
    fn an_excess_is_forgotten_after_ten_rounds() {
        let mut aggregation = Aggregation::new();
        let mut seen = Vec::new();
        for round in 0..=12 {
            let acked = if round == 1 { 40 } else { 1 };
            aggregation.update(Time::ZERO + Span::from_ms(100 * round), acked, round, (1_000.0, 100.0));
            seen.push(aggregation.best());
        }
        assert_eq!((seen[1], seen[9], seen[10]), (40.0, 40.0, 1.0));
    }
}
