//! Loss recovery: which segments are lost, and which are retransmitted.
//!
//! One file per family: `counting` for the recoveries that count duplicate acknowledgments, `counting_ns2` for ns-2's,
//! `selective` for those with SACK, `linux_ns2` for ns-2's `Agent/TCP/Linux`, `quic` with its `ledger` of packets for QUIC.
//! [`LossRecovery`] keeps the state of all. Clocks, timers and the congestion control are the sender's.
//!
//! Departures:
//! - a timeout declares everything outstanding lost; RFC 8985 section 6.3 and Linux (`tcp_timeout_mark_lost`) spare
//!   segments sent within the last round-trip time, but the scoreboard keeps no times. Segments are sent in response
//!   to acknowledgments, and at a timeout no new one has come for longer than that.

mod board;
mod counting;
mod counting_ns2;
mod ledger;
mod linux_ns2;
mod phase;
mod prompt;
mod quic;
mod reduction;
mod resent;
mod scoreboard;
mod selective;

use bufferlab_congestion::CongestionEvent;

use crate::delivery::DeliveryRate;
use crate::segment::{Segment, SegmentKind};
use crate::window::SendWindow;
use crate::{Recovery, SackBlocks};
use board::Board;
use linux_ns2::LinuxNs2;
pub(crate) use phase::{Phase, Progress, Suspicion};
use quic::Quic;
use reduction::Reduction;
use scoreboard::DUP_THRESH;

/// A connection's losses and their repair.
#[derive(Clone, Debug)]
pub(crate) struct LossRecovery {
    phase: Phase,
    kind: Recovery,
    /// RFC 3042: a new segment for each of the first two duplicate acknowledgments.
    limited_transmit: bool,
    /// The first outstanding segment (or the SYN) must be sent again, whatever the window.
    resend_first: bool,
    /// The first partial acknowledgment of this recovery has come (RFC 6582 section 3.2 step 3).
    partial_seen: bool,
    board: Board,
    /// Duplicate acknowledgments in a row.
    dup_acks: u32,
    /// The recovery ends when everything below is acknowledged (RFC 6582's and 6675's recover).
    recover: u32,
    /// The first outstanding segment at the last timeout; while it still is, ns-2 ignores duplicates.
    stalled_at: u32,
    /// Segments that this acknowledgment reports for the first time; known where recovery uses SACK.
    newly: u32,
    /// ns-2's limited transmit: this segment, the next one, is for the duplicate that has just come.
    prompt: u32,
    /// Segments that fast recovery adds to the window (RFC 5681 section 3.2 steps 3 and 4).
    inflation: u32,
    /// RFC 6675's `RescueRxt`: a rescue waits until something beyond is acknowledged.
    rescue_rxt: u32,
    /// How the window comes down in fast recovery (Linux).
    reduction: Reduction,
    /// It comes down by a mark, without a loss.
    reduces: bool,
    /// ns-2's count of segments in the network during fast recovery; may pass below zero.
    counted_pipe: i32,
    timeouts: u32,
    recoveries: u32,
}

impl LossRecovery {
    pub(crate) fn new(kind: Recovery, limited_transmit: bool) -> LossRecovery {
        LossRecovery {
            phase: Phase::Idle,
            kind,
            limited_transmit,
            resend_first: false,
            partial_seen: false,
            board: match kind {
                Recovery::LinuxNs2 => Board::LinuxNs2(Box::new(LinuxNs2::new())),
                Recovery::Quic => Board::Quic(Box::default()),
                _ => Board::default(),
            },
            dup_acks: 0,
            recover: 0,
            stalled_at: u32::MAX,
            newly: 0,
            prompt: u32::MAX,
            inflation: 0,
            rescue_rxt: 0,
            reduction: Reduction::default(),
            reduces: false,
            counted_pipe: 0,
            timeouts: 0,
            recoveries: 0,
        }
    }

    /// A new connection begins, whose first segment is `una`; the counters go on.
    pub(crate) fn restart(&mut self, una: u32) {
        self.board.rest();
        self.restart_linux_ns2();
        self.restart_quic(una);
        *self = LossRecovery {
            board: std::mem::take(&mut self.board),
            recover: una,
            rescue_rxt: una,
            timeouts: self.timeouts,
            recoveries: self.recoveries,
            ..LossRecovery::new(self.kind, self.limited_transmit)
        };
    }

    /// Opens the connection: with a SYN, or with data at once.
    pub(crate) fn start(&mut self, handshake: bool) {
        debug_assert_eq!(self.phase, Phase::Idle);
        self.phase = if handshake { Phase::SynSent } else { Phase::Open };
        self.resend_first = handshake;
        self.note_syn(handshake);
    }

