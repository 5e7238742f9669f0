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
//! - RFC 2597 sections 2 and 3: of a class of assured forwarding, packets with higher drop precedence (`AFx2`, `AFx3`) go earlier;
//!   D. Clark and W. Fang, "Explicit Allocation of Best-Effort Packet Delivery Service", IEEE/ACM Transactions on Networking
//!   6(4), 1998 (RIO), and Cisco's WRED: a lower threshold for each, here with one average for all (`min_threshold_medium`,
//!   `min_threshold_high`).
//!
//! Constants and rules were compared with ns-2.35 (`queue/red.cc`) and Linux (`include/net/red.h`), which cite these
//! papers, the sections of the first with its table of contents. The texts themselves were not available, so section 4
//! of the third is not confirmed.
//!
//! On each arrival the average moves by a share `weight` towards the backlog found; after an idle time it falls first as
//! it would have for the typical packets that could have been sent in it. A packet that finds at most one waiting passes:
//! a link to which enough is offered never falls idle, however high the average still is. Between the thresholds the chance of a drop grows
//! from 0 to `max_p`, at a rate that keeps the distances between drops uniform. Above the upper one every packet is
//! dropped; in gentle mode only above twice the upper one, with a chance from `max_p` to 1 in between. Adaptive RED
//! changes `max_p` twice a second so that the average stays halfway between the thresholds.
//!
//! Departures:
//! - The queue's measure, packets or bytes, is that of the thresholds. The chance does not depend on a packet's size,
//!   as RFC 7141 section 2.2 asks; figure 2 leaves it open.
//! - The idle time starts when the transmitter finds the queue empty (as in Linux and ns-2), not when the last packet
//!   leaves the queue. The packet that ends it is an arrival that found nothing, as in ns-2 (`estimator`, m + 1); figure 2
//!   counts the idle time only, so that arrivals closer than a packet's time would never lower the average.
//! - Figure 2 drops also what finds an empty queue. ns-2 lets it pass, and what finds one packet (`enque`, `qlen > 1`);
//!   without that, a flood that the average has outgrown would be dropped until the average has decayed, on an idle link.
//! - `ecn` marks early; a packet that meets an average above the last threshold is dropped even so (RFC 3168 section 7;
//!   the paper would mark it).
//! - `max_p` is adapted by the first arrival half a second or more after the last time, as no discipline has a clock.
//!
//! Cost: one copy of 40 bytes each way and a multiplication; a division and a random number between the thresholds.

use std::sync::Arc;

use bufferlab_parameters::{
    FLAG, LARGEST_PACKET, LONGEST, OutOfBounds, THRESHOLD, bytes, fraction, parameters, require, time,
};
use bufferlab_units::{Rate, Span, Stream, Time};

use crate::header::{Header, header_of};
use crate::packet_queue::PacketQueue;
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc, Threshold};

/// Typical packet on the wire where nothing says one, bytes.
const TYPICAL_PACKET: u32 = 1000;
/// Wait at the automatic thresholds' middle (2001, section 4).
const TARGET_DELAY: Span = Span::from_ms(5);
/// The smallest automatic lower threshold, packets, and the ratio of the upper one to it (2001, section 4, and ns-2's
/// `queue/red.cc`).
const LEAST_PACKETS: u64 = 5;
const RATIO: u64 = 3;

parameters! {
    /// Parameters of RED.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct RedConfig {
        /// Average backlog above which packets may be dropped; default by target_delay.
        min_threshold: Option<Threshold> = None, THRESHOLD;
        /// Average backlog above which all are dropped; default three times min_threshold.
        max_threshold: Option<Threshold> = None, THRESHOLD;
        /// The same for packets of medium drop precedence, AF12 to AF42 (WRED, RFC 2597); default that of all. In its
        /// unit.
        min_threshold_medium: Option<Threshold> = None, THRESHOLD;
        /// The same for packets of high drop precedence, AF13 to AF43.
        min_threshold_high: Option<Threshold> = None, THRESHOLD;
        /// Wait at the automatic thresholds' middle; default 5 ms. Not with given thresholds.
        target_delay: Option<Span> = None, time(Span::from_ps(1), LONGEST);
        /// Share by which an arrival moves the average (the paper's w_q); default one that fits the rate.
        weight: Option<f64> = None, fraction("a weight", 1.0);
        /// Chance of a drop as the average reaches max_threshold; where it starts if adaptive.
        max_p: f64 = 0.1, fraction("a chance", 1.0);
        /// Above max_threshold the chance goes on to 1 at its double.
        gentle: bool = true, FLAG;
        /// max_p follows the average, so that it stays in the middle.
        adaptive: bool = true, FLAG;
        /// ECN-capable packets are marked in place of being dropped early.
        ecn: bool = false, FLAG;
        /// Typical size on the wire, for idle times and the automatic weight; default the largest full packet of the
        /// link's flows.
        mean_packet_bytes: Option<u32> = None, bytes(1, LARGEST_PACKET);
        agree RedConfig::agree;
    }
}

