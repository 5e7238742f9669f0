//! H-TCP: growth that quickens with the time since the last loss.
//!
//! Sources: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", `PFLDnet` 2004;
//! Linux 5.10 `net/ipv4/tcp_htcp.c` for the constants and for the throughput's measurement, read as behavior.
//! α(Δ) = 2 (1 − β) times the larger of 1 and RTT/100 ms · (1 + 10 (Δ − 1 s) + ((Δ − 1 s)/2)²), after a second.
//!
//! Departures:
//! - those of the window (`linux_window`);
//! - fractions instead of Linux's whole factors of α and 7 bits of β, and no jiffies;
//! - a connection begins with its first acknowledgment, not with its handshake;
//! - no undo after a spurious loss.

use bufferlab_parameters::parameters;
use bufferlab_units::{Span, Time};

use crate::linux_window::LinuxWindow;
use crate::{AckSample, Algorithm, Congestion, CongestionControl, Context, Idle};

/// What a loss leaves at least (`BETA_MIN`).
const BETA_MIN: f64 = 0.5;
/// What a loss leaves at most (`BETA_MAX`).
const BETA_MAX: f64 = 102.0 / 128.0;
/// Growth is Reno's so long after a loss, s (Linux: `HZ` in `htcp_alpha_update`).
const LOW_SPEED_S: f64 = 1.0;
/// The round-trip time at which growth is as the formula says, s (`use_rtt_scaling`).
const REFERENCE_RTT_S: f64 = 0.1;
/// Bounds of REFERENCE/RTT, by which growth is divided (Linux: "clamping ratio to interval [0.5,10]").
const RTT_RATIO: (f64, f64) = (0.5, 10.0);
/// A throughput that changed by more than this part from loss to loss resets β (`use_bandwidth_switch`).
const BANDWIDTH_CHANGE: f64 = 0.2;
/// The longest round-trip time may rise by this at a step (`measure_rtt`).
const MAX_RTT_STEP: Span = Span::from_ms(20);
/// Only paths longer than this adapt β (`htcp_beta_update`).
const ADAPTIVE_RTT: Span = Span::from_ms(10);
/// What is kept of the longest round-trip time above the shortest at a loss, "slowly fading memory".
const MAX_RTT_KEPT: f64 = 0.95;
/// Fewer rounds after a loss, the throughput's measurement starts over (Linux: whole rounds, 3 at most).
const SETTLING_ROUNDS: f64 = 4.0;

parameters! {
    /// Parameters of H-TCP.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct HtcpConfig {}
}

impl Algorithm for HtcpConfig {
    type Control = Htcp;

    fn build(&self, context: Context) -> Htcp {
        Htcp::new(context.initial_window, context.initial_ssthresh)
    }
}

/// H-TCP's window.
#[derive(Clone, Debug)]
pub struct Htcp {
    window: LinuxWindow,
    /// Segments that a round adds (α).
    alpha: f64,
    /// What a loss leaves (β).
    beta: f64,
    /// Segments acknowledged towards the next in the window.
    counted: f64,
    /// β may adapt: a loss was seen at this throughput (`modeswitch`).
    adaptive: bool,
    /// End of the last congestion, or the connection's begin (`last_cong`).
    last_congestion: Option<Time>,
    /// Shortest round-trip time (`minRTT`).
    min_rtt: Option<Span>,
    /// Longest round-trip time (`maxRTT`).
    max_rtt: Span,
    /// Segments acknowledged since `measured` (`packetcount`).
    packets: u64,
    /// When the throughput was measured last (`lasttime`).
    measured: Time,
    /// Smoothed throughput, segments a second (`Bi`).
    throughput: f64,
    /// Its highest value since the last loss, and before (`maxB`, `old_maxB`).
    max_throughput: (f64, f64),
}

