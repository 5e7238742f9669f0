//! ADT, active drop-tail: a FIFO queue whose limit is the smallest that keeps the link as busy as wanted.
//!
//! Source: R. Stanojević, R. Shorten and C. Kellett, "Adaptive tuning of drop-tail buffers for reducing queueing delays", IEEE
//! Communications Letters 10(7), 2006. Its text was not available; the rules and the four constants are as others report them
//! (an average of the throughput with a weight of 0.1, renewed each 0.3 s; utilization wanted 0.99; factor 1.01).
//!
//! Each `period` the average of the link's rate moves by a tenth towards the rate of that period. If it is below
//! `utilization` times the link's rate, the limit is multiplied by 1 + `growth`, else divided by it. A packet that finds the limit
//! reached is dropped.
//!
//! What the reports leave open, and is chosen here:
//! - The limit begins at `buffer` and never exceeds it; it is in bytes, and at least two packets of the largest size that has come.
//! - The average begins at the link's rate, so that the limit falls while nothing is known. As of a period's bytes count those
//!   of packets that left the queue within it.
//! - Periods end with the first call after they were over, as no discipline has a clock.
//!
//! Cost: one copy of 40 bytes each way, a comparison with the period's end.

use bufferlab_parameters::{LONGEST, fraction, parameters, time};
use bufferlab_units::{Rate, Span, Time};

use crate::packet_queue::PacketQueue;
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc};

/// Packets that may wait however small the limit is.
const LEAST_PACKETS: f64 = 2.0;
/// Where an unlimited buffer begins: what the link sends in this time.
const FIRST: Span = Span::from_s(1);
/// After this many periods without a packet nothing is left of the average.
const MOST_MISSED: u32 = 1_000;

parameters! {
    /// Parameters of active drop-tail.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct AdtConfig {
        /// Utilization wanted: below it, the limit grows (0.99 in the paper's evaluation).
        utilization: f64 = 0.99, fraction("a utilization", 1.0);
        /// Part by which the limit grows each period, or falls again (the paper's c less 1; c is 1.01).
        growth: f64 = 0.01, fraction("a part", 1.0);
        /// Time between changes of the limit (the paper's sample period, 0.3 s).
        period: Span = Span::from_ms(300), time(Span::from_ps(1_000_000), LONGEST);
        /// Share by which a period moves the average of the rate (the paper's rho, 0.1).
        weight: f64 = 0.1, fraction("a weight", 1.0);
    }
}

impl Discipline for AdtConfig {
    type Qdisc = Adt;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Adt {
        Adt::new(context.limit, *self, context.rate)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let hasty = AdtConfig { growth: 0.3, period: Span::from_us(3), weight: 0.5, ..AdtConfig::default() };
        vec![hasty, AdtConfig { utilization: 0.5, ..hasty }]
    }
}

/// A FIFO queue whose limit follows the utilization.
#[derive(Clone, Debug)]
pub struct Adt {
    packets: PacketQueue,
    config: AdtConfig,
    /// The most that the limit may be.
    limit: Limit,
    /// How much may wait, in the limit's unit, bytes if it has none (the paper's `q_ADT`).
    capacity: f64,
    /// Average of the utilization.
    average: f64,
    /// Bytes that left in this period.
    sent: u64,
    period_end: Time,
    /// Bytes of the link in a period.
    whole: f64,
    /// Bytes of the link in [`FIRST`].
    first: f64,
    /// The largest packet that has come, bytes.
    max_packet: u32,
}

impl Adt {
    /// An empty queue, whose limit begins at the given one.
    ///
    /// # Panics
    /// Without time between changes.
    pub fn new(limit: Limit, config: AdtConfig, rate: Rate) -> Adt {
        assert!(config.period > Span::ZERO, "changes need time between them");
        let bytes_in = |span: Span| rate.as_bps() as f64 / 8.0 * span.as_s();
        let first = bytes_in(FIRST);
        Adt {
            packets: PacketQueue::default(),
            config,
            limit,
            capacity: most(limit).unwrap_or(first),
            average: 1.0,
            sent: 0,
            period_end: Time::ZERO + config.period,
            whole: bytes_in(config.period),
            first,
            max_packet: 0,
        }
    }

