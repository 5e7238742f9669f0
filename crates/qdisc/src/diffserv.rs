//! Differentiated services: classes by codepoint, some before all others, the rest by weight, each with a queue of any
//! kind.
//!
//! Sources:
//! - RFC 2474 (codepoints), RFC 2475 section 2.3.3.2 (policers), RFC 3246 (EF: whoever goes first has to be bounded).
//! - Linux 6.12 `net/sched/sch_ets.c`, which contains `sch_prio.c`, read as behavior: `ets_qdisc_enqueue`, `ets_qdisc_dequeue`:
//!   strict classes first, in their order; those with a weight by deficit round robin (M. Shreedhar and G. Varghese, SIGCOMM
//!   1995), `quantum` bytes a round for each unit of the weight. What no class lists goes to the last one.
//! - Cisco IOS, "Low Latency Queueing with Priority Percentage Support" and the command `priority`: a class with priority is
//!   policed at its part of the rate, but only while the link is congested; its bucket has 200 ms of that rate by default.
//!
//! So `EF: priority; rest: priority` is `prio`, `AF41: weight 4; rest: weight 1` is weighted round robin, both together are ETS, and
//! `EF: priority 33 %; rest: weight 1 fq_codel` is LLQ with a fair rest. The class's queue may be CoDel, RED and others, with their
//! defaults.
//!
//! `buffer` is split evenly among the classes, as each has a queue limit of its own on routers: who fills one takes no room from
//! the others.
//!
//! Departures:
//! - A class with a weight is served while its credit is above zero, as FQ-CoDel serves its queues (RFC 8290 section 4.2), not
//!   while it covers the next packet: a queue under AQM does not know its next packet. Its shares are the same.
//! - A link counts as congested while a packet waits in any class.
//! - A policed packet is dropped before its queue sees it. Its bucket is filled by the link's rate, without what the line adds.
//! - Queues of classes fit links by rate, as if full packets had 1514 bytes.
//!
//! Cost: a codepoint's look-up, a look at each strict class, and the queue's own cost through one branch. Memory: that of its
//! queues.

mod table;

use std::collections::VecDeque;
use std::sync::Arc;

use bufferlab_parameters::{Kind, LARGEST_PACKET, LONGEST, bytes, parameters, time};
use bufferlab_units::{Rate, Span, Stream, Time};

pub use table::DiffservClasses;
use table::Service;