impl Htcp {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>) -> Htcp {
        Htcp {
            window: LinuxWindow::new(initial_window, ssthresh),
            alpha: 1.0,
            beta: BETA_MIN,
            counted: 0.0,
            adaptive: false,
            last_congestion: None,
            min_rtt: None,
            max_rtt: Span::ZERO,
            packets: 0,
            measured: Time::ZERO,
            throughput: 0.0,
            max_throughput: (0.0, 0.0),
        }
    }

    fn since_congestion(&self, now: Time) -> Span {
        self.last_congestion.map_or(Span::ZERO, |last| now.saturating_since(last))
    }

    fn measure_rtt(&mut self, rtt: Span) {
        let min = self.min_rtt.map_or(rtt, |least| least.min(rtt));
        self.min_rtt = Some(min);
        self.max_rtt = self.max_rtt.max(min);
        if rtt <= self.max_rtt + MAX_RTT_STEP {
            self.max_rtt = self.max_rtt.max(rtt);
        }
    }

    fn measure_throughput(&mut self, now: Time, acked: u32) {
        self.packets += u64::from(acked);
        let elapsed = now.saturating_since(self.measured);
        let Some(min_rtt) = self.min_rtt.filter(|&least| least > Span::ZERO) else {
            return;
        };
        let window = self.window.cwnd() - self.alpha.max(1.0);
        if (self.packets as f64) < window || elapsed < min_rtt {
            return;
        }
        let current = self.packets as f64 / elapsed.as_s();
        let rounds = self.since_congestion(now).as_s() / min_rtt.as_s();
        if rounds < SETTLING_ROUNDS {
            (self.throughput, self.max_throughput.0) = (current, current);
        } else {
            self.throughput = 0.75 * self.throughput + 0.25 * current;
            self.max_throughput.0 = self.max_throughput.0.max(self.throughput);
        }
        self.restart_throughput(now);
    }

    fn restart_throughput(&mut self, now: Time) {
        (self.packets, self.measured) = (0, now);
    }

    /// `htcp_beta_update`.
    fn update_beta(&mut self) {
        let (current, before) = self.max_throughput;
        self.max_throughput.1 = current;
        let unchanged = (current - before).abs() <= BANDWIDTH_CHANGE * before;
        if !unchanged {
            (self.beta, self.adaptive) = (BETA_MIN, false);
            return;
        }
        match self.min_rtt {
            Some(min_rtt) if self.adaptive && min_rtt > ADAPTIVE_RTT && self.max_rtt > Span::ZERO => {
                self.beta = (min_rtt.as_s() / self.max_rtt.as_s()).clamp(BETA_MIN, BETA_MAX);
            }
            _ => (self.beta, self.adaptive) = (BETA_MIN, true),
        }
    }

    /// `htcp_alpha_update`.
    fn update_alpha(&mut self, now: Time) {
        let since = self.since_congestion(now).as_s();
        let mut factor = 1.0;
        if since > LOW_SPEED_S {
            let high = since - LOW_SPEED_S;
            factor = 1.0 + 10.0 * high + (high / 2.0) * (high / 2.0);
        }
        if let Some(min_rtt) = self.min_rtt.filter(|&least| least > Span::ZERO) {
            let ratio = (REFERENCE_RTT_S / min_rtt.as_s()).clamp(RTT_RATIO.0, RTT_RATIO.1);
            // Linux rounds down but never to nothing
            factor = (factor / ratio).max(1.0);
        }
        self.alpha = 2.0 * factor * (1.0 - self.beta);
    }

    fn threshold(&mut self, now: Time, cwnd: u32) -> u32 {
        self.update_beta();
        self.update_alpha(now);
        if let Some(min_rtt) = self.min_rtt.filter(|&least| self.max_rtt > least) {
            let above = (self.max_rtt - min_rtt).as_ps() as f64;
            self.max_rtt = min_rtt + Span::from_ps((above * MAX_RTT_KEPT) as u64);
        }
        (f64::from(cwnd) * self.beta) as u32
    }
}

