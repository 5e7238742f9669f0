//! One of a tin's queues, and lists of them.

use super::ways::QUEUES;
use crate::chains::Chain;
use crate::cobalt::State;

/// Where a queue is (`CAKE_SET_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Set {
    /// Nowhere: it is free.
    None,
    /// Among the sparse ones, whose first packet came lately.
    Sparse,
    /// Served among the bulk ones as it ran out of credit, but empty since: it counts as sparse.
    SparseWait,
    /// Among the bulk ones.
    Bulk,
    /// Empty, until its COBALT has come to rest.
    Decaying,
}

/// A queue with its COBALT.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub(super) chain: Chain,
    pub(super) state: State,
    /// Bytes that it may send in this turn.
    pub(super) deficit: i32,
    next: u16,
    previous: u16,
    /// Places of its flow's hosts.
    pub(super) sender: u16,
    pub(super) receiver: u16,
    pub(super) set: Set,
}

impl Queue {
    pub(super) const NEW: Queue = Queue {
        chain: Chain::EMPTY,
        state: State::NEW,
        deficit: 0,
        next: NONE,
        previous: NONE,
        sender: 0,
        receiver: 0,
        set: Set::None,
    };
}

const NONE: u16 = u16::MAX;
const _: () = assert!(QUEUES < NONE as usize, "places fit the links of a list");

/// Queues in an order, each in one list at most.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    head: u16,
    tail: u16,
}

impl List {
    pub(super) const EMPTY: List = List { head: NONE, tail: NONE };

    #[inline]
    pub(super) fn first(self) -> Option<usize> {
        (self.head != NONE).then_some(usize::from(self.head))
    }

    #[inline]
    pub(super) fn push(&mut self, queues: &mut [Queue], place: usize) {
        let at = place as u16;
        (queues[place].previous, queues[place].next) = (self.tail, NONE);
        match self.tail {
            NONE => self.head = at,
            tail => queues[usize::from(tail)].next = at,
        }
        self.tail = at;
    }

    /// Takes out a queue that is in it.
    #[inline]
    pub(super) fn remove(&mut self, queues: &mut [Queue], place: usize) {
        let Queue { next, previous, .. } = queues[place];
        match previous {
            NONE => self.head = next,
            previous => queues[usize::from(previous)].next = next,
        }
        match next {
            NONE => self.tail = previous,
            next => queues[usize::from(next)].previous = previous,
        }
    }

    pub(super) fn iter(self, queues: &[Queue]) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.first(), |&place| {
            let next = queues[place].next;
            (next != NONE).then_some(usize::from(next))
        })
    }
}
