//! LEDBAT++: for what may wait. It gives way to other flows as soon as packets wait longer than 60 ms, and takes the link when
//! nobody else wants it.
//!
//! Sources: draft-irtf-iccrg-ledbat-plus-plus, sections of version 01: 4.1 (slow start), 4.2 (growth), 4.3 (decrease), 4.4
//! (slowdowns), 4.5 (round-trip times and target); RFC 6817 sections 2.4.2 and 2.5 for what it builds on (the shortest
//! delay of each of ten minutes, the answer to a loss, two segments at least).
//!
//! - Below the target the window grows by GAIN = 1 / min(16, ⌈2·target / base⌉) a round trip: as Reno's where the path takes
//!   120 ms, by a sixteenth of that where it takes 8 ms.
//! - Above it the window changes by GAIN − W·(delay / target − 1) a round trip, and loses half at most.
//! - Slow start adds GAIN for each acknowledged segment; the first ends where packets wait for three quarters of the target.
//! - Slowdowns let the queue drain, so that all flows measure the same path: two segments for two round trips, then slow
//!   start up to the window from before. The first comes two round trips after the first slow start, each further one after
//!   nine times what the last took.
//! - A loss or a mark halves the window, as Reno's.
//!
//! It does not give way where the queue never holds the target: in a short buffer, and where an AQM or fair queueing keeps
//! waits below it (draft sections 3.4 and 5). There it is a Reno that grows more slowly.
//!
//! Departures, each where the draft leaves a choice:
//! - ⌈x⌉ is the least whole number that is not below x, the draft's "smallest integer larger than X" would be 3 of 2;
//! - the window changes at the end of a round, as the draft's formulas have it; two round trips are twice the smoothed
//!   round-trip time at the beginning, which has the queue in it;
//! - losses and marks in the two round trips of a slowdown are of segments from before it: they halve the window that it
//!   returns to. A loss while it returns ends it there;
//! - a slowdown that is due while the window grows back after a timeout or a silence waits until it has;
//! - a decrease lowers the slow-start threshold, so that no slow start follows;
//! - a timeout leaves one segment (RFC 5681 section 3.1), where the draft speaks of two as the least of the decrease;
//! - after a silence the window is what the stack leaves of it, though the draft's first window is two segments;
//! - without timestamps, which the draft asks for, there is one sample a round trip, and the newest four last as many.

mod delay;

use bufferlab_parameters::{FLAG, LONGEST, parameters, time};
use bufferlab_units::{Span, Time};

use self::delay::QueueDelay;
use crate::sample::Rounds;
use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, NO_THRESHOLD,
};

/// Section 4.1: "LEDBAT++ sender limits the initial window to 2 packets"; section 4.3: the window "never decreases below 2
/// packets"; section 4.4: "reduce CWND to 2 packets".
const LEAST_WINDOW: f64 = 2.0;
/// Section 4.2: 1/16 is the least GAIN.
const MOST_GAIN_DIVISOR: u64 = 16;
/// Section 4.1: waits above "3/4ths of the target delay" end the first slow start.
const SLOW_START_PART: f64 = 0.75;
/// Section 4.3: "It is RECOMMENDED that the Constant be set to 1."
const DECREASE: f64 = 1.0;
/// Section 4.3: what a round trip takes off the window is "at most W/2".
const MOST_DECREASE: f64 = 0.5;
/// Section 4.4: "2 RTT after the initial slow start completes".
const RTTS_TO_FIRST_SLOWDOWN: u64 = 2;
/// Section 4.4: "Keep CWND frozen at 2 packets for 2 RTT."
const FROZEN_RTTS: u64 = 2;
/// Section 4.4: "The next slowdown is then scheduled to occur at 9 times this duration after the exit point."
const DURATIONS_TO_NEXT_SLOWDOWN: u64 = 9;
/// RFC 5681 section 3.1: the window after a timeout, segments.
const LOSS_WINDOW: f64 = 1.0;

parameters! {
    /// Parameters of LEDBAT++.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct LedbatPlusPlusConfig {
        /// Waits longer than this make it give way (section 4.5: 60 ms).
        target: Span = Span::from_ms(60), time(Span::from_us(1), LONGEST);
        /// Slowdowns let the queue drain (section 4.4); without them a latecomer takes the link.
        slowdowns: bool = true, FLAG;
    }
}

impl Algorithm for LedbatPlusPlusConfig {
    type Control = LedbatPlusPlus;

    fn build(&self, context: Context) -> LedbatPlusPlus {
        LedbatPlusPlus::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// What the window is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first slow start.
    Starting,
    /// Delay governs, or a slow start after a timeout or a silence.
    Steady { slowdown: Time },
    /// A slowdown's two segments.
    Frozen { entered: Time, until: Time },
    /// A slowdown's slow start.
    Returning { entered: Time },
}

/// LEDBAT++'s window.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    config: LedbatPlusPlusConfig,
    /// Congestion window, segments.
    cwnd: f64,
    /// Slow-start threshold, segments; in a slowdown, the window that it returns to.
    ssthresh: f64,
    delay: QueueDelay,
    /// The smoothed round-trip time.
    srtt: Span,
    rounds: Rounds,
    phase: Phase,
}

