//! What an acknowledgement says.

use bufferlab_units::Time;

/// Up to three ranges of segments held beyond the cumulative acknowledgement, the newest first (RFC 2018
/// section 4; three fit beside a timestamp option, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    ranges: [(u32, u32); SackBlocks::MAX],
    len: u8,
}

impl SackBlocks {
    /// Blocks in one acknowledgement.
    pub const MAX: usize = 3;
    /// No blocks.
    pub const NONE: SackBlocks = SackBlocks { ranges: [(0, 0); SackBlocks::MAX], len: 0 };

    /// The ranges, each from its first segment to the one after its last.
    #[inline]
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.ranges[..usize::from(self.len)]
    }

    /// No blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Puts a range in front, drops those inside it, and the oldest if there is no room.
    pub(crate) fn report(&mut self, start: u32, end: u32) {
        let mut kept = SackBlocks::NONE;
        kept.push(start, end);
        for &(s, e) in self.ranges() {
            if s < start || e > end {
                kept.push(s, e);
            }
        }
        *self = kept;
    }

    /// Forgets ranges below the cumulative acknowledgement.
    pub(crate) fn forget_below(&mut self, next: u32) {
        let mut kept = SackBlocks::NONE;
        for &(s, e) in self.ranges() {
            if s > next {
                kept.push(s, e);
            }
        }
        *self = kept;
    }

    fn push(&mut self, start: u32, end: u32) {
        if usize::from(self.len) < SackBlocks::MAX {
            self.ranges[usize::from(self.len)] = (start, end);
            self.len += 1;
        }
    }
}

/// A pure acknowledgement. Its SACK blocks, which few have, are handed over beside it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The next segment that the receiver expects.
    pub ack: u32,
    /// Answers a SYN.
    pub syn: bool,
    /// Has SACK blocks: [`crate::Receiver::sack_blocks`] gives them.
    pub has_sack: bool,
    /// The segments that it acknowledges had been marked (RFC 8257 section 3.2).
    pub marked: bool,
    /// The timestamp echoed (RFC 7323 section 4.3).
    pub echo: Time,
}
