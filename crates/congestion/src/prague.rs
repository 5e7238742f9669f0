//! Prague: DCTCP for the Internet. Its segments carry ECT(1), the window shrinks by the part of it that was marked, and
//! flows with short round trips grow no faster than one of 25 ms.
//!
//! Sources: draft-briscoe-iccrg-prague-congestion-control-04, sections 2.3.2 (the moving average), 2.4.2 (the reduction),
//! 2.4.3 (growth in spite of marks) and 2.4.4 (less dependence on the round-trip time); RFC 9331 section 4, whose
//! requirements it is to meet. The draft was read in parts only, as implementations quote it; constants, and what they do
//! not say, are those of the reference implementation, read as behavior: L4STeam/linux `net/ipv4/tcp_prague.c`, versions
//! 0.6 (the window) and 0.7 (slow start, the least window).
//!
//! - The part of marked segments is averaged with a weight of 1/16 a round, from 1 on, once a first mark has come.
//! - A mark takes half of that part off the window, once a round. Segments that were not marked make it grow, in that
//!   round, too: by one a round trip.
//! - 500 rounds after slow start, where the round trip is below 25 ms: growth is multiplied by (srtt / 25 ms)², and the
//!   average and the reduction wait for 25 ms to have passed. A flow then has the rate of one with 25 ms.
//! - The window follows by one segment an acknowledgment; segments are paced, a window a round trip, two in slow start.
//! - A loss halves the window (RFC 9331 section 4.3: as Reno).
//!
//! Departures:
//! - marked segments are counted as the transport reports them; while a loss is repaired, it reports none;
//! - a timeout is answered as RFC 5681 says, in Linux by half of the window;
//! - no fall-back for a bottleneck that marks as RFC 3168 has it: in version 0.6 it is off, in 0.7 there is none. There,
//!   Prague takes more than its share;
//! - segments are not made smaller below two a round trip, and the pace does not alternate (both 0.7).

use bufferlab_parameters::{LONGEST, count, fraction, parameters, time};
use bufferlab_units::{Span, Time};

use crate::{
    AckSample, Algorithm, Congestion, CongestionControl, CongestionEvent, Context, Idle, NO_THRESHOLD,
};

/// First average: as if all were marked (`prague_init`).
const FIRST_ALPHA: f64 = 1.0;
/// Least window, segments (`MIN_CWND`).
const MIN_WINDOW: f64 = 2.0;
/// RFC 5681 section 3.1: the window after a timeout, segments.
const LOSS_WINDOW: f64 = 1.0;
/// Windows that leave in a round trip outside slow start (`prague_update_pacing_rate`).
const PACE: f64 = 1.0;

parameters! {
    /// Parameters of Prague.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PragueConfig {
        /// Weight of a round in the average of the marked part (section 2.3.2: 1/16; `PRAGUE_SHIFT_G`).
        gain: f64 = 1.0 / 16.0, fraction("a weight", 1.0);
        /// Round-trip time that shorter ones are taken for (section 2.4.4, `RTT_virt`; `prague_rtt_target`).
        virtual_rtt: Span = Span::from_ms(25), time(Span::ZERO, LONGEST);
        /// Rounds after slow start before they are (section 2.4.4; `prague_rtt_transition`).
        transition: u32 = 500, count("rounds", 0, u32::MAX as u64);
    }
}

impl Algorithm for PragueConfig {
    type Control = Prague;
    const USES_ECN: bool = true;
    const IS_L4S: bool = true;
    const HAS_PACE: bool = true;

    fn build(&self, context: Context) -> Prague {
        Prague::new(context.initial_window, context.initial_ssthresh, *self)
    }
}

/// Prague's window.
#[derive(Clone, Debug)]
pub struct Prague {
    config: PragueConfig,
    /// Congestion window, whole segments (`snd_cwnd`); it follows the next by one an acknowledgment.
    cwnd: f64,
    /// The window to come (`frac_cwnd`).
    window: f64,
    /// Slow-start threshold, segments.
    ssthresh: f64,
    /// Average part of the segments that are marked.
    alpha: f64,
    /// A mark has come: there is an AQM on the path (`saw_ce`).
    marked_ever: bool,
    /// Segments acknowledged since the last average, and those of them that were marked.
    acked: u64,
    marked: u64,
    /// One more than the last segment of the running round (`next_seq`).
    round_end: u32,
    /// Rounds since slow start ended.
    rounds: u32,
    /// When the average changed last (`alpha_stamp`).
    averaged: Time,
    /// When the window was reduced last for a mark (`cwr_stamp`).
    reduced: Time,
    /// One more than the last segment sent when a mark began the round that takes no further reduction.
    reduced_to: Option<u32>,
    /// A loss is being repaired.
    in_loss: bool,
}

