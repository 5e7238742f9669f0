//! The over-use detector with its adaptive threshold: draft-ietf-rmcat-gcc-02 section 5.4.

use bufferlab_units::Time;

use super::ms;

/// `del_var_th(0)`, ms.
const FIRST_THRESHOLD_MS: f64 = 12.5;
/// > It is also RECOMMENDED to clamp `del_var_th(i)` to the range [6, 600]
const THRESHOLD_BOUNDS_MS: (f64, f64) = (6.0, 600.0);
/// How fast the threshold rises, 1/ms.
const K_U: f64 = 0.01;
/// How fast it falls, 1/ms.
const K_D: f64 = 0.00018;
/// > `del_var_th(i)` SHOULD NOT be updated if this condition holds: `|m(i)| - del_var_th(i) > 15`
const MOST_BEYOND_MS: f64 = 15.0;
/// `overuse_time_th`, ms.
const OVERUSE_TIME_MS: f64 = 10.0;
/// By how many groups, at most, the estimate is multiplied (WebRTC: `kMinNumDeltas`).
const MOST_GROUPS: u32 = 60;
/// Longest time that a step of the threshold counts, ms: `K_u` times it must not pass 1 (WebRTC: `kMaxTimeDeltaMs`).
const LONGEST_STEP_MS: f64 = 100.0;

/// What the delay says of the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Signal {
    Overuse,
    #[default]
    Normal,
    Underuse,
}

#[derive(Clone, Debug)]
pub(super) struct Detector {
    threshold_ms: f64,
    groups: u32,
    /// m(i−1), ms.
    before_ms: f64,
    /// How long the estimate is above the threshold, ms, and for how many groups.
    over: Option<(f64, u32)>,
    last: Option<Time>,
    signal: Signal,
}

impl Default for Detector {
    fn default() -> Detector {
        Detector {
            threshold_ms: FIRST_THRESHOLD_MS,
            groups: 0,
            before_ms: 0.0,
            over: None,
            last: None,
            signal: Signal::Normal,
        }
    }
}

impl Detector {
    /// What was found last.
    pub(super) fn signal(&self) -> Signal {
        self.signal
    }

    /// What a group's estimate says, which came at `at` and left `sent_gap_ms` after the one before.
    pub(super) fn update(&mut self, m_ms: f64, at: Time, sent_gap_ms: f64) -> Signal {
        self.groups = MOST_GROUPS.min(self.groups + 1);
        let scaled_ms = f64::from(self.groups) * m_ms;
        if scaled_ms > self.threshold_ms {
            self.go_over(m_ms, sent_gap_ms);
        } else {
            self.over = None;
            self.signal = if scaled_ms < -self.threshold_ms { Signal::Underuse } else { Signal::Normal };
        }
        self.before_ms = m_ms;
        let since_ms = self.last.replace(at).map_or(0.0, |last| ms(at.saturating_since(last)));
        self.adapt(scaled_ms.abs(), since_ms);
        self.signal
    }

    /// The estimate is above the threshold; until that is over-use, the signal stays.
    fn go_over(&mut self, m_ms: f64, sent_gap_ms: f64) {
        // the first group has been above it for half its time (WebRTC)
        let (time_ms, groups) =
            self.over.map_or((sent_gap_ms / 2.0, 1), |(time_ms, groups)| (time_ms + sent_gap_ms, groups + 1));
        self.over = Some((time_ms, groups));
        // "if m(i) < m(i-1), over-use will not be signaled"
        if time_ms > OVERUSE_TIME_MS && groups > 1 && m_ms >= self.before_ms {
            (self.over, self.signal) = (Some((0.0, 0)), Signal::Overuse);
        }
    }

    /// `del_var_th(i) = del_var_th(i-1) + (t(i)-t(i-1)) * K(i) * (|m(i)|-del_var_th(i-1))`
    fn adapt(&mut self, m_ms: f64, since_ms: f64) {
        let beyond_ms = m_ms - self.threshold_ms;
        if beyond_ms <= MOST_BEYOND_MS {
            let k = if beyond_ms < 0.0 { K_D } else { K_U };
            let threshold_ms = self.threshold_ms + since_ms.min(LONGEST_STEP_MS) * k * beyond_ms;
            self.threshold_ms = threshold_ms.clamp(THRESHOLD_BOUNDS_MS.0, THRESHOLD_BOUNDS_MS.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bufferlab_units::Span;

    fn adapted(threshold_ms: f64, m_ms: f64, since_ms: f64) -> f64 {
        let mut detector = Detector { threshold_ms, ..Detector::default() };
        detector.adapt(m_ms, since_ms);
        detector.threshold_ms
    }

    #[test]
    fn the_threshold_follows_the_estimate_fast_upward_and_slowly_downward() {
        // 12.5 + 20·0.01·7.5, and 12.5 − 20·0.00018·10
        assert!((adapted(12.5, 20.0, 20.0) - 14.0).abs() < 1e-12);
        assert!((adapted(12.5, 2.5, 20.0) - 12.464).abs() < 1e-12);
        // far beyond it: not at all, as section 5.4 has it
        assert_eq!(adapted(12.5, 27.6, 20.0), 12.5);
        assert!(adapted(12.5, 27.4, 20.0) > 15.0);
        // a long silence counts as 100 ms, and the bounds hold
        assert!((adapted(12.5, 20.0, 5_000.0) - 20.0).abs() < 1e-12);
        assert_eq!(adapted(6.0, 0.0, 100.0), 6.0);
        assert_eq!(adapted(599.0, 614.0, 100.0), 600.0);
    }

    /// The signals of estimates that come every 8 ms, each as large as after 60 groups.
    fn signals(scaled_ms: &[f64]) -> Vec<Signal> {
        let mut detector = Detector { groups: MOST_GROUPS, ..Detector::default() };
        let times = (0..).map(|step| Time::ZERO + Span::from_ms(8 * step));
        scaled_ms.iter().zip(times).map(|(ms, at)| detector.update(ms / 60.0, at, 8.0)).collect()
    }

    #[test]
    fn overuse_takes_ten_milliseconds_and_no_falling_estimate() {
        use Signal::{Normal, Overuse, Underuse};
        // 4, then 12 ms above it
        assert_eq!(signals(&[10.0, 20.0, 21.0]), [Normal, Normal, Overuse]);
        // the third falls, the fourth does not
        assert_eq!(signals(&[10.0, 21.0, 20.0, 20.5]), [Normal, Normal, Normal, Overuse]);
        assert_eq!(signals(&[20.0, 10.0, 20.0, 10.0]), [Normal; 4]);
        assert_eq!(signals(&[-12.0, -13.0, 0.0]), [Normal, Underuse, Normal]);
        // it lasts until the estimate is below the threshold
        assert_eq!(signals(&[20.0, 21.0, 20.0, 5.0]), [Normal, Overuse, Overuse, Normal]);
    }
}
