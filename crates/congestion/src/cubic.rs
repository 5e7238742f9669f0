//! CUBIC by RFC 9438.
//!
//! Source: RFC 9438, sections 4.1 to 4.10; RFC 9406 for slow start (section 4.10), see [`HyStart`].
//!
//! Departures:
//! - the increase (target − cwnd)/cwnd is taken for every acknowledged segment, not for every
//!   acknowledgment, so that delayed acknowledgments do not halve it (section 4.2's target is one round
//!   away; Linux alike);
//! - in the Reno-friendly region the window is never lowered to `w_est`;
//! - no undo of spurious losses (section 4.9 is optional).

use bufferlab_parameters::{FLAG, parameters};
use bufferlab_units::{Span, Time};

use crate::cbrt::cbrt;
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, HyStart, Idle,
    NO_THRESHOLD,
};

/// What a loss leaves of the window (section 4.6): "The parameter `β_cubic` SHOULD be set to 0.7".
pub const BETA_CUBIC: f64 = 0.7;
/// RFC 8511 section 3.1: what a mark leaves of it in congestion avoidance; in slow start, and of a loss, [`BETA_CUBIC`].
const BETA_ECN: f64 = 0.85;
/// Aggressiveness, segments a cubic second (section 5.1): "C SHOULD be set to 0.4".
pub const C: f64 = 0.4;
/// The target is at most this many windows (section 4.2), "less than the increase rate of slow start".
const MAX_TARGET: f64 = 1.5;
/// Section 4.6: "cwnd is at least 2 MSS" after a loss, "ssthresh is at least 2 MSS".
const MIN_WINDOW: f64 = 2.0;
/// RFC 5681 section 3.1: the window after a timeout, segments.
const LOSS_WINDOW: f64 = 1.0;

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Stage {
    /// When it began (`t_epoch`).
    epoch: Time,
    /// Time from there to `w_max`, s (equation 2).
    k: f64,
    /// The plateau, segments (`W_max`).
    w_max: f64,
    /// What Reno would have (`W_est`, section 4.3), segments.
    w_est: f64,
}

impl Stage {
    /// Equation 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let x = t - self.k;
        C * x * x * x + self.w_max
    }
}

parameters! {
    /// Parameters of RFC 9438's CUBIC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CubicConfig {
        /// A loss at a smaller window than the last one frees more room: it "SHOULD be implemented", and "SHOULD be
        /// disabled" where a flow is alone (section 4.7).
        fast_convergence: bool = true, FLAG;
        /// Slow start is HyStart++ (section 4.10, RFC 9406).
        hystart: bool = false, FLAG;
    }
}

impl Algorithm for CubicConfig {
    type Control = Cubic;
    const HAS_MILD_MARKS: bool = true;

    fn build(&self, context: Context) -> Cubic {
        Cubic::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// RFC 9438's CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    /// Congestion window, segments.
    cwnd: f64,
    /// Slow-start threshold, segments.
    ssthresh: f64,
    /// Window at the last setting of the threshold, segments (`cwnd_prior`).
    cwnd_prior: f64,
    /// The plateau to aim for; nothing before the first loss and after a timeout (`W_max`).
    w_max: Option<f64>,
    stage: Option<Stage>,
    fast_convergence: bool,
    hystart: Option<HyStart>,
}

impl Cubic {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: CubicConfig) -> Cubic {
        Cubic {
            cwnd: f64::from(initial_window.max(1)),
            ssthresh: ssthresh.map_or(NO_THRESHOLD, |segments| f64::from(segments).max(MIN_WINDOW)),
            cwnd_prior: 0.0,
            w_max: None,
            stage: None,
            fast_convergence: config.fast_convergence,
            hystart: (config.hystart && ssthresh.is_none()).then(HyStart::new),
        }
    }

