//! The packet descriptor, and what becomes of refused packets.

use bufferlab_units::Time;

/// What a data segment says of congestion: the ECN field (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Its sender would not listen (Not-ECT).
    Incapable,
    /// Its sender listens (ECT).
    Capable,
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
    /// A pure acknowledgement (SYN-ACK among them).
    Ack,
    /// A datagram.
    Datagram,
}

/// A packet as queues see it: no payload, 32 bytes, copied freely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// When it joined the queue that it is in.
    pub enqueued: Time,
    /// When the sender sent it (the TCP timestamp, RFC 7323).
    pub sent: Time,
    /// Which flow's.
    pub flow: u32,
    /// Segment number (data), or number of the acknowledgement's record (pure acknowledgements).
    pub seq: u32,
    /// Size on the wire.
    pub wire_bytes: u32,
    /// Which group of flows it belongs to, for statistics.
    pub group: u16,
    /// What it carries.
    pub kind: PacketKind,
    /// Links already crossed on its path.
    pub hop: u8,
}

const _: () = assert!(size_of::<Packet>() <= 32, "a descriptor must stay within half a cache line");

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The limit was reached.
    Overlimit,
    /// The queue stood for too long (CoDel).
    Standing,
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
