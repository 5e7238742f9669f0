//! CoDel, controlled delay: packets are dropped when they leave, because of how long they waited.
//!
//! Sources: RFC 8289 (its section 5, annotated pseudocode: 5.2 state, 5.3 constants, 5.5 dequeue, 5.6 helpers); for
//! marks, which the pseudocode leaves out, the behavior of Linux (`net/sched/sch_codel.c`, `include/net/codel_impl.h`).
//!
//! A standing queue is one whose packets have all waited for at least the target during a whole interval. Then the
//! first packet to leave is dropped, and while the queue stands more follow, at distances that shrink as the interval
//! divided by the square root of their count: what a sender whose rate is the inverse root of its loss (TCP) needs so
//! that its rate falls in even steps.
//!
//! - `ecn`: a packet of a flow that listens is marked and leaves in place of being dropped.
//! - `ce_threshold`: a packet of such a flow that waited for longer is marked, whatever else is decided and whether or
//!   not `ecn` is on (Linux). With 1 ms and DCTCP this is a step threshold in time.
//!
//! Departures from RFC 8289:
//! - The queue may always hold a packet (section 5.6, `bytes() <= maxpacket_`). A full packet is the largest one that has
//!   come, as a discipline knows no interface; section 5.3 would take the interface's MTU, as Linux does now.
//! - There is a limit with tail drop, as in Linux; the RFC leaves it to the queue below.
//!
//! Departures from Linux:
//! - The control law is the RFC's unless [`ControlLaw::Linux`] asks for Linux's approximation of the root, here without
//!   its cut to 16 bits; time is exact, not in units of 1024 ns.
//! - An interval above the target ends when it has passed (the RFC's `now >= first_above_time_`), not just after.
//! - A packet that a queue before this one marked is sent like one that is marked here, but not counted as a mark:
//!   `marks` are of this queue. One marked for both reasons counts once.
//! - A new limit keeps what waits; Linux drops what exceeds it.
//!
//! Cost: one copy of 40 bytes each way, a square root a drop.

use bufferlab_parameters::{FLAG, LONGEST, choice, parameters, time, words};
use bufferlab_units::{Span, Time};

use crate::packet_queue::PacketQueue;
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

words! {
    /// How the distance to the next drop follows from the count of drops.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ControlLaw {
        /// The interval over the root of the count (RFC 8289 section 5.6).
        Rfc = "rfc",
        /// The root as Linux and ns-3 approximate it, by one step of Newton's method a drop. The first distances are 1,
        /// 0.5, 0.5625, 0.4878 intervals, where the RFC has 1, 0.7071, 0.5774, 0.5.
        Linux = "linux",
    }
}

parameters! {
    /// Parameters of CoDel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CodelConfig {
        /// Wait at which a queue may stand (RFC 8289 section 5.3, TARGET).
        target: Span = Span::from_ms(5), time(Span::ZERO, LONGEST);
        /// How long a queue has to stand before the first drop: about the longest usual rtt (section 5.3, INTERVAL).
        interval: Span = Span::from_ms(100), time(Span::from_ps(1), LONGEST);
        /// ECN-capable packets are marked in place of being dropped (Linux's `ecn`).
        ecn: bool = false, FLAG;
        /// ECN-capable packets that waited for longer are marked; default never (Linux's `ce_threshold`).
        ce_threshold: Option<Span> = None, time(Span::ZERO, LONGEST);
        /// Distance to the next drop: by the root of their count, or as Linux approximates it.
        control_law: ControlLaw = ControlLaw::Rfc, choice::<ControlLaw>();
    }
}

impl Discipline for CodelConfig {
    type Qdisc = Codel;

    fn build(&self, context: Context<'_>) -> Codel {
        Codel::new(context.limit, *self)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let (target, interval) = (Span::from_us(2), Span::from_us(5));
        let hasty = CodelConfig { target, interval, ..CodelConfig::default() };
        vec![
            hasty,
            CodelConfig { control_law: ControlLaw::Linux, ..hasty },
            CodelConfig { ecn: true, ce_threshold: Some(Span::from_us(4)), ..hasty },
        ]
    }
}

