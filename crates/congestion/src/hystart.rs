//! `HyStart++`: slow start that leaves before the queue overflows.
//!
//! Source: RFC 9406, section 4. A rise of the round-trip time ends slow start; "Conservative Slow Start" then
//! grows at a quarter of the pace for five rounds and falls back if the rise was a jitter.
//!
//! Departures: none known. As section 4.3 asks, it serves the first slow start only; the control drops it
//! after. The first acknowledgment ends the first round, as `windowEnd` starts as what is sent next.

use bufferlab_units::Span;

use crate::AckSample;
use crate::sample::Rounds;

/// Least rise that counts (section 4.3, `MIN_RTT_THRESH`).
const MIN_RTT_THRESH: Span = Span::from_ms(4);
/// Largest rise that is waited for (section 4.3, `MAX_RTT_THRESH`).
const MAX_RTT_THRESH: Span = Span::from_ms(16);
/// Between them, the rise is the last round's least time over this (section 4.3, `MIN_RTT_DIVISOR`).
const MIN_RTT_DIVISOR: u64 = 8;
/// Samples that a round needs before it is judged (section 4.3, `N_RTT_SAMPLE`).
const N_RTT_SAMPLE: u32 = 8;
/// Conservative slow start grows at this part of the pace (section 4.3, `CSS_GROWTH_DIVISOR`).
const CSS_GROWTH_DIVISOR: f64 = 4.0;
/// Rounds of conservative slow start (section 4.3, `CSS_ROUNDS`).
const CSS_ROUNDS: u32 = 5;
/// Segments that one acknowledgment may count for (section 4.3, `L`; 8 without pacing).
const LIMIT: f64 = 8.0;

/// Conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The least round-trip time of the round that began it (`cssBaselineMinRtt`).
    baseline: Span,
    /// Rounds in it, the first one in part.
    rounds: u32,
}

/// `HyStart++`'s state.
#[derive(Clone, Debug)]
pub struct HyStart {
    rounds: Rounds,
    /// Least round-trip time of the last round (`lastRoundMinRTT`).
    last_min: Option<Span>,
    /// Least round-trip time of this round (`currentRoundMinRTT`).
    current_min: Option<Span>,
    /// Samples in this round (`rttSampleCount`).
    samples: u32,
    conservative: Option<Conservative>,
    /// Quarters of a segment that conservative slow start has not yet grown by whole ones.
    fraction: f64,
}

/// What slow start is to do with an acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowStartAdvice {
    /// Segments to grow by.
    pub growth: f64,
    /// The threshold is to be set to the window that results: slow start is over.
    pub leave: bool,
    /// Whole segments of `growth` with what was left of earlier ones.
    whole: u32,
}

impl SlowStartAdvice {
    /// The growth in whole segments, for windows that have no fractions; at most `acked`.
    pub(crate) fn whole(&self, acked: u32) -> u32 {
        self.whole.min(acked)
    }
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart::new()
    }
}

impl HyStart {
    /// A new connection's slow start.
    pub fn new() -> HyStart {
        HyStart {
            rounds: Rounds::default(),
            last_min: None,
            current_min: None,
            samples: 0,
            conservative: None,
            fraction: 0.0,
        }
    }

