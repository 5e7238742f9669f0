//! BIC: binary search for the window of the last loss.
//!
//! Sources: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control for Fast, Long Distance
//! Networks", INFOCOM 2004; Linux 2.6 `net/ipv4/tcp_bic.c` for the constants and the integer steps (read as
//! behavior).
//!
//! Departures:
//! - those of the window (`linux_window`);
//! - `initial_ssthresh` is the caller's (Linux's was 100 at first, later none);
//! - the millisecond clock is Linux's with HZ = 1000; it only decides how often the step is worked out again.
//!
//! The acknowledgment ratio is Linux's integer filter, which starts at 2 and cannot leave 31/16 when every
//! segment is acknowledged: such a receiver makes the window grow 16/31 times the steps, almost twice as
//! fast.

use bufferlab_parameters::{FLAG, parameters};
use bufferlab_units::Time;

use crate::linux_window::LinuxWindow;
use crate::{AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, KernelAck};

/// What a loss leaves of the window, of [`BETA_SCALE`] (`beta`, 0.8).
const BETA: u32 = 819;
/// The scale of [`BETA`] (`BICTCP_BETA_SCALE`).
const BETA_SCALE: u32 = 1_024;
/// Largest increase a round, segments (`max_increment`, the paper's `S_max`).
const MAX_INCREMENT: u32 = 16;
/// Up to this window, segments, BIC is Reno (`low_window`).
const LOW_WINDOW: u32 = 14;
/// The search goes this part of the distance each round (`BICTCP_B`).
const SEARCH: u32 = 4;
/// Rounds from four segments below the maximum to it (`smooth_part`).
const SMOOTH_PART: u32 = 20;
/// Acknowledgments for a step before the first loss: "increase cwnd 5% per RTT".
const FIRST_COUNT: u32 = 20;
/// The step is worked out again after this long, ms (`HZ / 32`).
const REFRESH_MS: u64 = 31;

/// log₂ of the scale of the acknowledgment ratio (`ACK_RATIO_SHIFT`).
const ACK_RATIO_SHIFT: u32 = 4;

/// Linux's estimate of segments for an acknowledgment, times 16: ratio ← (15 ratio + sample) / 16.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckRatio(u32);

impl AckRatio {
    /// Two, as delayed acknowledgments give.
    pub const DELAYED: AckRatio = AckRatio(2 << ACK_RATIO_SHIFT);

    /// Learns from an acknowledgment.
    pub fn learn(&mut self, acked: u32) {
        self.0 = (self.0 - (self.0 >> ACK_RATIO_SHIFT)).saturating_add(acked.min(1 << 20));
    }

    /// How many acknowledgments cover `segments`, at least one.
    pub fn acknowledgments(self, segments: u32) -> u32 {
        ((u64::from(segments) << ACK_RATIO_SHIFT) / u64::from(self.0.max(1))).clamp(1, u64::from(u32::MAX))
            as u32
    }
}

/// The whole milliseconds of a moment: Linux's jiffies at HZ = 1000.
pub(crate) fn jiffies(now: Time) -> u64 {
    now.as_ps() / 1_000_000_000
}

parameters! {
    /// Parameters of BIC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct BicConfig {
        /// A loss at a smaller window than the last one frees more room (Linux's `fast_convergence`, on by default).
        fast_convergence: bool = true, FLAG;
    }
}

impl Algorithm for BicConfig {
    type Control = Bic;

