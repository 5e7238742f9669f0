//! An acknowledgment, and a timer that runs out, as QUIC takes them: RFC 9002 appendices A.7 and A.9, B.5 to B.8.
//!
//! Departures:
//! - marks are answered as `marks` has it, with a recovery period of their own, which ends with the window that was out;
//! - the recovery period of a control with a rate of its own goes on until nothing is lost for a round trip, as where such
//!   controls come from: they do little more in a period than hold the window back;
//! - the window after persistent congestion is two segments (section 7.2), but what a control makes of it, one segment for
//!   most, is what grows.

use bufferlab_congestion::{Congestion, CongestionControl, CongestionEvent};
use bufferlab_units::Time;

use super::Sender;
use super::acks::Signals;
use crate::recovery::Phase;
use crate::{Ack, SackBlocks};

impl Sender {
    #[inline(never)]
    pub(super) fn on_ack_quic(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        if matches!(self.recovery.phase(), Phase::Idle | Phase::SynSent) {
            return;
        }
        let (una, prior) = (self.window.una, self.inflight());
        if self.window.is_new(ack.ack) {
            self.window.acknowledge(ack.ack);
        }
        let news = self.recovery.take_ack_quic(&self.window, una, (ack, sack), self.rates.as_deref_mut());
        if news.segments > 0 {
            let Some(quic) = self.recovery.quic_mut() else { return };
            // section 5.1: "the largest acknowledged packet number is newly acknowledged"
            let rtt = now.saturating_since(ack.echo);
            let rtt = news.newest.then(|| quic.sample(now, rtt, ack.delay));
            self.rtt.on_measured(now, ack.echo, rtt);
            let reduced = self.detect_losses(now);
            if news.grows > 0 && !reduced {
                self.leave_period(now);
                self.grow_quic(now, news.grows, prior, Signals { rtt, marked: ack.marked });
            }
        }
        self.plan_quic(now);
        if self.window.is_done() {
            self.finish(now);
        }
        if self.is_rated() {
            self.report_rate(now, una);
        }
        self.refresh();
    }

    /// Finds losses, and reports them to the congestion control once a recovery period (section 7.3.2). Whether it has.
    fn detect_losses(&mut self, now: Time) -> bool {
        let srtt = self.rtt.estimator.srtt();
        let goes_on = self.is_rated() && self.recovery.phase() == Phase::Recovery;
        let Some(quic) = self.recovery.quic_mut() else { return false };
        let losses = quic.detect(now, srtt);
        if losses.newest.is_none() {
            return false;
        }
        if goes_on {
            quic.begin_recovery();
            return true;
        }
        let enters = quic.enters_recovery(&losses);
        let lasts = quic.is_congested_for_long(&losses, &self.rtt.estimator);
        if enters {
            if !self.leave_reduction() {
                self.report_loss(now, CongestionEvent::Loss);
            }
            self.recovery.begin_period();
        }
        if lasts {
            // the threshold was set at the loss
            self.report_loss(now, CongestionEvent::Timeout { repeated: true });
            self.recovery.collapse();
        }
        enters || lasts
    }

    /// A packet that was sent in the recovery period is acknowledged, which ends it.
    fn leave_period(&mut self, now: Time) {
        if self.recovery.phase() == Phase::Recovery {
            self.recovery.end_period();
            self.control.on_recovery_exit(now);
        }
    }

    /// Section 7.3.2: the threshold is a share of the window, and not of what is in flight.
    fn report_loss(&mut self, now: Time, event: CongestionEvent) {
        let (flight, receive_window) = (self.window.cwnd, self.window.advertised);
        self.control.on_congestion(now, &Congestion { event, flight, receive_window });
    }

    /// The window grows, unless it was not used (section 7.8): less than it was in flight, and there was nothing more to
    /// send, which the pace does not count as.
    fn grow_quic(&mut self, now: Time, acked: u32, prior: u32, signals: Signals) {
        let reduces = self.rare.is_some() && self.follow_marks(now, acked, signals);
        let used = prior >= self.window.cwnd || self.window.has_new();
        if used && self.uses_window() && !self.is_rated() && !reduces {
            self.grow(now, acked, self.inflight(), signals);
        }
    }

    /// The timer ran out: a packet is lost by time, or it is time for a probe.
    pub(super) fn on_timer_quic(&mut self, now: Time) {
        let outstanding = self.window.outstanding();
        let Some(quic) = self.recovery.quic_mut() else { return };
        if quic.is_loss_due(now) {
            self.detect_losses(now);
        } else if outstanding > 0 && quic.deadline(&self.rtt.estimator) <= now {
            quic.probe(now);
            self.rtt.estimator.back_off();
        }
        self.plan_quic(now);
        self.refresh();
    }

    /// A packet with segment `seq` leaves.
    pub(super) fn on_sent_quic(&mut self, now: Time, seq: u32) {
        if let Some(quic) = self.recovery.quic_mut() {
            quic.on_sent(now, seq);
        }
        self.plan_quic(now);
    }

    fn plan_quic(&mut self, now: Time) {
        let deadline = self.recovery.quic().map_or(Time::NEVER, |quic| quic.deadline(&self.rtt.estimator));
        self.timers.set(deadline.max(now));
    }
}
