//! What an acknowledgment does: the window grows, a recovery goes on or ends, the control is told.

use bufferlab_congestion::{AckSample, Congestion, CongestionControl, CongestionEvent};
use bufferlab_units::{Span, Time};

use super::{Phase, Sender, Told};
use crate::{Ack, Recovery, SackBlocks};

impl Sender {
    /// An acknowledgment came, with its SACK blocks.
    ///
    /// Nearly all of them move a calm sender on. The few steps that this takes are those of `on_any_ack` and
    /// `refresh` without what is known not to matter.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        if !self.calm || ack.has_sack || ack.ack <= self.una || ack.ack > self.sent_to {
            self.on_any_ack(now, *ack, sack);
            return;
        }
        let acked = ack.ack - self.una;
        let rtt = self.sample_rtt(now, ack);
        self.una = ack.ack;
        self.nxt = self.nxt.max(ack.ack);
        self.duplicates_count = true;
        self.grow(now, acked, self.nxt - self.una, Told { rtt, marked: ack.marked });
        self.restart_timer(now);
        if self.una >= self.limit {
            self.finish(now);
        }
        let (cwnd, whole) = (self.control.cwnd(), f64::from(self.cwnd_whole));
        // asked by a branch, which is nearly always right, so that the window need not wait for the division that
        // makes it grow
        if cwnd < whole || cwnd >= whole + 1.0 {
            self.cwnd_whole = cwnd as u32;
        }
        self.window_to = self.una.saturating_add(self.cwnd_whole.min(self.receive_window)).min(self.limit);
    }

    /// By value, so that the usual acknowledgment stays in registers.
    #[inline(never)]
    pub(super) fn on_any_ack(&mut self, now: Time, ack: Ack, sack: &SackBlocks) {
        if self.tuned {
            self.take_window(ack.ack);
        }
        let is_new = ack.ack > self.una && ack.ack <= self.sent_to;
        if self.rated && self.is_steady() && is_new && !ack.has_sack {
            self.on_steady_ack(now, &ack);
            return;
        }
        let (una, losses) = (self.una, self.losses());
        let was_open = self.phase != Phase::Recovery;
        self.newly = 0;
        if is_new {
            self.on_new_ack(now, &ack, sack);
        } else if ack.syn {
            self.on_syn_ack(now, &ack);
        } else if ack.ack == self.una && self.una < self.sent_to && self.phase != Phase::SynSent {
            self.on_duplicate(now, sack);
        }
        if self.rated {
            self.tell_rate(now, una);
        } else if self.phase == Phase::Recovery {
            self.follow_recovery(now, was_open, self.una > una && self.losses() == losses);
        }
        self.refresh();
    }

    /// An acknowledgment came in fast recovery, or began it.
    pub(super) fn follow_recovery(&mut self, now: Time, begins: bool, progress: bool) {
        if self.recovery == Recovery::Linux {
            let (pipe, target) = (self.inflight(), self.control.cwnd() as u32);
            self.reduction.on_ack(self.newly, pipe, target, progress);
        }
        if !begins && self.newly > 0 && self.control.grows_in_recovery() {
            let (inflight, newly) = (self.inflight(), self.newly);
            let sample = self.sample(newly, inflight, Told { rtt: None, marked: false });
            self.control.on_ack(now, &sample);
        }
    }

    pub(super) fn on_syn_ack(&mut self, now: Time, ack: &Ack) {
        // an answer to another connection's SYN is none
        let stale = self.bursts.as_deref().is_some_and(|bursts| ack.echo < bursts.opened);
        if self.phase != Phase::SynSent || stale {
            return;
        }
        self.phase = Phase::Open;
        self.resend_first = false;
        self.timer_deadline = Time::NEVER;
        // Karn's rule: without timestamps, the answer to a repeated SYN is no sample
        if self.timestamps || self.rtt.backoff() == 0 {
            self.take_sample(ack.echo, now);
        } else if !self.ns2 {
            self.rtt.fall_back();
        }
        if !self.ns2 {
            self.rtt.end_backoff();
        }
    }

    pub(super) fn on_new_ack(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        let acked = ack.ack - self.una;
        let told = Told { rtt: self.sample_rtt(now, ack), marked: ack.marked };
        self.una = ack.ack;
        self.nxt = self.nxt.max(ack.ack);
        self.duplicates_count = true;
        // what was to be sent again has come: a host that takes its time may not have sent it yet
        self.resend_first = false;
        self.newly = if self.board_active { 0 } else { acked };
        if self.board_active || ack.has_sack {
            self.update_or_forget_board(sack);
        }
        match self.phase {
            Phase::Recovery => self.on_new_ack_in_recovery(now, acked),
            Phase::Loss => {
                // RFC 3465 section 2.3: after a timeout the limit is one segment an acknowledgment, which may
                // cover much that had arrived before
                let counted = if self.control.grows_in_recovery() { self.newly } else { 1 };
                self.grow(now, counted, self.inflight(), told);
                self.dup_acks = 0;
                self.restart_timer(now);
                if self.una >= self.recover {
                    self.phase = Phase::Open;
                    self.control.on_recovery_exit(now);
                }
            }
            _ => {
                self.dup_acks = 0;
                if self.uses_window() {
                    self.grow(now, acked, self.inflight(), told);
                }
                self.restart_timer(now);
            }
        }
        if self.una >= self.limit {
            self.finish(now);
        }
    }

    pub(super) fn on_new_ack_in_recovery(&mut self, now: Time, acked: u32) {
        let ends = self.una >= self.recover || self.recovery == Recovery::Reno;
        if ends {
            self.phase = Phase::Open;
            (self.dup_acks, self.inflation) = (0, 0);
            self.control.on_recovery_exit(now);
            self.restart_timer(now);
            return;
        }
        let first = !self.partial_seen;
        self.partial_seen = true;
        match self.recovery {
            Recovery::NewReno => {
                self.on_partial_ack(acked);
                // RFC 6582 section 3.2 step 3: only the first partial acknowledgment resets the timer
                if first {
                    self.restart_timer(now);
                }
            }
            Recovery::SackNs2 => {
                // ns-2: one for the acknowledgment, one for the retransmission that it answers
                self.counted_pipe -= 2;
                self.rtt.end_backoff();
                self.restart_timer(now);
            }
            _ => self.restart_timer(now),
        }
    }

    #[inline(never)]
    pub(super) fn on_duplicate(&mut self, now: Time, sack: &SackBlocks) {
        if self.recovery.uses_sack() {
            self.on_duplicate_selective(now, sack);
        } else {
            self.on_duplicate_counting(now);
        }
    }

    pub(super) fn tell_control(&mut self, now: Time, event: CongestionEvent) {
        // RFC 5681 section 3.2 step 2: what limited transmit sent beyond the window "MUST NOT be included"
        let flight = (self.sent_to - self.una).min(self.cwnd_whole.saturating_add(self.inflation));
        let receive_window = self.receive_window;
        self.control.on_congestion(now, &Congestion { event, flight, receive_window });
    }

    /// Tells the control of an acknowledgment outside of fast recovery. Controls that want rates are told by
    /// `tell_rate` instead.
    #[inline(always)]
    pub(super) fn grow(&mut self, now: Time, acked: u32, inflight: u32, told: Told) {
        if (self.cwnd_whole < self.receive_window || told.marked) && !self.rated {
            let sample = self.sample(acked, inflight, told);
            self.control.on_ack(now, &sample);
        }
    }

    /// What an acknowledgment tells a control, but for rates.
    #[inline(always)]
    pub(super) fn sample(&self, acked: u32, inflight: u32, told: Told) -> AckSample {
        AckSample {
            acked,
            rtt: told.rtt,
            srtt: self.rtt.srtt(),
            inflight,
            una: self.una,
            sent_to: self.sent_to,
            marked: if told.marked { acked } else { 0 },
            rate: None,
        }
    }

    /// Takes the round-trip sample that an acknowledgment gives, if it gives one; exact, whatever the clock.
    #[inline(always)]
    pub(super) fn sample_rtt(&mut self, now: Time, ack: &Ack) -> Option<Span> {
        self.echoed = ack.echo;
        if self.timestamps {
            // which ends a backoff too
            self.take_sample(ack.echo, now);
            return Some(now.saturating_since(ack.echo));
        }
        // ns-2 takes no sample from a partial acknowledgment
        let partial = self.ns2 && self.phase == Phase::Recovery && ack.ack < self.recover;
        let timed = self.timed.take_if(|(seq, _)| ack.ack > *seq && !partial);
        if let Some((_, sent)) = timed {
            self.take_sample(sent, now);
        }
        // ns-2's backoff ends only with a sample
        if !self.ns2 {
            self.rtt.end_backoff();
        }
        timed.map(|(_, sent)| now.saturating_since(sent))
    }

    #[inline(always)]
    pub(super) fn take_sample(&mut self, sent: Time, now: Time) {
        let sample = self.rtt.sample(sent, now);
        self.rtt.update(sample);
        // signed, which is one instruction
        self.counters.rtt_sum_ps += sample.as_ps().cast_signed() as f64;
        self.counters.rtt_samples += 1;
    }
}
