//! COBALT, the queue management of CAKE: CoDel for senders that listen, BLUE for those that do not, side by side; here in a
//! single queue.
//!
//! Source: Linux 6.1 `net/sched/sch_cake.c`, read as behavior: `cobalt_should_drop`, `cobalt_queue_full`,
//! `cobalt_queue_empty`, `cake_set_rate` (constants), `cake_drop` and `cake_dequeue` (who calls them). J. Palmei et al.,
//! "Design and Evaluation of COBALT Queue Discipline", LANMAN 2019, is its description; it was not available.
//!
//! CoDel decides when packets leave, as in [`crate::Codel`], but its count of drops decays step by step once the wait is below
//! the target, at the distances at which it grew, instead of starting anew. BLUE holds a chance of a drop, whoever listens:
//! it grows by `increment` when the buffer is full, and shrinks by `decrement` when the queue is found empty, each at most
//! once in a target. At a full buffer the oldest packet goes. The last packet is never dropped.
//!
//! The target is at least one and a half times what the link takes for a full packet, and the interval grows with it; nothing
//! is signaled for a wait of less than four packets' times. So it needs no other parameters on a slow link.
//!
//! Departures from Linux:
//! - The root of the count is exact; Linux's is exact below 16, and a step of Newton's method beyond.
//! - A full packet is the largest one that has come; Linux's is the device's.
//! - A queue is found empty when the transmitter asks and nothing waits. CAKE finds one of its queues empty only while
//!   another one has packets.
//! - `ecn` can be switched off. Marks are counted of packets that leave, and those of this queue only.
//! - A packet that comes drops no more than its own room, so a new, lower limit keeps what waits.
//! - No `ingress` mode, in which the wait may grow with the number of bulk flows.
//!
//! Cost: one copy of 40 bytes each way, a few comparisons; a square root a drop, a random number a packet while BLUE's chance
//! is not zero.

use bufferlab_parameters::{FLAG, LONGEST, fraction, parameters, time};
use bufferlab_units::{Rate, Span, Stream, Time};

use crate::packet_queue::PacketQueue;
use crate::{
    Backlog, Context, Discipline, DropReason, Dropped, Drops, Ecn, Limit, Packet, PacketKind, QueueDisc,
};

parameters! {
    /// Parameters of COBALT.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CobaltConfig {
        /// Wait at which the queue may stand; at least one and a half full packets' time (Linux's `target`).
        target: Span = Span::from_ms(5), time(Span::ZERO, LONGEST);
        /// How long the queue has to stand before the first drop (Linux's `rtt`, from which tc sets target to a twentieth).
        interval: Span = Span::from_ms(100), time(Span::from_ps(1), LONGEST);
        /// By how much BLUE's chance of a drop grows when the buffer is full (Linux's `p_inc`, 1/256).
        increment: f64 = 1.0 / 256.0, fraction("a chance", 1.0);
        /// By how much it shrinks when the queue is found empty (Linux's `p_dec`, 1/4096).
        decrement: f64 = 1.0 / 4096.0, fraction("a chance", 1.0);
        /// ECN-capable packets are marked where CoDel would drop them; BLUE drops whoever it meets (always on in Linux).
        ecn: bool = true, FLAG;
    }
}

impl Discipline for CobaltConfig {
    type Qdisc = Cobalt;
    const DROPS_OLDEST: bool = true;

    fn build(&self, context: Context<'_>) -> Cobalt {
        Cobalt::new(context.limit, *self, context.rate, context.stream)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let (target, interval) = (Span::from_us(2), Span::from_us(5));
        let hasty =
            CobaltConfig { target, interval, increment: 0.2, decrement: 0.1, ..CobaltConfig::default() };
        vec![hasty, CobaltConfig { ecn: false, ..hasty }]
    }
}

/// Full packets' times below which no wait is signaled (`mtu_time * 4`), and the least target in halves of them.
const SIGNALED_PACKETS: u64 = 4;
const TARGET_HALF_PACKETS: u64 = 3;

