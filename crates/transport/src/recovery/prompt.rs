//! What ns-2 sends at once: what its `overhead_` does not delay.

use super::scoreboard::DUP_THRESH;
use super::{LossRecovery, Phase};
use crate::Recovery;
use crate::window::SendWindow;

impl LossRecovery {
    /// ns-2's `overhead_` delays what `send_much` sends, and begins where that may send. Limited transmit (`tcp.cc`,
    /// `send_one`) and what `output` sends do not go that way: the fast retransmission (`dupack_action`), and
    /// `NewReno`'s at a partial acknowledgment (`tcp-newreno.cc`, `partialnewack_helper`).
    pub(crate) fn is_prompt(&self, window: &SendWindow) -> bool {
        self.is_ns2()
            && match self.phase {
                Phase::Recovery => {
                    self.resend_first || self.kind == Recovery::SackNs2 && self.is_pipe_full(window)
                }
                _ => self.prompt == window.nxt && window.admits(),
            }
    }

    /// ns-2's limited transmit sends one segment for a duplicate, when it comes (2.35 `tcp/tcp.cc`, `send_one`).
    pub(super) fn count_duplicate(&mut self, window: &SendWindow) {
        self.dup_acks += 1;
        if self.dup_acks < DUP_THRESH {
            self.prompt = window.nxt;
        }
    }

    /// ns-2's counted pipe admits nothing.
    pub(super) fn is_pipe_full(&self, window: &SendWindow) -> bool {
        i64::from(self.counted_pipe) >= i64::from(window.cwnd)
    }
}
