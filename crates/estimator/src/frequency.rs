//! Round trips from one direction only: the period at which a sender's packets come in bursts.

use bufferlab_units::{Span, Time};

use crate::FlowTable;

/// Gaps between the arrivals of one estimate.
const SAMPLES: usize = 256;
/// Frequencies are tried in steps of such a part of the narrowest peak that the time seen allows.
const STEPS_A_PEAK: f64 = 2.0;
/// The longest period tried fits this many times into the time seen; the shortest is this many mean gaps.
const LEAST_PERIODS: f64 = 4.0;
const LEAST_GAPS: f64 = 2.0;
/// Power from which a peak is no chance: arrivals at random exceed z with a probability of exp(-z) at each of some 250
/// frequencies (J. Scargle, Astrophysical Journal 263, 1982, section III).
const LEAST_POWER: f64 = 10.0;
/// The fundamental is the lowest frequency with such a part of the largest power: bursts have harmonics as large.
const PART_OF_LARGEST: f64 = 0.5;
/// Part of the periods in which packets must come.
const LEAST_PART: f64 = 0.75;

#[derive(Clone, Copy, Debug)]
struct Seen {
    began: Time,
    /// Arrivals since then, us.
    arrivals_us: [u32; SAMPLES + 1],
    count: usize,
    /// The last round trip.
    rtt: Option<Span>,
}

/// The latest round trip of each remembered flow, from when its packets arrive and nothing else.
///
/// Each 257 arrivals give one estimate, from the power of the arrivals as a train of equal pulses. (The publication takes the
/// gaps between arrivals as a signal; those of a burst are read within the burst only, which says little of a round trip
/// that is much longer.) It fails where a window leaves no gap (a flow that fills its path, a paced sender, one packet a round
/// trip). Where 256 packets are less than four round trips it gives none, or half of it: windows of 90 and 130 packets at 50 ms
/// gave 25 ms. Where timeouts pace a flow, their period is what it finds.
#[derive(Clone, Debug)]
pub struct FrequencyEstimator {
    flows: FlowTable<Seen>,
}

impl FrequencyEstimator {
    /// An estimator for about this number of flows at a time.
    pub fn new(flows: usize) -> FrequencyEstimator {
        FrequencyEstimator { flows: FlowTable::new(flows) }
    }

    /// Its size, bytes.
    pub fn bytes(&self) -> usize {
        self.flows.bytes()
    }

    /// A data packet arrives. Returns the flow's latest round-trip time, if it is known.
    pub fn on_data(&mut self, now: Time, key: u64) -> Option<Span> {
        let Some(seen) = self.flows.get(now, key) else {
            self.flows.put(now, key, Seen { began: now, arrivals_us: [0; SAMPLES + 1], count: 1, rtt: None });
            return None;
        };
        let since_us = now.saturating_since(seen.began).as_ps() / 1_000_000;
        seen.arrivals_us[seen.count] = u32::try_from(since_us).unwrap_or(u32::MAX);
        seen.count += 1;
        if seen.count == seen.arrivals_us.len() {
            seen.rtt = period_s(&seen.arrivals_us)
                .map(|period_s| Span::from_us((period_s * 1e6) as u64))
                .or(seen.rtt);
            (seen.began, seen.count) = (now, 1);
            seen.arrivals_us[0] = 0;
        }
        seen.rtt
    }
}

/// The fundamental period of the arrivals, s, if any period stands out.
fn period_s(arrivals_us: &[u32]) -> Option<f64> {
    let times_s: Vec<f64> = arrivals_us.iter().map(|&us| f64::from(us) * 1e-6).collect();
    let (seen_s, gaps) = (*times_s.last()?, (times_s.len() - 1) as f64);
    if seen_s <= 0.0 {
        return None;
    }
    let first = (LEAST_PERIODS * STEPS_A_PEAK) as u32;
    let last = (gaps / LEAST_GAPS * STEPS_A_PEAK) as u32;
    let frequency = |step: u32| f64::from(step) / STEPS_A_PEAK / seen_s;
    let powers: Vec<f64> = (first..=last).map(|step| power(&times_s, frequency(step))).collect();
    let largest = powers.iter().copied().fold(0.0, f64::max);
    if largest < LEAST_POWER {
        return None;
    }
    let mut at = powers.iter().position(|&each| each >= PART_OF_LARGEST * largest)?;
    while at + 1 < powers.len() && powers[at + 1] > powers[at] {
        at += 1;
    }
    let period = 1.0 / frequency(first + at as u32);
    recurs(&times_s, period).then_some(period)
}