impl LedbatPlusPlus {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: LedbatPlusPlusConfig) -> LedbatPlusPlus {
        LedbatPlusPlus {
            config,
            cwnd: f64::from(initial_window.max(1)).min(LEAST_WINDOW),
            ssthresh: ssthresh.map_or(NO_THRESHOLD, |segments| f64::from(segments).max(LEAST_WINDOW)),
            delay: QueueDelay::default(),
            srtt: Span::ZERO,
            rounds: Rounds::default(),
            phase: Phase::Starting,
        }
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Section 4.2: growth over Reno's. Before the first round-trip time the least.
    fn gain(&self) -> f64 {
        let base = self.delay.base().as_ps().max(1);
        let divisor = self.config.target.saturating_mul(2).as_ps().div_ceil(base);
        1.0 / divisor.clamp(1, MOST_GAIN_DIVISOR) as f64
    }

    /// Waiting over the target.
    fn waiting(&self) -> f64 {
        self.delay.waiting().as_ps() as f64 / self.config.target.as_ps() as f64
    }

    /// Section 4.1: slow start.
    fn grow_slowly(&mut self, acked: u32) {
        self.cwnd = (self.cwnd + self.gain() * f64::from(acked)).min(self.ssthresh);
    }

    fn start(&mut self, now: Time, acked: u32) {
        if self.waiting() <= SLOW_START_PART {
            self.grow_slowly(acked);
            if self.in_slow_start() {
                return;
            }
        }
        self.end_start(now);
    }

    fn end_start(&mut self, now: Time) {
        self.ssthresh = self.cwnd.max(LEAST_WINDOW);
        self.phase = self.before_first_slowdown(now);
    }

    fn before_first_slowdown(&self, now: Time) -> Phase {
        let slowdown =
            if self.config.slowdowns { self.after_rtts(now, RTTS_TO_FIRST_SLOWDOWN) } else { Time::NEVER };
        Phase::Steady { slowdown }
    }

    fn after_rtts(&self, now: Time, rtts: u64) -> Time {
        now.saturating_add(self.srtt.saturating_mul(rtts))
    }

    /// Section 4.3, once a round trip.
    fn adjust(&mut self) {
        let (gain, over) = (self.gain(), self.waiting() - 1.0);
        if over <= 0.0 {
            self.cwnd += gain;
        } else {
            let change = (gain - DECREASE * self.cwnd * over).max(-MOST_DECREASE * self.cwnd);
            self.cwnd = (self.cwnd + change).max(LEAST_WINDOW);
            self.ssthresh = self.ssthresh.min(self.cwnd);
        }
    }

    /// Section 4.4.
    fn slow_down(&mut self, now: Time) {
        (self.ssthresh, self.cwnd) = (self.cwnd, LEAST_WINDOW);
        self.phase = Phase::Frozen { entered: now, until: self.after_rtts(now, FROZEN_RTTS) };
    }

    fn come_back(&mut self, now: Time, entered: Time, acked: u32) {
        self.grow_slowly(acked);
        self.phase = if self.in_slow_start() {
            Phase::Returning { entered }
        } else {
            let took = now.saturating_since(entered);
            Phase::Steady { slowdown: now.saturating_add(took.saturating_mul(DURATIONS_TO_NEXT_SLOWDOWN)) }
        };
    }

    fn is_frozen(&self) -> bool {
        matches!(self.phase, Phase::Frozen { .. })
    }

    /// What a loss leaves: half of the segments in flight (RFC 5681 equation 4), or of what a slowdown returns to.
    fn halve(&mut self, flight: u32) {
        let half = if self.is_frozen() { self.ssthresh / 2.0 } else { f64::from(flight / 2).min(self.cwnd) };
        self.ssthresh = half.max(LEAST_WINDOW);
    }
}

impl CongestionControl for LedbatPlusPlus {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        if let Some(rtt) = sample.rtt {
            self.delay.measure(now, rtt);
        }
        self.srtt = sample.srtt;
        let round_ended = self.rounds.ended(sample);
        match self.phase {
            Phase::Starting => self.start(now, sample.acked),
            Phase::Frozen { until, .. } if now < until => {}
            Phase::Frozen { entered, .. } | Phase::Returning { entered } => {
                self.come_back(now, entered, sample.acked);
            }
            Phase::Steady { .. } if self.in_slow_start() => self.grow_slowly(sample.acked),
            Phase::Steady { slowdown } if now >= slowdown => self.slow_down(now),
            Phase::Steady { .. } if round_ended => self.adjust(),
            Phase::Steady { .. } => {}
        }
    }

    fn on_congestion(&mut self, now: Time, congestion: &Congestion) {
        match congestion.event {
            CongestionEvent::SynTimeout => {
                self.cwnd = LOSS_WINDOW;
                return;
            }
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => {
                self.halve(congestion.flight);
                self.cwnd = if self.is_frozen() { self.cwnd } else { self.ssthresh };
            }
            CongestionEvent::Timeout { repeated } => {
                // RFC 5681 section 3.1: a repeated one holds the threshold
                if !repeated {
                    self.halve(congestion.flight);
                }
                self.cwnd = LOSS_WINDOW;
                if let Phase::Frozen { entered, .. } = self.phase {
                    self.phase = Phase::Returning { entered };
                }
            }
        }
        if self.phase == Phase::Starting {
            self.phase = self.before_first_slowdown(now);
        }
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            self.cwnd = f64::from(window).max(LOSS_WINDOW);
            self.ssthresh = self.ssthresh.max(f64::from(threshold));
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
mod tests;
