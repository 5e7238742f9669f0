//! PI2, proportional integral controller improved with a square: packets are dropped when they come, with the square of a
//! chance that holds the wait at a target.
//!
//! Sources: K. De Schepper, O. Bondarenko, I. Tsang and B. Briscoe, "PI2: A Linearized AQM for both Classic and Scalable
//! TCP", `CoNEXT` 2016, of which the abstract was read; its authors' implementation (olgabo/dualpi2, `sch_pi2/sch_pi2.c`,
//! with one queue), read as behavior, which has the constants; RFC 9332 section 2.1 and appendix A.1, whose classic queue
//! is this.
//!
//! Every `update` the base chance `p'` changes by `alpha` times what the wait is above the target and `beta` times what it
//! has grown by. The rate of a classic flow falls with the root of its loss: so with drops of `p'^2` it falls with `p'`,
//! and one pair of gains does for all loads, where PIE scales its steps by a table. Scalable flows (ECT(1)) answer marks in
//! proportion: they are marked with `k p'` in the same queue.
//!
//! Departures from the authors' implementation:
//! - The base chance is theirs over `k`: their gains of 10/16 and 100/16, halved, and at most `1 / k`, so that at most a
//!   quarter of the classic packets is dropped and what remains meets the limit.
//! - The wait is that of the first packet when the update is due (RFC 9332 figure 9, and Linux's `DualPI2`), not a guess
//!   from the rate at which packets leave.
//! - Scalable packets are those of L4S (ECT(1), or marked before; RFC 9331), and ECT(0) is classic; theirs has a switch for
//!   which codepoints are scalable, by default all, written before L4S had its own.
//! - The chance does not decay by 2 % when nothing waits; `alpha` alone brings it down.
//! - While less than two full packets wait nothing is drawn; a full packet is the largest one that has come.
//! - No drops in proportion to a packet's size (`bytemode`, off by default).
//!
//! Cost: one copy of 40 bytes each way, a comparison with the next update; one or two random numbers a packet while the
//! base chance is not zero.

use bufferlab_parameters::{FLAG, LONGEST, count, fraction, parameters, time};
use bufferlab_units::{Span, Stream, Time};

use crate::packet_queue::PacketQueue;
use crate::pi::{BaseChance, Gains, LEAST_UPDATE, MOST_GAIN, falls, falls_twice};
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

/// Most of the coupling factor, as of `DualPI2`.
const MOST_COUPLING: u64 = 255;

parameters! {
    /// Parameters of PI2.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Pi2Config {
        /// Wait to hold (the authors' `target`).
        target: Span = Span::from_ms(20), time(Span::ZERO, LONGEST);
        /// Time between updates of the base chance (their `tupdate`).
        update: Span = Span::from_ms(30), time(LEAST_UPDATE, LONGEST);
        /// Change of the base chance for a second above the target, each update (their 10/16, over k).
        alpha: f64 = 0.3125, fraction("a gain", MOST_GAIN);
        /// Change of the base chance for a second by which the wait has grown, each update (their 100/16, over k).
        beta: f64 = 3.125, fraction("a gain", MOST_GAIN);
        /// How many times the base chance ECT(1) packets are marked with (their `k`; RFC 9332 section 2.1).
        coupling_factor: u32 = 2, count("times", 1, MOST_COUPLING);
        /// ECN-capable packets are marked in place of being dropped: ECT(0) with the squared chance, ECT(1) with the coupled
        /// one (their `ecn`, on by default).
        ecn: bool = true, FLAG;
    }
}

impl Discipline for Pi2Config {
    type Qdisc = Pi2;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Pi2 {
        Pi2::new(context.limit, *self, context.stream)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let [target, update] = [2, 3].map(Span::from_us);
        let hasty = Pi2Config { target, update, alpha: 10_000.0, beta: 100_000.0, ..Pi2Config::default() };
        vec![hasty, Pi2Config { ecn: false, coupling_factor: 1, ..hasty }]
    }
}

/// A FIFO queue under PI2.
#[derive(Clone, Debug)]
pub struct Pi2 {
    packets: PacketQueue,
    limit: Limit,
    config: Pi2Config,
    pi: BaseChance,
    /// The largest packet that has come, bytes.
    max_packet: u64,
    stream: Stream,
    marks: u64,
}

impl Pi2 {
    /// An empty queue. The random numbers are of the stream.
    ///
    /// # Panics
    /// Without time between updates.
    pub fn new(limit: Limit, config: Pi2Config, stream: Stream) -> Pi2 {
        let Pi2Config { target, update, alpha, beta, coupling_factor, .. } = config;
        let pi = BaseChance::new(Gains { target, update, alpha, beta }, 1.0 / f64::from(coupling_factor));
        Pi2 { packets: PacketQueue::default(), limit, config, pi, max_packet: 0, stream, marks: 0 }
    }

    #[inline]
    fn update(&mut self, now: Time) {
        if self.pi.is_due(now) {
            self.catch_up(now);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Time) {
        let front = self.packets.front().map(|packet| packet.enqueued);
        self.pi.catch_up(now, front.is_none(), |at| {
            front.map_or(Span::ZERO, |joined| at.saturating_since(joined))
        });
    }

    /// Whether the packet that comes goes on; it may be marked.
    #[inline]
    fn passes(&mut self, packet: &mut Packet) -> bool {
        if self.packets.backlog().bytes < 2 * self.max_packet {
            return true;
        }
        let chance = self.pi.chance;
        if self.config.ecn && packet.is_l4s() {
            if falls(f64::from(self.config.coupling_factor) * chance, &mut self.stream) {
                packet.mark(&mut self.marks);
            }
            return true;
        }
        !falls_twice(chance, &mut self.stream) || (self.config.ecn && packet.mark(&mut self.marks))
    }
}

impl QueueDisc for Pi2 {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        self.update(now);
        self.max_packet = self.max_packet.max(u64::from(packet.wire_bytes));
        if !self.limit.admits(self.backlog(), packet.wire_bytes) {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        } else if !self.passes(&mut packet) {
            drops.push(Dropped { packet, reason: DropReason::Early });
        } else {
            packet.enqueued = now;
            self.packets.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        self.update(now);
        self.packets.pop()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.marks
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn groups_in_order(&self) -> Vec<u16> {
        self.packets.groups()
    }
}

#[cfg(test)]
mod tests;
