//! Segmentation offload: consecutive segments that may leave together do so as one packet, as Linux hands them to its
//! queues and network cards (TSO, GSO).
//!
//! Sources: Linux 6.1 `net/ipv4/tcp_output.c`, read as behavior: `tcp_write_xmit` and `tcp_cwnd_test` for what a packet
//! holds, `tcp_tso_segs` and `tcp_tso_autosize` for the most that it may hold, `tcp_tso_should_defer` for when a smaller
//! one waits, `tcp_xmit_retransmit_queue` and `tcp_retransmit_skb` for what is sent again, `tcp_send_loss_probe` for
//! probes, which travel alone; `tcp_bbr.c`, `bbr_min_tso_segs`. Until 5.17 the shortest round-trip time had no part in
//! the size, until 3.11 neither had the pace: then a packet held what the window let go, up to a given number of
//! segments. From 6.18 on nothing waits whose acknowledgment is more than a millisecond away.
//!
//! Departures:
//! - an application's writes leave no mark: a packet may hold the end of one and the beginning of the next, and the
//!   last data there is does not wait for more;
//! - the shortest round-trip time is the connection's, Linux's that of the last five minutes (`tcp_min_rtt_wlen`);
//! - the host's own queue is not modeled, nor what bounds the packets in it (`tcp_small_queue_check`);
//! - BBR's window has no allowance for the packets' size (`bbr_quantization_budget`).

use std::collections::VecDeque;

use bufferlab_congestion::CongestionControl;
use bufferlab_units::{Span, Time};

use super::{Phase, Segment, SegmentKind, Sender};
use crate::Offload;

/// Payload of a packet, at most: `GSO_MAX_SIZE` less one and the headers' room (`MAX_TCP_HEADER` of 64-bit machines),
/// `sk_setup_caps`.
pub const MAX_PACKET_PAYLOAD: u32 = 65_536 - 1 - 320;
/// Segments of a packet, at most. The kernel's own bound is this host's network card's.
pub const MAX_PACKET_SEGMENTS: u32 = 128;
/// A packet is what the pace lets go in about a millisecond: a second shifted right by `sk_pacing_shift`.
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

/// What a sender remembers of the packets that it sent.
#[derive(Clone, Debug)]
pub(super) struct Packing {
    most: Offload,
    /// Those that hold outstanding segments: the first segment of each, and when it was last sent.
    packets: VecDeque<(u32, Time)>,
    /// Segments of the last packet.
    count: u32,
    /// When something was last sent, or with a pace may be sent next (`tcp_wstamp_ns`).
    last_sent: Time,
}

impl Packing {
    pub(super) fn new(most: Offload) -> Packing {
        Packing { most, packets: VecDeque::new(), count: 1, last_sent: Time::ZERO }
    }

    /// One more than the last segment that was sent in one packet with `seq`, of those below `sent_to`.
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

    fn forget_below(&mut self, una: u32) {
        while self.packets.get(1).is_some_and(|&(first, _)| first <= una) {
            self.packets.pop_front();
        }
    }
}

impl Sender {
    /// Segments of the packet that begins with what [`Sender::poll_transmit`] gave last: one without
    /// [`crate::TcpConfig::offload`].
    pub fn segments_in_packet(&self) -> u32 {
        self.packing.as_deref().map_or(1, |packing| packing.count)
    }

    /// The first segment of the next packet, if the windows allow one and it need not wait to become larger.
    pub(super) fn poll_packet(&mut self, now: Time) -> Option<Segment> {
        if self.paced && self.waits_for_pace(now) {
            return None;
        }
        if let Some(packing) = self.packing.as_deref_mut() {
            packing.forget_below(self.una);
        }
        let most = self.most_segments();
        if self.is_deferred(now, most) {
            return None;
        }
        let (half, alone) = ((self.cwnd() as u32 / 2).max(1), self.probe_due);
        let first = self.poll_next(now)?;
        let most = match first.kind {
            // "at least 2 GSO packets in flight"
            SegmentKind::New if !alone => most.min(half),
            SegmentKind::Retransmission if !alone => most.min(self.left_in_packet(first.seq)),
            _ => 1,
        };
        let mut count = 1;
        while count < most && self.upcoming() == Some(Segment { seq: first.seq + count, ..first }) {
            self.poll_next(now);
            count += 1;
        }
        self.note_packet(now, first, count);
        Some(first)
    }

