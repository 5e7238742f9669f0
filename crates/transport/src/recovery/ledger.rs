//! What a QUIC sender keeps of its packets: RFC 9002 appendix A.1, and which of them are lost (section 6.1).
//!
//! A packet has a number of its own, also when it carries a segment again (RFC 9000 section 12.3), so order and time of
//! sending are known of each. Acknowledgments name segments here; of several packets that carried one, the time at which
//! the newest packet that has arrived was sent tells which it was.
//!
//! Departures: a copy of a segment whose earlier packet was acknowledged counts as acknowledged once a packet that was sent
//! no sooner has arrived, though it may be lost; copies under way are forgotten once every segment is delivered.

use std::collections::VecDeque;
use std::ops::Range;

use bufferlab_units::{Span, Time};

/// RFC 9002 section 6.1.1, `kPacketThreshold`: "The RECOMMENDED initial value for the packet reordering threshold […] is 3".
const PACKET_THRESHOLD: u32 = 3;

/// No packet has this number.
const NONE: u32 = u32::MAX;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    UnderWay,
    Acknowledged,
    Lost,
}

/// A packet, until all that were sent before it are acknowledged or lost.
#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Time,
    seq: u32,
    /// The packet that carried the same segment before.
    before: u32,
    fate: Fate,
}

/// What is known of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    /// It is to be sent again.
    Lost,
    Delivered,
}

/// A segment, until all before it are delivered.
#[derive(Clone, Copy, Debug)]
struct Carried {
    /// The last packet with it; of a delivered one how far to skip: from here to one further on that may not be.
    number: u32,
    state: State,
}

/// A packet that an acknowledgment reports for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) number: u32,
    pub(crate) sent: Time,
}

/// Losses that one acknowledgment, or the timer, shows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// The newest packet among them.
    pub(crate) newest: Option<u32>,
    /// The longest time between the departures of two of them with no acknowledged packet between.
    pub(crate) longest: Span,
}

/// The packets of a sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    packets: VecDeque<Packet>,
    /// The number of the first of them.
    first: u32,
    /// The segments from `una` on.
    segments: VecDeque<Carried>,
    una: u32,
    in_flight: u32,
    /// The newest packet that was acknowledged.
    largest: Option<u32>,
    /// Lost segments in the order in which they are sent again; some may have been delivered since.
    lost: VecDeque<u32>,
    /// Packets under way whose segment has been delivered by an earlier one.
    copies: VecDeque<u32>,
    losses: u64,
    /// When a packet that was sent before an acknowledged one is lost by time, if one may be.
    loss_time: Option<Time>,
}

impl Ledger {
    /// Nothing is under way; the first segment is `una`. Packet numbers and the count of losses go on.
    pub(super) fn restart(&mut self, una: u32) {
        *self = Ledger { first: self.next(), una, losses: self.losses, ..Ledger::default() };
    }

    /// Packets under way.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Packets that were lost so far.
    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    /// When the next packet is lost by time, if one may be.
    pub(super) fn loss_time(&self) -> Option<Time> {
        self.loss_time
    }

    /// The number of the next packet.
    pub(super) fn next(&self) -> u32 {
        self.first + self.packets.len() as u32
    }

    /// A packet with segment `seq` leaves.
    pub(super) fn on_sent(&mut self, now: Time, seq: u32) {
        let number = self.next();
        let place = (seq - self.una) as usize;
        let before = if let Some(carried) = self.segments.get_mut(place) {
            let before = carried.number;
            *carried = Carried { number, state: State::UnderWay };
            before
        } else {
            self.segments.push_back(Carried { number, state: State::UnderWay });
            NONE
        };
        self.packets.push_back(Packet { sent: now, seq, before, fate: Fate::UnderWay });
        self.in_flight += 1;
    }

    fn packet(&self, number: u32) -> Option<&Packet> {
        self.packets.get(number.checked_sub(self.first)? as usize)
    }

    fn segment(&self, seq: u32) -> Option<Carried> {
        self.segments.get(seq.checked_sub(self.una)? as usize).copied()
    }

