//! BBR version 1: full pipes without full queues.
//!
//! Sources: N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Linux 5.10
//! `net/ipv4/tcp_bbr.c` for constants and order (read as behavior).
//!
//! Departures:
//! - no detection of policers ("long-term bandwidth"): no policers here;
//! - where segments are sent one by one, the budget for send and receive offload is three segments; Linux sends two at
//!   once above 1.2 Mbit/s;
//! - nothing restarts from idle: the model stays as it was before a silence;
//! - an acknowledgment that may have been delayed counts like any other once the round-trip time's filter has expired;
//! - the bandwidth's filter holds ten rounds, Linux's up to eleven; flights are not counted ahead to the departure;
//! - fractions instead of fixed point; the bandwidth's filter is exact, Linux's keeps the best three;
//! - the first phase of a gain cycle comes from the component's own random stream.

mod aggregation;
mod cycle;
mod probe_rtt;
#[cfg(test)]
mod tests;

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Stream, Time};

use aggregation::Aggregation;
use cycle::CYCLE;

use super::offload::Offload;
use super::{
    FULL_BW_GROWTH, FULL_BW_ROUNDS, HeldDown, MIN_PIPE_CWND, MaxFilter, NOMINAL_RTT_S, PACING_MARGIN,
    RoundCount, whole_up,
};
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, NO_THRESHOLD, RateSample,
};

/// Gain of rate and window in startup: 2/ln 2 doubles the rate each round (`bbr_high_gain`).
const HIGH_GAIN: f64 = 2.885;
/// Gain of the rate in drain, which empties startup's queue in a round (`bbr_drain_gain`).
const DRAIN_GAIN: f64 = 1.0 / HIGH_GAIN;
/// Gain of the window while probing for bandwidth, "tolerates delayed/stretched ACKs" (`bbr_cwnd_gain`).
const CWND_GAIN: f64 = 2.0;
/// Rounds that the bandwidth's filter remembers (`bbr_bw_rtts`: a cycle and two).
const BW_ROUNDS: usize = 10;
/// Packets under way in the hosts: the sender's queue, its card, the receiver (`bbr_quantization_budget`).
const OFFLOADED_PACKETS: f64 = 3.0;
/// The window grows by at most so much time's segments for aggregation, s (`bbr_extra_acked_max_us`).
const EXTRA_ACKED_MAX_S: f64 = 0.1;

/// What BBR is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubling the rate each round.
    Startup,
    /// Emptying the queue that startup left.
    Drain,
    /// Cycling around the bandwidth.
    ProbeBw,
    /// Emptying the pipe to see its length.
    ProbeRtt,
}

/// What the transport is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    None,
    /// Fast recovery has begun with the next acknowledgment.
    Begun,
    /// Fast recovery's first round: as many segments go as were delivered (`packet_conservation`).
    Conserving,
    /// Fast recovery's further rounds, or after a timeout.
    Growing,
}

parameters! {
    /// Parameters of BBR version 1.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Bbr1Config {}
}

impl Algorithm for Bbr1Config {
    type Control = Bbr1;
    const NEEDS_RATES: bool = true;

    fn build(&self, context: Context) -> Bbr1 {
        let offload = Offload::new(context.offload_mss_bytes);
        Bbr1 { offload, ..Bbr1::new(context.initial_window, context.stream) }
    }
}

