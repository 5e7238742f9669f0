//! The sender: what may be sent and when, by RFC 5681, 6298, 6582, 6675 and 3042.
//!
//! Window growth belongs to a [`CongestionControl`]; this module detects losses and repairs them. One file a
//! family of recoveries: `counting` for those that count duplicate acknowledgements, `selective` for SACK. `rated`
//! serves the controls that ask for more than acknowledgements: the rate of delivery, and to be paced.
//!
//! Departures: no window is kept after idle times (senders here are bulk senders, so RFC 5681 section 4.1 does
//! not come up); no window growth while the receiver's window, not the congestion window, is the bound (RFC
//! 7661 section 4.4 in spirit; Linux alike).

mod counting;
mod rated;
mod reduction;
mod selective;
#[cfg(test)]
pub(crate) mod tests;
mod timers;

use bufferlab_congestion::{AckSample, AnyControl, Congestion, CongestionControl, CongestionEvent};
use bufferlab_units::{Span, Time};

use rated::Pace;
use reduction::Reduction;
use timers::Timer;

use crate::scoreboard::Scoreboard;
use crate::{Ack, Recovery, RttEstimator, SackBlocks, TcpConfig};

/// Duplicate acknowledgements that mean a loss (RFC 5681 section 3.2).
const DUP_ACKS: u32 = 3;

/// What a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens the connection.
    Syn,
    /// Data for the first time.
    New,
    /// Data again.
    Retransmission,
}

/// A segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Its number; 0 for a SYN.
    pub seq: u32,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started.
    Idle,
    /// The SYN is out.
    SynSent,
    /// No loss is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout (or Tahoe's loss), until all that was out then is acknowledged.
    Loss,
}

/// What a sender counts, from the run's start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions among them.
    pub sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries (for Tahoe: fast retransmits) entered.
    pub recoveries: u64,
    /// Sum of round-trip samples, ps.
    pub rtt_sum_ps: f64,
    /// Number of round-trip samples.
    pub rtt_samples: u64,
}

/// What an acknowledgement told beside its number.
#[derive(Clone, Copy)]
struct Told {
    rtt: Option<Span>,
    marked: bool,
}

/// A TCP sender. Its fields lie in the order below: what each acknowledgement touches comes first and fills few
/// cache lines, which decides the speed where there are thousands of flows.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// Nothing but `window_to` decides what is sent next.
    plain: bool,
    /// Open, with no duplicate counted and nothing to repair: what the next acknowledgement does is known.
    calm: bool,
    phase: Phase,
    timestamps: bool,
    /// What ns-2's `Agent/TCP/Sack1` does otherwise; see `selective`.
    ns2: bool,
    /// The scoreboard describes the outstanding segments.
    board_active: bool,
    /// Timers may run out before the retransmission timer (Linux).
    early: bool,
    /// What the timer is for.
    timer: Timer,
    /// A tail-loss probe is to be sent, whatever the window.
    probe_due: bool,
    /// The scoreboard decides what is sent next.
    repairs: bool,
    /// The control sets the pace, and is told rates.
    rated: bool,
    /// Duplicates count: something was acknowledged since the last timeout (ns-2).
    duplicates_count: bool,
    recovery: Recovery,
    /// The first segment not cumulatively acknowledged (RFC 9293's SND.UNA).
    una: u32,
    /// The next segment to send (SND.NXT); goes back after a timeout without SACK.
    nxt: u32,
    /// One more than the highest segment ever sent.
    sent_to: u32,
    /// One more than the last segment to send.
    limit: u32,
    receive_window: u32,
    /// The whole segments of the congestion window.
    cwnd_whole: u32,
    /// One more than the last segment that the windows admit; 0 before the connection is open.
    window_to: u32,
    /// Duplicate acknowledgements in a row.
    dup_acks: u32,
    timer_deadline: Time,
    /// When a segment that waits for its pace may go; [`Time::NEVER`] if none does.
    pace_deadline: Time,
    rtt: RttEstimator,
    /// The newest timestamp that came back.
    echoed: Time,
    counters: SenderCounters,
    board: Option<Box<Scoreboard>>,
    pace: Option<Box<Pace>>,
    control: AnyControl,
    /// The recovery ends when everything below is acknowledged (RFC 6582's and 6675's recover).
    recover: u32,
    /// One more than the last segment sent as a tail-loss probe.
    probed_to: u32,
    /// Segments that this acknowledgement reports for the first time; known where recovery uses SACK.
    newly: u32,
    /// How the window comes down in fast recovery (Linux).
    reduction: Reduction,
    /// Segments that fast recovery adds to the window (RFC 5681 section 3.2 steps 3 and 4).
    inflation: u32,
    /// ns-2's count of segments in the network during fast recovery; may pass below zero.
    counted_pipe: i64,
    limited_transmit: bool,
    handshake: bool,
    /// The first outstanding segment (or the SYN) must be sent again, whatever the window.
    resend_first: bool,
    /// The first partial acknowledgement of this recovery has come (RFC 6582 step 3).
    partial_seen: bool,
    /// RFC 6675's rescue retransmission was used in this recovery.
    rescued: bool,
    /// The segment being timed and when it was sent (no timestamps).
    timed: Option<(u32, Time)>,
    finished: Time,
}

