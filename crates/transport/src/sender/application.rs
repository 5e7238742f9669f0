//! The application: it has more to send, or opens another connection.

use bufferlab_congestion::CongestionControl;
use bufferlab_units::Time;

use super::Sender;
use super::pacer::Pacer;
use super::timers::Timers;
use crate::delivery::DeliveryRate;
use crate::recovery::Phase;

impl Sender {
    /// The application has `segments` more to send, or without end, from now on.
    pub fn resume(&mut self, now: Time, segments: Option<u32>) {
        let window = &mut self.window;
        window.limit = segments.map_or(u32::MAX, |segments| window.sent_to.saturating_add(segments));
        self.finished = Time::NEVER;
        let idle = self.window.sent_to > 0 && self.window.outstanding() == 0;
        if self.recovery.phase() == Phase::Open && idle {
            self.go_on_after_idle(now);
        }
        self.recovery.let_out();
        self.refresh();
    }

    /// The application has `segments` in all, from the connection's start on.
    pub fn allow(&mut self, segments: u32) {
        self.window.limit = segments;
        self.finished = Time::NEVER;
        self.recovery.let_out();
        self.refresh();
    }

    /// Opens a new connection, which has `segments` to send; everything of the last one is acknowledged. Numbers
    /// go on, so that what is left of it in the network means nothing to the new one.
    pub fn reconnect(&mut self, now: Time, segments: u32) {
        debug_assert_eq!(self.window.outstanding(), 0);
        let Some((control, estimator)) = self.bursts.as_deref_mut().and_then(|bursts| bursts.reconnect(now))
        else {
            return;
        };
        if let Some(rates) = self.rates.as_deref_mut() {
            *rates = DeliveryRate::new();
        }
        if let Some(pacer) = self.pacer.as_deref_mut() {
            *pacer = Pacer::new(control.pacing());
        }
        self.control = control;
        self.rtt.restart(estimator);
        // a receiver learns of a connection by its SYN
        if self.handshake
            && let Some(advertised) = self.rare.as_deref_mut().and_then(|rare| rare.advertised.as_mut())
        {
            self.window.advertised = advertised.restart();
        }
        self.leave_reduction();
        self.window.go_back();
        self.recovery.restart(self.window.una);
        self.timers = Timers::new(self.window.una);
        self.window.limit = self.window.sent_to.saturating_add(segments);
        self.finished = Time::NEVER;
        self.start();
    }

    fn go_on_after_idle(&mut self, now: Time) {
        if let Some(bursts) = self.bursts.as_deref_mut() {
            let idle = bursts.resume(now, self.rtt.estimator.rto(), self.window.cwnd);
            self.control.on_idle(now, &idle);
        }
    }

    /// Everything is acknowledged: a transfer is done, or a burst, which a timer that expires at once reports to the
    /// host.
    #[cold]
    pub(super) fn finish(&mut self, now: Time) {
        if self.bursts.is_some() && self.finished == Time::NEVER {
            self.timers.ring(now);
        }
        self.finished = self.finished.min(now);
    }
}
