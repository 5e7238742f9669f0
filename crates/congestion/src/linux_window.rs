//! A window as Linux keeps it: whole segments, and a count of acknowledgments towards the next.
//!
//! Source: Linux `net/ipv4/tcp_cong.c` (`tcp_slow_start`, `tcp_cong_avoid_ai`, `tcp_reno_ssthresh`) and
//! `tcp_input.c` (`tcp_enter_loss`), read as behavior.
//!
//! Departures:
//! - at a loss the window falls to the threshold at once; Linux lets it glide there over the recovery's round
//!   (rate halving, RFC 6937), so both leave recovery with the same window;
//! - a timeout in a recovery reduces the threshold again, as RFC 5681 section 3.1 has it; Linux reduces it once
//!   in a window;
//! - the window after a timeout is one segment (Linux 2.6); later ones add what is still in flight.

use crate::{Congestion, CongestionEvent, Idle, NO_THRESHOLD};

/// The floor of every threshold, segments (`tcp_reno_ssthresh`; RFC 5681 equation 4).
pub(crate) const MIN_SSTHRESH: u32 = 2;

/// The window after a timeout, segments (RFC 5681 section 3.1).
pub(crate) const LOSS_WINDOW: u32 = 1;

/// A window of whole segments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinuxWindow {
    /// Congestion window, segments (`snd_cwnd`).
    pub cwnd: u32,
    /// Slow-start threshold, segments (`snd_ssthresh`); nothing before the first loss.
    pub ssthresh: Option<u32>,
    /// Acknowledgments or segments counted towards the next increase (`snd_cwnd_cnt`).
    pub counted: u32,
}

impl LinuxWindow {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>) -> LinuxWindow {
        let ssthresh = ssthresh.map(|segments| segments.max(MIN_SSTHRESH));
        LinuxWindow { cwnd: initial_window.max(1), ssthresh, counted: 0 }
    }

    /// Below the threshold.
    pub fn in_slow_start(&self) -> bool {
        self.ssthresh.is_none_or(|ssthresh| self.cwnd < ssthresh)
    }

    /// Slow start as Linux 2.6 had it (`tcp_slow_start` without byte counting): also where the window equals the
    /// threshold, and one segment for each acknowledgment, whatever it covers. Whether there was any.
    pub fn slow_start_per_ack(&mut self) -> bool {
        let slow = self.ssthresh.is_none_or(|ssthresh| self.cwnd <= ssthresh);
        if slow {
            self.cwnd = self.cwnd.saturating_add(1);
        }
        slow
    }

    /// Slow start: one segment for each acknowledged, up to the threshold. What is left of `acked`.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let room = self.ssthresh.map_or(u32::MAX, |ssthresh| ssthresh.saturating_sub(self.cwnd));
        let grown = acked.min(room);
        self.cwnd = self.cwnd.saturating_add(grown);
        acked - grown
    }

    /// One segment more for `per` acknowledged segments (Linux since 3.19).
    pub fn increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        if self.counted >= per {
            self.counted = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        }
        self.counted = self.counted.saturating_add(acked);
        self.cwnd = self.cwnd.saturating_add(self.counted / per);
        self.counted %= per;
    }

    /// One segment more for `per` acknowledgments, whatever they cover (Linux 2.6). The acknowledgment that
    /// finds the count full empties it without being counted, so that it takes `per` + 1.
    pub fn increase_per_ack(&mut self, per: u32) {
        if self.counted >= per {
            self.counted = 0;
            self.cwnd = self.cwnd.saturating_add(1);
        } else {
            self.counted += 1;
        }
    }

    /// Reno's growth (`tcp_reno_cong_avoid`).
    pub fn reno(&mut self, acked: u32) {
        let left = if self.in_slow_start() { self.slow_start(acked) } else { acked };
        if left > 0 {
            self.increase(self.cwnd, left);
        }
    }

    /// Congestion: `ssthresh` is asked for the new threshold, save where it is held.
    pub fn on_congestion(&mut self, congestion: &Congestion, ssthresh: impl FnOnce(u32) -> u32) {
        match congestion.event {
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => {
                let reduced = ssthresh(self.cwnd).max(MIN_SSTHRESH);
                (self.ssthresh, self.cwnd) = (Some(reduced), reduced);
            }
            CongestionEvent::Timeout { repeated } => {
                // `tcp_enter_loss` leaves the threshold alone while the same window is being repaired
                if !repeated {
                    self.ssthresh = Some(ssthresh(self.cwnd).max(MIN_SSTHRESH));
                }
                self.cwnd = LOSS_WINDOW;
            }
            CongestionEvent::SynTimeout => self.cwnd = LOSS_WINDOW,
        }
        self.counted = 0;
    }

    /// Sending goes on after an idle time (`tcp_cwnd_restart`, whose caller works the numbers out).
    pub fn on_idle(&mut self, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            self.cwnd = window.max(1);
            self.ssthresh = self.ssthresh.map(|ssthresh| ssthresh.max(threshold));
        }
    }

    /// The window as the trait gives it.
    pub fn cwnd(&self) -> f64 {
        f64::from(self.cwnd)
    }

    /// The threshold as the trait gives it.
    pub fn ssthresh(&self) -> f64 {
        self.ssthresh.map_or(NO_THRESHOLD, f64::from)
    }
}

/// Half of a window (`tcp_reno_ssthresh`).
pub(crate) fn half(cwnd: u32) -> u32 {
    cwnd / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_stops_at_the_threshold_and_says_what_is_left() {
        let mut window = LinuxWindow::new(8, Some(10));
        assert_eq!(window.slow_start(5), 3);
        assert_eq!((window.cwnd, window.in_slow_start()), (10, false));
    }

    #[test]
    fn linux_2_6_takes_one_step_beyond_the_threshold() {
        let mut window = LinuxWindow::new(8, Some(10));
        let steps = (0..10).filter(|_| window.slow_start_per_ack()).count();
        assert_eq!((steps, window.cwnd), (3, 11));
    }

    #[test]
    fn a_stretched_acknowledgment_counts_for_all_that_it_covers() {
        let mut window = LinuxWindow::new(10, Some(2));
        window.increase(10, 25);
        assert_eq!(window.cwnd, 12);
        window.increase(10, 5);
        assert_eq!(window.cwnd, 13);
    }

    #[test]
    fn linux_2_6_needs_one_acknowledgment_more_than_it_says() {
        let mut window = LinuxWindow::new(10, Some(2));
        let grown_after = (1..100).find(|_| {
            window.increase_per_ack(10);
            window.cwnd == 11
        });
        assert_eq!(grown_after, Some(11));
    }

    #[test]
    fn a_repeated_timeout_holds_the_threshold() {
        let mut window = LinuxWindow::new(40, None);
        for repeated in [false, true] {
            let event = CongestionEvent::Timeout { repeated };
            window.on_congestion(&Congestion { event, flight: 40, receive_window: 100 }, half);
            assert_eq!((window.cwnd, window.ssthresh), (1, Some(20)));
        }
    }
}