/// The times by which a queue is judged, of a link's rate (`cake_set_rate`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    target: Span,
    interval: Span,
    /// The longest wait that is never signaled.
    spared: Span,
}

impl Times {
    pub(crate) fn new(config: &CobaltConfig, packet_time: Span) -> Times {
        let least = Span::from_ps(packet_time.as_ps() * TARGET_HALF_PACKETS / 2);
        let target = config.target.max(least);
        let interval = (config.interval + (target - config.target)).max(target + target);
        Times { target, interval, spared: packet_time.saturating_mul(SIGNALED_PACKETS) }
    }

    #[inline]
    fn is_long(&self, wait: Span) -> bool {
        wait > self.target && wait > self.spared
    }
}

/// What becomes of the packet that is to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Verdict {
    /// CoDel signals.
    signaled: bool,
    /// BLUE's lot fell on it.
    by_lot: bool,
}

/// By what a packet that is to leave is judged.
pub(crate) struct Court<'a> {
    pub(crate) config: &'a CobaltConfig,
    pub(crate) times: &'a Times,
    pub(crate) stream: &'a mut Stream,
    pub(crate) marks: &'a mut u64,
}

/// CoDel's and BLUE's state (`cobalt_vars`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct State {
    /// CoDel's count of signals.
    count: u32,
    /// When the next one is due; at a count of 0, until when the queue counts as active.
    drop_next: Time,
    dropping: bool,
    /// BLUE's chance of a drop.
    chance: f64,
    /// When it was changed last.
    changed: Time,
}

impl State {
    pub(crate) const NEW: State =
        State { count: 0, drop_next: Time::ZERO, dropping: false, chance: 0.0, changed: Time::ZERO };

    /// The distance to the next signal: the interval over the root of the count.
    fn distance(&self, times: &Times) -> Span {
        Span::from_ps((times.interval.as_ps() as f64 / f64::from(self.count.max(1)).sqrt()) as u64)
    }

    /// A step forward or back, and what it takes.
    fn step(&mut self, count: u32, times: &Times) {
        self.count = count;
        self.drop_next += self.distance(times);
    }

    #[inline]
    fn is_due(&self, now: Time) -> bool {
        self.count > 0 && now >= self.drop_next
    }

    /// BLUE's chance may change again.
    fn may_change(&mut self, now: Time, times: &Times) -> bool {
        let may = now.saturating_since(self.changed) > times.target;
        if may {
            self.changed = now;
        }
        may
    }

