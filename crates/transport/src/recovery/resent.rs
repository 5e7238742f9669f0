//! Retransmissions in order of sending, so that a lost one is known by what was sent after it and delivered.
//!
//! RFC 8985 section 6.2 step 5 with a reordering window of zero; before it, Linux did the same for what was sent for
//! the first time after a retransmission (`tcp_mark_lost_retrans`).

use std::collections::VecDeque;

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resending {
    pub(crate) seq: u32,
    order: u32,
    /// Segments from here on were sent for the first time after it.
    before: u32,
}

/// Retransmissions in order of sending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resent {
    under_way: VecDeque<Resending>,
    /// The place of the last retransmission of each segment, in a ring.
    orders: Vec<u32>,
    /// The place of the next one.
    next: u32,
    /// Those placed below were lost, or delivered.
    passed: u32,
    /// Segments below were sent for the first time before a retransmission that was delivered.
    sent_before: u32,
    /// Lost once more, to be sent once more.
    again: VecDeque<u32>,
}

impl Resent {
    /// Forgets all; gives the memory back too.
    pub(crate) fn forget_all(&mut self) {
        *self = Resent { next: self.next, passed: self.next, ..Resent::default() };
    }

    /// Segment `seq` of the outstanding ones, `una` to `nxt`, is sent again.
    pub(crate) fn on_resent(&mut self, una: u32, nxt: u32, seq: u32) {
        self.under_way.push_back(Resending { seq, order: self.next, before: nxt });
        self.next += 1;
        if (nxt - una) as usize > self.orders.len() {
            self.orders = vec![0; (nxt - una).next_power_of_two() as usize];
            for index in 0..self.under_way.len() {
                self.place(self.under_way[index]);
            }
        } else {
            self.place(Resending { seq, order: self.next - 1, before: nxt });
        }
        if self.again.front() == Some(&seq) {
            self.again.pop_front();
        }
    }

    fn place(&mut self, resending: Resending) {
        let slot = self.slot(resending.seq);
        self.orders[slot] = resending.order;
    }

    fn slot(&self, seq: u32) -> usize {
        seq as usize & (self.orders.len() - 1)
    }

    /// A retransmitted segment is delivered: what was sent before its retransmission is no longer in flight.
    pub(crate) fn on_delivered(&mut self, seq: u32) {
        let order = self.orders[self.slot(seq)];
        self.passed = self.passed.max(order);
        // orders are consecutive; one that is gone was covered by another
        let place = self.under_way.front().and_then(|first| order.checked_sub(first.order));
        let resending = place.and_then(|place| self.under_way.get(place as usize));
        self.sent_before = resending.map_or(0, |resending| resending.before).max(self.sent_before);
    }

    /// Segments below were sent for the first time before a retransmission that was delivered.
    pub(crate) fn sent_before(&self) -> u32 {
        self.sent_before
    }

    /// The next retransmission that cannot be under way: something sent later was delivered. Segments sent for the
    /// first time below `delivered_to` are, or are lost. (It may itself have been delivered.)
    pub(crate) fn pop_passed(&mut self, delivered_to: u32) -> Option<Resending> {
        let first = *self.under_way.front()?;
        let passed = first.order < self.passed || first.before < delivered_to;
        if passed { self.under_way.pop_front() } else { None }
    }

    /// Whether this is the segment's last retransmission.
    pub(crate) fn is_last(&self, resending: Resending) -> bool {
        self.orders[self.slot(resending.seq)] == resending.order
    }

    /// A retransmission was lost.
    pub(crate) fn push_lost(&mut self, seq: u32) {
        self.again.push_back(seq);
    }

    /// The first one that was lost and not sent once more, if it is still `wanted`.
    pub(crate) fn next_lost(&mut self, wanted: impl Fn(u32) -> bool) -> Option<u32> {
        while let Some(&seq) = self.again.front() {
            if wanted(seq) {
                return Some(seq);
            }
            self.again.pop_front();
        }
        None
    }
}
