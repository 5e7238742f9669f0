//! PIE, proportional integral controller enhanced: packets are dropped when they come, with a chance that holds the
//! wait at a target.
//!
//! Sources: RFC 8033: section 4.1 random dropping, 4.2 the chance of a drop, 4.3 latency, 4.4 bursts, 5.1 ECN, 5.4
//! derandomization, 5.5 the cap; pseudocode in appendices A (4.1 to 4.3) and B (the rest). RFC 8033 leaves open what
//! the largest packet is; there, and with timestamps, as Linux behaves (`net/sched/sch_pie.c`).
//!
//! Every `t_update` the chance changes by `alpha` times what the wait is above the target and `beta` times what it has
//! grown by. The steps are smaller while the chance is small. A burst of `max_burst` after a calm time passes unharmed.
//!
//! Waits are those of the packets that leave (section 4.3 allows "timestamps"; what leaves an empty queue behind counts
//! as no wait), not a guess from the rate at which they leave (section 5.2).
//!
//! Departures from RFC 8033:
//! - Updates are made by the first call after they were due, with the state of the time when they were; no discipline
//!   has a clock.
//! - Two full packets may always wait (section 4.1, `2 * MEAN_PKTSIZE`); a full packet is the largest one that has
//!   come.
//! - Section 5.3, which switches PIE off below a third of the buffer, is left out (it "may" be done).
//! - The accumulated chance (section 5.4) starts anew after marks, too, as in appendix B's `drop_early`.
//! - The chance decays when nothing waits, by section 4.2 and appendix A; in appendix B below half the target.
//!
//! Departures from Linux are those that the head of `fq_pie/control.rs` lists, which is Linux's.
//!
//! Cost: one copy of 40 bytes each way, a comparison with the next update; a random number a packet while the chance is
//! not zero.

use bufferlab_parameters::{FLAG, LONGEST, fraction, parameters, time};
use bufferlab_units::{Span, Stream, Time};

use crate::packet_queue::PacketQueue;
use crate::pi::{LEAST_UPDATE, MOST_GAIN};
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

parameters! {
    /// Parameters of PIE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PieConfig {
        /// Wait to hold (RFC 8033 section 4.2, `QDELAY_REF`).
        target: Span = Span::from_ms(15), time(Span::ZERO, LONGEST);
        /// Time between updates of the chance of a drop (section 4.2, `T_UPDATE`).
        t_update as "update": Span = Span::from_ms(15), time(LEAST_UPDATE, LONGEST);
        /// Change of the chance for a second above the target, each update (appendix A: 1/8).
        alpha: f64 = 0.125, fraction("a gain", MOST_GAIN);
        /// Change of the chance for a second by which the wait has grown, each update (appendix A: 1 1/4).
        beta: f64 = 1.25, fraction("a gain", MOST_GAIN);
        /// How long a burst passes unharmed after a calm time (section 4.4, `MAX_BURST`).
        max_burst as "burst": Span = Span::from_ms(150), time(Span::ZERO, LONGEST);
        /// ECN-capable packets are marked in place of being dropped while the chance is small (section 5.1: below a tenth).
        ecn: bool = false, FLAG;
    }
}

impl Discipline for PieConfig {
    type Qdisc = Pie;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Pie {
        Pie::new(context.limit, *self, context.stream)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let [target, t_update, max_burst] = [2, 3, 6].map(Span::from_us);
        let (alpha, beta) = (10_000.0, 100_000.0);
        let hasty = PieConfig { target, t_update, alpha, beta, max_burst, ..PieConfig::default() };
        vec![hasty, PieConfig { ecn: true, ..hasty }]
    }
}

/// Below so large a chance steps are divided by so much (section 4.2; the same in appendix A).
const SCALES: [(f64, f64); 6] =
    [(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];
/// The chance decays by this factor when nothing waits (section 4.2: 0.98, "1 - 1/64 is sufficient").
const DECAY: f64 = 0.98;
/// From this chance on a step is at most this one (section 5.5).
const CAP: (f64, f64) = (0.1, 0.02);
/// Above this chance packets are dropped even if their senders listen (section 5.1: 10 %).
const MARK_ECNTH: f64 = 0.1;
/// Below half the target and this chance nothing is dropped (section 4.1).
const SAFE_CHANCE: f64 = 0.2;
/// Accumulated chance below which nothing is dropped, and from which on a packet is (section 5.4).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// A FIFO queue under PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    packets: PacketQueue,
    limit: Limit,
    /// The largest packet that has come, bytes.
    max_packet: u64,
    control: Control,
    stream: Stream,
    marks: u64,
}

/// The chance of a drop, and what it comes from.
#[derive(Clone, Copy, Debug)]
struct Control {
    config: PieConfig,
    drop_prob: f64,
    /// Sum of the chances since the last drop or mark.
    accu_prob: f64,
    burst_allowance: Span,
    /// The last packet's wait.
    current_qdelay: Span,
    /// The wait at the last update.
    qdelay_old: Span,
    next_update: Time,
}

