//! Recovery as QUIC has it: RFC 9002. What is lost is the ledger's; here are the round-trip times that this needs, the
//! recovery period, the probes, and what is sent next. The timer and the congestion control are the sender's (`sender::quic`).
//!
//! Departures:
//! - acknowledgments report what has arrived by a number and three ranges, as TCP's do, where an ACK frame has as many as
//!   there are (RFC 9000 section 19.3): the newest ranges come first and each is repeated, so what they leave out matters
//!   only where several acknowledgments in a row are lost;
//! - there is one packet number space, and the handshake is a round trip (`sender`).

use std::iter;

use bufferlab_units::{Span, Time};

use super::ledger::{Arrived, Ledger, Losses};
use super::{LossRecovery, Phase};
use crate::delivery::DeliveryRate;
use crate::segment::{Segment, SegmentKind};
use crate::window::SendWindow;
use crate::{Ack, RttEstimator, SackBlocks};

/// RFC 9002 section 6.1.2, `kTimeThreshold`: 9/8 of a round-trip time.
const TIME_THRESHOLD: (u64, u64) = (9, 8);
/// Section 6.1.2, `kGranularity`: "The RECOMMENDED value of the timer granularity (kGranularity) is 1 millisecond."
const GRANULARITY: Span = Span::from_ms(1);
/// Section 6.2.4: "An endpoint MAY send up to two full-sized datagrams" when the probe timeout expires.
const PROBES: u32 = 2;
/// Section 7.6.1, `kPersistentCongestionThreshold`: "The RECOMMENDED value […] is 3".
const PERSISTENT_CONGESTION: u64 = 3;
/// Section 7.2, `kMinimumWindow`: "The RECOMMENDED value is 2 * `max_datagram_size`."
const MINIMUM_WINDOW: u32 = 2;

/// What an acknowledgment reports for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Segments, those among them that had been taken for lost too.
    pub(crate) segments: u32,
    /// Packets among them, not taken for lost, that were sent since the last recovery period began: they end it, and the
    /// window may grow by them.
    pub(crate) grows: u32,
    /// The newest packet that has arrived is among them.
    pub(crate) newest: bool,
}

/// What a QUIC sender keeps.
#[derive(Clone, Debug)]
pub(crate) struct Quic {
    ledger: Ledger,
    max_ack_delay: Span,
    /// `latest_rtt`, and `min_rtt`: the round-trip times that were seen, delays of acknowledgments included.
    latest: Span,
    least: Span,
    /// When the first of them was known; [`Time::NEVER`] before.
    sampled: Time,
    last_sent: Time,
    /// Packets below were sent before the recovery period began.
    recovery_from: u32,
    /// Packets that may be sent whatever the window.
    beyond: u32,
    /// They may repeat what packets below carry.
    probes_below: u32,
    /// The window is at least this, once persistent congestion was.
    floor: u32,
}

impl Default for Quic {
    fn default() -> Quic {
        Quic {
            ledger: Ledger::default(),
            max_ack_delay: Span::ZERO,
            latest: Span::ZERO,
            least: Span::from_ps(u64::MAX),
            sampled: Time::NEVER,
            last_sent: Time::ZERO,
            recovery_from: 0,
            beyond: 0,
            probes_below: 0,
            floor: 0,
        }
    }
}

impl Quic {
    /// A new connection begins, whose first segment is `una`.
    fn restart(&mut self, una: u32) {
        self.ledger.restart(una);
        let (ledger, max_ack_delay) = (std::mem::take(&mut self.ledger), self.max_ack_delay);
        *self = Quic { ledger, max_ack_delay, ..Quic::default() };
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.ledger.in_flight()
    }

    pub(super) fn losses(&self) -> u64 {
        self.ledger.losses()
    }

    /// Takes a round-trip time into account; it without the delay that the receiver reports, if that is plausible: section
    /// 5.3, "MUST use the lesser of the acknowledgment delay and the peer's `max_ack_delay`", and not "if the resulting RTT
    /// sample is smaller than the `min_rtt`".
    pub(crate) fn sample(&mut self, now: Time, rtt: Span, reported: u8) -> Span {
        if self.sampled == Time::NEVER {
            self.sampled = now;
        }
        (self.latest, self.least) = (rtt, self.least.min(rtt));
        let delay = Ack::delay_of(reported, self.max_ack_delay);
        if self.least + delay <= rtt { rtt - delay } else { rtt }
    }

    /// Which packets are lost now.
    pub(crate) fn detect(&mut self, now: Time, srtt: Span) -> Losses {
        let (times, part) = TIME_THRESHOLD;
        let longest = srtt.max(self.latest).as_ps();
        let delay = Span::from_ps(longest * times / part).max(GRANULARITY);
        let losses = self.ledger.detect(now, delay, self.sampled);
        self.ledger.settle();
        losses
    }

    /// Whether these losses begin a recovery period: those of packets sent before the last began do not (section 7.3.2).
    /// A packet may be sent then before the window shrinks.
    pub(crate) fn enters_recovery(&mut self, losses: &Losses) -> bool {
        let enters = losses.newest.is_some_and(|newest| newest >= self.recovery_from);
        if enters {
            self.begin_recovery();
            self.beyond = self.beyond.max(1);
        }
        enters
    }

    /// The recovery period begins, or goes on, with what is sent from now on.
    pub(crate) fn begin_recovery(&mut self) {
        self.recovery_from = self.ledger.next();
    }

    /// Whether the network is congested for long (section 7.6.1): the window becomes the least then, and the recovery
    /// period is over (appendix B.8).
    pub(crate) fn is_congested_for_long(&mut self, losses: &Losses, rtt: &RttEstimator) -> bool {
        let period = (rtt.base_rto() + self.max_ack_delay).saturating_mul(PERSISTENT_CONGESTION);
        let is_congested = losses.longest > period;
        if is_congested {
            (self.recovery_from, self.floor) = (0, MINIMUM_WINDOW);
        }
        is_congested
    }