    /// The first segment from `seq` on that has not arrived, or the one after the last; paths to it are halved.
    fn missing_from(&mut self, seq: u32) -> u32 {
        let mut place = seq.saturating_sub(self.una) as usize;
        while let Some(&Carried { number: skip, state: State::Delivered }) = self.segments.get(place) {
            let target = place + skip as usize;
            if let Some(&Carried { number: further, state: State::Delivered }) = self.segments.get(target) {
                self.segments[place].number = skip + further;
            }
            place = target;
        }
        self.una + place as u32
    }

    /// The segments of a range have arrived, and the newest packet that has was sent at `newest`. `tell` gets each that was
    /// not known to have, with its packet, if that was not taken for lost.
    pub(super) fn deliver(
        &mut self,
        range: Range<u32>,
        newest: Time,
        mut tell: impl FnMut(u32, Option<Arrived>),
    ) {
        let end = range.end.min(self.una + self.segments.len() as u32);
        let mut seq = self.missing_from(range.start);
        while seq < end {
            tell(seq, self.deliver_one(seq, newest));
            seq = self.missing_from(seq + 1);
        }
    }

    fn deliver_one(&mut self, seq: u32, newest: Time) -> Option<Arrived> {
        let place = (seq - self.una) as usize;
        let mut number = self.segments[place].number;
        while let Some(&Packet { sent, before, .. }) = self.packet(number)
            && sent > newest
            && before != NONE
        {
            self.copies.push_back(number);
            number = before;
        }
        self.segments[place] = Carried { number: 1, state: State::Delivered };
        self.acknowledge(number)
    }

    fn acknowledge(&mut self, number: u32) -> Option<Arrived> {
        let packet = self.packets.get_mut(number.checked_sub(self.first)? as usize)?;
        let was_under_way = packet.fate == Fate::UnderWay;
        packet.fate = Fate::Acknowledged;
        let sent = packet.sent;
        self.largest = self.largest.max(Some(number));
        self.in_flight -= u32::from(was_under_way);
        was_under_way.then_some(Arrived { number, sent })
    }

    /// All segments below `una` are delivered; the newest packet that has arrived was sent at `newest`.
    pub(super) fn advance(&mut self, una: u32, newest: Time) {
        let passed = (una.saturating_sub(self.una) as usize).min(self.segments.len());
        self.segments.drain(..passed);
        self.una = self.una.max(una);
        let copies = std::mem::take(&mut self.copies);
        for number in copies {
            match self.packet(number) {
                Some(packet) if packet.sent > newest => self.copies.push_back(number),
                _ => {
                    self.acknowledge(number);
                }
            }
        }
    }

    /// All losses that can be known now are: where every segment is delivered, nothing more is expected.
    pub(super) fn settle(&mut self) {
        if self.segments.is_empty() && self.loss_time.is_none() {
            self.restart(self.una);
        }
    }

    /// Which packets are lost now (`DetectAndRemoveLostPackets`, appendix A.10): sent before an acknowledged one, and
    /// three before it or `delay` ago. Losses of packets sent after `since` count for persistent congestion.
    pub(super) fn detect(&mut self, now: Time, delay: Span, since: Time) -> Losses {
        self.loss_time = None;
        let (mut losses, mut start) = (Losses::default(), None);
        let Some(last) = self.largest.and_then(|largest| largest.checked_sub(self.first)) else {
            return losses;
        };
        for place in 0..=last {
            let Packet { sent, fate, .. } = self.packets[place as usize];
            if fate == Fate::Acknowledged {
                start = None;
            } else if fate == Fate::UnderWay && (place + PACKET_THRESHOLD <= last || sent + delay <= now) {
                self.lose(place);
                losses.newest = Some(self.first + place);
                if sent > since {
                    losses.longest = losses.longest.max(sent - *start.get_or_insert(sent));
                }
            } else if fate == Fate::UnderWay {
                self.loss_time = self.loss_time.or(Some(sent + delay));
            }
        }
        while self.packets.front().is_some_and(|packet| packet.fate != Fate::UnderWay) {
            self.packets.pop_front();
            self.first += 1;
        }
        losses
    }

