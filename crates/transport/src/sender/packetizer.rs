//! Segmentation offload: consecutive segments that may leave together do so as one packet, as Linux hands them to its
//! queues and network cards (TSO, GSO).
//!
//! Sources: Linux 6.1 `net/ipv4/tcp_output.c`, read as behavior: `tcp_write_xmit` and `tcp_cwnd_test` for what a packet
//! holds, `tcp_tso_segs` and `tcp_tso_autosize` for the most that it may hold, `tcp_tso_should_defer` for when a smaller
//! one waits, `tcp_xmit_retransmit_queue` and `tcp_retransmit_skb` for what is sent again, `tcp_send_loss_probe` for
//! probes, which travel alone; `tcp_bbr.c`, `bbr_min_tso_segs`. Until 5.17 the shortest round-trip time had no part in
//! the size, until 3.11 neither had the pace: then a packet held what the window allowed, up to a given number of
//! segments. From 6.18 on nothing waits whose acknowledgment is more than a millisecond away.
//!
//! Departures:
//! - an application's writes leave no mark: a packet may hold the end of one and the beginning of the next, and the
//!   last data there is does not wait for more;
//! - the shortest round-trip time is the connection's, Linux's that of the last five minutes (`tcp_min_rtt_wlen`);
//! - what bounds the packets in the host's own queue (`tcp_small_queue_check`) is up to the host that has one.

use std::collections::VecDeque;

use bufferlab_units::{Span, Time};

use super::{Segment, SegmentKind};
use crate::{MAX_PACKET_PAYLOAD, Offload, most_by_size};

/// A packet is what the pace allows in about a millisecond: a second shifted right by `sk_pacing_shift`.
const PACING_SHIFT: u32 = 10;
/// `tcp_min_tso_segs`.
const LEAST_SEGMENTS: u32 = 2;
/// BBR takes one segment below this pace: `bbr_min_tso_rate`, bit/s.
const BBR_LEAST_RATE_BPS: f64 = 1_200_000.0;
/// The allowance for short round-trip times is halved for every 2⁹ µs of them: `tcp_tso_rtt_log`.
const RTT_SHIFT: u32 = 9;
/// A third of the window does not wait: `tcp_tso_win_divisor`.
const WINDOW_PARTS: u32 = 3;
/// Nothing waits if the last departure is longer ago.
const RECENT: Span = Span::from_ms(1);

/// What the size of a packet depends on, beside its bounds.
pub(super) struct Pace {
    /// Segments a second; infinite before there is a sample of the round-trip time.
    pub(super) segments_per_s: f64,
    /// The congestion control sets it (BBR).
    pub(super) of_control: bool,
    /// The shortest round-trip time.
    pub(super) min_rtt: Span,
}

impl Pace {
    /// `sk_pacing_rate >> sk_pacing_shift`.
    pub(super) fn segments_in_a_millisecond(&self) -> f64 {
        self.segments_per_s / f64::from(1 << PACING_SHIFT)
    }

    /// `tcp_tso_segs`.
    fn segments(&self, mss_bytes: u32) -> u32 {
        let mss = f64::from(mss_bytes);
        let slow = self.of_control && self.segments_per_s * mss < BBR_LEAST_RATE_BPS / 8.0;
        let least = if slow { 1 } else { LEAST_SEGMENTS };
        let in_a_millisecond = self.segments_in_a_millisecond() * mss;
        let paced = in_a_millisecond.min(f64::from(MAX_PACKET_PAYLOAD)) as u32;
        let halvings = (self.min_rtt.as_ps() / 1_000_000) >> RTT_SHIFT;
        let near = if halvings < 32 { MAX_PACKET_PAYLOAD >> halvings } else { 0 };
        let bytes = (paced + near).min(MAX_PACKET_PAYLOAD);
        (bytes / mss_bytes).max(least).min(most_by_size(mss_bytes))
    }
}

/// Room for new segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// New segments that the windows admit now.
    pub(super) admitted: u32,
    /// Segments that there are to send.
    pub(super) left: u32,
    /// The smaller of the two windows, segments.
    pub(super) window: u32,
    /// Nothing is outstanding.
    pub(super) idle: bool,
}

