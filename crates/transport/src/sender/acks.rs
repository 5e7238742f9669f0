//! Acknowledgments: the window grows, a recovery continues or ends, the congestion control is informed.

use bufferlab_congestion::{AckSample, Congestion, CongestionControl, CongestionEvent};
use bufferlab_units::{Span, Time};

use super::{Course, Sender};
use crate::recovery::{Phase, Progress, Suspicion};
use crate::{Ack, Recovery, SackBlocks};

/// What an acknowledgment says beside its number.
#[derive(Clone, Copy)]
pub(super) struct Signals {
    pub(super) rtt: Option<Span>,
    pub(super) marked: bool,
}

impl Signals {
    const NONE: Signals = Signals { rtt: None, marked: false };
}

impl Sender {
    /// An acknowledgment came, with its SACK blocks.
    ///
    /// Nearly all of them move a calm sender on. The few steps that this takes are those of `on_any_ack` and
    /// `refresh` without what is known not to matter.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        if self.course != Course::Calm || ack.has_sack | ack.marked || !self.window.is_new(ack.ack) {
            self.on_any_ack(now, *ack, sack);
            return;
        }
        let acked = ack.ack - self.window.una;
        let rtt = self.rtt.on_ack(now, ack.ack, ack.echo, false);
        self.window.acknowledge(ack.ack);
        self.grow(now, acked, self.window.flight(), Signals { rtt, marked: false });
        self.restart_timer(now);
        if self.window.is_done() {
            self.finish(now);
        }
        self.window.follow(self.control.cwnd());
    }

    /// By value, so that the usual acknowledgment stays in registers.
    #[inline(never)]
    fn on_any_ack(&mut self, now: Time, ack: Ack, sack: &SackBlocks) {
        self.take_advertised(ack.ack);
        if self.recovery.kind().decides_always() && !ack.syn {
            let sack = if ack.has_sack { sack } else { &SackBlocks::NONE };
            if self.recovery.kind() == Recovery::Quic {
                self.on_ack_quic(now, &ack, sack);
            } else {
                self.on_ack_linux_ns2(now, &ack, sack);
            }
            return;
        }
        let is_new = self.window.is_new(ack.ack);
        if self.is_rated() && self.is_steady() && is_new && !ack.has_sack {
            self.on_steady_ack(now, &ack);
            return;
        }
        let (una, losses) = (self.window.una, self.recovery.losses());
        let was_open = self.recovery.phase() != Phase::Recovery && !self.recovery.is_reducing();
        self.recovery.begin_ack();
        if is_new {
            self.on_new_ack(now, &ack, sack);
        } else if ack.syn {
            self.on_syn_ack(now, &ack);
        } else if ack.ack == una && una < self.window.sent_to && self.recovery.phase() != Phase::SynSent {
            self.on_duplicate(now, sack);
        }
        if self.is_rated() {
            self.report_rate(now, una);
        } else if self.recovery.phase() == Phase::Recovery || self.recovery.is_reducing() {
            let progress = self.window.una > una && self.recovery.losses() == losses;
            self.follow_recovery(now, was_open, progress);
        }
        self.refresh();
    }

    /// No loss is being repaired, nor suspected.
    #[inline]
    fn is_steady(&self) -> bool {
        self.recovery.is_steady() && self.course != Course::Repair
    }

    /// New data is acknowledged while nothing is being repaired, by a control that asks for rates: what is left of
    /// `on_new_ack` and `refresh`.
    #[inline]
    fn on_steady_ack(&mut self, now: Time, ack: &Ack) {
        let una = self.window.una;
        self.rtt.on_ack(now, ack.ack, ack.echo, false);
        self.window.acknowledge(ack.ack);
        self.restart_timer(now);
        if self.window.is_done() {
            self.finish(now);
        }
        self.report_rate(now, una);
        self.window.cwnd = self.control.cwnd() as u32;
        self.window.open(self.recovery.extra(&self.window));
    }

    fn on_syn_ack(&mut self, now: Time, ack: &Ack) {
        let stale = self.bursts.as_deref().is_some_and(|bursts| bursts.is_stale(ack.echo));
        if self.recovery.phase() != Phase::SynSent || stale {
            return;
        }
        self.rtt.on_syn_ack(now, ack.echo);
        if let Some(quic) = self.recovery.quic_mut() {
            quic.sample(now, now.saturating_since(ack.echo), 0);
        }
        if self.holds_data(now, ack.echo) {
            return;
        }
        self.recovery.on_syn_ack();
        self.timers.stop();
        if self.recovery.kind() == Recovery::LinuxNs2 {
            self.on_syn_ack_linux_ns2(now, ack);
        }
    }

    fn on_new_ack(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        let acked = ack.ack - self.window.una;
        let rtt = self.rtt.on_ack(now, ack.ack, ack.echo, self.recovery.is_partial(ack.ack));
        let signals = Signals { rtt, marked: ack.marked };
        self.window.acknowledge(ack.ack);
        self.recovery.on_new_ack(&self.window, acked, sack, self.rates.as_deref_mut());
        match self.recovery.phase() {
            Phase::Recovery => self.on_new_ack_in_recovery(now, acked, signals),
            Phase::Loss => self.on_new_ack_after_timeout(now, signals),
            _ => {
                self.recovery.on_new_ack_in_order();
                let reduces = self.rare.is_some() && self.follow_marks(now, acked, signals);
                if self.uses_window() && !self.is_rated() && !reduces {
                    self.grow(now, acked, self.inflight(), signals);
                }
                self.restart_timer(now);
            }
        }
        if self.window.is_done() {
            self.finish(now);
        }
    }

    fn on_new_ack_in_recovery(&mut self, now: Time, acked: u32, signals: Signals) {
        match self.recovery.on_new_ack_in_recovery(&self.window, acked) {
            Progress::Ended if self.recovers_again() => {
                self.recover_again(now);
                return;
            }
            Progress::Ended => {
                self.control.on_recovery_exit(now);
                if self.recovery.kind().counts_as_ns2() {
                    self.grow(now, acked, self.inflight(), signals);
                }
            }
            Progress::Partial { resets_timer, deflation } => {
                if deflation > 0 {
                    self.control.on_deflation(deflation);
                }
                if self.recovery.kind() == Recovery::SackNs2 {
                    self.rtt.estimator.end_backoff();
                }
                if !resets_timer {
                    return;
                }
            }
        }
        self.restart_timer(now);
    }

    fn on_new_ack_after_timeout(&mut self, now: Time, signals: Signals) {
        // RFC 3465 section 2.3: after a timeout the limit is one segment an acknowledgment, which may
        // cover much that had arrived before
        let counted = if self.control.grows_in_recovery() { self.recovery.newly() } else { 1 };
        if !self.is_rated() {
            self.grow(now, counted, self.inflight(), signals);
        }
        self.restart_timer(now);
        if self.recovery.on_new_ack_after_timeout(&self.window) {
            if self.recovers_again() {
                self.recover_again(now);
            } else {
                self.control.on_recovery_exit(now);
            }
        }
    }

    /// Whether the next recovery begins where this one ends, as in Linux. Departure: only of controls with a rate of
    /// their own, which go on sending while losses are repaired; of others the next begins with three duplicates.
    fn recovers_again(&self) -> bool {
        self.is_rated() && self.recovery.leaves_losses()
    }

    /// A recovery ends and the next begins. The control sees but a further loss: in Linux it looks at the connection's
    /// state once an acknowledgment.
    fn recover_again(&mut self, now: Time) {
        self.rtt.forget();
        self.report_congestion(now, self.recovery.loss_event());
        self.recovery.enter_again(&mut self.window);
        self.timers.start(now, self.rtt.estimator.rto());
    }

    #[inline(never)]
    fn on_duplicate(&mut self, now: Time, sack: &SackBlocks) {
        match self.recovery.on_duplicate(&self.window, sack, self.rates.as_deref_mut()) {
            Suspicion::Loss => self.enter_recovery(now),
            Suspicion::Reordering => self.timers.plan_reordering(now, &self.rtt.estimator),
            Suspicion::Nothing => {}
        }
    }

    /// A loss is detected: it is reported to the congestion control, and fast recovery begins.
    pub(super) fn enter_recovery(&mut self, now: Time) {
        self.rtt.forget();
        let event = self.recovery.loss_event();
        if !(self.leave_reduction() && event == CongestionEvent::Loss) {
            self.report_congestion(now, event);
        }
        self.recovery.enter(&mut self.window);
        self.timers.start(now, self.rtt.estimator.rto());
    }

    /// An acknowledgment came in fast recovery or in the round after a mark, or `begins` it.
    pub(super) fn follow_recovery(&mut self, now: Time, begins: bool, progress: bool) {
        self.recovery.reduce(&self.window, self.control.cwnd() as u32, progress);
        let newly = self.recovery.newly();
        if !begins && newly > 0 && self.control.grows_in_recovery() {
            let sample = self.sample(newly, self.inflight(), Signals::NONE);
            self.control.on_ack(now, &sample);
        }
    }

    pub(super) fn report_congestion(&mut self, now: Time, event: CongestionEvent) {
        let window = &self.window;
        // RFC 5681 section 3.2 step 2: what limited transmit sent beyond the window "MUST NOT be included"
        let flight = window.outstanding().min(window.cwnd.saturating_add(self.recovery.inflation()));
        let receive_window = window.advertised;
        self.control.on_congestion(now, &Congestion { event, flight, receive_window });
    }

    /// Reports an acknowledgment outside fast recovery to a congestion control that does not use rates; those that do get
    /// it by `report_rate`.
    #[inline(always)]
    pub(super) fn grow(&mut self, now: Time, acked: u32, inflight: u32, signals: Signals) {
        if self.window.cwnd < self.window.advertised || signals.marked {
            let sample = self.sample(acked, inflight, signals);
            self.control.on_ack(now, &sample);
        }
    }

    /// An acknowledgment has been read; before it, everything below `una` was acknowledged.
    pub(super) fn report_rate(&mut self, now: Time, una: u32) {
        let (inflight, losses) = (self.inflight(), self.recovery.losses());
        let Some(rates) = self.rates.as_deref_mut() else {
            return;
        };
        for seq in una..self.window.una {
            rates.on_delivered(seq);
        }
        let mut delivery = rates.take(now, losses);
        if let Some(pacer) = self.pacer.as_deref() {
            delivery.rate.until_release = pacer.release().saturating_since(now);
        }
        let signals = Signals { rtt: delivery.rtt, marked: false };
        let sample = self.sample(delivery.delivered, inflight, signals);
        self.control.on_ack(now, &AckSample { rate: Some(delivery.rate), ..sample });
        if let Some(pacer) = self.pacer.as_deref_mut() {
            pacer.keep_to(self.control.pacing());
        }
    }

    /// What a congestion control learns from an acknowledgment, except rates.
    #[inline(always)]
    pub(super) fn sample(&self, acked: u32, inflight: u32, signals: Signals) -> AckSample {
        AckSample {
            acked,
            rtt: signals.rtt,
            srtt: self.rtt.estimator.srtt(),
            inflight,
            una: self.window.una,
            sent_to: self.window.sent_to,
            marked: if signals.marked { acked } else { 0 },
            rate: None,
        }
    }

    /// Whether the window is used, so that it may grow.
    pub(super) fn uses_window(&self) -> bool {
        let bursts = self.bursts.as_deref();
        bursts.is_none_or(|bursts| bursts.fills(self.window.cwnd, self.control.ssthresh()))
    }

    /// Acknowledgments of `from` and more carry a window of `segments`. For connections with
    /// [`crate::TcpConfig::tuning`].
    pub fn note_window(&mut self, from: u32, segments: u32) {
        if let Some(advertised) = self.rare.as_deref_mut().and_then(|rare| rare.advertised.as_mut()) {
            advertised.push(from, segments);
        }
    }

    /// Adopts the window of an acknowledgment of this number. It never shrinks: an older acknowledgment that arrives
    /// late changes nothing.
    #[inline]
    fn take_advertised(&mut self, ack: u32) {
        let advertised = self.rare.as_deref_mut().and_then(|rare| rare.advertised.as_mut());
        if let Some(segments) = advertised.and_then(|advertised| advertised.take(ack)) {
            self.window.advertised = self.window.advertised.max(segments);
        }
    }
}
