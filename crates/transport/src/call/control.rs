//! The delay-based rate control: draft-ietf-rmcat-gcc-02 section 5.5.

use bufferlab_units::{Time, exp, ln};

use super::detector::Signal;
use super::{DEFAULT_RTT_MS, ms};

/// > During multiplicative increase, the estimate is increased by at most 8% per second.
const ETA: f64 = 1.08;
/// What an over-use leaves of the incoming bitrate: "0.85 is the RECOMMENDED value".
const BETA: f64 = 0.85;
/// > response_time_ms = 100 + rtt_ms
const REACTION_MS: f64 = 100.0;
/// > expected_packet_size_bits [...] assuming a frame rate of 30 frames per second
const FRAMES_PER_S: f64 = 30.0;
/// Full packets of that estimate, bits.
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// Least step of an additive increase, bit/s.
const LEAST_STEP_BPS: f64 = 1000.0;
/// > A_hat(i) < 1.5 * R_hat(i)
const MOST_OF_INCOMING: f64 = 1.5;
/// What an earlier decrease counts of the average: "smoothing factor 0.95".
const SMOOTHING: f64 = 0.95;
/// How many standard deviations are close.
const CLOSE: f64 = 3.0;
/// Variance over the mean, kbit/s: at first and at least, and at most (WebRTC: `UpdateMaxBitRateEstimate`). The draft has no
/// first one, and of a single decrease there is none.
const VARIANCE_BOUNDS_KBPS: (f64, f64) = (0.4, 2.5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

impl State {
    /// The table of section 5.5.
    fn after(self, signal: Signal) -> State {
        match (signal, self) {
            (Signal::Overuse, _) => State::Decrease,
            (Signal::Normal, State::Hold | State::Increase) => State::Increase,
            (Signal::Normal, State::Decrease) | (Signal::Underuse, _) => State::Hold,
        }
    }
}

/// The incoming bitrates at decreases.
#[derive(Clone, Copy, Debug)]
struct Link {
    mean_kbps: f64,
    /// Variance over the mean.
    variance_kbps: f64,
}

impl Link {
    fn deviation_kbps(&self) -> f64 {
        (self.variance_kbps * self.mean_kbps).sqrt()
    }

    /// How many standard deviations a rate is above the mean.
    fn distance(&self, kbps: f64) -> f64 {
        (kbps - self.mean_kbps) / self.deviation_kbps()
    }

    fn add(&mut self, kbps: f64) {
        self.mean_kbps = SMOOTHING * self.mean_kbps + (1.0 - SMOOTHING) * kbps;
        let off_kbps = self.mean_kbps - kbps;
        let off = off_kbps * off_kbps / self.mean_kbps.max(1.0);
        let variance_kbps = SMOOTHING * self.variance_kbps + (1.0 - SMOOTHING) * off;
        self.variance_kbps = variance_kbps.clamp(VARIANCE_BOUNDS_KBPS.0, VARIANCE_BOUNDS_KBPS.1);
    }
}

/// `A_hat`, the delay-based estimate.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    state: State,
    a_hat_bps: f64,
    bounds_bps: (f64, f64),
    last: Option<Time>,
    link: Option<Link>,
    rtt_ms: f64,
}

impl RateControl {
    pub(super) fn new(start_bps: f64, min_bps: f64, max_bps: f64) -> RateControl {
        RateControl {
            // "The subsystem starts in the increase state"
            state: State::Increase,
            a_hat_bps: start_bps,
            bounds_bps: (min_bps, max_bps),
            last: None,
            link: None,
            rtt_ms: DEFAULT_RTT_MS,
        }
    }

    /// The estimate after a report, bit/s.
    pub(super) fn update(&mut self, now: Time, signal: Signal, r_hat_bps: Option<f64>, rtt_ms: f64) -> f64 {
        self.rtt_ms = rtt_ms;
        let since_ms = self.last.replace(now).map_or(0.0, |last| ms(now.saturating_since(last)));
        self.state = self.state.after(signal);
        match self.state {
            State::Hold => {}
            State::Increase => self.increase(since_ms, r_hat_bps),
            State::Decrease => self.decrease(r_hat_bps.unwrap_or(self.a_hat_bps)),
        }
        self.a_hat_bps = self.a_hat_bps.clamp(self.bounds_bps.0, self.bounds_bps.1);
        self.a_hat_bps
    }

    fn increase(&mut self, since_ms: f64, r_hat_bps: Option<f64>) {
        let r_hat_kbps = r_hat_bps.unwrap_or(self.a_hat_bps) / 1e3;
        // "If R_hat(i) increases above three standard deviations of the average max bitrate, we [...] reset"
        self.link = self.link.filter(|link| link.distance(r_hat_kbps) <= CLOSE);
        let is_close = self.link.is_some_and(|link| link.distance(r_hat_kbps) >= -CLOSE);
        let more_bps = if is_close { self.additive(since_ms) } else { self.multiplicative(since_ms) };
        // it ends increases and lowers nothing, as in WebRTC: a pause of the sender is no sign of the path
        let most_bps = r_hat_bps.map_or(f64::INFINITY, |r_hat| MOST_OF_INCOMING * r_hat);
        self.a_hat_bps = (self.a_hat_bps + more_bps).min(most_bps.max(self.a_hat_bps));
    }

