//! BBR version 3: version 1's model with bounds that losses teach.
//!
//! Source: draft-ietf-ccwg-bbr, the working group's text of 2026 (commit 007dbe1f), whose function names the
//! comments give. `model` has the path's model, `startup` the states `Startup` and `Drain`, `cycle` and `probe_rtt` the
//! states `ProbeBW` and `ProbeRTT`, this file the rest.
//!
//! Departures:
//! - a loss is judged by the rate sample of the acknowledgment that revealed it, not by the lost packet's
//!   own (`HandleLostPacket`); SACK reveals it within a few segments, so the two differ by as much;
//! - losses in startup are counted by acknowledgments that reveal some, as Linux's v3 does, not by ranges,
//!   and a round of losses stands for a round in fast recovery;
//! - no undo of spurious losses, no idle restart: neither occurs here;
//! - where segments are sent one by one, `send_quantum` is one segment, the draft's at least two;
//! - that text enters `ProbeRTT` when the round-trip time is ten seconds old; earlier drafts do every five.

mod cycle;
mod model;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Stream, Time};

use model::FullPipe;

use super::offload::Offload;
use super::{HeldDown, MIN_PIPE_CWND, MaxFilter, NOMINAL_RTT_S, PACING_MARGIN, RoundCount};
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, NO_THRESHOLD, RateSample,
};

/// Gain of the rate in startup, "4 * ln(2) ~= 2.77" (`BBR.StartupPacingGain`).
const STARTUP_PACING_GAIN: f64 = 2.77;
/// Gain of the rate in drain (`BBR.DrainPacingGain`).
const DRAIN_PACING_GAIN: f64 = 0.5;
/// Gain of the window, "the minimum gain value that allows the sending rate to double"
/// (`BBR.DefaultCwndGain`).
const DEFAULT_CWND_GAIN: f64 = 2.0;
/// "the maximum tolerated per-round-trip packet loss rate" (`BBR.LossThresh`).
const LOSS_THRESH: f64 = 0.02;
/// What a round with losses leaves at least (`BBR.Beta`).
const BETA: f64 = 0.7;
/// Part of the long-term bound that is left to others (`BBR.Headroom`).
const HEADROOM: f64 = 0.15;
/// Rounds of the aggregation's filter (`BBR.ExtraAckedFilterLen`).
const EXTRA_ACKED_ROUNDS: usize = 10;
/// Packets under way in the hosts (`UpdateOffloadBudget`: "3 * `send_quantum`").
const OFFLOADED_PACKETS: f64 = 3.0;