impl Prague {
    /// A new connection's window.
    pub fn new(initial_window: u32, ssthresh: Option<u32>, config: PragueConfig) -> Prague {
        let window = f64::from(initial_window.max(1));
        Prague {
            config,
            cwnd: window,
            window,
            ssthresh: ssthresh.map_or(NO_THRESHOLD, |segments| f64::from(segments).max(MIN_WINDOW)),
            alpha: FIRST_ALPHA,
            marked_ever: false,
            acked: 0,
            marked: 0,
            round_end: 0,
            rounds: 0,
            averaged: Time::ZERO,
            reduced: Time::ZERO,
            reduced_to: None,
            in_loss: false,
        }
    }

    /// The average part of the segments that are marked.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The virtual round-trip time counts (`prague_is_rtt_indep`).
    fn is_independent(&self) -> bool {
        !self.in_slow_start() && self.rounds >= self.config.transition
    }

    /// Segments that a window without marks grows by in a round trip (`prague_rate_scaled_ai_ack_increase`).
    fn increase(&self, srtt: Span) -> f64 {
        let target = self.config.virtual_rtt;
        if self.rounds < self.config.transition || srtt == Span::ZERO || srtt >= target {
            return 1.0;
        }
        let ratio = srtt.as_ps() as f64 / target.as_ps() as f64;
        ratio * ratio
    }

    /// A round that takes one reduction begins (`prague_enter_cwr`).
    fn reduce(&mut self, now: Time, sample: &AckSample) {
        self.reduced_to = Some(sample.sent_to);
        if self.is_independent() && now.saturating_since(self.reduced) < self.config.virtual_rtt {
            return;
        }
        self.reduced = now;
        self.window -= self.window * self.alpha / 2.0;
    }

    fn grow(&mut self, mut acked: f64, srtt: Span) {
        if self.in_slow_start() {
            let grown = acked.min(self.ssthresh - self.cwnd);
            self.cwnd += grown;
            self.window = self.cwnd;
            acked -= grown;
        }
        self.window += acked * self.increase(srtt) / self.whole();
    }

    /// The window to come in whole segments.
    fn whole(&self) -> f64 {
        self.window.ceil().max(MIN_WINDOW)
    }

    /// The window takes a step (`prague_update_cwnd`, "adjust").
    fn follow(&mut self) {
        let whole = self.whole();
        if self.cwnd > whole {
            self.cwnd -= 1.0;
            self.ssthresh = self.cwnd;
        } else if self.cwnd < whole {
            self.cwnd += 1.0;
        }
    }

    /// A round's end, if it is one (`prague_should_update_ewma`, `prague_update_alpha`).
    fn average(&mut self, now: Time, sample: &AckSample) {
        let waits = self.is_independent() && now.saturating_since(self.averaged) < self.config.virtual_rtt;
        if sample.una < self.round_end || waits {
            return;
        }
        if self.marked_ever && self.acked > 0 {
            let part = self.marked as f64 / self.acked as f64;
            self.alpha += self.config.gain * (part - self.alpha);
            self.averaged = now;
        }
        (self.acked, self.marked) = (0, 0);
        self.round_end = sample.sent_to;
        if !self.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn set(&mut self, window: f64) {
        (self.cwnd, self.window) = (window, window);
    }
}

impl CongestionControl for Prague {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let marked = sample.marked.min(sample.acked);
        self.acked += u64::from(sample.acked);
        self.marked += u64::from(marked);
        self.marked_ever |= marked > 0;
        // strictly beyond, as in Linux's CWR state
        if self.reduced_to.is_some_and(|end| sample.una > end) {
            self.reduced_to = None;
        }
        if marked > 0 && self.reduced_to.is_none() {
            self.reduce(now, sample);
        }
        if sample.acked > marked && !self.in_loss {
            self.grow(f64::from(sample.acked - marked), sample.srtt);
        }
        self.follow();
        self.average(now, sample);
    }