    /// The next segment; its time has come.
    fn poll_next(&mut self, now: Time) -> Option<Segment> {
        if self.paced { self.poll_in_pace(now) } else { self.poll_apart(now) }
    }

    /// Most segments of a packet.
    fn most_segments(&self) -> u32 {
        match self.packing.as_deref().map(|packing| packing.most) {
            Some(Offload::Segments(segments)) => segments,
            Some(Offload::Auto { mss_bytes }) => self.suited_segments(mss_bytes),
            None => 1,
        }
    }

    /// `tcp_tso_segs`.
    fn suited_segments(&self, mss_bytes: u32) -> u32 {
        let (mss, srtt_s) = (f64::from(mss_bytes), self.rtt.srtt().as_ps() as f64 / 1e12);
        let segments_per_s = if self.rated {
            self.control.pacing().unwrap_or(f64::INFINITY)
        } else {
            // without a sample it is infinite
            self.paced_window() / srtt_s
        };
        let slow = self.rated && segments_per_s * mss < BBR_LEAST_RATE_BPS / 8.0;
        let least = if slow { 1 } else { LEAST_SEGMENTS };
        let paced =
            (segments_per_s * mss / f64::from(1 << PACING_SHIFT)).min(f64::from(MAX_PACKET_PAYLOAD)) as u32;
        let halvings = (self.rtt.min().as_ps() / 1_000_000) >> RTT_SHIFT;
        let near = if halvings < 32 { MAX_PACKET_PAYLOAD >> halvings } else { 0 };
        let bytes = (paced + near).min(MAX_PACKET_PAYLOAD);
        (bytes / mss_bytes).max(least).min(most_by_size(mss_bytes))
    }

    /// `tcp_tso_should_defer`: new data waits if the window admits but little of what a packet may hold, and more of it
    /// will soon be free.
    fn is_deferred(&self, now: Time, most: u32) -> bool {
        let Some(packing) = self.packing.as_deref() else {
            return false;
        };
        let (room, left) = (self.room(), self.limit.saturating_sub(self.nxt));
        if self.phase != Phase::Open || self.resend_first || self.probe_due || room == 0 {
            return false;
        }
        // a single segment does not wait, nor does what will not get more
        let may_grow = left > 1 && room <= left && room < most;
        let small = room.saturating_mul(WINDOW_PARTS) < self.cwnd_whole.min(self.receive_window);
        if !(may_grow && small)
            || now.saturating_since(packing.last_sent) > RECENT
            || self.una == self.sent_to
        {
            return false;
        }
        // the next acknowledgment is that of the oldest packet
        let age = packing.packets.front().map_or(Span::ZERO, |&(_, sent)| now.saturating_since(sent));
        2 * age.as_ps() >= self.rtt.srtt().as_ps()
    }

    /// New segments that the windows admit now.
    fn room(&self) -> u32 {
        let board = self.board.as_deref().filter(|_| self.board_active && self.recovery.computes_pipe());
        let Some(board) = board else {
            return self.window_end().saturating_sub(self.nxt);
        };
        let received = self.una.saturating_add(self.receive_window).saturating_sub(self.nxt);
        self.cwnd_whole.saturating_sub(board.pipe()).min(received)
    }

    /// Segments from `seq` on that were sent in one packet with it.
    fn left_in_packet(&self, seq: u32) -> u32 {
        self.packing.as_deref().map_or(1, |packing| packing.end_of(seq, self.sent_to) - seq)
    }

    fn note_packet(&mut self, now: Time, first: Segment, count: u32) {
        let (sent_to, release) = (self.sent_to, self.released_at());
        let Some(packing) = self.packing.as_deref_mut() else {
            return;
        };
        (packing.count, packing.last_sent) = (count, now.max(release));
        match first.kind {
            SegmentKind::Syn => {}
            SegmentKind::New => packing.packets.push_back((first.seq, now)),
            SegmentKind::Retransmission => packing.split(now, first.seq, first.seq + count, sent_to),
        }
    }
}

/// Segments with so much payload each that a packet may hold.
pub fn most_by_size(mss_bytes: u32) -> u32 {
    (MAX_PACKET_PAYLOAD / mss_bytes.max(1)).clamp(1, MAX_PACKET_SEGMENTS)
}

#[cfg(test)]
mod tests;
