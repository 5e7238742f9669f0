//! Queues that share their memory: 10⁵ flows have one each, and most of them hold next to nothing.
//!
//! Items are stored in chunks. A queue is a chain of chunks; an empty queue has none. Memory that one flow's slow start
//! needed is used by the next flow's. So the total follows the most that all queues hold together; with a ring for each
//! queue it would follow the sum of their maxima. The chunk freed last is used first: it is still in the cache.

/// No chunk, and no position. As a position it looks like the last one of a chunk.
const NONE: u32 = u32::MAX;

/// The memory of many queues: chunks of `N` items, a power of two; few, since a queue wastes about half a chunk at
/// each end, and not too few, since memory is read faster in a row.
#[derive(Clone, Debug)]
pub(crate) struct Pool<T, const N: u32> {
    slots: Vec<T>,
    /// The chunk after each: in its queue, or among the free ones.
    next: Vec<u32>,
    free: u32,
}

/// First in, first out; its items are in a [`Pool`], always the same one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    /// Positions of the first item and of the last one; the latter is [`NONE`] if there is no item.
    head: u32,
    tail: u32,
}

impl Queue {
    /// Holds nothing.
    pub(crate) const EMPTY: Queue = Queue { head: NONE, tail: NONE };
}

impl<T, const N: u32> Default for Pool<T, N> {
    fn default() -> Pool<T, N> {
        Pool { slots: Vec::new(), next: Vec::new(), free: NONE }
    }
}

impl<T: Copy + Default, const N: u32> Pool<T, N> {
    /// Appends an item.
    #[inline(always)]
    pub(crate) fn push(&mut self, queue: &mut Queue, item: T) {
        let behind = queue.tail.wrapping_add(1);
        queue.tail = if behind.is_multiple_of(N) { self.extend(queue) } else { behind };
        self.slots[queue.tail as usize] = item;
    }

    /// Moves the first item into `place`; false if there is none.
    #[inline(always)]
    pub(crate) fn pop_into(&mut self, queue: &mut Queue, place: &mut T) -> bool {
        let Some(item) = self.slots.get(queue.head as usize) else {
            return false;
        };
        *place = *item;
        let behind = queue.head.wrapping_add(1);
        if queue.head == queue.tail || behind.is_multiple_of(N) {
            self.release(queue);
        } else {
            queue.head = behind;
        }
        true
    }

    /// Adds a chunk to a queue whose last one is full; its first position.
    #[inline]
    fn extend(&mut self, queue: &mut Queue) -> u32 {
        let chunk = if self.free == NONE { self.grow() } else { self.free };
        self.free = self.next[chunk as usize];
        let first = chunk * N;
        match self.next.get_mut((queue.tail / N) as usize) {
            Some(next) if queue.tail != NONE => *next = chunk,
            _ => queue.head = first,
        }
        first
    }

    /// A new chunk, as if it had been free.
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let chunk = self.next.len() as u32;
        assert!(chunk < NONE / N, "a pool holds at most 2³² items");
        self.next.push(NONE);
        self.slots.resize(self.slots.len() + N as usize, T::default());
        chunk
    }

    /// Gives back the chunk whose last item was taken.
    #[inline]
    fn release(&mut self, queue: &mut Queue) {
        let chunk = queue.head / N;
        let next = std::mem::replace(&mut self.next[chunk as usize], self.free);
        self.free = chunk;
        if queue.head == queue.tail {
            *queue = Queue::EMPTY;
        } else {
            queue.head = next * N;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use bufferlab_units::Stream;

    #[test]
    fn agrees_with_standard_queues_and_takes_what_all_hold_at_most() {
        const QUEUES: usize = 50;
        let mut pool = Pool::<u64, 4>::default();
        let mut queues = [Queue::EMPTY; QUEUES];
        let mut twins = vec![VecDeque::new(); QUEUES];
        let (mut stream, mut held, mut most) = (Stream::new(1, 0, 0), 0, 0);
        for step in 0..200_000_u64 {
            // the queues fill in turn, each while the others run empty
            let favored = (step / 4_000) as usize % QUEUES;
            let index = if stream.below(3) == 0 { favored } else { stream.below(QUEUES as u64) as usize };
            if index == favored {
                pool.push(&mut queues[index], step);
                twins[index].push_back(step);
                held += 1;
            } else {
                let mut item = 0;
                let popped = pool.pop_into(&mut queues[index], &mut item).then_some(item);
                assert_eq!(popped, twins[index].pop_front());
                held -= usize::from(popped.is_some());
            }
            most = most.max(held);
        }
        assert!(most > 1_000);
        assert!(pool.slots.len() <= most + 2 * 8 * QUEUES, "{} {most}", pool.slots.len());
    }
}
