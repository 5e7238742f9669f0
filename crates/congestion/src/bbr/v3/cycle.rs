//! `ProbeBW`: down, cruise, refill, up (section "`ProbeBW`" of the draft).

use bufferlab_units::{Span, Time};

use super::model::inflight_too_high;
use super::{Ack, BETA, Bbr3, State};

/// Least and spread of the time between probes (`PickProbeWait`: 2 s and up to another).
const PROBE_WAIT: (Span, u64) = (Span::from_s(2), Span::from_s(1).as_ps());
/// Rounds between probes after which Reno's flows have had their time (`IsRenoCoexistenceProbeTime`).
const RENO_ROUNDS: f64 = 63.0;
/// Bound of the number of rounds over which the long-term bound's growth doubles
/// (`RaiseInflightLongtermSlope`).
const MAX_UP_ROUNDS: u32 = 30;

/// What acknowledgments show of a probe (`ack_phase`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// State of the cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// Samples come from a probe (`is_bw_probe_sample`).
    pub(super) is_probe_sample: bool,
    /// Segments acknowledged since the long-term bound grew (`bw_probe_up_acked`).
    up_acked: f64,
    /// Segments for it to grow by one (`probe_up_acked_per_inc`).
    up_acked_per_inc: f64,
    /// Rounds in which it has grown (`bw_probe_up_rounds`).
    up_rounds: u32,
    /// Rounds since the last probe (`rounds_since_probe_up`).
    pub(super) rounds_since_probe: u32,
    /// Longest time to the next probe (`bw_probe_wait`).
    wait: Span,
    /// When the cycle began (`cycle_stamp`).
    begun: Time,
    /// The last probe lost too much (`prev_probe_too_high`).
    prev_too_high: bool,
    /// The last probe stopped where the one before had gone too far (`prev_probe_precautionary`).
    prev_precautionary: bool,
}

impl Cycle {
    pub(super) fn new() -> Cycle {
        Cycle {
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            up_acked: 0.0,
            up_acked_per_inc: f64::INFINITY,
            up_rounds: 0,
            rounds_since_probe: 0,
            wait: Span::ZERO,
            begun: Time::ZERO,
            prev_too_high: false,
            prev_precautionary: false,
        }
    }

    /// No probe runs any more, but its acknowledgments still come.
    pub(super) fn stop_probe(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }
}

impl Bbr3 {
    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if !self.full.reached || self.adapt_long_term(ack) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack) => self.start_refill(ack),
            State::Down if self.may_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.rounds.started => {
                self.cycle.is_probe_sample = true;
                self.start_up(ack);
            }
            State::Up => self.go_down_in_time(ack),
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, ack: &Ack) {
        self.reset_signals();
        self.cycle.up_acked_per_inc = f64::INFINITY;
        self.cycle.rounds_since_probe = self.stream.below(2) as u32;
        let (least, spread) = PROBE_WAIT;
        self.cycle.wait = least + Span::from_ps(self.stream.below(spread));
        self.cycle.begun = ack.now;
        self.cycle.stop_probe();
        self.rounds.end = ack.rate.delivered;
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    fn start_refill(&mut self, ack: &Ack) {
        self.reset_short_term();
        (self.cycle.up_rounds, self.cycle.up_acked) = (0, 0.0);
        self.cycle.prev_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.end = ack.rate.delivered;
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, ack: &Ack) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.rounds.end = ack.rate.delivered;
        self.full.reset(ack.bw);
        self.state = State::Up;
        self.raise_slope();
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, ack: &Ack) -> bool {
        let reno_rounds = self.target_inflight().min(RENO_ROUNDS);
        ack.now > self.cycle.begun + self.cycle.wait
            || f64::from(self.cycle.rounds_since_probe) >= reno_rounds
    }

    /// `IsTimeToCruise`.
    fn may_cruise(&self, ack: &Ack) -> bool {
        ack.inflight <= self.inflight_with_headroom() && ack.inflight <= self.inflight_for(self.max_bw(), 1.0)
    }

    /// `IsTimeToGoDown`, and what follows.
    fn go_down_in_time(&mut self, ack: &Ack) {
        let precautionary = self.cycle.prev_too_high && ack.inflight >= self.inflight_longterm;
        if precautionary {
            self.cycle.prev_precautionary = true;
        } else if self.is_cwnd_limited() && self.cwnd >= self.inflight_longterm {
            // the long-term bound, not the path, limits the bandwidth
            self.full.reset(ack.bw);
        }
        if precautionary || self.full.now {
            self.cycle.prev_too_high = false;
            self.start_down(ack);
        }
    }

    fn is_cwnd_limited(&self) -> bool {
        self.filled[0] || self.filled[1]
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.cycle.up_rounds);
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MAX_UP_ROUNDS);
        self.cycle.up_acked_per_inc = (self.cwnd / growth).max(1.0);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, ack: &Ack) {
        if !self.is_cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.cycle.up_acked += ack.acked;
        if self.cycle.up_acked >= self.cycle.up_acked_per_inc {
            let steps = (self.cycle.up_acked / self.cycle.up_acked_per_inc).floor();
            self.cycle.up_acked -= steps * self.cycle.up_acked_per_inc;
            self.inflight_longterm += steps;
        }
        if self.rounds.started {
            self.raise_slope();
        }
    }

    /// `AdaptLongTermModel`; true if it decided the next state.
    fn adapt_long_term(&mut self, ack: &Ack) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.rounds.started {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.rounds.started {
            self.cycle.is_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !ack.limited {
                self.advance_max_bw();
            }
            if self.state.is_probe_bw() && self.cycle.prev_precautionary && !self.cycle.prev_too_high {
                self.start_refill(ack);
                return true;
            }
        }
        if !inflight_too_high(&ack.rate) && self.inflight_longterm.is_finite() {
            self.inflight_longterm = self.inflight_longterm.max(f64::from(ack.rate.tx_in_flight));
            if self.state == State::Up {
                self.probe_upward(ack);
            }
        }
        false
    }

    /// `AdvanceMaxBwFilter`; a cycle without samples is no cycle.
    fn advance_max_bw(&mut self) {
        if self.max_bw[0] > 0.0 {
            self.max_bw = [0.0, self.max_bw[0]];
        }
    }

    /// `HandleInflightTooHigh`.
    pub(super) fn handle_inflight_too_high(&mut self, ack: &Ack, inflight_at_loss: f64) {
        self.cycle.prev_too_high = true;
        self.cycle.is_probe_sample = false;
        if !ack.limited {
            self.inflight_longterm = inflight_at_loss.max(BETA * self.target_inflight());
        }
        if self.state == State::Up {
            self.start_down(ack);
        }
    }
}

#[cfg(test)]
mod tests;