/// Intervals after the last drop's date from which a dropping state starts anew (section 5.5).
const MEMORY_INTERVALS: u64 = 16;

/// Packets under CoDel's control, in their order.
pub(crate) trait Source {
    /// The next packet.
    fn pop(&mut self) -> Option<Packet>;

    /// At most a full packet is left, so there is nothing to drop (section 5.6, `bytes() <= maxpacket_`).
    fn is_small(&self) -> bool;
}

/// A packet is to leave the queue: what is needed to decide which.
pub(crate) struct Service<'a, S> {
    pub(crate) config: &'a CodelConfig,
    pub(crate) now: Time,
    pub(crate) queue: &'a mut S,
    /// Packets marked so far.
    pub(crate) marks: &'a mut u64,
    /// What is dropped.
    pub(crate) drops: &'a mut Drops,
}

impl<S> Service<'_, S> {
    /// Marks a packet instead of dropping it, if its flow and the queue use ECN; whether it did.
    #[inline]
    fn mark_instead(&mut self, packet: &mut Packet) -> bool {
        self.config.ecn && packet.mark(self.marks)
    }

    fn drop(&mut self, packet: Packet) {
        self.drops.push(Dropped { packet, reason: DropReason::Standing });
    }
}

/// When to drop: the state of section 5.2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropState {
    /// When an interval above the target will have passed; none while below.
    first_above_time: Option<Time>,
    /// When the next packet is to be dropped, or was.
    drop_next: Time,
    /// Packets dropped in this dropping state; the next one continues from there.
    count: u64,
    /// `count` when this dropping state began.
    lastcount: u64,
    /// About 1/√count, for [`ControlLaw::Linux`].
    inverse_root: f64,
    dropping: bool,
}

impl DropState {
    pub(crate) const NEW: DropState = DropState {
        first_above_time: None,
        drop_next: Time::ZERO,
        count: 0,
        lastcount: 0,
        inverse_root: 1.0,
        dropping: false,
    };

    /// The packet that leaves the queue now (section 5.5, `dequeue`).
    #[inline]
    pub(crate) fn dequeue(&mut self, mut service: Service<'_, impl Source>) -> Option<Packet> {
        let Some((packet, ok_to_drop)) = self.pop(&mut service) else {
            self.dropping = false;
            return None;
        };
        let mut packet = if !ok_to_drop {
            self.dropping = false;
            packet
        } else if self.dropping {
            self.drop_due(packet, &mut service)?
        } else {
            self.drop_first(packet, &mut service)?
        };
        let waited = service.now - packet.enqueued;
        if service.config.ce_threshold.is_some_and(|threshold| waited > threshold) {
            packet.mark(service.marks);
        }
        Some(packet)
    }

    /// The next packet, and whether it may be dropped (section 5.6, `dodequeue`).
    #[inline]
    fn pop(&mut self, service: &mut Service<'_, impl Source>) -> Option<(Packet, bool)> {
        let (config, now) = (service.config, service.now);
        let Some(packet) = service.queue.pop() else {
            self.first_above_time = None;
            return None;
        };
        if now - packet.enqueued < config.target || service.queue.is_small() {
            self.first_above_time = None;
            return Some((packet, false));
        }
        let first_above_time = *self.first_above_time.get_or_insert(now + config.interval);
        Some((packet, now >= first_above_time))
    }

    /// What is due in a dropping state: drops, or a mark (section 5.5). What may be dropped leaves more than a full
    /// packet behind, so there is a next one.
    #[inline(never)]
    fn drop_due(&mut self, mut packet: Packet, service: &mut Service<'_, impl Source>) -> Option<Packet> {
        // a long queue may be so far behind that several are due
        while self.is_due(service.now) {
            self.count_up();
            if service.mark_instead(&mut packet) {
                self.schedule(service.config);
                break;
            }
            service.drop(packet);
            let ok_to_drop;
            (packet, ok_to_drop) = self.pop(service)?;
            if ok_to_drop {
                self.schedule(service.config);
            } else {
                self.dropping = false;
            }
        }
        Some(packet)
    }

