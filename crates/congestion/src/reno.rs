//! RFC 5681: slow start, congestion avoidance, halving.
//!
//! Sources: RFC 5681 sections 3.1 and 3.2; RFC 3465 for counting acknowledged segments; ns-2 2.35
//! `tcp/tcp.cc` (`opencwnd`, `slowdown`) for [`Growth::PerAck`].
//!
//! Departures:
//! - Windows are in segments, RFC 5681's in bytes; bulk senders send full segments, so the two agree.
//! - [`Growth::PerSegment`] counts every acknowledged segment in slow start, as Linux does, where RFC 3465
//!   section 2.3 stops at two an acknowledgment (a guard against stretched acknowledgments, which do not
//!   occur here outside of loss recovery).

use bufferlab_parameters::{choice, parameters, words};
use bufferlab_units::Time;

use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, NO_THRESHOLD,
};

/// RFC 5681 section 3.1, equation (4): "ssthresh = max (`FlightSize` / 2, 2*SMSS)". ns-2 has the same floor.
const MIN_SSTHRESH: f64 = 2.0;

/// RFC 8511 section 3.1: what a mark leaves of the flight in congestion avoidance; in slow start it is half, as for a loss.
const BETA_ECN: f64 = 0.8;

/// RFC 5681 section 3.1: "the loss window, LW, which equals 1 full-sized segment". Also the restart after Tahoe's
/// loss.
const LOSS_WINDOW: f64 = 1.0;

words! {
    /// What a step of growth counts.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Growth {
    /// ns-2: one step for each acknowledgment, whatever it covers: +1 in slow start, +1/cwnd after (RFC 5681
    /// equation 3). At a loss the window becomes half of what is in use, and the threshold the whole part of it.
    PerAck = "per-ack",
    /// RFC 3465 and Linux: the acknowledged segments are counted; +1 each in slow start, +1 for every window of
    /// them after. At a loss the threshold is half of what is in flight (RFC 5681 equation 4).
    PerSegment = "per-segment",
    }
}

parameters! {
    /// Parameters of Reno.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct RenoConfig {
        /// What a step of window growth counts (RFC 5681 section 3.1: "The RECOMMENDED way to increase cwnd during
        /// congestion avoidance is to count the number of bytes that have been acknowledged").
        growth: Growth = Growth::PerSegment, choice::<Growth>();
    }
}

impl Algorithm for RenoConfig {
    type Control = Reno;
    const HAS_MILD_MARKS: bool = true;

    fn build(&self, context: Context) -> Reno {
        Reno::new(context.initial_window, context.initial_ssthresh, self.growth)
    }
}

/// RFC 5681's window.
#[derive(Clone, Debug)]
pub struct Reno {
    /// Congestion window, segments.
    cwnd: f64,
    /// Slow-start threshold, segments.
    ssthresh: f64,
    /// Acknowledged segments not yet turned into growth ([`Growth::PerSegment`]); less than `cwnd`.
    counted: f64,
    growth: Growth,
}

impl Reno {
    /// A new connection's window. No `ssthresh` means "arbitrarily high" (RFC 5681 section 3.1).
    pub fn new(initial_window: u32, ssthresh: Option<u32>, growth: Growth) -> Reno {
        Reno {
            cwnd: f64::from(initial_window.max(1)),
            ssthresh: ssthresh.map_or(NO_THRESHOLD, |segments| f64::from(segments).max(MIN_SSTHRESH)),
            counted: 0.0,
            growth,
        }
    }

    #[inline]
    fn grow_per_segment(&mut self, acked: u32) {
        let mut acked = f64::from(acked);
        if self.cwnd < self.ssthresh {
            let slow_start = acked.min(self.ssthresh - self.cwnd);
            self.cwnd += slow_start;
            acked -= slow_start;
        }
        self.counted += acked;
        if self.counted >= self.cwnd {
            self.counted -= self.cwnd;
            self.cwnd += 1.0;
        }
    }

    fn grow_per_ack(&mut self) {
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
    }

    /// Half of the window in use or in flight.
    fn half(&self, congestion: &Congestion) -> f64 {
        match self.growth {
            Growth::PerAck => self.cwnd.min(f64::from(congestion.receive_window)) / 2.0,
            Growth::PerSegment => f64::from(congestion.flight / 2),
        }
    }

    fn threshold(&self, congestion: &Congestion) -> f64 {
        self.half(congestion).floor().max(MIN_SSTHRESH)
    }
}

