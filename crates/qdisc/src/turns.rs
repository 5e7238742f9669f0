//! Whose turn it is among queues of hashed flows: those of new flows first (RFC 8290 section 4).

use std::collections::VecDeque;

/// The queues that have packets, or just ran empty, in the order of their turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    /// Queues whose first packet came lately.
    new: VecDeque<u32>,
    /// The other ones.
    old: VecDeque<u32>,
}

impl Turns {
    /// The queue whose turn it is, and whether it is new (section 4.2).
    #[inline]
    pub(crate) fn first(&self) -> Option<(u32, bool)> {
        match self.new.front() {
            Some(&queue) => Some((queue, true)),
            None => self.old.front().map(|&queue| (queue, false)),
        }
    }

    /// A queue that was in no list has got a packet (section 4.1).
    #[inline]
    pub(crate) fn begin(&mut self, queue: u32) {
        self.new.push_back(queue);
    }

    /// The first queue has had its turn.
    #[inline]
    pub(crate) fn end_turn(&mut self, queue: u32, is_new: bool) {
        self.take_first(is_new);
        self.old.push_back(queue);
    }

    /// The first queue is empty: it leaves, or, if it is new and there are old ones, passes through their list first, so
    /// that it cannot starve them by leaving and coming again. Whether it stays.
    #[inline]
    pub(crate) fn leave(&mut self, queue: u32, is_new: bool) -> bool {
        let starves = is_new && !self.old.is_empty();
        self.take_first(is_new);
        if starves {
            self.old.push_back(queue);
        }
        starves
    }

    /// All queues, and whether they are new.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, bool)> + '_ {
        let old = self.old.iter().map(|&queue| (queue, false));
        self.new.iter().map(|&queue| (queue, true)).chain(old)
    }

    /// How many queues are new, and how many old.
    #[cfg(test)]
    pub(crate) fn lengths(&self) -> (usize, usize) {
        (self.new.len(), self.old.len())
    }

    #[inline]
    fn take_first(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        list.pop_front();
    }
}

/// The queue of a flow (section 4.1, with a seed, "salted", so that senders cannot aim at a queue): the upper half of
/// [`mixed`], scaled to the number of queues.
#[inline]
pub(crate) fn hashed(perturbation: u64, flow: u32, queues: u32) -> u32 {
    (((mixed(perturbation, flow) >> 32) * u64::from(queues)) >> 32) as u32
}

/// A number and a seed, spread over all bits: the finalizer of `SplitMix64` (Steele, Lea, Flood 2014).
#[inline]
pub(crate) fn mixed(perturbation: u64, number: u32) -> u64 {
    let mut z = perturbation ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z
}
