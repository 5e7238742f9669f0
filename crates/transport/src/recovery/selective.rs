//! Recovery with SACK: RFC 6675, and ns-2's older way.
//!
//! Departure from RFC 6675: the rescue (section 4, `NextSeg` rule 4) repeats the highest outstanding segment below the
//! recovery point; what new data was sent since is not suspected yet. Linux needs and has none: what was sent before a
//! retransmission that was delivered is lost (`scoreboard`).
//!
//! ns-2's `Agent/TCP/Sack1` (2.35, `tcp/tcp-sack1.cc` and `tcp/tcp.cc`) differs in these points, which together
//! make a run equal to ns-2's packet by packet:
//! - It keeps a counter instead of computing `Pipe`: at entry what is outstanding less three; one less for each
//!   duplicate acknowledgment, two less for a partial one; one more for each segment sent. A lost segment
//!   counts as being in the network until something acknowledges past it.
//! - Every hole below the highest SACKed segment may be retransmitted.
//! - New acknowledgments outside of recovery clear the scoreboard; so does a timeout, which goes back.
//! - After a timeout, duplicates are ignored until the first new acknowledgment, then they count again for
//!   limited transmit, and for a fast retransmit once something beyond what was out then is acknowledged.
//! - A partial acknowledgment gives no round-trip sample, and a backoff ends only with a sample or with a
//!   partial acknowledgment. A retransmission does not end the timing of a segment.
//! - A lost SYN is a lost segment.
//! - A processing delay (`overhead_`) holds back what the windows admit, but neither limited transmit, which is one
//!   segment for each duplicate at the moment that it comes, nor the fast retransmission.

use super::reduction::Reduction;
use super::scoreboard::{DUP_THRESH, Scoreboard};
use super::{LossRecovery, Phase, Suspicion};
use crate::delivery::DeliveryRate;
use crate::segment::{Segment, SegmentKind};
use crate::window::SendWindow;
use crate::{Recovery, SackBlocks};

impl LossRecovery {
    /// The scoreboard, describing what is outstanding now.
    pub(super) fn activate_board(&mut self, window: &SendWindow) -> &mut Scoreboard {
        self.board.activate(window, self.kind == Recovery::Linux)
    }

    /// The scoreboard that RFC 6675's `Pipe` is computed from.
    pub(super) fn computed_board(&self) -> Option<&Scoreboard> {
        self.board.active().filter(|_| self.kind.computes_pipe())
    }

    /// A new acknowledgment came while there is a scoreboard, or brings the first blocks.
    pub(super) fn update_or_forget_board(
        &mut self,
        window: &SendWindow,
        sack: &SackBlocks,
        rates: Option<&mut DeliveryRate>,
    ) {
        if self.is_ns2() && self.phase != Phase::Recovery {
            self.board.rest();
        } else {
            self.update_board(window, sack, rates);
        }
    }

    /// Takes an acknowledgment's blocks into the scoreboard; how many segments it SACKs for the first time.
    fn update_board(
        &mut self,
        window: &SendWindow,
        sack: &SackBlocks,
        mut rates: Option<&mut DeliveryRate>,
    ) -> u32 {
        let computed = self.kind.computes_pipe();
        let repairing = self.phase != Phase::Open;
        // what is in the network is counted until the recovery's end: Linux's window follows it, and a rescue may come
        let counting = computed && self.phase == Phase::Recovery;
        let mut deliver = |seq| {
            if let Some(rates) = rates.as_deref_mut() {
                rates.on_delivered(seq);
            }
        };
        let board = self.activate_board(window);
        let covered = board.advance(window.una);
        let newly: u32 = sack.ranges().iter().map(|&(start, end)| board.sack(start, end, &mut deliver)).sum();
        if computed && repairing {
            board.find_losses();
        }
        if board.is_idle() && !counting {
            board.rest();
            self.board.rest();
        }
        self.newly += covered + newly;
        newly
    }

    /// RFC 6675 section 2: a duplicate is an acknowledgment that SACKs something new.
    pub(super) fn on_duplicate_selective(
        &mut self,
        window: &SendWindow,
        sack: &SackBlocks,
        rates: Option<&mut DeliveryRate>,
    ) -> Suspicion {
        if self.is_ns2() && window.una == self.stalled_at {
            return Suspicion::Nothing;
        }
        let newly = if sack.is_empty() { 0 } else { self.update_board(window, sack, rates) };
        match self.phase {
            Phase::Open if newly > 0 => {
                self.count_duplicate(window);
                return self.suspicion(window);
            }
            Phase::Loss if newly > 0 && self.is_ns2() => self.count_duplicate(window),
            Phase::Recovery => self.counted_pipe -= 1,
            _ => {}
        }
        Suspicion::Nothing
    }

    fn suspicion(&self, window: &SendWindow) -> Suspicion {
        // step 2: "DupAcks >= DupThresh" or "IsLost (HighACK + 1)"
        let lost =
            self.dup_acks >= DUP_THRESH || self.computed_board().is_some_and(Scoreboard::first_is_lost);
        if window.una < self.recover {
            Suspicion::Nothing
        } else if lost {
            Suspicion::Loss
        } else if self.kind == Recovery::Linux {
            Suspicion::Reordering
        } else {
            Suspicion::Nothing
        }
    }

