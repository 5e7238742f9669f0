//! Probing for bandwidth: the cycle of gains.

use bufferlab_units::{Span, Time};

use super::{Bbr1, Mode};

/// Gains of the rate while probing for bandwidth, a round-trip time each (`bbr_pacing_gain`).
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Phases that a cycle may begin with, counted back from its last: all but draining (`bbr_cycle_rand`).
const FIRST_PHASES: u64 = 7;

impl Bbr1 {
    /// `bbr_packets_in_net_at_edt`: of `inflight` segments, what will be in the network when the next packet may leave,
    /// with it where the flight is to grow.
    pub(super) fn inflight_at_departure(&self, inflight: f64, until_release: Span) -> f64 {
        let delivered = (self.bandwidth() * until_release.as_s()) as i64 as f64;
        let departing = if self.pacing_gain() > 1.0 { self.tso_goal } else { 0.0 };
        (inflight + departing - delivered).max(0.0)
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_phase(&mut self, now: Time, prior_inflight: f64, until_release: Span, lost: bool) {
        if self.mode != Mode::ProbeBw {
            return;
        }
        let full_length = self.min_rtt.is_some_and(|rtt| now.saturating_since(self.phase_at) > rtt);
        let inflight = || self.inflight_at_departure(prior_inflight, until_release);
        let gain = self.pacing_gain();
        let over = if gain > 1.0 {
            full_length && (lost || inflight() >= self.target_inflight(gain))
        } else if gain < 1.0 {
            full_length || inflight() <= self.target_inflight(1.0)
        } else {
            full_length
        };
        if over {
            (self.phase, self.phase_at) = ((self.phase + 1) % CYCLE.len(), now);
        }
    }

    pub(super) fn begin_cycle(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        let before = CYCLE.len() - 1 - self.stream.below(FIRST_PHASES) as usize;
        (self.phase, self.phase_at) = ((before + 1) % CYCLE.len(), now);
    }
}