    fn build(&self, context: Context) -> Bic {
        Bic::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// BIC's window.
#[derive(Clone, Debug)]
pub struct Bic {
    window: LinuxWindow,
    /// Acknowledgments for the next segment (`cnt`).
    count: u32,
    /// The window searched for: that of the last loss, segments; 0 before (`last_max_cwnd`).
    last_max: u32,
    /// A loss was seen since the start or the last timeout (`loss_cwnd`).
    lost_before: bool,
    /// For which window the count was worked out, and when, ms (`last_cwnd`, `last_time`).
    worked_out: (u32, u64),
    ratio: AckRatio,
    /// A loss below the last maximum is remembered as less (`fast_convergence`).
    fast_convergence: bool,
}

impl Bic {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: BicConfig) -> Bic {
        Bic {
            window: LinuxWindow::new(initial_window, ssthresh),
            count: 0,
            last_max: 0,
            lost_before: false,
            worked_out: (0, 0),
            ratio: AckRatio::DELAYED,
            fast_convergence: config.fast_convergence,
        }
    }

    /// Segments to be acknowledged for the next, for a window and the maximum searched for.
    fn step(cwnd: u32, last_max: u32) -> u32 {
        if cwnd < last_max {
            match (last_max - cwnd) / SEARCH {
                0 | 1 => cwnd.saturating_mul(SMOOTH_PART) / SEARCH,
                distance if distance > MAX_INCREMENT => cwnd / MAX_INCREMENT,
                distance => cwnd / distance,
            }
        } else {
            match cwnd - last_max {
                beyond if beyond < SEARCH => cwnd.saturating_mul(SMOOTH_PART) / SEARCH,
                beyond if beyond < MAX_INCREMENT * (SEARCH - 1) => cwnd.saturating_mul(SEARCH - 1) / beyond,
                _ => cwnd / MAX_INCREMENT,
            }
        }
    }

    fn work_out(&mut self, now_ms: u64) {
        let cwnd = self.window.cwnd;
        if self.worked_out.0 == cwnd && now_ms.saturating_sub(self.worked_out.1) <= REFRESH_MS {
            return;
        }
        self.worked_out = (cwnd, now_ms);
        if cwnd <= LOW_WINDOW {
            self.count = cwnd;
            return;
        }
        let mut step = Bic::step(cwnd, self.last_max);
        if !self.lost_before {
            step = step.min(FIRST_COUNT);
        }
        self.count = self.ratio.acknowledgments(step);
    }

    fn threshold(&mut self, cwnd: u32) -> u32 {
        let last_max = if self.fast_convergence { self.last_max } else { 0 };
        self.last_max = remembered(cwnd, last_max, BETA);
        self.lost_before = true;
        if cwnd <= LOW_WINDOW { cwnd / 2 } else { scaled(cwnd, BETA) }
    }
}

/// A part of a window in 1024ths.
pub(crate) fn scaled(cwnd: u32, beta: u32) -> u32 {
    (u64::from(cwnd) * u64::from(beta) / u64::from(BETA_SCALE)) as u32
}

/// The maximum to remember at a loss: the window, or less of it if the last maximum was not reached ("fast
/// convergence": another flow wants a share).
pub(crate) fn remembered(cwnd: u32, last_max: u32, beta: u32) -> u32 {
    if cwnd < last_max {
        (u64::from(cwnd) * u64::from(BETA_SCALE + beta) / u64::from(2 * BETA_SCALE)) as u32
    } else {
        cwnd
    }
}

impl Bic {
    fn grow(&mut self, now: Time) {
        if self.window.slow_start_per_ack() {
            return;
        }
        self.work_out(jiffies(now));
        self.window.increase_per_ack(self.count);
    }
}

impl CongestionControl for Bic {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        self.ratio.learn(sample.acked);
        self.grow(now);
    }

    fn on_kernel_ack(&mut self, now: Time, ack: &KernelAck) {
        if ack.open && ack.sample.acked > 0 {
            self.ratio.learn(ack.sample.acked);
        }
        if ack.grows && ack.prior_inflight >= self.window.cwnd {
            self.grow(now);
        }
    }

