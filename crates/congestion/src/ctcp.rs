//! Compound TCP: Reno's window plus one that delay governs.
//!
//! Sources: K. Tan, J. Song, Q. Zhang, M. Sridharan, "A Compound TCP Approach for High-speed and Long
//! Distance Networks", INFOCOM 2006 (the laws); draft-sridharan-tcpm-ctcp (γ's tuning; the low window, as
//! quoted on the ICCRG list, 2008-11-14); the Caltech Linux port 1.3 and ns-3's `TcpCompound` (which constants
//! implementations used; read as behavior). The draft's text was not available: what it says is taken from
//! these two and the CCP's port.
//!
//! With win = cwnd + dwnd and diff = win·(1 − baseRTT/RTT), the segments that wait in queues, once a round:
//! dwnd grows by max(α·win^¾ − 1, 0) while diff < γ, else shrinks by ζ·diff. A loss leaves win·(1 − β) of the
//! sum.
//!
//! Departures:
//! - the window that counts for the low window is the sum, as in the Linux port (the draft says "cwnd");
//! - dwnd starts with 0 ([`CtcpParameters::initial_dwnd`]): no available source says;
//! - a timeout keeps baseRTT (the draft starts over from the smoothed time, which is the queue's, not the
//!   path's);
//! - win^¾ by two square roots, exactly rounded; Windows and Linux use integers and tables.

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Time};

use crate::sample::Rounds;
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, NO_THRESHOLD,
};

/// RFC 5681 equation 4: the floor of the threshold, segments.
const MIN_SSTHRESH: f64 = 2.0;
/// RFC 5681 section 3.1: the window after a timeout, segments.
const LOSS_WINDOW: f64 = 1.0;
/// A round is judged with more samples than this (Linux port: fewer "are almost certainly delayed ACKs").
const FEW_SAMPLES: u32 = 2;
/// γ's sample is this part of the segments that Reno's window would have waiting (draft: ¾).
const GAMMA_PART: f64 = 0.75;

/// What the sources leave to choose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CtcpParameters {
    /// Growth of dwnd: 1/8 (paper).
    pub alpha: f64,
    /// What a loss takes of the sum: 1/2 (paper).
    pub beta: f64,
    /// What dwnd loses for each waiting segment: 1 (paper: "ζ"; Linux port: `ETA`).
    pub zeta: f64,
    /// Waiting segments that end growth, at first: 30 (paper).
    pub gamma: f64,
    /// Bounds of γ under tuning: 5 to 30 (draft; Linux port `GAMMA_LOW`, `GAMMA_HIGH`).
    pub gamma_bounds: (f64, f64),
    /// Weight of a new sample in γ: 0.8 (ns-3's port; the Linux port has ¼, the CCP's 0.2). Nothing: γ stays.
    pub lambda: Option<f64>,
    /// Below this window, segments, there is no dwnd: 38 (draft; Linux port `LOW_WINDOW`).
    pub low_window: f64,
    /// dwnd at the end of slow start, segments: 0.
    pub initial_dwnd: f64,
}

impl Default for CtcpParameters {
    fn default() -> CtcpParameters {
        CtcpParameters {
            alpha: 0.125,
            beta: 0.5,
            zeta: 1.0,
            gamma: 30.0,
            gamma_bounds: (5.0, 30.0),
            lambda: Some(0.8),
            low_window: 38.0,
            initial_dwnd: 0.0,
        }
    }
}

parameters! {
    /// Parameters of Compound TCP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CtcpConfig {}
}

impl Algorithm for CtcpConfig {
    type Control = Ctcp;

    fn build(&self, context: Context) -> Ctcp {
        Ctcp::new(context.initial_window, context.initial_ssthresh, CtcpParameters::default())
    }
}

