//! How a video client chooses bitrates.

use std::collections::VecDeque;

use bufferlab_units::Span;

use super::bola::{Bola, Choice, Scores};
use crate::plan::{RateRule, VideoPlan};

/// Segments whose throughput counts: dash.js's `sampleSettings.vod` (`src/core/Settings.js`).
const SAMPLES: usize = 4;

/// The throughput of the last segments.
///
/// Source: dash.js, `src/streaming/controllers/ThroughputController.js` (`getHarmonicMean`, `getSafeAverageThroughput`) and
/// `src/streaming/rules/abr/ThroughputRule.js`, read as behavior: the harmonic mean of the last segments' throughputs, times a
/// safety factor; the highest bitrate that is not above it.
#[derive(Clone, Debug)]
struct Throughput {
    ladder_bps: Vec<u64>,
    safety: f64,
    /// Seconds a bit of each of the last segments took, from its request.
    seconds_per_bit: VecDeque<f64>,
}

impl Throughput {
    fn add(&mut self, bytes: u64, took: Span) {
        if self.seconds_per_bit.len() == SAMPLES {
            self.seconds_per_bit.pop_front();
        }
        self.seconds_per_bit.push_back(took.as_s() / (8.0 * bytes as f64));
    }

    /// The bitrate that it sustains; the lowest if none, or while nothing is known.
    fn sustained(&self) -> usize {
        let sum: f64 = self.seconds_per_bit.iter().sum();
        let safe_bps = self.safety * self.seconds_per_bit.len() as f64 / sum;
        self.ladder_bps.iter().rposition(|&bps| bps as f64 <= safe_bps).unwrap_or(0)
    }
}

/// A client's rule with what it has seen.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    throughput: Throughput,
    /// What goes by the buffer's level, if something does.
    bola: Option<Bola>,
    segment_s: f64,
}

impl Rules {
    pub(super) fn new(plan: &VideoPlan) -> Rules {
        let bola = || Bola::new(Scores::new(&plan.ladder_bps, Span::from_ps(plan.buffer_ps).as_s()));
        Rules {
            throughput: Throughput {
                ladder_bps: plan.ladder_bps.clone(),
                safety: plan.safety,
                seconds_per_bit: VecDeque::new(),
            },
            bola: (plan.rule == RateRule::Bola).then(bola),
            segment_s: Span::from_ps(plan.segment_ps).as_s(),
        }
    }

    /// A segment took so long; `level` was in the buffer before it came.
    pub(super) fn on_segment(&mut self, bytes: u64, took: Span, level: Span) {
        self.throughput.add(bytes, took);
        if let Some(bola) = &mut self.bola {
            bola.on_segment((level + took).as_s());
        }
    }

    /// The buffer has run empty.
    pub(super) fn on_stall(&mut self) {
        if let Some(bola) = &mut self.bola {
            bola.on_stall();
        }
    }

    /// What is asked for when `level` is in the buffer, after a wait of `waited` for room.
    pub(super) fn choose(&mut self, level: Span, waited: Span) -> Choice {
        let sustained = self.throughput.sustained();
        match &mut self.bola {
            None => Choice { rate: sustained, wait_s: 0.0 },
            Some(bola) => bola.choose(level.as_s(), waited.as_s(), self.segment_s, sustained),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn throughput(safety: f64) -> Throughput {
        let ladder_bps = vec![1_000_000, 2_000_000, 4_000_000];
        Throughput { ladder_bps, safety, seconds_per_bit: VecDeque::new() }
    }

    /// A second of `mbps`.
    fn add(throughput: &mut Throughput, mbps: u64) {
        throughput.add(mbps * 125_000, Span::from_s(1));
    }

    #[test]
    fn the_highest_bitrate_that_is_not_above_the_safe_throughput_is_sustained() {
        let mut half = throughput(0.5);
        assert_eq!(half.sustained(), 0);
        for (mbps, wanted) in [(1, 0), (4, 1), (7, 1), (8, 2), (100, 2)] {
            half.seconds_per_bit.clear();
            add(&mut half, mbps);
            assert_eq!(half.sustained(), wanted, "{mbps} Mbit/s");
        }
    }

    #[test]
    fn the_mean_is_harmonic_over_the_last_four_segments() {
        let mut whole = throughput(1.0);
        // 2/(1/6 + 1/3) = 4, where the arithmetic mean is 4.5
        add(&mut whole, 6);
        add(&mut whole, 3);
        let mean = |of: &Throughput| of.seconds_per_bit.len() as f64 / of.seconds_per_bit.iter().sum::<f64>();
        assert!((mean(&whole) - 4e6).abs() < 1e-3);
        add(&mut whole, 1);
        assert!((mean(&whole) - 2e6).abs() < 1e-3);
        (0..3).for_each(|_| add(&mut whole, 8));
        // the first two count no more: 4/(1 + 3/8)
        assert!((mean(&whole) - 4e6 / 1.375).abs() < 1e-3);
        assert_eq!(whole.sustained(), 1);
    }
}