/// BBR version 1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    mode: Mode,
    /// Congestion window, segments.
    cwnd: f64,
    /// Segments a second.
    pacing: f64,
    /// The window before loss or probing cut it, segments (`prior_cwnd`).
    prior_cwnd: f64,
    initial_window: f64,
    /// Whether a measured round-trip time has replaced the nominal one (`has_seen_rtt`).
    has_seen_rtt: bool,
    /// Bandwidth, segments a second (`bw`).
    bw: MaxFilter<BW_ROUNDS>,
    rounds: RoundCount,
    /// Shortest round-trip time of the last ten seconds, and when it was seen (`min_rtt_us`,
    /// `min_rtt_stamp`).
    min_rtt: Option<Span>,
    min_rtt_s: f64,
    min_rtt_at: Time,
    /// When the stay with four segments may end (`probe_rtt_done_stamp`).
    probe_rtt_done: Option<Time>,
    /// A round passed in it (`probe_rtt_round_done`).
    probe_rtt_round_done: bool,
    /// Phase of the gain cycle, and when it began (`cycle_idx`, `cycle_mstamp`).
    phase: usize,
    phase_at: Time,
    /// Bandwidth at the last large growth, segments a second, and rounds since (`full_bw`, `full_bw_cnt`).
    full_bw: f64,
    full_bw_rounds: u32,
    /// The pipe was full once (`full_bw_reached`).
    full_bw_reached: bool,
    repair: Repair,
    /// Segments considered lost so far.
    lost: u64,
    held_down: HeldDown,
    aggregation: Aggregation,
    offload: Offload,
    stream: Stream,
}

