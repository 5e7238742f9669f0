//! Senders whose application is silent at times: the window after an idle time, and no growth while it is not used.
//!
//! Sources: RFC 5681 section 4.1 (restart window); RFC 2861 section 3 as Linux has it, 5.10 `net/ipv4/tcp_output.c`
//! (`tcp_cwnd_restart`) and `include/net/tcp.h` (`tcp_slow_start_after_idle_check`, `tcp_is_cwnd_limited`); RFC 7661 for
//! why a window that was not filled says nothing about the path. Read as behavior.
//!
//! Departures:
//! - growth waits for a full window with every stack, not only with Linux's: RFC 5681 leaves it open, and without it
//!   small bursts would let the window grow without bound;
//! - what a window that stays unused for a while loses in RFC 2861 while the connection is busy
//!   (`tcp_cwnd_application_limited`) is left out.

use bufferlab_congestion::{AnyControl, Idle};
use bufferlab_units::{Span, Time};

use crate::window::SendWindow;
use crate::{AfterIdle, BurstsConfig, RttEstimator};

/// What a sender remembers whose application is silent at times.
#[derive(Clone, Debug)]
pub(super) struct Bursts {
    after_idle: AfterIdle,
    /// The connection's first window, segments: the restart window (RFC 5681 section 4.1, "RW = min(IW,cwnd)").
    initial_window: u32,
    /// When a segment was last sent (`lsndtime`).
    last_sent: Time,
    /// The window was full at a departure in this round (`is_cwnd_limited`).
    filled: bool,
    /// Most segments out in this round (`max_packets_out`).
    most_out: u32,
    /// The round ends when this is acknowledged (`cwnd_usage_seq`).
    round_end: u32,
    /// What a new connection begins with, if each burst has one.
    fresh: Option<(AnyControl, RttEstimator)>,
    /// When this connection was opened, if it is not the first.
    opened: Time,
}

impl Bursts {
    pub(super) fn new(
        config: BurstsConfig,
        initial_window: u32,
        rtt: &RttEstimator,
        control: &AnyControl,
    ) -> Bursts {
        Bursts {
            after_idle: config.after_idle,
            initial_window,
            last_sent: Time::ZERO,
            filled: false,
            most_out: 0,
            round_end: 0,
            fresh: config.reconnects.then(|| (control.clone(), rtt.clone())),
            opened: Time::ZERO,
        }
    }

    /// A new connection opens, if each burst has one: what it begins with.
    pub(super) fn reconnect(&mut self, now: Time) -> Option<(AnyControl, RttEstimator)> {
        let fresh = self.fresh.clone()?;
        (self.opened, self.filled, self.most_out) = (now, false, 0);
        Some(fresh)
    }

    /// Whether the answer to a SYN sent at `sent` is of an earlier connection.
    pub(super) fn is_stale(&self, sent: Time) -> bool {
        sent < self.opened
    }

    /// The application goes on after it was silent, and everything was acknowledged: how the window is restarted.
    pub(super) fn resume(&mut self, now: Time, rto: Span, cwnd: u32) -> Idle {
        let idle = now.saturating_since(self.last_sent);
        (self.filled, self.most_out) = (false, 0);
        Idle { idle, restart: self.restart(idle, rto, cwnd) }
    }

    /// What is left of a window after `idle`, and what the threshold must be then.
    fn restart(&self, idle: Span, rto: Span, cwnd: u32) -> Option<(u32, u32)> {
        let least = self.initial_window.min(cwnd);
        if idle <= rto {
            return None;
        }
        match self.after_idle {
            AfterIdle::Keep => None,
            AfterIdle::Restart => Some((least, 0)),
            AfterIdle::Decay => {
                // halved for each timeout's time; more than 32 times leaves nothing either
                let halvings = ((idle.as_ps() - 1) / rto.as_ps().max(1)).min(31) as u32;
                // `tcp_current_ssthresh`: three quarters of what it was
                Some(((cwnd >> halvings).max(least), cwnd / 2 + cwnd / 4))
            }
        }
    }

    /// A segment leaves, which `window` counts already.
    pub(super) fn on_sent(&mut self, now: Time, window: &SendWindow) {
        let out = window.flight();
        let full = out >= window.cwnd;
        self.last_sent = now;
        if window.una >= self.round_end || full || !self.filled && out > self.most_out {
            (self.filled, self.most_out, self.round_end) = (full, out, window.nxt);
        }
    }

    /// Whether the window is used, so that it may grow: it was full, or in slow start more than half full.
    pub(super) fn fills(&self, cwnd: u32, ssthresh: f64) -> bool {
        let slow_start = f64::from(cwnd) < ssthresh;
        self.filled || slow_start && cwnd < self.most_out.saturating_mul(2)
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_congestion::Fixed;

    use super::*;

    const RTO: Span = Span::from_ms(200);

    fn left(after_idle: AfterIdle, idle_ms: u64, cwnd: u32) -> Option<(u32, u32)> {
        let config = BurstsConfig { after_idle, reconnects: false };
        let rtt = RttEstimator::new(RTO, RTO, RTO, Span::from_ps(1));
        let bursts = Bursts::new(config, 10, &rtt, &Fixed::new(1).into());
        bursts.restart(Span::from_ms(idle_ms), RTO, cwnd)
    }

    #[test]
    fn a_short_pause_leaves_the_window_as_it_is() {
        for after_idle in [AfterIdle::Keep, AfterIdle::Restart, AfterIdle::Decay] {
            assert_eq!(left(after_idle, 200, 100), None);
        }
        assert_eq!(left(AfterIdle::Keep, 10_000, 100), None);
    }

    #[test]
    fn a_restart_begins_with_the_initial_window_and_keeps_the_threshold() {
        assert_eq!(left(AfterIdle::Restart, 201, 100), Some((10, 0)));
        assert_eq!(left(AfterIdle::Restart, 201, 4), Some((4, 0)), "RW = min(IW, cwnd)");
    }

    #[test]
    fn linux_halves_the_window_for_each_timeout_that_passes() {
        assert_eq!(left(AfterIdle::Decay, 201, 100), Some((50, 75)));
        assert_eq!(left(AfterIdle::Decay, 400, 100), Some((50, 75)));
        assert_eq!(left(AfterIdle::Decay, 401, 100), Some((25, 75)));
        assert_eq!(left(AfterIdle::Decay, 60_000, 100), Some((10, 75)));
        assert_eq!(left(AfterIdle::Decay, 60_000, 4), Some((4, 3)));
    }

    #[test]
    fn a_window_is_used_if_it_was_full_or_half_full_in_slow_start() {
        let config = BurstsConfig { after_idle: AfterIdle::Keep, reconnects: false };
        let rtt = RttEstimator::new(RTO, RTO, RTO, Span::from_ps(1));
        let used = |sent: u32, ssthresh| {
            let mut bursts = Bursts::new(config, 10, &rtt, &Fixed::new(10).into());
            let mut window = SendWindow::new(100, 100);
            window.follow(10.0);
            for _ in 0..sent {
                window.take();
                bursts.on_sent(Time::ZERO, &window);
            }
            bursts.fills(10, ssthresh)
        };
        assert_eq!([5, 6, 9, 10].map(|sent| used(sent, 100.0)), [false, true, true, true]);
        assert_eq!([5, 6, 9, 10].map(|sent| used(sent, 5.0)), [false, false, false, true]);
    }
}