    /// What of `acked` is left after slow start.
    fn slow_start(&mut self, sample: &AckSample) -> f64 {
        if let Some(hystart) = &mut self.hystart {
            let advice = hystart.on_ack(sample);
            self.cwnd += advice.growth;
            if advice.leave {
                (self.ssthresh, self.cwnd_prior, self.hystart) = (self.cwnd, self.cwnd, None);
            }
            return 0.0;
        }
        let acked = f64::from(sample.acked);
        let grown = acked.min(self.ssthresh - self.cwnd);
        self.cwnd += grown;
        acked - grown
    }

    fn begin_stage(&self, now: Time) -> Stage {
        // section 4.8 and 4.10: without a plateau, K is 0 and the plateau is the window
        let w_max = self.w_max.unwrap_or(self.cwnd).max(self.cwnd);
        Stage { epoch: now, k: cbrt((w_max - self.cwnd) / C), w_max, w_est: self.cwnd }
    }

    fn avoid_congestion(&mut self, now: Time, srtt: Span, acked: f64) {
        let mut stage = self.stage.unwrap_or_else(|| self.begin_stage(now));
        // what this acknowledgment is of a window
        let part = acked / self.cwnd;
        let t = now.saturating_since(stage.epoch).as_s();
        // equation 4; α is Reno's once Reno would be where the last loss was
        let alpha =
            if stage.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * (1.0 - BETA_CUBIC) / (1.0 + BETA_CUBIC) };
        stage.w_est += alpha * part;
        if stage.w_cubic(t) < stage.w_est {
            self.cwnd = self.cwnd.max(stage.w_est);
        } else {
            let target = stage.w_cubic(t + srtt.as_s()).clamp(self.cwnd, MAX_TARGET * self.cwnd);
            self.cwnd += (target - self.cwnd) * part;
        }
        self.stage = Some(stage);
    }

    /// Sections 4.6 and 4.7.
    fn reduce(&mut self, flight: u32, beta: f64) {
        self.w_max = Some(match self.w_max {
            Some(w_max) if self.fast_convergence && self.cwnd < w_max => {
                self.cwnd * f64::midpoint(1.0, BETA_CUBIC)
            }
            _ => self.cwnd,
        });
        self.cwnd_prior = self.cwnd;
        self.ssthresh = (f64::from(flight) * beta).max(MIN_WINDOW);
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let acked = if self.cwnd < self.ssthresh { self.slow_start(sample) } else { f64::from(sample.acked) };
        if acked > 0.0 {
            self.avoid_congestion(now, sample.srtt, acked);
        }
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        self.stage = None;
        match congestion.event {
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => {
                let mild = congestion.event == CongestionEvent::Mark { mild: true };
                let beta = if mild && self.cwnd >= self.ssthresh { BETA_ECN } else { BETA_CUBIC };
                self.reduce(congestion.flight, beta);
                (self.cwnd, self.hystart) = (self.ssthresh, None);
            }
            CongestionEvent::Timeout { repeated } => {
                // RFC 5681 section 3.1: the threshold is held while the same segment times out
                if !repeated {
                    self.reduce(congestion.flight, BETA_CUBIC);
                }
                (self.cwnd, self.w_max, self.hystart) = (LOSS_WINDOW, None, None);
            }
            CongestionEvent::SynTimeout => self.cwnd = LOSS_WINDOW,
        }
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            self.cwnd = f64::from(window).max(LOSS_WINDOW);
            self.ssthresh = self.ssthresh.max(f64::from(threshold));
        }
        // section 4.2: the time of a stage does not include idle times
        if let Some(stage) = &mut self.stage {
            stage.epoch += idle.idle;
        }
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(flight: u32) -> Congestion {
        Congestion { event: CongestionEvent::Loss, flight, receive_window: 1_000_000 }
    }

    fn after_loss(cwnd: u32) -> Cubic {
        let mut control = Cubic::new(cwnd, Some(2), CubicConfig::default());
        control.on_congestion(Time::ZERO, &loss(cwnd));
        control
    }

    /// Acknowledges window after window, a round-trip time each, for `seconds`.
    fn run(control: &mut Cubic, rtt: Span, seconds: f64) {
        let (mut now, mut done) = (Time::ZERO, 0.0);
        while done < seconds {
            let window = control.cwnd() as u32;
            for _ in 0..window {
                control.on_ack(now, &AckSample { acked: 1, srtt: rtt, ..AckSample::default() });
                now += Span::from_ps(rtt.as_ps() / u64::from(window));
            }
            done += rtt.as_s();
        }
    }

    #[test]
    fn the_window_returns_to_the_plateau_after_k() {
        let control = after_loss(1_000);
        let stage = control.begin_stage(Time::ZERO);
        assert_eq!(control.cwnd(), 700.0);
        // equation 2: ∛(300/0.4) s
        assert!((stage.k - 9.085_603).abs() < 1e-6, "{}", stage.k);
        assert!((stage.w_cubic(0.0) - 700.0).abs() < 1e-9);
        assert_eq!(stage.w_cubic(stage.k), 1_000.0);
        assert!((stage.w_cubic(stage.k + 5.0) - 1_050.0).abs() < 1e-9);
    }

    #[test]
    fn acknowledgments_follow_the_curve() {
        for seconds in [3.0, 9.0, 14.0] {
            let mut control = after_loss(1_000);
            run(&mut control, Span::from_ms(50), seconds);
            let expected = control.stage.unwrap().w_cubic(seconds);
            assert!((control.cwnd() - expected).abs() < 0.004 * expected, "{} {expected}", control.cwnd());
        }
    }

    #[test]
    fn small_windows_grow_as_renos_would() {
        // α = 0.529 a round until the window of the loss, then 1
        let mut control = after_loss(40);
        run(&mut control, Span::from_ms(10), 0.2);
        assert!((control.cwnd() - (28.0 + 20.0 * 9.0 / 17.0)).abs() < 0.5, "{}", control.cwnd());
        run(&mut control, Span::from_ms(10), 0.0);
        let mut long = after_loss(40);
        run(&mut long, Span::from_ms(10), 0.4);
        assert!(long.cwnd() > 40.0 && long.stage.unwrap().w_est > 40.0);
    }

    #[test]
    fn the_target_is_bounded_by_one_and_a_half_windows() {
        let mut control = after_loss(1_000);
        let sample = AckSample { acked: 1, srtt: Span::from_s(60), ..AckSample::default() };
        control.on_ack(Time::ZERO, &sample);
        let before = control.cwnd();
        control.on_ack(Time::ZERO + Span::from_s(1), &sample);
        assert!((control.cwnd() - before - 0.5).abs() < 1e-9);
    }

    #[test]
    fn fast_convergence_releases_more() {
        for (fast, w_max) in [(true, 700.0 * 0.85), (false, 700.0)] {
            let mut control =
                Cubic::new(1_000, Some(2), CubicConfig { fast_convergence: fast, hystart: false });
            control.on_congestion(Time::ZERO, &loss(1_000));
            control.on_congestion(Time::ZERO, &loss(700));
            assert_eq!(control.w_max, Some(w_max));
            assert!((control.cwnd() - 490.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_timeout_starts_over_without_a_plateau() {
        let mut control = Cubic::new(1_000, Some(2), CubicConfig::default());
        let event = CongestionEvent::Timeout { repeated: false };
        control.on_congestion(Time::ZERO, &Congestion { event, ..loss(1_000) });
        assert_eq!((control.cwnd(), control.ssthresh(), control.w_max), (1.0, 700.0, None));
        assert_eq!(control.begin_stage(Time::ZERO).k, 0.0);
    }

    /// Section 4.2: the time of a stage "MUST NOT include" idle times, so the window goes on where it was.
    #[test]
    fn an_idle_time_does_not_count_as_growth() {
        let sample = AckSample { acked: 1, srtt: Span::from_ms(50), ..AckSample::default() };
        let acknowledge = |control: &mut Cubic, from_ms: u64| {
            for ms in (0..2_000).step_by(10) {
                control.on_ack(Time::ZERO + Span::from_ms(from_ms + ms), &sample);
            }
        };
        let mut busy = after_loss(1_000);
        acknowledge(&mut busy, 0);
        let mut rested = busy.clone();
        acknowledge(&mut busy, 2_000);
        rested.on_idle(Time::ZERO + Span::from_s(62), &Idle { idle: Span::from_s(60), restart: None });
        acknowledge(&mut rested, 62_000);
        assert_eq!(rested.cwnd(), busy.cwnd());
    }

    #[test]
    fn a_risen_round_trip_time_ends_slow_start_without_a_loss() {
        let mut control = Cubic::new(10, None, CubicConfig { hystart: true, ..CubicConfig::default() });
        let (mut una, mut sent_to) = (0, 10);
        for round in 0..12_u64 {
            let rtt = Span::from_ms(if round < 3 { 50 } else { 80 });
            for _ in 0..sent_to - una {
                una += 1;
                let sample =
                    AckSample { acked: 1, rtt: Some(rtt), srtt: rtt, una, sent_to, ..AckSample::default() };
                control.on_ack(Time::ZERO, &sample);
                sent_to = sent_to.max(una + control.cwnd() as u32);
            }
        }
        assert!(control.ssthresh() < NO_THRESHOLD, "{control:?}");
    }

    /// Section 4.2: `t_epoch` is "the time at which the current congestion avoidance stage started".
    #[test]
    fn a_stage_begins_where_slow_start_ends() {
        let mut control = Cubic::new(8, Some(10), CubicConfig::default());
        let acknowledge = |control: &mut Cubic, s, acked| {
            control.on_ack(Time::ZERO + Span::from_s(s), &AckSample::of(acked));
            control.stage.map(|stage| stage.epoch)
        };
        assert_eq!(acknowledge(&mut control, 1, 1), None);
        assert_eq!(acknowledge(&mut control, 2, 1), None);
        assert_eq!(control.cwnd(), 10.0);
        assert_eq!(acknowledge(&mut control, 3, 1), Some(Time::ZERO + Span::from_s(3)));
        // the threshold splits a stretched acknowledgment: three of five are left, of a window of ten
        let mut control = Cubic::new(8, Some(10), CubicConfig::default());
        assert_eq!(control.slow_start(&AckSample::of(5)), 3.0);
        assert_eq!(control.cwnd(), 10.0);
    }

    /// RFC 8511 section 3.1, with 0.85 of section 4.6's flight in congestion avoidance; in slow start as for a loss.
    #[test]
    fn a_mild_mark_takes_15_hundredths_in_congestion_avoidance() {
        for (ssthresh, mild, left) in
            [(20, true, 85.0), (100, true, 85.0), (101, true, 70.0), (20, false, 70.0)]
        {
            let mut control = Cubic::new(100, Some(ssthresh), CubicConfig::default());
            let event = CongestionEvent::Mark { mild };
            control.on_congestion(Time::ZERO, &Congestion { event, ..loss(100) });
            assert_eq!((control.cwnd(), control.ssthresh()), (left, left), "{ssthresh} {mild}");
        }
    }

    /// Section 4.3: α is 3 (1 − β)/(1 + β), and 1 "once `W_est` reaches `cwnd_prior`".
    #[test]
    fn renos_window_grows_by_one_from_the_window_of_the_last_loss_on() {
        let mut control = after_loss(40);
        let mut grown = |w_est, cwnd_prior| {
            let stage = Stage { epoch: Time::ZERO, k: 10.0, w_max: 40.0, w_est };
            (control.stage, control.cwnd_prior, control.cwnd) = (Some(stage), cwnd_prior, 20.0);
            control.avoid_congestion(Time::ZERO, Span::ZERO, 10.0);
            control.stage.unwrap().w_est - w_est
        };
        assert!((grown(39.9, 40.0) - 0.5 * 9.0 / 17.0).abs() < 1e-9);
        assert!((grown(40.0, 40.0) - 0.5).abs() < 1e-9);
    }
}