    fn lose(&mut self, place: u32) {
        let packet = &mut self.packets[place as usize];
        packet.fate = Fate::Lost;
        let seq = packet.seq;
        self.in_flight -= 1;
        self.losses += 1;
        let place_of_segment = seq.checked_sub(self.una).map(|place| place as usize);
        let carried = place_of_segment.and_then(|place| self.segments.get_mut(place));
        // a later packet may carry it
        if let Some(carried) = carried
            && carried.state == State::UnderWay
            && carried.number == self.first + place
        {
            carried.state = State::Lost;
            self.lost.push_back(seq);
        }
    }

    /// Whether there may be one that is to be sent again.
    pub(super) fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The first lost segment, which is to be sent again.
    pub(super) fn next_lost(&mut self) -> Option<u32> {
        while let Some(&seq) = self.lost.front() {
            if self.segment(seq).is_some_and(|carried| carried.state == State::Lost) {
                return Some(seq);
            }
            self.lost.pop_front();
        }
        None
    }

    /// The segment of the oldest packet under way below `bound`, if it was not sent again since.
    pub(super) fn oldest_below(&self, bound: u32) -> Option<u32> {
        let numbered = (self.first..bound).zip(&self.packets);
        let mut under_way = numbered.filter(|(_, packet)| packet.fate == Fate::UnderWay);
        let is_last = |number, seq| {
            let carried = self.segment(seq);
            carried.is_some_and(|carried| carried.state == State::UnderWay && carried.number == number)
        };
        under_way.find(|&(number, packet)| is_last(number, packet.seq)).map(|(_, packet)| packet.seq)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_ms(100);
    /// 9/8 of it.
    const DELAY: Span = Span::from_us(112_500);

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// Segments 0, 1, … leave at these milliseconds.
    fn sent(times: &[u64]) -> Ledger {
        let mut ledger = Ledger::default();
        for (seq, &ms) in times.iter().enumerate() {
            ledger.on_sent(at(ms), seq as u32);
        }
        ledger
    }

    /// Segment `seq` has arrived; what is new, and whether its packet was not taken for lost.
    fn deliver(ledger: &mut Ledger, seq: u32, newest_ms: u64) -> Vec<(u32, bool)> {
        let mut news = Vec::new();
        ledger.deliver(seq..seq + 1, at(newest_ms), |seq, packet| news.push((seq, packet.is_some())));
        news
    }

    fn lost(ledger: &mut Ledger) -> Vec<u32> {
        std::iter::from_fn(|| {
            let seq = ledger.next_lost()?;
            ledger.on_sent(at(5_000), seq);
            Some(seq)
        })
        .collect()
    }

    /// Section 6.1.1.
    #[test]
    fn three_packets_later_one_is_lost() {
        let mut ledger = sent(&[0, 0, 0, 0, 0]);
        for (seq, losses) in [(1, vec![]), (2, vec![]), (3, vec![0])] {
            deliver(&mut ledger, seq, 0);
            ledger.detect(at(100), DELAY, Time::ZERO);
            assert_eq!(lost(&mut ledger), losses, "{seq}");
        }
        assert_eq!((ledger.in_flight(), ledger.losses()), (2, 1));
    }

    /// Section 6.1.2: what was sent before an acknowledged packet is lost 9/8 of a round-trip time after it was sent.
    #[test]
    fn a_packet_is_lost_by_time_where_too_few_follow() {
        let mut ledger = sent(&[0, 5]);
        deliver(&mut ledger, 1, 5);
        assert!(ledger.detect(at(105), DELAY, Time::ZERO).newest.is_none());
        assert_eq!(ledger.loss_time(), Some(Time::ZERO + DELAY));
        assert_eq!(ledger.detect(Time::ZERO + DELAY, DELAY, Time::ZERO).newest, Some(0));
        assert_eq!((lost(&mut ledger), ledger.loss_time()), (vec![0], None));
    }

    #[test]
    fn what_follows_the_newest_acknowledged_packet_is_not_lost() {
        let mut ledger = sent(&[0, 0, 0]);
        deliver(&mut ledger, 0, 0);
        assert!(ledger.detect(at(9_000), RTT, Time::ZERO).newest.is_none());
        assert_eq!((ledger.in_flight(), ledger.loss_time()), (2, None));
    }

    /// The example of section 7.6.3: "The congestion period is calculated as the time between the oldest and newest lost
    /// packets: 8 - 1 = 7."
    #[test]
    fn the_longest_time_without_a_delivery_follows_the_standards_example() {
        let mut ledger = sent(&[0, 1_000]);
        deliver(&mut ledger, 0, 0);
        ledger.advance(1, at(0));
        ledger.detect(at(1_200), RTT, Time::ZERO);
        for (ms, seq) in [2_000, 3_000, 4_000, 5_000, 6_000, 8_000, 12_000].into_iter().zip(2..) {
            ledger.on_sent(at(ms), seq);
        }
        let first_sample = at(200);
        deliver(&mut ledger, 8, 12_000);
        let losses = ledger.detect(at(12_200), DELAY, first_sample);
        assert_eq!((losses.newest, losses.longest), (Some(7), Span::from_s(7)));
        assert_eq!(ledger.losses(), 7, "packets 2 through 8 are declared lost");
    }

    #[test]
    fn an_acknowledged_packet_between_ends_the_time_without_a_delivery() {
        let mut ledger = sent(&[1_000, 2_000, 3_000, 4_000, 5_000, 6_000]);
        deliver(&mut ledger, 2, 3_000);
        deliver(&mut ledger, 5, 6_000);
        let losses = ledger.detect(at(9_000), RTT, Time::ZERO);
        assert_eq!((losses.newest, losses.longest), (Some(4), Span::from_s(1)));
    }

    /// The original comes late: it, and not the copy, is what the acknowledgment is about.
    #[test]
    fn a_late_original_is_distinguished_from_its_copy() {
        let mut ledger = sent(&[0, 10, 20, 30]);
        ledger.deliver(1..4, at(30), |_, _| {});
        ledger.detect(at(130), RTT, Time::ZERO);
        assert_eq!(lost(&mut ledger), [0]);
        ledger.on_sent(at(5_001), 4);
        assert_eq!(ledger.in_flight(), 2);
        // 0 arrives after 3, which was sent at 30 ms; its copy is still under way
        assert_eq!(deliver(&mut ledger, 0, 30), [(0, false)]);
        ledger.advance(4, at(30));
        assert_eq!(ledger.in_flight(), 2);
        // the copy arrives, then segment 4
        ledger.advance(4, at(5_000));
        assert_eq!(ledger.in_flight(), 1);
        deliver(&mut ledger, 4, 5_001);
        ledger.advance(5, at(5_001));
        assert_eq!((ledger.in_flight(), ledger.losses()), (0, 1));
    }

    #[test]
    fn what_is_known_is_passed_over() {
        let mut ledger = sent(&[0; 100]);
        let mut count = |range: Range<u32>| {
            let mut news = 0;
            ledger.deliver(range, at(0), |_, _| news += 1);
            news
        };
        assert_eq!([10..20, 30..40, 5..50, 0..60, 0..60].map(&mut count), [10, 10, 25, 15, 0]);
        ledger.advance(60, at(0));
        let mut known = Vec::new();
        ledger.deliver(0..200, at(0), |seq, _| known.push(seq));
        assert_eq!(known, (60..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_probe_takes_the_oldest_segments_under_way_once() {
        let mut ledger = sent(&[0, 0, 0]);
        deliver(&mut ledger, 0, 0);
        let bound = ledger.next();
        for seq in [1, 2] {
            assert_eq!(ledger.oldest_below(bound), Some(seq));
            ledger.on_sent(at(500), seq);
        }
        assert_eq!((ledger.oldest_below(bound), ledger.in_flight()), (None, 4));
        // the probe of 1 is acknowledged: the packet before it is lost, but need not be sent again
        deliver(&mut ledger, 1, 500);
        assert_eq!(ledger.detect(at(600), RTT, Time::ZERO).newest, Some(2));
        assert_eq!(lost(&mut ledger), [] as [u32; 0]);
    }
}
