//! CUBIC as Linux computes it, in three of its versions.
//!
//! Sources: S. Ha, I. Rhee, L. Xu, "CUBIC: A New TCP-Friendly High-Speed TCP Variant", ACM SIGOPS OSR 42(5),
//! 2008; Linux `net/ipv4/tcp_cubic.c` 2.6.24 (v2.1) and 5.10 (v2.3) for constants and integer steps, read as
//! behavior, and its log for 2.6.26 (v2.2, "clamp removed"). RFC 9438's CUBIC is [`crate::Cubic`].
//!
//! | version | loss leaves | steps count | before the first loss | else |
//! | --- | --- | --- | --- | --- |
//! | [`LinuxVersion::V2_6_24`], CUBIC' | 819/1024 | acknowledgments | 50 | `S_max`: 16 in 100 ms |
//! | [`LinuxVersion::V2_6_26`], CUBIC'' | 717/1024 | acknowledgments | 50 | no clamp |
//! | [`LinuxVersion::V5`] | 717/1024 | segments | at most 20 | at most half a segment a segment |
//!
//! Departures:
//! - those of the window (`linux_window`);
//! - the cube root is exact to the integer; Linux's table and one Newton step are off by 0.2 % on average;
//! - jiffies are milliseconds (HZ = 1000) whatever the version; distributions also used 100 and 250;
//! - version 5's slow start has RFC 9406's `HyStart++` or none, not Linux's own `HyStart`;
//! - no undo after a spurious loss (segments are not reordered enough here).

use bufferlab_parameters::{FLAG, choice, parameters, words};
use bufferlab_units::{Span, Time};

use crate::bic::{AckRatio, jiffies, remembered, scaled};
use crate::cbrt::cbrt;
use crate::linux_window::LinuxWindow;
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, HyStart, Idle, KernelAck,
};

/// C times 1024: C = 0.4 segments a cubic second (`bic_scale` 41, times 10 for the 100 ms of its reference).
const C_SCALED: u64 = 410;
/// log₂ of the units of time a second in which the cubic is computed (`BICTCP_HZ`).
const TIME_SHIFT: u32 = 10;
/// The step is worked out again after this long, ms (`HZ / 32`).
const REFRESH_MS: u64 = 31;
/// Delay samples are discarded so long after a loss, ms ("right after fast recovery").
const SETTLE_MS: u64 = 1_000;
/// A window at or above its target waits for this many windows of segments ("very small increment").
const HOLD: u64 = 100;

words! {
    /// Versions of Linux's CUBIC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LinuxVersion {
        /// Linux 2.6.24, v2.1: CUBIC' of the buffer-sizing literature, up to 2.6.25.
        V2_6_24 = "linux-2-6-24",
        /// Linux 2.6.26, v2.2: CUBIC''.
        V2_6_26 = "linux-2-6-26",
        /// Linux 5.10, v2.3.
        V5 = "linux-5",
    }
}

parameters! {
    /// Parameters of Linux's CUBIC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LinuxCubicConfig {
        /// Whose constants and steps.
        version: LinuxVersion = LinuxVersion::V5, choice::<LinuxVersion>();
        /// A loss at a smaller window than the last one frees more room (`fast_convergence`, on by default).
        fast_convergence: bool = true, FLAG;
        /// Slow start is HyStart++ (RFC 9406), in place of Linux's own.
        hystart: bool = false, FLAG;
    }
}

impl Algorithm for LinuxCubicConfig {
    type Control = LinuxCubic;