/// The state machine's states (section "State Machine").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    fn is_probe_bw(self) -> bool {
        matches!(self, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// `IsProbingBW`.
    fn probes_bandwidth(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    /// Section "Summary of Control Behavior in the State Machine".
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => DRAIN_PACING_GAIN,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    /// The same section.
    fn cwnd_gain(self) -> f64 {
        match self {
            State::Up => 2.25,
            State::ProbeRtt => probe_rtt::CWND_GAIN,
            _ => DEFAULT_CWND_GAIN,
        }
    }
}

/// An acknowledgment as the algorithm sees it: the draft's RS and C.
#[derive(Clone, Copy, Debug)]
struct Ack {
    now: Time,
    acked: f64,
    inflight: f64,
    rtt: Option<Span>,
    rate: RateSample,
    /// `RS.delivery_rate`, segments a second.
    bw: f64,
    /// `RS.is_app_limited`, packets sent in `ProbeRTT` included.
    limited: bool,
}

parameters! {
    /// Parameters of BBR version 3.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Bbr3Config {}
}

impl Algorithm for Bbr3Config {
    type Control = Bbr3;
    const NEEDS_RATES: bool = true;

    fn build(&self, context: Context) -> Bbr3 {
        let offload = Offload::new(context.offload.then_some(context.mss_bytes));
        Bbr3 { offload, ..Bbr3::new(context.initial_window, context.stream) }
    }
}

/// BBR version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    state: State,
    /// `C.cwnd`, segments.
    cwnd: f64,
    /// `C.pacing_rate`, segments a second.
    pacing: f64,
    initial_window: f64,
    offload: Offload,
    has_seen_rtt: bool,
    rounds: RoundCount,
    /// `max_bw_filter`: this cycle's and the last one's largest, segments a second.
    max_bw: [f64; 2],
    /// `bw`: what is sent by, segments a second.
    bw: f64,
    /// `bw_shortterm`: infinite without losses, segments a second.
    bw_shortterm: f64,
    /// `bw_latest`, segments a second, and `inflight_latest`, segments: this round's largest.
    bw_latest: f64,
    inflight_latest: f64,
    /// `inflight_longterm`: infinite before a probe went too far, segments.
    inflight_longterm: f64,
    /// `inflight_shortterm`: infinite without losses, segments.
    inflight_shortterm: f64,
    /// `loss_round_delivered` and `loss_round_start`: rounds counted from the first loss.
    loss_round_end: u64,
    loss_round_started: bool,
    /// `is_loss_in_round`.
    loss_in_round: bool,
    /// Acknowledgments of this round that revealed losses.
    loss_acks: u32,
    /// Segments considered lost so far (`C.lost`).
    lost: u64,
    /// Aggregation: when the count began, the count, and the largest excess (`extra_acked_*`).
    extra_begun: Time,
    extra_delivered: f64,
    extra_acked: MaxFilter<EXTRA_ACKED_ROUNDS>,
    full: FullPipe,
    /// `drain_start_round`.
    drain_round: u64,
    /// The window was filled in this round, and in the last (`C.is_cwnd_limited`).
    filled: [bool; 2],
    /// `prior_cwnd`: the window before repair or `ProbeRTT`, segments.
    prior_cwnd: f64,
    repairing: bool,
    held_down: HeldDown,
    cycle: cycle::Cycle,
    probe_rtt: probe_rtt::ProbeRtt,
    stream: Stream,
}

impl Bbr3 {
    /// A new connection's model (`OnInit`). The random stream draws the time between probes.
    pub fn new(initial_window: u32, stream: Stream) -> Bbr3 {
        let initial_window = f64::from(initial_window.max(1));
        Bbr3 {
            state: State::Startup,
            cwnd: initial_window,
            pacing: STARTUP_PACING_GAIN * initial_window / NOMINAL_RTT_S,
            initial_window,
            offload: Offload::default(),
            has_seen_rtt: false,
            rounds: RoundCount::default(),
            max_bw: [0.0; 2],
            bw: 0.0,
            bw_shortterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            inflight_longterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            loss_round_end: 0,
            loss_round_started: false,
            loss_in_round: false,
            loss_acks: 0,
            lost: 0,
            extra_begun: Time::ZERO,
            extra_delivered: 0.0,
            extra_acked: MaxFilter::EMPTY,
            full: FullPipe::default(),
            drain_round: 0,
            filled: [false; 2],
            prior_cwnd: 0.0,
            repairing: false,
            held_down: HeldDown::default(),
            cycle: cycle::Cycle::new(),
            probe_rtt: probe_rtt::ProbeRtt::new(initial_window),
            stream,
        }
    }

    fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    fn view(&self, now: Time, sample: &AckSample) -> Ack {
        let rate = sample.rate.unwrap_or_default();
        Ack {
            now,
            acked: f64::from(sample.acked),
            inflight: f64::from(sample.inflight),
            rtt: sample.rtt,
            rate,
            bw: rate.bandwidth().unwrap_or(0.0),
            limited: rate.app_limited || self.held_down.covers(&rate),
        }
    }