impl Room {
    /// Whether there is little room, and more would be used.
    fn is_small(self, most: u32) -> bool {
        // a single segment does not wait, nor does what will not get more
        let may_grow = self.left > 1 && (1..=self.left).contains(&self.admitted) && self.admitted < most;
        may_grow && self.admitted.saturating_mul(WINDOW_PARTS) < self.window
    }
}

/// Puts segments into packets, and remembers which ones hold outstanding segments.
#[derive(Clone, Debug)]
pub(super) struct Packetizer {
    most: Offload,
    mss_bytes: u32,
    /// Packets with outstanding segments: the first segment of each, and when it was last sent. In order of segments.
    packets: VecDeque<(u32, Time)>,
    /// Segments of the last packet.
    count: u32,
    /// When something was last sent, or with a pace may be sent next (`tcp_wstamp_ns`).
    last_sent: Time,
}

impl Packetizer {
    pub(super) fn new(most: Offload, mss_bytes: u32) -> Packetizer {
        Packetizer { most, mss_bytes, packets: VecDeque::new(), count: 1, last_sent: Time::ZERO }
    }

    /// Segments of the last packet.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Most segments of the next packet.
    pub(super) fn most_segments(&self, pace: impl FnOnce() -> Pace) -> u32 {
        match self.most {
            Offload::Segments(segments) => segments,
            Offload::Auto => pace().segments(self.mss_bytes),
        }
    }

    /// `tcp_tso_should_defer`: new data waits if the windows admit but little of the `most` segments that a packet may
    /// hold, and will soon admit more.
    pub(super) fn defers(&self, now: Time, most: u32, room: Room, srtt: Span) -> bool {
        if !room.is_small(most) || now.saturating_since(self.last_sent) > RECENT || room.idle {
            return false;
        }
        // the next acknowledgment is that of the oldest packet
        let age = self.packets.front().map_or(Span::ZERO, |&(_, sent)| now.saturating_since(sent));
        2 * age.as_ps() >= srtt.as_ps()
    }

    /// Segments from `seq` on that were sent in one packet with it, of those below `sent_to`.
    pub(super) fn left_in_packet(&self, seq: u32, sent_to: u32) -> u32 {
        self.end_of(seq, sent_to) - seq
    }

    /// A packet of `count` segments leaves; the next one may at `release`.
    pub(super) fn on_sent(&mut self, now: Time, release: Time, first: Segment, count: u32, sent_to: u32) {
        (self.count, self.last_sent) = (count, now.max(release));
        match first.kind {
            SegmentKind::Syn => {}
            SegmentKind::New => self.packets.push_back((first.seq, now)),
            SegmentKind::Retransmission => self.split(now, first.seq, first.seq + count, sent_to),
        }
    }

    /// Everything below `una` is acknowledged.
    pub(super) fn forget_below(&mut self, una: u32) {
        while self.packets.get(1).is_some_and(|&(first, _)| first <= una) {
            self.packets.pop_front();
        }
    }

    /// One more than the last segment that was sent in one packet with `seq`.
    fn end_of(&self, seq: u32, sent_to: u32) -> u32 {
        let next = self.packets.partition_point(|&(first, _)| first <= seq);
        self.packets.get(next).map_or(sent_to, |&(first, _)| first)
    }

    /// Segments `seq..end`, of one packet, were sent again: they are one of their own from now on.
    fn split(&mut self, now: Time, seq: u32, end: u32, sent_to: u32) {
        let rest = self.end_of(seq, sent_to);
        let next = self.packets.partition_point(|&(first, _)| first <= seq);
        let Some(&(first, sent)) = next.checked_sub(1).and_then(|place| self.packets.get(place)) else {
            return;
        };
        if end < rest {
            self.packets.insert(next, (end, sent));
        }
        if first == seq {
            self.packets[next - 1].1 = now;
        } else {
            self.packets.insert(next, (seq, now));
        }
    }
}

#[cfg(test)]
mod tests;
