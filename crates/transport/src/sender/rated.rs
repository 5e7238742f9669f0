//! Controls that ask for rates: what is delivered is measured, and what is sent keeps their pace.
//!
//! Sources: draft-ietf-ccwg-bbr, sections "Delivery Rate Samples" (see `delivery`) and "Pacing Rate"; Linux
//! `net/ipv4/tcp_output.c` (internal pacing: every segment but a SYN waits for its time, retransmissions too).

use bufferlab_congestion::{AckSample, AnyControl, CongestionControl};
use bufferlab_units::{Span, Time};

use super::{Phase, Segment, SegmentKind, Sender, Told};
use crate::Ack;
use crate::delivery::{DeliveryRate, Network};
use crate::scoreboard::Scoreboard;

/// Longest time between two segments, ps: a control that has no rate yet must not stall.
const LONGEST_GAP_PS: f64 = 1e12;

/// What the pace needs.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    pub(super) rates: DeliveryRate,
    /// The next segment may leave then.
    release: Time,
    /// Between two segments.
    gap: Span,
}

impl Pace {
    pub(super) fn new(control: &AnyControl) -> Pace {
        Pace { rates: DeliveryRate::new(), release: Time::ZERO, gap: gap(control) }
    }
}

/// Between two segments at the control's pace.
fn gap(control: &AnyControl) -> Span {
    Span::from_ps(control.pacing().map_or(0.0, |rate| (1e12 / rate).min(LONGEST_GAP_PS)) as u64)
}

impl Sender {
    /// The next segment, if the window and the pace allow one.
    #[inline(never)]
    pub(super) fn poll_paced(&mut self, now: Time) -> Option<Segment> {
        let release = self.pace.as_deref().map_or(Time::ZERO, |pace| pace.release);
        if now < release && self.phase != Phase::SynSent {
            if self.repairs || self.nxt < self.window_to {
                self.pace_deadline = release;
            }
            return None;
        }
        let segment = if self.repairs { self.next_in_repair()? } else { self.next_in_window()? };
        self.on_sent(now, segment);
        if segment.kind != SegmentKind::Syn {
            self.note_departure(now, segment);
            self.note_use(now);
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
        let una = self.una;
        if let Some(pace) = self.pace.as_deref_mut() {
            pace.rates.on_sent(now, una, segment.seq, network);
            pace.release = now.max(pace.release) + pace.gap;
        }
    }

    /// Segments held for lost so far.
    pub(super) fn losses(&self) -> u64 {
        self.board.as_deref().map_or(0, Scoreboard::losses)
    }

    /// An acknowledgement has been read; before it, everything below `una` was acknowledged.
    pub(super) fn tell_rate(&mut self, now: Time, una: u32) {
        let (inflight, losses) = (self.inflight(), self.losses());
        let Some(pace) = self.pace.as_deref_mut() else {
            return;
        };
        for seq in una..self.una {
            pace.rates.on_delivered(seq);
        }
        let delivery = pace.rates.take(now, losses);
        let told = Told { rtt: delivery.rtt, marked: false };
        let sample = self.sample(delivery.delivered, inflight, told);
        self.control.on_ack(now, &AckSample { rate: Some(delivery.rate), ..sample });
        let gap = gap(&self.control);
        if let Some(pace) = self.pace.as_deref_mut() {
            pace.gap = gap;
        }
    }
}
