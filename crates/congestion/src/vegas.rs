//! Vegas: a window that keeps two to four segments waiting.
//!
//! Sources: L. Brakmo, L. Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE
//! JSAC 13(8), 1995; Linux 5.10 `net/ipv4/tcp_vegas.c` for constants and integer steps, read as behavior.
//!
//! As Linux does, and unlike the paper: loss detection is the stack's; slow start doubles each round, not
//! each other one; the rate is what acknowledgments show; the window that leaves slow start is the rate's.
//!
//! Departures: those of the window (`linux_window`); the recovery's end comes as `on_recovery_exit`, so until
//! then (and in the transport's repair after a timeout) growth is Reno's.

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Time};

use crate::linux_window::{LinuxWindow, half};
use crate::sample::Rounds;
use crate::{AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle};

/// Fewer waiting segments than this: one more (`alpha`).
const ALPHA: u64 = 2;
/// More waiting segments than this: one fewer (`beta`).
const BETA: u64 = 4;
/// More waiting segments than this end slow start (`gamma`).
const GAMMA: u64 = 1;
/// A round is judged with more samples than this: with fewer, all may come from delayed acknowledgments.
const FEW_SAMPLES: u32 = 2;
/// Least window, segments.
const MIN_WINDOW: u32 = 2;

parameters! {
    /// Parameters of Vegas.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct VegasConfig {}
}

impl Algorithm for VegasConfig {
    type Control = Vegas;

    fn build(&self, context: Context) -> Vegas {
        Vegas::new(context.initial_window, context.initial_ssthresh)
    }
}

/// Vegas's window.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: LinuxWindow,
    /// Shortest round-trip time seen, µs and one (`baseRTT`).
    base_us: Option<u64>,
    /// Shortest round-trip time of this round, µs and one (`minRTT`).
    round_us: Option<u64>,
    /// Round-trip times measured in this round (`cntRTT`).
    samples: u32,
    rounds: Rounds,
    /// Delay governs: no loss is being repaired (`doing_vegas_now`).
    enabled: bool,
    /// Recovery is over; the next acknowledgment begins a round.
    restart: bool,
}

impl Vegas {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>) -> Vegas {
        Vegas {
            window: LinuxWindow::new(initial_window, ssthresh),
            base_us: None,
            round_us: None,
            samples: 0,
            rounds: Rounds::default(),
            enabled: true,
            restart: true,
        }
    }

    fn measure(&mut self, sample: &AckSample) {
        if let Some(rtt) = sample.rtt {
            // Linux: "Never allow zero rtt or baseRTT"
            let us = rtt.as_ps() / Span::from_us(1).as_ps() + 1;
            self.base_us = Some(self.base_us.map_or(us, |least| least.min(us)));
            self.round_us = Some(self.round_us.map_or(us, |least| least.min(us)));
            self.samples = self.samples.saturating_add(1);
        }
    }

    fn clear_round(&mut self) {
        (self.round_us, self.samples) = (None, 0);
    }

    /// Once a round, with enough samples.
    fn judge(&mut self, base_us: u64, round_us: u64, acked: u32) {
        let window = &mut self.window;
        let cwnd = u64::from(window.cwnd);
        let target = u128::from(cwnd) * u128::from(base_us) / u128::from(round_us);
        let waiting = (u128::from(cwnd) * u128::from(round_us - base_us) / u128::from(base_us)) as u64;
        if window.in_slow_start() {
            if waiting > GAMMA {
                // "add 1 because the integer truncation robs us of full link utilization"
                window.cwnd = window.cwnd.min(target as u32 + 1);
                lower_threshold(window);
            } else {
                window.slow_start(acked);
            }
        } else if waiting > BETA {
            window.cwnd -= 1;
            lower_threshold(window);
        } else if waiting < ALPHA {
            window.cwnd = window.cwnd.saturating_add(1);
        }
        window.cwnd = window.cwnd.max(MIN_WINDOW);
        // `tcp_current_ssthresh`: never below three quarters of the window
        window.ssthresh =
            window.ssthresh.map(|ssthresh| ssthresh.max((window.cwnd >> 1) + (window.cwnd >> 2)));
    }
}