    fn adopt(&mut self, segments: u32) {
        self.window.cwnd = segments.max(1);
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        let mut window = self.window;
        window.on_congestion(congestion, |cwnd| self.threshold(cwnd));
        self.window = window;
        self.worked_out = (0, 0);
        if matches!(congestion.event, CongestionEvent::Timeout { .. }) {
            // `bictcp_state`: a timeout forgets the search
            (self.last_max, self.lost_before, self.ratio) = (0, false, AckRatio::DELAYED);
        }
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

    fn event(event: CongestionEvent) -> Congestion {
        Congestion { event, flight: 1, receive_window: 1_000_000 }
    }

    #[test]
    fn the_steps_are_those_of_linux() {
        // (window, maximum, segments for one more)
        let table = [
            (800, 1_000, 800 / 16), // distance 50: linear
            (960, 1_000, 960 / 10), // distance 10: a quarter of what is left each round
            (992, 1_000, 992 / 2),
            (995, 1_000, 995 * 20 / 4), // distance 1: five rounds a segment
            (999, 1_000, 999 * 20 / 4),
            (1_000, 1_000, 1_000 * 20 / 4),
            (1_003, 1_000, 1_003 * 20 / 4),
            (1_004, 1_000, 1_004 * 3 / 4),
            (1_047, 1_000, 1_047 * 3 / 47),
            (1_048, 1_000, 1_048 / 16), // far beyond: linear again
            (1_060, 1_000, 1_060 / 16),
        ];
        for (cwnd, last_max, step) in table {
            assert_eq!(Bic::step(cwnd, last_max), step, "{cwnd} of {last_max}");
        }
    }

    #[test]
    fn a_loss_leaves_four_fifths_and_half_of_a_small_window() {
        for (cwnd, left) in [(1_000, 799), (15, 11), (14, 7), (3, 2)] {
            let mut control = Bic::new(cwnd, Some(2), BicConfig::default());
            control.on_congestion(Time::ZERO, &event(CongestionEvent::Loss));
            assert_eq!(control.cwnd(), f64::from(left));
        }
    }

    #[test]
    fn a_loss_below_the_last_maximum_remembers_less() {
        let mut control = Bic::new(1_000, Some(2), BicConfig::default());
        control.on_congestion(Time::ZERO, &event(CongestionEvent::Loss));
        assert_eq!(control.last_max, 1_000);
        control.on_congestion(Time::ZERO, &event(CongestionEvent::Loss));
        assert_eq!(control.last_max, 799 * (1_024 + 819) / 2_048);
    }

    #[test]
    fn before_the_first_loss_twenty_segments_add_one() {
        // 20 segments are ten delayed acknowledgments: each eleventh adds one
        let mut control = Bic::new(400, Some(2), BicConfig::default());
        for _ in 0..110 {
            control.on_ack(Time::ZERO, &AckSample::of(2));
        }
        assert_eq!(control.cwnd(), 410.0);
    }

    #[test]
    fn a_receiver_that_acknowledges_every_segment_is_taken_for_one_that_delays() {
        let mut ratio = AckRatio::DELAYED;
        for _ in 0..1_000 {
            ratio.learn(1);
        }
        assert_eq!(ratio.0, 31);
        assert_eq!(ratio.acknowledgments(31), 16);
    }

    #[test]
    fn a_timeout_forgets_the_maximum() {
        let mut control = Bic::new(1_000, Some(2), BicConfig::default());
        control.on_congestion(Time::ZERO, &event(CongestionEvent::Timeout { repeated: false }));
        assert_eq!((control.cwnd(), control.ssthresh(), control.last_max), (1.0, 799.0, 0));
        control.on_congestion(Time::ZERO, &event(CongestionEvent::Timeout { repeated: true }));
        assert_eq!(control.ssthresh(), 799.0);
    }

    /// `bictcp_acked` learns of new data where nothing is repaired; `tcp_is_cwnd_limited` lets the window grow where it is used.
    #[test]
    fn an_acknowledgment_of_the_kernels_teaches_and_grows_apart() {
        for (open, acked, grows, prior_inflight, learns, grown) in [
            (true, 1, true, 10, true, true),
            (true, 1, true, 9, true, false),
            (true, 1, false, 10, true, false),
            (false, 1, true, 10, false, true),
            (true, 0, true, 10, false, true),
        ] {
            let mut control = Bic::new(10, Some(20), BicConfig::default());
            let ack = KernelAck {
                sample: AckSample::of(acked),
                prior_inflight,
                open,
                grows,
                ..KernelAck::default()
            };
            control.on_kernel_ack(Time::ZERO, &ack);
            assert_eq!(control.ratio.0 < 32, learns, "{ack:?}");
            assert_eq!(control.cwnd(), if grown { 11.0 } else { 10.0 }, "{ack:?}");
        }
        let mut control = Bic::new(10, None, BicConfig::default());
        control.adopt(7);
        assert_eq!(control.cwnd(), 7.0);
        control.adopt(0);
        assert_eq!(control.cwnd(), 1.0);
    }

    /// `bictcp_update`: once in 31 ms for the same window, and up to 14 segments as Reno; before the first loss at most 20.
    #[test]
    fn the_step_is_worked_out_anew_for_another_window_or_after_31_ms() {
        let mut control = Bic::new(1_000, Some(2), BicConfig::default());
        (control.last_max, control.lost_before) = (1_100, true);
        let mut work_out = |cwnd, last_max, now_ms| {
            (control.window.cwnd, control.last_max) = (cwnd, last_max);
            control.work_out(now_ms);
            control.count
        };
        // half of 1000/16 and of 1000/10, as two segments are acknowledged at once
        assert_eq!(work_out(1_000, 1_100, 100), 31);
        assert_eq!([work_out(1_000, 1_040, 131), work_out(1_000, 1_040, 132)], [31, 50]);
        assert_eq!(work_out(1_001, 1_100, 132), 31);
        assert_eq!([work_out(14, 1_100, 132), work_out(15, 18, 132)], [14, 37]);
        control.lost_before = false;
        control.window.cwnd = 1_000;
        control.work_out(900);
        assert_eq!(control.count, 10);
    }
}
