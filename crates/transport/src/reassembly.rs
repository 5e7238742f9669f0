//! What a receiver holds beyond a gap: next to constant work a segment, however many gaps there are, and a bit of
//! memory.
//!
//! A ring of bits, one per segment. A segment that comes mostly lengthens the range that was reported last, so that the
//! range's other end is known; where it is not, 64 segments are passed at a time.

use crate::SackBlocks;

/// Words at first, and when next to nothing is held.
const LEAST_WORDS: usize = 1;

/// Segments received out of order.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    /// Whether a segment is held, by its number. As many words as a power of two; the first missing segment and the
    /// one after the last that is held have bits of their own, which are not set.
    words: Vec<u64>,
    held: u32,
    /// One more than the highest segment ever held.
    end: u32,
    /// The ranges to report, the newest first.
    recent: SackBlocks,
}

impl Default for Reassembly {
    /// Nothing held.
    fn default() -> Reassembly {
        Reassembly { words: vec![0; LEAST_WORDS], held: 0, end: 0, recent: SackBlocks::NONE }
    }
}

impl Reassembly {
    /// Nothing is held.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// The ranges to report.
    pub(crate) fn blocks(&self) -> SackBlocks {
        self.recent
    }

    fn index(&self, seq: u32) -> usize {
        (seq / u64::BITS) as usize & (self.words.len() - 1)
    }

    /// One more than the highest segment ever held.
    pub(crate) fn end(&self) -> u32 {
        self.end
    }

    /// Whether a segment beyond the first missing one is held.
    pub(crate) fn holds(&self, seq: u32) -> bool {
        self.words[self.index(seq)] >> (seq % u64::BITS) & 1 != 0
    }

    /// Takes a segment beyond `next`, the one that is missing.
    pub(crate) fn insert(&mut self, next: u32, seq: u32) {
        self.make_room(next, seq);
        if self.holds(seq) {
            // a copy of what is held: RFC 2018 section 4, "The first SACK block […] MUST specify the contiguous block of
            // data containing the segment which triggered this ACK", however long ago it was reported
            self.recent.report(self.range_start(seq), self.range_end(seq));
            return;
        }
        let start = if seq > next + 1 && self.holds(seq - 1) { self.range_start(seq - 1) } else { seq };
        let end = if self.holds(seq + 1) { self.range_end(seq + 1) } else { seq + 1 };
        let index = self.index(seq);
        self.words[index] |= 1 << (seq % u64::BITS);
        self.held += 1;
        self.end = self.end.max(seq + 1);
        self.recent.report(start, end);
    }

    /// `next` came: returns the first segment that is missing after it.
    pub(crate) fn advance(&mut self, next: u32) -> u32 {
        let start = next + 1;
        if self.held == 0 || !self.holds(start) {
            return start;
        }
        let end = self.range_end(start);
        self.clear(start, end);
        self.held -= end - start;
        self.give_room_back(end);
        self.recent.forget_below(end);
        end
    }

    /// The recently reported range that a segment is in. Such ranges are whole: what lengthens one reports it again.
    fn recent_range(&self, seq: u32) -> Option<(u32, u32)> {
        self.recent.ranges().iter().find(|(start, end)| (*start..*end).contains(&seq)).copied()
    }

    /// The first segment of the range that `seq` is in.
    fn range_start(&self, mut seq: u32) -> u32 {
        if let Some((start, _)) = self.recent_range(seq) {
            return start;
        }
        loop {
            let bit = seq % u64::BITS;
            let missing = !self.words[self.index(seq)] << (u64::BITS - 1 - bit);
            if missing != 0 {
                return seq + 1 - missing.leading_zeros();
            }
            seq -= bit + 1;
        }
    }

    /// One more than the last segment of the range that `seq` is in.
    fn range_end(&self, mut seq: u32) -> u32 {
        if let Some((_, end)) = self.recent_range(seq) {
            return end;
        }
        loop {
            let bit = seq % u64::BITS;
            let missing = !self.words[self.index(seq)] >> bit;
            if missing != 0 {
                return seq + missing.trailing_zeros();
            }
            seq += u64::BITS - bit;
        }
    }

    fn clear(&mut self, mut seq: u32, end: u32) {
        while seq < end {
            let bit = seq % u64::BITS;
            let bits = (end - seq).min(u64::BITS - bit);
            let index = self.index(seq);
            self.words[index] &= !(u64::MAX >> (u64::BITS - bits) << bit);
            seq += bits;
        }
    }