impl CongestionControl for Reno {
    #[inline(always)]
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        match self.growth {
            Growth::PerAck => self.grow_per_ack(),
            Growth::PerSegment => self.grow_per_segment(sample.acked),
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        self.counted = 0.0;
        match congestion.event {
            CongestionEvent::Mark { mild: true } if self.cwnd >= self.ssthresh => {
                self.ssthresh = (f64::from(congestion.flight) * BETA_ECN).floor().max(MIN_SSTHRESH);
                self.cwnd = self.ssthresh;
            }
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => {
                self.ssthresh = self.threshold(congestion);
                self.cwnd = match self.growth {
                    // ns-2 `TcpAgent::slowdown`: `ssthresh_ = (int) halfwin; cwnd_ = halfwin`
                    Growth::PerAck => self.half(congestion).max(LOSS_WINDOW),
                    Growth::PerSegment => self.ssthresh,
                };
            }
            CongestionEvent::SynTimeout => {
                // RFC 5681 section 3.1: "the initial window used by a sender after a correctly transmitted SYN
                // MUST be one segment"; ns-2 takes the lost SYN for a lost segment and halves the threshold too
                if self.growth == Growth::PerAck {
                    self.ssthresh = self.threshold(congestion);
                }
                self.cwnd = LOSS_WINDOW;
            }
            CongestionEvent::Timeout { repeated } => {
                // RFC 5681 section 3.1: "When a TCP sender detects segment loss using the retransmission timer
                // and the given segment has already been retransmitted […] at least once, the value of ssthresh
                // is held constant." ns-2 halves again, which matters little: the window is one segment by then.
                if !(repeated && self.growth == Growth::PerSegment) {
                    self.ssthresh = self.threshold(congestion);
                }
                self.cwnd = LOSS_WINDOW;
            }
        }
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            self.cwnd = f64::from(window).max(LOSS_WINDOW);
            self.ssthresh = self.ssthresh.max(f64::from(threshold));
            self.counted = 0.0;
        }
    }

    fn on_deflation(&mut self, segments: u32) {
        // ns-2 2.35 `tcp/tcp-newreno.cc`, `partialnewack`: "if (cwnd_ < 1) {cwnd_ = 1;}"
        self.cwnd = (self.cwnd - f64::from(segments)).max(LOSS_WINDOW);
    }

    #[inline]
    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acks(control: &mut Reno, count: u32) {
        for _ in 0..count {
            control.on_ack(Time::ZERO, &AckSample::of(1));
        }
    }

    fn loss(control: &mut Reno, flight: u32) {
        let congestion = Congestion { event: CongestionEvent::Loss, flight, receive_window: 1_000_000 };
        control.on_congestion(Time::ZERO, &congestion);
    }

    #[test]
    fn slow_start_doubles_the_window_each_round() {
        for growth in [Growth::PerAck, Growth::PerSegment] {
            let mut control = Reno::new(2, None, growth);
            acks(&mut control, 2);
            assert_eq!(control.cwnd(), 4.0);
            acks(&mut control, 4);
            assert_eq!(control.cwnd(), 8.0);
        }
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_then_one_segment_a_round_is_added() {
        let mut control = Reno::new(2, Some(10), Growth::PerSegment);
        acks(&mut control, 8);
        assert_eq!(control.cwnd(), 10.0);
        acks(&mut control, 9);
        assert_eq!(control.cwnd(), 10.0);
        acks(&mut control, 1);
        assert_eq!(control.cwnd(), 11.0);
    }

    #[test]
    fn a_round_of_acknowledgments_adds_about_one_segment_in_ns2() {
        let mut control = Reno::new(10, Some(2), Growth::PerAck);
        acks(&mut control, 10);
        assert!(control.cwnd() > 10.9 && control.cwnd() < 11.0, "{}", control.cwnd());
    }

    #[test]
    fn a_loss_halves_what_is_in_flight() {
        let mut control = Reno::new(101, Some(2), Growth::PerSegment);
        loss(&mut control, 91);
        assert_eq!((control.cwnd(), control.ssthresh()), (45.0, 45.0));
    }

    #[test]
    fn ns2_halves_the_window_and_drops_the_fraction_of_the_threshold() {
        let mut control = Reno::new(101, Some(2), Growth::PerAck);
        loss(&mut control, 91);
        assert_eq!((control.cwnd(), control.ssthresh()), (50.5, 50.0));
    }

    #[test]
    fn the_threshold_never_falls_below_two_segments() {
        let mut control = Reno::new(1, None, Growth::PerSegment);
        loss(&mut control, 1);
        assert_eq!(control.ssthresh(), 2.0);
    }

    #[test]
    fn a_lost_syn_leaves_one_segment() {
        for (growth, ssthresh) in [(Growth::PerSegment, NO_THRESHOLD), (Growth::PerAck, 5.0)] {
            let mut control = Reno::new(10, None, growth);
            let event = CongestionEvent::SynTimeout;
            control.on_congestion(Time::ZERO, &Congestion { event, flight: 0, receive_window: 1_000 });
            assert_eq!((control.cwnd(), control.ssthresh()), (1.0, ssthresh));
        }
    }

    #[test]
    fn a_repeated_timeout_holds_the_threshold() {
        let mut control = Reno::new(40, Some(2), Growth::PerSegment);
        for repeated in [false, true] {
            let event = CongestionEvent::Timeout { repeated };
            control.on_congestion(Time::ZERO, &Congestion { event, flight: 40, receive_window: 1_000 });
            assert_eq!((control.cwnd(), control.ssthresh()), (1.0, 20.0));
        }
    }

    /// ns-2 2.35 `partialnewack`: what is taken off stays off, down to a segment.
    #[test]
    fn a_partial_acknowledgment_deflates_the_window_to_a_segment_at_least() {
        let mut control = Reno::new(10, Some(2), Growth::PerAck);
        control.on_deflation(3);
        assert_eq!(control.cwnd(), 7.0);
        control.on_deflation(7);
        assert_eq!(control.cwnd(), 1.0);
    }

    /// RFC 8511 section 3.1: 0.8 of the flight in congestion avoidance; half of it in slow start, and for other marks.
    #[test]
    fn a_mild_mark_takes_a_fifth_in_congestion_avoidance() {
        for (ssthresh, mild, left) in
            [(20, true, 32.0), (40, true, 32.0), (41, true, 20.0), (20, false, 20.0)]
        {
            let mut control = Reno::new(40, Some(ssthresh), Growth::PerSegment);
            let event = CongestionEvent::Mark { mild };
            control.on_congestion(Time::ZERO, &Congestion { event, flight: 41, receive_window: 1_000 });
            assert_eq!((control.cwnd(), control.ssthresh()), (left, left), "{ssthresh} {mild}");
        }
    }

    /// RFC 3465: what slow start does not need counts towards the next segment; a reduction or an idle time starts the count over.
    #[test]
    fn a_stretched_acknowledgment_is_split_at_the_threshold() {
        let mut control = Reno::new(8, Some(10), Growth::PerSegment);
        control.on_ack(Time::ZERO, &AckSample::of(7));
        assert_eq!((control.cwnd(), control.counted), (10.0, 5.0));
        control.on_idle(Time::ZERO, &Idle { idle: bufferlab_units::Span::ZERO, restart: Some((10, 5)) });
        assert_eq!((control.ssthresh(), control.counted), (10.0, 0.0));
        acks(&mut control, 9);
        loss(&mut control, 20);
        assert_eq!((control.cwnd(), control.counted), (10.0, 0.0));
    }

    /// ns-2 2.35 `slowdown`: with what is left of the window, so that nothing of the threshold is.
    #[test]
    fn ns2_halves_again_at_a_repeated_timeout() {
        let mut control = Reno::new(40, Some(2), Growth::PerAck);
        for (repeated, ssthresh) in [(false, 20.0), (true, 2.0)] {
            let event = CongestionEvent::Timeout { repeated };
            control.on_congestion(Time::ZERO, &Congestion { event, flight: 40, receive_window: 1_000 });
            assert_eq!((control.cwnd(), control.ssthresh()), (1.0, ssthresh));
        }
    }

    /// `tcp_is_cwnd_limited`, for controls that do not say otherwise.
    #[test]
    fn an_acknowledgment_of_the_kernels_lets_a_window_grow_that_is_used() {
        for (grows, prior_inflight, cwnd) in [(true, 10, 11.0), (true, 9, 10.0), (false, 10, 10.0)] {
            let mut control = Reno::new(10, None, Growth::PerSegment);
            let ack =
                crate::KernelAck { sample: AckSample::of(1), prior_inflight, grows, ..Default::default() };
            control.on_kernel_ack(Time::ZERO, &ack);
            assert_eq!(control.cwnd(), cwnd);
        }
    }
}