    /// `BDPMultiple`.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.probe_rtt.min_rtt.map_or(self.initial_window, |_| gain * bw * self.probe_rtt.min_rtt_s)
    }

    /// `QuantizationBudget`.
    fn budgeted(&self, segments: f64) -> f64 {
        let budget = OFFLOADED_PACKETS * self.offload.send_quantum(self.pacing);
        let budgeted = segments.max(budget).max(MIN_PIPE_CWND);
        if self.state == State::Up { budgeted + 2.0 } else { budgeted }
    }

    /// `Inflight`.
    fn inflight_for(&self, bw: f64, gain: f64) -> f64 {
        self.budgeted(self.bdp(bw, gain))
    }

    /// `TargetInflight`.
    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw, 1.0).min(self.cwnd)
    }

    /// `InflightWithHeadroom`.
    fn inflight_with_headroom(&self) -> f64 {
        let headroom = (HEADROOM * self.inflight_longterm).max(1.0);
        if self.inflight_longterm.is_finite() {
            (self.inflight_longterm - headroom).max(MIN_PIPE_CWND)
        } else {
            f64::INFINITY
        }
    }

    /// `SetPacingRate`.
    fn set_pacing(&mut self, srtt: Span) {
        if !self.has_seen_rtt && srtt > Span::ZERO {
            self.has_seen_rtt = true;
            self.pacing = STARTUP_PACING_GAIN * self.initial_window / srtt.as_s();
        }
        let rate = self.state.pacing_gain() * self.bw * PACING_MARGIN;
        if (self.full.reached || rate > self.pacing) && rate > 0.0 {
            self.pacing = rate;
        }
    }

    /// `SetCwnd`.
    fn set_cwnd(&mut self, ack: &Ack) {
        let inflight = self.bdp(self.bw, self.state.cwnd_gain()) + self.extra_acked.best();
        let max_inflight = self.budgeted(inflight);
        if self.full.reached {
            self.cwnd = (self.cwnd + ack.acked).min(max_inflight);
        } else if self.cwnd < max_inflight || (ack.rate.delivered as f64) < self.initial_window {
            self.cwnd += ack.acked;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt.cwnd);
        }
        self.bound_cwnd();
    }

    /// `BoundCwndForModel`.
    fn bound_cwnd(&mut self) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(MIN_PIPE_CWND));
    }

    /// `SaveCwnd`.
    fn save_cwnd(&mut self) {
        let good = !self.repairing && self.state != State::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let ack = self.view(now, sample);
        self.note_losses(&ack);
        self.update_latest(&ack);
        self.update_signals(&ack);
        self.update_aggregation(&ack);
        self.check_full_pipe(&ack);
        self.check_startup(&ack);
        self.check_drain(&ack);
        self.update_cycle(&ack);
        self.update_min_rtt(&ack);
        self.check_probe_rtt(&ack);
        if self.loss_round_started {
            // `AdvanceLatestDeliverySignals`
            (self.bw_latest, self.inflight_latest) = (ack.bw, ack.rate.volume() as f64);
        }
        self.bw = self.max_bw().min(self.bw_shortterm);
        self.set_pacing(sample.srtt);
        self.set_cwnd(&ack);
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        // no response to marks but L4S's is known of it, which is not modeled
        if !matches!(congestion.event, CongestionEvent::Mark { .. }) {
            self.save_cwnd();
        }
        match congestion.event {
            CongestionEvent::Mark { .. } => {}
            CongestionEvent::Loss => self.repairing = true,
            CongestionEvent::Timeout { .. } => (self.repairing, self.cwnd) = (true, 1.0),
            CongestionEvent::SynTimeout => self.cwnd = 1.0,
        }
    }

    fn on_recovery_exit(&mut self, _now: Time) {
        if self.repairing {
            self.repairing = false;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.bound_cwnd();
        }
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        NO_THRESHOLD
    }

    fn pacing(&self) -> Option<f64> {
        Some(self.pacing)
    }

    fn wants_rate(&self) -> bool {
        true
    }

    fn grows_in_recovery(&self) -> bool {
        true
    }
}
