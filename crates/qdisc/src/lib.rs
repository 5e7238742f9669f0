//! Queue disciplines, one per file: which packets wait, which is sent next, which are dropped.
//!
//! A discipline gets the time and never asks for it. It gets packet descriptors and never sees payload, so the
//! same code runs in the simulator and on a live link. Drops go to the caller's buffer with a reason.
//! A limit bounds what *waits*: the packet that the transmitter is sending is not counted (as in Linux, where
//! a queue discipline's limit does not cover the device).

mod adt;
mod cake;
mod chains;
mod change;
mod classes;
mod cobalt;
mod codel;
#[cfg(test)]
mod conformance;
mod diffserv;
mod drr;
mod dualpi2;
mod fair_queue;
mod fifo;
mod fq_codel;
mod fq_pie;
mod header;
mod limit;
mod packet;
mod packet_queue;
mod pi;
mod pi2;
mod pie;
mod red;
mod rtt;
mod splitbuff;
mod step;
mod switch;
mod turns;

pub use adt::{Adt, AdtConfig};
pub use cake::{Cake, CakeConfig, CakeFraming, CakeIsolation, CakeTins};
pub use classes::{ClassEstimate, Estimates, SubQueue};
pub use cobalt::{Cobalt, CobaltConfig};
pub use codel::{Codel, CodelConfig, ControlLaw};
pub use diffserv::{Diffserv, DiffservClasses, DiffservConfig};
pub use drr::{Drr, DrrConfig};
pub use dualpi2::{DualPi2, DualPi2Config};
pub use fair_queue::{FairQueue, FairQueueConfig};
pub use fifo::{Fifo, FifoConfig};
pub use fq_codel::{CodelBacklog, FqCodel, FqCodelConfig};
pub use fq_pie::{FqPie, FqPieConfig};
pub use header::Header;
pub use limit::{Backlog, Limit, Threshold};
pub use packet::{DropReason, Dropped, Drops, Ecn, Packet, PacketKind};
pub use pi2::{Pi2, Pi2Config};
pub use pie::{Pie, PieConfig};
pub use red::{Red, RedConfig};
pub use rtt::{RttInformation, RttScale, RttSource};
pub use splitbuff::{Classes, Mean, SplitBuff, SplitBuffBlindConfig, SplitBuffConfig, Thresholds};
pub use step::{Step, StepConfig};
pub use switch::{Frees, Switch, SwitchConfig};

use std::sync::Arc;

use bufferlab_parameters::{Parameters, kinds};
use bufferlab_units::{Rate, Span, Stream, Time};

/// What a discipline is built for, beside its parameters.
pub struct Context<'a> {
    /// How much may wait.
    pub limit: Limit,
    /// Rate of the link.
    pub rate: Rate,
    /// Seed of the run.
    pub seed: u64,
    /// Random numbers of this queue.
    pub stream: Stream,
    /// The flows' two-way propagation delays, by flow number.
    pub propagation: &'a dyn Fn() -> Arc<[Span]>,
    /// What the headers of each flow say, by flow number.
    pub headers: &'a dyn Fn() -> Arc<[Header]>,
}

/// A discipline's parameters, from which it is built.
pub trait Discipline: Parameters {
    /// What they describe.
    type Qdisc: QueueDisc;
    /// Whether packets of one flow may be reordered.
    const REORDERS: bool = false;
    /// Whether its drops are a share of what arrives, whatever the link's rate, so that the queue of a slower link with
    /// fewer flows is like this one. CoDel's drops come at a rate of their own.
    const SCALES: bool = false;
    /// Whether the oldest packets of a queue give way to one that arrives, and not the one that arrives or the newest.
    const DROPS_OLDEST: bool = false;
    /// Whether it reads the round-trip times that packets state. Where no queue does, packets state none.
    const READS_RTT: bool = false;

    /// An empty queue.
    fn build(&self, context: Context<'_>) -> Self::Qdisc;

    /// Gives the parameters that were left open the values that fit the link: its rate, and a full packet's size on the
    /// wire.
    fn fill(&mut self, rate: Rate, packet_bytes: u32) {
        let _ = (rate, packet_bytes);
    }

    /// Configurations that do more than the default within the conformance suite's scripts, which take microseconds.
    #[cfg(test)]
    fn eager() -> Vec<Self> {
        Vec::new()
    }
}

/// A queue discipline.
pub trait QueueDisc {
    /// Takes a packet, or puts it (or others in its place) into `drops`. Sets the packet's `enqueued`.
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut Drops);

