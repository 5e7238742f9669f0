//! Round-trip estimation and the retransmission timeout: RFC 6298.
//!
//! With a clock of whole ticks the estimator runs in the scaled integers of BSD (Jacobson 1988, appendix A), as
//! ns-2 does (2.35, `tcp/tcp.cc`, `rtt_update` and `rtt_backoff`). Their rounding matters: it leaves a margin of
//! up to three ticks above a steady round-trip time, where RFC 6298 leaves one.
//!
//! Linux bounds the margin above the smoothed round-trip time from below, not the timeout (`tcp_rtt_estimator`:
//! `rttvar` is at least `tcp_rto_min`), so that a steady path's timeout is its round-trip time and 200 ms.

use bufferlab_units::{Span, Time};

/// RFC 6298 section 2: smoothed round-trip time, its variation, and the timeout.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RttEstimator {
    /// Smoothed round-trip time; zero before the first sample.
    srtt: Span,
    /// Round-trip time variation.
    rttvar: Span,
    /// Timeout without backoff.
    base_rto: Span,
    /// Timeouts since the last sample; each doubles the timeout.
    backoff: u32,
    /// As ns-2's `Agent/TCP/Linux` has it (2.35, `tcp/tcp-linux.cc`, `rtt_update`): times are rounded to ticks, and where
    /// they fall by more than the deviation, it rises by an eighth of that only.
    is_linux_ns2: bool,
    min_rto: Span,
    max_rto: Span,
    /// Least margin of the timeout above the smoothed round-trip time.
    margin: Span,
    clock: Span,
    /// Shortest sample.
    min: Span,
    ticks: Ticks,
}

/// BSD's estimator: `srtt` in eighths of a tick, `rttvar` in quarters.
#[derive(Clone, Debug, Default)]
struct Ticks {
    srtt: i64,
    rttvar: i64,
}

impl Ticks {
    /// Takes a sample of `ticks` into account and gives the timeout, ticks.
    fn update(&mut self, ticks: i64, is_linux: bool) -> i64 {
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (ticks << 3, ticks << 1);
        } else {
            let delta = ticks - (self.srtt >> 3);
            self.srtt = (self.srtt + delta).max(1);
            let beyond = delta.abs() - (self.rttvar >> 2);
            if !is_linux {
                self.rttvar = (self.rttvar + beyond).max(1);
            } else if delta < 0 && beyond > 0 {
                self.rttvar += beyond >> 3;
            } else {
                self.rttvar += beyond;
            }
        }
        ((self.rttvar << 3) + self.srtt) >> 3
    }

    /// After four timeouts in a row the estimate is discarded: the next sample starts a new one.
    fn distrust(&mut self) {
        self.rttvar += self.srtt >> 3;
        self.srtt = 0;
    }
}

/// Timeouts in a row after which ns-2 forgets its estimate (its backoff factor then exceeds 8).
const DISTRUST_AFTER: u32 = 4;

/// RFC 6298 (5.7) and appendix A: the initial timeout of RFC 2988.
const FALLBACK_RTO: Span = Span::from_s(3);

impl RttEstimator {
    /// An estimator before its first sample. `clock` is the granularity G of section 2.
    pub fn new(initial_rto: Span, min_rto: Span, max_rto: Span, clock: Span) -> RttEstimator {
        RttEstimator {
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            base_rto: initial_rto,
            backoff: 0,
            is_linux_ns2: false,
            min_rto,
            max_rto,
            margin: Span::from_ps(1),
            clock,
            min: Span::from_ps(u64::MAX),
            ticks: Ticks::default(),
        }
    }

    /// The same estimator with a least margin of the timeout above the smoothed round-trip time.
    #[must_use]
    pub fn with_margin(self, margin: Span) -> RttEstimator {
        RttEstimator { margin: margin.max(self.margin), ..self }
    }

    /// The same estimator with the ticks of ns-2's `Agent/TCP/Linux`, if that is `so`.
    #[must_use]
    pub(crate) fn with_ticks_of_linux(mut self, so: bool) -> RttEstimator {
        self.is_linux_ns2 = so;
        self
    }

    /// The sample of a segment sent and acknowledged at these moments, as a clock of the given granularity
    /// sees it: whole ticks between the two, at least one (ns-2 `TcpAgent::rtt_update` counts likewise).
    #[inline]
    pub fn sample(&self, sent: Time, acked: Time) -> Span {
        let tick = self.clock.as_ps();
        if tick <= 1 {
            return acked.saturating_since(sent);
        }
        let ticks = if self.is_linux_ns2 {
            (acked.saturating_since(sent).as_ps() + tick / 2) / tick
        } else {
            acked.as_ps() / tick - sent.as_ps().min(acked.as_ps()) / tick
        };
        Span::from_ps(ticks.max(1) * tick)
    }

