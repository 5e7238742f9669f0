//! DCTCP: the window shrinks by the part of it that was marked.
//!
//! Sources: RFC 8257, sections 3.3 (the estimate, the reduction), 3.4 (growth) and 3.5 (losses); Linux
//! `net/ipv4/tcp_dctcp.c` for g, for the first estimate and for the round after a reduction (its CWR state).
//!
//! Departures:
//! - marked segments are counted, RFC 8257 counts bytes;
//! - the window does not grow in the round after a reduction (Linux's CWR state; RFC 8257 leaves growth to
//!   RFC 5681);
//! - a round ends with the acknowledgment of its last segment, RFC 8257's with the next.

use bufferlab_parameters::{fraction, parameters};
use bufferlab_units::Time;

use crate::sample::Rounds;
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, NO_THRESHOLD,
};

/// First estimate: as if all were marked (RFC 8257 section 3.3; Linux `dctcp_alpha_on_init`).
const FIRST_ALPHA: f64 = 1.0;
/// RFC 5681 equation 4: the floor of the threshold, segments.
const MIN_SSTHRESH: f64 = 2.0;
/// RFC 5681 section 3.1: the window after a timeout, segments.
const LOSS_WINDOW: f64 = 1.0;

parameters! {
    /// Parameters of DCTCP.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DctcpConfig {
        /// Weight of a round in the estimated part of marked segments: g = 1/16 (RFC 8257 section 4.2; Linux's
        /// `dctcp_shift_g`).
        gain: f64 = 1.0 / 16.0, fraction("a weight", 1.0);
    }
}

impl Algorithm for DctcpConfig {
    type Control = Dctcp;
    const USES_ECN: bool = true;

    fn build(&self, context: Context) -> Dctcp {
        Dctcp::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// DCTCP's window.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// Congestion window, segments.
    cwnd: f64,
    /// Slow-start threshold, segments.
    ssthresh: f64,
    /// Weight of a round in the estimate (g).
    gain: f64,
    /// Estimated part of the segments that are marked (`DCTCP.Alpha`).
    alpha: f64,
    /// Segments acknowledged in this round (`DCTCP.BytesAcked`).
    acked: u64,
    /// Of those, marked (`DCTCP.BytesMarked`).
    marked: u64,
    /// The round of the estimate (`DCTCP.WindowEnd`).
    rounds: Rounds,
    /// One more than the last segment sent when the window was last reduced (`DCTCP.CWR` until it is
    /// acknowledged).
    reduced_to: Option<u32>,
}

impl Dctcp {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: DctcpConfig) -> Dctcp {
        Dctcp {
            cwnd: f64::from(initial_window.max(1)),
            ssthresh: ssthresh.map_or(NO_THRESHOLD, |segments| f64::from(segments).max(MIN_SSTHRESH)),
            gain: config.gain.clamp(0.0, 1.0),
            alpha: FIRST_ALPHA,
            acked: 0,
            marked: 0,
            rounds: Rounds::default(),
            reduced_to: None,
        }
    }

    /// The estimated part of the segments that are marked.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Section 3.3, steps 1 to 8.
    fn estimate(&mut self, sample: &AckSample) {
        self.acked += u64::from(sample.acked);
        self.marked += u64::from(sample.marked.min(sample.acked));
        if self.rounds.ended(sample) && self.acked > 0 {
            let part = self.marked as f64 / self.acked as f64;
            self.alpha = self.alpha * (1.0 - self.gain) + self.gain * part;
            (self.acked, self.marked) = (0, 0);
        }
    }

    /// Step 9: `cwnd = cwnd * (1 - DCTCP.Alpha / 2)`, once a round.
    fn reduce(&mut self, sample: &AckSample) {
        self.cwnd = (self.cwnd * (1.0 - self.alpha / 2.0)).max(MIN_SSTHRESH);
        self.ssthresh = self.cwnd;
        self.reduced_to = Some(sample.sent_to);
    }

