//! Round-trip estimation and the retransmission timeout: RFC 6298.

use bufferlab_units::{Span, Time};

/// RFC 6298 section 2: smoothed round-trip time, its variation, and the timeout.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    /// Smoothed round-trip time; zero before the first sample.
    srtt: Span,
    /// Round-trip time variation.
    rttvar: Span,
    /// Timeout without backoff.
    base_rto: Span,
    /// Timeouts since the last sample: the timeout is doubled so many times.
    backoff: u32,
    min_rto: Span,
    max_rto: Span,
    clock: Span,
}

impl RttEstimator {
    /// An estimator before its first sample. `clock` is the granularity G of section 2.
    pub fn new(initial_rto: Span, min_rto: Span, max_rto: Span, clock: Span) -> RttEstimator {
        RttEstimator {
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            base_rto: initial_rto,
            backoff: 0,
            min_rto,
            max_rto,
            clock,
        }
    }

    /// The sample of a segment sent and acknowledged at these moments, as a clock of the given granularity
    /// sees it: whole ticks between the two, at least one (ns-2 `TcpAgent::rtt_update` counts likewise).
    pub fn sample(&self, sent: Time, acked: Time) -> Span {
        let tick = self.clock.as_ps();
        if tick <= 1 {
            return acked.saturating_since(sent);
        }
        let ticks = acked.as_ps() / tick - sent.as_ps().min(acked.as_ps()) / tick;
        Span::from_ps(ticks.max(1) * tick)
    }

    /// Takes a sample into account: (2.2) and (2.3) with alpha = 1/8 and beta = 1/4. Ends a backoff.
    #[inline]
    pub fn update(&mut self, sample: Span) {
        let r = sample.as_ps();
        if self.srtt == Span::ZERO {
            self.srtt = sample;
            self.rttvar = Span::from_ps(r / 2);
        } else {
            let srtt = self.srtt.as_ps();
            let deviation = srtt.abs_diff(r);
            let var = self.rttvar.as_ps();
            self.rttvar = Span::from_ps(var - var / 4 + deviation / 4);
            self.srtt = Span::from_ps(srtt - srtt / 8 + r / 8);
        }
        // RTO <- SRTT + max (G, K*RTTVAR), K = 4
        let margin = self.clock.as_ps().max(4 * self.rttvar.as_ps());
        let rto = self.srtt.as_ps() + margin;
        self.base_rto = Span::from_ps(rto.clamp(self.min_rto.as_ps(), self.max_rto.as_ps()));
        self.backoff = 0;
    }

    /// The timer ran out: (5.5) doubles the timeout.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Ends a backoff without a sample: new data was acknowledged (Linux and ns-2 do so; RFC 6298 section 5
    /// leaves it to the next sample, which the same acknowledgement brings unless Karn's rule forbids it).
    #[inline]
    pub fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Timeouts since the last new acknowledgement.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The timeout now.
    #[inline]
    pub fn rto(&self) -> Span {
        if self.backoff == 0 {
            return self.base_rto;
        }
        let factor = 1_u64 << self.backoff.min(16);
        let ps = self.base_rto.as_ps().saturating_mul(factor);
        Span::from_ps(ps.min(self.max_rto.as_ps()))
    }

    /// Smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.srtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(clock: Span) -> RttEstimator {
        RttEstimator::new(Span::from_s(1), Span::from_ms(200), Span::from_s(60), clock)
    }

    #[test]
    fn the_first_sample_sets_the_timeout_to_three_times_itself() {
        let mut rtt = estimator(Span::from_ps(1));
        assert_eq!(rtt.rto(), Span::from_s(1));
        rtt.update(Span::from_ms(100));
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::from_ms(100), Span::from_ms(300)));
    }

    #[test]
    fn later_samples_follow_equation_2_3() {
        let mut rtt = estimator(Span::from_ps(1));
        rtt.update(Span::from_ms(100));
        rtt.update(Span::from_ms(180));
        // RTTVAR = 3/4·50 + 1/4·80 = 57.5 ms, SRTT = 7/8·100 + 1/8·180 = 110 ms, RTO = 110 + 4·57.5 ms
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::from_ms(110), Span::from_ms(340)));
    }

    #[test]
    fn the_timeout_stays_within_its_bounds_and_doubles() {
        let mut rtt = estimator(Span::from_ps(1));
        rtt.update(Span::from_ms(10));
        assert_eq!(rtt.rto(), Span::from_ms(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_ms(800));
        for _ in 0..40 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), Span::from_s(60));
        rtt.end_backoff();
        assert_eq!(rtt.rto(), Span::from_ms(200));
    }

    #[test]
    fn a_coarse_clock_counts_ticks() {
        let rtt = estimator(Span::from_ms(10));
        let at = |ms: u64| Time::ZERO + Span::from_ms(ms);
        assert_eq!(rtt.sample(at(9), at(11)), Span::from_ms(10));
        assert_eq!(rtt.sample(at(1), at(9)), Span::from_ms(10));
        assert_eq!(rtt.sample(at(9), at(31)), Span::from_ms(30));
    }
}
