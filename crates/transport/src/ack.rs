//! What an acknowledgment says.

use bufferlab_units::{Span, Time};

/// Up to three ranges of segments held beyond the cumulative acknowledgment, the newest first (RFC 2018
/// section 4; three fit beside a timestamp option, section 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    ranges: [(u32, u32); SackBlocks::MAX],
    len: u8,
}

impl SackBlocks {
    /// Blocks in one acknowledgment.
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

    /// Puts a range in front, drops those inside it, and the oldest if there is no room. In place: a copy made whole
    /// after its parts were written would wait for them.
    pub(crate) fn report(&mut self, start: u32, end: u32) {
        let (mut next, mut kept) = ((start, end), 0);
        for index in 0..usize::from(self.len) {
            let (s, e) = self.ranges[index];
            if s < start || e > end {
                self.ranges[kept] = std::mem::replace(&mut next, (s, e));
                kept += 1;
            }
        }
        if kept < SackBlocks::MAX {
            self.ranges[kept] = next;
            kept += 1;
        }
        self.keep(kept);
    }

    /// Forgets ranges below the cumulative acknowledgment.
    pub(crate) fn forget_below(&mut self, next: u32) {
        let mut kept = 0;
        for index in 0..usize::from(self.len) {
            let (s, e) = self.ranges[index];
            if s > next {
                self.ranges[kept] = (s, e);
                kept += 1;
            }
        }
        self.keep(kept);
    }

    /// The first ranges stay; the places of the others are empty, so that equal blocks compare equal.
    fn keep(&mut self, kept: usize) {
        for place in kept..usize::from(self.len) {
            self.ranges[place] = (0, 0);
        }
        self.len = kept as u8;
    }
}

/// A pure acknowledgment. Its SACK blocks, which few have, are handed over beside it.
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
    /// QUIC: how long it was delayed, in 255ths of the longest delay (RFC 9000 section 19.3, ACK Delay, which has a
    /// coarse unit, too).
    pub delay: u8,
    /// The timestamp echoed (RFC 7323 section 4.3). QUIC: when the newest packet that has arrived was sent.
    pub echo: Time,
}

impl Ack {
    /// A delay as it is reported, where `longest` is the longest.
    pub(crate) fn reported(delay: Span, longest: Span) -> u8 {
        let parts = u128::from(delay.min(longest).as_ps()) * u128::from(u8::MAX);
        parts.checked_div(longest.as_ps().into()).unwrap_or(0) as u8
    }

    /// The delay that was reported.
    pub(crate) fn delay_of(reported: u8, longest: Span) -> Span {
        Span::from_ps(longest.as_ps() / u64::from(u8::MAX) * u64::from(reported))
    }
}

const _: () = assert!(size_of::<Ack>() == 16, "an acknowledgment moves in two registers");