    /// RFC 6675 section 5 step 4.
    pub(super) fn enter_selective(&mut self, window: &SendWindow) {
        self.counted_pipe = window.outstanding().cast_signed() - DUP_THRESH.cast_signed();
        self.reduction = Reduction::from(window.cwnd);
        self.phase = Phase::Recovery;
        // (4.3): "to prevent [...] a premature rescue retransmission"
        self.rescue_rxt = window.una;
        self.resend_first = true;
        let computed = self.kind.computes_pipe();
        let board = self.activate_board(window);
        board.declare_lost_below(window.una + 1);
        if computed {
            board.find_losses();
        }
    }

    /// Fast recovery begins where another ends: what that one sent again is under way.
    pub(crate) fn enter_again(&mut self, window: &mut SendWindow) {
        self.enter(window);
        self.resend_first = !self.board.active().is_some_and(|board| board.is_resent(window.una));
    }

    /// Whether a recovery that has ended leaves losses behind, so that Linux begins the next at once
    /// (`tcp_time_to_recover`: "The loss is proven", `net/ipv4/tcp_input.c`, Linux 6.12).
    pub(crate) fn leaves_losses(&self) -> bool {
        self.kind == Recovery::Linux && self.board.active().is_some_and(Scoreboard::has_losses)
    }

    /// The next segment by the recovery's rules; the window is `cwnd` segments.
    #[inline(always)]
    pub(crate) fn take(&mut self, window: &mut SendWindow, cwnd: u32) -> Option<Segment> {
        match self.kind {
            Recovery::LinuxNs2 => return self.take_linux_ns2(window),
            Recovery::Quic => return self.take_quic(window, cwnd),
            _ => {}
        }
        let choice = self.choose(window, cwnd)?;
        match (choice, self.board.kept_mut()) {
            (Choice::New(_), _) => {
                window.take_next();
            }
            (Choice::Again(seq), Some(board)) => board.on_retransmit(seq),
            (Choice::Rescue(last), Some(board)) => {
                board.on_rescue(last);
                self.rescue_rxt = self.recover;
            }
            _ => {}
        }
        if self.is_ns2() {
            self.counted_pipe += 1;
        }
        Some(choice.segment())
    }

    /// The segment that [`LossRecovery::take`] would give.
    pub(crate) fn peek(&mut self, window: &SendWindow, cwnd: u32) -> Option<Segment> {
        match self.kind {
            Recovery::LinuxNs2 => return self.choose_linux_ns2(window),
            Recovery::Quic => return self.choose_quic(window, cwnd),
            _ => {}
        }
        self.choose(window, cwnd).map(Choice::segment)
    }

    #[inline(always)]
    fn choose(&mut self, window: &SendWindow, cwnd: u32) -> Option<Choice> {
        if self.is_ns2() { self.choose_ns2(window) } else { self.choose_computed(window, cwnd) }
    }

    /// RFC 6675 section 4, `NextSeg`, while the computed `Pipe` is below the window.
    #[inline(always)]
    fn choose_computed(&mut self, window: &SendWindow, cwnd: u32) -> Option<Choice> {
        let repairing = self.phase != Phase::Open;
        // "HighACK is greater than RescueRxt": more than the first retransmission was acknowledged
        let may_rescue = self.kind == Recovery::Sack && window.una > self.rescue_rxt + 1;
        let board = self.board.kept_mut()?;
        if board.pipe() >= cwnd {
            None
        } else if let Some(lost) = board.next_lost().filter(|_| repairing) {
            Some(Choice::Again(lost))
        } else if window.has_new() {
            Some(Choice::New(window.nxt))
        } else if self.phase != Phase::Recovery {
            None
        } else if let Some(hole) = board.next_hole() {
            Some(Choice::Again(hole))
        } else if may_rescue {
            // rule 4: once, "the highest outstanding unSACKed sequence number"; "HighRxt MUST NOT be updated"
            board.highest_unsacked_below(self.recover).map(Choice::Rescue)
        } else {
            None
        }
    }

    /// What ns-2 sends in fast recovery while its counted pipe is below the window.
    #[inline(always)]
    fn choose_ns2(&mut self, window: &SendWindow) -> Option<Choice> {
        if self.is_pipe_full(window) {
            return None;
        }
        let hole = self.board.active_mut().and_then(|board| {
            board.declare_lost_below(board.highest_sacked()?);
            board.next_lost()
        });
        hole.map(Choice::Again).or_else(|| window.has_new().then_some(Choice::New(window.nxt)))
    }
}

/// What a scoreboard says is to be sent next.
#[derive(Clone, Copy, Debug)]
enum Choice {
    New(u32),
    Again(u32),
    Rescue(u32),
}

impl Choice {
    fn segment(self) -> Segment {
        match self {
            Choice::New(seq) => Segment { kind: SegmentKind::New, seq },
            Choice::Again(seq) | Choice::Rescue(seq) => Segment { kind: SegmentKind::Retransmission, seq },
        }
    }
}