    /// Gives the packet to be sent next. May drop others on the way.
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet>;

    /// What waits now.
    fn backlog(&self) -> Backlog;

    /// The packet that it gave last has left the link, and the next one is not asked for at this moment: the rate varies.
    #[inline]
    fn has_left(&mut self) {}

    /// Packets marked so far. A call of `enqueue` marks the packet that comes, one of `dequeue` the one that goes.
    #[inline]
    fn marks(&self) -> u64 {
        0
    }

    /// The bytes of which a packet takes the transmitter's time: more than its own if the discipline is a shaper that knows
    /// what the line behind it adds.
    #[inline]
    fn line_bytes(&self, packet: &Packet) -> u32 {
        packet.wire_bytes
    }

    /// Changes how much may wait. What waits already stays; only new packets are refused, as in Linux.
    fn set_limit(&mut self, limit: Limit);

    /// What its classes hold and what it thinks of them; nothing if it has none. Reading changes nothing.
    fn estimates(&self) -> Option<Estimates> {
        None
    }

    /// The queues that it keeps for flows and that hold packets, in the order of their turns; none if it has one queue, or
    /// classes. Reading changes nothing.
    fn sub_queues(&self) -> Vec<SubQueue> {
        Vec::new()
    }

    /// The group of each packet that waits, in the order in which they came and go; nothing of a discipline that has
    /// more than one queue. Reading changes nothing.
    fn groups_in_order(&self) -> Vec<u16> {
        Vec::new()
    }

    /// The class of the packet that the last call of `enqueue` brought, refused or not, or that the last one of
    /// `dequeue` took; 0 where there are none.
    #[inline]
    fn class(&self) -> usize {
        0
    }

    /// The class of a packet that it has just dropped.
    fn class_of_dropped(&self, dropped: &Packet) -> usize {
        let _ = dropped;
        self.class()
    }
}

macro_rules! disciplines {
    ($($(#[doc = $doc:literal])+ $name:ident($config:ident) = $word:literal: $kind:ty,)*) => {
        kinds! {
            /// A discipline with its parameters.
            #[derive(Clone, Debug, PartialEq)]
            pub enum DisciplineConfig { $($(#[doc = $doc])+ $name($config) = $word,)* }
        }

        impl DisciplineConfig {
            /// An empty queue.
            pub fn build(&self, context: Context<'_>) -> AnyQdisc {
                match self {
                    $(DisciplineConfig::$name(config) => AnyQdisc::$name(config.build(context).into()),)*
                }
            }

            /// Gives the parameters that were left open the values that fit the link: its rate, and a full packet's size
            /// on the wire.
            pub fn fill(&mut self, rate: Rate, packet_bytes: u32) {
                match self { $(DisciplineConfig::$name(config) => config.fill(rate, packet_bytes),)* }
            }

            /// Whether packets of one flow may be reordered.
            pub fn reorders(&self) -> bool {
                match self { $(DisciplineConfig::$name(_) => $config::REORDERS,)* }
            }

            /// [`Discipline::SCALES`].
            pub fn scales(&self) -> bool {
                match self { $(DisciplineConfig::$name(_) => $config::SCALES,)* }
            }

            /// [`Discipline::READS_RTT`].
            pub fn reads_rtt(&self) -> bool {
                match self { $(DisciplineConfig::$name(_) => $config::READS_RTT,)* }
            }

            /// [`Discipline::DROPS_OLDEST`].
            pub fn drops_oldest(&self) -> bool {
                match self { $(DisciplineConfig::$name(_) => $config::DROPS_OLDEST,)* }
            }
        }

        #[cfg(test)]
        impl DisciplineConfig {
            /// Every discipline with its defaults, and its eager configurations.
            fn tested() -> Vec<DisciplineConfig> {
                let mut configs = Vec::new();
                $(
                    configs.push($config::default().into());
                    configs.extend($config::eager().into_iter().map(DisciplineConfig::from));
                )*
                configs
            }
        }

        /// Every discipline behind one type: no allocation and no indirect call for each packet.
        #[derive(Clone, Debug)]
        pub enum AnyQdisc { $($(#[doc = $doc])+ $name($kind),)* }

        $(const _: () = assert!(
            size_of::<$kind>() <= size_of::<Codel>(),
            "a queue that is larger than CoDel's goes in a box, as Box<Name>: every link has room for the largest"
        );)*

        impl QueueDisc for AnyQdisc {
            #[inline]
            fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut Drops) {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.enqueue(now, packet, drops),)* }
            }
            #[inline]
            fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.dequeue(now, drops),)* }
            }
            #[inline]
            fn backlog(&self) -> Backlog {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.backlog(),)* }
            }
            #[inline]
            fn has_left(&mut self) {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.has_left(),)* }
            }
            #[inline]
            fn marks(&self) -> u64 {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.marks(),)* }
            }
            #[inline]
            fn line_bytes(&self, packet: &Packet) -> u32 {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.line_bytes(packet),)* }
            }
            fn set_limit(&mut self, limit: Limit) {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.set_limit(limit),)* }
            }
            fn estimates(&self) -> Option<Estimates> {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.estimates(),)* }
            }
            fn sub_queues(&self) -> Vec<SubQueue> {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.sub_queues(),)* }
            }
            fn groups_in_order(&self) -> Vec<u16> {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.groups_in_order(),)* }
            }
            #[inline]
            fn class(&self) -> usize {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.class(),)* }
            }
            fn class_of_dropped(&self, dropped: &Packet) -> usize {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.class_of_dropped(dropped),)* }
            }
        }
    };
}

