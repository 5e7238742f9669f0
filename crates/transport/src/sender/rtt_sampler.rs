//! Which acknowledgments give a round-trip sample, and what the samples say.
//!
//! With timestamps each acknowledgment of new data gives one (RFC 7323 section 4). Without, one segment at a time is
//! timed, and none that was sent twice (Karn's rule, RFC 6298 section 3). ns-2 ends a timing only where a recovery
//! starts and at a timeout, takes no sample from a partial acknowledgment, and ends a backoff only with a sample.

use bufferlab_units::{Span, Time};

use crate::RttEstimator;

/// How round trips are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// By the timestamps that acknowledgments echo.
    Timestamps,
    /// One segment at a time.
    Segment,
    /// One segment at a time, by ns-2's rules.
    SegmentNs2,
}

/// Samples of the round-trip time, and the estimator that they go to.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct RttSampler {
    pub(super) estimator: RttEstimator,
    /// The newest timestamp that came back.
    echoed: Time,
    /// Sum of the samples, ps.
    sum_ps: f64,
    samples: u64,
    timing: Timing,
    /// The segment being timed.
    timed: u32,
    /// When it was sent; [`Time::NEVER`] if none is being timed.
    timed_at: Time,
}

impl RttSampler {
    pub(super) fn new(estimator: RttEstimator, timing: Timing) -> RttSampler {
        RttSampler {
            estimator,
            echoed: Time::NEVER,
            sum_ps: 0.0,
            samples: 0,
            timing,
            timed: 0,
            timed_at: Time::NEVER,
        }
    }

    /// A new connection begins; what was measured so far stays counted.
    pub(super) fn restart(&mut self, estimator: RttEstimator) {
        (self.estimator, self.echoed, self.timed_at) = (estimator, Time::NEVER, Time::NEVER);
    }

    /// Sum, ps, and number of the samples.
    pub(super) fn totals(&self) -> (f64, u64) {
        (self.sum_ps, self.samples)
    }

    /// How long ago the newest timestamp was sent that has come back; zero before the first.
    #[inline]
    pub(super) fn echo_age(&self, now: Time) -> Span {
        now.saturating_since(self.echoed)
    }

    /// Segment `seq` is sent for the first time.
    #[inline(always)]
    pub(super) fn on_new(&mut self, now: Time, seq: u32) {
        if self.timing != Timing::Timestamps && self.timed_at == Time::NEVER {
            (self.timed, self.timed_at) = (seq, now);
        }
    }

    /// A segment is sent again: its acknowledgment is no sample.
    #[inline(always)]
    pub(super) fn on_retransmission(&mut self) {
        if self.timing != Timing::SegmentNs2 {
            self.timed_at = Time::NEVER;
        }
    }

    /// A recovery starts, or the retransmission timer ran out: the segment being timed may be lost.
    pub(super) fn forget(&mut self) {
        self.timed_at = Time::NEVER;
    }

