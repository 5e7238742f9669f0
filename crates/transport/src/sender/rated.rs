//! Controls that ask for rates, and senders that keep a pace: what is delivered is measured, and what is sent waits for
//! its time.
//!
//! Sources: draft-ietf-ccwg-bbr, sections "Delivery Rate Samples" (see `delivery`) and "Pacing Rate"; Linux 5.10
//! `net/ipv4/tcp_output.c` (internal pacing: every segment but a SYN waits for its time, retransmissions too;
//! `tcp_update_skb_after_send`) and `tcp_input.c` (`tcp_update_pacing_rate`, for controls without a rate of their own),
//! read as behavior.
//!
//! Departures: the rate is worked out when a segment leaves, Linux's at each acknowledgment; a timer that comes late
//! earns no credit ("OS jitter"), since none does here.

use bufferlab_congestion::{AckSample, AnyControl, CongestionControl};
use bufferlab_units::{Span, Time};

use super::{Segment, SegmentKind, Sender, Told};
use crate::Ack;
use crate::delivery::{DeliveryRate, Network};
use crate::scoreboard::Scoreboard;

/// Longest time between two segments, ps: a control that has no rate yet must not stall.
const LONGEST_GAP_PS: f64 = 1e12;
/// A window in a round trip and this part again, in slow start up to half of the threshold
/// (`sysctl_tcp_pacing_ss_ratio`, 200 %).
const SLOW_START_RATIO: f64 = 2.0;
/// The same afterwards (`sysctl_tcp_pacing_ca_ratio`, 120 %).
const AVOIDANCE_RATIO: f64 = 1.2;
/// Segments that leave before there is a pace ("does not pace first 10 MSS").
const UNPACED_SEGMENTS: u64 = 10;

/// What the pace needs.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    /// Of controls that ask for rates.
    pub(super) rates: Option<DeliveryRate>,
    /// The next segment may leave then.
    release: Time,
    /// Between two segments, where the control says so; what it said, segments a second.
    gap: Span,
    gap_of: Option<f64>,
}

impl Pace {
    pub(super) fn new(control: &AnyControl, rated: bool) -> Pace {
        let rates = rated.then(DeliveryRate::new);
        let mut pace = Pace { rates, release: Time::ZERO, gap: Span::ZERO, gap_of: None };
        pace.keep_to(control);
        pace
    }

    /// Takes over the control's pace. Most acknowledgments do not change it, which saves a division.
    #[inline]
    fn keep_to(&mut self, control: &AnyControl) {
        let rate = control.pacing();
        if rate != self.gap_of {
            self.gap_of = rate;
            self.gap = Span::from_ps(rate.map_or(0.0, |rate| (1e12 / rate).min(LONGEST_GAP_PS)) as u64);
        }
    }
}

impl Sender {
    /// Whether segments wait for their pace.
    pub fn is_paced(&self) -> bool {
        self.paced
    }

    /// Nothing leaves before. Only a departure changes it.
    pub fn released_at(&self) -> Time {
        self.pace.as_deref().map_or(Time::ZERO, |pace| pace.release)
    }

    /// The next segment, if the window and the pace allow one.
    #[inline]
    pub(super) fn poll_paced(&mut self, now: Time) -> Option<Segment> {
        if self.waits_for_pace(now) { None } else { self.poll_in_pace(now) }
    }

    /// Whether it is too early for a segment; sets when to come again.
    #[inline]
    pub(super) fn waits_for_pace(&mut self, now: Time) -> bool {
        let release = self.released_at();
        let waits = now < release;
        if waits && (self.repairs || self.nxt < self.window_to) {
            self.pace_deadline = release;
        }
        waits
    }

    /// The next segment, if the window allows one; its time has come.
    #[inline]
    pub(super) fn poll_in_pace(&mut self, now: Time) -> Option<Segment> {
        let segment = self.poll_apart(now)?;
        if segment.kind != SegmentKind::Syn {
            self.note_departure(now, segment);
        }
        Some(segment)
    }

    /// New data is acknowledged while nothing is being repaired: what is left of `on_new_ack` and `refresh`.
    #[inline]
    pub(super) fn on_steady_ack(&mut self, now: Time, ack: &Ack) {
        let una = self.una;
        self.sample_rtt(now, ack);
        self.una = ack.ack;
        self.nxt = self.nxt.max(ack.ack);
        self.restart_timer(now);
        if self.una >= self.limit {
            self.finish(now);
        }
        self.tell_rate(now, una);
        self.cwnd_whole = self.control.cwnd() as u32;
        self.window_to = self.window_end().min(self.limit);
    }

    fn note_departure(&mut self, now: Time, segment: Segment) {
        self.pace_deadline = Time::NEVER;
        let network = Network {
            in_flight: self.inflight(),
            lost: self.losses(),
            app_limited: self.nxt >= self.limit,
            again: segment.kind == SegmentKind::Retransmission,
        };
        let (una, window_gap) = (self.una, self.window_gap());
        if let Some(pace) = self.pace.as_deref_mut() {
            let gap = if let Some(rates) = &mut pace.rates {
                rates.on_sent(now, una, segment.seq, network);
                pace.gap
            } else {
                window_gap
            };
            pace.release = now.max(pace.release) + gap;
        }
    }

    /// Between two segments where a window sets the pace: rate = ratio · max(cwnd, what is out) / srtt.
    fn window_gap(&self) -> Span {
        if self.rated || self.counters.sent < UNPACED_SEGMENTS {
            return Span::ZERO;
        }
        Span::from_ps((self.rtt.srtt().as_ps() as f64 / self.paced_window()) as u64)
    }

    /// Segments that a pace set by the window sends in a smoothed round-trip time.
    pub(super) fn paced_window(&self) -> f64 {
        let cwnd = self.cwnd();
        let ratio = if cwnd < self.ssthresh() / 2.0 { SLOW_START_RATIO } else { AVOIDANCE_RATIO };
        ratio * cwnd.max(f64::from(self.nxt - self.una))
    }

    /// Segments held for lost so far.
    pub(super) fn losses(&self) -> u64 {
        self.board.as_deref().map_or(0, Scoreboard::losses)
    }

    /// An acknowledgment has been read; before it, everything below `una` was acknowledged.
    pub(super) fn tell_rate(&mut self, now: Time, una: u32) {
        let (inflight, losses) = (self.inflight(), self.losses());
        let Some(rates) = self.pace.as_deref_mut().and_then(|pace| pace.rates.as_mut()) else {
            return;
        };
        for seq in una..self.una {
            rates.on_delivered(seq);
        }
        let delivery = rates.take(now, losses);
        let told = Told { rtt: delivery.rtt, marked: false };
        let sample = self.sample(delivery.delivered, inflight, told);
        self.control.on_ack(now, &AckSample { rate: Some(delivery.rate), ..sample });
        if let Some(pace) = self.pace.as_deref_mut() {
            pace.keep_to(&self.control);
        }
    }
}
