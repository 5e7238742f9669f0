//! BBR version 1: full pipes without full queues.
//!
//! Sources: N. Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016; Linux 5.10
//! to 6.12 `net/ipv4/tcp_bbr.c` for constants and order (read as behavior).
//!
//! Departures:
//! - nothing restarts from idle: the model stays as it was before a silence;
//! - an acknowledgment that may have been delayed counts like any other once the round-trip time's filter has expired;
//! - fractions instead of fixed point;
//! - the first phase of a gain cycle comes from the component's own random stream.

mod aggregation;
mod cycle;
mod filter;
mod long_term;
mod probe_rtt;
#[cfg(test)]
mod tests;

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Stream, Time};

use aggregation::Aggregation;
use cycle::CYCLE;
use filter::RunningMax;
use long_term::{LongTerm, Seen};

use super::offload::tso_goal;
use super::{
    FULL_BW_GROWTH, FULL_BW_ROUNDS, HeldDown, MIN_PIPE_CWND, NOMINAL_RTT_S, PACING_MARGIN, RoundCount,
    whole_up,
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
const BW_ROUNDS: u64 = 10;
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
    /// Fast recovery's further rounds.
    Growing,
    /// After a timeout.
    TimedOut,
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
        Bbr1::new(context.initial_window, context.mss_bytes, context.stream)
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
    bw: RunningMax<BW_ROUNDS>,
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
    long_term: LongTerm,
    /// Payload of a segment, bytes.
    mss_bytes: f64,
    /// Segments that leave as one packet at this pace (`bbr_tso_segs_goal`).
    tso_goal: f64,
    stream: Stream,
}

impl Bbr1 {
    /// A new connection's model. The random stream picks the first phase of each gain cycle.
    pub fn new(initial_window: u32, mss_bytes: u32, stream: Stream) -> Bbr1 {
        let (initial_window, mss_bytes) = (f64::from(initial_window.max(1)), f64::from(mss_bytes.max(1)));
        let pacing = HIGH_GAIN * initial_window / NOMINAL_RTT_S * PACING_MARGIN;
        Bbr1 {
            mode: Mode::Startup,
            cwnd: initial_window,
            pacing,
            prior_cwnd: 0.0,
            initial_window,
            has_seen_rtt: false,
            bw: RunningMax::default(),
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
            long_term: LongTerm::default(),
            mss_bytes,
            tso_goal: tso_goal(pacing, mss_bytes),
            stream,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw if self.long_term.rate().is_none() => CYCLE[self.phase],
            Mode::ProbeBw | Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `bbr_bw`: what to send by, segments a second.
    fn bandwidth(&self) -> f64 {
        self.long_term.rate().unwrap_or(self.bw.best())
    }

    /// `bbr_bdp`: a multiple of a bandwidth and the round-trip time, segments.
    fn bdp(&self, bandwidth: f64, gain: f64) -> f64 {
        self.min_rtt.map_or(self.initial_window, |_| whole_up(gain * bandwidth * self.min_rtt_s))
    }

    /// `bbr_quantization_budget`.
    fn budgeted(&self, segments: f64) -> f64 {
        let budget = OFFLOADED_PACKETS * self.tso_goal;
        let even = whole_up(f64::midpoint(segments, budget)) * 2.0;
        if self.mode == Mode::ProbeBw && self.phase == 0 { even + 2.0 } else { even }
    }

    fn target_inflight(&self, gain: f64) -> f64 {
        self.budgeted(self.bdp(self.bw.best(), gain))
    }

    /// `bbr_update_bw`.
    fn update_bw(&mut self, now: Time, rate: &RateSample, losses: bool) {
        self.rounds.started = false;
        if rate.interval == Span::ZERO {
            return;
        }
        self.rounds.update(rate);
        if self.rounds.started && self.repair == Repair::Conserving {
            self.repair = Repair::Growing;
        }
        self.update_long_term(now, rate, losses);
        if self.bw.least_news(self.rounds.count).is_some_and(|least| !rate.may_exceed(least)) {
            return;
        }
        let bandwidth = rate.bandwidth().unwrap_or(0.0);
        if !self.limited(rate) || bandwidth >= self.bw.best() {
            self.bw.update(self.rounds.count, bandwidth);
        }
    }

    fn update_long_term(&mut self, now: Time, rate: &RateSample, losses: bool) {
        let seen = Seen {
            now,
            rate,
            losses,
            limited: self.limited(rate),
            round_started: self.rounds.started,
            cycling: self.mode == Mode::ProbeBw,
        };
        if self.long_term.update(&seen, self.mss_bytes) {
            self.begin_cycle(now);
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
        (self.aggregation.best().min(self.bandwidth() * EXTRA_ACKED_MAX_S) as i64) as f64
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
    fn check_drain(&mut self, now: Time, inflight: f64, until_release: Span) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
        }
        let inflight = || self.inflight_at_departure(inflight, until_release);
        if self.mode == Mode::Drain && inflight() <= self.target_inflight(1.0) {
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
            self.pace_at(HIGH_GAIN * self.cwnd / srtt.as_s() * PACING_MARGIN);
        }
        let rate = self.pacing_gain() * self.bandwidth() * PACING_MARGIN;
        if (self.full_bw_reached || rate > self.pacing) && rate > 0.0 {
            self.pace_at(rate);
        }
    }

    fn pace_at(&mut self, rate: f64) {
        if rate != self.pacing {
            (self.pacing, self.tso_goal) = (rate, tso_goal(rate, self.mss_bytes));
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
                let target = self.budgeted(self.bdp(self.bandwidth(), self.cwnd_gain()) + self.extra_acked());
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
        self.update_bw(now, &rate, lost > 0);
        self.aggregation.update(now, sample.acked, self.rounds.count, (self.bandwidth(), self.cwnd));
        let prior_inflight = f64::from(sample.inflight) + f64::from(sample.acked) + lost as f64;
        self.update_phase(now, prior_inflight, rate.until_release, lost > 0);
        self.check_full_pipe(limited);
        self.check_drain(now, f64::from(sample.inflight), rate.until_release);
        self.update_min_rtt(now, sample, rate.delivered);
        self.set_pacing(sample.srtt);
        self.set_cwnd(sample, lost, rate.delivered);
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        match congestion.event {
            CongestionEvent::Loss => {
                self.save_cwnd();
                if matches!(self.repair, Repair::None | Repair::TimedOut) {
                    self.repair = Repair::Begun;
                }
            }
            CongestionEvent::Timeout { .. } => {
                self.save_cwnd();
                self.repair = Repair::TimedOut;
                // `bbr_set_state`: the pipe's fullness is judged anew
                (self.cwnd, self.full_bw) = (1.0, 0.0);
            }
            CongestionEvent::SynTimeout => self.cwnd = 1.0,
            // it has no response: Linux keeps its window, too
            CongestionEvent::Mark { .. } => {}
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
