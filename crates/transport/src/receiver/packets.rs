//! When a QUIC receiver acknowledges: RFC 9000 section 13.2.
//!
//! An acknowledgment says when the newest packet that has arrived was sent, and how long ago it arrived. Packets are
//! ordered by the time at which they were sent.
//!
//! Departure: a gap between packets is seen where a new segment's is, so what is missing of segments sent again brings no
//! acknowledgment at once.

use bufferlab_units::Time;

use super::Receiver;
use crate::{Ack, Notice};

impl Receiver {
    /// A packet with `count` segments from `seq` on, sent at `sent`, arrived.
    pub(super) fn on_quic_packet(
        &mut self,
        now: Time,
        seq: u32,
        count: u32,
        sent: Time,
        notice: Notice,
    ) -> Option<Ack> {
        let changes = notice.is_marked() != self.usual.is_marked();
        let before = (changes && self.pending > 0).then(|| self.acknowledge_packets(now));
        self.usual = Notice::new(notice.is_marked(), false).by_packet();
        // section 13.2.1: "when the received packet has a packet number less than another […] that has been received", or one
        // "larger than the highest-numbered" and "there are missing packets between"; and marked packets
        let newest = self.ts_recent;
        let is_late = sent < newest;
        let at_once = is_late || seq > self.end() || notice.is_marked();
        if !self.take(seq, count, sent) {
            self.pending += count;
        }
        if is_late {
            self.ts_recent = newest;
        } else {
            self.ts_recent = sent;
            self.apart.get_or_insert_default().arrived = now;
        }
        if before.is_some() {
            self.ack_deadline = if at_once { now } else { now + self.ack_delay };
            return before;
        }
        if at_once || self.pending >= self.ack_every {
            return Some(self.acknowledge_packets(now));
        }
        self.ack_deadline = self.ack_deadline.min(now + self.ack_delay);
        None
    }

    /// One more than the highest segment that has arrived.
    fn end(&self) -> u32 {
        self.apart.as_ref().map_or(self.next, |apart| self.next.max(apart.held.end()))
    }

    pub(super) fn acknowledge_packets(&mut self, now: Time) -> Ack {
        let arrived = self.apart.as_ref().map_or(now, |apart| apart.arrived);
        let delay = Ack::reported(now.saturating_since(arrived), self.ack_delay);
        Ack { delay, ..self.acknowledge(self.reports()) }
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_units::Span;

    use super::*;
    use crate::sender::tests::config;
    use crate::{Recovery, TcpConfig};

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn receiver(ack_every: u32) -> Receiver {
        Receiver::new(&TcpConfig { ack_every, ack_delay: Span::from_ms(25), ..config(Recovery::Quic) })
    }

    /// Segment `seq` arrives 50 ms after it was sent: the acknowledgment's number, and when the newest was sent.
    fn answer(receiver: &mut Receiver, ms: u64, seq: u32, marked: bool) -> Option<(u32, Time)> {
        let notice = Notice::new(marked, false);
        receiver.on_data(at(ms), seq, at(ms - 50), notice).map(|ack| (ack.ack, ack.echo))
    }

    #[test]
    fn every_second_packet_is_acknowledged_also_beside_a_gap() {
        let mut receiver = receiver(2);
        let mut answers = |packets: &[(u64, u32)]| {
            let each = packets.iter().map(|&(ms, seq)| answer(&mut receiver, ms, seq, false));
            each.collect::<Vec<_>>()
        };
        assert_eq!(answers(&[(50, 0), (51, 1)]), [None, Some((2, at(1)))]);
        // 2 is missing, which 3 shows at once
        assert_eq!(answers(&[(53, 3), (54, 4), (55, 5)]), [Some((2, at(3))), None, Some((2, at(5)))]);
        // 2 comes again in a packet of its own
        assert_eq!(answers(&[(153, 2), (154, 6)]), [None, Some((7, at(104)))]);
        // a late packet is acknowledged at once, and is not the newest
        assert_eq!(answers(&[(60, 2)]), [Some((7, at(104)))]);
    }

    #[test]
    fn an_acknowledgment_says_how_long_it_waited() {
        let mut receiver = receiver(3);
        answer(&mut receiver, 50, 0, false);
        answer(&mut receiver, 60, 1, false);
        assert_eq!(receiver.deadline(), at(75));
        let ack = receiver.on_timer(at(75)).unwrap();
        // 1 arrived 15 ms ago, 153/255 of 25 ms
        assert_eq!((ack.ack, ack.echo, ack.delay), (2, at(10), 153));
        assert_eq!(Ack::delay_of(153, Span::from_ms(25)).as_ps() / 1_000_000, 14_999);
        assert_eq!(receiver.deadline(), Time::NEVER);
    }

    #[test]
    fn a_marked_packet_is_acknowledged_at_once_and_apart() {
        let mut receiver = receiver(2);
        assert_eq!(answer(&mut receiver, 50, 0, false), None);
        assert_eq!(answer(&mut receiver, 51, 1, true), Some((1, at(0))));
        assert_eq!(receiver.on_timer(at(51)).map(|ack| (ack.ack, ack.marked)), Some((2, true)));
        assert_eq!(answer(&mut receiver, 52, 2, true), Some((3, at(2))));
        assert_eq!(answer(&mut receiver, 53, 3, false), None);
    }
}
