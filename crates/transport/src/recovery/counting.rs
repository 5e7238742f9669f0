//! Recovery by counted duplicate acknowledgments: Tahoe, Reno, `NewReno`.

use super::{DUP_THRESH, LossRecovery, Phase, Suspicion};
use crate::Recovery;
use crate::window::SendWindow;

impl LossRecovery {
    pub(super) fn on_duplicate_counting(&mut self, window: &SendWindow) -> Suspicion {
        match self.phase {
            Phase::Open => {
                self.dup_acks += 1;
                // RFC 5681 section 3.2 step 2
                if self.dup_acks == DUP_THRESH && self.may_enter(window) {
                    return Suspicion::Loss;
                }
            }
            // step 4: each further duplicate means that a segment has left the network
            Phase::Recovery => self.inflation += 1,
            _ => {}
        }
        Suspicion::Nothing
    }

    /// RFC 6582 section 3.2 step 2: only if the acknowledgment "covers more than recover", since what a repair
    /// sent twice is acknowledged twice as well. RFC 5681's Reno has no such rule.
    fn may_enter(&self, window: &SendWindow) -> bool {
        window.una > self.recover || self.recover == 0 || self.kind == Recovery::Reno
    }

    pub(super) fn enter_counting(&mut self, window: &mut SendWindow) {
        if self.kind == Recovery::Tahoe {
            self.phase = Phase::Loss;
            self.dup_acks = 0;
            window.go_back();
        } else {
            self.phase = Phase::Recovery;
            self.partial_seen = false;
            self.inflation = DUP_THRESH;
            self.resend_first = true;
        }
    }

    /// RFC 6582 section 3.2 step 3: the next hole is sent at once, the window is "deflated" by what was
    /// acknowledged and one segment is added back. It shrinks to the threshold at most, not below it, as it would
    /// by the letter where more is acknowledged than was added: the step shall leave about a threshold in flight.
    pub(super) fn on_partial_ack(&mut self, acked: u32) {
        self.resend_first = true;
        self.inflation = (self.inflation + 1).saturating_sub(acked);
    }
}