    /// When the timer runs out (`SetLossDetectionTimer`, appendix A.8): the next packet is lost by time then, or, if none may
    /// be, it is time for a probe. [`Time::NEVER`] if nothing is under way.
    pub(crate) fn deadline(&self, rtt: &RttEstimator) -> Time {
        if let Some(loss_time) = self.ledger.loss_time() {
            loss_time
        } else if self.in_flight() == 0 {
            Time::NEVER
        } else {
            self.last_sent + rtt.backed_off(rtt.base_rto() + self.max_ack_delay)
        }
    }

    /// Whether a packet is lost by time now.
    pub(crate) fn is_loss_due(&self, now: Time) -> bool {
        self.ledger.loss_time().is_some_and(|at| at <= now)
    }

    /// The probe timeout ran out: probes are due, and nothing is taken for lost (section 6.2).
    pub(crate) fn probe(&mut self, now: Time) {
        (self.beyond, self.probes_below, self.last_sent) = (PROBES, self.ledger.next(), now);
    }

    /// A packet with segment `seq` leaves.
    pub(crate) fn on_sent(&mut self, now: Time, seq: u32) {
        self.ledger.on_sent(now, seq);
        self.last_sent = now;
        self.beyond = self.beyond.saturating_sub(1);
    }

    /// Whether the window allows a packet, or a probe is due, and there may be something to send.
    fn admits(&self, window: &SendWindow, cwnd: u32) -> bool {
        self.beyond > 0
            || self.in_flight() < cwnd.max(self.floor) && (self.ledger.has_lost() || window.has_new())
    }

    /// What is sent next: what was lost, then new data, and in a probe what is under way.
    fn choose(&mut self, window: &SendWindow, cwnd: u32) -> Option<Segment> {
        if !self.admits(window, cwnd) {
            return None;
        }
        let again = |seq| Segment { kind: SegmentKind::Retransmission, seq };
        if let Some(seq) = self.ledger.next_lost() {
            Some(again(seq))
        } else if window.has_new() {
            Some(Segment { kind: SegmentKind::New, seq: window.nxt })
        } else if self.beyond > 0 {
            let oldest = self.ledger.oldest_below(self.probes_below);
            if oldest.is_none() {
                self.beyond = 0;
            }
            oldest.map(again)
        } else {
            None
        }
    }
}

impl LossRecovery {
    /// The same recovery of a connection whose receiver delays acknowledgments for this long at most.
    #[must_use]
    pub(crate) fn with_ack_delay(mut self, longest: Span) -> LossRecovery {
        if let Some(quic) = self.quic_mut() {
            quic.max_ack_delay = longest;
        }
        self
    }

    /// A new connection begins, whose first segment is `una`.
    pub(super) fn restart_quic(&mut self, una: u32) {
        if let Some(quic) = self.quic_mut() {
            quic.restart(una);
        }
    }

    pub(crate) fn quic(&self) -> Option<&Quic> {
        self.board.quic()
    }

    pub(crate) fn quic_mut(&mut self) -> Option<&mut Quic> {
        self.board.quic_mut()
    }

    /// An acknowledgment came while everything below `before` was known to have arrived; `window.una` is its number or
    /// higher.
    pub(crate) fn take_ack_quic(
        &mut self,
        window: &SendWindow,
        before: u32,
        (ack, sack): (&Ack, &SackBlocks),
        mut rates: Option<&mut DeliveryRate>,
    ) -> News {
        let Some(quic) = self.board.quic_mut() else { return News::default() };
        let mut news = News::default();
        let from = quic.recovery_from;
        let mut take = |seq, packet: Option<Arrived>| {
            news.segments += 1;
            if let Some(rates) = rates.as_deref_mut() {
                rates.on_delivered(seq);
            }
            if let Some(Arrived { number, sent }) = packet {
                news.grows += u32::from(number >= from);
                news.newest |= sent == ack.echo;
            }
        };
        for range in
            sack.ranges().iter().map(|&(start, end)| start..end).chain(iter::once(before..window.una))
        {
            quic.ledger.deliver(range, ack.echo, &mut take);
        }
        quic.ledger.advance(window.una, ack.echo);
        news
    }

    /// A recovery period begins.
    pub(crate) fn begin_period(&mut self) {
        self.recoveries += 1;
        self.phase = Phase::Recovery;
    }

    /// It ends.
    pub(crate) fn end_period(&mut self) {
        self.phase = Phase::Open;
    }

    /// Persistent congestion, which takes the place of a retransmission timeout.
    pub(crate) fn collapse(&mut self) {
        self.timeouts += 1;
        self.phase = Phase::Open;
    }

    /// Whether there is a segment to send, and it may be; the first of a connection is its SYN.
    pub(crate) fn admits_quic(&self, window: &SendWindow) -> bool {
        self.resend_first || self.quic().is_some_and(|quic| quic.admits(window, window.cwnd))
    }

    /// The next segment, if the window allows one.
    pub(super) fn choose_quic(&mut self, window: &SendWindow, cwnd: u32) -> Option<Segment> {
        self.board.quic_mut()?.choose(window, cwnd)
    }

    /// The same, which is sent then.
    #[inline(never)]
    pub(super) fn take_quic(&mut self, window: &mut SendWindow, cwnd: u32) -> Option<Segment> {
        let segment = self.choose_quic(window, cwnd)?;
        if segment.kind == SegmentKind::New {
            window.take_next();
        }
        Some(segment)
    }
}