    /// Room for `next..=seq + 1`: the bit after the newest segment must not be another one's.
    fn make_room(&mut self, next: u32, seq: u32) {
        let needed = words_of(seq - next + 2);
        if needed > self.words.len() {
            self.resize(next, needed);
        }
    }

    /// Less room if `next..=end` takes but a quarter of it: the memory of a large window, which a flow may not see
    /// again.
    fn give_room_back(&mut self, next: u32) {
        let needed = words_of(self.end.max(next) - next + 1);
        if needed <= self.words.len() / 4 {
            self.resize(next, 2 * needed);
        }
    }

    /// Moves the bits of `next..end` to this number of words.
    fn resize(&mut self, next: u32, room: usize) {
        let mut words = vec![0; room];
        let mut seq = next;
        while seq < self.end {
            // a word may hold the first segments and the last ones
            let (word, first) = ((seq / u64::BITS) as usize, seq % u64::BITS);
            let count = (u64::BITS - first).min(self.end - seq);
            let mask = u64::MAX >> (u64::BITS - count) << first;
            words[word & (room - 1)] |= self.words[word & (self.words.len() - 1)] & mask;
            seq += count;
        }
        self.words = words;
    }
}

/// Words for this number of segments: a power of two.
fn words_of(segments: u32) -> usize {
    (segments.div_ceil(u64::BITS) as usize).next_power_of_two().max(LEAST_WORDS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_newest_range_is_reported_first() {
        let mut held = Reassembly::default();
        for seq in [2, 4, 6, 8] {
            held.insert(0, seq);
        }
        assert_eq!(held.blocks().ranges(), [(8, 9), (6, 7), (4, 5)]);
        held.insert(0, 3);
        assert_eq!(held.blocks().ranges(), [(2, 5), (8, 9), (6, 7)]);
        assert_eq!(held.advance(0), 1);
        assert_eq!(held.advance(1), 5);
        assert_eq!(held.blocks().ranges(), [(8, 9), (6, 7)]);
    }

    /// RFC 2018 section 4: also if more recent ranges have taken its place.
    #[test]
    fn a_copy_of_what_is_held_reports_its_range_first() {
        let mut held = Reassembly::default();
        for seq in [2, 3, 6, 8, 10] {
            held.insert(0, seq);
        }
        assert_eq!(held.blocks().ranges(), [(10, 11), (8, 9), (6, 7)]);
        held.insert(0, 3);
        assert_eq!(held.blocks().ranges(), [(2, 4), (10, 11), (8, 9)]);
    }

    #[test]
    fn more_and_less_room_keep_what_is_held() {
        for next in 0..130 {
            // every third, over all words of which the first and the last share one
            let held: Vec<u32> = (next + 1..next + 64 * LEAST_WORDS as u32).step_by(3).collect();
            let mut reassembly = Reassembly::default();
            for &seq in &held {
                reassembly.insert(next, seq);
            }
            assert_eq!(reassembly.words.len(), LEAST_WORDS);
            for room in [4 * LEAST_WORDS, 2 * LEAST_WORDS, LEAST_WORDS] {
                reassembly.resize(next, room);
                let kept: Vec<u32> = (next..reassembly.end).filter(|&seq| reassembly.holds(seq)).collect();
                assert_eq!((kept, reassembly.words.len()), (held.clone(), room));
            }
            let bits: u32 = reassembly.words.iter().map(|word| word.count_ones()).sum();
            assert_eq!(bits as usize, held.len());
        }
    }

    #[test]
    fn agrees_with_a_set_on_a_random_order() {
        let mut state = 12345_u32;
        let mut random = move |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % bound
        };
        let (mut held, mut twin, mut next) = (Reassembly::default(), BTreeSet::new(), 0);
        for _ in 0..100_000 {
            let seq = next + random(300);
            if seq == next {
                next = held.advance(next);
                let mut expected = seq + 1;
                while twin.remove(&expected) {
                    expected += 1;
                }
                assert_eq!(next, expected);
            } else {
                held.insert(next, seq);
                twin.insert(seq);
                let &(start, end) = held.blocks().ranges().first().unwrap();
                assert!((start..end).contains(&seq));
                assert!((start..end).all(|seq| twin.contains(&seq)));
                assert!(!twin.contains(&(start - 1)) && !twin.contains(&end));
            }
            assert_eq!(held.held as usize, twin.len());
        }
        assert!(next > 1000);
    }
}
