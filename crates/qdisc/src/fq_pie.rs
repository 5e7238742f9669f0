//! FQ-PIE: flows are hashed to queues that are served in rounds, those of new flows first, each under PIE.
//!
//! Source: Linux 6.12 `net/sched/sch_fq_pie.c`, read as behavior: `fq_pie_qdisc_enqueue`, `fq_pie_qdisc_dequeue`,
//! `fq_pie_timer`, `fq_pie_init` (defaults); PIE as Linux has it, which is not RFC 8033's ([`control`]); the rounds as in
//! [`crate::FqCodel`] (RFC 8290 section 4.2), which they were made after.
//!
//! A queue's chance of a drop follows the waits of its own packets, and what it lets pass its own backlog. So a flow that
//! fills its queue is dropped from, and those that send little wait for nobody. A packet that finds as many packets
//! waiting in all queues as the limit allows is dropped, whoever's it is.
//!
//! Departures from Linux: those of [`control`], and
//! - A full packet is the largest one that has come, not the device's (`psched_mtu`).
//! - All queues are updated each `update`; Linux updates 2048 a round of its timer.
//! - There is no limit of memory (`memory_limit`, 32 MB): packets here have no payload.
//! - Flows are identified by number, hashed with a seed, as there are no addresses here. No filters.
//! - No drops in proportion to a packet's size (`bytemode`), no waits by the rate of departures (`dq_rate_estimator`); both
//!   are off by default.
//!
//! Cost: one copy of 40 bytes each way, a hash, a queue's state (two cache lines or three); a random number a packet while
//! its queue's chance is not zero. Memory: some 170 bytes a queue, 48 a packet.

mod control;

use bufferlab_parameters::{LARGEST_PACKET, bytes, count, parameters};
use bufferlab_units::{Span, Stream, Time};

use control::Control;

use crate::chains::{Chain, Pool};
use crate::drr::LEAST_QUANTUM;
use crate::turns::{Turns, hashed};
use crate::{
    Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, PieConfig, QueueDisc, SubQueue,
};

/// Most queues of hashed flows (Linux's, `fq_pie_change`).
const MOST_QUEUES: u64 = 1 << 16;

parameters! {
    /// Parameters of FQ-PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct FqPieConfig {
        /// Queues to which flows are hashed (Linux's `flows`).
        flows: u32 = 1024, count("queues", 1, MOST_QUEUES);
        /// Bytes that each queue may send a round; best no less than the largest packet (Linux's `quantum`).
        quantum_bytes: u32 = 1514, bytes(LEAST_QUANTUM, LARGEST_PACKET);
        include
        /// PIE's parameters in each queue.
        pie: PieConfig = PieConfig::default();
    }
}

impl Discipline for FqPieConfig {
    type Qdisc = FqPie;

    fn build(&self, context: Context<'_>) -> FqPie {
        FqPie::new(context.limit, *self, context.stream)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let pie = PieConfig::eager();
        let of = |pie| FqPieConfig { pie, ..FqPieConfig::default() };
        vec![of(pie[0]), FqPieConfig { flows: 2, quantum_bytes: 300, ..of(pie[1]) }]
    }
}

/// Queues of hashed flows, each under PIE.
#[derive(Clone, Debug)]
pub struct FqPie {
    config: FqPieConfig,
    /// Seed of the hash.
    perturbation: u64,
    pool: Pool,
    queues: Vec<Queue>,
    turns: Turns,
    backlog: Backlog,
    limit: Limit,
    /// The largest packet that has come, bytes.
    max_packet: u64,
    stream: Stream,
    marks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    chain: Chain,
    /// Bytes that it may send in this turn.
    deficit: i64,
    /// It is in a list.
    active: bool,
    control: Control,
}

impl FqPie {
    /// Empty queues. The random numbers are of the stream, as is the seed of the hash.
    ///
    /// # Panics
    /// Without queues, a quantum or time between updates.
    pub fn new(limit: Limit, config: FqPieConfig, mut stream: Stream) -> FqPie {
        assert!(config.flows > 0 && config.quantum_bytes > 0, "zero serves nobody");
        let control = Control::new(config.pie);
        let queue = Queue { chain: Chain::EMPTY, deficit: 0, active: false, control };
        FqPie {
            config,
            perturbation: stream.bits(),
            pool: Pool::new(),
            queues: vec![queue; config.flows as usize],
            turns: Turns::default(),
            backlog: Backlog::default(),
            limit,
            max_packet: 0,
            stream,
            marks: 0,
        }
    }
}

impl QueueDisc for FqPie {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        let index = hashed(self.perturbation, packet.flow, self.config.flows);
        let queue = &mut self.queues[index as usize];
        queue.control.update(now, queue.chain.bytes());
        self.max_packet = self.max_packet.max(u64::from(packet.wire_bytes));
        if !self.limit.admits(self.backlog, packet.wire_bytes) {
            queue.control.on_overlimit();
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        let small = queue.chain.bytes() < 2 * self.max_packet;
        if queue.control.refuses(&mut packet, small, &mut self.stream, &mut self.marks) {
            drops.push(Dropped { packet, reason: DropReason::Early });
            return;
        }
        packet.enqueued = now;
        self.pool.push_back(&mut queue.chain, packet);
        self.backlog.add(&packet);
        if !queue.active {
            queue.active = true;
            queue.deficit = i64::from(self.config.quantum_bytes);
            self.turns.begin(index);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        loop {
            let (index, is_new) = self.turns.first()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += i64::from(self.config.quantum_bytes);
                self.turns.end_turn(index, is_new);
                continue;
            }
            queue.control.update(now, queue.chain.bytes());
            let Some(packet) = self.pool.pop_front(&mut queue.chain) else {
                queue.active = self.turns.leave(index, is_new);
                continue;
            };
            self.backlog.remove(&packet);
            queue.deficit -= i64::from(packet.wire_bytes);
            let empty = queue.chain.is_empty();
            queue.control.on_departure(now, if empty { Span::ZERO } else { now - packet.enqueued });
            return Some(packet);
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
