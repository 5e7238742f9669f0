//! The receiver: in-order delivery, SACK blocks, delayed acknowledgments.
//!
//! Sources: RFC 5681 section 4.2 (when to acknowledge), RFC 2018 section 4 (what to report), RFC 7323 section
//! 4.3 (which timestamp to echo), RFC 8257 section 3.2 and Linux 5.10 `net/ipv4/tcp_dctcp.h` (`dctcp_ece_ack_update`, read
//! as behavior) for how to echo marks: every acknowledgment says whether all that it acknowledges was marked, and a
//! change is acknowledged at once. Linux 4.19 `net/ipv4/tcp_input.c` (`tcp_ecn_accept_cwr`), read as behavior: so is a
//! segment with the flag CWR, since its sender may have a window of next to nothing.
//!
//! Disorder is counted. A segment is reordered if it arrives after one of a higher number that was sent later (RFC 4737
//! section 3.3, with times of sending in place of its numbers, since a retransmission's number does not say when it was
//! sent). A segment that has already arrived was a spurious retransmission (reported by RFC 2883 and counted by RFC
//! 3708). In-order segments cost one store for this.
//!
//! QUIC's receiver (RFC 9000 section 13.2) acknowledges by packets: `receiver::packets`.
//!
//! Departures: the application reads at once, so the advertised window is constant unless it is tuned (`tuning`); quick
//! acknowledgments come at a connection's start only, in Linux after a silence and a segment that came twice, too.

mod packets;

use bufferlab_units::{Span, Time};

use crate::reassembly::Reassembly;
use crate::tuning::Tuning;
use crate::{Ack, Notice, Recovery, SackBlocks, TcpConfig};

/// A TCP receiver.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// The next segment expected.
    next: u32,
    /// In-order segments not yet acknowledged.
    pending: u32,
    ack_every: u32,
    /// RFC 7323's Last.ACK.sent.
    last_ack: u32,
    /// RFC 7323's TS.Recent.
    ts_recent: Time,
    /// When the delayed acknowledgment must go.
    ack_deadline: Time,
    ack_delay: Span,
    sack: bool,
    /// Acknowledgments that are not delayed any more, of a connection's start, and how many are when one begins.
    quick: u16,
    most_quick: u16,
    /// Something is held out of order. Said here too, so that order need not be looked up elsewhere in memory.
    holds: bool,
    /// What the next segment says of congestion if nothing changes: marked if the last was (RFC 8257's `DCTCP.CE`).
    usual: Notice,
    /// When the highest segment that came was sent.
    highest_sent: Time,
    /// Made when the first segment comes out of order, or the first packet where packets are acknowledged.
    apart: Option<Box<Apart>>,
    /// Of a receiver that tunes its window.
    tuning: Option<Box<Tuning>>,
}

/// What a receiver needs once something came out of order.
#[derive(Clone, Debug, Default)]
struct Apart {
    held: Reassembly,
    disorder: Disorder,
    /// When the newest packet came, of a receiver that acknowledges by packets.
    arrived: Time,
}

/// What came out of order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disorder {
    /// Segments that came after one of a higher number that was sent later.
    pub reordered: u64,
    /// Segments that came twice: retransmissions that were not needed.
    pub duplicates: u64,
}

impl Receiver {
    /// The receiver of a connection.
    pub fn new(config: &TcpConfig) -> Receiver {
        Receiver {
            next: 0,
            pending: 0,
            ack_every: config.ack_every.max(1),
            last_ack: 0,
            ts_recent: Time::ZERO,
            ack_deadline: Time::NEVER,
            ack_delay: config.ack_delay,
            sack: config.recovery.uses_sack(),
            quick: 0,
            most_quick: 0,
            holds: false,
            usual: if config.recovery == Recovery::Quic { Notice::PLAIN.by_packet() } else { Notice::PLAIN },
            highest_sent: Time::ZERO,
            apart: None,
            tuning: config.tuning().map(|config| Box::new(Tuning::new(config))),
        }
    }