impl RedConfig {
    /// Everything that is open, as the engine takes it where the rate is such: the weight, and unless a threshold is
    /// given the target delay. For people: a plan has one or the other.
    #[must_use]
    pub fn in_full(&self, given: &RedConfig, rate: Rate) -> RedConfig {
        let by_delay = given.min_threshold.or(given.max_threshold).is_none();
        let target_delay = by_delay.then(|| given.target_delay.unwrap_or(TARGET_DELAY));
        RedConfig { weight: Some(self.weight_at(rate)), target_delay, ..*self }
    }

    fn weight_at(&self, rate: Rate) -> f64 {
        let packet_bytes = self.mean_packet_bytes.unwrap_or(TYPICAL_PACKET);
        self.weight.unwrap_or_else(|| automatic_weight(rate.transmission(u64::from(packet_bytes))))
    }

    /// The thresholds are of one unit, the upper one is larger, and there is one way to choose them.
    fn agree(&self) -> Result<(), OutOfBounds> {
        if let (Some(min), Some(max)) = (self.min_threshold, self.max_threshold) {
            let holds = max.with_value(min.value()) == min && min.value() < max.value();
            let accepted = format_args!("packets or bytes as the upper threshold {max:?}, and fewer");
            require(holds, "min_threshold", format_args!("{min:?}"), accepted)?;
        }
        let unit = self.min_threshold.or(self.max_threshold).unwrap_or(Threshold::Packets(1));
        for (field, own) in self.own_thresholds() {
            let holds = own.is_none_or(|own| own.with_value(unit.value()) == unit);
            let accepted = "the unit of min_threshold, packets if it is not given";
            require(holds, field, format_args!("{:?}", own.unwrap_or(unit)), accepted)?;
        }
        let given = self.min_threshold.or(self.max_threshold);
        match self.target_delay.filter(|_| given.is_some()) {
            Some(delay) => {
                let accepted = "either target_delay or min_threshold and max_threshold";
                require(false, "target_delay_ps", delay.as_ps(), accepted)
            }
            None => Ok(()),
        }
    }

    /// The lower thresholds of medium and high drop precedence, with the plan's names.
    fn own_thresholds(&self) -> [(&'static str, Option<Threshold>); 2] {
        [("min_threshold_medium", self.min_threshold_medium), ("min_threshold_high", self.min_threshold_high)]
    }

    /// What is not given follows from what is, or from the target delay: the lower threshold is half of what the link
    /// sends in it.
    fn thresholds(&self, rate: Rate, packet_bytes: u32) -> (Threshold, Threshold) {
        let by_delay = || {
            let bits =
                u128::from(self.target_delay.unwrap_or(TARGET_DELAY).as_ps()) * u128::from(rate.as_bps());
            let packets = nearest(bits, 2 * 8 * u128::from(packet_bytes.max(1)) * PS_PER_S);
            Threshold::Packets(packets.max(LEAST_PACKETS))
        };
        let below = |max: Threshold| max.with_value((max.value() / RATIO).max(1));
        let min = self.min_threshold.unwrap_or_else(|| self.max_threshold.map_or_else(by_delay, below));
        (min, self.max_threshold.unwrap_or_else(|| min.with_value(RATIO * min.value())))
    }
}

const PS_PER_S: u128 = 1_000_000_000_000;

/// A quotient rounded to the nearest whole number, from the middle to the even one.
fn nearest(dividend: u128, divisor: u128) -> u64 {
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let up = 2 * rest > divisor || (2 * rest == divisor && quotient % 2 == 1);
    u64::try_from(quotient + u128::from(up)).unwrap_or(u64::MAX)
}

impl Discipline for RedConfig {
    type Qdisc = Red;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Red {
        let red = Red::new(context.limit, *self, context.rate, context.stream);
        let distinguishes = self.own_thresholds().iter().any(|(_, own)| own.is_some());
        if distinguishes { Red { headers: (context.headers)(), ..red } } else { red }
    }

