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
    slots: Box<[T]>,
    /// Positions of the first item and after the last; not wrapped.
    head: u32,
    tail: u32,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { slots: Box::default(), head: 0, tail: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Items held.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head) as usize
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
        self.slots.get(self.slot(self.head))
    }

    /// The item so far behind the first.
    pub(crate) fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        if place >= self.len() {
            return None;
        }
        let slot = self.slot(self.head.wrapping_add(place as u32));
        self.slots.get_mut(slot)
    }

    /// Where a position's item is.
    #[inline]
    fn slot(&self, position: u32) -> usize {
        position as usize & self.slots.len().wrapping_sub(1)
    }

    /// Appends an item.
    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        if self.len() == self.slots.len() {
            self.resize(self.slots.len() * 2);
        }
        let slot = self.slot(self.tail);
        self.slots[slot] = item;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Takes the first item.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        let mut item = T::default();
        self.pop_into(&mut item).then_some(item)
    }

    /// Moves the first item into `place`; false if there is none. Looks once a round whether the memory is still
    /// needed.
    #[inline]
    pub(crate) fn pop_into(&mut self, place: &mut T) -> bool {
        let Some(item) = self.front() else {
            return false;
        };
        *place = *item;
        self.head = self.head.wrapping_add(1);
        if self.slot(self.head) == 0 {
            self.shrink();
        }
        true
    }

    /// Takes items as long as `take` accepts them.
    #[inline]
    pub(crate) fn drain_while(&mut self, mut take: impl FnMut(&T) -> bool) {
        let (first, second) = self.halves();
        let mut taken = first.iter().take_while(|item| take(item)).count();
        if taken == first.len() {
            taken += second.iter().take_while(|item| take(item)).count();
        }
        let head = self.head.wrapping_add(taken as u32);
        let wraps = self.slot(head) < self.slot(self.head);
        self.head = head;
        if wraps {
            self.shrink();
        }
    }

    /// The items up to the last slot, and those from the first slot on.
    #[inline]
    fn halves(&self) -> (&[T], &[T]) {
        let (head, len) = (self.slot(self.head), self.len());
        let (before, from_head) = self.slots.split_at(head);
        let first = len.min(from_head.len());
        (&from_head[..first], &before[..len - first])
    }

    /// The items, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len() as u32).map(|offset| &self.slots[self.slot(self.head.wrapping_add(offset))])
    }

    #[inline(never)]
    fn shrink(&mut self) {
        if self.slots.len() > MIN_SLOTS && self.len() < self.slots.len() / 8 {
            self.resize(self.slots.len() / 4);
        }
    }

    #[inline(never)]
    fn resize(&mut self, slots: usize) {
        let slots = slots.max(MIN_SLOTS);
        let mut items: Vec<T> = Vec::with_capacity(slots);
        items.extend(self.iter());
        (self.head, self.tail) = (0, items.len() as u32);
        items.resize(slots, T::default());
        self.slots = items.into_boxed_slice();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use bufferlab_units::Stream;

    #[test]
    fn agrees_with_the_standard_queue_and_gives_memory_back() {
        let (mut ring, mut twin, mut most) = (Ring::default(), VecDeque::new(), 0);
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
            if step % 1_000 == 0 {
                let bound = step.saturating_sub(8_000);
                ring.drain_while(|item| *item < bound);
                twin = twin.into_iter().skip_while(|item| *item < bound).collect();
            }
            assert_eq!((ring.len(), ring.front()), (twin.len(), twin.front()));
            most = most.max(ring.len());
            assert!(ring.slots.len() <= (2 * most).max(MIN_SLOTS));
        }
        assert!(ring.iter().eq(twin.iter()));
        // two rounds with next to nothing in it
        while ring.len() > 1 {
            ring.pop();
        }
        for step in 0..4_096 {
            ring.push(step);
            ring.pop();
        }
        assert!(most > 1_000 && ring.slots.len() <= 4 * MIN_SLOTS, "{most} {}", ring.slots.len());
    }
}