    /// The buffer was full (`cobalt_queue_full`).
    #[cold]
    pub(crate) fn on_full(&mut self, now: Time, times: &Times, config: &CobaltConfig) {
        if self.may_change(now, times) {
            self.chance = (self.chance + config.increment).min(1.0);
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// The queue was found empty (`cobalt_queue_empty`).
    pub(crate) fn on_empty(&mut self, now: Time, times: &Times, config: &CobaltConfig) {
        if self.chance > 0.0 && self.may_change(now, times) {
            self.chance = (self.chance - config.decrement).max(0.0);
        }
        self.dropping = false;
        if self.is_due(now) {
            self.step(self.count - 1, times);
        }
    }

    /// A packet that waited so long is to leave (`cobalt_should_drop`). `listens`: it would be marked.
    #[inline]
    fn judge(&mut self, now: Time, wait: Span, times: &Times, listens: bool, stream: &mut Stream) -> Verdict {
        let due = self.is_due(now);
        let mut late = now > self.drop_next;
        let is_long = times.is_long(wait);
        if is_long {
            if !self.dropping {
                self.drop_next = now + self.distance(times);
            }
            self.count = self.count.max(1);
        }
        self.dropping = is_long;
        let signaled = due && is_long;
        if signaled {
            self.step(self.count.saturating_add(1), times);
            late = now > self.drop_next;
        } else if due {
            while self.is_due(now) {
                self.step(self.count - 1, times);
            }
            late = now > self.drop_next;
        }
        // `unit` is in (0, 1]
        let by_lot = self.chance > 0.0 && stream.unit() <= self.chance;
        let drops = by_lot || (signaled && !listens);
        if self.count == 0 {
            self.drop_next = now + times.interval;
        } else if late && !drops {
            self.drop_next = now;
        }
        Verdict { signaled, by_lot }
    }

    /// Why a packet that is to leave is dropped, if it is; it may be marked. The last one in its queue is never dropped.
    #[inline]
    pub(crate) fn sentence(
        &mut self,
        now: Time,
        packet: &mut Packet,
        is_last: bool,
        court: &mut Court<'_>,
    ) -> Option<DropReason> {
        let listens = court.config.ecn
            && matches!(packet.kind, PacketKind::Data(Ecn::Capable | Ecn::Scalable | Ecn::Marked));
        let verdict = self.judge(now, now - packet.enqueued, court.times, listens, court.stream);
        let unheard = verdict.signaled && !listens;
        if (verdict.by_lot || unheard) && !is_last {
            return Some(if unheard { DropReason::Standing } else { DropReason::Early });
        }
        if verdict.signaled && listens {
            packet.mark(court.marks);
        }
        None
    }

    /// Nothing is left to decay: CoDel counts no signals, BLUE's chance is zero, and no time runs (`cake_dequeue`).
    pub(crate) fn is_at_rest(&self, now: Time) -> bool {
        self.chance == 0.0 && self.count == 0 && now >= self.drop_next
    }
}

/// A FIFO queue under COBALT.
#[derive(Clone, Debug)]
pub struct Cobalt {
    packets: PacketQueue,
    limit: Limit,
    config: CobaltConfig,
    rate: Rate,
    /// The largest packet that has come, bytes.
    max_packet: u32,
    times: Times,
    state: State,
    stream: Stream,
    marks: u64,
}

impl Cobalt {
    /// An empty queue of a link with this rate. The random numbers are of the stream.
    pub fn new(limit: Limit, config: CobaltConfig, rate: Rate, stream: Stream) -> Cobalt {
        Cobalt {
            packets: PacketQueue::default(),
            limit,
            config,
            rate,
            max_packet: 0,
            times: Times::new(&config, Span::ZERO),
            state: State::NEW,
            stream,
            marks: 0,
        }
    }

    /// A larger packet than all before has come.
    #[cold]
    fn retune(&mut self, wire_bytes: u32) {
        self.max_packet = wire_bytes;
        self.times = Times::new(&self.config, self.rate.transmission(u64::from(wire_bytes)));
    }

    /// Drops the oldest packets until one that comes has its room (`cake_drop`).
    #[cold]
    fn make_room(&mut self, now: Time, bytes: u64, drops: &mut Drops) {
        let mut freed = 0;
        while self.limit.is_below(self.backlog()) && freed < bytes {
            let Some(packet) = self.packets.pop() else { break };
            self.state.on_full(now, &self.times, &self.config);
            freed += u64::from(packet.wire_bytes);
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }
}

impl QueueDisc for Cobalt {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if packet.wire_bytes > self.max_packet {
            self.retune(packet.wire_bytes);
        }
        packet.enqueued = now;
        self.packets.push(packet);
        if self.limit.is_below(self.backlog()) {
            self.make_room(now, u64::from(packet.wire_bytes), drops);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        while let Some(mut packet) = self.packets.pop() {
            let Cobalt { config, times, stream, marks, .. } = self;
            let mut court = Court { config, times, stream, marks };
            let is_last = self.packets.is_empty();
            if let Some(reason) = self.state.sentence(now, &mut packet, is_last, &mut court) {
                drops.push(Dropped { packet, reason });
                continue;
            }
            return Some(packet);
        }
        self.state.on_empty(now, &self.times, &self.config);
        None
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