    /// An acknowledgment came in slow start.
    pub fn on_ack(&mut self, sample: &AckSample) -> SlowStartAdvice {
        let pace = if self.conservative.is_some() { CSS_GROWTH_DIVISOR } else { 1.0 };
        let growth = f64::from(sample.acked).min(LIMIT) / pace;
        self.fraction += growth;
        let whole = self.fraction as u32;
        self.fraction -= f64::from(whole);
        if let Some(rtt) = sample.rtt {
            self.current_min = Some(self.current_min.map_or(rtt, |least| least.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
        self.judge();
        let leave = self.rounds.ended(sample) && self.begin_round();
        SlowStartAdvice { growth, leave, whole }
    }

    /// Section 4.2: enters or leaves conservative slow start.
    fn judge(&mut self) {
        let Some(current) = self.current_min.filter(|_| self.samples >= N_RTT_SAMPLE) else {
            return;
        };
        match self.conservative {
            Some(conservative) if current < conservative.baseline => self.conservative = None,
            Some(_) => {}
            None => {
                if self.last_min.is_some_and(|last| current >= last + rise(last)) {
                    self.conservative = Some(Conservative { baseline: current, rounds: 0 });
                }
            }
        }
    }

    /// A new round; true if conservative slow start has had its rounds.
    fn begin_round(&mut self) -> bool {
        self.last_min = self.current_min.take();
        self.samples = 0;
        let Some(conservative) = &mut self.conservative else {
            return false;
        };
        conservative.rounds += 1;
        conservative.rounds >= CSS_ROUNDS
    }
}

/// Section 4.2: `RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))`.
fn rise(last: Span) -> Span {
    Span::from_ps(last.as_ps() / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round of `count` acknowledgments with one round-trip time; the growth, and whether slow start
    /// ended.
    fn round(hystart: &mut HyStart, una: &mut u32, count: u32, rtt: Span) -> (f64, bool) {
        hystart.rounds.restart(&AckSample { sent_to: *una + count, ..AckSample::default() });
        let (mut grown, mut left) = (0.0, false);
        for _ in 0..count {
            *una += 1;
            let sample =
                AckSample { acked: 1, rtt: Some(rtt), una: *una, sent_to: u32::MAX, ..AckSample::default() };
            let advice = hystart.on_ack(&sample);
            grown += advice.growth;
            left |= advice.leave;
        }
        (grown, left)
    }

    fn begun() -> (HyStart, u32) {
        let (mut hystart, mut una) = (HyStart::new(), 0);
        round(&mut hystart, &mut una, 20, Span::from_ms(100));
        (hystart, una)
    }

    #[test]
    fn the_rise_is_an_eighth_between_four_and_sixteen_ms() {
        for (last, expected) in [(8, 4), (32, 4), (80, 10), (128, 16), (400, 16)] {
            assert_eq!(rise(Span::from_ms(last)), Span::from_ms(expected));
        }
    }

    #[test]
    fn a_rise_slows_the_growth_to_a_quarter_and_ends_slow_start_after_five_rounds() {
        let (mut hystart, mut una) = begun();
        let risen = Span::from_ms(113);
        // 7 acknowledgments before the eighth sample, that one, then 12 at a quarter
        assert_eq!(round(&mut hystart, &mut una, 20, risen), (8.0 + 12.0 / 4.0, false));
        for last in [false, false, false, true] {
            assert_eq!(round(&mut hystart, &mut una, 20, risen), (5.0, last));
        }
    }

    #[test]
    fn a_smaller_rise_changes_nothing() {
        let (mut hystart, mut una) = begun();
        assert_eq!(round(&mut hystart, &mut una, 20, Span::from_ms(112)), (20.0, false));
    }

    #[test]
    fn a_jitter_that_passes_resumes_slow_start() {
        let (mut hystart, mut una) = begun();
        round(&mut hystart, &mut una, 20, Span::from_ms(120));
        let (grown, left) = round(&mut hystart, &mut una, 20, Span::from_ms(100));
        assert_eq!((grown, left), (8.0 / 4.0 + 12.0, false));
    }

    #[test]
    fn seven_samples_are_too_few() {
        let (mut hystart, mut una) = begun();
        assert_eq!(round(&mut hystart, &mut una, 7, Span::from_ms(150)), (7.0, false));
    }

    #[test]
    fn after_a_round_without_samples_none_can_rise() {
        let (mut hystart, mut una) = begun();
        hystart.rounds.restart(&AckSample { sent_to: una + 1, ..AckSample::default() });
        una += 1;
        hystart.on_ack(&AckSample { acked: 1, una, sent_to: u32::MAX, ..AckSample::default() });
        assert_eq!(round(&mut hystart, &mut una, 20, Span::from_ms(150)), (20.0, false));
    }

    #[test]
    fn one_acknowledgment_counts_for_eight_segments_at_most() {
        let sample = AckSample { acked: 100, ..AckSample::default() };
        assert_eq!(HyStart::new().on_ack(&sample).growth, 8.0);
    }

    /// For windows without fractions, a quarter of the pace is a segment for four.
    #[test]
    fn conservative_slow_start_adds_a_whole_segment_for_four() {
        let (mut hystart, mut una) = begun();
        round(&mut hystart, &mut una, 20, Span::from_ms(120));
        hystart.rounds.restart(&AckSample { sent_to: u32::MAX, ..AckSample::default() });
        let mut whole = |acked| hystart.on_ack(&AckSample::of(acked)).whole(acked);
        assert_eq!([1; 9].map(&mut whole), [0, 0, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!([2, 8, 1].map(whole), [0, 2, 1]);
        assert_eq!(HyStart::new().on_ack(&AckSample::of(3)).whole(3), 3);
    }
}
