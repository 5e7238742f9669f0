//! The arrival-time filter: draft-ietf-rmcat-gcc-02 section 5.3.

use std::collections::VecDeque;

use bufferlab_units::{exp, ln};

/// Variance of the state's noise, ms²: section 5.3, "q(i) is RECOMMENDED equal to 10^-3".
const Q: f64 = 1e-3;
/// Error covariance at first: section 5.6, "e(0) = 0.1".
const FIRST_E: f64 = 0.1;
/// Coefficient of the measured noise's variance; section 5.6 has [0.1, 0.001], this is WebRTC's at first.
const CHI: f64 = 0.01;
/// Noise variance at first, ms² (WebRTC: `initial_var_noise`).
const FIRST_VAR_V: f64 = 50.0;
/// Least noise variance, ms²: section 5.3.
const LEAST_VAR_V: f64 = 1.0;
/// K: the groups whose highest rate counts (WebRTC: `kMinFramePeriodHistoryLength`).
const GROUPS: usize = 60;
/// Deviations beyond which a measurement counts as one of these: section 5.3.
const OUTLIER: f64 = 3.0;

/// A Kalman filter of one state, the mean m(i) of the delay's changes.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    m_hat: f64,
    e: f64,
    var_v_hat: f64,
    /// T(j) − T(j−1) of the last groups, ms.
    sent_gaps_ms: VecDeque<f64>,
}

impl Default for Filter {
    fn default() -> Filter {
        Filter {
            m_hat: 0.0,
            e: FIRST_E,
            var_v_hat: FIRST_VAR_V,
            sent_gaps_ms: VecDeque::with_capacity(GROUPS),
        }
    }
}

impl Filter {
    /// The estimate after a group, ms.
    pub(super) fn update(&mut self, d_ms: f64, sent_gap_ms: f64) -> f64 {
        if self.sent_gaps_ms.len() == GROUPS {
            self.sent_gaps_ms.pop_front();
        }
        self.sent_gaps_ms.push_back(sent_gap_ms);
        let z = d_ms - self.m_hat;
        self.measure_noise(z);
        let prior = self.e + Q;
        let k = prior / (self.var_v_hat + prior);
        self.m_hat += z * k;
        self.e = (1.0 - k) * prior;
        self.m_hat
    }

    /// > If `z(i) > 3*sqrt(var_v_hat)` the filter is updated with `3*sqrt(var_v_hat)` rather than `z(i)`.
    ///
    /// On both sides, as WebRTC's `UpdateNoiseEstimate` has it.
    fn measure_noise(&mut self, z: f64) {
        let most = OUTLIER * self.var_v_hat.sqrt();
        let z = z.clamp(-most, most);
        // 30/(1000·f_max), where 1/f_max is the shortest of the last gaps: in ms here, in s there
        let shortest_ms = self.sent_gaps_ms.iter().copied().fold(f64::INFINITY, f64::min);
        let alpha = exp(ln(1.0 - CHI) * shortest_ms * 30.0 / 1000.0);
        self.var_v_hat = (alpha * self.var_v_hat + (1.0 - alpha) * z * z).max(LEAST_VAR_V);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_steps_are_those_of_the_equations() {
        let mut filter = Filter::default();
        // z = 10; alpha = 0.99^0.6; k = 0.101/(var + 0.101)
        let alpha = 0.99_f64.powf(0.6);
        let var = alpha * 50.0 + (1.0 - alpha) * 100.0;
        let k = 0.101 / (var + 0.101);
        let m = filter.update(10.0, 20.0);
        assert!((m - 10.0 * k).abs() < 1e-9, "{m}");
        assert!((filter.e - (1.0 - k) * 0.101).abs() < 1e-12);
        // the second gap is shorter: 0.99^0.3
        let (alpha, z) = (0.99_f64.powf(0.3), -m);
        let var = alpha * var + (1.0 - alpha) * z * z;
        let prior = (1.0 - k) * 0.101 + 1e-3;
        let second = filter.update(0.0, 10.0);
        assert!((second - (m + z * prior / (var + prior))).abs() < 1e-9, "{second}");
    }

    #[test]
    fn a_steady_change_is_found_and_noise_is_not() {
        let mut filter = Filter::default();
        let noisy = (0..2_000).map(|i| filter.update(if i % 2 == 0 { 5.0 } else { -5.0 }, 10.0)).last();
        assert!(noisy.is_some_and(|m| m.abs() < 0.1), "{noisy:?}");
        let steady = (0..2_000).map(|_| filter.update(2.0, 10.0)).last();
        assert!(steady.is_some_and(|m| (m - 2.0).abs() < 0.01), "{steady:?}");
    }

    #[test]
    fn an_outlier_counts_as_three_deviations() {
        let variance_after = |d_ms: f64| {
            let mut filter = Filter::default();
            filter.update(d_ms, 20.0);
            filter.var_v_hat
        };
        assert_eq!(variance_after(1_000.0), variance_after(3.0 * 50.0_f64.sqrt()));
        assert_eq!(variance_after(-1_000.0), variance_after(1_000.0));
    }
}