    /// Takes a sample into account: (2.2) and (2.3) with alpha = 1/8 and beta = 1/4. Ends a backoff.
    #[inline(always)]
    pub fn update(&mut self, sample: Span) {
        self.min = self.min.min(sample);
        if self.clock.as_ps() > 1 {
            self.update_ticks(sample);
            return;
        }
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
        let rto = self.srtt.as_ps() + (4 * self.rttvar.as_ps()).max(self.margin.as_ps());
        self.set_rto(rto);
    }

    #[inline(never)]
    fn update_ticks(&mut self, sample: Span) {
        let tick = self.clock.as_ps();
        let rto = self.ticks.update((sample.as_ps() / tick).cast_signed(), self.is_linux_ns2);
        self.srtt = Span::from_ps((self.ticks.srtt >> 3).cast_unsigned() * tick);
        self.set_rto((rto.cast_unsigned() * tick).max(self.srtt.as_ps() + self.margin.as_ps()));
    }

    #[inline]
    fn set_rto(&mut self, rto: u64) {
        self.base_rto = Span::from_ps(rto.max(self.min_rto.as_ps()).min(self.max_rto.as_ps()));
        self.backoff = 0;
    }

    /// The timer ran out: (5.5) doubles the timeout.
    pub fn back_off(&mut self) {
        self.backoff += 1;
        if self.clock.as_ps() > 1 && self.backoff == DISTRUST_AFTER {
            self.ticks.distrust();
        }
    }

    /// Ends a backoff without a sample: new data was acknowledged (Linux and ns-2 do so; RFC 6298 section 5
    /// leaves it to the next sample, which the same acknowledgment brings unless Karn's rule forbids it).
    #[inline]
    pub fn end_backoff(&mut self) {
        self.backoff = 0;
    }

    /// RFC 6298 (5.7): the timer ran out awaiting the answer to a SYN, and there is no sample: the timeout is 3 s "when
    /// data transmission begins", if it would be less. (Linux: `tcp_init_metrics`.)
    pub fn fall_back(&mut self) {
        self.base_rto = self.base_rto.max(FALLBACK_RTO).min(self.max_rto);
    }

    /// Timeouts since the last new acknowledgment.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// The timeout now.
    #[inline]
    pub fn rto(&self) -> Span {
        if self.backoff == 0 { self.base_rto } else { self.backed_off(self.base_rto) }
    }

    /// A timeout, doubled for each that ran out since the last sample.
    pub(crate) fn backed_off(&self, timeout: Span) -> Span {
        timeout.saturating_mul(1 << self.backoff.min(16)).min(self.max_rto)
    }

    /// The timeout without backoff.
    pub(crate) fn base_rto(&self) -> Span {
        self.base_rto
    }

    /// Least margin of the timeout above the smoothed round-trip time.
    pub fn margin(&self) -> Span {
        self.margin
    }

    /// The shortest sample so far; more than any time before the first.
    pub fn min(&self) -> Span {
        self.min
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
    fn linux_bounds_the_margin() {
        for clock in [Span::from_ps(1), Span::from_ms(10)] {
            let mut rtt = estimator(clock).with_margin(Span::from_ms(200));
            for _ in 0..100 {
                rtt.update(Span::from_ms(300));
            }
            assert_eq!(rtt.rto(), Span::from_ms(500));
            rtt.update(Span::from_ms(1_000));
            assert!(rtt.rto() > Span::from_ms(387) + Span::from_ms(400), "{:?}", rtt.rto());
        }
    }

    #[test]
    fn whole_ticks_follow_bsd() {
        let mut rtt = estimator(Span::from_ms(10));
        rtt.update(Span::from_ms(1_000));
        // srtt = 100 ticks, variation = 50: 100 + 4·50 ticks
        assert_eq!((rtt.srtt(), rtt.rto()), (Span::from_ms(1_000), Span::from_ms(3_000)));
        for _ in 0..100 {
            rtt.update(Span::from_ms(1_000));
        }
        // the variation's quarters stop falling at 3, since 3 >> 2 is 0: 3 ticks of margin remain
        assert_eq!(rtt.rto(), Span::from_ms(1_030));
        for _ in 0..4 {
            rtt.back_off();
        }
        rtt.update(Span::from_ms(500));
        assert_eq!(rtt.rto(), Span::from_ms(1_500));
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
