//! What is sent next: within the windows while nothing is lost, else by the recovery's rules.

use bufferlab_congestion::CongestionControl;
use bufferlab_units::Time;

use super::selective::Choice;
use super::{DUP_ACKS, Phase, Segment, SegmentKind, Sender};
use crate::Recovery;

impl Sender {
    /// The next segment to send now, if the windows allow one; where several leave as one packet, the first of them.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if !self.plain {
            return if self.paced || self.packs { self.poll_otherwise(now) } else { self.poll_apart(now) };
        }
        let segment = self.next_in_window()?;
        self.on_sent(now, segment);
        Some(segment)
    }

    /// With a pace, or where several segments leave as one packet.
    #[inline(never)]
    fn poll_otherwise(&mut self, now: Time) -> Option<Segment> {
        if self.packs { self.poll_packet(now) } else { self.poll_paced(now) }
    }

    /// Whether [`Sender::poll_transmit`] may have something: exact while nothing is being repaired, else yes.
    #[inline]
    pub fn may_send(&self) -> bool {
        if self.plain { self.nxt < self.window_to } else { self.may_send_apart() }
    }

    #[inline]
    fn may_send_apart(&self) -> bool {
        self.repairs || self.rated || self.nxt < self.window_to
    }

    /// The segment that [`Sender::next_in_window`] or [`Sender::next_in_repair`] would give, but for those that travel
    /// alone.
    #[inline(never)]
    pub(super) fn upcoming(&mut self) -> Option<Segment> {
        if !self.repairs {
            return (self.nxt < self.window_to).then(|| self.in_window(self.nxt));
        }
        if self.resend_first || self.probe_due {
            return None;
        }
        let choice =
            if self.recovery == Recovery::SackNs2 { self.choose_ns2() } else { self.choose_selective() };
        choice.map(Choice::segment)
    }

    #[inline(never)]
    pub(super) fn poll_apart(&mut self, now: Time) -> Option<Segment> {
        let segment = if self.repairs { self.next_in_repair()? } else { self.next_in_window()? };
        self.on_sent(now, segment);
        if self.phase == Phase::Recovery {
            self.reduction.on_sent();
        }
        if self.bursts.is_some() && segment.kind != SegmentKind::Syn {
            self.note_use(now);
        }
        Some(segment)
    }

    pub(super) fn next_in_repair(&mut self) -> Option<Segment> {
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
    pub(super) fn refresh(&mut self) {
        self.cwnd_whole = self.control.cwnd() as u32;
        self.repairs = self.resend_first
            || self.probe_due
            || match self.recovery {
                Recovery::Sack | Recovery::Linux => self.board_active,
                Recovery::SackNs2 => self.phase == Phase::Recovery,
                _ => false,
            };
        self.plain = !(self.repairs || self.paced || self.packs || self.bursts.is_some());
        self.calm = self.plain && !self.tuned && self.is_steady();
        self.window_to = match self.phase {
            Phase::Idle | Phase::SynSent => 0,
            _ => self.window_end().min(self.limit),
        };
    }

    /// No loss is being repaired, nor suspected.
    #[inline]
    pub(super) fn is_steady(&self) -> bool {
        self.phase == Phase::Open && self.dup_acks == 0 && !self.board_active && !self.repairs
    }

    pub(super) fn take_first(&mut self) -> Segment {
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
    pub(super) fn window_end(&self) -> u32 {
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
    pub(super) fn next_in_window(&mut self) -> Option<Segment> {
        let seq = self.nxt;
        if seq >= self.window_to {
            return None;
        }
        self.nxt += 1;
        Some(self.in_window(seq))
    }

    #[inline]
    fn in_window(&self, seq: u32) -> Segment {
        let kind = if seq < self.sent_to { SegmentKind::Retransmission } else { SegmentKind::New };
        Segment { kind, seq }
    }

    #[inline]
    pub(super) fn on_sent(&mut self, now: Time, segment: Segment) {
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
                // Karn's rule (RFC 6298 section 3): the acknowledgment of a retransmitted segment is no sample.
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
}