    fn grow(&mut self, acked: u32) {
        let mut acked = f64::from(acked);
        if self.cwnd < self.ssthresh {
            let grown = acked.min(self.ssthresh - self.cwnd);
            self.cwnd += grown;
            acked -= grown;
        }
        self.cwnd += acked / self.cwnd;
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        self.estimate(sample);
        // strictly beyond: the last segment sent before the reduction is marked like those before it
        if self.reduced_to.is_some_and(|end| sample.una > end) {
            self.reduced_to = None;
        }
        if self.reduced_to.is_some() {
            return;
        }
        if sample.marked > 0 {
            self.reduce(sample);
        } else {
            self.grow(sample.acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        // section 3.5: "A DCTCP sender MUST react to loss episodes in the same way as conventional TCP"
        let half = f64::from(congestion.flight / 2).max(MIN_SSTHRESH);
        match congestion.event {
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => (self.cwnd, self.ssthresh) = (half, half),
            CongestionEvent::Timeout { repeated } => {
                if !repeated {
                    self.ssthresh = half;
                }
                self.cwnd = LOSS_WINDOW;
            }
            CongestionEvent::SynTimeout => self.cwnd = LOSS_WINDOW,
        }
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            self.cwnd = f64::from(window).max(LOSS_WINDOW);
            self.ssthresh = self.ssthresh.max(f64::from(threshold));
        }
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of one acknowledgment for ten segments.
    fn round(control: &mut Dctcp, number: u32, marked: u32) {
        let una = 10 * number;
        let sample = AckSample { acked: 10, marked, una, sent_to: una + 10, ..AckSample::default() };
        control.on_ack(Time::ZERO, &sample);
    }

    #[test]
    fn the_estimate_moves_by_a_sixteenth_of_the_difference() {
        let mut control = Dctcp::new(10, Some(2), DctcpConfig::default());
        let mut expected = 1.0;
        for (number, marked) in [(1, 0), (2, 5), (3, 10), (4, 1)] {
            round(&mut control, number, marked);
            expected = expected * 15.0 / 16.0 + f64::from(marked) / 10.0 / 16.0;
            assert!((control.alpha() - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn the_window_shrinks_by_half_of_the_estimate_once_a_round() {
        let mut control = Dctcp::new(100, Some(2), DctcpConfig::default());
        control.alpha = 0.2;
        control.rounds.restart(&AckSample { sent_to: 200, ..AckSample::default() });
        let ack = |una, marked| AckSample { acked: 1, marked, una, sent_to: 200, ..AckSample::default() };
        control.on_ack(Time::ZERO, &ack(101, 1));
        assert!((control.cwnd() - 90.0).abs() < 1e-9);
        control.on_ack(Time::ZERO, &ack(102, 1));
        control.on_ack(Time::ZERO, &ack(103, 0));
        assert!((control.cwnd() - 90.0).abs() < 1e-9);
        control.on_ack(Time::ZERO, &ack(200, 1));
        assert!((control.cwnd() - 90.0).abs() < 1e-9);
        control.on_ack(Time::ZERO, &ack(201, 0));
        assert!(control.cwnd() > 90.0);
    }

    #[test]
    fn no_marks_is_reno() {
        let mut control = Dctcp::new(10, Some(2), DctcpConfig::default());
        round(&mut control, 1, 0);
        assert!((control.cwnd() - 11.0).abs() < 1e-9);
    }

    #[test]
    fn a_loss_halves_whatever_the_estimate() {
        let mut control = Dctcp::new(100, Some(2), DctcpConfig::default());
        control.alpha = 0.0;
        let congestion = Congestion { event: CongestionEvent::Loss, flight: 91, receive_window: 1_000 };
        control.on_congestion(Time::ZERO, &congestion);
        assert_eq!((control.cwnd(), control.ssthresh()), (45.0, 45.0));
    }
}
