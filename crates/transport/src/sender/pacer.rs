//! Senders that keep a pace: each segment waits for its time.
//!
//! Sources: draft-ietf-ccwg-bbr, section "Pacing Rate", for controls with a rate of their own; for the others Linux 5.10
//! `net/ipv4/tcp_output.c` (internal pacing: every segment but a SYN waits for its time, retransmissions too;
//! `tcp_update_skb_after_send`) and `tcp_input.c` (`tcp_update_pacing_rate`), read as behavior.
//!
//! Departures: the rate is worked out when a segment leaves, Linux's at each acknowledgment; a timer that comes late
//! earns no credit ("OS jitter"), since none does here.

use bufferlab_units::{Span, Time};

/// Longest time between two segments, ps: a control that has no rate yet must not stall.
const LONGEST_GAP_PS: f64 = 1e12;
/// In slow start up to half of the threshold, a window and this much again leave in a round trip
/// (`sysctl_tcp_pacing_ss_ratio`, 200 %).
const SLOW_START_RATIO: f64 = 2.0;
/// The same afterwards (`sysctl_tcp_pacing_ca_ratio`, 120 %).
pub(super) const AVOIDANCE_RATIO: f64 = 1.2;
/// Windows that leave in a round trip with QUIC (RFC 9002 section 7.7, "at least 1 (for example, 1.25)"), in slow start too.
pub(super) const QUIC_RATIO: f64 = 1.25;
/// Segments that leave before there is a pace ("does not pace first 10 MSS").
const UNPACED_SEGMENTS: u64 = 10;

/// When the next segment may leave.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    release: Time,
    /// Between two segments, where the control sets the rate.
    gap: Span,
    /// The rate that `gap` belongs to, segments a second.
    rate: Option<f64>,
}

impl Pacer {
    /// A pacer that keeps to the control's rate, segments a second, if it has one.
    pub(super) fn new(rate: Option<f64>) -> Pacer {
        let mut pacer = Pacer { release: Time::ZERO, gap: Span::ZERO, rate: None };
        pacer.keep_to(rate);
        pacer
    }

    /// Takes over the control's rate. Most acknowledgments do not change it, which saves a division.
    #[inline]
    pub(super) fn keep_to(&mut self, rate: Option<f64>) {
        if rate != self.rate {
            self.rate = rate;
            self.gap = Span::from_ps(rate.map_or(0.0, |rate| (1e12 / rate).min(LONGEST_GAP_PS)) as u64);
        }
    }

    /// Nothing leaves before. Only a departure changes it.
    #[inline]
    pub(super) fn release(&self) -> Time {
        self.release
    }

    /// The time between two segments that the control's rate sets.
    #[inline]
    pub(super) fn gap(&self) -> Span {
        self.gap
    }

    /// A segment leaves; the next one may after `gap`.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, gap: Span) {
        self.release = now.max(self.release) + gap;
    }
}

/// Between two segments where a window sets the pace: rate = ratio · max(cwnd, flight) / srtt, with
/// [`segments_a_round_trip`]; `sent` segments have left so far.
pub(super) fn window_gap(sent: u64, srtt: Span, segments_a_round_trip: f64) -> Span {
    if sent < UNPACED_SEGMENTS {
        return Span::ZERO;
    }
    Span::from_ps((srtt.as_ps() as f64 / segments_a_round_trip) as u64)
}

/// Segments that a pace set by the window sends in a smoothed round-trip time; `avoidance` windows outside slow start.
pub(super) fn segments_a_round_trip(cwnd: f64, ssthresh: f64, flight: u32, avoidance: f64) -> f64 {
    let ratio = if cwnd < ssthresh / 2.0 { SLOW_START_RATIO } else { avoidance };
    ratio * cwnd.max(f64::from(flight))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_us(us)
    }

    #[test]
    fn a_rate_sets_the_time_between_segments() {
        let mut pacer = Pacer::new(Some(1_000.0));
        assert_eq!((pacer.release(), pacer.gap()), (Time::ZERO, Span::from_ms(1)));
        pacer.on_sent(at(500), pacer.gap());
        assert_eq!(pacer.release(), at(1_500));
        pacer.keep_to(Some(10_000.0));
        pacer.on_sent(at(1_500), pacer.gap());
        assert_eq!(pacer.release(), at(1_600));
        // what leaves late earns no credit
        pacer.on_sent(at(9_000), pacer.gap());
        assert_eq!(pacer.release(), at(9_100));
    }

    #[test]
    fn no_rate_holds_nothing_back_and_a_slow_one_does_not_stall() {
        assert_eq!(Pacer::new(None).gap(), Span::ZERO);
        assert_eq!(Pacer::new(Some(0.001)).gap(), Span::from_s(1));
        assert_eq!(Pacer::new(Some(0.0)).gap(), Span::from_s(1));
    }

    #[test]
    fn a_window_leaves_faster_than_it_is_acknowledged() {
        assert_eq!(segments_a_round_trip(10.0, 100.0, 5, AVOIDANCE_RATIO), 20.0);
        assert_eq!(segments_a_round_trip(50.0, 100.0, 5, AVOIDANCE_RATIO), 60.0);
        assert_eq!(segments_a_round_trip(50.0, 100.0, 100, AVOIDANCE_RATIO), 120.0);
        assert_eq!(segments_a_round_trip(50.0, 100.0, 100, 1.0), 100.0);
        assert_eq!(window_gap(9, Span::from_ms(100), 20.0), Span::ZERO);
        assert_eq!(window_gap(10, Span::from_ms(100), 20.0), Span::from_ms(5));
    }
}
