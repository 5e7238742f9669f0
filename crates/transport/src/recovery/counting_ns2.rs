//! Recovery by counted duplicate acknowledgments as in ns-2: `Agent/TCP/Reno` and `Agent/TCP/Newreno`.
//!
//! Sources: ns-2 2.35, `tcp/tcp-reno.cc`, `tcp/tcp-newreno.cc`, `tcp/tcp.cc`, with the defaults of
//! `tcl/lib/ns-default.tcl`. They differ from RFC 5681 and RFC 6582 in these points:
//! - Reno, too, enters a recovery only if the acknowledgment lies beyond what was out at the last one (`bugFix_`,
//!   `dupack_action`). So it waits for the timer where a window loses several segments.
//! - Duplicates count after a timeout, too, for limited transmit (`send_one`), one segment for each.
//! - At a partial acknowledgment `NewReno` takes off the window what the inflation does not cover, and adds it at no
//!   later time (`partial_window_deflation_` 1, `exit_recovery_fix_` 0; `partialnewack`).
//! - The acknowledgment that ends a recovery lets the window grow (`recv_newack_helper`, `opencwnd`).
//! - A backoff ends only with a round-trip sample, and a retransmission does not end the timing of a segment (`newack`,
//!   `output`). A recovery's start and a timeout do (`reset_rtx_timer`).

use super::{DUP_THRESH, LossRecovery, Phase, Suspicion};
use crate::window::SendWindow;

impl LossRecovery {
    pub(super) fn on_duplicate_counting_ns2(&mut self, window: &SendWindow) -> Suspicion {
        match self.phase {
            Phase::Recovery => self.inflation += 1,
            Phase::Open | Phase::Loss => {
                self.count_duplicate(window);
                // "added to allow Fast Retransmit when the first data packet is dropped" (bugfix_ss_)
                let may_enter = window.una > self.recover || window.una == 0;
                if self.dup_acks == DUP_THRESH && may_enter {
                    return Suspicion::Loss;
                }
            }
            _ => {}
        }
        Suspicion::Nothing
    }

    /// The next hole is sent at once. How many segments the window shrinks by, beyond the inflation.
    pub(super) fn on_partial_ack_ns2(&mut self, acked: u32) -> u32 {
        self.resend_first = true;
        let deflation = acked.saturating_sub(self.inflation);
        // at least one is left: it says that the recovery goes on
        self.inflation = if self.inflation > acked { self.inflation - (acked - 1) } else { 1 };
        deflation
    }
}