impl Sender {
    /// The sender of a connection that has not started.
    pub fn new(config: &TcpConfig, control: AnyControl) -> Sender {
        let rated = control.wants_rate();
        debug_assert!(!rated || config.recovery.computes_pipe(), "rates need RFC 6675's scoreboard");
        Sender {
            pace: rated.then(|| Box::new(Pace::new(&control))),
            rated,
            control,
            una: 0,
            nxt: 0,
            sent_to: 0,
            limit: config.transfer_segments,
            recover: 0,
            dup_acks: 0,
            newly: 0,
            reduction: Reduction::default(),
            inflation: 0,
            counted_pipe: 0,
            receive_window: config.receive_window.max(1),
            phase: Phase::Idle,
            recovery: config.recovery,
            ns2: config.recovery == Recovery::SackNs2,
            duplicates_count: true,
            limited_transmit: config.limited_transmit,
            handshake: config.handshake,
            timestamps: config.timestamps,
            resend_first: false,
            partial_seen: false,
            rescued: false,
            board_active: false,
            rtt: RttEstimator::new(config.initial_rto, config.min_rto, config.max_rto, config.clock)
                .with_margin(config.rto_margin),
            timer_deadline: Time::NEVER,
            timer: Timer::Retransmission,
            early: config.recovery == Recovery::Linux,
            probe_due: false,
            probed_to: 0,
            pace_deadline: Time::NEVER,
            echoed: Time::NEVER,
            cwnd_whole: 0,
            window_to: 0,
            repairs: false,
            plain: true,
            calm: false,
            timed: None,
            finished: Time::NEVER,
            board: None,
            counters: SenderCounters::default(),
        }
    }

    /// Opens the connection.
    pub fn start(&mut self) {
        debug_assert_eq!(self.phase, Phase::Idle);
        self.phase = if self.handshake { Phase::SynSent } else { Phase::Open };
        self.resend_first = self.handshake;
        self.refresh();
    }

    /// No new data from now on; what is outstanding is still repaired.
    pub fn stop(&mut self) {
        self.limit = self.limit.min(self.sent_to);
        self.refresh();
    }