/// Packets come in most of the periods: two bursts alone have peaks, too.
fn recurs(times_s: &[f64], period: f64) -> bool {
    let numbers: Vec<u64> = times_s.iter().map(|time| (time / period) as u64).collect();
    let changes = numbers.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let all = numbers.last().copied().unwrap_or_default() + 1;
    (changes + 1) as f64 >= LEAST_PART * all as f64
}

/// The power of pulses at these times: one on average if they come at random, their number if all are in phase.
fn power(times_s: &[f64], frequency: f64) -> f64 {
    let (mut cosines, mut sines) = (0.0, 0.0);
    for &time in times_s {
        let turns = time * frequency;
        let (sine, cosine) = sine_and_cosine(turns - turns.floor());
        cosines += cosine;
        sines += sine;
    }
    (cosines * cosines + sines * sines) / times_s.len() as f64
}

/// Sine and cosine of a part of a turn, 0 to 1, to eight digits: by sums and products only, which are the same on every
/// machine.
fn sine_and_cosine(turn: f64) -> (f64, f64) {
    (sine(turn), sine(turn + 0.25))
}

fn sine(turn: f64) -> f64 {
    // to a quarter of a turn about zero
    let near = turn - (turn + 0.5).floor();
    let folded = if near > 0.25 {
        0.5 - near
    } else if near < -0.25 {
        -0.5 - near
    } else {
        near
    };
    let x = folded * std::f64::consts::TAU;
    let square = x * x;
    // Taylor's series to the 13th power
    let terms = [-1.0 / 156.0, -1.0 / 110.0, -1.0 / 72.0, -1.0 / 42.0, -1.0 / 20.0, -1.0 / 6.0];
    x * terms.iter().fold(1.0, |sum, term| 1.0 + sum * term * square)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window's packets, 100 us apart, each round trip.
    fn rtt_of(window: u64, rtt_ms: u64) -> Option<Span> {
        let mut estimator = FrequencyEstimator::new(16);
        let mut found = None;
        for number in 0..1_000 {
            let (round, place) = (number / window, number % window);
            let us = round * rtt_ms * 1_000 + place * 100;
            found = estimator.on_data(Time::ZERO + Span::from_us(us), 7);
        }
        found
    }

    #[test]
    fn windows_of_packets_come_once_a_round_trip() {
        for (window, rtt_ms) in [(4, 10), (10, 50), (20, 100), (30, 300)] {
            let found = rtt_of(window, rtt_ms).expect("a period stands out").as_s() * 1e3;
            assert!(
                (found / rtt_ms as f64 - 1.0).abs() < 0.06,
                "{window} packets each {rtt_ms} ms: {found} ms"
            );
        }
    }

    #[test]
    fn too_few_round_trips_and_even_gaps_say_nothing() {
        assert_eq!(rtt_of(1, 50), None);
        assert_eq!(rtt_of(500, 100), None);
    }

    #[test]
    fn sines_are_those_of_the_library() {
        for step in 0..1_000 {
            let turn = f64::from(step) / 1_000.0;
            let (sine, cosine) = sine_and_cosine(turn);
            let angle = turn * std::f64::consts::TAU;
            assert!((sine - angle.sin()).abs() < 1e-8 && (cosine - angle.cos()).abs() < 1e-8, "{turn}");
        }
    }

    /// The power of n pulses is n where all are in phase, and 0 where they cancel each other.
    #[test]
    fn power_tells_pulses_in_phase_from_others() {
        for (turns, expected) in [
            (&[0.0, 1.0, 2.0, 5.0][..], 4.0),
            (&[0.3, 1.3, 7.3], 3.0),
            (&[0.0, 0.5, 1.0, 1.5], 0.0),
            (&[0.0, 0.25], 1.0),
            (&[0.0, 0.0, 0.25], 5.0 / 3.0),
            (&[0.9, 1.9, 2.4], 1.0 / 3.0),
        ] {
            // a turn takes 40 ms
            let times: Vec<f64> = turns.iter().map(|turn| turn * 0.04).collect();
            assert!((power(&times, 25.0) - expected).abs() < 1e-6, "{turns:?}");
        }
    }

    #[test]
    fn three_of_four_periods_must_have_packets() {
        for (times, holds) in [
            (&[0.5, 1.5, 2.5, 3.5][..], true),
            (&[0.5, 1.5, 3.5], true),
            (&[0.1, 0.9, 1.5, 3.5], true),
            (&[0.5, 3.5], false),
            (&[0.5, 1.5, 4.5], false),
            (&[0.5], true),
        ] {
            let times: Vec<f64> = times.iter().map(|time| time * 0.02).collect();
            assert_eq!(recurs(&times, 0.02), holds, "{times:?}");
        }
    }

    /// Bursts of 8 packets, so that 257 are seen in 32 periods: the peak is the step that is next to their frequency.
    #[test]
    fn the_period_is_found_to_half_a_step() {
        for rtt_us in [10_000_u32, 33_000, 50_000, 71_300] {
            let arrivals: Vec<u32> = (0..257).map(|number| number / 8 * rtt_us + number % 8 * 100).collect();
            let frequency = 1.0 / period_s(&arrivals).unwrap();
            let seen_s = f64::from(arrivals[256]) * 1e-6;
            let steps = (frequency - 1e6 / f64::from(rtt_us)).abs() * STEPS_A_PEAK * seen_s;
            assert!(steps < 0.6, "{rtt_us}: {steps} steps");
        }
        assert_eq!(period_s(&[0; 257]), None, "no time has passed");
    }

    /// Periods from two mean gaps to a quarter of the time seen.
    #[test]
    fn bursts_of_two_to_sixty_packets_are_found() {
        for (window, rtt_ms) in [(2, 10), (3, 10), (60, 50)] {
            let found = rtt_of(window, rtt_ms).expect("a period stands out").as_s() * 1e3;
            assert!(
                (found / rtt_ms as f64 - 1.0).abs() < 0.13,
                "{window} packets each {rtt_ms} ms: {found} ms"
            );
        }
        assert_eq!(rtt_of(1, 10), None);
    }

    /// Scargle 1982: at random, one of 250 frequencies exceeds the least power in about one estimate of a hundred.
    #[test]
    fn arrivals_at_random_have_no_period() {
        let found = (0..40).filter(|&seed| {
            let mut stream = bufferlab_units::Stream::new(seed, 0, 0);
            let mut at_us = 0;
            let arrivals: Vec<u32> = (0..257)
                .map(|_| {
                    at_us += stream.below(20_000) as u32;
                    at_us
                })
                .collect();
            period_s(&arrivals).is_some()
        });
        assert!(found.count() <= 3);
    }

    /// Each 257 arrivals give one estimate, which stays until the next one that says something.
    #[test]
    fn an_estimate_comes_with_257_arrivals_and_stays() {
        let mut estimator = FrequencyEstimator::new(16);
        let mut at = Time::ZERO + Span::from_s(100);
        let found: Vec<_> = (0..1_100_u64)
            .map(|number| {
                // bursts of 8 each 50 ms; from the 300th on even gaps; from the 800th on bursts each 20 ms
                at += match number {
                    0..300 | 800.. if number % 8 != 0 => Span::from_us(100),
                    0..300 => Span::from_us(49_300),
                    300..800 => Span::from_us(5_000),
                    _ => Span::from_us(19_300),
                };
                estimator.on_data(at, 7).map(|rtt| (rtt.as_s() * 100.0).round() as u32)
            })
            .collect();
        assert_eq!((found[255], found[256], found[512], found[768]), (None, Some(5), Some(5), Some(5)));
        assert_eq!((found[1_023], found[1_024]), (Some(5), Some(2)));
        assert!(estimator.bytes() >= 16 * 257 * 4);
    }
}
