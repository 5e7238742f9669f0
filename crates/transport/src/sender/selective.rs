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

use bufferlab_congestion::CongestionEvent;
use bufferlab_units::Time;

use super::reduction::Reduction;
use super::timers::Timer;
use super::{DUP_ACKS, Phase, Segment, SegmentKind, Sender};
use crate::scoreboard::Scoreboard;
use crate::{Recovery, SackBlocks};

impl Sender {
    /// The scoreboard, describing what is outstanding now.
    pub(super) fn activate_board(&mut self) -> &mut Scoreboard {
        let (una, nxt) = (self.una, self.sent_to);
        let restart = !self.board_active;
        self.board_active = true;
        let by_order = self.recovery == Recovery::Linux;
        let board = self.board.get_or_insert_with(|| Box::new(Scoreboard::new(una, una, by_order)));
        if restart {
            board.restart(una, nxt);
        }
        board
    }

    /// A new acknowledgment came while there is a scoreboard, or brings the first blocks.
    pub(super) fn update_or_forget_board(&mut self, sack: &SackBlocks) {
        if self.ns2 && self.phase != Phase::Recovery {
            self.board_active = false;
        } else {
            self.update_board(sack);
        }
    }

    /// Takes an acknowledgment's blocks into the scoreboard; how many segments it SACKs for the first time.
    pub(super) fn update_board(&mut self, sack: &SackBlocks) -> u32 {
        let una = self.una;
        let computed = self.recovery.computes_pipe();
        let repairing = self.phase != Phase::Open;
        // what is in the network is counted until the recovery's end: Linux's window follows it, and a rescue may come
        let counting = computed && self.phase == Phase::Recovery;
        let mut pace = self.pace.take();
        let mut tell = |seq| {
            if let Some(rates) = pace.as_deref_mut().and_then(|pace| pace.rates.as_mut()) {
                rates.on_delivered(seq);
            }
        };
        let board = self.activate_board();
        let covered = board.advance(una);
        let newly: u32 = sack.ranges().iter().map(|&(start, end)| board.sack(start, end, &mut tell)).sum();
        if computed && repairing {
            board.mark_lost();
        }
        if board.is_idle() && !counting {
            board.rest();
            self.board_active = false;
        }
        self.pace = pace;
        self.newly += covered + newly;
        newly
    }

    /// RFC 6675 section 2: a duplicate is an acknowledgment that SACKs something new.
    pub(super) fn on_duplicate_selective(&mut self, now: Time, sack: &SackBlocks) {
        if self.ns2 && !self.duplicates_count {
            return;
        }
        let newly = if sack.is_empty() { 0 } else { self.update_board(sack) };
        match self.phase {
            Phase::Open if newly > 0 => {
                self.dup_acks += 1;
                // step 2: "DupAcks >= DupThresh" or "IsLost (HighACK + 1)"
                let lost = self.dup_acks >= DUP_ACKS || self.first_is_lost();
                if lost && self.una >= self.recover {
                    self.enter_selective_recovery(now);
                } else if self.early {
                    self.set_reordering_timer(now);
                }
            }
            Phase::Loss if newly > 0 && self.ns2 => self.dup_acks += 1,
            Phase::Recovery => self.counted_pipe -= 1,
            _ => {}
        }
    }

    fn first_is_lost(&self) -> bool {
        let board = self.board.as_deref().filter(|_| self.board_active && self.recovery.computes_pipe());
        board.is_some_and(Scoreboard::first_is_lost)
    }

    /// RFC 6675 section 5 step 4.
    pub(super) fn enter_selective_recovery(&mut self, now: Time) {
        self.counters.recoveries += 1;
        self.timed = None;
        self.recover = self.sent_to;
        self.counted_pipe = i64::from(self.sent_to - self.una) - i64::from(DUP_ACKS);
        self.reduction = Reduction::from(self.cwnd_whole);
        self.tell_control(now, CongestionEvent::Loss);
        self.phase = Phase::Recovery;
        // (4.3): "to prevent [...] a premature rescue retransmission"
        self.rescue_rxt = self.una;
        self.resend_first = true;
        self.timer_deadline = now + self.rtt.rto();
        self.timer = Timer::Retransmission;
        let (una, computed) = (self.una, self.recovery.computes_pipe());
        let board = self.activate_board();
        board.mark_lost_below(una + 1);
        if computed {
            board.mark_lost();
        }
    }

