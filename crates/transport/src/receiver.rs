//! The receiver: in-order delivery, SACK blocks, delayed acknowledgements.
//!
//! Sources: RFC 5681 section 4.2 (when to acknowledge), RFC 2018 section 4 (what to report), RFC 7323 section
//! 4.3 (which timestamp to echo).
//!
//! Departures: the application reads at once, so the advertised window is constant; Linux's quick
//! acknowledgements at a connection's start are not modeled.

use bufferlab_units::{Span, Time};

use crate::reassembly::Reassembly;
use crate::{Ack, SackBlocks, TcpConfig};

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
    /// When the delayed acknowledgement must go.
    ack_deadline: Time,
    ack_delay: Span,
    sack: bool,
    /// Something is held out of order. Said here too, so that order need not be looked up elsewhere in memory.
    holds: bool,
    /// Made when the first segment comes out of order.
    held: Option<Box<Reassembly>>,
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
            holds: false,
            held: None,
        }
    }

    /// Segments delivered in order.
    pub fn delivered(&self) -> u32 {
        self.next
    }

    /// A SYN arrived.
    pub fn on_syn(&mut self, sent: Time) -> Ack {
        self.ts_recent = sent;
        Ack { ack: 0, syn: true, has_sack: false, echo: sent }
    }

    /// A data segment, sent at `sent`, arrived. Gives the acknowledgement that must go at once, if any.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, seq: u32, sent: Time) -> Option<Ack> {
        if seq <= self.last_ack && sent >= self.ts_recent {
            self.ts_recent = sent;
        }
        let mut has_sack = false;
        if seq == self.next && !self.holds {
            self.next += 1;
            self.pending += 1;
            if self.pending < self.ack_every {
                self.ack_deadline = self.ack_deadline.min(now + self.ack_delay);
                return None;
            }
        } else {
            has_sack = self.on_disorder(seq);
        }
        Some(self.acknowledge(has_sack))
    }

    /// RFC 5681 section 4.2: a segment out of order, or one that fills a gap, is acknowledged at once. So is a
    /// copy of an old one (RFC 9293 section 3.10.7.4). Says whether there is something to report.
    #[inline(never)]
    fn on_disorder(&mut self, seq: u32) -> bool {
        let held = self.held.get_or_insert_with(|| Box::new(Reassembly::new()));
        if seq == self.next {
            self.next = held.advance(seq);
        } else if seq > self.next {
            held.insert(self.next, seq);
        }
        self.holds = !held.is_empty();
        self.sack && self.holds
    }

    /// The SACK blocks of the acknowledgement just made.
    pub fn sack_blocks(&self) -> SackBlocks {
        self.held.as_ref().map_or(SackBlocks::NONE, |held| held.blocks())
    }

    /// When [`Receiver::on_timer`] wants to be called.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.ack_deadline
    }

    /// Gives the delayed acknowledgement if its time has come.
    pub fn on_timer(&mut self, now: Time) -> Option<Ack> {
        (now >= self.ack_deadline).then(|| self.acknowledge(false))
    }

    #[inline]
    fn acknowledge(&mut self, has_sack: bool) -> Ack {
        self.pending = 0;
        self.ack_deadline = Time::NEVER;
        self.last_ack = self.next;
        Ack { ack: self.next, syn: false, has_sack, echo: self.ts_recent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recovery;
    use crate::sender::tests::config;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn every_second_segment_is_acknowledged_when_delaying() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        assert_eq!(receiver.on_data(at(1), 0, at(0)), None);
        assert_eq!(receiver.deadline(), at(41));
        assert_eq!(receiver.on_data(at(2), 1, at(1)).map(|ack| (ack.ack, ack.echo)), Some((2, at(0))));
        assert_eq!(receiver.deadline(), Time::NEVER);
    }

    #[test]
    fn a_lone_segment_is_acknowledged_when_the_delay_ends() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        assert_eq!(receiver.on_data(at(1), 0, at(0)), None);
        assert_eq!(receiver.on_timer(at(40)), None);
        assert_eq!(receiver.on_timer(at(41)).map(|ack| ack.ack), Some(1));
    }

    #[test]
    fn disorder_is_answered_at_once_and_reported() {
        let mut receiver = Receiver::new(&TcpConfig { ack_every: 2, ..config(Recovery::Sack) });
        let mut answer = |seq| {
            let ack = receiver.on_data(at(1), seq, at(0)).unwrap();
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
        assert!(!receiver.on_data(at(1), 5, at(0)).unwrap().has_sack);
        receiver.on_data(at(1), 0, at(0));
        assert_eq!(receiver.on_data(at(2), 0, at(1)).map(|ack| ack.ack), Some(1));
        assert_eq!(receiver.delivered(), 1);
    }
}