    fn multiplicative(&self, since_ms: f64) -> f64 {
        self.a_hat_bps * (exp(ln(ETA) * (since_ms / 1000.0).min(1.0)) - 1.0)
    }

    fn additive(&self, since_ms: f64) -> f64 {
        let bits_per_frame = self.a_hat_bps / FRAMES_PER_S;
        let packet_bits = bits_per_frame / (bits_per_frame / PACKET_BITS).ceil();
        let alpha = 0.5 * (since_ms / (REACTION_MS + self.rtt_ms)).min(1.0);
        (alpha * packet_bits).max(LEAST_STEP_BPS)
    }

    /// `A_hat(i) = beta * R_hat(i)`, if that is less: an over-use raises nothing.
    fn decrease(&mut self, r_hat_bps: f64) {
        self.a_hat_bps = self.a_hat_bps.min(BETA * r_hat_bps);
        let kbps = r_hat_bps / 1e3;
        // far below what it was, it is another link's (WebRTC)
        match &mut self.link {
            Some(link) if link.distance(kbps) >= -CLOSE => link.add(kbps),
            link => *link = Some(Link { mean_kbps: kbps, variance_kbps: VARIANCE_BOUNDS_KBPS.0 }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bufferlab_units::Span;

    #[test]
    fn the_states_are_those_of_the_table() {
        use State::{Decrease, Hold, Increase};
        let after = |signal: Signal| [Hold, Increase, Decrease].map(|state| state.after(signal));
        assert_eq!(after(Signal::Overuse), [Decrease, Decrease, Decrease]);
        assert_eq!(after(Signal::Normal), [Increase, Increase, Hold]);
        assert_eq!(after(Signal::Underuse), [Hold, Hold, Hold]);
    }

    fn control(start_bps: f64) -> RateControl {
        let mut control = RateControl::new(start_bps, 1e5, 5e6);
        control.update(Time::ZERO, Signal::Normal, Some(start_bps), 50.0);
        control
    }

    fn after(control: &mut RateControl, ms: u64, signal: Signal, r_hat_bps: f64) -> f64 {
        control.update(Time::ZERO + Span::from_ms(ms), signal, Some(r_hat_bps), 50.0)
    }

    #[test]
    fn far_from_convergence_it_grows_by_8_percent_a_second() {
        let mut rate = control(1e6);
        for step in 1..=10 {
            after(&mut rate, 100 * step, Signal::Normal, 1e6);
        }
        assert!((rate.a_hat_bps - 1.08e6).abs() < 1.0, "{}", rate.a_hat_bps);
        // a longer time counts as a second
        assert!((after(&mut rate, 9_000, Signal::Normal, 1e6) - 1.08 * 1.08e6).abs() < 2.0);
    }

    #[test]
    fn overuse_leaves_85_percent_of_what_comes_in_and_then_holds() {
        let mut rate = control(1.2e6);
        assert!((after(&mut rate, 100, Signal::Overuse, 1e6) - 0.85e6).abs() < 1e-6);
        assert!((after(&mut rate, 200, Signal::Normal, 0.85e6) - 0.85e6).abs() < 1e-6);
        // 0.85 is far from 1 Mbit/s: from Hold to Increase, by 8 % a second
        assert!((after(&mut rate, 1_200, Signal::Normal, 0.85e6) - 0.918e6).abs() < 1.0);
        // more than what comes in is not raised by an over-use
        assert!((after(&mut rate, 1_300, Signal::Overuse, 2e6) - 0.918e6).abs() < 1.0);
    }

    #[test]
    fn near_convergence_it_grows_by_half_a_packet_a_response_time() {
        let mut rate = control(1.2e6);
        after(&mut rate, 100, Signal::Overuse, 1e6);
        after(&mut rate, 200, Signal::Normal, 1e6);
        // 850 kbit/s: frames of 28333 bits in 3 packets of 9444; 75 of 150 ms: a quarter of one
        let wanted = 0.85e6 + 0.25 * 0.85e6 / 30.0 / 3.0;
        assert!((after(&mut rate, 275, Signal::Normal, 1e6) - wanted).abs() < 1e-6);
        // three deviations, of 20 kbit/s each, above: multiplicative again
        let grown = after(&mut rate, 1_275, Signal::Normal, 1.07e6);
        assert!((grown - 1.08 * wanted).abs() < 1.0, "{grown}");
        assert!(rate.link.is_none());
    }

    #[test]
    fn it_grows_to_one_and_a_half_times_what_comes_in() {
        let mut rate = control(1e6);
        assert_eq!(after(&mut rate, 1_000, Signal::Normal, 0.7e6), 1.05e6);
        assert_eq!(after(&mut rate, 2_000, Signal::Normal, 0.5e6), 1.05e6);
    }
}
