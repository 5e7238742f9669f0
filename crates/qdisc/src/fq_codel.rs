//! FQ-CoDel: flows are hashed to queues that are served in rounds, those of new flows first, each under CoDel.
//!
//! Source: RFC 8290: section 4.1 enqueue, 4.2 dequeue, 5.2 parameters; CoDel as in [`crate::Codel`]. Where it leaves
//! room, the behavior of Linux (`net/sched/sch_fq_codel.c`).
//!
//! A queue whose first packet comes joins the list of new queues with a quantum of bytes to send. When that is spent
//! it gets another one and goes to the end of the list of old queues, which is served when there is no new one. A new
//! queue that runs empty passes through the old list first, so that it cannot starve the old ones by leaving and
//! coming again. If more waits than the limit allows, the queue with most bytes loses packets from its head: half its
//! bytes or a batch of packets, whatever comes first.
//!
//! Departures from RFC 8290, the first three as in Linux:
//! - Half of the fattest queue is half its bytes; section 4.1 counts packets.
//! - A new queue that runs empty leaves at once if there is no old one; section 4.2 always moves it to the old list.
//! - A queue with no credits left has had its turn (section 3: "zero or less"); section 4.2 says "negative".
//! - Flows are identified by number, hashed with a seed, as there are no addresses here. Two flows may share a queue,
//!   as in the RFC.
//! - A packet that comes drops no more batches than it takes to make its own room, so a new, lower limit keeps what
//!   waits; Linux drops what exceeds it.
//!
//! Departures from Linux:
//! - There is no limit of memory (`memory_limit`, 32 MB): packets here have no payload.
//! - A batch dropped for the limit does not raise CoDel's count.
//! - CoDel never drops the only packet in its queue, unless [`CodelBacklog::All`] asks for what Linux does.
//! - No `ce_threshold` for a selected traffic class only.
//!
//! Cost: one copy of 40 bytes each way, a hash, a queue's state (a cache line or two). A drop at the limit looks at
//! every queue that has packets, once a batch. Memory: some 100 bytes a queue, 48 a packet.

use bufferlab_parameters::{LARGEST_PACKET, bytes, choice, count, parameters, words};
use bufferlab_units::Time;

use crate::chains::{Chain, Pool};
use crate::codel::{DropState, Service, Source};
use crate::drr::LEAST_QUANTUM;
use crate::turns::{Turns, hashed};
use crate::{
    Backlog, CodelConfig, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc, SubQueue,
};

/// Most queues of hashed flows (Linux's).
const MOST_QUEUES: u64 = 1 << 16;

words! {
    /// Whose backlog tells each queue's CoDel that at most a full packet is left, so that there is nothing to drop.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CodelBacklog {
        /// The queue's own, of which CoDel decides (RFC 8289 section 5.6).
        Own = "own",
        /// That of all queues, as in Linux, where a queue may lose its only packet (`net/sched/sch_fq_codel.c`, Linux 6.12:
        /// `codel_dequeue` gets `sch->qstats.backlog`).
        All = "all",
    }
}

parameters! {
    /// Parameters of FQ-CoDel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FqCodelConfig {
        /// Queues to which flows are hashed (RFC 8290 section 5.2.5).
        flows: u32 = 1024, count("queues", 1, MOST_QUEUES);
        /// Bytes that each queue may send a round; best no less than the largest packet (section 5.2.4).
        quantum_bytes: u32 = 1514, bytes(LEAST_QUANTUM, LARGEST_PACKET);
        /// Most packets dropped at once when the buffer is full (section 4.1).
        drop_batch: u32 = 64, count("packets", 1, u32::MAX as u64);
        /// Whose backlog of at most a full packet keeps CoDel from dropping: the queue's, or, as in Linux, that of all.
        codel_backlog: CodelBacklog = CodelBacklog::Own, choice::<CodelBacklog>();
        include
        /// CoDel's parameters in each queue; ECN is on by default (section 5.2.6).
        codel: CodelConfig = CodelConfig { ecn: true, ..CodelConfig::default() };
    }
}

impl Discipline for FqCodelConfig {
    type Qdisc = FqCodel;
    const DROPS_OLDEST: bool = true;

    fn build(&self, mut context: Context<'_>) -> FqCodel {
        FqCodel::new(context.limit, *self, context.stream.bits())
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let codel = CodelConfig::eager();
        let (hasty, marking) = (codel[0], codel[2]);
        let of = |codel| FqCodelConfig { codel, ..FqCodelConfig::default() };
        let small = FqCodelConfig { flows: 2, quantum_bytes: 300, drop_batch: 3, ..of(marking) };
        vec![of(hasty), small, FqCodelConfig { codel_backlog: CodelBacklog::All, ..of(hasty) }]
    }
}

