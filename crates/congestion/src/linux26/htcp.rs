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

    /// What was acknowledged since the last measurement, and when that was, ms.
    #[cfg(test)]
    pub(super) fn measured(&self) -> (u64, u64) {
        (self.packets, self.since_ms)
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

#[cfg(test)]
mod tests {
    use bufferlab_units::Span;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Since a loss at 0 s, with a shortest and a longest round-trip time.
    fn control(rtt_ms: (u64, u64)) -> Htcp {
        Htcp { rtt_ms, last_congestion: Some(Time::ZERO), ..Htcp::default() }
    }

    /// `measure_achieved_throughput`: once a window less α and a round trip; in the first three whole rounds the last sample
    /// counts, then a filter of a quarter, its largest and smallest value.
    #[test]
    fn the_throughput_is_measured_once_a_window_and_filtered_after_three_rounds() {
        let mut control = control((100, 0));
        let mut measured = |ms, acked| {
            control.measure_throughput(at(ms), acked, true, 10);
            (control.rate, control.rates)
        };
        assert_eq!([measured(50, 9), measured(99, 1)], [(0, (0, 0)); 2], "not before a round trip");
        assert_eq!(measured(100, 0), (100, (100, 100)));
        assert_eq!(measured(250, 8), (100, (100, 100)), "not before nine segments");
        assert_eq!(measured(250, 1), (60, (60, 60)));
        // 20 in 149 ms, still of the third round
        assert_eq!(measured(399, 20), (134, (134, 134)));
        assert_eq!(measured(500, 10), ((3 * 134 + 99) / 4, (134, 134)));
        assert_eq!(measured(600, 40), ((3 * 125 + 400) / 4, (134, 193)));
        let mut fast = Htcp { alpha: 4 << 7, ..control };
        fast.measure_throughput(at(700), 5, true, 10);
        assert_eq!(fast.packets, 5);
        fast.measure_throughput(at(700), 1, true, 10);
        assert_eq!(fast.packets, 0, "four segments a round are not yet to be acknowledged");
    }

    #[test]
    fn nothing_is_measured_in_a_repair_or_before_a_round_trip_time_is_known() {
        let mut repairing = control((100, 0));
        repairing.packets = 50;
        repairing.measure_throughput(at(300), 7, false, 10);
        assert_eq!((repairing.packets, repairing.since_ms, repairing.rate, repairing.counts), (0, 300, 0, 1));
        let mut unknown = control((0, 0));
        unknown.measure_throughput(at(300), 50, true, 10);
        assert_eq!((unknown.packets, unknown.rate, unknown.counts), (50, 0, 50));
    }

    /// `measure_rtt`: the longest time rises by 20 ms at a step, after three rounds, where a loss was seen and none is repaired.
    #[test]
    fn the_longest_time_rises_by_20_ms_at_a_step() {
        let measured = |before, ms, srtt_ms, ssthresh, open| {
            let mut control = control(before);
            control.measure_rtt(at(ms), srtt_ms, ssthresh, open);
            control.rtt_ms
        };
        assert_eq!(measured((0, 0), 1_000, 110, 50, false), (110, 0));
        assert_eq!(measured((100, 0), 1_000, 120, 50, true), (100, 120));
        assert_eq!(measured((100, 0), 1_000, 121, 50, true), (100, 100));
        assert_eq!(measured((100, 130), 1_000, 150, 50, true), (100, 150));
        assert_eq!(measured((100, 130), 1_000, 105, 50, true), (100, 130));
        assert_eq!(measured((100, 130), 1_000, 90, 50, true), (90, 130));
        assert_eq!(measured((100, 130), 1_000, 140, 50, false), (100, 130), "a loss is repaired");
        assert_eq!(measured((100, 130), 1_000, 140, 0xFFFE, true), (100, 140));
        assert_eq!(measured((100, 130), 1_000, 140, 0xFFFF, true), (100, 130), "no loss was seen");
        assert_eq!(measured((100, 130), 399, 140, 50, true), (100, 130), "three rounds");
        assert_eq!(measured((100, 130), 400, 140, 50, true), (100, 140));
    }

    /// `htcp_cong_avoid`: a segment more once α times the count is a window; that acknowledgment does not count.
    #[test]
    fn alpha_segments_are_added_a_round() {
        let mut control = control((100, 0));
        (control.alpha, control.counts) = (2 << 7, 3);
        let mut window = LinuxWindow::new(10, Some(2));
        let mut grow = |control: &mut Htcp| {
            control.grow(at(0), &mut window, 100, true);
            (window.cwnd, window.counted)
        };
        // three for the first, which covered three, then one each
        assert_eq!([(); 4].map(|()| grow(&mut control)), [(10, 3), (10, 4), (10, 5), (11, 0)]);
        assert_eq!((control.alpha, grow(&mut control)), (1 << 7, (11, 1)));
    }

    /// `htcp_beta_update`: 5·maxB between 4 and 6 times the former one; then the ratio of the times, in 128ths from ½ to 0.8.
    #[test]
    fn beta_adapts_at_an_unchanged_throughput() {
        for (most, adaptive, rtt_ms, beta, adapts) in [
            (80, true, (100, 160), 80, true),
            (79, true, (100, 160), 64, false),
            (120, true, (100, 160), 80, true),
            (121, true, (100, 160), 64, false),
            (100, false, (100, 160), 64, true),
            (100, true, (10, 16), 64, true),
            (100, true, (11, 16), 88, true),
            (100, true, (100, 0), 64, true),
            (100, true, (100, 101), 102, true),
            (100, true, (100, 400), 64, true),
        ] {
            let mut control = Htcp { adaptive, rates: (0, most), old_most: 100, beta: 99, ..control(rtt_ms) };
            control.update_beta();
            assert_eq!((control.beta, control.adaptive, control.old_most), (beta, adapts, most));
        }
    }

    /// `htcp_alpha_update`: 2 (1 − β) · (1 + 10 (Δ − 1) + ((Δ − 1)/2)²) in whole factors after a second, over the ratio of
    /// 100 ms to the shortest time, which is between ½ and 10.
    #[test]
    fn alpha_grows_with_the_time_since_the_last_loss_and_with_the_path() {
        for (ms, least_ms, alpha) in [
            (500, 0, 1),
            (1_000, 0, 1),
            (1_100, 0, 2),
            (2_000, 0, 11),
            (5_000, 0, 45),
            (2_000, 100, 11),
            (2_000, 200, 22),
            (2_000, 900, 22),
            (2_000, 20, 2),
            (9_000, 5, 9),
            (500, 20, 1),
        ] {
            let mut control = control((least_ms, 0));
            control.update_alpha(at(ms));
            assert_eq!(control.alpha, alpha << 7, "{ms} {least_ms}");
        }
        let mut gentle = Htcp { beta: 96, ..control((0, 0)) };
        gentle.update_alpha(at(2_000));
        assert_eq!(gentle.alpha, 2 * 11 * 32);
    }

    /// `htcp_recalc_ssthresh` and the "slowly fading memory" of the longest time.
    #[test]
    fn a_loss_leaves_beta_and_lets_the_longest_time_fade() {
        for (rtt_ms, faded) in [((100, 160), (100, 157)), ((100, 100), (100, 100)), ((0, 50), (0, 50))] {
            let mut control = Htcp { adaptive: true, rates: (0, 100), old_most: 100, ..control(rtt_ms) };
            let left = control.threshold(at(0), 1_000);
            let beta = if rtt_ms.0 == 0 { 64 } else { (rtt_ms.0 * 128 / rtt_ms.1).min(102) };
            assert_eq!((u64::from(left), control.rtt_ms), (1_000 * beta / 128, faded));
        }
    }
}