    fn on_congestion(&mut self, _now: Time, congestion: &Congestion) {
        match congestion.event {
            CongestionEvent::Loss | CongestionEvent::Mark { .. } => {
                self.set((self.window / 2.0).ceil().max(MIN_WINDOW));
                self.ssthresh = self.cwnd;
                self.in_loss = true;
            }
            CongestionEvent::Timeout { repeated } => {
                if !repeated {
                    self.ssthresh = f64::from(congestion.flight / 2).max(MIN_WINDOW);
                }
                self.set(LOSS_WINDOW);
            }
            CongestionEvent::SynTimeout => self.set(LOSS_WINDOW),
        }
    }

    fn on_recovery_exit(&mut self, _now: Time) {
        self.in_loss = false;
    }

    fn on_idle(&mut self, _now: Time, idle: &Idle) {
        if let Some((window, threshold)) = idle.restart {
            self.set(f64::from(window).max(LOSS_WINDOW));
            self.ssthresh = self.ssthresh.max(f64::from(threshold));
        }
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn pace(&self) -> Option<f64> {
        Some(PACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// A window after slow start.
    fn steady(window: f64, alpha: f64) -> Prague {
        let mut control = Prague::new(10, Some(2), PragueConfig::default());
        control.set(window);
        (control.alpha, control.marked_ever) = (alpha, true);
        control
    }

    fn ack(una: u32, acked: u32, marked: u32, srtt_ms: u64) -> AckSample {
        let (sent_to, srtt) = (una + 100, Span::from_ms(srtt_ms));
        AckSample { acked, srtt, una, sent_to, marked, ..AckSample::default() }
    }

    /// Section 2.3.2: alpha += (fraction − alpha) / 16, from 1 on, and not before a mark has come.
    #[test]
    fn the_average_follows_the_marked_part_of_each_round() {
        let mut control = Prague::new(10, Some(2), PragueConfig::default());
        let mut round = |number: u32, marked| {
            let sample = AckSample { una: 10 * number, sent_to: 10 * number + 10, ..ack(0, 10, marked, 50) };
            control.on_ack(at(50 * u64::from(number)), &sample);
            control.alpha()
        };
        assert_eq!([round(1, 0), round(2, 0)], [1.0, 1.0]);
        let expected = 1.0 + (0.5 - 1.0) / 16.0;
        assert!((round(3, 5) - expected).abs() < 1e-12);
        assert!((round(4, 0) - expected * 15.0 / 16.0).abs() < 1e-12);
    }

    /// Section 2.4.2: half of the average, once a round.
    #[test]
    fn a_mark_takes_half_of_the_average_off_once_a_round() {
        let mut control = steady(100.0, 0.2);
        control.round_end = 1_000;
        control.on_ack(at(0), &ack(1, 1, 1, 50));
        assert!((control.window - 90.0).abs() < 1e-12);
        control.on_ack(at(1), &ack(2, 1, 1, 50));
        control.on_ack(at(2), &ack(101, 1, 1, 50));
        assert!((control.window - 90.0).abs() < 1e-12);
        control.on_ack(at(3), &ack(102, 1, 1, 50));
        assert!((control.window - 81.0).abs() < 1e-12);
    }

    #[test]
    fn the_window_follows_by_one_segment_an_acknowledgment() {
        let mut control = steady(100.0, 0.2);
        let cwnds: Vec<f64> = (1..=12)
            .map(|una| {
                control.on_ack(at(0), &ack(una, 1, 1, 50));
                control.cwnd()
            })
            .collect();
        assert_eq!(cwnds[..3], [99.0, 98.0, 97.0]);
        assert_eq!((cwnds[9], cwnds[11], control.ssthresh()), (90.0, 90.0, 90.0));
    }

    /// Section 2.4.3: unmarked segments count in the round after a reduction, too.
    #[test]
    fn growth_goes_on_in_spite_of_marks() {
        let mut control = steady(100.0, 0.2);
        control.on_ack(at(0), &ack(1, 1, 1, 50));
        for una in 2..=91 {
            control.on_ack(at(0), &ack(una, 1, 0, 50));
        }
        // one segment a window
        assert!((control.window - 91.0).abs() < 0.02, "{}", control.window);
    }

    /// Section 2.4.4: 5 ms grow by (5/25)² = 1/25 of a segment a round trip; before 500 rounds, and from 25 ms on, by one.
    #[test]
    fn short_round_trips_grow_as_25_ms_do_after_500_rounds() {
        let grown = |rounds, srtt_ms| {
            let mut control = steady(100.0, 0.0);
            control.rounds = rounds;
            control.on_ack(at(0), &ack(1, 100, 0, srtt_ms));
            control.window - 100.0
        };
        assert!((grown(500, 5) - 0.04).abs() < 1e-12);
        assert_eq!([grown(499, 5), grown(500, 25), grown(500, 80)], [1.0, 1.0, 1.0]);
    }

    #[test]
    fn short_round_trips_are_reduced_and_averaged_once_in_25_ms() {
        let mut control = steady(100.0, 0.2);
        (control.rounds, control.reduced, control.averaged) = (500, at(100), at(100));
        control.on_ack(at(120), &ack(1, 1, 1, 5));
        assert_eq!((control.window, control.alpha()), (100.0, 0.2));
        control.on_ack(at(125), &ack(102, 1, 1, 5));
        assert!((control.window - 90.0).abs() < 1e-12);
        assert!(control.alpha() > 0.2);
    }

    #[test]
    fn the_first_mark_ends_slow_start() {
        let mut control = Prague::new(10, None, PragueConfig::default());
        control.on_ack(at(0), &ack(10, 10, 0, 50));
        assert_eq!((control.cwnd(), control.in_slow_start()), (20.0, true));
        control.on_ack(at(1), &ack(11, 1, 1, 50));
        assert_eq!((control.cwnd(), control.window, control.in_slow_start()), (19.0, 10.0, false));
    }

    #[test]
    fn a_loss_halves_whatever_the_average() {
        let mut control = steady(100.0, 0.0);
        let congestion = Congestion { event: CongestionEvent::Loss, flight: 91, receive_window: 1_000 };
        control.on_congestion(at(0), &congestion);
        assert_eq!((control.cwnd(), control.ssthresh()), (50.0, 50.0));
        control.on_ack(at(0), &ack(1, 50, 0, 50));
        assert_eq!(control.window, 50.0, "no growth while it is repaired");
        control.on_recovery_exit(at(0));
        control.on_ack(at(0), &ack(51, 50, 0, 50));
        assert_eq!(control.window, 51.0);
    }

    /// Slow start ends at the threshold in the middle of an acknowledgment; what is left grows by a segment a window.
    #[test]
    fn a_stretched_acknowledgment_is_split_at_the_threshold() {
        let mut control = Prague::new(18, Some(20), PragueConfig::default());
        control.grow(10.0, Span::from_ms(50));
        assert_eq!((control.cwnd(), control.window), (20.0, 20.0 + 8.0 / 20.0));
    }

    #[test]
    fn timeouts_leave_a_segment_and_half_of_the_flight_at_the_first() {
        let mut control = steady(100.0, 0.2);
        let congest = |control: &mut Prague, event, flight| {
            control.on_congestion(at(0), &Congestion { event, flight, receive_window: 1_000 });
            (control.cwnd(), control.window, control.ssthresh())
        };
        let timeout = |repeated| CongestionEvent::Timeout { repeated };
        assert_eq!(congest(&mut control, CongestionEvent::SynTimeout, 91), (1.0, 1.0, 2.0));
        assert_eq!(congest(&mut control, timeout(false), 91), (1.0, 1.0, 45.0));
        assert_eq!(congest(&mut control, timeout(true), 9), (1.0, 1.0, 45.0));
        assert_eq!(congest(&mut control, timeout(false), 3), (1.0, 1.0, 2.0));
    }

    #[test]
    fn a_round_without_acknowledged_segments_has_no_part_of_marked_ones() {
        let mut control = steady(100.0, 0.2);
        control.average(at(0), &ack(1, 0, 0, 50));
        assert_eq!((control.alpha(), control.round_end), (0.2, 101));
    }
}