/// Queues of hashed flows, each under CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    config: FqCodelConfig,
    /// Seed of the hash (section 4.1: "salted", so that senders cannot aim at a queue).
    perturbation: u64,
    pool: Pool,
    queues: Vec<Queue>,
    turns: Turns,
    backlog: Backlog,
    limit: Limit,
    /// The largest packet that has come, bytes.
    max_packet: u64,
    marks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    chain: Chain,
    /// Bytes that it may send in this turn (section 3: "credits").
    deficit: i64,
    /// It is in a list.
    active: bool,
    state: DropState,
}

const NEW_QUEUE: Queue = Queue { chain: Chain::EMPTY, deficit: 0, active: false, state: DropState::NEW };

/// A queue's packets, for CoDel.
struct Waiting<'a> {
    pool: &'a mut Pool,
    chain: &'a mut Chain,
    backlog: &'a mut Backlog,
    max_packet: u64,
    counted: CodelBacklog,
}

impl Source for Waiting<'_> {
    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let packet = self.pool.pop_front(self.chain)?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    #[inline]
    fn is_small(&self) -> bool {
        let bytes = match self.counted {
            CodelBacklog::Own => self.chain.bytes(),
            CodelBacklog::All => self.backlog.bytes,
        };
        bytes <= self.max_packet
    }
}

impl FqCodel {
    /// Empty queues; `perturbation` is the seed of the hash.
    ///
    /// # Panics
    /// Without queues, a quantum or a batch.
    pub fn new(limit: Limit, config: FqCodelConfig, perturbation: u64) -> FqCodel {
        assert!(config.flows > 0 && config.quantum_bytes > 0 && config.drop_batch > 0, "zero serves nobody");
        FqCodel {
            config,
            perturbation,
            pool: Pool::new(),
            queues: vec![NEW_QUEUE; config.flows as usize],
            turns: Turns::default(),
            backlog: Backlog::default(),
            limit,
            max_packet: 0,
            marks: 0,
        }
    }

    /// False if it has another number of queues.
    pub(crate) fn change(&mut self, config: FqCodelConfig) -> bool {
        let fits = config.flows == self.config.flows;
        if fits {
            self.config = config;
        }
        fits
    }

    /// The queue of a flow (section 4.1).
    #[inline]
    fn queue_of(&self, flow: u32) -> u32 {
        hashed(self.perturbation, flow, self.config.flows)
    }

    /// Drops from the largest queues until an arrival of this number of bytes has room (section 4.1).
    #[cold]
    fn make_room(&mut self, bytes: u64, drops: &mut Drops) {
        let mut freed = 0;
        while self.limit.is_below(self.backlog) && freed < bytes {
            freed += self.drop_batch(drops);
        }
    }

    /// Drops half of the fattest queue, at most a batch; the bytes.
    fn drop_batch(&mut self, drops: &mut Drops) -> u64 {
        let fattest = self.fattest();
        let chain = &mut self.queues[fattest as usize].chain;
        let half = chain.bytes() / 2;
        let mut freed = 0;
        for _ in 0..self.config.drop_batch {
            let Some(packet) = self.pool.pop_front(chain) else { break };
            self.backlog.remove(&packet);
            freed += u64::from(packet.wire_bytes);
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            if freed >= half {
                break;
            }
        }
        freed
    }

    /// The queue with most bytes, of several the first in the lists.
    fn fattest(&self) -> u32 {
        let bytes = |queue: u32| self.queues[queue as usize].chain.bytes();
        let (mut fattest, mut most) = (0, 0);
        for (queue, _) in self.turns.iter() {
            if bytes(queue) > most {
                (fattest, most) = (queue, bytes(queue));
            }
        }
        fattest
    }
}

impl QueueDisc for FqCodel {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        packet.enqueued = now;
        let bytes = u64::from(packet.wire_bytes);
        let index = self.queue_of(packet.flow);
        let queue = &mut self.queues[index as usize];
        self.pool.push_back(&mut queue.chain, packet);
        self.backlog.add(&packet);
        self.max_packet = self.max_packet.max(bytes);
        if !queue.active {
            queue.active = true;
            queue.deficit = i64::from(self.config.quantum_bytes);
            self.turns.begin(index);
        }
        if self.limit.is_below(self.backlog) {
            self.make_room(bytes, drops);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        loop {
            let (index, is_new) = self.turns.first()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.config.quantum_bytes);
                self.turns.end_turn(index, is_new);
                continue;
            }
            let mut waiting = Waiting {
                pool: &mut self.pool,
                chain: &mut queue.chain,
                backlog: &mut self.backlog,
                max_packet: self.max_packet,
                counted: self.config.codel_backlog,
            };
            let (config, marks) = (&self.config.codel, &mut self.marks);
            let service = Service { config, now, queue: &mut waiting, marks, drops };
            if let Some(packet) = queue.state.dequeue(service) {
                queue.deficit -= i64::from(packet.wire_bytes);
                return Some(packet);
            }
            queue.active = self.turns.leave(index, is_new);
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.marks
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn sub_queues(&self) -> Vec<SubQueue> {
        let look = |(queue, is_new): (u32, bool)| self.pool.look(&self.queues[queue as usize].chain, is_new);
        self.turns.iter().filter_map(look).collect()
    }
}

#[cfg(test)]
mod tests;
