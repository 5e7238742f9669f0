//! What acknowledgments and losses teach about the path (section "Updating Network Path Model Parameters").

use super::super::MaxFilter;
use super::{Ack, BETA, Bbr3, LOSS_THRESH};
use crate::RateSample;

/// Estimates whether the pipe is full (section "Exiting Acceleration Based on Bandwidth Plateau").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// Bandwidth at the last large growth (`full_bw`), segments a second.
    pub(super) bw: f64,
    /// Rounds since (`full_bw_count`).
    pub(super) rounds: u32,
    /// Full since the search began (`full_bw_now`).
    pub(super) now: bool,
    /// Full at least once (`full_bw_reached`).
    pub(super) reached: bool,
}

impl FullPipe {
    /// `ResetFullBW`, with the baseline that some callers set after.
    pub(super) fn reset(&mut self, bw: f64) {
        (self.bw, self.rounds, self.now) = (bw, 0, false);
    }
}

impl Bbr3 {
    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest(&mut self, ack: &Ack) {
        self.bw_latest = self.bw_latest.max(ack.bw);
        self.inflight_latest = self.inflight_latest.max(ack.rate.volume() as f64);
        self.loss_round_started = ack.rate.prior_delivered >= self.loss_round_end;
        if self.loss_round_started {
            self.loss_round_end = ack.rate.delivered;
        }
    }

    /// `UpdateMaxBw` with `UpdateRound`, then `UpdateCongestionSignals`.
    pub(super) fn update_signals(&mut self, ack: &Ack) {
        self.rounds.update(&ack.rate);
        if self.rounds.started {
            self.cycle.rounds_since_probe += 1;
            self.filled = [false, self.filled[0]];
        }
        self.filled[0] |= f64::from(ack.rate.tx_in_flight) + 1.0 > self.cwnd;
        if ack.bw > 0.0 && (ack.bw >= self.max_bw() || !ack.limited) {
            self.max_bw[0] = self.max_bw[0].max(ack.bw);
        }
        if self.loss_round_started {
            self.adapt_lower_bounds();
        }
    }

    /// `AdaptLowerBoundsFromCongestion`: once a round that had losses, outside of probes.
    fn adapt_lower_bounds(&mut self) {
        if self.loss_in_round && !self.state.probes_bandwidth() {
            if self.bw_shortterm.is_infinite() {
                self.bw_shortterm = self.max_bw();
            }
            if self.inflight_shortterm.is_infinite() {
                self.inflight_shortterm = self.cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
            self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
        }
        self.loss_in_round = false;
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_signals(&mut self) {
        (self.loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
    }

    /// `UpdateACKAggregation`.
    pub(super) fn update_aggregation(&mut self, ack: &Ack) {
        let mut expected = self.bw * ack.now.saturating_since(self.extra_begun).as_s();
        if self.extra_delivered <= expected {
            (self.extra_delivered, self.extra_begun, expected) = (0.0, ack.now, 0.0);
        }
        self.extra_delivered += ack.acked;
        let extra = (self.extra_delivered - expected).min(self.cwnd);
        if !self.full.reached && self.rounds.started {
            // "in Startup, just remember 1 round"
            self.extra_acked = MaxFilter { time: self.rounds.count, ..MaxFilter::EMPTY };
        }
        self.extra_acked.update(self.rounds.count, extra);
    }

    /// `NoteLoss` and `HandleLostPacket`.
    pub(super) fn note_losses(&mut self, ack: &Ack) {
        let revealed = ack.rate.lost.saturating_sub(self.lost);
        self.lost = self.lost.max(ack.rate.lost);
        if revealed == 0 {
            return;
        }
        if !self.loss_in_round {
            self.loss_round_end = ack.rate.delivered;
        }
        self.loss_in_round = true;
        self.loss_acks = self.loss_acks.saturating_add(1);
        if self.cycle.is_probe_sample && inflight_too_high(&ack.rate) {
            self.handle_inflight_too_high(ack, inflight_at_loss(&ack.rate, revealed));
        }
    }
}

/// `IsInflightTooHigh`, for connections with SACK.
pub(super) fn inflight_too_high(rate: &RateSample) -> bool {
    rate.losses() as f64 > f64::from(rate.tx_in_flight) * LOSS_THRESH
}

/// `InflightAtLoss`: what was in flight when losses passed the threshold; the `revealed` segments are the
/// packet.
fn inflight_at_loss(rate: &RateSample, revealed: u64) -> f64 {
    let size = revealed as f64;
    let inflight_before = (f64::from(rate.tx_in_flight) - size).max(0.0);
    let lost_before = (rate.losses() as f64 - size).max(0.0);
    inflight_before + ((LOSS_THRESH * inflight_before - lost_before) / (1.0 - LOSS_THRESH)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losing(tx_in_flight: u32, lost: u64) -> RateSample {
        RateSample { tx_in_flight, lost, ..RateSample::default() }
    }

    #[test]
    fn two_per_cent_are_tolerated() {
        assert!(!inflight_too_high(&losing(1_000, 20)));
        assert!(inflight_too_high(&losing(1_000, 21)));
    }

    #[test]
    fn the_bound_is_where_losses_passed_the_threshold() {
        // of 1,000 in flight the last 30 are lost: (970 + x)·2 % = x
        assert!((inflight_at_loss(&losing(1_000, 30), 30) - 970.0 / 0.98).abs() < 1e-9);
        // 40 were lost before: the threshold had been passed
        assert_eq!(inflight_at_loss(&losing(1_000, 41), 1), 999.0);
    }
}