impl Control {
    /// # Panics
    /// Without time between updates.
    fn new(config: PieConfig) -> Control {
        assert!(config.t_update > Span::ZERO, "updates need time between them");
        Control {
            config,
            drop_prob: 0.0,
            accu_prob: 0.0,
            burst_allowance: config.max_burst,
            current_qdelay: Span::ZERO,
            qdelay_old: Span::ZERO,
            next_update: Time::ZERO + config.t_update,
        }
    }

    /// The wait is below half the target.
    #[inline]
    fn is_short(&self, wait: Span) -> bool {
        wait.saturating_mul(2) < self.config.target
    }

    /// Makes the updates that are due by now.
    #[inline]
    fn update(&mut self, now: Time) {
        if now >= self.next_update {
            self.catch_up(now);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Time) {
        while now >= self.next_update {
            let state = |control: &Control| (control.drop_prob, control.qdelay_old, control.burst_allowance);
            let before = state(self);
            self.calculate_drop_prob();
            self.next_update += self.config.t_update;
            if state(self) == before && now >= self.next_update {
                // nothing changes any more
                let missed = (now - self.next_update).as_ps() / self.config.t_update.as_ps();
                self.next_update += self.config.t_update.saturating_mul(missed + 1);
            }
        }
    }

    /// One update (appendices A and B, `calculate_drop_prob`).
    fn calculate_drop_prob(&mut self) {
        let now = self.current_qdelay.as_s();
        let PieConfig { target, alpha, beta, t_update, .. } = self.config;
        let mut p = alpha * (now - target.as_s()) + beta * (now - self.qdelay_old.as_s());
        if let Some((_, scale)) = SCALES.iter().find(|(below, _)| self.drop_prob < *below) {
            p /= scale;
        }
        if self.drop_prob >= CAP.0 {
            p = p.min(CAP.1);
        }
        self.drop_prob += p;
        if self.current_qdelay == Span::ZERO && self.qdelay_old == Span::ZERO {
            self.drop_prob *= DECAY;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = self.current_qdelay;
        self.burst_allowance = Span::from_ps(self.burst_allowance.as_ps().saturating_sub(t_update.as_ps()));
    }

    /// Whether the packet that comes is let through without drawing lots (section 4.4; appendix A, `enqueue`).
    #[inline]
    fn lets_burst(&mut self) -> bool {
        if self.drop_prob == 0.0 && self.is_short(self.current_qdelay) && self.is_short(self.qdelay_old) {
            self.burst_allowance = self.config.max_burst;
        }
        self.burst_allowance > Span::ZERO
    }

    /// Whether the packet that comes is to be dropped or marked (appendix B, `drop_early`).
    #[inline]
    fn drop_early(&mut self, small: bool, stream: &mut Stream) -> bool {
        if small || (self.is_short(self.qdelay_old) && self.drop_prob < SAFE_CHANCE) {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
            return false;
        }
        self.accu_prob += self.drop_prob;
        let due = self.accu_prob >= ACCUMULATED.1;
        // `unit` is in (0, 1]
        let hit = self.accu_prob >= ACCUMULATED.0 && (due || stream.unit() <= self.drop_prob);
        if hit {
            self.accu_prob = 0.0;
        }
        hit
    }

    /// Whether the packet that comes has to go: drawn, and not marked instead. `small`: at most two full packets wait.
    #[inline]
    fn refuses(&mut self, packet: &mut Packet, small: bool, stream: &mut Stream, marks: &mut u64) -> bool {
        if self.lets_burst() || !self.drop_early(small, stream) {
            return false;
        }
        let spares = self.config.ecn && self.drop_prob < MARK_ECNTH;
        !(spares && packet.mark(marks))
    }

    /// The buffer was full.
    #[inline]
    fn on_overlimit(&mut self) {
        self.accu_prob = 0.0;
    }

    /// A packet leaves after this wait; what leaves an empty queue behind counts as none.
    #[inline]
    fn on_departure(&mut self, wait: Span) {
        self.current_qdelay = wait;
    }
}

impl Pie {
    /// An empty queue. The random numbers are of the stream.
    ///
    /// # Panics
    /// Without time between updates.
    pub fn new(limit: Limit, config: PieConfig, stream: Stream) -> Pie {
        let control = Control::new(config);
        Pie { packets: PacketQueue::default(), limit, max_packet: 0, control, stream, marks: 0 }
    }

    /// The chance of a drop and the next update stay.
    pub(crate) fn change(&mut self, config: PieConfig) {
        self.control.config = config;
    }

    /// Whether the packet that comes has to go.
    #[inline]
    fn drops(&mut self, packet: &mut Packet) -> bool {
        let small = self.packets.backlog().bytes <= 2 * self.max_packet;
        self.control.refuses(packet, small, &mut self.stream, &mut self.marks)
    }
}

impl QueueDisc for Pie {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        self.control.update(now);
        self.max_packet = self.max_packet.max(u64::from(packet.wire_bytes));
        if !self.limit.admits(self.backlog(), packet.wire_bytes) {
            self.control.on_overlimit();
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        } else if self.drops(&mut packet) {
            drops.push(Dropped { packet, reason: DropReason::Early });
        } else {
            packet.enqueued = now;
            self.packets.push(packet);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        self.control.update(now);
        let packet = self.packets.pop()?;
        self.control.on_departure(if self.packets.is_empty() { Span::ZERO } else { now - packet.enqueued });
        Some(packet)
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
