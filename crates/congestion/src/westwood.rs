//! Westwood+: Reno, but a loss leaves the window that the measured rate needs.
//!
//! Sources: L. Grieco, S. Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas
//! TCP congestion control", ACM CCR 34(2), 2004; Linux 5.10 `net/ipv4/tcp_westwood.c` for constants and for
//! when what is measured, read as behavior.
//!
//! Departures: those of the window (`linux_window`); the rate is in segments a second with a fraction,
//! Linux's in whole bytes a jiffy; the transport's count of newly acknowledged segments replaces the guess
//! from duplicates; an acknowledgment's own round-trip time counts for the shortest, in Linux the one's before.

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Time};

use crate::linux_window::{LinuxWindow, MIN_SSTHRESH, half};
use crate::{AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle};

/// A rate is measured over a round-trip time, and over this at least (`TCP_WESTWOOD_RTT_MIN`).
const MIN_INTERVAL: Span = Span::from_ms(50);
/// Weight of the old value in both filters (`westwood_do_filter`).
const KEPT: f64 = 7.0 / 8.0;

parameters! {
    /// Parameters of Westwood+.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct WestwoodConfig {}
}

impl Algorithm for WestwoodConfig {
    type Control = Westwood;

    fn build(&self, context: Context) -> Westwood {
        Westwood::new(context.initial_window, context.initial_ssthresh)
    }
}

/// Westwood+'s window.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: LinuxWindow,
    /// Segments acknowledged in this interval (`bk`).
    acked: u64,
    /// When this interval began (`rtt_win_sx`).
    begun: Option<Time>,
    /// The rate after the first filter and after the second, segments a second (`bw_ns_est`, `bw_est`).
    rates: Option<(f64, f64)>,
    /// The last round-trip time (`rtt`).
    rtt: Option<Span>,
    /// The shortest, from the start or the last timeout (`rtt_min`).
    rtt_min: Option<Span>,
    /// The next acknowledgment starts `rtt_min` anew (`reset_rtt_min`).
    min_is_old: bool,
    /// A loss is being repaired.
    repairing: bool,
}

impl Westwood {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>) -> Westwood {
        Westwood {
            window: LinuxWindow::new(initial_window, ssthresh),
            acked: 0,
            begun: None,
            rates: None,
            rtt: None,
            rtt_min: None,
            min_is_old: false,
            repairing: false,
        }
    }

    fn measure(&mut self, now: Time, sample: &AckSample) {
        let begun = *self.begun.get_or_insert(now);
        if let Some(rtt) = self.rtt {
            let interval = now.saturating_since(begun);
            if interval > rtt.max(MIN_INTERVAL) {
                self.filter(self.acked as f64 / interval.as_s());
                (self.acked, self.begun) = (0, Some(now));
            }
        }
        self.acked += u64::from(sample.acked);
        if let Some(rtt) = sample.rtt {
            self.rtt = Some(rtt);
            let least = self.rtt_min.filter(|_| !self.min_is_old);
            (self.rtt_min, self.min_is_old) = (Some(least.map_or(rtt, |least| least.min(rtt))), false);
        }
    }

    fn filter(&mut self, rate: f64) {
        self.rates = Some(match self.rates {
            // "If the filter is empty fill it with the first sample of bandwidth"
            None => (rate, rate),
            Some((first, second)) => {
                let first = KEPT * first + (1.0 - KEPT) * rate;
                (first, KEPT * second + (1.0 - KEPT) * first)
            }
        });
    }

    /// The window that the rate needs on the empty path, segments.
    fn needed(&self) -> u32 {
        let rate = self.rates.map_or(0.0, |(_, second)| second);
        ((rate * self.rtt_min.unwrap_or_default().as_s()) as u32).max(MIN_SSTHRESH)
    }
}

impl CongestionControl for Westwood {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        self.measure(now, sample);
        if !self.repairing {
            self.window.reno(sample.acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        // until recovery ends the window is Reno's
        self.window.on_congestion(congestion, half);
        match congestion.event {
            // Linux: the end of its CWR state sets the window as that of a recovery does
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => self.repairing = true,
            CongestionEvent::Timeout { repeated } => {
                // `tcp_enter_loss` reports a series of timeouts once
                if !repeated {
                    // "Update RTT_min when next ack arrives"
                    (self.window.ssthresh, self.min_is_old) = (Some(self.needed()), true);
                }
                self.repairing = false;
            }
            CongestionEvent::SynTimeout => {}
        }
    }

    fn on_recovery_exit(&mut self, _now: Time) {
        if self.repairing {
            let needed = self.needed();
            (self.window.cwnd, self.window.ssthresh, self.repairing) = (needed, Some(needed), false);
        }
    }

    fn grows_in_recovery(&self) -> bool {
        // to go on measuring; the window waits for the end
        true
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        self.window.on_idle(idle);
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

    /// A segment a millisecond for so long, at 100 ms.
    fn fed(control: &mut Westwood, ms: u64) {
        for k in 0..ms {
            let sample = AckSample { acked: 1, rtt: Some(Span::from_ms(100)), ..AckSample::default() };
            control.on_ack(Time::ZERO + Span::from_ms(k), &sample);
        }
    }

    #[test]
    fn a_loss_leaves_the_rate_times_the_shortest_round_trip_time() {
        let mut control = Westwood::new(300, Some(2));
        fed(&mut control, 3_000);
        control.rtt_min = Some(Span::from_ms(80));
        control.on_congestion(Time::ZERO, &LOSS);
        assert_eq!(control.cwnd(), f64::from((control.cwnd() as u32).min(160)));
        control.on_recovery_exit(Time::ZERO);
        assert_eq!((control.cwnd(), control.ssthresh()), (80.0, 80.0));
    }

    #[test]
    fn the_filters_are_filled_by_the_first_sample_and_then_keep_seven_eighths() {
        let mut control = Westwood::new(10, None);
        control.filter(1_000.0);
        assert_eq!(control.rates, Some((1_000.0, 1_000.0)));
        control.filter(200.0);
        assert_eq!(control.rates, Some((900.0, 987.5)));
    }

    #[test]
    fn short_paths_are_measured_over_fifty_ms() {
        let mut control = Westwood::new(10, None);
        let sample = AckSample { acked: 1, rtt: Some(Span::from_ms(1)), ..AckSample::default() };
        control.on_ack(Time::ZERO, &sample);
        control.on_ack(Time::ZERO + Span::from_ms(50), &sample);
        assert_eq!(control.rates, None);
        control.on_ack(Time::ZERO + Span::from_ms(51), &sample);
        assert!(control.rates.is_some());
    }

    #[test]
    fn the_window_rests_while_a_loss_is_repaired() {
        let mut control = Westwood::new(40, Some(2));
        control.on_congestion(Time::ZERO, &LOSS);
        fed(&mut control, 500);
        assert_eq!(control.cwnd(), 20.0);
    }

    #[test]
    fn timeouts_start_slowly_up_to_the_rate_at_the_first() {
        let mut control = Westwood::new(300, Some(2));
        fed(&mut control, 3_000);
        control.rtt_min = Some(Span::from_ms(80));
        for repeated in [false, true] {
            let event = CongestionEvent::Timeout { repeated };
            control.on_congestion(Time::ZERO, &Congestion { event, ..LOSS });
            assert_eq!((control.cwnd(), control.ssthresh()), (1.0, 80.0), "{repeated}");
        }
        fed(&mut control, 1);
        assert_eq!(control.rtt_min, Some(Span::from_ms(100)));
    }
}