    fn build(&self, context: Context) -> LinuxCubic {
        LinuxCubic::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// What differs between Linux's versions.
#[derive(Clone, Copy, Debug)]
struct Constants {
    /// What a loss leaves of the window, in 1024ths (`beta`).
    beta: u32,
    /// Largest increase in 100 ms once the plateau is passed, segments (`max_increment`).
    max_increment: Option<u32>,
    /// The step before the first loss.
    first: FirstStep,
    /// Steps count acknowledged segments, not acknowledgments; the step is at least 2.
    per_segment: bool,
}

/// The step of growth before the first loss.
#[derive(Clone, Copy, Debug)]
enum FirstStep {
    /// Always this many segments for one more.
    Fixed(u32),
    /// At most this many.
    AtMost(u32),
}

impl LinuxVersion {
    const fn constants(self) -> Constants {
        let (first, per_segment) = (FirstStep::Fixed(50), false);
        match self {
            LinuxVersion::V2_6_24 => Constants { beta: 819, max_increment: Some(16), first, per_segment },
            LinuxVersion::V2_6_26 => Constants { beta: 717, max_increment: None, first, per_segment },
            LinuxVersion::V5 => {
                Constants { beta: 717, max_increment: None, first: FirstStep::AtMost(20), per_segment: true }
            }
        }
    }
}

/// A stretch of growth between losses.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// When it began, ms (`epoch_start`).
    start_ms: u64,
    /// The plateau's window, segments (`bic_origin_point`).
    origin: u32,
    /// Time from the epoch's start to the plateau, 1/1024 s (`bic_K`).
    k: u64,
    /// What Reno would have now, segments (`tcp_cwnd`).
    reno: u32,
    /// Acknowledgments not yet counted in `reno` (`ack_cnt`).
    counted: u32,
}

/// Linux's CUBIC.
#[derive(Clone, Debug)]
pub struct LinuxCubic {
    constants: Constants,
    fast_convergence: bool,
    window: LinuxWindow,
    /// What counts towards the next segment (`cnt`).
    count: u32,
    /// The window of the last loss, segments; 0 before (`last_max_cwnd`).
    last_max: u32,
    epoch: Option<Epoch>,
    /// For which window the step was worked out, and when, ms (`last_cwnd`, `last_time`).
    worked_out: (u32, u64),
    /// The shortest round-trip time, if one was seen (`delay_min`).
    delay_min: Option<Span>,
    ratio: AckRatio,
    hystart: Option<HyStart>,
}

impl LinuxCubic {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: LinuxCubicConfig) -> LinuxCubic {
        LinuxCubic {
            constants: config.version.constants(),
            fast_convergence: config.fast_convergence,
            window: LinuxWindow::new(initial_window, ssthresh),
            count: 0,
            last_max: 0,
            epoch: None,
            worked_out: (0, 0),
            delay_min: None,
            ratio: AckRatio::DELAYED,
            hystart: config.hystart.then(HyStart::new),
        }
    }

    fn begin_epoch(&self, now_ms: u64, acked: u32) -> Epoch {
        let cwnd = self.window.cwnd;
        let below = self.last_max.saturating_sub(cwnd);
        Epoch {
            start_ms: now_ms,
            origin: self.last_max.max(cwnd),
            k: root_of_distance(below),
            reno: cwnd,
            counted: acked,
        }
    }

