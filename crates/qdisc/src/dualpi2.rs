//! `DualPI2`: two queues with coupled drops and marks. L4S flows wait a millisecond at most, others as under PI2, and flows
//! of both kinds get the same rate.
//!
//! Sources: RFC 9332: section 2.1 equation 1 (the coupling, `p_C = (p_CL / k)^2`), 2.3 (who waits where), 4.2 (overload);
//! appendix A.1 (the controller and its constants) and A.2 (overload), by their figures' lines. Linux 6.17
//! `net/sched/sch_dualpi2.c`, read as behavior, where RFC 9332 leaves a choice: the scheduler, the step, small backlogs.
//! The RFC's text was read in parts only: its pseudocode as Linux and other implementations quote it.
//!
//! ECT(1) and marked packets join the L queue, all others the C queue. Every `update` the base chance `p'` changes by
//! `alpha` times what the wait is above the target and `beta` times what it has grown by; the wait is the longer one of
//! both queues' first packets (figure 9, and Linux). Packets of C are dropped, or marked if ECT(0), with the chance `p'^2`;
//! those of L are marked with `k p'`, or if they have waited for longer than `step`. Where `k p'` is above 1, marks do not
//! say more: then packets of both queues are dropped with `p'^2`, ECN-capable or not, and all that remain of L are marked.
//! L is served first, but C gets its protected part (Linux's weighted round robin by credit).
//!
//! Departures from RFC 9332, the first four as in Linux:
//! - L is marked from a step on, 1 ms; the RFC's example has a ramp around it.
//! - Lots are drawn for each packet; the RFC's `recur` counts chances up, so that marks come at even distances.
//! - The scheduler is a weighted round robin; the RFC's time-shifted FIFO is left out (it needs one or the other).
//! - While less than two full packets wait behind the one that goes, the coupled chances do nothing; a full packet is the
//!   largest one that has come (Linux: of the device).
//! - Overload begins above `k p' = 1`, not at it.
//! - Updates are made by the first call after they were due, with the state of the time when they were.
//!
//! Departures from Linux: chances are floating point numbers, not 32 bits; a packet that the step marks draws no lot
//! before; drops come at departure only (`drop_dequeue`, its default); L has no least length for the step
//! (`min_qlen_step`, 0 by default), no filters and no step in packets; packets here have no memory to limit.
//!
//! Cost: one copy of 40 bytes each way, a comparison with the next update; one or two random numbers a packet while the
//! base chance is not zero.

use bufferlab_parameters::{FLAG, LONGEST, count, fraction, parameters, time};
use bufferlab_units::{Span, Stream, Time};

use crate::packet_queue::PacketQueue;
use crate::pi::{BaseChance, Gains, LEAST_UPDATE, MOST_GAIN, falls, falls_twice};
use crate::{
    Backlog, ClassEstimate, Context, Discipline, DropReason, Dropped, Drops, Estimates, Limit, Packet,
    QueueDisc,
};

/// Most of the coupling factor (Linux's, 8 bits).
const MOST_COUPLING: u64 = 255;

parameters! {
    /// Parameters of `DualPI2`.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct DualPi2Config {
        /// Wait to hold in the queue of classic flows (RFC 9332 appendix A.1, figure 2 line 8; Linux's `target`).
        target: Span = Span::from_ms(15), time(Span::ZERO, LONGEST);
        /// Time between updates of the base chance (line 12 in Linux's rounding, `tupdate`).
        update: Span = Span::from_ms(16), time(LEAST_UPDATE, LONGEST);
        /// Change of the base chance for a second above the target, each update (line 13 for round trips of up to 100 ms).
        alpha: f64 = 0.16, fraction("a gain", MOST_GAIN);
        /// Change of the base chance for a second by which the wait has grown, each update (line 14, likewise; Linux's 3.2).
        beta: f64 = 3.2, fraction("a gain", MOST_GAIN);
        /// How many times the base chance L4S packets are marked with (section 2.1, `k`: 2 gives flows with the same round
        /// trips the same rate).
        coupling_factor: u32 = 2, count("times", 1, MOST_COUPLING);
        /// Wait of L4S packets from which on all are marked (Linux's `step_thresh`).
        step_threshold: Span = Span::from_ms(1), time(Span::ZERO, LONGEST);
        /// Part of the link that classic flows get at least while both kinds wait, percent (Linux's
        /// `classic_protection`).
        classic_protection: u32 = 10, count("percent", 0, 100);
        /// Where marks alone no longer suffice, packets of both kinds are dropped; otherwise they wait until the buffer is
        /// full (section 4.2; Linux's `drop_on_overload` and `overflow`).
        drop_on_overload: bool = true, FLAG;
    }
}

