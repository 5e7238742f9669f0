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

    /// `bbr_update_ack_aggregation`: the count goes on while more is acknowledged than the bandwidth explains.
    #[test]
    fn an_excess_adds_up_until_the_bandwidth_explains_it() {
        let mut aggregation = Aggregation::new();
        let mut update = |us, acked, cwnd| {
            aggregation.update(Time::ZERO + Span::from_us(us), acked, 0, (1_000.0, cwnd));
            (aggregation.best(), aggregation.acked)
        };
        assert_eq!(update(10_000, 30, 1e3), (30.0, 30));
        // 60 in 10 ms, of which ten were to be expected
        assert_eq!(update(20_000, 30, 1e3), (50.0, 60));
        // 60.9 ms explain 60: it starts over, also where they are as many
        assert_eq!(update(70_900, 45, 1e3), (50.0, 45));
        assert_eq!(update(71_400, 10, 1e3), (55.0, 55));
        assert_eq!(update(71_400, 100, 80.0), (80.0, 155), "never more than the window");
    }

    /// `bbr_ack_epoch_acked_reset_thresh`: 2²⁰ segments.
    #[test]
    fn a_count_of_a_million_starts_over() {
        const MOST: u32 = 1 << 20;
        for (second, acked) in [(MOST - 600_001, MOST - 1), (MOST - 600_000, MOST - 600_000)] {
            let mut aggregation = Aggregation::new();
            aggregation.update(Time::ZERO, 600_000, 0, (1_000.0, 10.0));
            aggregation.update(Time::ZERO, second, 0, (1_000.0, 10.0));
            assert_eq!(aggregation.acked, u64::from(acked));
        }
    }

    #[test]
    fn each_half_of_the_filter_lasts_five_rounds() {
        let mut aggregation = Aggregation::new();
        let best: Vec<f64> = [(4, 20), (5, 10), (9, 5), (10, 1), (14, 1), (15, 1)]
            .map(|(round, acked)| {
                aggregation.update(Time::ZERO + Span::from_s(round), acked, round, (1_000.0, 100.0));
                aggregation.best()
            })
            .into();
        assert_eq!(best, [20.0, 20.0, 20.0, 10.0, 10.0, 1.0]);
    }
}
