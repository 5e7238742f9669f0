//! Recovery by counted duplicate acknowledgments: Tahoe, Reno, `NewReno`.

use bufferlab_congestion::CongestionEvent;
use bufferlab_units::Time;

use super::{DUP_ACKS, Phase, Sender};
use crate::Recovery;

impl Sender {
    pub(super) fn on_duplicate_counting(&mut self, now: Time) {
        match self.phase {
            Phase::Open => {
                self.dup_acks += 1;
                if self.dup_acks == DUP_ACKS && self.may_enter_recovery() {
                    self.fast_retransmit(now);
                }
            }
            // RFC 5681 section 3.2 step 4: each further duplicate means that a segment has left the network
            Phase::Recovery => self.inflation += 1,
            _ => {}
        }
    }

    /// RFC 6582 section 3.2 step 2: only if the acknowledgment "covers more than recover", since what a repair
    /// sent twice is acknowledged twice as well. RFC 5681's Reno has no such rule.
    fn may_enter_recovery(&self) -> bool {
        self.una > self.recover || self.recover == 0 || self.recovery == Recovery::Reno
    }

    fn fast_retransmit(&mut self, now: Time) {
        self.counters.recoveries += 1;
        self.timed = None;
        self.recover = self.sent_to;
        if self.recovery == Recovery::Tahoe {
            // Jacobson 1988 knows no fast recovery: what a timeout does, without the wait
            self.tell_control(now, CongestionEvent::Timeout { repeated: false });
            self.phase = Phase::Loss;
            self.dup_acks = 0;
            self.nxt = self.una;
        } else {
            self.tell_control(now, CongestionEvent::Loss);
            self.phase = Phase::Recovery;
            self.partial_seen = false;
            self.inflation = DUP_ACKS;
            self.resend_first = true;
        }
        self.timer_deadline = now + self.rtt.rto();
    }

    /// RFC 6582 section 3.2 step 3: the next hole is sent at once, the window is "deflated" by what was
    /// acknowledged and one segment is added back.
    pub(super) fn on_partial_ack(&mut self, acked: u32) {
        self.resend_first = true;
        self.inflation = (self.inflation + 1).saturating_sub(acked);
    }
}