    fn measure_delay(&mut self, now_ms: u64, sample: &AckSample) {
        let settled = self.epoch.is_none_or(|epoch| now_ms >= epoch.start_ms + SETTLE_MS);
        if let Some(rtt) = sample.rtt.filter(|_| settled) {
            self.delay_min = Some(self.delay_min.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Whole milliseconds of the shortest round-trip time.
    fn delay_ms(&self) -> u64 {
        self.delay_min.map_or(0, |delay| delay.as_ps() / 1_000_000_000)
    }

    /// `bictcp_update`: what counts towards the next segment.
    fn work_out(&mut self, now_ms: u64, acked: u32) {
        let cwnd = self.window.cwnd;
        if let Some(epoch) = &mut self.epoch {
            epoch.counted = epoch.counted.saturating_add(acked);
        }
        if self.worked_out.0 == cwnd && now_ms.saturating_sub(self.worked_out.1) <= REFRESH_MS {
            return;
        }
        let cubic_known = self.constants.per_segment && self.epoch.is_some() && self.worked_out.1 == now_ms;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now_ms, acked));
        let step = if cubic_known {
            // version 5: the cubic is computed once a jiffy at most
            u64::from(self.count)
        } else {
            self.worked_out = (cwnd, now_ms);
            self.cubic_step(&epoch, now_ms)
        };
        let step = step.min(reno_step(&mut epoch, cwnd, self.constants.beta));
        self.epoch = Some(epoch);
        let step = step.min(u64::from(u32::MAX)) as u32;
        self.count = if self.constants.per_segment { step.max(2) } else { self.ratio.acknowledgments(step) };
    }

    /// Segments for one more by the cubic.
    fn cubic_step(&self, epoch: &Epoch, now_ms: u64) -> u64 {
        let cwnd = u64::from(self.window.cwnd);
        // the target is the curve's value one round-trip time ahead
        let t = ((now_ms.saturating_sub(epoch.start_ms) + self.delay_ms()) << TIME_SHIFT) / 1_000;
        let offset = u128::from(t.abs_diff(epoch.k));
        // 410 · 2^(3·30) fits 128 bits: an offset of 2³⁰ units is twelve days
        let offset = offset.min(1 << 30);
        let delta = ((u128::from(C_SCALED) * offset * offset * offset) >> (10 + 3 * TIME_SHIFT)) as u64;
        let origin = u64::from(epoch.origin);
        let target = if t < epoch.k { origin.saturating_sub(delta) } else { origin.saturating_add(delta) };
        let mut step = if target > cwnd { cwnd / (target - cwnd) } else { HOLD * cwnd };
        if let Some(max_increment) = self.constants.max_increment
            && self.delay_ms() > 0
            && t >= epoch.k
        {
            // `max_increment` in 100 ms is max_increment·delay/100 ms a round
            step = step.max(cwnd * 100 / (u64::from(max_increment) * self.delay_ms()));
        }
        match self.constants.first {
            FirstStep::Fixed(first) if self.last_max == 0 => u64::from(first),
            FirstStep::AtMost(first) if self.last_max == 0 => step.min(u64::from(first)),
            _ => step,
        }
    }

    fn threshold(&mut self, cwnd: u32) -> u32 {
        let last_max = if self.fast_convergence { self.last_max } else { 0 };
        self.last_max = remembered(cwnd, last_max, self.constants.beta);
        scaled(cwnd, self.constants.beta)
    }

    /// Linux since 3.19.
    fn grow_per_segment(&mut self, now_ms: u64, sample: &AckSample) {
        let mut left = sample.acked;
        if self.window.in_slow_start() {
            left = self.slow_start(sample);
            if left == 0 {
                return;
            }
        }
        self.work_out(now_ms, left);
        self.window.increase(self.count, left);
    }

    /// Linux 2.6.
    fn grow_per_ack(&mut self, now_ms: u64, sample: &AckSample) {
        if self.hystart.is_some() && self.window.in_slow_start() {
            self.slow_start(sample);
        } else if !self.window.slow_start_per_ack() {
            self.work_out(now_ms, 1);
            self.window.increase_per_ack(self.count);
        }
    }

    /// Slow start; what it leaves of `acked`.
    fn slow_start(&mut self, sample: &AckSample) -> u32 {
        let Some(hystart) = &mut self.hystart else {
            return self.window.slow_start(sample.acked);
        };
        let advice = hystart.on_ack(sample);
        let left = self.window.slow_start(advice.whole(sample.acked));
        if advice.leave {
            (self.window.ssthresh, self.hystart) = (Some(self.window.cwnd), None);
        }
        left
    }
}

/// Time from a window so far below the plateau to the plateau, 1/1024 s: ∛(distance / C).
fn root_of_distance(distance: u32) -> u64 {
    let factor = (1_u64 << (10 + 3 * TIME_SHIFT)) / C_SCALED;
    // 2.7e9 · 2³² < 2⁶³; rounding to 53 bits moves the root by less than one part in 10¹⁵
    cbrt((factor * u64::from(distance)) as f64) as u64
}

/// Segments for one more so that Reno's window is not fallen short of ("TCP friendly").
fn reno_step(epoch: &mut Epoch, cwnd: u32, beta: u32) -> u64 {
    // Reno with this decrease gains 3(1 − β)/(1 + β) a round: one more for this many eighths of a window
    let eighths = u64::from(8 * (1_024 + beta) / 3 / (1_024 - beta).max(1));
    let needed = ((u64::from(cwnd) * eighths) >> 3).clamp(1, u64::from(u32::MAX)) as u32;
    if epoch.counted > needed {
        let steps = (epoch.counted - 1) / needed;
        epoch.counted -= steps * needed;
        epoch.reno = epoch.reno.saturating_add(steps);
    }
    if epoch.reno > cwnd { u64::from(cwnd / (epoch.reno - cwnd)) } else { u64::MAX }
}

impl CongestionControl for LinuxCubic {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let now_ms = jiffies(now);
        self.ratio.learn(sample.acked);
        self.measure_delay(now_ms, sample);
        if self.constants.per_segment {
            self.grow_per_segment(now_ms, sample);
        } else {
            self.grow_per_ack(now_ms, sample);
        }
    }

    fn on_kernel_ack(&mut self, now: Time, ack: &KernelAck) {
        let now_ms = jiffies(now);
        let is_new = ack.sample.acked > 0;
        if ack.open && is_new {
            self.ratio.learn(ack.sample.acked);
            if !ack.sacked {
                self.measure_delay(now_ms, &ack.sample);
            }
        }
        if ack.grows && ack.prior_inflight >= self.window.cwnd {
            self.grow_per_ack(now_ms, &ack.sample);
        }
    }

    fn adopt(&mut self, segments: u32) {
        self.window.cwnd = segments.max(1);
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        let mut window = self.window;
        window.on_congestion(congestion, |cwnd| self.threshold(cwnd));
        self.window = window;
        self.epoch = None;
        if congestion.event != CongestionEvent::SynTimeout {
            self.hystart = None;
        }
        if matches!(congestion.event, CongestionEvent::Timeout { .. }) {
            // `bictcp_reset`: a timeout forgets the plateau and the delay
            (self.last_max, self.worked_out, self.delay_min) = (0, (0, 0), None);
            self.ratio = AckRatio::DELAYED;
        }
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        self.window.on_idle(idle);
        // `bictcp_cwnd_event`, CA_EVENT_TX_START, since 3.15: the idle time is no time of the epoch
        if let Some(epoch) = self.epoch.as_mut().filter(|_| self.constants.per_segment) {
            epoch.start_ms += idle.idle.as_ps() / 1_000_000_000;
        }
    }

    fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }
}

#[cfg(test)]
mod tests;
