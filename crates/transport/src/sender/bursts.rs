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

use bufferlab_congestion::{AnyControl, CongestionControl, Idle};
use bufferlab_units::{Span, Time};

use super::rated::Pace;
use super::reduction::Reduction;
use super::timers::Timer;
use super::{Phase, Sender};
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
    pub(super) opened: Time,
}

impl Bursts {
    pub(super) fn new(config: BurstsConfig, rtt: &RttEstimator, control: &AnyControl) -> Bursts {
        Bursts {
            after_idle: config.after_idle,
            initial_window: config.initial_window,
            last_sent: Time::ZERO,
            filled: false,
            most_out: 0,
            round_end: 0,
            fresh: config.reconnects.then(|| (control.clone(), rtt.clone())),
            opened: Time::ZERO,
        }
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
}

impl Sender {
    /// The application has so many segments more to send, or without end, from now on.
    pub fn resume(&mut self, now: Time, segments: Option<u32>) {
        self.limit = segments.map_or(u32::MAX, |segments| self.sent_to.saturating_add(segments));
        self.finished = Time::NEVER;
        if self.phase == Phase::Open && self.sent_to > 0 && self.una == self.sent_to {
            self.go_on_after_idle(now);
        }
        self.refresh();
    }

    /// The application has so many segments in all, from the connection's start on.
    pub fn allow(&mut self, segments: u32) {
        self.limit = segments;
        self.finished = Time::NEVER;
        self.refresh();
    }

    /// Opens a new connection, which has so many segments to send; everything of the last one is acknowledged. Numbers
    /// go on, so that what is left of it in the network means nothing to the new one.
    pub fn reconnect(&mut self, now: Time, segments: u32) {
        debug_assert_eq!(self.una, self.sent_to);
        let Some(bursts) = self.bursts.as_deref_mut() else {
            return;
        };
        let Some((control, rtt)) = bursts.fresh.clone() else {
            return;
        };
        (bursts.opened, bursts.filled, bursts.most_out) = (now, false, 0);
        if self.paced {
            self.pace = Some(Box::new(Pace::new(&control, self.rated)));
        }
        (self.control, self.rtt) = (control, rtt);
        // a receiver hears of a connection by its SYN
        if self.handshake {
            self.forget_windows();
        }
        (self.nxt, self.recover, self.probed_to, self.rescue_rxt) = (self.una, self.una, self.una, self.una);
        (self.dup_acks, self.inflation, self.counted_pipe, self.newly) = (0, 0, 0, 0);
        (self.board_active, self.partial_seen, self.probe_due) = (false, false, false);
        (self.duplicates_count, self.timed, self.echoed) = (true, None, Time::NEVER);
        (self.timer_deadline, self.pace_deadline, self.timer) =
            (Time::NEVER, Time::NEVER, Timer::Retransmission);
        self.reduction = Reduction::default();
        self.limit = self.sent_to.saturating_add(segments);
        self.finished = Time::NEVER;
        self.phase = Phase::Idle;
        self.start();
    }

    fn go_on_after_idle(&mut self, now: Time) {
        let Some(bursts) = self.bursts.as_deref_mut() else {
            return;
        };
        let idle = now.saturating_since(bursts.last_sent);
        let restart = bursts.restart(idle, self.rtt.rto(), self.cwnd_whole);
        (bursts.filled, bursts.most_out) = (false, 0);
        self.control.on_idle(now, &Idle { idle, restart });
    }

    /// Everything is acknowledged that there was to send: a transfer is done, or a burst, of which the host is told by
    /// a timer that runs out at once.
    #[cold]
    pub(super) fn finish(&mut self, now: Time) {
        if self.bursts.is_some() && self.finished == Time::NEVER {
            (self.timer_deadline, self.timer) = (now, Timer::Retransmission);
        }
        self.finished = self.finished.min(now);
    }

    pub(super) fn note_use(&mut self, now: Time) {
        let (out, una, nxt) = (self.nxt - self.una, self.una, self.nxt);
        let full = out >= self.cwnd_whole;
        if let Some(bursts) = self.bursts.as_deref_mut() {
            bursts.last_sent = now;
            if una >= bursts.round_end || full || !bursts.filled && out > bursts.most_out {
                (bursts.filled, bursts.most_out, bursts.round_end) = (full, out, nxt);
            }
        }
    }

    /// Whether the window is used, so that it may grow: it was full, or in slow start more than half full.
    pub(super) fn uses_window(&self) -> bool {
        self.bursts.as_deref().is_none_or(|bursts| {
            let slow = f64::from(self.cwnd_whole) < self.control.ssthresh();
            bursts.filled || slow && self.cwnd_whole < bursts.most_out.saturating_mul(2)
        })
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_congestion::Fixed;

    use super::*;

    const RTO: Span = Span::from_ms(200);

    fn left(after_idle: AfterIdle, idle_ms: u64, cwnd: u32) -> Option<(u32, u32)> {
        let config = BurstsConfig { after_idle, initial_window: 10, reconnects: false };
        let rtt = RttEstimator::new(RTO, RTO, RTO, Span::from_ps(1));
        let bursts = Bursts::new(config, &rtt, &Fixed::new(1).into());
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
}
