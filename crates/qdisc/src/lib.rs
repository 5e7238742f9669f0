//! Queue disciplines, one a file: who waits, who is served next, who is dropped.
//!
//! A discipline is told the time and never asks for it; it gets packet descriptors and never sees payload, so
//! the same code runs in the simulator and on a live link. Drops go to the caller's buffer with a reason.
//! A limit bounds what *waits*: the packet that the transmitter is sending is not counted (as in Linux, where
//! a queue discipline's limit does not cover the device).

mod chains;
mod classes;
mod codel;
#[cfg(test)]
mod conformance;
mod drr;
mod fifo;
mod fq_codel;
mod packet;
mod packet_queue;
mod pie;
mod red;
mod rtt;
mod splitbuff;

pub use classes::{ClassEstimate, Estimates};
pub use codel::{Codel, CodelConfig, ControlLaw};
pub use drr::Drr;
pub use fifo::Fifo;
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use packet::{DropReason, Dropped, Drops, Ecn, Packet, PacketKind};
pub use pie::{Pie, PieConfig};
pub use red::{Red, RedConfig, Threshold, automatic_weight};
pub use rtt::{MAX_RTT_BITS, RttInformation, RttScale};
pub use splitbuff::{Classes, MAX_SUB_BUFFERS, Mean, Service, SplitBuff, SplitBuffConfig, Thresholds};

use bufferlab_units::Time;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets of any size.
    Packets(u64),
    /// So many bytes on the wire.
    Bytes(u64),
    /// No bound.
    Unlimited,
}

impl Limit {
    /// A backlog cut to what may wait.
    #[must_use]
    pub fn bound(self, backlog: Backlog) -> Backlog {
        match self {
            Limit::Packets(packets) => Backlog { packets: backlog.packets.min(packets), ..backlog },
            Limit::Bytes(bytes) => Backlog { bytes: backlog.bytes.min(bytes), ..backlog },
            Limit::Unlimited => backlog,
        }
    }

    /// Whether a backlog is larger.
    #[inline]
    pub fn is_below(self, backlog: Backlog) -> bool {
        match self {
            Limit::Packets(packets) => backlog.packets > packets,
            Limit::Bytes(bytes) => backlog.bytes > bytes,
            Limit::Unlimited => false,
        }
    }

    /// Whether a packet of `bytes` may join `backlog`.
    #[inline]
    pub fn admits(self, backlog: Backlog, bytes: u32) -> bool {
        match self {
            Limit::Packets(packets) => backlog.packets < packets,
            Limit::Bytes(limit) => backlog.bytes + u64::from(bytes) <= limit,
            Limit::Unlimited => true,
        }
    }
}

/// What waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Backlog {
    /// One packet more.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_bytes);
    }

    /// One packet less.
    #[inline]
    pub fn remove(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
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

    /// Packets marked so far. A call of `enqueue` marks the packet that comes, one of `dequeue` the one that goes.
    #[inline]
    fn marks(&self) -> u64 {
        0
    }

    /// Changes how much may wait. What waits already stays; only new packets are refused, as in Linux.
    fn set_limit(&mut self, limit: Limit);

    /// What its classes hold and what it thinks of them; nothing if it has none. Reading changes nothing.
    fn estimates(&self) -> Option<Estimates> {
        None
    }

    /// The class of the packet that the last call of `enqueue` brought, refused or not, or that the last one of
    /// `dequeue` took; 0 where there are none.
    #[inline]
    fn class(&self) -> usize {
        0
    }
}

macro_rules! disciplines {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// Every discipline behind one type: no allocation and no indirect call for each packet.
        #[derive(Clone, Debug)]
        pub enum AnyQdisc { $($(#[$doc])* $name($kind),)* }

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
            fn marks(&self) -> u64 {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.marks(),)* }
            }
            fn set_limit(&mut self, limit: Limit) {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.set_limit(limit),)* }
            }
            fn estimates(&self) -> Option<Estimates> {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.estimates(),)* }
            }
            #[inline]
            fn class(&self) -> usize {
                match self { $(AnyQdisc::$name(qdisc) => qdisc.class(),)* }
            }
        }

        $(impl From<$name> for AnyQdisc {
            fn from(qdisc: $name) -> AnyQdisc { AnyQdisc::$name(qdisc.into()) }
        })*
    };
}

disciplines! {
    /// First in, first out, tail drop.
    Fifo: Fifo,
    /// First in, first out, under CoDel.
    Codel: Codel,
    /// Sub-buffers by round-trip time.
    SplitBuff: Box<SplitBuff>,
    /// A queue a flow, served in rounds.
    Drr: Box<Drr>,
    /// First in, first out, with random early drops.
    Red: Box<Red>,
    /// First in, first out, under PIE.
    Pie: Box<Pie>,
    /// Queues of hashed flows, each under CoDel.
    FqCodel: Box<FqCodel>,
}
