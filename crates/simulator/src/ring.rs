//! A queue in a ring whose size follows what it holds.
//!
//! Like `VecDeque`, with two differences that count here: positions are masked, which takes fewer
//! instructions on the packet path, and memory that a slow start's peak needed is given back, which decides the
//! memory of a run with 10⁵ flows.

/// Least number of slots once there are any.
const MIN_SLOTS: usize = 4;

/// First in, first out.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// A power of two of them, or none.
    slots: Vec<T>,
    /// Positions of the first item and after the last; not wrapped.
    head: usize,
    tail: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { slots: Vec::new(), head: 0, tail: 0 }
    }
}

impl<T: Copy> Ring<T> {
    /// Items held.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Nothing is held.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// The first item.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        if self.is_empty() {
            return None;
        }
        self.slots.get(self.head & self.slots.len().wrapping_sub(1))
    }

    /// Appends an item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.len() == self.slots.len() {
            self.resize(self.slots.len() * 2, item);
        }
        let mask = self.slots.len().wrapping_sub(1);
        if let Some(slot) = self.slots.get_mut(self.tail & mask) {
            *slot = item;
        }
        self.tail = self.tail.wrapping_add(1);
    }

    /// Takes the first item.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.head = self.head.wrapping_add(1);
        if self.len() < self.slots.len() / 8 {
            self.shrink(item);
        }
        Some(item)
    }

    /// The items, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.len()).map(move |offset| &self.slots[self.head.wrapping_add(offset) & mask])
    }

    #[inline(never)]
    fn shrink(&mut self, filler: T) {
        if self.slots.len() > MIN_SLOTS {
            self.resize(self.slots.len() / 4, filler);
        }
    }

    #[inline(never)]
    fn resize(&mut self, slots: usize, filler: T) {
        let slots = slots.max(MIN_SLOTS);
        let mut items: Vec<T> = Vec::with_capacity(slots);
        items.extend(self.iter());
        (self.head, self.tail) = (0, items.len());
        items.resize(slots, filler);
        self.slots = items;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use bufferlab_units::Stream;

    #[test]
    fn agrees_with_the_standard_queue_and_gives_memory_back() {
        let (mut ring, mut twin) = (Ring::default(), VecDeque::new());
        let mut stream = Stream::new(1, 0, 0);
        for step in 0..100_000_u64 {
            // mostly growing, then mostly shrinking
            let grow = if step % 20_000 < 10_000 { 6 } else { 4 };
            if stream.below(10) < grow {
                ring.push(step);
                twin.push_back(step);
            } else {
                assert_eq!(ring.pop(), twin.pop_front());
            }
            assert_eq!((ring.len(), ring.front()), (twin.len(), twin.front()));
            assert!(ring.slots.len() <= (8 * (ring.len() + 1)).max(MIN_SLOTS));
        }
        assert!(ring.iter().eq(twin.iter()));
    }
}
