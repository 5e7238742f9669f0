//! What happens when a timer runs out.
//!
//! Departure: RFC 6298 (5.7), 3 s after a lost SYN, holds without timestamps; with them the answer to the SYN is a
//! sample, which sets the timeout as in Linux (`tcp_init_metrics`).

use bufferlab_congestion::CongestionEvent;
use bufferlab_units::Time;

use super::Sender;
use super::timers::Timer;
use crate::Recovery;
use crate::recovery::Phase;

impl Sender {
    /// A timer may have run out.
    pub fn on_timer(&mut self, now: Time) {
        match self.timers.expire(now) {
            Some(_) if self.recovery.kind() == Recovery::Quic && self.recovery.phase() != Phase::SynSent => {
                self.on_timer_quic(now);
            }
            Some(Timer::Retransmission) => self.on_retransmission_timer(now),
            Some(timer) => self.on_early_timer(now, timer),
            None => {}
        }
    }

    /// When [`Sender::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers.next()
    }

    /// Whether a segment that waited for its pace may leave. It answers nothing: it was decided on before.
    #[inline]
    pub fn is_released(&self, now: Time) -> bool {
        self.timers.is_released(now)
    }

    fn on_retransmission_timer(&mut self, now: Time) {
        if self.opens_late() {
            return;
        }
        if self.recovery.phase() == Phase::SynSent {
            self.rtt.estimator.back_off();
            // RFC 9002 section 6.2: a probe timeout "does not indicate packet loss"
            if self.recovery.kind() != Recovery::Quic {
                self.report_congestion(now, CongestionEvent::SynTimeout);
            }
            self.recovery.on_syn_timeout();
        } else if self.window.outstanding() > 0 {
            let is_linux_ns2 = self.recovery.kind() == Recovery::LinuxNs2;
            // `enter_loss` asks for a threshold at each timeout
            let repeated = self.rtt.estimator.backoff() > 0 && !is_linux_ns2;
            self.leave_reduction();
            self.report_congestion(now, CongestionEvent::Timeout { repeated });
            self.rtt.estimator.back_off();
            self.rtt.forget();
            self.recovery.on_timeout(&mut self.window);
        } else {
            self.timers.stop();
            return;
        }
        self.timers.start(now, self.rtt.estimator.rto());
        self.refresh();
        if self.recovery.kind() == Recovery::LinuxNs2 {
            self.recovery.offer(&self.window);
        }
    }

    /// A timer that precedes the retransmission timer, which is started again.
    fn on_early_timer(&mut self, now: Time, timer: Timer) {
        self.timers.start(now, self.rtt.estimator.rto());
        if timer == Timer::Probe {
            self.timers.probe_due = true;
        } else if self.recovery.is_reordered() {
            let losses = self.recovery.losses();
            self.recovery.begin_ack();
            self.enter_recovery(now);
            self.follow_recovery(now, true, self.recovery.losses() == losses);
        }
        self.refresh();
    }

    /// New data was acknowledged.
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, now: Time) {
        let rto = self.rtt.estimator.rto();
        self.timers.restart(now, rto, self.window.outstanding());
        if self.recovery.kind() == Recovery::Linux {
            let quiet = self.recovery.is_quiet();
            self.timers.plan_probe(now, quiet, &self.window, &self.rtt.estimator);
        }
    }
}
