//! Acknowledgments of a flow whose way back crosses queued links.
//!
//! A packet in a queue has a number only; what it acknowledges waits here. If no queue on the way reorders, an
//! acknowledgment that arrives shows that those before it were dropped. If one may reorder, those before it may still
//! arrive. They are kept until enough newer ones were sent that they must have been dropped.

use bufferlab_qdisc::Packet;
use bufferlab_transport::{Ack, SackBlocks};

use crate::ring::Ring;

/// Most acknowledgments, sent later, that one may arrive after.
const MOST_REORDERED: usize = 1 << 16;

/// The way back of one flow.
#[derive(Clone, Debug)]
pub(crate) struct ReturnPath {
    /// On the way to the first reverse link.
    pub(crate) outgoing: Ring<Packet>,
    /// Contents of those on the reverse links, by number from `first` on; nothing once it has arrived.
    contents: Ring<Option<(Ack, SackBlocks)>>,
    first: u32,
    reorders: bool,
}

impl ReturnPath {
    /// An empty path; `reorders` if a queue on the way may change the order.
    pub(crate) fn new(reorders: bool) -> ReturnPath {
        ReturnPath { outgoing: Ring::default(), contents: Ring::default(), first: 0, reorders }
    }

    /// Sends an acknowledgment; returns its number.
    pub(crate) fn push(&mut self, ack: Ack, blocks: SackBlocks) -> u32 {
        let number = self.first.wrapping_add(self.contents.len() as u32);
        self.contents.push(Some((ack, blocks)));
        if self.contents.len() > MOST_REORDERED && self.reorders {
            self.forget_first();
        }
        number
    }

    /// The content of acknowledgment `number`, which arrives at the sender.
    pub(crate) fn take(&mut self, number: u32) -> Option<(Ack, SackBlocks)> {
        let place = number.wrapping_sub(self.first) as usize;
        let content = self.contents.get_mut(place)?.take();
        if !self.reorders {
            (0..=place).for_each(|_| self.forget_first());
        }
        while self.contents.front().is_some_and(Option::is_none) {
            self.forget_first();
        }
        content
    }

    fn forget_first(&mut self) {
        self.contents.pop();
        self.first = self.first.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(path: &mut ReturnPath, count: u32) -> Vec<u32> {
        (0..count).map(|ack| path.push(Ack { ack, ..Ack::default() }, SackBlocks::NONE)).collect()
    }

    fn home(path: &mut ReturnPath, number: u32) -> Option<u32> {
        path.take(number).map(|(ack, _)| ack.ack)
    }

    #[test]
    fn in_order_those_before_were_dropped() {
        let mut path = ReturnPath::new(false);
        assert_eq!(sent(&mut path, 4), [0, 1, 2, 3]);
        assert_eq!(home(&mut path, 2), Some(2));
        assert_eq!(path.contents.len(), 1);
        assert_eq!(home(&mut path, 1), None);
        assert_eq!(home(&mut path, 3), Some(3));
    }

    #[test]
    fn reordered_ones_still_arrive() {
        let mut path = ReturnPath::new(true);
        sent(&mut path, 4);
        let order = [2, 0, 3, 1].map(|number| home(&mut path, number));
        assert_eq!(order, [Some(2), Some(0), Some(3), Some(1)]);
        assert!(path.contents.is_empty());
    }

    #[test]
    fn the_dropped_are_forgotten_in_the_end() {
        let mut path = ReturnPath::new(true);
        sent(&mut path, 3 * MOST_REORDERED as u32);
        assert_eq!(path.contents.len(), MOST_REORDERED);
        assert_eq!(home(&mut path, 0), None);
    }
}