/// Compound TCP's windows.
#[derive(Clone, Debug)]
pub struct Ctcp {
    parameters: CtcpParameters,
    /// Reno's window, segments (`cwnd` of the paper).
    loss_window: f64,
    /// The delay-governed window, segments (`dwnd`).
    dwnd: f64,
    /// Slow-start threshold, segments.
    ssthresh: f64,
    /// Waiting segments that end growth (γ).
    gamma: f64,
    /// Shortest round-trip time seen (`baseRTT`).
    base_rtt: Option<Span>,
    /// Shortest round-trip time of this round.
    round_rtt: Option<Span>,
    /// Round-trip times measured in this round.
    samples: u32,
    /// Segments that Reno's window had waiting in the last round (`diff_reno`), until a loss has used it.
    waiting_reno: Option<f64>,
    rounds: Rounds,
}

impl Ctcp {
    /// A new connection's windows.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, parameters: CtcpParameters) -> Ctcp {
        Ctcp {
            parameters,
            loss_window: f64::from(initial_window.max(1)),
            dwnd: 0.0,
            ssthresh: ssthresh.map_or(NO_THRESHOLD, |segments| f64::from(segments).max(MIN_SSTHRESH)),
            gamma: parameters.gamma,
            base_rtt: None,
            round_rtt: None,
            samples: 0,
            waiting_reno: None,
            rounds: Rounds::default(),
        }
    }

    fn window(&self) -> f64 {
        self.loss_window + self.dwnd
    }

    fn measure(&mut self, sample: &AckSample) {
        // a time of zero would make every queue infinite
        if let Some(rtt) = sample.rtt.filter(|&rtt| rtt > Span::ZERO) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |least| least.min(rtt)));
            self.round_rtt = Some(self.round_rtt.map_or(rtt, |least| least.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Reno, with the sum for the window; the sum may reach the threshold in the middle of an
    /// acknowledgment.
    fn grow_loss_window(&mut self, acked: u32) {
        let mut acked = f64::from(acked);
        if self.window() < self.ssthresh {
            let grown = acked.min(self.ssthresh - self.window());
            self.loss_window += grown;
            acked -= grown;
            if self.window() >= self.ssthresh {
                self.dwnd = self.dwnd.max(self.parameters.initial_dwnd);
            }
        }
        self.loss_window += acked / self.window();
    }

    /// Once a round: the delay-governed window.
    fn end_round(&mut self) {
        let samples = std::mem::take(&mut self.samples);
        let (Some(base), Some(rtt)) = (self.base_rtt, self.round_rtt.take()) else {
            return;
        };
        if self.window() < self.ssthresh || samples <= FEW_SAMPLES {
            return;
        }
        let window = self.window();
        if window < self.parameters.low_window {
            self.dwnd = 0.0;
            return;
        }
        let queued = 1.0 - base.as_s() / rtt.as_s();
        self.waiting_reno = Some(self.loss_window * queued);
        let waiting = window * queued;
        self.dwnd = if waiting < self.gamma {
            self.dwnd + increase(window, self.parameters.alpha)
        } else {
            (self.dwnd - self.parameters.zeta * waiting).max(0.0)
        };
    }

    fn tune_gamma(&mut self) {
        if let (Some(lambda), Some(waiting)) = (self.parameters.lambda, self.waiting_reno.take()) {
            let (low, high) = self.parameters.gamma_bounds;
            self.gamma = (self.gamma * (1.0 - lambda) + lambda * GAMMA_PART * waiting).max(low).min(high);
        }
    }
}

/// Segments that dwnd gains in a round: max(α·win^¾ − 1, 0), the one being what Reno's window gains.
fn increase(window: f64, alpha: f64) -> f64 {
    let root = window.sqrt();
    (alpha * root * root.sqrt() - 1.0).max(0.0)
}

impl CongestionControl for Ctcp {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        self.measure(sample);
        self.grow_loss_window(sample.acked);
        if self.rounds.ended(sample) {
            self.end_round();
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        let left = self.window() * (1.0 - self.parameters.beta);
        match congestion.event {
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => {
                self.tune_gamma();
                self.loss_window = (self.loss_window / 2.0).max(LOSS_WINDOW);
                self.dwnd = (left - self.loss_window).max(0.0);
                self.ssthresh = left.max(MIN_SSTHRESH);
            }
            CongestionEvent::Timeout { repeated } => {
                if !repeated {
                    self.ssthresh = left.max(MIN_SSTHRESH);
                }
                (self.loss_window, self.dwnd, self.waiting_reno) = (LOSS_WINDOW, 0.0, None);
                self.gamma = self.parameters.gamma;
            }
            CongestionEvent::SynTimeout => self.loss_window = LOSS_WINDOW,
        }
        (self.round_rtt, self.samples) = (None, 0);
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            (self.loss_window, self.dwnd) = (f64::from(window).max(LOSS_WINDOW), 0.0);
            self.ssthresh = self.ssthresh.max(f64::from(threshold));
        }
    }

    fn cwnd(&self) -> f64 {
        self.window()
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Span = Span::from_ms(100);

    fn loss(event: CongestionEvent) -> Congestion {
        Congestion { event, flight: 1, receive_window: 1_000_000 }
    }

    /// A round at `rtt` after one at 100 ms, seen by a control with this window, as ns-3's fork tests it.
    fn after_a_round(window: u32, ssthresh: u32, rtt_ms: u64, low_window: f64) -> Ctcp {
        let parameters = CtcpParameters { low_window, ..CtcpParameters::default() };
        let mut control = Ctcp::new(window, Some(ssthresh), parameters);
        control.base_rtt = Some(BASE);
        control.rounds.restart(&AckSample { sent_to: 3, ..AckSample::default() });
        let rtt = Some(Span::from_ms(rtt_ms));
        for una in 1..=3 {
            control.on_ack(Time::ZERO, &AckSample { rtt, una, sent_to: 99, ..AckSample::default() });
        }
        control
    }

    #[test]
    fn the_five_cases_of_ns3() {
        // (window, threshold, RTT ms, dwnd after the round): windows and times of ns-3's tcp-compound-test,
        // the outcome by the paper's law in segments
        let table = [
            (38, 40, 106, 0.0),                             // slow start
            (5, 10, 118, 0.0),                              // slow start
            (60, 40, 206, 0.0),                             // 30.9 wait: nothing to take back
            (15, 10, 106, 0.0),                             // 15^¾ / 8 < 1
            (20, 10, 109, 20.0_f64.powf(0.75) / 8.0 - 1.0), // grows
        ];
        for (window, ssthresh, rtt_ms, dwnd) in table {
            let control = after_a_round(window, ssthresh, rtt_ms, 0.0);
            assert!((control.dwnd - dwnd).abs() < 1e-12, "{window} {rtt_ms}: {}", control.dwnd);
        }
    }

    #[test]
    fn below_the_low_window_there_is_only_reno() {
        assert_eq!(after_a_round(37, 2, 100, 38.0).dwnd, 0.0);
        assert!(after_a_round(38, 2, 100, 38.0).dwnd > 0.9);
    }

    #[test]
    fn waiting_segments_shrink_the_delay_window() {
        let mut control = after_a_round(1_000, 2, 100, 38.0);
        control.dwnd = 500.0;
        control.round_rtt = Some(Span::from_ms(103));
        control.samples = 3;
        let waiting = control.window() * 3.0 / 103.0;
        control.end_round();
        assert!(waiting > 30.0 && (control.dwnd - (500.0 - waiting)).abs() < 1e-9, "{}", control.dwnd);
    }

    #[test]
    fn a_loss_leaves_half_of_the_sum() {
        let mut control = Ctcp::new(100, Some(2), CtcpParameters::default());
        control.dwnd = 60.0;
        control.on_congestion(Time::ZERO, &loss(CongestionEvent::Loss));
        assert_eq!((control.loss_window, control.dwnd, control.cwnd()), (50.0, 30.0, 80.0));
    }

    #[test]
    fn gamma_follows_what_reno_has_waiting() {
        let mut control = Ctcp::new(100, Some(2), CtcpParameters::default());
        for (waiting, gamma) in [(20.0, 0.2 * 30.0 + 0.8 * 15.0), (100.0, 30.0), (0.0, 6.0), (0.0, 5.0)] {
            control.waiting_reno = Some(waiting);
            control.tune_gamma();
            assert!((control.gamma - gamma).abs() < 1e-12, "{} {gamma}", control.gamma);
        }
        control.tune_gamma();
        assert_eq!(control.gamma, 5.0);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_gamma_as_it_was() {
        let mut control = Ctcp::new(100, Some(2), CtcpParameters::default());
        (control.dwnd, control.gamma) = (60.0, 7.0);
        control.on_congestion(Time::ZERO, &loss(CongestionEvent::Timeout { repeated: false }));
        assert_eq!((control.cwnd(), control.dwnd, control.gamma, control.ssthresh()), (1.0, 0.0, 30.0, 80.0));
    }

    /// "while diff < γ": with as many waiting as γ the delay window shrinks by them.
    #[test]
    fn as_many_waiting_as_gamma_are_too_many() {
        for (window, dwnd) in [(60.0, 10.0), (59.0, 40.0 + 59.0_f64.powf(0.75) / 8.0 - 1.0)] {
            let mut control = Ctcp::new(1, Some(2), CtcpParameters::default());
            (control.loss_window, control.dwnd, control.samples) = (window - 40.0, 40.0, 3);
            (control.base_rtt, control.round_rtt) = (Some(BASE), Some(Span::from_ms(200)));
            control.end_round();
            assert!((control.dwnd - dwnd).abs() < 1e-9, "{window}: {}", control.dwnd);
            assert_eq!(control.waiting_reno, Some((window - 40.0) / 2.0));
        }
    }

    /// Delay governs in congestion avoidance only, which begins at the threshold, and of rounds with more than two samples.
    #[test]
    fn the_delay_window_waits_for_the_end_of_slow_start_and_for_three_samples() {
        assert_eq!(after_a_round(50, 51, 100, 38.0).dwnd, 0.0);
        assert!(after_a_round(50, 50, 100, 38.0).dwnd > 1.0);
        let mut control = after_a_round(50, 2, 100, 38.0);
        control.dwnd = 0.0;
        (control.samples, control.round_rtt) = (2, Some(BASE));
        control.end_round();
        assert_eq!((control.dwnd, control.samples, control.round_rtt), (0.0, 0, None));
    }

    /// Reno's part: a segment for each in slow start, which ends in the middle of an acknowledgment; then one a window.
    #[test]
    fn renos_window_grows_by_the_sum() {
        let parameters = CtcpParameters { initial_dwnd: 5.0, ..CtcpParameters::default() };
        let mut control = Ctcp::new(8, Some(10), parameters);
        control.on_ack(Time::ZERO, &AckSample::of(1));
        assert_eq!((control.loss_window, control.dwnd), (9.0, 0.0));
        // the threshold; and the delay window begins, so that three are left of a window of 15
        control.on_ack(Time::ZERO, &AckSample::of(4));
        assert_eq!((control.loss_window, control.dwnd), (10.0 + 3.0 / 15.0, 5.0));
    }

    #[test]
    fn a_loss_is_no_end_of_slow_start() {
        let parameters = CtcpParameters { initial_dwnd: 50.0, ..CtcpParameters::default() };
        let mut control = Ctcp::new(100, Some(2), parameters);
        control.on_congestion(Time::ZERO, &loss(CongestionEvent::Loss));
        control.on_ack(Time::ZERO, &AckSample::of(1));
        assert_eq!((control.dwnd, control.ssthresh()), (0.0, 50.0));
    }
}
