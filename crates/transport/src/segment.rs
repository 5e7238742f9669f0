//! Segments to be sent, and what arriving ones say of congestion.

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens the connection.
    Syn,
    /// Data for the first time.
    New,
    /// Data again.
    Retransmission,
}

/// A segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Its number; 0 for a SYN.
    pub seq: u32,
}

/// What a data segment says of congestion when it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notice(u8);

impl Notice {
    const MARKED: u8 = 1;
    const REDUCED: u8 = 2;
    const BY_PACKET: u8 = 4;

    /// Nothing.
    pub const PLAIN: Notice = Notice(0);

    /// It was `marked` by a queue (CE); its sender has `reduced` the window since the last such notice (CWR).
    #[inline(always)]
    pub fn new(marked: bool, reduced: bool) -> Notice {
        Notice((u8::from(marked) * Notice::MARKED) | (u8::from(reduced) * Notice::REDUCED))
    }

    /// What no segment says: a receiver that expects it looks at each closely.
    pub(crate) fn by_packet(self) -> Notice {
        Notice(self.0 | Notice::BY_PACKET)
    }

    /// Whether it is that.
    pub(crate) fn is_by_packet(self) -> bool {
        self.0 & Notice::BY_PACKET != 0
    }

    /// A queue marked it.
    #[inline]
    pub fn is_marked(self) -> bool {
        self.0 & Notice::MARKED != 0
    }
}