    /// Ends the periods that are over by now.
    #[inline]
    fn update(&mut self, now: Time) {
        if now >= self.period_end {
            self.catch_up(now);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Time) {
        for _ in 0..MOST_MISSED {
            self.adapt();
            self.period_end += self.config.period;
            if now < self.period_end {
                return;
            }
        }
        self.average = 0.0;
        let missed = (now - self.period_end).as_ps() / self.config.period.as_ps();
        self.period_end += self.config.period.saturating_mul(missed + 1);
    }

    /// The end of a period: the average, and the limit by it.
    fn adapt(&mut self) {
        let AdtConfig { utilization, growth, weight, .. } = self.config;
        let factor = 1.0 + growth;
        self.average += weight * (self.sent as f64 / self.whole - self.average);
        self.sent = 0;
        self.capacity *= if self.average < utilization { factor } else { 1.0 / factor };
        let largest = f64::from(self.max_packet);
        let least = if matches!(self.limit, Limit::Packets(_)) { 1.0 } else { largest };
        self.capacity = self.capacity.max(LEAST_PACKETS * least);
        self.bound();
    }

    /// Holds the capacity within the limit.
    fn bound(&mut self) {
        if let Some(most) = most(self.limit) {
            self.capacity = self.capacity.min(most);
        }
    }

    /// Whether the packet that comes may wait.
    #[inline]
    fn admits(&self, wire_bytes: u32) -> bool {
        let whole = self.capacity as u64;
        let capacity = match self.limit {
            Limit::Packets(_) => Limit::Packets(whole),
            Limit::Bytes(_) | Limit::Unlimited => Limit::Bytes(whole),
        };
        capacity.admits(self.packets.backlog(), wire_bytes)
    }
}

/// The number of a limit.
fn most(limit: Limit) -> Option<f64> {
    match limit {
        Limit::Packets(number) | Limit::Bytes(number) => Some(number as f64),
        Limit::Unlimited => None,
    }
}

impl QueueDisc for Adt {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        self.update(now);
        self.max_packet = self.max_packet.max(packet.wire_bytes);
        if self.admits(packet.wire_bytes) {
            packet.enqueued = now;
            self.packets.push(packet);
        } else {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        self.update(now);
        let packet = self.packets.pop()?;
        self.sent += u64::from(packet.wire_bytes);
        Some(packet)
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    fn set_limit(&mut self, limit: Limit) {
        let is_of_other_unit = std::mem::discriminant(&limit) != std::mem::discriminant(&self.limit);
        self.limit = limit;
        if is_of_other_unit {
            self.capacity = most(limit).unwrap_or(self.first);
        }
        self.bound();
    }

    fn groups_in_order(&self) -> Vec<u16> {
        self.packets.groups()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Fifo;

    fn adt(limit: Limit, config: AdtConfig) -> Adt {
        // 1000 bytes a millisecond
        Adt::new(limit, config, Rate::from_bps(8_000_000).unwrap())
    }

    fn at_ms(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn packet(seq: u32, wire_bytes: u32) -> Packet {
        Packet { seq, wire_bytes, ..Packet::default() }
    }

    /// Two packets of 1000 bytes come each 2 ms, or one, for this time.
    fn load(queue: &mut Adt, from_ms: u64, to_ms: u64, percent: u64) {
        for ms in from_ms..to_ms {
            if ms % 100 < percent {
                queue.enqueue(at_ms(ms), packet(0, 1000), &mut Drops::new());
                queue.dequeue(at_ms(ms), &mut Drops::new());
            }
        }
    }

    #[test]
    fn the_defaults_are_the_paper_s() {
        let AdtConfig { utilization, growth, period, weight } = AdtConfig::default();
        assert_eq!((utilization, growth, period, weight), (0.99, 0.01, Span::from_ms(300), 0.1));
    }

    /// 100 periods of a busy link divide the limit by 1.01 each.
    #[test]
    fn the_limit_falls_while_the_link_is_busy_enough() {
        let mut queue = adt(Limit::Packets(1_000), AdtConfig::default());
        load(&mut queue, 0, 30_001, 100);
        assert!((queue.capacity - 1_000.0 / 1.01_f64.powi(100)).abs() < 1e-6, "{}", queue.capacity);
        assert!((queue.average - 1.0).abs() < 1e-9);
    }

    /// Of a link that is half idle the average is below 0.99 after the first period: 0.95, then 0.905.
    #[test]
    fn it_grows_while_the_link_is_not_up_to_the_buffer() {
        let mut queue = adt(Limit::Packets(1_000), AdtConfig::default());
        load(&mut queue, 0, 30_001, 100);
        let before = queue.capacity;
        load(&mut queue, 30_001, 30_601, 50);
        assert!((queue.average - 0.905).abs() < 1e-3, "{}", queue.average);
        assert!((queue.capacity / before - 1.01 * 1.01).abs() < 1e-9);
        load(&mut queue, 30_601, 90_601, 50);
        assert_eq!(queue.capacity, 1_000.0);
    }

    /// An average as wanted is enough: 0.99 of the link or more.
    #[test]
    fn the_average_decides_not_the_last_period() {
        let mut queue = adt(Limit::Packets(1_000), AdtConfig { utilization: 0.96, ..AdtConfig::default() });
        load(&mut queue, 0, 300, 70);
        queue.update(at_ms(300));
        assert!(queue.average > 0.96 && queue.capacity < 1_000.0, "{}", queue.average);
        load(&mut queue, 300, 600, 70);
        queue.update(at_ms(600));
        assert!(queue.average < 0.96 && queue.capacity > 999.0, "{}", queue.capacity);
    }

    #[test]
    fn two_packets_may_always_wait_and_idle_days_pass_at_once() {
        let mut queue = adt(Limit::Bytes(9_000), AdtConfig { growth: 1.0, ..AdtConfig::default() });
        load(&mut queue, 0, 30_001, 100);
        assert_eq!(queue.capacity, 2_000.0);
        queue.update(Time::ZERO + Span::from_s(864_000));
        assert_eq!((queue.capacity, queue.average), (9_000.0, 0.0));
        assert!(queue.period_end > Time::ZERO + Span::from_s(864_000));
    }

    proptest! {
        /// Without growth it is a FIFO queue; with another one it is one whose limit is set each period by the rule.
        #[test]
        fn it_is_a_fifo_whose_limit_moves(
            steps in prop::collection::vec((0..4_u64, any::<bool>(), 40..1500_u32), 1..500),
            bytes in 4_000..60_000_u64,
            growth in prop_oneof![Just(0.0), 0.0..0.5_f64],
        ) {
            let config = AdtConfig { growth, period: Span::from_ms(10), weight: 0.5, ..AdtConfig::default() };
            let mut queue = adt(Limit::Bytes(bytes), config);
            let mut fifo = Fifo::new(Limit::Bytes(bytes));
            let (mut capacity, mut average, mut sent, mut largest) = (bytes as f64, 1.0, 0, 0);
            let (mut ms, mut drops, mut theirs) = (0, Drops::new(), Drops::new());
            for (seq, (gap, comes, wire_bytes)) in (0..).zip(steps) {
                for _ in 0..gap {
                    ms += 1;
                    if ms % 10 == 0 {
                        average = 0.5 * average + 0.5 * (f64::from(sent) / 10_000.0);
                        sent = 0;
                        capacity = if average < 0.99 { capacity * (1.0 + growth) } else { capacity / (1.0 + growth) };
                        capacity = capacity.max(2.0 * f64::from(largest)).min(bytes as f64);
                        fifo.set_limit(Limit::Bytes((capacity + 1e-6) as u64));
                    }
                }
                if comes {
                    largest = largest.max(wire_bytes);
                    queue.enqueue(at_ms(ms), packet(seq, wire_bytes), &mut drops);
                    fifo.enqueue(at_ms(ms), packet(seq, wire_bytes), &mut theirs);
                } else {
                    let next = queue.dequeue(at_ms(ms), &mut drops);
                    prop_assert_eq!(next, fifo.dequeue(at_ms(ms), &mut theirs));
                    sent += next.map_or(0, |packet| packet.wire_bytes);
                }
                prop_assert_eq!(&drops, &theirs);
            }
        }
    }
}