impl Discipline for DualPi2Config {
    type Qdisc = DualPi2;
    // marked packets of a flow that is not L4S leave before its others
    const REORDERS: bool = true;

    fn build(&self, context: Context<'_>) -> DualPi2 {
        DualPi2::new(context.limit, *self, context.stream)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let hasty = DualPi2Config {
            target: Span::from_us(2),
            update: Span::from_us(3),
            alpha: 10_000.0,
            beta: 100_000.0,
            step_threshold: Span::from_us(9),
            ..DualPi2Config::default()
        };
        let overflowing = DualPi2Config { drop_on_overload: false, classic_protection: 60, ..hasty };
        vec![hasty, DualPi2Config { coupling_factor: 1, ..hasty }, overflowing]
    }
}

/// The queue of L4S packets, and that of all others: their places and their classes.
const L: usize = 0;
const C: usize = 1;

/// Two queues with coupled drops and marks.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    queues: [PacketQueue; 2],
    limit: Limit,
    base: Base,
    scheduler: Scheduler,
    /// The largest packet that has come, bytes.
    max_packet: u32,
    stream: Stream,
    marks: u64,
    /// Queue of the last packet.
    last: usize,
}

/// The base chance, which both queues' chances follow (appendix A.1, figure 6).
#[derive(Clone, Copy, Debug)]
struct Base {
    config: DualPi2Config,
    pi: BaseChance,
    /// The waits of both queues at the last update.
    waits: [Span; 2],
}

/// Whose turn it is (Linux's `dequeue_packet`).
#[derive(Clone, Copy, Debug)]
struct Scheduler {
    /// Parts of L and C in the service, percent.
    parts: [i64; 2],
    /// L is served while it is not positive.
    credit: i64,
}

impl Base {
    fn new(config: DualPi2Config) -> Base {
        let DualPi2Config { target, update, alpha, beta, .. } = config;
        // without drops a mark on each L4S packet is all that there is to say (Linux)
        let most = if config.drop_on_overload { 1.0 } else { 1.0 / f64::from(config.coupling_factor) };
        let pi = BaseChance::new(Gains { target, update, alpha, beta }, most);
        Base { config, pi, waits: [Span::ZERO; 2] }
    }

    /// Makes the updates that are due by now, with the longer wait (figure 9). The first packets of the queues have been
    /// there since the last call.
    #[inline(never)]
    fn catch_up(&mut self, now: Time, queues: &[PacketQueue; 2]) {
        let fronts = queues.each_ref().map(|queue| queue.front().map(|packet| packet.enqueued));
        let Base { pi, waits, .. } = self;
        pi.catch_up(now, fronts == [None; 2], |at| {
            *waits = fronts.map(|front| front.map_or(Span::ZERO, |joined| at.saturating_since(joined)));
            waits[L].max(waits[C])
        });
    }

    /// Chance of a mark in L that the coupling asks for (`p_CL`); above 1 there is overload.
    #[inline]
    fn coupled(&self) -> f64 {
        f64::from(self.config.coupling_factor) * self.pi.chance
    }

    /// Marks no longer say enough (appendix A.2).
    #[inline]
    fn is_overloaded(&self) -> bool {
        self.config.drop_on_overload && self.coupled() > 1.0
    }
}

impl Scheduler {
    fn new(classic_protection: u32) -> Scheduler {
        let classic = i64::from(classic_protection);
        Scheduler { parts: [100 - classic, classic], credit: 0 }
    }

    /// Nothing waits: the next turn is that of the queue with the larger part.
    #[inline]
    fn reset(&mut self, max_packet: u32) {
        self.credit = i64::from(max_packet) * (self.parts[C] - self.parts[L]);
    }

    /// The queue whose turn it is.
    #[inline]
    fn choose(&self, queues: &[PacketQueue; 2]) -> Option<usize> {
        match (queues[L].is_empty(), queues[C].is_empty()) {
            (true, true) => None,
            (false, true) => Some(L),
            (true, false) => Some(C),
            (false, false) => Some(if self.credit <= 0 { L } else { C }),
        }
    }

