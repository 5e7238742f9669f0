//! The packet descriptor, and what becomes of refused packets.

use bufferlab_units::{Span, Time};

/// What a data segment says of congestion: the ECN field (RFC 3168 section 5, RFC 9331 section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Its sender would not listen (Not-ECT).
    Incapable,
    /// Its sender listens, and a mark is to it what a loss is (ECT(0)); or it is in a network of its own, as with DCTCP.
    Capable,
    /// Its sender listens, and many marks are usual to it: Low Latency, Low Loss, Scalable throughput (L4S; ECT(1), RFC
    /// 9331).
    Scalable,
    /// A queue on the way marked it: Congestion Experienced (CE).
    Marked,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    /// A TCP data segment.
    Data(Ecn),
    /// A TCP SYN.
    #[default]
    Syn,
    /// A pure acknowledgment (SYN-ACK among them).
    Ack,
    /// A datagram.
    Datagram,
}

/// A packet as queues see it: no payload, 40 bytes, copied freely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When it joined the queue that it is in.
    pub enqueued: Time,
    /// When the sender sent it (the TCP timestamp, RFC 7323).
    pub sent: Time,
    /// Which flow's.
    pub flow: u32,
    /// Segment number (data), or number of the acknowledgment's record (pure acknowledgments).
    pub seq: u32,
    /// Size on the wire.
    pub wire_bytes: u32,
    /// Which group of flows it belongs to, for statistics.
    pub group: u16,
    /// What it carries.
    pub kind: PacketKind,
    /// Links already crossed on its path; the highest bit is [`Packet::REDUCED`].
    pub hop: u8,
    /// The sender's smoothed round-trip time when it sent this, µs; 0 before it had one. See [`Packet::srtt`].
    pub srtt_us: u32,
    /// How much older than this packet's timestamp was the newest one of its own that the sender had had back, µs;
    /// 0 if none. See [`Packet::echoed`].
    pub echo_age_us: u32,
}

const _: () = assert!(size_of::<Packet>() <= 40, "a descriptor is copied for each packet");

impl Packet {
    /// In [`Packet::hop`]: the flag CWR of a data segment (RFC 3168 section 6.1.2), its sender has reduced the window.
    pub const REDUCED: u8 = 0x80;

    /// Links already crossed on its path.
    #[inline(always)]
    pub fn crossed(&self) -> usize {
        usize::from(self.hop & !Packet::REDUCED)
    }

    /// Whether it says that its sender has reduced the window.
    #[inline(always)]
    pub fn is_reduced(&self) -> bool {
        self.hop & Packet::REDUCED != 0
    }

    /// The sender's smoothed round-trip time, if it wrote one.
    #[inline]
    pub fn srtt(&self) -> Option<Span> {
        (self.srtt_us > 0).then(|| Span::from_us(u64::from(self.srtt_us)))
    }

    /// The newest timestamp of its own that the sender had had back.
    #[inline]
    pub fn echoed(&self) -> Option<Time> {
        let age = Span::from_us(u64::from(self.echo_age_us)).as_ps();
        (self.echo_age_us > 0).then(|| Time::from_ps(self.sent.as_ps().saturating_sub(age)))
    }

    /// Whether a queue may mark it, and none has yet.
    #[inline(always)]
    pub fn may_be_marked(&self) -> bool {
        matches!(self.kind, PacketKind::Data(Ecn::Capable | Ecn::Scalable))
    }

    /// Whether it is for the queue of low latency (RFC 9331 section 5.1): its sender is an L4S one, or a queue before this
    /// one has marked it, since then nobody can tell.
    #[inline]
    pub(crate) fn is_l4s(&self) -> bool {
        matches!(self.kind, PacketKind::Data(Ecn::Scalable | Ecn::Marked))
    }

    /// Marks the packet if its sender listens, and counts it unless a queue before this one has; whether it carries a
    /// mark now.
    #[inline]
    pub(crate) fn mark(&mut self, marks: &mut u64) -> bool {
        match self.kind {
            PacketKind::Data(Ecn::Capable | Ecn::Scalable) => {
                self.kind = PacketKind::Data(Ecn::Marked);
                *marks += 1;
                true
            }
            PacketKind::Data(Ecn::Marked) => true,
            _ => false,
        }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The limit was reached.
    Overlimit,
    /// The queue stood for too long (CoDel).
    Standing,
    /// Drawn by lot while there was room (RED, PIE).
    Early,
}

/// A dropped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The packet.
    pub packet: Packet,
    /// Why.
    pub reason: DropReason,
}

/// Where a discipline puts what it drops; the caller empties it.
pub type Drops = Vec<Dropped>;