disciplines! {
    /// First in, first out, tail drop.
    Fifo(FifoConfig) = "fifo": Fifo,
    /// First in, first out, under CoDel (RFC 8289).
    Codel(CodelConfig) = "codel": Codel,
    /// First in, first out, under COBALT: CoDel, and BLUE for who does not listen, as in CAKE.
    Cobalt(CobaltConfig) = "cobalt": Box<Cobalt>,
    /// FQ-CoDel (RFC 8290): flows hashed to queues that are served in rounds, each under CoDel.
    FqCodel(FqCodelConfig) = "fq_codel": Box<FqCodel>,
    /// CAKE: hosts and their flows get equal shares, in tins by codepoint, each queue under COBALT; its shaper knows the line's
    /// overhead.
    Cake(CakeConfig) = "cake": Box<Cake>,
    /// First in, first out, with ECN marks from a step on (RFC 8257): for DCTCP and Prague.
    Step(StepConfig) = "step": Step,
    /// First in, first out, in the memory of a switch: packets take whole cells, until their last bit has left.
    Switch(SwitchConfig) = "switch": Switch,
    /// First in, first out, with the smallest limit that keeps the link as busy as wanted (ADT, 2006).
    Adt(AdtConfig) = "adt": Adt,
    /// First in, first out, under PIE (RFC 8033).
    Pie(PieConfig) = "pie": Box<Pie>,
    /// FQ-PIE: flows hashed to queues that are served in rounds, each under PIE, as in Linux.
    FqPie(FqPieConfig) = "fq_pie": Box<FqPie>,
    /// First in, first out, under PI2 (`CoNEXT` 2016): PIE's controller with a squared chance; ECT(1) is marked with its root.
    Pi2(Pi2Config) = "pi2": Box<Pi2>,
    /// First in, first out, with random early drops: adaptive RED, or RED with given parameters.
    Red(RedConfig) = "red": Box<Red>,
    /// Deficit round robin: a queue a flow, all get the same bytes a round, the longest gives way when the buffer is full.
    Drr(DrrConfig) = "drr": Box<Drr>,
    /// Flow-based fair queueing, as Cisco's fair-queue: flows hashed to few queues that share the link evenly, each with up
    /// to a quarter of the buffer.
    FairQueue(FairQueueConfig) = "fair_queue": Box<FairQueue>,
    /// Classes by codepoint: strict priority, policed or not (LLQ), before weighted round robin, each class with a queue of any
    /// kind.
    Diffserv(DiffservConfig) = "diffserv": Box<Diffserv>,
    /// `DualPI2` (RFC 9332): a queue of low latency for L4S flows beside one for all others, coupled so that both get their
    /// share.
    DualPi2(DualPi2Config) = "dualpi2": Box<DualPi2>,
    /// SplitBuff: sub-buffers by round-trip time, so that short flows do not wait behind long ones.
    SplitBuff(SplitBuffConfig) = "splitbuff": Box<SplitBuff>,
    /// Blind-SplitBuff: flows in sub-buffers at random, `buffer` split evenly.
    SplitBuffBlind(SplitBuffBlindConfig) = "splitbuff-blind": Box<SplitBuff>,
}