    /// The first acknowledgments of a connection are not delayed: this many, but no more than half of the window's segments,
    /// and two at least (Linux 6.1 `net/ipv4/tcp_input.c`, `tcp_incr_quickack`, read as behavior). For
    /// [`Receiver::on_packet`] only.
    #[must_use]
    pub fn with_quick_acks(mut self, most: u16, window: u32) -> Receiver {
        self.most_quick = u32::from(most).min((window / 2).max(2)) as u16;
        self.quick = self.most_quick;
        self
    }

    /// Segments delivered in order.
    pub fn delivered(&self) -> u32 {
        self.next
    }

    /// What came out of order so far.
    pub fn disorder(&self) -> Disorder {
        self.apart.as_ref().map_or(Disorder::default(), |apart| apart.disorder)
    }

    /// A SYN arrived.
    pub fn on_syn(&mut self, sent: Time) -> Ack {
        self.ts_recent = sent;
        self.quick = self.most_quick;
        Ack { syn: true, echo: sent, ..Ack::default() }
    }

    /// A data segment, sent at `sent`, arrived, with what it says of congestion. Gives the acknowledgment that must go
    /// at once, if any.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, seq: u32, sent: Time, notice: Notice) -> Option<Ack> {
        if notice != self.usual {
            return self.on_notice(now, seq, 1, sent, notice);
        }
        if seq <= self.last_ack && sent >= self.ts_recent {
            self.ts_recent = sent;
        }
        let mut has_sack = false;
        if seq == self.next && !self.holds {
            self.next += 1;
            self.highest_sent = sent;
            self.pending += 1;
            if self.pending < self.ack_every {
                self.ack_deadline = self.ack_deadline.min(now + self.ack_delay);
                return None;
            }
        } else {
            has_sack = self.on_disorder(seq, sent);
        }
        Some(self.acknowledge(has_sack))
    }

    /// RFC 8257 section 3.2: the first segment that is marked otherwise is acknowledged at once. What waits for its
    /// acknowledgment gets its own before, "to reflect the prior CE state" (Linux); the segment's then goes by a timer
    /// that runs out at once. A segment with CWR is acknowledged at once, with what waits.
    #[inline(never)]
    fn on_notice(&mut self, now: Time, seq: u32, count: u32, sent: Time, notice: Notice) -> Option<Ack> {
        if self.usual.is_by_packet() {
            return self.on_quic_packet(now, seq, count, sent, notice);
        }
        let changes = notice.is_marked() != self.usual.is_marked();
        let before = (changes && self.pending > 0).then(|| self.acknowledge(self.reports()));
        self.usual = Notice::new(notice.is_marked(), false);
        self.take(seq, count, sent);
        if before.is_some() {
            (self.pending, self.ack_deadline) = (1, now);
        }
        before.or_else(|| Some(self.acknowledge(self.reports())))
    }

    /// `count` segments of one packet, from `seq` on; whether they came in order.
    fn take(&mut self, seq: u32, count: u32, sent: Time) -> bool {
        if seq <= self.last_ack && sent >= self.ts_recent {
            self.ts_recent = sent;
        }
        let in_order = seq == self.next && !self.holds;
        if in_order {
            self.next += count;
            self.highest_sent = sent;
            self.pending += count;
        } else {
            for seq in seq..seq + count {
                self.on_disorder(seq, sent);
            }
        }
        in_order
    }

    /// A packet of `count` segments from `seq` on arrived, whole (GRO). There
    /// is at most one acknowledgment of it: it has "more than one full frame" or not (Linux 6.1 `net/ipv4/tcp_input.c`,
    /// `__tcp_ack_snd_check`, read as behavior).
    #[inline(never)]
    pub fn on_packet(&mut self, now: Time, seq: u32, count: u32, sent: Time, notice: Notice) -> Option<Ack> {
        if notice != self.usual {
            return self.on_notice(now, seq, count, sent, notice);
        }
        let in_order = self.take(seq, count, sent);
        let quick = self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        if in_order && self.pending < self.ack_every && !quick {
            self.ack_deadline = self.ack_deadline.min(now + self.ack_delay);
            return None;
        }
        Some(self.acknowledge(self.reports()))
    }

    /// Tunes the window after a packet of `count` segments, whose sender's smoothed round-trip time was `srtt`. If it was
    /// `acked` at once, returns the window that this acknowledgment advertises, segments, if it has grown.
    pub fn tune(&mut self, now: Time, count: u32, srtt: Option<Span>, acked: bool) -> Option<u32> {
        let tuning = self.tuning.as_deref_mut()?;
        tuning.on_data(now, self.next, count, srtt);
        let news = if acked { tuning.news() } else { None };
        tuning.on_read(now);
        news
    }

    /// The window that a delayed acknowledgment advertises, if it has grown.
    pub fn tuned_window(&mut self) -> Option<u32> {
        self.tuning.as_deref_mut()?.news()
    }

    /// A connection begins: its window is the first one again, segments.
    pub fn restart_tuning(&mut self, now: Time) -> Option<u32> {
        self.tuning.as_deref_mut().map(|tuning| tuning.restart(now, self.next))
    }

    /// RFC 5681 section 4.2: a segment out of order, or one that fills a gap, is acknowledged at once. So is a
    /// copy of an old one (RFC 9293 section 3.10.7.4). Says whether there is something to report.
    #[inline(never)]
    fn on_disorder(&mut self, seq: u32, sent: Time) -> bool {
        let Apart { held, disorder, .. } = &mut **self.apart.get_or_insert_with(Box::default);
        let end = self.next.max(held.end());
        if seq >= end {
            self.highest_sent = sent;
        } else {
            disorder.reordered += u64::from(seq + 1 < end && sent < self.highest_sent);
            disorder.duplicates += u64::from(seq < self.next || seq > self.next && held.holds(seq));
        }
        if seq == self.next {
            self.next = held.advance(seq);
        } else if seq > self.next {
            held.insert(self.next, seq);
        }
        self.holds = !held.is_empty();
        self.reports()
    }

    /// Whether there is something to report by SACK blocks.
    fn reports(&self) -> bool {
        self.sack && self.holds
    }

    /// The SACK blocks of the acknowledgment just made.
    pub fn sack_blocks(&self) -> SackBlocks {
        self.apart.as_ref().map_or(SackBlocks::NONE, |apart| apart.held.blocks())
    }

    /// When [`Receiver::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.ack_deadline
    }

    /// Gives the delayed acknowledgment if its time has come.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        (now >= self.ack_deadline).then(|| {
            if self.usual.is_by_packet() {
                self.acknowledge_packets(now)
            } else {
                self.acknowledge(self.reports())
            }
        })
    }

    #[inline]
    fn acknowledge(&mut self, has_sack: bool) -> Ack {
        self.pending = 0;
        self.ack_deadline = Time::NEVER;
        self.last_ack = self.next;
        let marked = self.usual.is_marked();
        Ack { ack: self.next, syn: false, has_sack, marked, delay: 0, echo: self.ts_recent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use crate::sender::tests::config;

    const PLAIN: Notice = Notice::PLAIN;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn every_second_segment_is_acknowledged_when_delaying() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        assert_eq!(receiver.on_data(at(1), 0, at(0), PLAIN), None);
        assert_eq!(receiver.deadline(), at(41));
        assert_eq!(receiver.on_data(at(2), 1, at(1), PLAIN).map(|ack| (ack.ack, ack.echo)), Some((2, at(0))));
        assert_eq!(receiver.deadline(), Time::NEVER);
    }

    #[test]
    fn a_lone_segment_is_acknowledged_when_the_delay_ends() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        assert_eq!(receiver.on_data(at(1), 0, at(0), PLAIN), None);
        assert_eq!(receiver.on_timer(at(40)), None);
        assert_eq!(receiver.on_timer(at(41)).map(|ack| ack.ack), Some(1));
    }

    #[test]
    fn disorder_is_answered_at_once_and_reported() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        let mut answer = |seq| {
            let ack = receiver.on_data(at(1), seq, at(0), PLAIN).unwrap();
            assert_eq!(ack.has_sack, !receiver.sack_blocks().is_empty());
            (ack.ack, receiver.sack_blocks().ranges().to_vec())
        };
        assert_eq!(answer(1), (0, vec![(1, 2)]));
        assert_eq!(answer(3), (0, vec![(3, 4), (1, 2)]));
        assert_eq!(answer(0), (2, vec![(3, 4)]));
        assert_eq!(answer(2), (4, vec![]));
    }

    #[test]
    fn without_sack_nothing_is_reported_and_old_copies_are_acknowledged() {
        let mut receiver = Receiver::new(&config(Recovery::Reno));
        assert!(!receiver.on_data(at(1), 5, at(0), PLAIN).unwrap().has_sack);
        receiver.on_data(at(1), 0, at(0), PLAIN);
        assert_eq!(receiver.on_data(at(2), 0, at(1), PLAIN).map(|ack| ack.ack), Some(1));
        assert_eq!(receiver.delivered(), 1);
    }

    #[test]
    fn reordered_and_duplicate_segments_are_counted() {
        let mut receiver = Receiver::new(&config(Recovery::Sack));
        let mut count = |seq, sent_ms| {
            receiver.on_data(at(100), seq, at(sent_ms), PLAIN);
            let Disorder { reordered, duplicates } = receiver.disorder();
            (reordered, duplicates)
        };
        assert_eq!(count(0, 1), (0, 0));
        // 3 arrives before 1 and 2; 1 follows, 2 is sent again and then comes twice
        assert_eq!(count(3, 4), (0, 0));
        assert_eq!(count(1, 2), (1, 0));
        assert_eq!(count(2, 9), (1, 0));
        assert_eq!(count(2, 3), (2, 1));
        // spurious: a segment that is held, one that is delivered
        assert_eq!(count(5, 10), (2, 1));
        assert_eq!(count(5, 11), (2, 2));
        assert_eq!(count(0, 12), (2, 3));
        // a lost one that is sent again is neither
        assert_eq!(count(4, 13), (2, 3));
        // two copies of the highest that change places follow none of a higher number
        assert_eq!(count(5, 9), (2, 4));
    }

    #[test]
    fn a_segment_with_cwr_is_acknowledged_at_once_with_what_waits() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        let mut answers = |seq, marked, reduced| {
            let now = at(1 + u64::from(seq));
            let notice = Notice::new(marked, reduced);
            let first = receiver.on_data(now, seq, at(u64::from(seq)), notice);
            let both = [first, receiver.on_timer(now)].into_iter().flatten();
            both.map(|ack| (ack.ack, ack.marked)).collect::<Vec<_>>()
        };
        assert_eq!(answers(0, false, true), [(1, false)]);
        assert_eq!(answers(1, false, false), []);
        assert_eq!(answers(2, false, true), [(3, false)]);
        // a change of marks as well: what waits goes first
        assert_eq!(answers(3, false, false), []);
        assert_eq!(answers(4, true, true), [(4, false), (5, true)]);
        // marks go on
        assert_eq!(answers(5, true, false), []);
        assert_eq!(answers(6, true, true), [(7, true)]);
    }

    #[test]
    fn a_change_of_marks_is_acknowledged_at_once_and_apart() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        // the answers to a segment: at its arrival, and by the timer
        let mut answers = |seq, marked| {
            let now = at(1 + u64::from(seq));
            let first = receiver.on_data(now, seq, at(u64::from(seq)), Notice::new(marked, false));
            let both = [first, receiver.on_timer(now)].into_iter().flatten();
            both.map(|ack| (ack.ack, ack.marked, ack.has_sack)).collect::<Vec<_>>()
        };
        assert_eq!(answers(0, false), []);
        // segment 0 is acknowledged as it came, then 1
        assert_eq!(answers(1, true), [(1, false, false), (2, true, false)]);
        assert_eq!(answers(2, true), []);
        assert_eq!(answers(3, true), [(4, true, false)]);
        // nothing waits
        assert_eq!(answers(4, false), [(5, false, false)]);
        assert_eq!(answers(5, false), []);
        // a change out of order
        assert_eq!(answers(7, true), [(6, false, false), (6, true, true)]);
        assert_eq!(answers(6, false), [(8, false, false)]);
        assert_eq!(receiver.deadline(), Time::NEVER);
        assert_eq!(receiver.delivered(), 8);
    }
}