fn lower_threshold(window: &mut LinuxWindow) {
    window.ssthresh = Some(window.ssthresh.map_or(window.cwnd, |ssthresh| ssthresh.min(window.cwnd)));
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, _now: Time, sample: &AckSample) {
        if std::mem::take(&mut self.restart) {
            self.rounds.restart(sample);
            self.clear_round();
        }
        self.measure(sample);
        if !self.enabled {
            self.window.reno(sample.acked);
            return;
        }
        if self.rounds.ended(sample) {
            match (self.base_us, self.round_us) {
                (Some(base_us), Some(round_us)) if self.samples > FEW_SAMPLES => {
                    self.judge(base_us, round_us, sample.acked);
                }
                _ => self.window.reno(sample.acked),
            }
            self.clear_round();
        } else if self.window.in_slow_start() {
            self.window.slow_start(sample.acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        self.window.on_congestion(congestion, half);
        self.enabled = congestion.event == CongestionEvent::SynTimeout;
    }

    fn on_recovery_exit(&mut self, _now: Time) {
        (self.enabled, self.restart) = (true, true);
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        self.window.on_idle(idle);
        // `tcp_vegas_cwnd_event`, CA_EVENT_CWND_RESTART and CA_EVENT_TX_START: all is measured anew
        (self.base_us, self.enabled, self.restart) = (None, true, true);
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: Congestion = Congestion { event: CongestionEvent::Loss, flight: 1, receive_window: 1_000 };

    fn judged(cwnd: u32, ssthresh: Option<u32>, waiting: u64) -> Vegas {
        let mut control = Vegas::new(cwnd, ssthresh);
        // base 100 ms: `waiting` of the window's segments queue
        control.judge(100_000, 100_000 + 100_000 * waiting / u64::from(cwnd), 1);
        control
    }

    #[test]
    fn the_window_keeps_two_to_four_segments_waiting() {
        for (waiting, cwnd) in [(0, 51), (1, 51), (2, 50), (4, 50), (5, 49), (20, 49)] {
            assert_eq!(judged(50, Some(10), waiting).cwnd(), f64::from(cwnd), "{waiting}");
        }
    }

    #[test]
    fn slow_start_ends_with_the_window_that_the_rate_fills() {
        let control = judged(50, None, 10);
        // 50·100/120 is 41
        assert_eq!((control.cwnd(), control.ssthresh()), (42.0, 42.0));
        assert_eq!(judged(50, None, 1).cwnd(), 51.0);
    }

    #[test]
    fn two_samples_a_round_are_too_few() {
        for (count, cwnd) in [(2, 50.0), (3, 51.0)] {
            let mut control = Vegas::new(50, Some(10));
            let rtt = Some(Span::from_ms(100));
            control.restart = false;
            control.rounds.restart(&AckSample { sent_to: count, ..AckSample::default() });
            for una in 1..=count {
                control.on_ack(
                    Time::ZERO,
                    &AckSample { acked: 1, rtt, una, sent_to: 99, ..AckSample::default() },
                );
            }
            assert_eq!(control.cwnd(), cwnd);
        }
    }

    #[test]
    fn delay_does_not_govern_while_a_loss_is_repaired() {
        let mut control = Vegas::new(50, Some(10));
        control.on_congestion(Time::ZERO, &LOSS);
        assert_eq!(control.cwnd(), 25.0);
        for una in 1..=25 {
            control.on_ack(Time::ZERO, &AckSample { acked: 1, una, ..AckSample::default() });
        }
        assert_eq!(control.cwnd(), 26.0);
        control.on_recovery_exit(Time::ZERO);
        assert!(control.enabled && control.restart);
    }

    /// `tcp_current_ssthresh`: never below three quarters of the window.
    #[test]
    fn the_threshold_follows_the_window() {
        for (ssthresh, after) in [(10, 31.0), (31, 31.0), (35, 35.0)] {
            assert_eq!(judged(42, Some(ssthresh), 3).ssthresh(), after);
        }
    }

    /// `tcp_vegas_state`: Vegas rests from a loss on until it is repaired. A lost SYN is none.
    #[test]
    fn only_what_has_to_be_repaired_stops_vegas() {
        for (event, enabled) in [
            (CongestionEvent::Loss, false),
            (CongestionEvent::Timeout { repeated: false }, false),
            (CongestionEvent::SynTimeout, true),
        ] {
            let mut control = Vegas::new(50, Some(10));
            control.on_congestion(Time::ZERO, &Congestion { event, ..LOSS });
            assert_eq!(control.enabled, enabled);
        }
    }
}