    fn fill(&mut self, rate: Rate, packet_bytes: u32) {
        let packet_bytes = *self.mean_packet_bytes.get_or_insert(packet_bytes);
        let (min, max) = self.thresholds(rate, packet_bytes);
        (self.min_threshold, self.max_threshold, self.target_delay) = (Some(min), Some(max), None);
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let [min_threshold, max_threshold] = [2, 6].map(|packets| Some(Threshold::Packets(packets)));
        let (weight, mean_packet_bytes) = (Some(0.2), Some(125));
        let hasty = RedConfig {
            min_threshold,
            max_threshold,
            weight,
            mean_packet_bytes,
            gentle: false,
            ..RedConfig::default()
        };
        let wred = RedConfig { min_threshold_high: Some(Threshold::Packets(1)), ..hasty };
        vec![hasty, RedConfig { ecn: true, gentle: true, ..hasty }, wred]
    }
}

/// Weight that lets the average follow the queue within a second or so: 1 − exp(−1/C), with C the packets that the
/// link sends in a second (2001, section 4, on setting `w_q`).
fn automatic_weight(packet_time: Span) -> f64 {
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
/// Packets that find no more than this many waiting pass (ns-2's `queue/red.cc`, `enque`).
const SHORT_PACKETS: u64 = 1;

/// A FIFO queue under random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    packets: PacketQueue,
    limit: Limit,
    config: RedConfig,
    /// The lower threshold, whose unit is that of the average.
    unit: Threshold,
    /// Transmission time of a typical packet, for idle times (the paper's `s`).
    packet_time: Span,
    /// The average's share of an arrival (the paper's `w_q`).
    weight: f64,
    /// What the headers of flows say, if drop precedences matter.
    headers: Arc<[Header]>,
    /// By drop precedence: low, medium, high.
    min_thresholds: [f64; 3],
    max_threshold: f64,
    max_p: f64,
    /// Average of the backlogs that arrivals found (`avg`).
    average: f64,
    /// Packets of each drop precedence since the last drop or mark between the thresholds (`count`); none below the lower one
    /// (−1).
    counts: [Option<u32>; 3],
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
    pub fn new(limit: Limit, config: RedConfig, rate: Rate, stream: Stream) -> Red {
        let packet_bytes = config.mean_packet_bytes.unwrap_or(TYPICAL_PACKET);
        let (min, max) = config.thresholds(rate, packet_bytes);
        let packet_time = rate.transmission(u64::from(packet_bytes));
        Red {
            packets: PacketQueue::default(),
            limit,
            config,
            unit: min,
            packet_time,
            weight: config.weight_at(rate),
            headers: Arc::from([]),
            min_thresholds: [None, config.min_threshold_medium, config.min_threshold_high]
                .map(|own| own.unwrap_or(min).value() as f64),
            max_threshold: max.value() as f64,
            max_p: config.max_p,
            average: 0.0,
            counts: [None; 3],
            idle_since: Some(Time::ZERO),
            adapted: Time::ZERO,
            stream,
            marks: 0,
        }
    }

    /// The average with this arrival (1993, figure 2, first part; ns-2's `estimator` after an idle time).
    #[inline]
    fn estimate(&mut self, now: Time) {
        if let Some(since) = self.idle_since.take() {
            let missed = now.saturating_since(since).as_ps() / self.packet_time.as_ps().max(1);
            self.average *= power(1.0 - self.weight, missed + 1);
        } else {
            let found = self.unit.measure(self.backlog());
            self.average += self.weight * (found - self.average);
        }
    }

    /// Keeps the average in the target (2001, section 4).
    fn adapt(&mut self, now: Time) {
        self.adapted = now;
        let [min, ..] = self.min_thresholds;
        let range = self.max_threshold - min;
        if self.average > min + TARGET.1 * range && self.max_p <= MAX_P_TOP {
            self.max_p += ALPHA.min(self.max_p / 4.0);
        } else if self.average < min + TARGET.0 * range && self.max_p >= MAX_P_BOTTOM {
            self.max_p *= BETA;
        }
    }

    /// The drop precedence of a packet: 0 low, 1 medium (`AFx2`), 2 high (`AFx3`); low where precedences do not matter.
    #[inline]
    fn precedence_of(&self, packet: &Packet) -> usize {
        if self.headers.is_empty() {
            return 0;
        }
        let dscp = header_of(&self.headers, packet.flow).dscp;
        match (dscp / 8, dscp % 8) {
            (1..=4, 4) => 1,
            (1..=4, 6) => 2,
            _ => 0,
        }
    }

    /// Chance of a drop at the average, before it is spread (1993, figure 2: `p_b`; 2000 for the gentle part); none
    /// where all are dropped.
    #[inline]
    fn chance(&self, min: f64) -> Option<f64> {
        let max = self.max_threshold;
        if self.average < max {
            Some(self.max_p * (self.average - min) / (max - min))
        } else if self.config.gentle && self.average < 2.0 * max {
            Some(self.max_p + (1.0 - self.max_p) * (self.average - max) / max)
        } else {
            None
        }
    }

    /// What is to become of the packet that comes (1993, figure 2, second part; ns-2's `enque` for a short queue).
    #[inline]
    fn judge(&mut self, precedence: usize) -> Verdict {
        let min = self.min_thresholds[precedence];
        if self.average < min || self.backlog().packets <= SHORT_PACKETS {
            self.counts[precedence] = None;
            return Verdict::Pass;
        }
        let Some(chance) = self.chance(min) else {
            self.counts[precedence] = Some(0);
            return Verdict::Forced;
        };
        let count = self.counts[precedence].map_or(0, |count| count.saturating_add(1));
        // p_a = p_b / (1 - count p_b): `unit` is in (0, 1]
        let room = 1.0 - f64::from(count) * chance;
        let hit = room <= 0.0 || self.stream.unit() * room <= chance;
        self.counts[precedence] = Some(if hit { 0 } else { count });
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
        let verdict = self.judge(self.precedence_of(&packet));
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

    fn groups_in_order(&self) -> Vec<u16> {
        self.packets.groups()
    }
}

#[cfg(test)]
mod tests;
