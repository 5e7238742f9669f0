//! The retransmission timer (RFC 6298 section 5), and those that run out before it, as Linux has them: the probe for a
//! lost tail and the wait for reordered segments.
//!
//! Sources: RFC 6298; RFC 8985 sections 6.2 step 5 (reordering timer) and 7 (tail-loss probe, TLP); Linux 5.10
//! `net/ipv4/tcp_output.c` (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`) for the constants, read as behavior.
//! As in Linux, one timer serves for all three.
//!
//! Departures:
//! - the reordering timer starts with the first selective acknowledgement instead of the segment's departure; the
//!   two differ by what lies between the lost segment and the one that arrived;
//! - a probe that itself repairs a lost segment does not reduce the window (section 7.4), since only a transfer's
//!   last segments are probed by sending them again.

use bufferlab_congestion::CongestionEvent;
use bufferlab_units::{Span, Time};

use super::{Phase, Segment, SegmentKind, Sender};

/// RFC 8985 section 7.2: "PTO = 2 * SRTT"; where one segment is out, the receiver's delay may come on top, which
/// Linux takes for the retransmission timer's least margin, so that no probe comes before it.
const PROBE_AFTER: u64 = 2;
/// Linux `TCP_TIMEOUT_MIN`: two jiffies at 1000 a second.
const PROBE_MARGIN: Span = Span::from_ms(2);
/// RFC 8985 section 6.2 step 4: "`RACK.reo_wnd` = `RACK.min_RTT` / 4".
const REORDERING_PART: u64 = 4;

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Retransmission,
    Probe,
    Reordering,
}

impl Sender {
    /// The retransmission timer may have run out.
    pub fn on_timer(&mut self, now: Time) {
        if now >= self.pace_deadline {
            self.pace_deadline = Time::NEVER;
        }
        if now < self.timer_deadline {
            return;
        }
        if self.timer != Timer::Retransmission {
            self.on_early_timer(now);
            return;
        }
        if self.phase == Phase::SynSent {
            self.rtt.back_off();
            self.tell_control(now, CongestionEvent::SynTimeout);
            self.resend_first = true;
        } else if self.una < self.sent_to {
            self.on_timeout(now);
        } else {
            self.timer_deadline = Time::NEVER;
            return;
        }
        self.timer_deadline = now + self.rtt.rto();
        self.refresh();
    }

    /// RFC 5681 section 3.1 and RFC 6298 section 5: slow start from one segment; RFC 6582 section 3.2 and RFC
    /// 6675 section 5.1: no fast recovery until all that is out now is acknowledged.
    pub(super) fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        let repeated = self.rtt.backoff() > 0;
        self.tell_control(now, CongestionEvent::Timeout { repeated });
        self.rtt.back_off();
        self.timed = None;
        self.phase = Phase::Loss;
        // ns-2 asks for an acknowledgement beyond, not of, what was out
        self.recover = self.sent_to + u32::from(self.ns2);
        self.duplicates_count = false;
        (self.dup_acks, self.inflation, self.resend_first) = (0, 0, false);
        if self.recovery.computes_pipe() {
            self.activate_board().mark_all_lost();
        } else {
            self.board_active = false;
            self.nxt = self.una;
        }
    }

    /// RFC 6298 section 5, (5.2) and (5.3).
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time) {
        let idle = self.una == self.sent_to;
        self.timer_deadline = if idle { Time::NEVER } else { now + self.rtt.rto() };
        if self.early {
            self.set_probe_timer(now);
        }
    }

    /// When [`Sender::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timer_deadline.min(self.pace_deadline)
    }

    /// Whether a segment that waited for its pace may go: nobody's answer, but what was decided before.
    #[inline]
    pub fn is_released(&self, now: Time) -> bool {
        now >= self.pace_deadline
    }

    /// The timer has been set for a retransmission; a probe may come before.
    #[inline]
    pub(super) fn set_probe_timer(&mut self, now: Time) {
        self.timer = Timer::Retransmission;
        let quiet = self.phase == Phase::Open && !self.board_active && self.una >= self.probed_to;
        let several = self.sent_to - self.una > 1;
        if !(quiet && several) || self.rtt.srtt() == Span::ZERO {
            return;
        }
        let probe = now + Span::from_ps(PROBE_AFTER * self.rtt.srtt().as_ps()) + PROBE_MARGIN;
        if probe < self.timer_deadline {
            (self.timer_deadline, self.timer) = (probe, Timer::Probe);
        }
    }

    /// Something came out of order: it may be a loss, or soon be put right.
    pub(super) fn set_reordering_timer(&mut self, now: Time) {
        if self.timer == Timer::Reordering || self.una < self.recover {
            return;
        }
        let wait = Span::from_ps(self.rtt.min().min(self.rtt.srtt()).as_ps() / REORDERING_PART);
        let deadline = now + wait;
        if deadline < self.timer_deadline {
            (self.timer_deadline, self.timer) = (deadline, Timer::Reordering);
        }
    }

    pub(super) fn on_early_timer(&mut self, now: Time) {
        let was = std::mem::replace(&mut self.timer, Timer::Retransmission);
        self.timer_deadline = now + self.rtt.rto();
        match was {
            Timer::Probe => self.probe_due = true,
            _ if self.phase == Phase::Open && self.board_active => {
                let losses = self.losses();
                self.newly = 0;
                self.enter_selective_recovery(now);
                self.follow_recovery(now, true, self.losses() == losses);
            }
            _ => {}
        }
        self.refresh();
    }

    /// The probe: new data if there is some, else the last segment again.
    pub(super) fn take_probe(&mut self) -> Segment {
        self.probe_due = false;
        let new_data = self.nxt < self.limit.min(self.una.saturating_add(self.receive_window));
        let segment = if new_data {
            self.nxt += 1;
            Segment { kind: SegmentKind::New, seq: self.nxt - 1 }
        } else {
            Segment { kind: SegmentKind::Retransmission, seq: self.sent_to - 1 }
        };
        self.probed_to = segment.seq + 1;
        self.refresh();
        segment
    }
}