    /// A queue has sent so much while the other one waited.
    #[inline]
    fn charge(&mut self, queue: usize, bytes: u32) {
        let bytes = i64::from(bytes);
        self.credit += if queue == L { self.parts[C] * bytes } else { -self.parts[L] * bytes };
    }
}

impl DualPi2 {
    /// Empty queues. The random numbers are of the stream.
    ///
    /// # Panics
    /// Without time between updates.
    pub fn new(limit: Limit, config: DualPi2Config, stream: Stream) -> DualPi2 {
        DualPi2 {
            queues: Default::default(),
            limit,
            base: Base::new(config),
            scheduler: Scheduler::new(config.classic_protection),
            max_packet: 0,
            stream,
            marks: 0,
            last: L,
        }
    }

    #[inline]
    fn update(&mut self, now: Time) {
        if self.base.pi.is_due(now) {
            self.base.catch_up(now, &self.queues);
        }
    }

    /// Whether a packet that was first in L goes on; it may be marked.
    #[inline]
    fn passes_l(&mut self, packet: &mut Packet, wait: Span, small: bool) -> bool {
        let (base, stream) = (&self.base, &mut self.stream);
        if !small && base.is_overloaded() && falls_twice(base.pi.chance, stream) {
            return false;
        }
        let stepped = wait > base.config.step_threshold;
        if stepped || (!small && falls(base.coupled(), stream)) {
            packet.mark(&mut self.marks);
        }
        true
    }

    /// The same for C: what is chosen and cannot be marked goes.
    #[inline]
    fn passes_c(&mut self, packet: &mut Packet, small: bool) -> bool {
        if small || !falls_twice(self.base.pi.chance, &mut self.stream) {
            return true;
        }
        !self.base.is_overloaded() && packet.mark(&mut self.marks)
    }
}

impl QueueDisc for DualPi2 {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        self.update(now);
        self.max_packet = self.max_packet.max(packet.wire_bytes);
        self.last = if packet.is_l4s() { L } else { C };
        if !self.limit.admits(self.backlog(), packet.wire_bytes) {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        packet.enqueued = now;
        self.queues[self.last].push(packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        self.update(now);
        loop {
            let Some(queue) = self.scheduler.choose(&self.queues) else {
                self.scheduler.reset(self.max_packet);
                return None;
            };
            let mut packet = self.queues[queue].pop()?;
            let small = self.backlog().bytes < 2 * u64::from(self.max_packet);
            let passes = if queue == L {
                let wait = now - packet.enqueued;
                self.passes_l(&mut packet, wait, small)
            } else {
                self.passes_c(&mut packet, small)
            };
            if !passes {
                drops.push(Dropped { packet, reason: DropReason::Early });
                continue;
            }
            if !self.queues[1 - queue].is_empty() {
                self.scheduler.charge(queue, packet.wire_bytes);
            }
            self.last = queue;
            return Some(packet);
        }
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        let [l, c] = self.queues.each_ref().map(PacketQueue::backlog);
        Backlog { packets: l.packets + c.packets, bytes: l.bytes + c.bytes }
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.marks
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    /// Of the queues: what waits, and the wait of the first packet at the last update. Parts of the service are those
    /// while both wait.
    fn estimates(&self) -> Option<Estimates> {
        let least = self.scheduler.parts.into_iter().filter(|&part| part > 0).min().unwrap_or(1);
        let class = |backlog, delay, part: i64| ClassEstimate {
            backlog,
            limit: self.limit,
            threshold: None,
            rtt: None,
            delay,
            flows: None,
            weight: part as f64 / least as f64,
            state_bytes: 0,
        };
        let of = |queue: usize| {
            class(self.queues[queue].backlog(), self.base.waits[queue], self.scheduler.parts[queue])
        };
        let whole = ClassEstimate {
            state_bytes: size_of::<DualPi2>() as u64,
            ..class(self.backlog(), self.base.pi.previous, least)
        };
        Some(Estimates { whole, classes: vec![of(L), of(C)] })
    }

    #[inline]
    fn class(&self) -> usize {
        self.last
    }

    /// What is dropped bears the codepoint that it came with.
    fn class_of_dropped(&self, dropped: &Packet) -> usize {
        if dropped.is_l4s() { L } else { C }
    }
}

#[cfg(test)]
mod tests;