    /// The next segment to send now, if the windows allow one.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if !self.plain {
            return if self.rated { self.poll_paced(now) } else { self.poll_in_repair(now) };
        }
        let segment = self.next_in_window()?;
        self.on_sent(now, segment);
        Some(segment)
    }

    /// Whether [`Sender::poll_transmit`] may have something: exact while nothing is being repaired, else yes.
    #[inline]
    pub fn may_send(&self) -> bool {
        !self.plain || self.nxt < self.window_to
    }

    #[inline(never)]
    fn poll_in_repair(&mut self, now: Time) -> Option<Segment> {
        let segment = self.next_in_repair()?;
        self.on_sent(now, segment);
        if self.phase == Phase::Recovery {
            self.reduction.on_sent();
        }
        Some(segment)
    }

    fn next_in_repair(&mut self) -> Option<Segment> {
        if self.resend_first {
            return Some(self.take_first());
        }
        if self.probe_due {
            return Some(self.take_probe());
        }
        match self.recovery {
            Recovery::SackNs2 => self.next_selective_ns2(),
            _ => self.next_selective(),
        }
    }

    /// Brings `cwnd_whole`, `window_to`, `plain` and `calm` up to date after a change of state.
    fn refresh(&mut self) {
        self.cwnd_whole = self.control.cwnd() as u32;
        self.repairs = self.resend_first
            || self.probe_due
            || match self.recovery {
                Recovery::Sack | Recovery::Linux => self.board_active,
                Recovery::SackNs2 => self.phase == Phase::Recovery,
                _ => false,
            };
        self.plain = !(self.repairs || self.rated);
        self.calm = self.plain && self.is_steady();
        self.window_to = match self.phase {
            Phase::Idle | Phase::SynSent => 0,
            _ => self.window_end().min(self.limit),
        };
    }

    /// No loss is being repaired, nor suspected.
    #[inline]
    fn is_steady(&self) -> bool {
        self.phase == Phase::Open && self.dup_acks == 0 && !self.board_active && !self.repairs
    }

    fn take_first(&mut self) -> Segment {
        self.resend_first = false;
        self.refresh();
        if self.phase == Phase::SynSent {
            return Segment { kind: SegmentKind::Syn, seq: 0 };
        }
        if let Some(board) = self.board.as_deref_mut().filter(|_| self.board_active) {
            board.on_retransmit(self.una);
        }
        self.nxt = self.nxt.max(self.una + 1);
        Segment { kind: SegmentKind::Retransmission, seq: self.una }
    }

    /// One more than the last segment that the windows admit.
    #[inline]
    fn window_end(&self) -> u32 {
        let extra = if self.limited_transmit
            && (self.phase == Phase::Open || self.ns2 && self.phase == Phase::Loss)
        {
            self.dup_acks.min(DUP_ACKS - 1)
        } else {
            self.inflation
        };
        let congestion = self.cwnd_whole.saturating_add(extra);
        self.una.saturating_add(congestion.min(self.receive_window))
    }

    #[inline]
    fn next_in_window(&mut self) -> Option<Segment> {
        let seq = self.nxt;
        if seq >= self.window_to {
            return None;
        }
        self.nxt += 1;
        let kind = if seq < self.sent_to { SegmentKind::Retransmission } else { SegmentKind::New };
        Some(Segment { kind, seq })
    }

    #[inline]
    fn on_sent(&mut self, now: Time, segment: Segment) {
        match segment.kind {
            SegmentKind::Syn => {}
            SegmentKind::New => {
                self.sent_to = segment.seq + 1;
                self.counters.sent += 1;
                if self.board_active
                    && let Some(board) = self.board.as_deref_mut()
                {
                    board.on_new();
                }
                if !self.timestamps && self.timed.is_none() {
                    self.timed = Some((segment.seq, now));
                }
            }
            SegmentKind::Retransmission => {
                self.counters.sent += 1;
                self.counters.retransmissions += 1;
                // Karn's rule (RFC 6298 section 3): the acknowledgement of a retransmitted segment is no sample.
                // ns-2 ends a timing only where a recovery starts and at a timeout.
                if !self.ns2 {
                    self.timed = None;
                }
            }
        }
        if self.timer_deadline == Time::NEVER {
            self.timer_deadline = now + self.rtt.rto();
        }
    }

    /// An acknowledgement came, with its SACK blocks.
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
            self.finished = self.finished.min(now);
        }
        let (cwnd, whole) = (self.control.cwnd(), f64::from(self.cwnd_whole));
        // asked by a branch, which is nearly always right, so that the window need not wait for the division that
        // makes it grow
        if cwnd < whole || cwnd >= whole + 1.0 {
            self.cwnd_whole = cwnd as u32;
        }
        self.window_to = self.una.saturating_add(self.cwnd_whole.min(self.receive_window)).min(self.limit);
    }

    /// By value, so that the usual acknowledgement stays in registers.
    #[inline(never)]
    fn on_any_ack(&mut self, now: Time, ack: Ack, sack: &SackBlocks) {
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

    /// An acknowledgement came in fast recovery, or began it.
    fn follow_recovery(&mut self, now: Time, begins: bool, progress: bool) {
        if self.recovery == Recovery::Linux {
            let (pipe, target) = (self.inflight(), self.control.cwnd() as u32);
            self.reduction.on_ack(self.newly, pipe, target, progress);
        }
        if !begins && self.newly > 0 && self.control.grows_in_recovery() {
            let (inflight, newly) = (self.inflight(), self.newly);
            self.tell_of(now, newly, inflight, Told { rtt: None, marked: false });
        }
    }

    fn on_syn_ack(&mut self, now: Time, ack: &Ack) {
        if self.phase != Phase::SynSent {
            return;
        }
        self.phase = Phase::Open;
        self.resend_first = false;
        self.timer_deadline = Time::NEVER;
        // Karn's rule: without timestamps, the answer to a repeated SYN is no sample
        if self.timestamps || self.rtt.backoff() == 0 {
            self.take_sample(ack.echo, now);
        }
        if !self.ns2 {
            self.rtt.end_backoff();
        }
    }

    fn on_new_ack(&mut self, now: Time, ack: &Ack, sack: &SackBlocks) {
        let acked = ack.ack - self.una;
        let told = Told { rtt: self.sample_rtt(now, ack), marked: ack.marked };
        self.una = ack.ack;
        self.nxt = self.nxt.max(ack.ack);
        self.duplicates_count = true;
        self.newly = if self.board_active { 0 } else { acked };
        if self.board_active || ack.has_sack {
            self.update_or_forget_board(sack);
        }
        match self.phase {
            Phase::Recovery => self.on_new_ack_in_recovery(now, acked),
            Phase::Loss => {
                // RFC 3465 section 2.3: after a timeout the limit is one segment an acknowledgement, which may
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
                self.grow(now, acked, self.inflight(), told);
                self.restart_timer(now);
            }
        }
        if self.una >= self.limit {
            self.finished = self.finished.min(now);
        }
    }

    fn on_new_ack_in_recovery(&mut self, now: Time, acked: u32) {
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
                // RFC 6582 section 3.2 step 3: only the first partial acknowledgement resets the timer
                if first {
                    self.restart_timer(now);
                }
            }
            Recovery::SackNs2 => {
                // ns-2: one for the acknowledgement, one for the retransmission that it answers
                self.counted_pipe -= 2;
                self.rtt.end_backoff();
                self.restart_timer(now);
            }
            _ => self.restart_timer(now),
        }
    }

    #[inline(never)]
    fn on_duplicate(&mut self, now: Time, sack: &SackBlocks) {
        if self.recovery.uses_sack() {
            self.on_duplicate_selective(now, sack);
        } else {
            self.on_duplicate_counting(now);
        }
    }

    /// The retransmission timer may have run out.
    pub fn on_timer(&mut self, now: Time) {
        if now >= self.pace_deadline {
            self.pace_deadline = Time::NEVER;
        }
        if now < self.timer_deadline {
            return;
        }
        if self.timer != Timer::Retransmission {
            self.on_early_timer(now);
            return;
        }
        if self.phase == Phase::SynSent {
            self.rtt.back_off();
            self.tell_control(now, CongestionEvent::SynTimeout);
            self.resend_first = true;
        } else if self.una < self.sent_to {
            self.on_timeout(now);
        } else {
            self.timer_deadline = Time::NEVER;
            return;
        }
        self.timer_deadline = now + self.rtt.rto();
        self.refresh();
    }

    /// RFC 5681 section 3.1 and RFC 6298 section 5: slow start from one segment; RFC 6582 section 3.2 and RFC
    /// 6675 section 5.1: no fast recovery until all that is out now is acknowledged.
    fn on_timeout(&mut self, now: Time) {
        self.counters.timeouts += 1;
        let repeated = self.rtt.backoff() > 0;
        self.tell_control(now, CongestionEvent::Timeout { repeated });
        self.rtt.back_off();
        self.timed = None;
        self.phase = Phase::Loss;
        // ns-2 asks for an acknowledgement beyond, not of, what was out
        self.recover = self.sent_to + u32::from(self.ns2);
        self.duplicates_count = false;
        (self.dup_acks, self.inflation, self.resend_first) = (0, 0, false);
        if self.recovery.computes_pipe() {
            self.activate_board().mark_all_lost();
        } else {
            self.board_active = false;
            self.nxt = self.una;
        }
    }

    fn tell_control(&mut self, now: Time, event: CongestionEvent) {
        // RFC 5681 section 3.2 step 2: what limited transmit sent beyond the window "MUST NOT be included"
        let flight = (self.sent_to - self.una).min(self.cwnd_whole.saturating_add(self.inflation));
        let receive_window = self.receive_window;
        self.control.on_congestion(now, &Congestion { event, flight, receive_window });
    }

    /// Tells the control of an acknowledgement outside of fast recovery. Controls that want rates are told by
    /// `tell_rate` instead.
    #[inline(always)]
    fn grow(&mut self, now: Time, acked: u32, inflight: u32, told: Told) {
        if (self.cwnd_whole < self.receive_window || told.marked) && !self.rated {
            self.tell_of(now, acked, inflight, told);
        }
    }

    #[inline(always)]
    fn tell_of(&mut self, now: Time, acked: u32, inflight: u32, told: Told) {
        let sample = AckSample {
            acked,
            rtt: told.rtt,
            srtt: self.rtt.srtt(),
            inflight,
            una: self.una,
            sent_to: self.sent_to,
            marked: if told.marked { acked } else { 0 },
            rate: None,
        };
        self.control.on_ack(now, &sample);
    }

    /// Takes the round-trip sample that an acknowledgement gives, if it gives one; exact, whatever the clock.
    #[inline(always)]
    fn sample_rtt(&mut self, now: Time, ack: &Ack) -> Option<Span> {
        self.echoed = ack.echo;
        let mut sent_at = None;
        if self.timestamps {
            // which ends a backoff too
            self.take_sample(ack.echo, now);
            return Some(now.saturating_since(ack.echo));
        }
        if let Some((seq, sent)) = self.timed {
            // ns-2 takes no sample from a partial acknowledgement
            if ack.ack > seq && !(self.ns2 && self.phase == Phase::Recovery && ack.ack < self.recover) {
                self.timed = None;
                self.take_sample(sent, now);
                sent_at = Some(sent);
            }
        }
        // ns-2's backoff ends only with a sample
        if !self.ns2 {
            self.rtt.end_backoff();
        }
        sent_at.map(|sent| now.saturating_since(sent))
    }

    #[inline(always)]
    fn take_sample(&mut self, sent: Time, now: Time) {
        let sample = self.rtt.sample(sent, now);
        self.rtt.update(sample);
        // signed, which is one instruction
        self.counters.rtt_sum_ps += sample.as_ps().cast_signed() as f64;
        self.counters.rtt_samples += 1;
    }

    /// RFC 6298 section 5, (5.2) and (5.3).
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        let idle = self.una == self.sent_to;
        self.timer_deadline = if idle { Time::NEVER } else { now + self.rtt.rto() };
        if self.early {
            self.set_probe_timer(now);
        }
    }

    /// When [`Sender::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timer_deadline.min(self.pace_deadline)
    }

    /// Whether a segment that waited for its pace may go: nobody's answer, but what was decided before.
    #[inline]
    pub fn is_released(&self, now: Time) -> bool {
        now >= self.pace_deadline
    }

    /// The congestion window, segments, with the segments that fast recovery adds, or has not yet taken.
    pub fn cwnd(&self) -> f64 {
        if self.phase == Phase::Recovery && self.recovery == Recovery::Linux && !self.rated {
            return f64::from(self.reduction.window);
        }
        self.control.cwnd() + f64::from(self.inflation)
    }

    /// The slow-start threshold, segments.
    pub fn ssthresh(&self) -> f64 {
        self.control.ssthresh()
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.rtt.srtt()
    }

    /// How long ago the newest timestamp was sent that has come back; zero before the first.
    #[inline]
    pub fn echo_age(&self, now: Time) -> Span {
        now.saturating_since(self.echoed)
    }

    /// Segments believed to be in the network: RFC 6675's `Pipe` with SACK, else what is outstanding.
    pub fn inflight(&self) -> u32 {
        match self.board.as_deref() {
            Some(board) if self.board_active && self.recovery.computes_pipe() => board.pipe(),
            _ if self.phase == Phase::Recovery && self.recovery == Recovery::SackNs2 => {
                self.counted_pipe.max(0) as u32
            }
            _ => self.nxt - self.una,
        }
    }

    /// What was counted from the run's start.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// When the last byte of a transfer was acknowledged, or [`Time::NEVER`].
    pub fn finished(&self) -> Time {
        self.finished
    }
}
