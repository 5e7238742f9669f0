//! Puts events in order that are reported ahead of their time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bufferlab_units::Time;

/// Events by time; at equal times, in the order of their reports.
pub(crate) struct Order<E> {
    /// Time, number of earlier reports, and the event's place. Apart from the events, since a heap moves its entries.
    heap: BinaryHeap<Reverse<(Time, u64, u32)>>,
    events: Vec<Option<E>>,
    /// Places without an event.
    free: Vec<u32>,
    pushed: u64,
}

impl<E> Order<E> {
    pub(crate) fn new() -> Order<E> {
        Order { heap: BinaryHeap::new(), events: Vec::new(), free: Vec::new(), pushed: 0 }
    }

    pub(crate) fn push(&mut self, at: Time, event: E) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() as u32 - 1
        });
        self.events[place as usize] = Some(event);
        self.heap.push(Reverse((at, self.pushed, place)));
        self.pushed += 1;
    }

    /// The first event before `limit`.
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<(Time, E)> {
        let Reverse((at, _, place)) = *self.heap.peek()?;
        if at >= limit {
            return None;
        }
        self.heap.pop();
        self.free.push(place);
        self.events[place as usize].take().map(|event| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_by_time_and_then_as_pushed() {
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
