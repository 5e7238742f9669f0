//! An acknowledgment as ns-2's `Agent/TCP/Linux` takes it (2.35, `tcp/tcp-linux.cc`, `recv`): the timer first, then the
//! control, which may let the window grow also while a timeout is repaired, and then what was lost.

use bufferlab_congestion::{CongestionControl, CongestionEvent, KernelAck};
use bufferlab_units::Time;

use super::Sender;
use super::acks::Signals;
use crate::recovery::Phase;
use crate::{Ack, SackBlocks};

impl Sender {
    #[inline(never)]
    pub(super) fn on_ack_linux_ns2(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        let before = self.window.una;
        let is_stale = ack.ack < before || ack.ack > self.window.sent_to;
        if is_stale || matches!(self.recovery.phase(), Phase::Idle | Phase::SynSent) {
            return;
        }
        let (acked, prior_inflight) = (ack.ack - before, self.inflight());
        if acked > 0 {
            self.window.acknowledge(ack.ack);
        }
        let news = self.recovery.take_ack_linux_ns2(&self.window, acked, sack);
        let rtt = self.rtt.on_any_ack(now, ack.ack, ack.echo, acked > 0);
        self.timers.restart(now, self.rtt.estimator.rto(), self.window.outstanding());
        let phase = self.recovery.phase();
        let is_sure = acked > 0 && !news.resent;
        self.control.on_kernel_ack(
            now,
            &KernelAck {
                sample: self.sample(acked, self.inflight(), Signals { rtt, marked: ack.marked }),
                prior_inflight,
                open: phase == Phase::Open,
                sacked: news.sacked,
                grows: acked > 0 && phase != Phase::Recovery,
                exact: is_sure.then(|| now.saturating_since(self.recovery.acknowledged_departure())),
            },
        );
        if self.recovery.is_over_linux_ns2(&self.window) {
            self.leave_recovery_linux_ns2(now);
        } else if news.lost && phase != Phase::Recovery {
            self.rtt.forget();
            self.recovery.enter_linux_ns2(&self.window, self.control.cwnd() as u32);
            self.report_congestion(now, CongestionEvent::Loss);
        }
        if self.window.is_done() {
            self.finish(now);
        }
        self.refresh();
        self.recovery.offer(&self.window);
    }

    /// The SYN is a packet like others there: its answer is the control's first acknowledgment, and as the packet has no
    /// payload its round trip is the shortest.
    #[inline(never)]
    pub(super) fn on_syn_ack_linux_ns2(&mut self, now: Time, ack: &Ack) {
        let rtt = Some(now.saturating_since(ack.echo));
        let sample = self.sample(1, 0, Signals { rtt, marked: false });
        let (prior_inflight, open, sacked, grows) = (self.inflight() + 1, true, false, true);
        self.control
            .on_kernel_ack(now, &KernelAck { sample, prior_inflight, open, sacked, grows, exact: rtt });
        self.refresh();
        self.recovery.offer(&self.window);
    }

    fn leave_recovery_linux_ns2(&mut self, now: Time) {
        let most = self.recovery.end_linux_ns2(&self.window);
        let ssthresh = self.control.ssthresh();
        if self.control.cwnd() < ssthresh {
            self.control.adopt(ssthresh.min(f64::from(most)) as u32);
        }
        self.control.on_recovery_exit(now);
    }

    /// What is sent waits for a random time, and [`Sender::end_delay`] says when that is over.
    pub fn expect_delays(&mut self) {
        if self.recovery.kind() == crate::Recovery::LinuxNs2 {
            self.recovery.expect_delays();
        }
    }

    /// The time is over for which what is to be sent had to wait.
    pub fn end_delay(&mut self) {
        if self.recovery.kind() == crate::Recovery::LinuxNs2 {
            self.recovery.end_delay(&self.window);
            self.restore_after_delay();
        }
    }

    /// What is admitted when a delay ends is sent at once; after the last of it, the window that it began with comes back.
    #[inline(never)]
    pub(super) fn restore_after_delay(&mut self) {
        if let Some(window) = self.recovery.restore(&self.window) {
            self.control.adopt(window);
            self.refresh();
        }
    }
}
