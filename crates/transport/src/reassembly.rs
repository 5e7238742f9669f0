//! What a receiver holds beyond a gap: constant work a segment, however many gaps there are.
//!
//! A ring with one slot a segment. The slots at both ends of a contiguous range name its other end (boundary
//! tags, Knuth 1973 volume 1 section 2.5), so that joining two ranges is two stores. Slots inside a range only
//! say that their segment is there.

use crate::SackBlocks;

/// Not received.
const EMPTY: u32 = u32::MAX;

/// Segments received out of order.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    slots: Vec<u32>,
    held: u32,
    /// The ranges to report, the newest first.
    recent: SackBlocks,
}

impl Reassembly {
    /// Nothing held.
    pub(crate) fn new() -> Reassembly {
        Reassembly { slots: vec![EMPTY; 16], held: 0, recent: SackBlocks::NONE }
    }

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
        seq as usize & (self.slots.len() - 1)
    }

    fn slot(&self, seq: u32) -> u32 {
        self.slots[self.index(seq)]
    }

    fn set(&mut self, seq: u32, value: u32) {
        let index = self.index(seq);
        self.slots[index] = value;
    }

    /// Takes a segment beyond `next`, the one that is missing.
    pub(crate) fn insert(&mut self, next: u32, seq: u32) {
        self.make_room(next, seq);
        if self.slot(seq) != EMPTY {
            // a copy of what is held: report its range again, as far as it is known from the recent ones
            if let Some(&(start, end)) = self.recent.ranges().iter().find(|(s, e)| (*s..*e).contains(&seq)) {
                self.recent.report(start, end);
            }
            return;
        }
        let left = if seq > next + 1 { self.slot(seq - 1) } else { EMPTY };
        let right = self.slot(seq + 1);
        let start = if left == EMPTY { seq } else { left };
        let last = if right == EMPTY { seq } else { right };
        self.set(seq, seq);
        self.set(start, last);
        self.set(last, start);
        self.held += 1;
        self.recent.report(start, last + 1);
    }

    /// `next` came: returns the first segment that is missing after it.
    pub(crate) fn advance(&mut self, next: u32) -> u32 {
        let start = next + 1;
        let last = self.slot(start);
        if self.held == 0 || last == EMPTY {
            return start;
        }
        for seq in start..=last {
            self.set(seq, EMPTY);
        }
        self.held -= last - next;
        self.recent.forget_below(last + 1);
        last + 1
    }

    /// Room for `next..=seq + 1`: the slot after the newest segment must not be another one's.
    fn make_room(&mut self, next: u32, seq: u32) {
        let needed = (seq - next + 2) as usize;
        if needed <= self.slots.len() {
            return;
        }
        let mut grown = vec![EMPTY; needed.next_power_of_two()];
        let mask = grown.len() - 1;
        for offset in 0..self.slots.len() as u32 {
            let held = next + offset;
            grown[held as usize & mask] = self.slot(held);
        }
        self.slots = grown;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_newest_range_is_reported_first() {
        let mut held = Reassembly::new();
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

    #[test]
    fn agrees_with_a_set_on_a_random_order() {
        let mut state = 12345_u32;
        let mut random = move |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % bound
        };
        let (mut held, mut twin, mut next) = (Reassembly::new(), BTreeSet::new(), 0);
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
                if !twin.insert(seq) {
                    continue;
                }
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
