//! A link as a log of its packets.

use std::fmt;

use bufferlab_qdisc::{Backlog, Drops, Fifo, Limit, Packet, QueueDisc};
use bufferlab_simulator::{DisciplinePlan, LimitPlan, LinkPlan};
use bufferlab_units::{Span, Stream, Time};

/// The random stream of a link's losses: part of what a plan means, so the number is the engine's.
const LOSS_STREAM: u32 = 1;

/// What became of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Lost,
    Dropped,
    Accepted,
}

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Fate::Lost => "is lost before",
            Fate::Dropped => "is dropped by",
            Fate::Accepted => "enters",
        })
    }
}

/// A packet's stay at a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub(super) group: u32,
    pub(super) bytes: u64,
    pub(super) fate: Fate,
    pub(super) marked: bool,
    pub(super) arrived: Time,
    /// When its transmission began and will end.
    pub(super) sent: Option<(Time, Time)>,
}

/// A link: what it does now, and the log.
pub(super) struct Link {
    fifo: Fifo,
    rate_bps: u128,
    /// Bits sent or being sent, times 10¹²: divided by the rate, picoseconds.
    sent_bits_e12: u128,
    loss: Stream,
    loss_ppb: u32,
    changes: Vec<(Time, Limit)>,
    in_service: Option<Packet>,
    /// Accepted packets' places in the log; packets are served in order.
    next_served: usize,
    /// The end of a transmission that has just begun.
    pub(super) begun: Option<Time>,
    pub(super) stays: Vec<Stay>,
    /// The backlog after each change.
    pub(super) backlogs: Vec<(Time, Backlog)>,
    /// When samples were asked for.
    pub(super) samples: Vec<Time>,
}

impl Link {
    pub(super) fn new(seed: u64, index: u32, plan: &LinkPlan) -> Link {
        let DisciplinePlan::Fifo { limit: first, mark_above } = plan.discipline;
        let mark_above = mark_above.map_or(Limit::Unlimited, limit);
        let changes = plan.changes.iter();
        Link {
            fifo: Fifo::new(limit(first)).marking_above(mark_above),
            rate_bps: u128::from(plan.rate_bps),
            sent_bits_e12: 0,
            loss: Stream::new(seed, LOSS_STREAM, index),
            loss_ppb: plan.loss_ppb,
            changes: changes.map(|change| (Time::from_ps(change.at_ps), limit(change.limit))).collect(),
            in_service: None,
            next_served: 0,
            begun: None,
            stays: Vec::new(),
            backlogs: Vec::new(),
            samples: Vec::new(),
        }
    }

    pub(super) fn arrive(&mut self, now: Time, packet: Packet) -> Fate {
        let marks = self.fifo.marks();
        let fate = self.admit(now, packet);
        let marked = self.fifo.marks() > marks;
        let (group, bytes) = (u32::from(packet.group), u64::from(packet.wire_bytes));
        self.stays.push(Stay { group, bytes, fate, marked, arrived: now, sent: None });
        if self.in_service.is_none() {
            self.serve(now);
        }
        self.backlogs.push((now, self.fifo.backlog()));
        fate
    }

    fn admit(&mut self, now: Time, packet: Packet) -> Fate {
        if self.loss_ppb > 0 && self.is_lost() {
            return Fate::Lost;
        }
        // the latest change so far holds; of several at one moment, the last
        if let Some((_, limit)) = self.changes.iter().rfind(|(at, _)| *at <= now) {
            self.fifo.set_limit(*limit);
        }
        let mut drops = Drops::new();
        self.fifo.enqueue(now, packet, &mut drops);
        if drops.is_empty() { Fate::Accepted } else { Fate::Dropped }
    }

    /// A share of `loss_ppb` parts per billion of all 64-bit numbers is lost.
    fn is_lost(&mut self) -> bool {
        u128::from(self.loss.bits()) < (u128::from(self.loss_ppb) << 64) / 1_000_000_000
    }

    /// The packet whose transmission ends; the next one's begins.
    pub(super) fn depart(&mut self, now: Time) -> Packet {
        let packet = self.in_service.take().expect("a departure belongs to a transmission");
        self.serve(now);
        self.backlogs.push((now, self.fifo.backlog()));
        packet
    }

    fn serve(&mut self, now: Time) {
        self.in_service = self.fifo.dequeue(now, &mut Drops::new());
        let Some(packet) = &self.in_service else { return };
        let ends = now + self.transmission(packet.wire_bytes);
        while self.stays[self.next_served].fate != Fate::Accepted {
            self.next_served += 1;
        }
        self.stays[self.next_served].sent = Some((now, ends));
        self.next_served += 1;
        self.begun = Some(ends);
    }

    /// The time a packet takes. All packets so far take their exact time in all, rounded down to a picosecond.
    fn transmission(&mut self, bytes: u32) -> Span {
        let before = self.sent_bits_e12 / self.rate_bps;
        self.sent_bits_e12 += u128::from(bytes) * 8_000_000_000_000;
        Span::from_ps((self.sent_bits_e12 / self.rate_bps - before) as u64)
    }
}

fn limit(plan: LimitPlan) -> Limit {
    match plan {
        LimitPlan::Packets(packets) => Limit::Packets(packets),
        LimitPlan::Bytes(bytes) => Limit::Bytes(bytes),
        LimitPlan::Unlimited => Limit::Unlimited,
    }
}