impl CongestionControl for Htcp {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        self.last_congestion.get_or_insert(now);
        if let Some(rtt) = sample.rtt {
            self.measure_rtt(rtt);
        }
        self.measure_throughput(now, sample.acked);
        if self.window.in_slow_start() {
            self.window.slow_start(sample.acked);
            return;
        }
        if self.counted * self.alpha >= self.window.cwnd() {
            self.window.cwnd = self.window.cwnd.saturating_add(1);
            self.counted = 0.0;
            self.update_alpha(now);
        } else {
            // the acknowledgment that opens the window does not count
            self.counted += f64::from(sample.acked);
        }
    }

    fn on_congestion(&mut self, now: Time, congestion: &Congestion) {
        let mut window = self.window;
        window.on_congestion(congestion, |cwnd| self.threshold(now, cwnd));
        self.window = window;
        (self.last_congestion, self.counted) = (Some(now), 0.0);
        self.restart_throughput(now);
    }

    fn on_recovery_exit(&mut self, now: Time) {
        self.last_congestion = Some(now);
        self.restart_throughput(now);
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        self.window.on_idle(idle);
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionEvent;

    const LOSS: Congestion = Congestion { event: CongestionEvent::Loss, flight: 1, receive_window: 1_000 };

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn growth_quickens_after_a_second() {
        let mut control = Htcp::new(10, Some(2));
        (control.min_rtt, control.last_congestion) = (Some(Span::from_ms(100)), Some(at(0)));
        // 2·(1 − ½)·(1 + 10 (Δ − 1) + ((Δ − 1)/2)²)
        for (ms, alpha) in [(500, 1.0), (1_000, 1.0), (2_000, 11.25), (5_000, 45.0)] {
            control.update_alpha(at(ms));
            assert!((control.alpha - alpha).abs() < 1e-9, "{ms} ms: {}", control.alpha);
        }
    }

    #[test]
    fn long_paths_grow_faster_up_to_twice_and_short_ones_like_reno() {
        let mut control = Htcp::new(10, Some(2));
        for (rtt_ms, alpha) in [(100, 1.0), (150, 1.5), (200, 2.0), (1_000, 2.0), (20, 1.0), (1, 1.0)] {
            control.min_rtt = Some(Span::from_ms(rtt_ms));
            control.update_alpha(at(0));
            assert!((control.alpha - alpha).abs() < 1e-9, "{rtt_ms} ms: {}", control.alpha);
        }
    }

    #[test]
    fn short_paths_grow_slower_once_that_is_faster_than_reno() {
        let mut control = Htcp::new(10, Some(2));
        (control.min_rtt, control.last_congestion) = (Some(Span::from_ms(20)), Some(at(0)));
        // (1 + 10 + ¼)/5
        control.update_alpha(at(2_000));
        assert!((control.alpha - 2.25).abs() < 1e-9, "{}", control.alpha);
        // a path without a length says nothing
        control.min_rtt = Some(Span::ZERO);
        control.update_alpha(at(2_000));
        assert!((control.alpha - 11.25).abs() < 1e-9, "{}", control.alpha);
    }

    #[test]
    fn a_late_connection_is_no_older_than_its_first_acknowledgment() {
        let mut control = Htcp::new(10, Some(2));
        control.on_ack(at(30_000), &AckSample::of(1));
        control.update_alpha(at(30_500));
        assert_eq!(control.alpha, 1.0);
    }

    #[test]
    fn the_second_loss_at_one_throughput_adapts_to_the_queue() {
        for (max_ms, beta) in [(160, 0.625), (300, 0.5), (101, 102.0 / 128.0)] {
            let mut control = Htcp::new(1_000, Some(2));
            (control.min_rtt, control.max_throughput) = (Some(Span::from_ms(100)), (1_000.0, 1_000.0));
            control.max_rtt = Span::from_ms(max_ms);
            control.update_beta();
            assert_eq!(control.beta, 0.5);
            control.max_throughput.0 = 1_150.0;
            control.update_beta();
            assert!((control.beta - beta).abs() < 1e-9, "{}", control.beta);
            control.max_throughput.0 = 900.0;
            control.update_beta();
            assert_eq!((control.beta, control.adaptive), (0.5, false));
        }
    }

    #[test]
    fn a_loss_leaves_beta_and_lets_the_longest_time_fade() {
        let mut control = Htcp::new(1_000, Some(2));
        control.measure_rtt(Span::from_ms(100));
        control.measure_rtt(Span::from_ms(120));
        control.measure_rtt(Span::from_ms(200));
        assert_eq!(control.max_rtt, Span::from_ms(120));
        control.on_congestion(at(1), &LOSS);
        assert_eq!((control.cwnd(), control.max_rtt), (500.0, Span::from_ms(119)));
    }

    #[test]
    fn alpha_segments_are_added_a_round() {
        let mut control = Htcp::new(100, Some(2));
        control.alpha = 4.0;
        control.min_rtt = Some(Span::from_ms(200));
        control.last_congestion = Some(at(0));
        for _ in 0..26 {
            control.on_ack(at(0), &AckSample::of(1));
        }
        assert_eq!(control.cwnd(), 101.0);
    }

    /// `measure_achieved_throughput`: once a window and a round trip; of the first three rounds after a loss the last
    /// sample counts, then a filter of a quarter and its largest value.
    #[test]
    fn the_throughput_is_measured_once_a_window_and_filtered_after_three_rounds() {
        let mut control = Htcp::new(10, Some(2));
        (control.min_rtt, control.last_congestion) = (Some(Span::from_ms(100)), Some(at(0)));
        let mut measured = |ms, acked| -> (f64, f64) {
            control.measure_throughput(at(ms), acked);
            [control.throughput, control.max_throughput.0].map(|rate| (rate * 1e6).round() / 1e6).into()
        };
        assert_eq!([measured(50, 9), measured(99, 1)], [(0.0, 0.0); 2], "not before a round trip");
        assert_eq!(measured(100, 0), (100.0, 100.0));
        assert_eq!(measured(250, 8), (100.0, 100.0), "not before a window less α");
        assert_eq!(measured(250, 1), (60.0, 60.0));
        assert_eq!(measured(399, 8), (60.0, 60.0));
        assert_eq!(measured(400, 22), (0.75 * 60.0 + 0.25 * 200.0, 95.0));
        assert_eq!(measured(500, 10), (96.25, 96.25));
        assert_eq!(measured(600, 9), (94.6875, 96.25));
        control.alpha = 4.0;
        control.measure_throughput(at(700), 6);
        assert_eq!(control.packets, 0, "α segments are not yet to be acknowledged");
        for min_rtt in [None, Some(Span::ZERO)] {
            let mut control = Htcp { min_rtt, ..Htcp::new(10, Some(2)) };
            control.measure_throughput(at(100), 50);
            assert_eq!((control.throughput, control.packets), (0.0, 50));
        }
    }

    /// `htcp_state`, `measure_achieved_throughput`: what was acknowledged before a congestion's end counts for nothing.
    #[test]
    fn a_congestion_starts_the_measurement_over() {
        let mut control = Htcp::new(10, Some(2));
        let seen = |control: &Htcp| (control.packets, control.measured, control.last_congestion);
        control.packets = 7;
        control.on_congestion(at(30), &LOSS);
        assert_eq!(seen(&control), (0, at(30), Some(at(30))));
        control.packets = 7;
        control.on_recovery_exit(at(60));
        assert_eq!(seen(&control), (0, at(60), Some(at(60))));
    }

    /// `htcp_beta_update`: a fifth more or less is no change; paths of 10 ms do not adapt.
    #[test]
    fn beta_adapts_at_an_unchanged_throughput_and_beyond_ten_ms() {
        for (throughput, min_us, beta) in [
            (1_200.0, 100_000, 0.625),
            (800.0, 100_000, 0.625),
            (1_201.0, 100_000, 0.5),
            (799.0, 100_000, 0.5),
            (1_000.0, 10_000, 0.5),
            (1_000.0, 10_001, 0.625),
        ] {
            let mut control = Htcp::new(10, Some(2));
            (control.adaptive, control.max_throughput) = (true, (throughput, 1_000.0));
            (control.min_rtt, control.max_rtt) = (Some(Span::from_us(min_us)), Span::from_us(min_us * 8 / 5));
            control.update_beta();
            assert!((control.beta - beta).abs() < 1e-3, "{throughput} {min_us}: {}", control.beta);
            assert_eq!(control.max_throughput.1, throughput);
        }
    }

    #[test]
    fn the_longest_time_rises_by_20_ms_at_a_step() {
        let mut control = Htcp::new(10, Some(2));
        let longest = [100, 120, 141, 140, 130].map(|ms| {
            control.measure_rtt(Span::from_ms(ms));
            control.max_rtt
        });
        assert_eq!(longest, [100, 120, 120, 140, 140].map(Span::from_ms));
    }
}
