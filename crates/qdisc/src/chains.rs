//! Many FIFO queues in one pool of packets: memory follows what waits in all of them together, and a queue that
//! has nothing costs a few numbers.

use crate::{Backlog, Packet, SubQueue};

const NONE: u32 = u32::MAX;

/// The packets of many queues.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    nodes: Vec<Node>,
    /// The first free node; the others follow it.
    free: u32,
}

/// A packet and its neighbors in its queue.
#[derive(Clone, Copy, Debug)]
struct Node {
    packet: Packet,
    next: u32,
    previous: u32,
}

/// One queue, whose packets are in the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
    tail: u32,
    bytes: u64,
}

impl Chain {
    pub(crate) const EMPTY: Chain = Chain { head: NONE, tail: NONE, bytes: 0 };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }

    /// Bytes on the wire of all packets in it.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Pool {
    pub(crate) fn new() -> Pool {
        Pool { nodes: Vec::new(), free: NONE }
    }

    #[inline]
    pub(crate) fn push_back(&mut self, chain: &mut Chain, packet: Packet) {
        let node = Node { packet, next: NONE, previous: chain.tail };
        let index = self.place(node);
        match chain.tail {
            NONE => chain.head = index,
            tail => self.nodes[tail as usize].next = index,
        }
        chain.tail = index;
        chain.bytes += u64::from(packet.wire_bytes);
    }

    /// The first packet's size on the wire.
    #[inline]
    pub(crate) fn front_bytes(&self, chain: &Chain) -> Option<u32> {
        self.nodes.get(chain.head as usize).map(|node| node.packet.wire_bytes)
    }

    #[inline]
    pub(crate) fn pop_front(&mut self, chain: &mut Chain) -> Option<Packet> {
        let index = chain.head;
        let Node { packet, next, .. } = *self.nodes.get(index as usize)?;
        chain.head = next;
        match next {
            NONE => chain.tail = NONE,
            next => self.nodes[next as usize].previous = NONE,
        }
        chain.bytes -= u64::from(packet.wire_bytes);
        self.release(index);
        Some(packet)
    }

    pub(crate) fn pop_back(&mut self, chain: &mut Chain) -> Option<Packet> {
        let index = chain.tail;
        let Node { packet, previous, .. } = *self.nodes.get(index as usize)?;
        chain.tail = previous;
        match previous {
            NONE => chain.head = NONE,
            previous => self.nodes[previous as usize].next = NONE,
        }
        chain.bytes -= u64::from(packet.wire_bytes);
        self.release(index);
        Some(packet)
    }

    /// What a queue holds, for those who watch; nothing if it is empty. Looks at each of its packets.
    pub(crate) fn look(&self, chain: &Chain, is_new: bool) -> Option<SubQueue> {
        let first = self.nodes.get(chain.head as usize)?;
        let rest = std::iter::successors(Some(first), |node| self.nodes.get(node.next as usize));
        let backlog = Backlog { packets: rest.count() as u64, bytes: chain.bytes() };
        Some(SubQueue { backlog, group: first.packet.group, is_new })
    }

    #[inline]
    fn place(&mut self, node: Node) -> u32 {
        let index = self.free;
        if let Some(free) = self.nodes.get_mut(index as usize) {
            self.free = free.next;
            *free = node;
            return index;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }

    #[inline]
    fn release(&mut self, index: u32) {
        self.nodes[index as usize].next = self.free;
        self.free = index;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        PushBack,
        PopFront,
        PopBack,
    }

    proptest! {
        #[test]
        fn chains_are_queues(steps in prop::collection::vec((0..3_usize, prop_oneof![
            3 => Just(Step::PushBack), 1 => Just(Step::PopFront), 1 => Just(Step::PopBack)
        ]), 1..300)) {
            let mut pool = Pool::new();
            let mut chains = [Chain::EMPTY; 3];
            let mut twins: [VecDeque<Packet>; 3] = Default::default();
            let mut most = 0;
            for (seq, (which, step)) in steps.into_iter().enumerate() {
                let (chain, twin) = (&mut chains[which], &mut twins[which]);
                match step {
                    Step::PushBack => {
                        let seq = seq as u32;
                        let packet = Packet { seq, wire_bytes: 40 + seq, ..Packet::default() };
                        pool.push_back(chain, packet);
                        twin.push_back(packet);
                    }
                    Step::PopFront => prop_assert_eq!(pool.pop_front(chain), twin.pop_front()),
                    Step::PopBack => prop_assert_eq!(pool.pop_back(chain), twin.pop_back()),
                }
                prop_assert_eq!(chain.bytes(), twin.iter().map(|packet| u64::from(packet.wire_bytes)).sum::<u64>());
                prop_assert_eq!(chain.is_empty(), twin.is_empty());
                let seen = pool.look(chain, false).map(|queue| (queue.backlog.packets, queue.backlog.bytes));
                let held = (twin.len() as u64, chain.bytes());
                prop_assert_eq!(seen, (!twin.is_empty()).then_some(held));
                prop_assert_eq!(pool.front_bytes(chain), twin.front().map(|packet| packet.wire_bytes));
                most = most.max(twins.iter().map(VecDeque::len).sum::<usize>());
            }
            prop_assert_eq!(pool.nodes.len(), most);
        }
    }
}
