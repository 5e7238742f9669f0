//! A rate that a policer allows: where much is lost at a steady rate, version 1 keeps to that rate for a while.
//!
//! Source: Linux 6.12 `net/ipv4/tcp_bbr.c` (`bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`), read as behavior. "Long
//! term" is its word; a drop-tail queue that many flows overfill looks like a policer to it.
//!
//! Departure: an interval does not end at a timeout but with the next acknowledgment.

use bufferlab_units::{Span, Time};

use super::PACING_MARGIN;
use crate::RateSample;

/// Least rounds of an interval (`bbr_lt_intvl_min_rtts`), and most.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Lost over delivered of an interval that suggests a policer (`bbr_lt_loss_thresh`).
const LOSS_THRESHOLD: f64 = 50.0 / 256.0;
/// Two intervals' rates are one if they differ by no more than this part (`bbr_lt_bw_ratio`), or by this many bytes a
/// second (`bbr_lt_bw_diff`: 4 kbit/s).
const SAME_RATIO: f64 = 1.0 / 8.0;
const SAME_BYTES_PER_S: f64 = 500.0;
/// Rounds for which the rate is kept (`bbr_lt_bw_max_rtts`).
const KEPT_ROUNDS: u32 = 48;
/// Shortest interval of which a rate is taken.
const SHORTEST: Span = Span::from_ms(1);

/// What an acknowledgment says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'a> {
    pub(super) now: Time,
    pub(super) rate: &'a RateSample,
    /// It revealed losses.
    pub(super) losses: bool,
    /// Its sample is of segments sent while something other than the path limited the sender.
    pub(super) limited: bool,
    pub(super) round_started: bool,
    /// The control is in the gain cycle.
    pub(super) cycling: bool,
}

/// The search for a policer's rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// A loss has begun it (`lt_is_sampling`).
    sampling: bool,
    /// The rate is kept to (`lt_use_bw`).
    used: bool,
    /// Of the interval before, or of both, segments a second (`lt_bw`).
    bw: Option<f64>,
    /// Rounds of this interval, or with this rate (`lt_rtt_cnt`).
    rounds: u32,
    /// What was delivered and lost when the interval began, and when that was.
    delivered: u64,
    lost: u64,
    since: Time,
}

impl LongTerm {
    /// The rate to keep to, segments a second, if there is one.
    pub(super) fn rate(&self) -> Option<f64> {
        self.bw.filter(|_| self.used)
    }

    /// Takes an acknowledgment with segments of this many bytes. Returns whether the rate was kept long enough, so that the
    /// gain cycle begins anew.
    pub(super) fn update(&mut self, seen: &Seen<'_>, mss_bytes: f64) -> bool {
        if self.used {
            return self.follow(seen);
        }
        if !self.sampling {
            if !seen.losses {
                return false;
            }
            self.begin_interval(seen);
            self.sampling = true;
        }
        if seen.limited {
            self.reset(seen);
            return false;
        }
        self.rounds += u32::from(seen.round_started);
        if self.rounds > MOST_ROUNDS {
            self.reset(seen);
        } else if self.rounds >= LEAST_ROUNDS && seen.losses {
            self.end_interval(seen, mss_bytes);
        }
        false
    }

    fn follow(&mut self, seen: &Seen<'_>) -> bool {
        if !seen.cycling || !seen.round_started {
            return false;
        }
        self.rounds += 1;
        let over = self.rounds >= KEPT_ROUNDS;
        if over {
            self.reset(seen);
        }
        over
    }

    fn end_interval(&mut self, seen: &Seen<'_>, mss_bytes: f64) {
        let (delivered, lost) =
            (seen.rate.delivered.saturating_sub(self.delivered), seen.rate.lost.saturating_sub(self.lost));
        let lasted = seen.now.saturating_since(self.since);
        if delivered == 0 || (lost as f64) < LOSS_THRESHOLD * delivered as f64 || lasted < SHORTEST {
            return;
        }
        let bw = delivered as f64 / lasted.as_s();
        match self.bw {
            Some(before) if is_same(bw, before, mss_bytes) => {
                (self.bw, self.used, self.rounds) = (Some(f64::midpoint(bw, before)), true, 0);
            }
            _ => {
                self.bw = Some(bw);
                self.begin_interval(seen);
            }
        }
    }

    /// `bbr_reset_lt_bw_sampling`.
    fn reset(&mut self, seen: &Seen<'_>) {
        *self = LongTerm::default();
        self.begin_interval(seen);
    }

    /// `bbr_reset_lt_bw_sampling_interval`.
    fn begin_interval(&mut self, seen: &Seen<'_>) {
        (self.delivered, self.lost, self.since) = (seen.rate.delivered, seen.rate.lost, seen.now);
        self.rounds = 0;
    }
}