impl Bbr1 {
    /// A new connection's model. The random stream picks the first phase of each gain cycle.
    pub fn new(initial_window: u32, stream: Stream) -> Bbr1 {
        let initial_window = f64::from(initial_window.max(1));
        Bbr1 {
            mode: Mode::Startup,
            cwnd: initial_window,
            pacing: HIGH_GAIN * initial_window / NOMINAL_RTT_S * PACING_MARGIN,
            prior_cwnd: 0.0,
            initial_window,
            has_seen_rtt: false,
            bw: MaxFilter::EMPTY,
            rounds: RoundCount::default(),
            min_rtt: None,
            min_rtt_s: 0.0,
            min_rtt_at: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            phase: 0,
            phase_at: Time::ZERO,
            full_bw: 0.0,
            full_bw_rounds: 0,
            full_bw_reached: false,
            repair: Repair::None,
            lost: 0,
            held_down: HeldDown::default(),
            aggregation: Aggregation::new(),
            offload: Offload::default(),
            stream,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw => CYCLE[self.phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `bbr_bdp`: a multiple of bandwidth and round-trip time, segments.
    fn bdp(&self, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window, |_| whole_up(gain * self.bw.best() * self.min_rtt_s))
    }

    /// `bbr_quantization_budget`.
    fn budgeted(&self, segments: f64) -> f64 {
        let budget = OFFLOADED_PACKETS * self.offload.tso_goal(self.pacing);
        let even = whole_up(f64::midpoint(segments, budget)) * 2.0;
        if self.mode == Mode::ProbeBw && self.phase == 0 { even + 2.0 } else { even }
    }

    fn target_inflight(&self, gain: f64) -> f64 {
        self.budgeted(self.bdp(gain))
    }

    /// `bbr_update_bw`.
    fn update_bw(&mut self, rate: &RateSample) {
        self.rounds.started = false;
        if rate.interval == Span::ZERO {
            return;
        }
        self.rounds.update(rate);
        if self.rounds.started && self.repair == Repair::Conserving {
            self.repair = Repair::Growing;
        }
        if self.bw.least_news(self.rounds.count).is_some_and(|least| !rate.may_exceed(least)) {
            return;
        }
        let bandwidth = rate.bandwidth().unwrap_or(0.0);
        if !self.limited(rate) || bandwidth >= self.bw.best() {
            self.bw.update(self.rounds.count, bandwidth);
        }
    }

    fn limited(&self, rate: &RateSample) -> bool {
        rate.app_limited || self.held_down.covers(rate)
    }

    /// `bbr_ack_aggregation_cwnd`.
    fn extra_acked(&self) -> f64 {
        if !self.full_bw_reached {
            return 0.0;
        }
        (self.aggregation.best().min(self.bw.best() * EXTRA_ACKED_MAX_S) as i64) as f64
    }

    /// `bbr_check_full_bw_reached`.
    fn check_full_pipe(&mut self, limited: bool) {
        if self.full_bw_reached || !self.rounds.started || limited {
            return;
        }
        if self.bw.best() >= self.full_bw * FULL_BW_GROWTH {
            (self.full_bw, self.full_bw_rounds) = (self.bw.best(), 0);
            return;
        }
        self.full_bw_rounds += 1;
        self.full_bw_reached = self.full_bw_rounds >= FULL_BW_ROUNDS;
    }

    /// `bbr_check_drain`.
    fn check_drain(&mut self, now: Time, inflight: f64) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && inflight <= self.target_inflight(1.0) {
            self.begin_cycle(now);
        }
    }

    fn save_cwnd(&mut self) {
        let good = self.repair == Repair::None && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if good { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// `bbr_set_pacing_rate`.
    fn set_pacing(&mut self, srtt: Span) {
        if !self.has_seen_rtt && srtt > Span::ZERO {
            self.has_seen_rtt = true;
            self.pacing = HIGH_GAIN * self.cwnd / srtt.as_s() * PACING_MARGIN;
        }
        let rate = self.pacing_gain() * self.bw.best() * PACING_MARGIN;
        if (self.full_bw_reached || rate > self.pacing) && rate > 0.0 {
            self.pacing = rate;
        }
    }

    /// `bbr_set_cwnd`.
    fn set_cwnd(&mut self, sample: &AckSample, lost: u64, delivered: u64) {
        let acked = f64::from(sample.acked);
        if acked > 0.0 {
            let delivered_now = f64::from(sample.inflight) + acked;
            // "An ACK for P pkts should release at most 2*P packets"
            self.cwnd = (self.cwnd - lost as f64).max(1.0);
            if self.repair == Repair::Begun {
                (self.repair, self.rounds.end, self.cwnd) = (Repair::Conserving, delivered, delivered_now);
            }
            if self.repair == Repair::Conserving {
                self.cwnd = self.cwnd.max(delivered_now);
            } else {
                let target = self.budgeted(self.bdp(self.cwnd_gain()) + self.extra_acked());
                if self.full_bw_reached {
                    self.cwnd = (self.cwnd + acked).min(target);
                } else if self.cwnd < target || (delivered as f64) < self.initial_window {
                    self.cwnd += acked;
                }
                self.cwnd = self.cwnd.max(MIN_PIPE_CWND);
            }
        }
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND);
        }
    }
}

impl CongestionControl for Bbr1 {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let rate = sample.rate.unwrap_or_default();
        let lost = rate.lost.saturating_sub(self.lost);
        self.lost = self.lost.max(rate.lost);
        let limited = self.limited(&rate);
        self.update_bw(&rate);
        self.aggregation.update(now, sample.acked, self.rounds.count, (self.bw.best(), self.cwnd));
        let prior_inflight = f64::from(sample.inflight) + f64::from(sample.acked) + lost as f64;
        self.update_phase(now, prior_inflight, lost > 0);
        self.check_full_pipe(limited);
        self.check_drain(now, f64::from(sample.inflight));
        self.update_min_rtt(now, sample, rate.delivered);
        self.set_pacing(sample.srtt);
        self.set_cwnd(sample, lost, rate.delivered);
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        match congestion.event {
            CongestionEvent::Loss => {
                self.save_cwnd();
                self.repair = Repair::Begun;
            }
            CongestionEvent::Timeout { .. } => {
                self.save_cwnd();
                self.repair = Repair::Growing;
                // `bbr_set_state`: the pipe's fullness is judged anew
                (self.cwnd, self.full_bw) = (1.0, 0.0);
            }
            CongestionEvent::SynTimeout => self.cwnd = 1.0,
        }
    }

    fn on_recovery_exit(&mut self, _now: Time) {
        if self.repair != Repair::None {
            self.repair = Repair::None;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
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
