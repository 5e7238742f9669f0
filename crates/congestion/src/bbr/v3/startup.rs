//! `Startup` and `Drain`: until the pipe is full, and until its queue is empty again (sections "Startup" and "Drain").

use super::super::{FULL_BW_GROWTH, FULL_BW_ROUNDS};
use super::model::inflight_too_high;
use super::{Ack, Bbr3, State};

/// Acknowledgments with losses in a round that may end startup (`BBRStartupFullLossCnt`).
const STARTUP_FULL_LOSSES: u32 = 6;
/// Rounds after which drain ends whatever is in flight (`CheckDrainDone`).
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3 {
    /// `CheckFullBWReached`.
    pub(super) fn check_full_pipe(&mut self, ack: &Ack) {
        if self.full.now || !self.rounds.started || ack.limited {
            return;
        }
        if ack.bw >= self.full.bw * FULL_BW_GROWTH {
            self.full.reset(ack.bw);
            return;
        }
        self.full.rounds += 1;
        self.full.now = self.full.rounds >= FULL_BW_ROUNDS;
        self.full.reached |= self.full.now;
    }

    /// `CheckStartupDone` with `CheckStartupHighLoss`.
    pub(super) fn check_startup(&mut self, ack: &Ack) {
        // a round that began with its first loss has spent all of it in fast recovery
        if !self.full.reached
            && self.loss_round_started
            && self.loss_acks >= STARTUP_FULL_LOSSES
            && inflight_too_high(&ack.rate)
        {
            self.full.reached = true;
            self.inflight_longterm = self.bdp(self.max_bw(), 1.0).max(self.inflight_latest);
        }
        if self.loss_round_started {
            self.loss_acks = 0;
        }
        if self.state == State::Startup && self.full.reached {
            (self.state, self.drain_round) = (State::Drain, self.rounds.count);
        }
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain(&mut self, ack: &Ack) {
        let drained = ack.inflight <= self.inflight_for(self.bw, 1.0);
        let long = self.rounds.count > self.drain_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (drained || long) {
            self.start_down(ack);
        }
    }
}