    /// The first drop, or mark, of a dropping state (section 5.5).
    #[inline(never)]
    fn drop_first(&mut self, mut packet: Packet, service: &mut Service<'_, impl Source>) -> Option<Packet> {
        if !service.mark_instead(&mut packet) {
            service.drop(packet);
            (packet, _) = self.pop(service)?;
        }
        self.start_dropping(service.config, service.now);
        Some(packet)
    }

    /// Whether the next drop is due.
    #[inline]
    fn is_due(&self, now: Time) -> bool {
        self.dropping && now >= self.drop_next
    }

    /// A dropping state begins; close to the last one, at the rate that it had reached (section 5.5).
    fn start_dropping(&mut self, config: &CodelConfig, now: Time) {
        let recent = config.interval.saturating_mul(MEMORY_INTERVALS);
        let more = self.count - self.lastcount;
        if more > 1 && now.saturating_since(self.drop_next) < recent {
            self.count = more;
            self.improve_root();
        } else {
            (self.count, self.inverse_root) = (1, 1.0);
        }
        self.lastcount = self.count;
        self.dropping = true;
        self.drop_next = self.control_law(config, now);
    }

    /// One drop more.
    fn count_up(&mut self) {
        self.count += 1;
        self.improve_root();
    }

    /// A step of Newton's method towards 1/√count: x·(3 − count·x²)/2. It never oversteps, and the count grows by at
    /// most one or shrinks, so that what is in parentheses stays at 1 or above.
    fn improve_root(&mut self) {
        let x = self.inverse_root;
        self.inverse_root = x * (3.0 - self.count as f64 * x * x) / 2.0;
    }

    /// The next drop, counted from when this one was due.
    fn schedule(&mut self, config: &CodelConfig) {
        self.drop_next = self.control_law(config, self.drop_next);
    }

    /// `t + interval / sqrt(count)` (section 5.6). Each operation is rounded alike everywhere (IEEE 754).
    fn control_law(&self, config: &CodelConfig, t: Time) -> Time {
        let interval_ps = config.interval.as_ps() as f64;
        let distance_ps = match config.control_law {
            ControlLaw::Rfc => interval_ps / (self.count as f64).sqrt(),
            ControlLaw::Linux => interval_ps * self.inverse_root,
        };
        t + Span::from_ps(distance_ps as u64)
    }
}

/// A FIFO queue under CoDel, with a limit in packets or bytes.
#[derive(Clone, Debug)]
pub struct Codel {
    queue: Queue,
    limit: Limit,
    config: CodelConfig,
    state: DropState,
    marks: u64,
}

#[derive(Clone, Debug)]
struct Queue {
    packets: PacketQueue,
    /// The largest packet that has come, bytes.
    max_packet: u64,
}

impl Source for Queue {
    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        self.packets.pop()
    }

    #[inline]
    fn is_small(&self) -> bool {
        self.packets.backlog().bytes <= self.max_packet
    }
}

impl Codel {
    /// An empty queue.
    pub fn new(limit: Limit, config: CodelConfig) -> Codel {
        let queue = Queue { packets: PacketQueue::default(), max_packet: 0 };
        Codel { queue, limit, config, state: DropState::NEW, marks: 0 }
    }

    pub(crate) fn change(&mut self, config: CodelConfig) {
        self.config = config;
    }
}

impl QueueDisc for Codel {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if self.limit.admits(self.backlog(), packet.wire_bytes) {
            packet.enqueued = now;
            self.queue.max_packet = self.queue.max_packet.max(u64::from(packet.wire_bytes));
            self.queue.packets.push(packet);
        } else {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        let Codel { config, queue, marks, state, .. } = self;
        state.dequeue(Service { config, now, queue, marks, drops })
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.queue.packets.backlog()
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.marks
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn groups_in_order(&self) -> Vec<u16> {
        self.queue.packets.groups()
    }
}

#[cfg(test)]
mod tests;
