//! The response to marks: RFC 3168, or the congestion control's own.
//!
//! Sources: RFC 3168 section 6.1.2 (an echoed mark reduces the window as a loss does, at most once a window of data, and
//! nothing is sent again; the first new segment after a reduction has the flag CWR), section 6.1.5 (retransmissions are not
//! ECN-capable); RFC 8511 section 3.1 (a mark may reduce it by less); Linux 6.12 `net/ipv4/tcp_input.c` (`tcp_enter_cwr`,
//! `tcp_fastretrans_alert`, `tcp_cwnd_reduction`), read as behavior, for the round after, whatever the control: the
//! window comes down as in fast recovery, does not grow, and a loss does not reduce it again; and for what has the flag CWR: a
//! loss and a timeout, too (`tcp_init_cwnd_reduction`, `tcp_enter_loss`).
//!
//! Departures:
//! - an acknowledgment echoes the marks of what it acknowledges (RFC 8257 section 3.2), not each one until the sender's CWR
//!   flag has come. Echoes within the window are ignored either way, so they differ only if that acknowledgment is lost;
//! - the window does not grow in the round after a reduction, whatever the recovery (RFC 3168 forbids it for the
//!   acknowledgments with an echo, Linux for all);
//! - the window stays at two segments at least, where RFC 3168 would have one wait for the retransmission timer;
//! - a control that counts marks does not learn of those that come in fast recovery;
//! - connections do not negotiate: both ends use ECN.

use bufferlab_congestion::{AnyControl, Congestion, CongestionControl, CongestionEvent};
use bufferlab_units::Time;

use super::Sender;
use super::acks::Signals;
use crate::{EcnUse, SegmentKind, TcpConfig};

/// What the response to marks needs; that the window is being reduced stands with the recovery.
#[derive(Clone, Debug)]
pub(super) struct Marks {
    /// RFC 8511.
    mild: bool,
    /// The control counts them.
    counted: bool,
    /// The next new segment has the flag CWR.
    tells: bool,
    /// One more than the highest segment that was out at the last reduction.
    until: u32,
}

impl Marks {
    /// Of a connection that uses ECN.
    pub(super) fn of(config: &TcpConfig, control: &AnyControl) -> Option<Marks> {
        let (mild, counted) = (config.ecn == EcnUse::Abe, control.counts_marks());
        let responds = counted || matches!(config.ecn, EcnUse::Classic | EcnUse::Abe);
        responds.then_some(Marks { mild, counted, tells: false, until: 0 })
    }
}

impl Sender {
    /// New data was acknowledged while nothing is being repaired. Whether the window must not grow.
    #[inline(never)]
    pub(super) fn follow_marks(&mut self, now: Time, acked: u32, signals: Signals) -> bool {
        let una = self.window.una;
        let Some(marks) = self.rare.as_deref_mut().and_then(|rare| rare.marks.as_mut()) else { return false };
        if self.recovery.is_reducing() && una > marks.until {
            self.recovery.end_reduction();
            self.control.on_recovery_exit(now);
        }
        let begins = signals.marked && una > marks.until;
        if begins {
            (marks.until, marks.tells) = (self.window.sent_to, true);
        }
        let (mild, counted) = (marks.mild, marks.counted);
        if counted && (begins || self.recovery.is_reducing()) {
            let sample = self.sample(acked, self.inflight(), signals);
            self.control.on_marks(&sample);
        }
        if begins {
            self.recovery.begin_reduction(self.control.cwnd() as u32);
            // what was out when the acknowledgment came
            let flight = self.window.outstanding() + acked;
            let receive_window = self.window.advertised;
            let event = CongestionEvent::Mark { mild };
            self.control.on_congestion(now, &Congestion { event, flight, receive_window });
        }
        self.recovery.is_reducing()
    }

    /// A loss or a timeout is dealt with from now on. Whether the window was reduced for the same window of data already.
    pub(super) fn leave_reduction(&mut self) -> bool {
        let was_reducing = self.recovery.end_reduction();
        if let Some(marks) = self.rare.as_deref_mut().and_then(|rare| rare.marks.as_mut()) {
            marks.until = self.window.sent_to;
            marks.tells |= !was_reducing;
        }
        was_reducing
    }

    /// Whether the segment of this kind that is sent now is the first new one since the window was reduced: it has the flag
    /// CWR.
    #[inline(never)]
    pub fn tells_of_reduction(&mut self, kind: SegmentKind) -> bool {
        let marks = self.rare.as_deref_mut().and_then(|rare| rare.marks.as_mut());
        kind == SegmentKind::New && marks.is_some_and(|marks| std::mem::take(&mut marks.tells))
    }
}