    /// The SYN is answered.
    pub(crate) fn on_syn_ack(&mut self) {
        self.phase = Phase::Open;
        self.resend_first = false;
        self.note_syn(false);
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    #[inline]
    pub(crate) fn kind(&self) -> Recovery {
        self.kind
    }

    /// Retransmission timeouts so far.
    pub(crate) fn timeouts(&self) -> u64 {
        self.timeouts.into()
    }

    /// Fast recoveries entered so far.
    pub(crate) fn recoveries(&self) -> u64 {
        self.recoveries.into()
    }

    /// Segments that the acknowledgment being read reports for the first time.
    pub(crate) fn newly(&self) -> u32 {
        self.newly
    }

    /// Another acknowledgment, or a timer in its place, is read.
    pub(crate) fn begin_ack(&mut self) {
        (self.newly, self.prompt) = (0, u32::MAX);
    }

    /// Segments that fast recovery adds to the window.
    pub(crate) fn inflation(&self) -> u32 {
        self.inflation
    }

    /// The first outstanding segment (or the SYN) must be sent again, whatever the window.
    pub(crate) fn resends_first(&self) -> bool {
        self.resend_first
    }

    /// The window that takes the place of the congestion window while it comes down.
    pub(crate) fn reduced_window(&self) -> Option<u32> {
        let reduces = self.phase == Phase::Recovery || self.reduces;
        (reduces && self.kind == Recovery::Linux).then(|| self.reduction.window())
    }

    /// Whether the rules of recovery, and not the windows alone, decide what is sent next.
    #[inline]
    pub(crate) fn decides(&self) -> bool {
        self.resend_first
            || match self.kind {
                kind if kind.decides_always() => true,
                Recovery::Sack | Recovery::Linux => self.board.is_active(),
                Recovery::SackNs2 => self.phase == Phase::Recovery,
                _ => false,
            }
    }

    /// Whether no loss is being repaired, nor suspected.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.is_quiet() && self.dup_acks == 0
    }

