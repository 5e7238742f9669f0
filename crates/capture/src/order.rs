//! Events that are told ahead of their time, put in order.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use bufferlab_units::Time;

struct Entry<E> {
    at: Time,
    number: u64,
    event: E,
}

impl<E> Entry<E> {
    fn key(&self) -> (Time, u64) {
        (self.at, self.number)
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Entry<E>) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Entry<E>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    /// The earliest is the greatest: the heap gives the greatest first.
    fn cmp(&self, other: &Entry<E>) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// By time; at one moment, in the order of telling.
pub(crate) struct Order<E> {
    heap: BinaryHeap<Entry<E>>,
    told: u64,
}

impl<E> Order<E> {
    pub(crate) fn new() -> Order<E> {
        Order { heap: BinaryHeap::new(), told: 0 }
    }

    pub(crate) fn push(&mut self, at: Time, event: E) {
        self.heap.push(Entry { at, number: self.told, event });
        self.told += 1;
    }

    /// The first event before `limit`.
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<(Time, E)> {
        if self.heap.peek()?.at >= limit {
            return None;
        }
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_as_told() {
        let mut order = Order::new();
        for (at, event) in [(5, 'c'), (3, 'a'), (5, 'd'), (3, 'b'), (9, 'e')] {
            order.push(Time::from_ps(at), event);
        }
        let mut taken = String::new();
        while let Some((_, event)) = order.pop_before(Time::from_ps(9)) {
            taken.push(event);
        }
        assert_eq!(taken, "abcd");
        assert_eq!(order.pop_before(Time::NEVER), Some((Time::from_ps(9), 'e')));
    }
}
