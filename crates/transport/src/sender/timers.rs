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
//! - a timeout marks all that is out lost; section 6.3 and Linux (`tcp_timeout_mark_lost`) spare what was sent within the
//!   last round-trip time, of which the scoreboard keeps no times. What is sent answers acknowledgments, and by
//!   then none that is new has come for longer than that;
//! - RFC 6298 (5.7), 3 s after a lost SYN, holds without timestamps; with them the answer to the SYN is a sample, which
//!   sets the timeout as in Linux (`tcp_init_metrics`);
//! - the reordering timer starts with the first selective acknowledgment instead of the segment's departure; the
//!   two differ by what lies between the lost segment and the one that arrived;
//! - a probe that itself repairs a lost segment does not reduce the window (section 7.4), since only a transfer's
//!   last segments are probed by sending them again.

use bufferlab_congestion::CongestionEvent;
use bufferlab_units::{Span, Time};

use super::{Phase, Segment, SegmentKind, Sender};

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
        // ns-2 asks for an acknowledgment beyond, not of, what was out
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

    /// The timer has been set for a retransmission; a probe comes before, or instead: RFC 8985 section 7.2, "If `Now()` +
    /// PTO > `TCP_RTO_expiration()`: PTO = `TCP_RTO_expiration()` - `Now()`".
    #[inline]
    pub(super) fn set_probe_timer(&mut self, now: Time) {
        self.timer = Timer::Retransmission;
        let quiet = self.phase == Phase::Open && !self.board_active && self.una >= self.probed_to;
        let out = self.sent_to - self.una;
        if !quiet || out == 0 || self.rtt.srtt() == Span::ZERO {
            return;
        }
        let margin = if out > 1 { PROBE_MARGIN } else { self.rtt.margin().max(PROBE_MARGIN) };
        let probe = now + Span::from_ps(PROBE_AFTER * self.rtt.srtt().as_ps()) + margin;
        (self.timer_deadline, self.timer) = (probe.min(self.timer_deadline), Timer::Probe);
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

#[cfg(test)]
mod tests {
    use bufferlab_congestion::{AnyControl, Fixed};
    use bufferlab_units::Span;

    use crate::sender::tests::{Pair, config, lose_once};
    use crate::sender::{Segment, SegmentKind};
    use crate::{Recovery, TcpConfig};

    /// Over 100 ms there and back: when each segment from `seq` on was sent, ms, and whether it was new.
    fn sent<F: FnMut(Segment) -> bool>(pair: &Pair<F>, seq: u32) -> Vec<(u64, u32, bool)> {
        let data =
            pair.log.iter().filter(|(_, segment)| segment.kind != SegmentKind::Syn && segment.seq >= seq);
        data.map(|(at, segment)| (at.as_ps() / 1_000_000_000, segment.seq, segment.kind == SegmentKind::New))
            .collect()
    }

    #[test]
    fn a_probe_goes_in_place_of_an_earlier_timeout() {
        // the timeout is 200 ms, two round trips and the margin are more; segments 10 and 11 leave after the same 100 ms,
        // each for an acknowledgment that leaves one out
        for (transfer_segments, probe) in [(13, (700, 12, true)), (12, (700, 11, false))] {
            let config = TcpConfig { transfer_segments, ..config(Recovery::Linux) };
            let mut pair = Pair::new(&config, Fixed::new(2).into(), lose_once([10, 11]));
            pair.run(10_000);
            // the probe's acknowledgment tells of the loss; a quarter of the round trip later comes the repair
            assert_eq!(sent(&pair, 10)[..4], [(500, 10, true), (500, 11, true), probe, (825, 10, false)]);
            assert_eq!(pair.receiver.delivered(), transfer_segments);
            assert_eq!(pair.sender.counters().timeouts, 0);
        }
    }

    #[test]
    fn a_lost_probe_is_followed_by_the_timeout() {
        let mut losses = 0;
        let lose = move |segment: Segment| {
            losses += u32::from(segment.seq >= 10);
            segment.seq >= 10 && losses <= 3
        };
        let config = TcpConfig { transfer_segments: 12, ..config(Recovery::Linux) };
        let mut pair = Pair::new(&config, Fixed::new(2).into(), lose);
        pair.run(10_000);
        assert_eq!(
            sent(&pair, 10)[..4],
            [(500, 10, true), (500, 11, true), (700, 11, false), (900, 10, false)]
        );
        assert_eq!((pair.receiver.delivered(), pair.sender.counters().timeouts), (12, 1));
    }

    /// A departure: nothing is acknowledged after the segment leaves that could plan a probe.
    #[test]
    fn a_window_of_one_segment_waits_for_the_timeout() {
        let config = TcpConfig { transfer_segments: 7, ..config(Recovery::Linux) };
        let mut pair = Pair::new(&config, Fixed::new(1).into(), lose_once([5]));
        pair.run(10_000);
        assert_eq!(sent(&pair, 5), [(500, 5, true), (700, 5, false), (800, 6, true)]);
        assert_eq!(pair.sender.counters().timeouts, 1);
    }

    #[test]
    fn after_a_lost_syn_the_timeout_is_three_seconds_unless_there_is_a_sample() {
        // the SYN goes at 0 and 1 s and is answered 100 ms later; the first segment is lost
        let first = |recovery, timestamps| {
            let mut losses = 0;
            let lose = move |_| {
                losses += 1;
                losses == 1 || losses == 3
            };
            let rto_margin = Span::from_ms(200);
            let config = TcpConfig { handshake: true, timestamps, rto_margin, ..config(recovery) };
            let control: AnyControl = Fixed::new(1).into();
            let mut pair = Pair::new(&config, control, lose);
            pair.run(5_000);
            sent(&pair, 0)[..2].iter().map(|&(at_ms, ..)| at_ms).collect::<Vec<_>>()
        };
        for recovery in [Recovery::Tahoe, Recovery::NewReno, Recovery::Sack, Recovery::Linux] {
            assert_eq!(first(recovery, false), [1_100, 4_100], "{recovery:?}");
            assert_eq!(first(recovery, true), [1_100, 1_400], "{recovery:?}");
        }
        // ns-2 keeps what the timeouts of the SYN left, twice a second
        assert_eq!(first(Recovery::SackNs2, false), [1_100, 3_100]);
    }
}