    /// Whether no loss is being repaired and nothing came out of order.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        self.phase == Phase::Open && !self.board.is_active()
    }

    /// Whether segments arrived out of order, but none is considered lost yet.
    pub(crate) fn is_reordered(&self) -> bool {
        self.phase == Phase::Open && self.board.is_active()
    }

    /// Segments that may be sent beyond the congestion window.
    #[inline]
    pub(crate) fn extra(&self, window: &SendWindow) -> u32 {
        let limited = self.phase == Phase::Open || self.is_ns2() && self.phase == Phase::Loss;
        if !(self.limited_transmit && limited) {
            self.inflation
        } else if self.is_ns2() && self.prompt != window.nxt {
            0
        } else {
            self.dup_acks.min(DUP_THRESH - 1)
        }
    }

    /// Segments believed to be in the network: RFC 6675's `Pipe` with SACK, else what is outstanding.
    pub(crate) fn pipe(&self, window: &SendWindow) -> u32 {
        match self.computed_board() {
            Some(board) => board.pipe(),
            None if self.kind == Recovery::LinuxNs2 => self.in_flight_linux_ns2(window),
            None if self.phase == Phase::Recovery && self.kind == Recovery::SackNs2 => {
                self.counted_pipe.max(0) as u32
            }
            None => self.quic().map_or(window.flight(), Quic::in_flight),
        }
    }

    /// New segments that the windows admit now.
    pub(crate) fn room(&self, window: &SendWindow) -> u32 {
        match self.computed_board() {
            Some(board) => window.cwnd.saturating_sub(board.pipe()).min(window.advertised_room()),
            None if self.kind == Recovery::Quic => {
                window.cwnd.saturating_sub(self.pipe(window)).min(window.advertised_room())
            }
            None => window.bound(self.extra(window)).saturating_sub(window.nxt),
        }
    }

    /// Segments considered lost so far.
    pub(crate) fn losses(&self) -> u64 {
        self.board.losses()
    }

    /// New data up to `window.una` is acknowledged, `acked` segments of it.
    pub(crate) fn on_new_ack(
        &mut self,
        window: &SendWindow,
        acked: u32,
        sack: &SackBlocks,
        rates: Option<&mut DeliveryRate>,
    ) {
        // what was to be sent again has come: a host that takes its time may not have sent it yet
        self.resend_first = false;
        self.newly = if self.board.is_active() { 0 } else { acked };
        if self.board.is_active() || !sack.is_empty() {
            self.update_or_forget_board(window, sack, rates);
        }
    }

    /// The same in fast recovery.
    pub(crate) fn on_new_ack_in_recovery(&mut self, window: &SendWindow, acked: u32) -> Progress {
        if window.una >= self.recover || matches!(self.kind, Recovery::Reno | Recovery::RenoNs2) {
            self.phase = Phase::Open;
            (self.dup_acks, self.inflation) = (0, 0);
            return Progress::Ended;
        }
        let again = std::mem::replace(&mut self.partial_seen, true);
        // RFC 6582 section 3.2 step 3: only the first partial acknowledgment resets the timer; ns-2 too (newreno_changes1_)
        let resets_timer = !again || !matches!(self.kind, Recovery::NewReno | Recovery::NewRenoNs2);
        let mut deflation = 0;
        match self.kind {
            Recovery::NewReno => self.on_partial_ack(acked),
            Recovery::NewRenoNs2 => deflation = self.on_partial_ack_ns2(acked),
            // ns-2: one for the acknowledgment, one for the retransmission that it answers
            Recovery::SackNs2 => self.counted_pipe -= 2,
            _ => {}
        }
        Progress::Partial { resets_timer, deflation }
    }

    /// The same after a timeout; whether everything that was out then is acknowledged.
    pub(crate) fn on_new_ack_after_timeout(&mut self, window: &SendWindow) -> bool {
        self.dup_acks = 0;
        let ends = window.una >= self.recover;
        if ends {
            self.phase = Phase::Open;
        }
        ends
    }

    /// The same if nothing is being repaired.
    pub(crate) fn on_new_ack_in_order(&mut self) {
        self.dup_acks = 0;
    }

    /// Whether an acknowledgment of this number is one in fast recovery that does not end it.
    pub(crate) fn is_partial(&self, ack: u32) -> bool {
        self.phase == Phase::Recovery && ack < self.recover
    }

    /// Nothing new is acknowledged cumulatively, though something is out.
    pub(crate) fn on_duplicate(
        &mut self,
        window: &SendWindow,
        sack: &SackBlocks,
        rates: Option<&mut DeliveryRate>,
    ) -> Suspicion {
        if self.kind.uses_sack() {
            self.on_duplicate_selective(window, sack, rates)
        } else if self.kind.counts_as_ns2() {
            self.on_duplicate_counting_ns2(window)
        } else {
            self.on_duplicate_counting(window)
        }
    }

    /// The event that the congestion control gets when a loss is detected.
    pub(crate) fn loss_event(&self) -> CongestionEvent {
        if self.kind == Recovery::Tahoe {
            // Jacobson 1988 has no fast recovery: the same as a timeout, without the wait
            CongestionEvent::Timeout { repeated: false }
        } else {
            CongestionEvent::Loss
        }
    }

    /// A loss was detected and reported to the congestion control: fast recovery begins.
    pub(crate) fn enter(&mut self, window: &mut SendWindow) {
        self.recoveries += 1;
        self.recover = window.sent_to;
        if self.kind.uses_sack() { self.enter_selective(window) } else { self.enter_counting(window) }
    }

    /// An acknowledgment came in fast recovery, or began it: the window comes down to `target`. It made `progress` if
    /// new data was acknowledged and no new loss found.
    pub(crate) fn reduce(&mut self, window: &SendWindow, target: u32, progress: bool) {
        if self.kind == Recovery::Linux {
            self.reduction.on_ack(self.newly, self.pipe(window), target, progress);
        }
    }

    /// A mark reduces the window, which was `prior`: without a loss it comes down in the same way.
    pub(crate) fn begin_reduction(&mut self, prior: u32) {
        (self.reduction, self.reduces) = (Reduction::from(prior), true);
    }

    /// What was out at a mark is acknowledged, or a loss takes its place. Whether the window was coming down.
    pub(crate) fn end_reduction(&mut self) -> bool {
        std::mem::take(&mut self.reduces)
    }

    /// Whether the window comes down by a mark.
    #[inline]
    pub(crate) fn is_reducing(&self) -> bool {
        self.reduces
    }

    /// RFC 5681 section 3.1 and RFC 6298 section 5: slow start from one segment; RFC 6582 section 3.2 and RFC
    /// 6675 section 5.1: no fast recovery until all that is out now is acknowledged.
    pub(crate) fn on_timeout(&mut self, window: &mut SendWindow) {
        self.timeouts += 1;
        self.phase = Phase::Loss;
        // Agent/TCP/Sack1 asks for an acknowledgment beyond, not of, what was out
        self.recover = window.sent_to + u32::from(self.kind == Recovery::SackNs2);
        self.stalled_at = window.una;
        (self.dup_acks, self.inflation, self.resend_first) = (0, 0, false);
        if self.kind == Recovery::LinuxNs2 {
            self.time_out_linux_ns2(window);
        } else if self.kind.computes_pipe() {
            self.activate_board(window).declare_all_lost();
        } else {
            self.board.rest();
            window.go_back();
        }
    }

    /// The SYN is to be sent again.
    pub(crate) fn on_syn_timeout(&mut self) {
        self.resend_first = true;
    }

    /// The first outstanding segment, to be sent again, or the SYN.
    pub(crate) fn take_first(&mut self, window: &mut SendWindow) -> Segment {
        self.resend_first = false;
        if self.phase == Phase::SynSent {
            return Segment { kind: SegmentKind::Syn, seq: 0 };
        }
        if let Some(board) = self.board.active_mut() {
            board.on_retransmit(window.una);
        }
        window.resend_first();
        Segment { kind: SegmentKind::Retransmission, seq: window.una }
    }

    /// A segment is sent for the first time.
    #[inline(always)]
    pub(crate) fn on_new(&mut self) {
        if let Some(board) = self.board.active_mut() {
            board.on_new();
        }
    }

    /// A segment is sent while the window comes down.
    #[inline]
    pub(crate) fn on_sent(&mut self) {
        if self.phase == Phase::Recovery || self.reduces {
            self.reduction.on_sent();
        }
    }

    fn is_ns2(&self) -> bool {
        self.kind.is_ns2()
    }
}

#[cfg(test)]
mod tests;
