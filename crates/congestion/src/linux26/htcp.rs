//! H-TCP of Linux 2.6.22, in its fixed-point numbers of 7 bits and milliseconds.

use bufferlab_units::Time;

use crate::bic::jiffies;
use crate::linux_window::LinuxWindow;

/// One (`ALPHA_BASE`).
const ONE: u64 = 1 << 7;
/// What a loss leaves at least (`BETA_MIN`), and at most (`BETA_MAX`).
const BETA: (u64, u64) = (1 << 6, 102);
/// Growth is Reno's so long after a loss (`HZ`), ms.
const LOW_SPEED_MS: u64 = 1_000;
/// Fewer whole round-trip times after a loss, and no more, the measurements start over.
const SETTLING_ROUNDS: u64 = 3;
/// The longest round-trip time may rise by this at a step, ms.
const MAX_RTT_STEP_MS: u64 = 20;
/// Only longer paths adapt β, ms.
const ADAPTIVE_RTT_MS: u64 = 10;
/// Thresholds below this were set by a loss.
const NO_LOSS: u32 = 0xFFFF;

#[derive(Clone, Debug)]
pub(super) struct Htcp {
    alpha: u64,
    beta: u64,
    /// β may adapt (`modeswitch`).
    adaptive: bool,
    /// Segments that an acknowledgment counts for (`pkts_acked`).
    counts: u32,
    /// Shortest and longest smoothed round-trip time, ms; 0 before the first (`minRTT`, `maxRTT`).
    rtt_ms: (u64, u64),
    pub(super) last_congestion: Option<Time>,
    /// Segments since (`packetcount`), and since when (`lasttime`).
    packets: u64,
    since_ms: u64,
    /// Segments a second: smoothed (`Bi`), least and most since the last loss (`minB`, `maxB`), most before (`old_maxB`).
    rate: u64,
    rates: (u64, u64),
    old_most: u64,
}

impl Default for Htcp {
    fn default() -> Htcp {
        Htcp {
            alpha: ONE,
            beta: BETA.0,
            adaptive: false,
            counts: 1,
            rtt_ms: (0, 0),
            last_congestion: None,
            packets: 0,
            since_ms: 0,
            rate: 0,
            rates: (0, 0),
            old_most: 0,
        }
    }
}

impl Htcp {
    pub(super) fn begin(&mut self, now: Time) {
        self.last_congestion = Some(now);
    }

    /// ms since the last congestion.
    fn calm_ms(&self, now: Time) -> u64 {
        jiffies(now).saturating_sub(self.last_congestion.map_or(0, jiffies))
    }

    fn rounds(&self, now: Time) -> u64 {
        self.calm_ms(now) / self.rtt_ms.0.max(1)
    }

    /// `measure_achieved_throughput`.
    pub(super) fn measure_throughput(&mut self, now: Time, acked: u32, open: bool, cwnd: u32) {
        let now_ms = jiffies(now);
        if !open {
            (self.packets, self.since_ms) = (0, now_ms);
            return;
        }
        self.counts = acked;
        self.packets += u64::from(acked);
        let elapsed = now_ms.saturating_sub(self.since_ms);
        let enough = u64::from(cwnd).wrapping_sub((self.alpha >> 7).max(1));
        if self.packets < enough || elapsed < self.rtt_ms.0 || self.rtt_ms.0 == 0 {
            return;
        }
        let rate = self.packets.saturating_mul(1_000) / elapsed.max(1);
        if self.rounds(now) <= SETTLING_ROUNDS {
            (self.rate, self.rates) = (rate, (rate, rate));
        } else {
            self.rate = (3 * self.rate + rate) / 4;
            self.rates.1 = self.rates.1.max(self.rate);
            self.rates.0 = self.rates.0.min(self.rates.1);
        }
        (self.packets, self.since_ms) = (0, now_ms);
    }

    /// `measure_rtt`.
    fn measure_rtt(&mut self, now: Time, srtt_ms: u64, ssthresh: u32, open: bool) {
        let (least, most) = &mut self.rtt_ms;
        if *least > srtt_ms || *least == 0 {
            *least = srtt_ms;
        }
        let (least, mut most) = (*least, *most);
        if open && ssthresh < NO_LOSS && self.rounds(now) > SETTLING_ROUNDS {
            most = most.max(least);
            if most < srtt_ms && srtt_ms <= most + MAX_RTT_STEP_MS {
                most = srtt_ms;
            }
            self.rtt_ms.1 = most;
        }
    }

    /// New data is acknowledged beyond slow start, and the window is used.
    pub(super) fn grow(&mut self, now: Time, window: &mut LinuxWindow, srtt_ms: u64, open: bool) {
        self.measure_rtt(now, srtt_ms, window.ssthresh.unwrap_or(u32::MAX), open);
        if (u64::from(window.counted).saturating_mul(self.alpha)) >> 7 >= u64::from(window.cwnd) {
            window.cwnd = window.cwnd.saturating_add(1);
            window.counted = 0;
            self.update_alpha(now);
        } else {
            window.counted = window.counted.saturating_add(self.counts);
        }
        self.counts = 1;
    }

    /// `htcp_beta_update`.
    fn update_beta(&mut self) {
        let (most, before) = (self.rates.1, self.old_most);
        self.old_most = most;
        // `between` of unsigned numbers
        if 6 * before - 4 * before < (5 * most).wrapping_sub(4 * before) {
            (self.beta, self.adaptive) = (BETA.0, false);
            return;
        }
        let (least_ms, most_ms) = self.rtt_ms;
        if self.adaptive && least_ms > ADAPTIVE_RTT_MS && most_ms > 0 {
            self.beta = ((least_ms << 7) / most_ms).clamp(BETA.0, BETA.1);
        } else {
            (self.beta, self.adaptive) = (BETA.0, true);
        }
    }

    /// `htcp_alpha_update`.
    fn update_alpha(&mut self, now: Time) {
        let mut factor = 1;
        let calm = self.calm_ms(now);
        if calm > LOW_SPEED_MS {
            let beyond = calm - LOW_SPEED_MS;
            let half = beyond / 2;
            factor =
                1 + (beyond.saturating_mul(10).saturating_add(half.saturating_mul(half) / 1_000)) / 1_000;
        }
        if self.rtt_ms.0 > 0 {
            // 100 ms over the round-trip time, in eighths, between one half and ten
            let scale = (8_000 / (10 * self.rtt_ms.0)).clamp(4, 80);
            factor = (factor.saturating_mul(8) / scale).max(1);
        }
        self.alpha = (2_u64.saturating_mul(factor)).saturating_mul(ONE - self.beta).min(1 << 40);
    }

    pub(super) fn threshold(&mut self, now: Time, cwnd: u32) -> u32 {
        let (least, most) = self.rtt_ms;
        self.update_beta();
        self.update_alpha(now);
        if least > 0 && most > least {
            self.rtt_ms.1 = least + ((most - least) * 95) / 100;
        }
        ((u64::from(cwnd) * self.beta) >> 7) as u32
    }
}
