//! Step: first in, first out, and whoever listens is marked above a threshold, all of them and at once: what switches do
//! for DCTCP.
//!
//! Sources:
//! - RFC 8257 section 3.1: a switch marks a packet that comes when its "queue length is greater than the congestion
//!   threshold", by the queue of the moment, not by an average: `threshold`.
//! - As a time, of packets that leave: RFC 9332 section 4.1 (the native L4S AQM may be a step of the wait) and Linux 6.17
//!   `net/sched/sch_dualpi2.c`, whose `step_thresh` is 1 ms by default and marks what has waited for longer; the
//!   `ce_threshold` of `net/sched/sch_codel.c` does the same: `target`.
//!
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.4: the link stays busy if the threshold exceeds a
//! seventh of the bandwidth-delay product (read as others quote it; `bufferlab reproduce dctcp` checks it). As a time that is a seventh of the round trip, whatever the rate.
//!
//! Departures: packets of senders that do not listen are dropped at the limit only. Many switches run this as RED with both
//! thresholds alike, and drop such packets where they would mark others.
//!
//! Cost: one copy of 40 bytes each way, a comparison.

use bufferlab_parameters::{LONGEST, OutOfBounds, THRESHOLD, parameters, require, time};
use bufferlab_units::{Rate, Span, Time};

use crate::packet_queue::PacketQueue;
use crate::{Backlog, Context, Discipline, DropReason, Dropped, Drops, Limit, Packet, QueueDisc, Threshold};

/// What nobody waits for.
const NEVER: Span = Span::from_ps(u64::MAX);
/// Wait from which on packets are marked unless a threshold is given (Linux's `step_thresh`).
const TARGET: Span = Span::from_ms(1);

parameters! {
    /// Parameters of a step.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct StepConfig {
        /// An ECN-capable packet that has waited for longer is marked as it leaves; default 1 ms unless threshold is given
        /// (Linux's `step_thresh`; for DCTCP a seventh of the round trip).
        target: Option<Span> = None, time(Span::ZERO, LONGEST);
        /// An ECN-capable packet that finds more than this waiting is marked (RFC 8257 section 3.1). Not with target.
        threshold: Option<Threshold> = None, THRESHOLD;
        agree StepConfig::agree;
    }
}

impl StepConfig {
    /// The threshold is one of the two.
    fn agree(&self) -> Result<(), OutOfBounds> {
        match (self.target, self.threshold) {
            (Some(target), Some(_)) => {
                require(false, "target_ps", target.as_ps(), "either target or threshold")
            }
            _ => Ok(()),
        }
    }

    /// The wait from which on packets are marked, if that decides.
    fn wait(&self) -> Option<Span> {
        self.target.or(self.threshold.is_none().then_some(TARGET))
    }
}

impl Discipline for StepConfig {
    type Qdisc = Step;
    const SCALES: bool = true;

    fn build(&self, context: Context<'_>) -> Step {
        Step::new(context.limit, *self)
    }

    fn fill(&mut self, _rate: Rate, _packet_bytes: u32) {
        self.target = self.wait();
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let above = |threshold| StepConfig { threshold: Some(threshold), target: None };
        vec![
            StepConfig { target: Some(Span::from_us(4)), threshold: None },
            above(Threshold::Packets(3)),
            above(Threshold::Bytes(4_000)),
        ]
    }
}

/// A FIFO queue that marks from a step on.
#[derive(Clone, Debug)]
pub struct Step {
    packets: PacketQueue,
    limit: Limit,
    /// The wait above which a packet that leaves is marked.
    wait: Span,
    /// The backlog above which a packet that comes is marked.
    above: Limit,
    marks: u64,
}

impl Step {
    /// An empty queue.
    pub fn new(limit: Limit, config: StepConfig) -> Step {
        Step {
            packets: PacketQueue::default(),
            limit,
            wait: config.wait().unwrap_or(NEVER),
            above: config.threshold.map_or(Limit::Unlimited, Limit::from),
            marks: 0,
        }
    }
}

impl QueueDisc for Step {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if !self.limit.admits(self.backlog(), packet.wire_bytes) {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        if self.above.is_below(self.backlog()) {
            packet.mark(&mut self.marks);
        }
        packet.enqueued = now;
        self.packets.push(packet);
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        let mut packet = self.packets.pop()?;
        if now - packet.enqueued > self.wait {
            packet.mark(&mut self.marks);
        }
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
mod tests {
    use bufferlab_parameters::Parameters;
    use proptest::prelude::*;

    use super::*;
    use crate::{Codel, CodelConfig, Ecn, Fifo, PacketKind};

    const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);
    const ECT0: PacketKind = PacketKind::Data(Ecn::Capable);
    const ECT1: PacketKind = PacketKind::Data(Ecn::Scalable);
    const CE: PacketKind = PacketKind::Data(Ecn::Marked);

    fn packet(seq: u32, kind: PacketKind) -> Packet {
        Packet { seq, kind, wire_bytes: 100, ..Packet::default() }
    }