    /// The next segment by RFC 6675.
    pub(super) fn next_selective(&mut self) -> Option<Segment> {
        let choice = self.choose_selective()?;
        match (choice, self.board.as_deref_mut()) {
            (Choice::New(_), _) => self.nxt += 1,
            (Choice::Again(seq), Some(board)) => board.on_retransmit(seq),
            (Choice::Rescue(last), Some(board)) => {
                board.on_rescue(last);
                self.rescue_rxt = self.recover;
            }
            _ => {}
        }
        Some(choice.segment())
    }

    /// RFC 6675 section 4, `NextSeg`, while the computed `Pipe` is below the window.
    #[inline(always)]
    pub(super) fn choose_selective(&mut self) -> Option<Choice> {
        let reducing = self.recovery == Recovery::Linux && self.phase == Phase::Recovery && !self.rated;
        let window = if reducing { self.reduction.window } else { self.cwnd_whole };
        let new_data = self.nxt < self.limit.min(self.una.saturating_add(self.receive_window));
        let repairing = self.phase != Phase::Open;
        // "HighACK is greater than RescueRxt": more than the first retransmission was acknowledged
        let may_rescue = self.recovery == Recovery::Sack && self.una > self.rescue_rxt + 1;
        let in_recovery = self.phase == Phase::Recovery;
        let recover = self.recover;
        let board = self.board.as_deref_mut()?;
        if board.pipe() >= window {
            None
        } else if let Some(lost) = board.next_lost().filter(|_| repairing) {
            Some(Choice::Again(lost))
        } else if new_data {
            Some(Choice::New(self.nxt))
        } else if !in_recovery {
            None
        } else if let Some(hole) = board.next_hole() {
            Some(Choice::Again(hole))
        } else if may_rescue {
            // rule 4: once, "the highest outstanding unSACKed sequence number"; "HighRxt MUST NOT be updated"
            board.highest_unsacked_below(recover).map(Choice::Rescue)
        } else {
            None
        }
    }

    /// The next segment as ns-2 has it.
    pub(super) fn next_selective_ns2(&mut self) -> Option<Segment> {
        let choice = self.choose_ns2()?;
        match (choice, self.board.as_deref_mut()) {
            (Choice::New(_), _) => self.nxt += 1,
            (Choice::Again(hole), Some(board)) => board.on_retransmit(hole),
            _ => {}
        }
        self.counted_pipe += 1;
        Some(choice.segment())
    }

    /// What ns-2 sends in fast recovery while its counted pipe is below the window.
    #[inline(always)]
    pub(super) fn choose_ns2(&mut self) -> Option<Choice> {
        if self.counted_pipe >= i64::from(self.cwnd_whole) {
            return None;
        }
        let new_data = self.nxt < self.limit.min(self.una.saturating_add(self.receive_window));
        let board = self.board.as_deref_mut().filter(|_| self.board_active);
        let hole = board.and_then(|board| {
            board.mark_lost_below(board.highest_sacked()?);
            board.next_lost()
        });
        hole.map(Choice::Again).or_else(|| new_data.then_some(Choice::New(self.nxt)))
    }
}

/// What a scoreboard says is to be sent next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    New(u32),
    Again(u32),
    Rescue(u32),
}

impl Choice {
    pub(super) fn segment(self) -> Segment {
        match self {
            Choice::New(seq) => Segment { kind: SegmentKind::New, seq },
            Choice::Again(seq) | Choice::Rescue(seq) => Segment { kind: SegmentKind::Retransmission, seq },
        }
    }
}
