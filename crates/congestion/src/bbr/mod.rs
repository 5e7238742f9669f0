//! BBR: a model of the path, its bandwidth and its round-trip time, instead of losses.
//!
//! [`Bbr1`] is Linux's first version, [`Bbr3`] the version of draft-ietf-ccwg-bbr. This file holds what both
//! need.

mod offload;
mod v1;
mod v3;

pub use v1::{Bbr1, Bbr1Config};
pub use v3::{Bbr3, Bbr3Config};

use crate::RateSample;

/// Least window, segments, so that a receiver that acknowledges every other segment keeps the pipe full
/// (Linux `bbr_cwnd_min_target`; draft `BBR.MinPipeCwnd`).
const MIN_PIPE_CWND: f64 = 4.0;
/// What is left of the rate after the margin "of 1%" that keeps the queue short (Linux
/// `bbr_pacing_margin_percent`; draft `BBR.PacingMarginPercent`).
const PACING_MARGIN: f64 = 0.99;
/// Round-trip time to pace by before one was measured, s (Linux `bbr_init_pacing_rate_from_rtt`, draft
/// `InitPacingRate`): 1 ms.
const NOMINAL_RTT_S: f64 = 1e-3;
/// Growth of the bandwidth in a round below which the pipe may be full (Linux `bbr_full_bw_thresh`, draft
/// `CheckFullBWReached`).
const FULL_BW_GROWTH: f64 = 1.25;
/// Rounds of little growth that mean a full pipe (the same).
const FULL_BW_ROUNDS: u32 = 3;

/// Packet-timed rounds (draft, `UpdateRound`): a round ends when a packet sent after its start is
/// acknowledged.
#[derive(Clone, Copy, Debug, Default)]
struct RoundCount {
    /// Rounds so far.
    count: u64,
    /// Delivered when this round started (`next_round_delivered`).
    end: u64,
    /// The last acknowledgment ended a round.
    started: bool,
}

impl RoundCount {
    fn update(&mut self, rate: &RateSample) {
        self.started = rate.prior_delivered >= self.end;
        if self.started {
            self.end = rate.delivered;
            self.count += 1;
        }
    }
}

/// The least whole number not below a number of segments. (`f64::ceil` is a call where the processor's oldest kind
/// has no instruction for it.)
#[inline]
fn whole_up(segments: f64) -> f64 {
    let whole = segments as i64 as f64;
    if whole < segments { whole + 1.0 } else { whole }
}

/// The largest value of the last `N` units of time, exactly.
#[derive(Clone, Copy, Debug)]
struct MaxFilter<const N: usize> {
    /// The largest value of each unit.
    slots: [f64; N],
    /// The unit that is running.
    time: u64,
    /// The largest of them all, which is asked for far more often than it changes.
    best: f64,
}

impl<const N: usize> MaxFilter<N> {
    const EMPTY: MaxFilter<N> = MaxFilter { slots: [0.0; N], time: 0, best: 0.0 };

    /// Takes a value of unit `time`, which never falls.
    fn update(&mut self, time: u64, value: f64) {
        if time > self.time {
            self.forget_until(time);
        }
        let slot = &mut self.slots[(self.time % N as u64) as usize];
        *slot = slot.max(value);
        self.best = self.best.max(value);
    }

    fn forget_until(&mut self, time: u64) {
        let passed = (time - self.time).min(N as u64);
        for step in 1..=passed {
            self.slots[((time - passed + step) % N as u64) as usize] = 0.0;
        }
        self.time = time;
        self.best = self.slots.iter().fold(0.0, |best, &value| best.max(value));
    }

    fn best(&self) -> f64 {
        self.best
    }
}

/// Samples of packets sent while the control held the window down on purpose (draft
/// `MarkConnectionAppLimited`).
///
/// Linux and the draft note it in the connection, which notes it in the packets that it sends until what is out now is
/// delivered; here the same packets are known by what was delivered when they were sent.
#[derive(Clone, Copy, Debug, Default)]
struct HeldDown(Option<(u64, u64)>);

impl HeldDown {
    /// From now until what is out now is delivered.
    fn cover(&mut self, delivered: u64, inflight: u32) {
        let until = delivered + u64::from(inflight);
        self.0 = Some(match self.0 {
            Some((from, to)) if delivered <= to => (from, until),
            _ => (delivered, until),
        });
    }

    fn covers(&self, rate: &RateSample) -> bool {
        self.0.is_some_and(|(from, until)| (from..=until).contains(&rate.prior_delivered))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_forgets_after_its_length() {
        let mut filter = MaxFilter::<3>::EMPTY;
        let mut seen = Vec::new();
        for (time, value) in [(1, 5.0), (1, 4.0), (2, 3.0), (3, 2.0), (4, 1.0), (9, 0.5)] {
            filter.update(time, value);
            seen.push(filter.best());
        }
        assert_eq!(seen, [5.0, 5.0, 5.0, 5.0, 3.0, 0.5]);
    }

    #[test]
    fn whole_segments_are_rounded_up() {
        for segments in [0.0, 0.2, 1.0, 1.000_001, 7.5, 1e9 + 0.5, -0.5, -2.0] {
            assert_eq!(whole_up(segments), segments.ceil());
        }
    }

    #[test]
    fn a_round_is_a_packet_sent_after_its_start() {
        let mut rounds = RoundCount::default();
        let at =
            |prior_delivered, delivered| RateSample { delivered, prior_delivered, ..RateSample::default() };
        let mut started = Vec::new();
        for (prior, delivered) in [(0, 1), (0, 2), (1, 11), (5, 15), (11, 21)] {
            rounds.update(&at(prior, delivered));
            started.push(rounds.started);
        }
        assert_eq!(started, [true, false, true, false, true]);
        assert_eq!(rounds.count, 3);
    }

    #[test]
    fn packets_sent_while_held_down_are_known() {
        let mut held = HeldDown::default();
        held.cover(100, 50);
        held.cover(120, 4);
        let sent_at = |prior_delivered| RateSample { prior_delivered, ..RateSample::default() };
        let covered: Vec<_> = [99, 100, 124, 125].map(|prior| held.covers(&sent_at(prior))).into();
        assert_eq!(covered, [false, true, true, false]);
    }
}