    fn above(threshold: Threshold) -> StepConfig {
        StepConfig { threshold: Some(threshold), target: None }
    }

    /// The kinds in which packets that came at once leave at these times, us.
    fn served(config: StepConfig, kinds: &[PacketKind], at_us: &[u64]) -> (Vec<PacketKind>, u64) {
        let mut queue = Step::new(Limit::Unlimited, config);
        let mut drops = Drops::new();
        for (seq, &kind) in (0..).zip(kinds) {
            queue.enqueue(Time::ZERO, packet(seq, kind), &mut drops);
        }
        let next =
            |&us: &u64| queue.dequeue(Time::ZERO + Span::from_us(us), &mut drops).map(|packet| packet.kind);
        (at_us.iter().filter_map(next).collect(), queue.marks())
    }

    /// RFC 8257 section 3.1: "greater than"; the packet that comes is not counted, as for limits.
    #[test]
    fn whoever_finds_more_than_the_threshold_is_marked() {
        let kinds = [ECT0, ECT1, ECT0, ECT0, ECT1, DEAF, CE];
        let expected = vec![ECT0, ECT1, ECT0, CE, CE, DEAF, CE];
        for threshold in [Threshold::Packets(2), Threshold::Bytes(200)] {
            assert_eq!(served(above(threshold), &kinds, &[9_000; 7]), (expected.clone(), 2));
        }
    }

    #[test]
    fn whoever_has_waited_for_longer_than_the_target_is_marked() {
        let kinds = [ECT0, ECT0, ECT0, ECT1, DEAF, CE];
        let times = [999, 1_000, 1_001, 1_002, 1_003, 1_004];
        let (default, one_ms) =
            (StepConfig::default(), StepConfig { target: Some(Span::from_ms(1)), threshold: None });
        for config in [default, one_ms] {
            assert_eq!(served(config, &kinds, &times), (vec![ECT0, ECT0, CE, CE, DEAF, CE], 2));
        }
    }

    #[test]
    fn the_default_is_filled_in_unless_a_threshold_is_given() {
        let filled = |mut config: StepConfig| {
            config.fill(Rate::from_bps(1_000_000).unwrap(), 1_500);
            config
        };
        assert_eq!(filled(StepConfig::default()).target, Some(Span::from_ms(1)));
        let given = above(Threshold::Packets(20));
        assert_eq!(filled(given), given);
    }

    #[test]
    fn two_thresholds_are_one_too_many() {
        let both = StepConfig { target: Some(Span::from_ms(1)), ..above(Threshold::Packets(20)) };
        assert!(both.validate().unwrap_err().accepted.contains("either target or threshold"));
        assert!(above(Threshold::Packets(20)).validate().is_ok() && StepConfig::default().validate().is_ok());
    }

    proptest! {
        /// What others call by other names: a FIFO's `mark_above`, and CoDel's `ce_threshold` where CoDel itself does nothing.
        #[test]
        fn it_is_the_step_of_fifo_and_of_codel(
            steps in prop::collection::vec((0..900_u64, 0..6_usize, 40..1500_u32), 1..300),
            packets in 0..30_u64,
            wait_us in 0..3_000_u64,
            limit in 1..60_u64,
        ) {
            let limit = Limit::Packets(limit);
            let target = Span::from_us(wait_us);
            let never = Span::from_s(100_000);
            let mut by_backlog = Step::new(limit, above(Threshold::Packets(packets)));
            let mut fifo = Fifo::new(limit).marking_above(Limit::Packets(packets));
            let mut by_wait = Step::new(limit, StepConfig { target: Some(target), threshold: None });
            let calm = CodelConfig { target: never, interval: never, ..CodelConfig::default() };
            let mut codel = Codel::new(limit, CodelConfig { ce_threshold: Some(target), ..calm });
            let (mut now, mut drops, mut theirs) = (Time::ZERO, Drops::new(), Drops::new());
            for (seq, (gap, step, wire_bytes)) in (0..).zip(steps) {
                now += Span::from_us(gap);
                if let Some(&kind) = [ECT0, ECT1, DEAF, CE].get(step) {
                    let packet = Packet { wire_bytes, ..packet(seq, kind) };
                    by_backlog.enqueue(now, packet, &mut drops);
                    by_wait.enqueue(now, packet, &mut drops);
                    fifo.enqueue(now, packet, &mut theirs);
                    codel.enqueue(now, packet, &mut theirs);
                } else {
                    prop_assert_eq!(by_backlog.dequeue(now, &mut drops), fifo.dequeue(now, &mut theirs));
                    prop_assert_eq!(by_wait.dequeue(now, &mut drops), codel.dequeue(now, &mut theirs));
                }
                prop_assert_eq!(&drops, &theirs);
                prop_assert_eq!((by_backlog.marks(), by_wait.marks()), (fifo.marks(), codel.marks()));
            }
        }
    }
}
