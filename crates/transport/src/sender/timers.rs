//! The retransmission timer (RFC 6298 section 5), and those that run out before it, as Linux has them: the probe for a
//! lost tail and the wait for reordered segments.
//!
//! Sources: RFC 6298; RFC 8985 sections 6.2 step 5 (reordering timer) and 7 (tail-loss probe, TLP); Linux 5.10
//! `net/ipv4/tcp_output.c` (`tcp_schedule_loss_probe`, `tcp_send_loss_probe`) for the constants, read as behavior.
//! As in Linux, one timer serves for all three.
//!
//! Departures:
//! - a probe is planned by an acknowledgment that leaves something out, not by departures too (section 7.2): what is
//!   sent when nothing is out, as a first window, a window of one segment or after a silence, is not probed before some
//!   of it is acknowledged. With departures, windows of a few segments have up to a fifth fewer timeouts and use up to
//!   1 % more of the link;
//! - the reordering timer starts with the first selective acknowledgment instead of the segment's departure; the
//!   two differ by what lies between the lost segment and the one that arrived;
//! - a probe that itself repairs a lost segment does not reduce the window (section 7.4), since only a transfer's
//!   last segments are probed by sending them again.

use bufferlab_units::{Span, Time};

use super::{Segment, SegmentKind};
use crate::RttEstimator;
use crate::window::SendWindow;

/// RFC 8985 section 7.2: "PTO = 2 * SRTT"; where one segment is out, the receiver's delay may come on top, which
/// Linux takes for the retransmission timer's least margin.
const PROBE_AFTER: u64 = 2;
/// Linux `TCP_TIMEOUT_MIN`: two jiffies at 1000 a second.
const PROBE_MARGIN: Span = Span::from_ms(2);
/// RFC 8985 section 6.2 step 4: "`RACK.reo_wnd` = `RACK.min_RTT` / 4".
const REORDERING_PART: u64 = 4;

/// What the timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Everything outstanding is taken for lost.
    Retransmission,
    /// A lost tail is probed for.
    Probe,
    /// What came out of order was no reordering.
    Reordering,
}

/// A sender's timers: one for losses, one for the pace.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Timers {
    /// When the timer runs out; [`Time::NEVER`] if it does not run.
    deadline: Time,
    /// When a segment that waits for its pace may leave; [`Time::NEVER`] if none waits.
    release: Time,
    timer: Timer,
    /// A tail-loss probe is to be sent, whatever the window.
    pub(super) probe_due: bool,
    /// One more than the last segment sent as a tail-loss probe.
    probed_to: u32,
}

impl Timers {
    /// No timer runs. Segments below `probed_to` are no matter for a probe.
    pub(super) fn new(probed_to: u32) -> Timers {
        Timers {
            deadline: Time::NEVER,
            release: Time::NEVER,
            timer: Timer::Retransmission,
            probe_due: false,
            probed_to,
        }
    }

    /// The next moment at which anything is to be done.
    #[inline]
    pub(super) fn next(&self) -> Time {
        self.deadline.min(self.release)
    }

    /// Whether a segment that waited for its pace may leave.
    #[inline]
    pub(super) fn is_released(&self, now: Time) -> bool {
        now >= self.release
    }

    /// A segment waits for its pace until then.
    #[inline]
    pub(super) fn wait_until(&mut self, release: Time) {
        self.release = release;
    }

    /// No segment waits for its pace.
    #[inline]
    pub(super) fn end_wait(&mut self) {
        self.release = Time::NEVER;
    }

    /// What the timer was for, if it has run out. It is a retransmission timer again.
    pub(super) fn expire(&mut self, now: Time) -> Option<Timer> {
        if self.is_released(now) {
            self.end_wait();
        }
        (now >= self.deadline).then(|| std::mem::replace(&mut self.timer, Timer::Retransmission))
    }

    /// Starts the retransmission timer in place of any other.
    pub(super) fn start(&mut self, now: Time, rto: Span) {
        (self.deadline, self.timer) = (now + rto, Timer::Retransmission);
    }

    /// Starts the retransmission timer if no timer runs (RFC 6298 section 5, (5.1)).
    #[inline(always)]
    pub(super) fn start_if_idle(&mut self, now: Time, rto: impl FnOnce() -> Span) {
        if self.deadline == Time::NEVER {
            self.deadline = now + rto();
        }
    }

    /// New data was acknowledged: RFC 6298 section 5, (5.2) and (5.3). Where there are other timers,
    /// [`Timers::plan_probe`] follows.
    #[inline(always)]
    pub(super) fn restart(&mut self, now: Time, rto: Span, outstanding: u32) {
        self.deadline = if outstanding == 0 { Time::NEVER } else { now + rto };
    }

    /// The timer runs out then, whatever it is for.
    pub(super) fn set(&mut self, deadline: Time) {
        self.deadline = deadline;
    }

    /// No timer runs.
    pub(super) fn stop(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Expires at once: the host learns that a burst is done.
    pub(super) fn ring(&mut self, now: Time) {
        (self.deadline, self.timer) = (now, Timer::Retransmission);
    }

    /// The timer was restarted for a retransmission; a probe comes before, or instead: RFC 8985 section 7.2, "If `Now()` +
    /// PTO > `TCP_RTO_expiration()`: PTO = `TCP_RTO_expiration()` - `Now()`". `quiet` if no loss is suspected.
    #[inline]
    pub(super) fn plan_probe(&mut self, now: Time, quiet: bool, window: &SendWindow, rtt: &RttEstimator) {
        self.timer = Timer::Retransmission;
        let out = window.outstanding();
        if !quiet || window.una < self.probed_to || out == 0 || rtt.srtt() == Span::ZERO {
            return;
        }
        let margin = if out > 1 { PROBE_MARGIN } else { rtt.margin().max(PROBE_MARGIN) };
        let probe = now + Span::from_ps(PROBE_AFTER * rtt.srtt().as_ps()) + margin;
        (self.deadline, self.timer) = (probe.min(self.deadline), Timer::Probe);
    }

    /// Something came out of order: it may be a loss, or soon be put right.
    pub(super) fn plan_reordering(&mut self, now: Time, rtt: &RttEstimator) {
        if self.timer == Timer::Reordering {
            return;
        }
        let wait = Span::from_ps(rtt.min().min(rtt.srtt()).as_ps() / REORDERING_PART);
        let deadline = now + wait;
        if deadline < self.deadline {
            (self.deadline, self.timer) = (deadline, Timer::Reordering);
        }
    }

    /// The probe: new data if there is some, else the last segment again.
    pub(super) fn take_probe(&mut self, window: &mut SendWindow) -> Segment {
        self.probe_due = false;
        let segment = if window.has_new() {
            Segment { kind: SegmentKind::New, seq: window.take_next() }
        } else {
            Segment { kind: SegmentKind::Retransmission, seq: window.sent_to - 1 }
        };
        self.probed_to = segment.seq + 1;
        segment
    }
}

#[cfg(test)]
mod tests;
