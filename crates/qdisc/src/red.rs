//! Random early detection: as the average queue grows, more of the packets that come are dropped or marked.
//!
//! Sources:
//! - S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM Transactions on
//!   Networking 1(4), 1993: the algorithm (figure 2), the average and its weight (section 6), the distances between
//!   marks (section 7).
//! - S. Floyd, "Recommendation on using the gentle variant of RED", 2000: `gentle`.
//! - S. Floyd, R. Gummadi and S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
//!   Queue Management", 2001: `adaptive`, the automatic weight and thresholds.
//! - RFC 3168 section 7, RFC 7567 section 4.2.1: marks in place of early drops (`ecn`).
//!
//! Constants and rules were compared with ns-2.35 (`queue/red.cc`) and Linux (`include/net/red.h`), which cite these
//! papers, the sections of the first with its table of contents. The texts themselves were not at hand, so section 4 of
//! the third is not confirmed.
//!
//! On each arrival the average moves by a share `weight` towards the backlog found; after an idle time it falls as it
//! would have for the small packets that could have been sent in it. Between the thresholds the chance of a drop grows
//! from 0 to `max_p`, at a rate that keeps the distances between drops uniform. Above the upper one every packet is
//! dropped; in gentle mode only above twice the upper one, with a chance from `max_p` to 1 in between. Adaptive RED
//! changes `max_p` twice a second so that the average stays halfway between the thresholds.
//!
//! Departures:
//! - The queue's measure, packets or bytes, is that of the thresholds. The chance does not depend on a packet's size,
//!   as RFC 7141 section 2.2 asks; figure 2 leaves it open.
//! - The idle time starts when the transmitter asks in vain (as in Linux and ns-2), not when the last packet leaves the
//!   queue for it.
//! - `ecn` marks early; a packet that meets an average above the last threshold is dropped even so (RFC 3168 section 7;
//!   the paper would mark it).
//! - `max_p` is adapted by the first arrival half a second or more after the last time, as no discipline has a clock.
//!
//! Cost: one copy of 40 bytes each way and a multiplication; a division and a random number between the thresholds.

use bufferlab_units::{Span, Stream, Time};

use crate::packet_queue::PacketQueue;
use crate::{Backlog, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

/// What an operator sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedConfig {
    /// Average above which packets may be dropped.
    pub min_threshold: Threshold,
    /// Average above which all are, or with `gentle` the chance grows faster; in the same unit.
    pub max_threshold: Threshold,
    /// Share by which an arrival moves the average (the paper's `w_q`): 0.002 in section 6.
    pub weight: f64,
    /// Chance of a drop as the average reaches the upper threshold; where adaptive RED starts.
    pub max_p: f64,
    /// The chance goes on to 1 at twice the upper threshold.
    pub gentle: bool,
    /// Early drops of packets whose senders listen become marks.
    pub ecn: bool,
    /// `max_p` follows the average.
    pub adaptive: bool,
    /// Transmission time of a typical packet, for idle times (the paper's `s`).
    pub packet_time: Span,
}

/// A threshold of the average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// So many packets.
    Packets(u64),
    /// So many bytes on the wire.
    Bytes(u64),
}

impl Threshold {
    fn value(self) -> f64 {
        match self {
            Threshold::Packets(value) | Threshold::Bytes(value) => value as f64,
        }
    }

    /// A backlog in this threshold's unit.
    #[inline]
    fn measure(self, backlog: Backlog) -> f64 {
        match self {
            Threshold::Packets(_) => backlog.packets as f64,
            Threshold::Bytes(_) => backlog.bytes as f64,
        }
    }
}

/// Weight that lets the average follow the queue within a second or so: 1 − exp(−1/C), with C the packets that the
/// link sends in a second (2001, section 4, on setting `w_q`).
pub fn automatic_weight(packet_time: Span) -> f64 {
    // the series of 1 - exp(-x); x is cut at 1, where a packet takes a second
    let x = packet_time.as_s().min(1.0);
    let (mut term, mut sum) = (x, 0.0);
    for n in 2..20 {
        sum += term;
        term *= -x / f64::from(n);
    }
    sum
}

/// How often `max_p` is adapted (2001, section 4: `interval`).
const INTERVAL: Span = Span::from_ms(500);
/// `max_p` grows up to here (2001, section 4).
const MAX_P_TOP: f64 = 0.5;
/// And falls down to here (2001, section 4).
const MAX_P_BOTTOM: f64 = 0.01;
/// Largest step up: `alpha` is the lesser of this and a quarter of `max_p` (2001, section 4).
const ALPHA: f64 = 0.01;
/// Step down, a factor (2001, section 4: `beta`).
const BETA: f64 = 0.9;
/// The target is the middle fifth between the thresholds (2001, section 4: `target`).
const TARGET: (f64, f64) = (0.4, 0.6);