use crate::drr::LEAST_QUANTUM;
use crate::header::{Header, header_of};
use crate::{AnyQdisc, Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

/// A full packet with Ethernet's header, for queues that fit themselves to the link.
const FULL_PACKET: u32 = 1514;

parameters! {
    /// Parameters of differentiated services.
    #[derive(Clone, Debug, PartialEq)]
    pub struct DiffservConfig {
        /// The classes: codepoints of each, how it is served, and its queue; those with priority in this order.
        classes: DiffservClasses = DiffservClasses::default(), Kind::Form(&DiffservClasses::FORM);
        /// Bytes that a class may send a round for each unit of its weight (Linux's `quanta` are this times the weight).
        quantum_bytes: u32 = 1514, bytes(LEAST_QUANTUM, LARGEST_PACKET);
        /// How long a class with priority may send more than its part of the rate, at that rate (Cisco's default: 200 ms).
        burst: Span = Span::from_ms(200), time(Span::from_ps(1), LONGEST);
    }
}

impl Discipline for DiffservConfig {
    type Qdisc = Diffserv;

    fn build(&self, context: Context<'_>) -> Diffserv {
        Diffserv::new(self, context)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let of = |classes: &str| DiffservConfig {
            classes: classes.parse().unwrap(),
            burst: Span::from_us(20),
            ..DiffservConfig::default()
        };
        vec![
            of("EF: priority 10 %; CS1: weight 3 codel; rest: weight 1 fq_codel"),
            of("CS1: weight 2 drr; EF: weight 1; rest: priority 50 % fq_codel"),
        ]
    }
}

/// Classes by codepoint, each with a queue.
#[derive(Clone, Debug)]
pub struct Diffserv {
    /// The class of each codepoint.
    of_codepoint: [u8; 1 + Header::MOST_DSCP as usize],
    headers: Arc<[Header]>,
    classes: Vec<Class>,
    /// The classes with priority, in their order.
    strict: Vec<usize>,
    /// The classes with a weight that have packets, in the order of their turns.
    turns: VecDeque<usize>,
    backlog: Backlog,
    limit: Limit,
    /// Each class's part of the limit.
    part: Limit,
    /// The class of the last packet.
    last: usize,
}

#[derive(Clone, Debug)]
struct Class {
    queue: AnyQdisc,
    /// Bytes that it gets a round; nothing if it has priority.
    quantum: i64,
    /// Bytes that it may send in this turn.
    credit: i64,
    policer: Option<Policer>,
}

/// A token bucket (RFC 2475 section 2.3.3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
struct Policer {
    bytes_per_ps: f64,
    most: f64,
    tokens: f64,
    filled: Time,
}

impl Policer {
    /// A full bucket for this part of the rate, in percent.
    fn new(rate: Rate, percent: u32, burst: Span) -> Policer {
        let bytes_per_ps = rate.as_bps() as f64 / 8e12 * f64::from(percent) / 100.0;
        let most = bytes_per_ps * burst.as_ps() as f64;
        Policer { bytes_per_ps, most, tokens: most, filled: Time::ZERO }
    }

    /// Takes the packet's tokens, if it has them.
    fn conforms(&mut self, now: Time, wire_bytes: u32) -> bool {
        let since = now.saturating_since(self.filled).as_ps() as f64;
        self.tokens = (self.tokens + since * self.bytes_per_ps).min(self.most);
        self.filled = now;
        let conforms = self.tokens >= f64::from(wire_bytes);
        if conforms {
            self.tokens -= f64::from(wire_bytes);
        }
        conforms
    }
}

/// A class's part of the limit: an even one, of at least a packet or a full packet's bytes.
fn part(limit: Limit, classes: usize) -> Limit {
    let classes = classes as u64;
    match limit {
        Limit::Packets(packets) => Limit::Packets((packets / classes).max(1)),
        Limit::Bytes(bytes) => Limit::Bytes((bytes / classes).max(u64::from(FULL_PACKET)).min(bytes)),
        Limit::Unlimited => Limit::Unlimited,
    }
}

impl Diffserv {
    /// Empty queues. Their random numbers are of the context's stream.
    pub fn new(config: &DiffservConfig, context: Context<'_>) -> Diffserv {
        let Context { limit, rate, seed, mut stream, propagation, headers } = context;
        let table = &config.classes;
        let part = part(limit, table.classes.len());
        let class = |of: &table::DiffservClass| {
            let mut queue = of.queue();
            queue.fill(rate, FULL_PACKET);
            let stream = Stream::new(stream.bits(), 0, 0);
            let (quantum, policed) = match of.service {
                Service::Priority(percent) => (0, percent),
                Service::Weight(weight) => (i64::from(weight) * i64::from(config.quantum_bytes), None),
            };
            Class {
                queue: queue.build(Context { limit: part, rate, seed, stream, propagation, headers }),
                quantum,
                credit: 0,
                policer: policed.map(|percent| Policer::new(rate, percent, config.burst)),
            }
        };
        let classes: Vec<_> = table.classes.iter().map(class).collect();
        Diffserv {
            of_codepoint: std::array::from_fn(|dscp| table.class_of(dscp as u8) as u8),
            headers: headers(),
            strict: (0..classes.len()).filter(|&class| classes[class].quantum == 0).collect(),
            classes,
            turns: VecDeque::new(),
            backlog: Backlog::default(),
            limit,
            part,
            last: 0,
        }
    }

    /// The class of a packet.
    #[inline]
    fn class_of(&self, packet: &Packet) -> usize {
        let dscp = header_of(&self.headers, packet.flow).dscp;
        usize::from(self.of_codepoint[usize::from(dscp & Header::MOST_DSCP)])
    }

    /// The class to be served next: the first with priority that has packets, else the one whose turn it is.
    #[inline]
    fn next_class(&mut self) -> Option<usize> {
        let waits = |&&class: &&usize| self.classes[class].queue.backlog().packets > 0;
        if let Some(&class) = self.strict.iter().find(waits) {
            return Some(class);
        }
        loop {
            let class = *self.turns.front()?;
            if self.classes[class].credit > 0 {
                return Some(class);
            }
            self.classes[class].credit += self.classes[class].quantum;
            self.turns.rotate_left(1);
        }
    }
}

impl QueueDisc for Diffserv {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut Drops) {
        self.last = self.class_of(&packet);
        let is_busy = self.backlog.packets > 0;
        let class = &mut self.classes[self.last];
        let is_policed = class
            .policer
            .as_mut()
            .is_some_and(|policer| !policer.conforms(now, packet.wire_bytes) && is_busy);
        let before = class.queue.backlog();
        // of a limit of fewer packets than classes, each class has one: then they share what there is
        let is_full = !self.limit.admits(self.backlog, packet.wire_bytes)
            && self.part.admits(before, packet.wire_bytes);
        if is_policed || is_full {
            let reason = if is_policed { DropReason::Early } else { DropReason::Overlimit };
            drops.push(Dropped { packet, reason });
            return;
        }
        class.queue.enqueue(now, packet, drops);
        let after = class.queue.backlog();
        self.backlog = changed(self.backlog, before, after);
        match (class.quantum > 0, before.packets, after.packets) {
            (true, 0, 1..) => {
                class.credit = class.quantum;
                self.turns.push_back(self.last);
            }
            // a queue may make room by dropping all that it has
            (true, 1.., 0) => self.turns.retain(|&class| class != self.last),
            _ => {}
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        self.last = self.next_class()?;
        let class = &mut self.classes[self.last];
        let before = class.queue.backlog();
        let packet = class.queue.dequeue(now, drops)?;
        let after = class.queue.backlog();
        self.backlog = changed(self.backlog, before, after);
        if class.quantum > 0 {
            class.credit -= i64::from(packet.wire_bytes);
            if after.packets == 0 {
                self.turns.pop_front();
            }
        }
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.classes.iter().map(|class| class.queue.marks()).sum()
    }

    fn set_limit(&mut self, limit: Limit) {
        (self.limit, self.part) = (limit, part(limit, self.classes.len()));
        self.classes.iter_mut().for_each(|class| class.queue.set_limit(self.part));
    }
}

/// A sum of which one part has changed.
#[inline]
fn changed(sum: Backlog, before: Backlog, after: Backlog) -> Backlog {
    Backlog {
        packets: sum.packets - before.packets + after.packets,
        bytes: sum.bytes - before.bytes + after.bytes,
    }
}

#[cfg(test)]
mod tests;
