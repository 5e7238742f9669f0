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
    use bufferlab_units::{Span, Stream, Time};

    use super::super::State;
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

    fn control(state: State) -> Bbr3 {
        let mut control = Bbr3::new(10, Stream::new(1, 2, 3));
        (control.state, control.cwnd, control.bw, control.max_bw) = (state, 100.0, 1_000.0, [1_000.0, 0.0]);
        control
    }

    fn ack(ms: u64, acked: u32, bw: f64, rate: RateSample) -> Ack {
        let now = Time::ZERO + Span::from_ms(ms);
        Ack { now, acked: f64::from(acked), inflight: 50.0, rtt: None, rate, bw, limited: false }
    }

    /// `UpdateMaxBw`: a limited sample counts where it is no smaller than what is known.
    #[test]
    fn limited_samples_teach_a_larger_bandwidth_only() {
        for (bw, limited, max_bw) in
            [(900.0, false, 900.0), (900.0, true, 800.0), (1_000.0, true, 1_000.0), (1_100.0, true, 1_100.0)]
        {
            let mut control = control(State::Cruise);
            // the cycle before had more than this one so far
            control.max_bw = [800.0, 1_000.0];
            control.update_signals(&Ack { limited, ..ack(0, 1, bw, RateSample::default()) });
            assert_eq!(control.max_bw, [max_bw, 1_000.0], "{bw} {limited}");
        }
        let mut none = control(State::Cruise);
        none.max_bw = [0.0; 2];
        none.update_signals(&ack(0, 1, 0.0, RateSample::default()));
        assert_eq!(none.max_bw, [0.0; 2]);
    }

    /// `C.is_cwnd_limited`: another segment would not have been within the window; known of this round and the last.
    #[test]
    fn a_window_is_filled_where_one_segment_more_is_too_many() {
        let mut control = control(State::Cruise);
        control.rounds.end = 1_000;
        let mut seen = Vec::new();
        for (tx_in_flight, prior_delivered) in [(99, 0), (100, 0), (50, 0), (50, 1_000), (50, 2_000)] {
            let rate = RateSample {
                tx_in_flight,
                prior_delivered,
                delivered: prior_delivered + 1_000,
                ..losing(0, 0)
            };
            control.update_signals(&ack(0, 1, 1_000.0, rate));
            seen.push(control.filled);
        }
        assert_eq!(seen, [[false, false], [true, false], [true, false], [false, true], [false, false]]);
        assert_eq!(control.cycle.rounds_since_probe, 2);
    }

    /// `AdaptLowerBoundsFromCongestion`: what was delivered last, or 0.7 of the bound, and not while probing.
    #[test]
    fn a_round_with_losses_lowers_the_short_term_bounds() {
        let mut control = control(State::Cruise);
        (control.loss_in_round, control.bw_latest, control.inflight_latest) = (true, 800.0, 60.0);
        control.adapt_lower_bounds();
        assert_eq!((control.bw_shortterm, control.inflight_shortterm), (800.0, 70.0));
        control.adapt_lower_bounds();
        assert_eq!((control.bw_shortterm, control.inflight_shortterm), (800.0, 70.0), "none without losses");
        (control.loss_in_round, control.bw_latest, control.inflight_latest) = (true, 100.0, 65.0);
        control.adapt_lower_bounds();
        assert_eq!((control.bw_shortterm.round(), control.inflight_shortterm), (560.0, 65.0));
        for state in [State::Startup, State::Refill, State::Up] {
            let mut control = super::tests::control(state);
            control.loss_in_round = true;
            control.adapt_lower_bounds();
            assert!(control.bw_shortterm.is_infinite() && !control.loss_in_round, "{state:?}");
        }
    }

    /// `UpdateLatestDeliverySignals` and `UpdateCongestionSignals`: the largest of a round of losses, judged at its end.
    #[test]
    fn a_round_of_losses_ends_when_what_was_sent_after_its_start_is_acknowledged() {
        let mut control = control(State::Cruise);
        (control.loss_round_end, control.loss_in_round) = (1_000, true);
        let rate =
            |delivered, prior_delivered| RateSample { delivered, prior_delivered, ..RateSample::default() };
        for (bw, delivered, prior_delivered, started) in
            [(700.0, 950, 900, false), (600.0, 1_060, 1_000, true)]
        {
            let seen = ack(0, 1, bw, rate(delivered, prior_delivered));
            control.update_latest(&seen);
            control.update_signals(&seen);
            assert_eq!(control.loss_round_started, started);
        }
        assert_eq!(
            (control.bw_latest, control.inflight_latest, control.loss_round_end),
            (700.0, 60.0, 1_060)
        );
        assert_eq!((control.bw_shortterm, control.inflight_shortterm), (700.0, 70.0));
    }

    /// `NoteLoss`: the first loss begins a round of losses; each acknowledgment that reveals some counts.
    #[test]
    fn losses_are_counted_by_the_acknowledgments_that_reveal_them() {
        let mut control = control(State::Cruise);
        let mut seen = Vec::new();
        for (lost, delivered) in [(0, 100), (3, 200), (3, 300), (5, 400)] {
            control.note_losses(&ack(0, 1, 1.0, RateSample { delivered, lost, ..RateSample::default() }));
            seen.push((control.loss_acks, control.loss_round_end, control.loss_in_round));
        }
        assert_eq!(seen, [(0, 0, false), (1, 200, true), (1, 200, true), (2, 200, true)]);
    }

    /// `UpdateACKAggregation`.
    #[test]
    fn an_excess_of_acknowledgments_adds_up_until_the_bandwidth_explains_it() {
        let mut control = control(State::Cruise);
        control.full.reached = true;
        let update = |control: &mut Bbr3, ms, acked| {
            control.update_aggregation(&ack(ms, acked, 1_000.0, RateSample::default()));
            (control.extra_delivered, control.extra_acked.best())
        };
        assert_eq!(update(&mut control, 10, 30), (30.0, 30.0));
        assert_eq!(update(&mut control, 20, 30), (60.0, 50.0));
        assert_eq!(update(&mut control, 70, 45), (45.0, 50.0), "60 ms explain 60: it starts over");
        assert_eq!(update(&mut control, 70, 100), (145.0, 100.0), "never more than the window");
        // "in Startup, just remember 1 round"
        (control.full.reached, control.rounds.started, control.rounds.count) = (false, true, 1);
        assert_eq!(update(&mut control, 100, 1).1, 100.0);
        control.rounds.count = 2;
        assert_eq!(update(&mut control, 2_000, 1).1, 1.0);
        (control.full.reached, control.rounds.count) = (true, 3);
        assert_eq!(update(&mut control, 2_000, 50).1, 51.0);
        control.rounds.count = 4;
        assert_eq!(update(&mut control, 9_000, 1).1, 51.0);
    }
}