/// A FIFO queue under random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    packets: PacketQueue,
    limit: Limit,
    config: RedConfig,
    min_threshold: f64,
    max_threshold: f64,
    max_p: f64,
    /// Average of the backlogs that arrivals found (`avg`).
    average: f64,
    /// Packets since the last drop or mark between the thresholds (`count`); none below the lower one (−1).
    count: Option<u32>,
    /// The transmitter has been idle since (`q_time`).
    idle_since: Option<Time>,
    adapted: Time,
    stream: Stream,
    marks: u64,
}

enum Verdict {
    Pass,
    Early,
    Forced,
}

impl Red {
    /// An empty queue. The random numbers are of the stream.
    pub fn new(limit: Limit, config: RedConfig, stream: Stream) -> Red {
        Red {
            packets: PacketQueue::default(),
            limit,
            config,
            min_threshold: config.min_threshold.value(),
            max_threshold: config.max_threshold.value(),
            max_p: config.max_p,
            average: 0.0,
            count: None,
            idle_since: Some(Time::ZERO),
            adapted: Time::ZERO,
            stream,
            marks: 0,
        }
    }

    /// The average with this arrival (1993, figure 2, first part).
    #[inline]
    fn estimate(&mut self, now: Time) {
        if let Some(since) = self.idle_since.take() {
            let missed = now.saturating_since(since).as_ps() / self.config.packet_time.as_ps().max(1);
            self.average *= power(1.0 - self.config.weight, missed);
        } else {
            let found = self.config.min_threshold.measure(self.backlog());
            self.average += self.config.weight * (found - self.average);
        }
    }

    /// Keeps the average in the target (2001, section 4).
    fn adapt(&mut self, now: Time) {
        self.adapted = now;
        let range = self.max_threshold - self.min_threshold;
        if self.average > self.min_threshold + TARGET.1 * range && self.max_p <= MAX_P_TOP {
            self.max_p += ALPHA.min(self.max_p / 4.0);
        } else if self.average < self.min_threshold + TARGET.0 * range && self.max_p >= MAX_P_BOTTOM {
            self.max_p *= BETA;
        }
    }

    /// Chance of a drop at the average, before it is spread (1993, figure 2: `p_b`; 2000 for the gentle part); none
    /// where all are dropped.
    #[inline]
    fn chance(&self) -> Option<f64> {
        let (min, max) = (self.min_threshold, self.max_threshold);
        if self.average < max {
            Some(self.max_p * (self.average - min) / (max - min))
        } else if self.config.gentle && self.average < 2.0 * max {
            Some(self.max_p + (1.0 - self.max_p) * (self.average - max) / max)
        } else {
            None
        }
    }

    /// What is to become of the packet that comes (1993, figure 2, second part).
    #[inline]
    fn judge(&mut self) -> Verdict {
        if self.average < self.min_threshold {
            self.count = None;
            return Verdict::Pass;
        }
        let Some(chance) = self.chance() else {
            self.count = Some(0);
            return Verdict::Forced;
        };
        let count = self.count.map_or(0, |count| count.saturating_add(1));
        // p_a = p_b / (1 - count p_b): `unit` is in (0, 1]
        let room = 1.0 - f64::from(count) * chance;
        let hit = room <= 0.0 || self.stream.unit() * room <= chance;
        self.count = Some(if hit { 0 } else { count });
        if hit { Verdict::Early } else { Verdict::Pass }
    }
}

/// A power by squaring: the same everywhere, unlike the C library's.
fn power(base: f64, exponent: u64) -> f64 {
    let (mut square, mut rest, mut product) = (base, exponent, 1.0);
    while rest > 0 {
        if rest & 1 == 1 {
            product *= square;
        }
        square *= square;
        rest >>= 1;
    }
    product
}

impl QueueDisc for Red {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        self.estimate(now);
        if self.config.adaptive && now.saturating_since(self.adapted) >= INTERVAL {
            self.adapt(now);
        }
        let verdict = self.judge();
        if !self.limit.admits(self.backlog(), packet.wire_bytes) {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Early if self.config.ecn && packet.mark(&mut self.marks) => {}
            Verdict::Early | Verdict::Forced => {
                drops.push(Dropped { packet, reason: DropReason::Early });
                return;
            }
        }
        packet.enqueued = now;
        self.packets.push(packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        let Some(packet) = self.packets.pop() else {
            self.idle_since.get_or_insert(now);
            return None;
        };
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
}

#[cfg(test)]
mod tests;