fn is_same(bw: f64, before: f64, mss_bytes: f64) -> bool {
    let apart = (bw - before).abs();
    apart <= SAME_RATIO * before || apart * mss_bytes * PACING_MARGIN <= SAME_BYTES_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 100 ms at this many segments each, of which `lost` of a hundred are lost; how many rounds the rate is kept
    /// to, and the rate.
    fn rounds(count: u32, delivered: impl Fn(u32) -> u64, lost: u64) -> (u32, Option<f64>) {
        let (mut policer, mut rate, mut kept, mut last) =
            (LongTerm::default(), RateSample::default(), 0, None);
        for round in 1..=count {
            rate.delivered += delivered(round);
            rate.lost += delivered(round) * lost / 100;
            let now = Time::ZERO + Span::from_ms(100 * u64::from(round));
            let seen = Seen {
                now,
                rate: &rate,
                losses: lost > 0,
                limited: false,
                round_started: true,
                cycling: true,
            };
            policer.update(&seen, 1448.0);
            kept += u32::from(policer.rate().is_some());
            last = policer.rate().or(last);
        }
        (kept, last)
    }

    #[test]
    fn two_intervals_of_heavy_loss_at_one_rate_are_a_policer_for_48_rounds() {
        // the first loss begins an interval; each is ended by its fourth round
        let (kept, rate) = rounds(8 + 48, |_| 100, 20);
        assert_eq!((kept, rate), (48, Some(1_000.0)));
    }

    #[test]
    fn little_loss_is_none() {
        assert_eq!(rounds(100, |_| 100, 19).1, None);
    }

    #[test]
    fn a_rate_that_moves_is_none() {
        let faster_each_time = |round: u32| 100 << (round / 4).min(20);
        assert_eq!(rounds(60, faster_each_time, 30).1, None);
        // less than an eighth apart is one rate, of which the mean is taken
        let (_, rate) = rounds(9, |round| if round <= 4 { 1_000 } else { 1_120 }, 30);
        assert_eq!(rate, Some(10_600.0));
    }

    const RATE: RateSample = RateSample {
        delivered: 0,
        prior_delivered: 0,
        interval: Span::ZERO,
        app_limited: false,
        tx_in_flight: 0,
        lost: 0,
        prior_lost: 0,
        until_release: Span::ZERO,
    };

    /// One interval of four rounds, in which this much is delivered and lost after its beginning; its rate, if it suggests a
    /// policer, segments a second.
    fn interval(delivered: u64, lost: u64, lasted: Span) -> Option<f64> {
        let mut policer = LongTerm::default();
        for round in 1..=4 {
            let rate = if round == 4 { RateSample { delivered, lost, ..RATE } } else { RATE };
            let now = Time::ZERO + Span::from_ps(lasted.as_ps() * u64::from(round == 4));
            let seen =
                Seen { now, rate: &rate, losses: true, limited: false, round_started: true, cycling: true };
            policer.update(&seen, 1448.0);
        }
        policer.bw
    }

    /// `bbr_lt_bw_sampling`: 50 of 256 lost, in a millisecond at least.
    #[test]
    fn an_interval_counts_from_50_lost_of_256_on_if_it_lasts_a_millisecond() {
        assert_eq!(interval(256, 50, Span::from_ms(1_000)), Some(256.0));
        assert_eq!(interval(256, 49, Span::from_ms(1_000)), None);
        assert_eq!(interval(257, 50, Span::from_ms(1_000)), None);
        assert_eq!(interval(256, 50, Span::from_ms(1)), Some(256_000.0));
        assert_eq!(interval(256, 50, Span::from_us(999)), None);
        assert_eq!(interval(0, 50, Span::from_ms(1_000)), None);
    }

    /// `bbr_lt_bw_interval_done`: an eighth of the former rate, or 4 kbit/s.
    #[test]
    fn two_rates_are_one_within_an_eighth_or_four_kbps() {
        assert!(is_same(1_125.0, 1_000.0, 1448.0) && is_same(875.0, 1_000.0, 1448.0));
        assert!(!is_same(1_126.0, 1_000.0, 1448.0) && !is_same(874.0, 1_000.0, 1448.0));
        // 5 segments of 100 bytes a second: 4 kbit/s, of which the pace leaves 1 %
        assert!(is_same(15.0, 10.0, 100.0) && is_same(5.0, 10.0, 101.0));
        assert!(!is_same(15.2, 10.0, 100.0) && !is_same(15.0, 10.0, 102.0));
    }

    /// After 16 rounds without an end, at a sample that something else limited, and after the 48 rounds: all over again.
    #[test]
    fn the_search_starts_over_after_sixteen_rounds_or_a_limited_sample() {
        let mut policer = LongTerm::default();
        let see = |policer: &mut LongTerm, losses, limited, round_started| {
            let seen = Seen { now: Time::ZERO, rate: &RATE, losses, limited, round_started, cycling: true };
            policer.update(&seen, 1448.0);
            (policer.sampling, policer.rounds)
        };
        assert_eq!(see(&mut policer, false, false, true), (false, 0), "no loss, no search");
        assert_eq!(see(&mut policer, true, false, false), (true, 0));
        for round in 1..=16 {
            assert_eq!(see(&mut policer, false, false, true), (true, round));
        }
        assert_eq!(see(&mut policer, false, false, true), (false, 0));
        assert_eq!(see(&mut policer, true, false, true), (true, 1));
        assert_eq!(see(&mut policer, false, true, true), (false, 0));
    }

    #[test]
    fn the_rate_is_kept_for_48_rounds_of_the_cycle() {
        let kept = LongTerm { used: true, bw: Some(1_000.0), ..LongTerm::default() };
        for (cycling, round_started, rounds) in
            [(true, true, 1), (true, false, 0), (false, true, 0), (false, false, 0)]
        {
            let mut policer = kept;
            let seen =
                Seen { now: Time::ZERO, rate: &RATE, losses: true, limited: false, round_started, cycling };
            assert!(!policer.update(&seen, 1448.0));
            assert_eq!(policer.rounds, rounds);
        }
        let seen = Seen {
            now: Time::ZERO,
            rate: &RATE,
            losses: true,
            limited: false,
            round_started: true,
            cycling: true,
        };
        let mut policer = kept;
        let over: Vec<_> = (1..=48).filter(|_| policer.update(&seen, 1448.0)).collect();
        assert_eq!((over, policer.rate()), (vec![48], None));
    }
}