    /// Everything below `ack` is acknowledged; takes the sample that this gives, if it gives one. Exact, whatever the
    /// clock. `partial` if the acknowledgment is one in fast recovery that does not end it.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, now: Time, ack: u32, echo: Time, partial: bool) -> Option<Span> {
        self.echoed = echo;
        if self.timing == Timing::Timestamps {
            // which ends a backoff too
            self.take(echo, now);
            return Some(now.saturating_since(echo));
        }
        let ns2 = self.timing == Timing::SegmentNs2;
        let measures = self.timed_at != Time::NEVER && ack > self.timed && !(ns2 && partial);
        let sent = self.timed_at;
        if measures {
            self.timed_at = Time::NEVER;
            self.take(sent, now);
        }
        if !ns2 {
            self.estimator.end_backoff();
        }
        measures.then(|| now.saturating_since(sent))
    }

    /// An acknowledgment came that may acknowledge nothing new; with timestamps it is a sample all the same, and ends a
    /// backoff (ns-2's `Agent/TCP/Linux`, `time_processing`; `ts_resetRTO_`). How long ago its timestamp was sent.
    pub(super) fn on_any_ack(&mut self, now: Time, ack: u32, echo: Time, is_new: bool) -> Option<Span> {
        if self.timing == Timing::Timestamps || is_new { self.on_ack(now, ack, echo, false) } else { None }
    }

    /// An acknowledgment came by which `rtt` is the round-trip time, if it says. It ends a backoff.
    pub(super) fn on_measured(&mut self, now: Time, echo: Time, rtt: Option<Span>) {
        self.echoed = echo;
        if let Some(rtt) = rtt {
            self.take(Time::from_ps(now.as_ps() - rtt.as_ps()), now);
        }
        self.estimator.end_backoff();
    }

    /// The answer to a SYN sent at `sent` has come. Without timestamps, the answer to a repeated SYN is no sample.
    pub(super) fn on_syn_ack(&mut self, now: Time, sent: Time) {
        let ns2 = self.timing == Timing::SegmentNs2;
        if self.timing == Timing::Timestamps || self.estimator.backoff() == 0 {
            self.take(sent, now);
        } else if !ns2 {
            self.estimator.fall_back();
        }
        if !ns2 {
            self.estimator.end_backoff();
        }
    }

    #[inline(always)]
    fn take(&mut self, sent: Time, now: Time) {
        let sample = self.estimator.sample(sent, now);
        self.estimator.update(sample);
        // signed, which is one instruction
        self.sum_ps += sample.as_ps().cast_signed() as f64;
        self.samples += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn sampler(timing: Timing) -> RttSampler {
        let (initial, least, most) = (Span::from_s(1), Span::from_ms(200), Span::from_s(60));
        RttSampler::new(RttEstimator::new(initial, least, most, Span::from_ps(1)), timing)
    }

    #[test]
    fn with_timestamps_every_acknowledgment_is_a_sample() {
        let mut rtt = sampler(Timing::Timestamps);
        rtt.on_new(at(0), 0);
        rtt.on_retransmission();
        assert_eq!(rtt.on_ack(at(100), 1, at(40), false), Some(Span::from_ms(60)));
        assert_eq!(rtt.on_ack(at(100), 2, at(60), true), Some(Span::from_ms(40)));
        assert_eq!((rtt.totals(), rtt.echo_age(at(110))), ((1e11, 2), Span::from_ms(50)));
    }

    #[test]
    fn one_segment_at_a_time_is_timed() {
        for timing in [Timing::Segment, Timing::SegmentNs2] {
            let mut rtt = sampler(timing);
            (0..3).for_each(|seq| rtt.on_new(at(10 * u64::from(seq)), seq));
            assert_eq!(rtt.on_ack(at(100), 1, at(0), false), Some(Span::from_ms(100)));
            assert_eq!(rtt.on_ack(at(110), 2, at(10), false), None, "segment 1 was not timed");
        }
    }

    #[test]
    fn a_retransmission_ends_a_timing_except_in_ns2() {
        for (timing, sample) in [(Timing::Segment, None), (Timing::SegmentNs2, Some(Span::from_ms(100)))] {
            let mut rtt = sampler(timing);
            rtt.on_new(at(0), 0);
            rtt.on_retransmission();
            assert_eq!(rtt.on_ack(at(100), 1, at(0), false), sample);
            rtt.on_new(at(100), 1);
            rtt.forget();
            assert_eq!(rtt.on_ack(at(200), 2, at(100), false), None);
        }
    }

    #[test]
    fn a_partial_acknowledgment_is_a_sample_except_in_ns2() {
        for (timing, sample) in [(Timing::Segment, Some(Span::from_ms(100))), (Timing::SegmentNs2, None)] {
            let mut rtt = sampler(timing);
            rtt.on_new(at(0), 0);
            assert_eq!(rtt.on_ack(at(100), 1, at(0), true), sample);
        }
    }

    #[test]
    fn a_backoff_ends_with_new_data_and_in_ns2_with_a_sample() {
        for (timing, backoff) in [(Timing::Segment, 0), (Timing::SegmentNs2, 1)] {
            let mut rtt = sampler(timing);
            rtt.estimator.back_off();
            rtt.on_ack(at(100), 1, at(0), false);
            assert_eq!(rtt.estimator.backoff(), backoff);
        }
    }
}
