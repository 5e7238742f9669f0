//! A link as a log of its packets.

use std::collections::VecDeque;
use std::fmt;

use bufferlab_qdisc::{AnyQdisc, Backlog, Dropped, Drops, Estimates, Limit, Packet, QueueDisc};
use bufferlab_simulator::{LinkPlan, Plan};
use bufferlab_units::{Span, Stream, Time};

use super::capacity::Capacity;
use super::delays::{Bursts, Delays};

/// The random stream of a link's losses: part of what a plan means, so the number is the engine's.
const LOSS_STREAM: u32 = 1;

/// What became of a packet when it arrived.
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
    /// Class of the discipline, if it has classes.
    pub(super) class: usize,
    pub(super) bytes: u64,
    pub(super) arrived: Time,
    /// Before it reached the queue.
    pub(super) lost: bool,
    pub(super) dropped: Option<Time>,
    pub(super) marked: Option<Time>,
    /// When its transmission began and will end.
    pub(super) sent: Option<(Time, Time)>,
    /// Where the rate varies, its work in the measured window, in bits times 10¹².
    pub(super) work: i128,
}

/// A link: what it does now, and the log.
pub(super) struct Link {
    qdisc: AnyQdisc,
    drops_oldest: bool,
    rate_bps: u128,
    /// Bits sent or being sent, times 10¹²: divided by the rate, picoseconds.
    sent_bits_e12: u128,
    loss: Stream,
    loss_ppb: u32,
    bursts: Option<Bursts>,
    delays: Option<Delays>,
    /// Where the rate varies; and what packets have left undone within a picosecond.
    pub(super) capacity: Option<Capacity>,
    owed: i128,
    window: (Time, Time),
    changes: Vec<(Time, Limit)>,
    in_service: Option<Packet>,
    /// Packets in the discipline, with their places in the log.
    waiting: VecDeque<(Packet, usize)>,
    /// The end of a transmission that has just begun.
    pub(super) begun: Option<Time>,
    /// When a packet may be taken, if one waits for that.
    pub(super) turn: Option<Time>,
    /// Packets just dropped that had been accepted before.
    pub(super) expelled: Vec<Packet>,
    pub(super) stays: Vec<Stay>,
    /// The backlog after each change.
    pub(super) backlogs: Vec<(Time, Backlog)>,
    /// When samples were asked for, and what the discipline said of its classes.
    pub(super) samples: Vec<(Time, Option<Estimates>)>,
}

impl Link {
    pub(super) fn new(whole: &Plan, index: u32, plan: &LinkPlan) -> Link {
        let changes = plan.changes.iter();
        Link {
            qdisc: plan.qdisc(whole, index),
            drops_oldest: plan.discipline.config.drops_oldest(),
            rate_bps: u128::from(plan.rate_bps),
            sent_bits_e12: 0,
            loss: Stream::new(whole.seed, LOSS_STREAM, index),
            loss_ppb: plan.loss_ppb,
            bursts: plan.loss_bursts.as_ref().map(|bursts| Bursts::new(bursts, whole.seed, index)),
            delays: plan.varying_delay.as_ref().map(|delays| Delays::new(delays, whole.seed, index)),
            capacity: plan
                .capacity
                .as_ref()
                .map(|capacity| Capacity::new(capacity, whole.seed, index, Time::from_ps(whole.duration_ps))),
            owed: 0,
            window: (Time::from_ps(whole.warmup_ps), Time::from_ps(whole.duration_ps)),
            changes: changes.map(|change| (Time::from_ps(change.at_ps), change.limit)).collect(),
            in_service: None,
            waiting: VecDeque::new(),
            begun: None,
            turn: None,
            expelled: Vec::new(),
            stays: Vec::new(),
            backlogs: Vec::new(),
            samples: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, now: Time) {
        self.samples.push((now, self.qdisc.estimates()));
    }

    /// Classes of its discipline.
    pub(super) fn classes(&self) -> usize {
        self.qdisc.estimates().map_or(0, |estimates| estimates.classes.len())
    }

    /// Bytes in its discipline.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.qdisc.backlog().bytes
    }

    pub(super) fn arrive(&mut self, now: Time, packet: Packet, room: bool) -> Fate {
        let (group, bytes) = (u32::from(packet.group), u64::from(packet.wire_bytes));
        let lost = self.loss_ppb > 0 && self.is_lost() || self.bursts.as_mut().is_some_and(Bursts::loses);
        let place = self.stays.len();
        self.stays.push(Stay {
            group,
            class: 0,
            bytes,
            arrived: now,
            lost,
            dropped: None,
            marked: None,
            sent: None,
            work: 0,
        });
        if !lost && !room {
            self.stays[place].dropped = Some(now);
            return Fate::Dropped;
        }
        if !lost {
            self.waiting.push_back((packet, place));
            self.enqueue(now, packet, place);
        }
        // what is lost before the queue does not wake it
        if !lost && self.in_service.is_none() {
            self.serve(now, true);
        }
        self.backlogs.push((now, self.qdisc.backlog()));
        match self.stays[place] {
            Stay { lost: true, .. } => Fate::Lost,
            Stay { dropped: Some(_), .. } => Fate::Dropped,
            _ => Fate::Accepted,
        }
    }

    fn enqueue(&mut self, now: Time, packet: Packet, place: usize) {
        // the latest change so far holds; of several at one moment, the last
        if let Some((_, limit)) = self.changes.iter().rfind(|(at, _)| *at <= now) {
            self.qdisc.set_limit(*limit);
        }
        let (mut drops, marks) = (Drops::new(), self.qdisc.marks());
        self.qdisc.enqueue(now, packet, &mut drops);
        self.stays[place].class = self.qdisc.class();
        if self.qdisc.marks() > marks {
            self.stays[place].marked = Some(now);
        }
        self.log_drops(now, &drops, Some(place));
    }

    fn log_drops(&mut self, now: Time, drops: &[Dropped], arriving: Option<usize>) {
        // of two alike the newer one goes when there is no room, unless room is made at the front
        let newest = arriving.is_some() && !self.drops_oldest;
        for dropped in drops {
            let place = self.leave(&dropped.packet, newest);
            self.stays[place].dropped = Some(now);
            if arriving != Some(place) {
                self.expelled.push(dropped.packet);
            }
        }
    }

    /// A packet is no longer in the discipline; its place in the log. Of two alike, which a sender may have sent at one
    /// moment, the older one leaves, or the `newest`.
    fn leave(&mut self, packet: &Packet, newest: bool) -> usize {
        let name = |packet: &Packet| {
            (packet.flow, packet.seq, packet.sent, packet.hop, std::mem::discriminant(&packet.kind))
        };
        let mut alike =
            self.waiting.iter().enumerate().filter(|(_, (waiting, _))| name(waiting) == name(packet));
        let index = if newest { alike.next_back() } else { alike.next() }.map(|(index, _)| index);
        let (_, place) = self.waiting.remove(index.expect("what leaves has come")).expect("it is there");
        place
    }

    /// A share of `loss_ppb` parts per billion of all 64-bit numbers is lost.
    fn is_lost(&mut self) -> bool {
        u128::from(self.loss.bits()) < (u128::from(self.loss_ppb) << 64) / 1_000_000_000
    }

    /// The packet whose transmission ends; the next one's begins.
    pub(super) fn depart(&mut self, now: Time) -> Packet {
        let packet = self.in_service.take().expect("a departure belongs to a transmission");
        self.serve(now, false);
        self.backlogs.push((now, self.qdisc.backlog()));
        packet
    }

    /// A moment at which a packet may be taken, if none is in transmission by now.
    pub(super) fn take_turn(&mut self, now: Time) {
        if self.in_service.is_none() {
            self.serve(now, false);
            self.backlogs.push((now, self.qdisc.backlog()));
        }
    }

    /// What a packet that leaves now waits for beyond the propagation delay.
    pub(super) fn more_delay(&mut self, now: Time) -> Span {
        self.delays.as_mut().map_or(Span::ZERO, |delays| delays.more(now))
    }

    fn serve(&mut self, now: Time, has_come: bool) {
        if let Some(capacity) = &self.capacity {
            self.qdisc.has_left();
            if self.qdisc.backlog().packets == 0 {
                return;
            }
            let ready = capacity.ready(now, has_come);
            if ready != Some(now) {
                self.turn = ready;
                return;
            }
        }
        let (mut drops, marks) = (Drops::new(), self.qdisc.marks());
        self.in_service = self.qdisc.dequeue(now, &mut drops);
        self.log_drops(now, &drops, None);
        let Some(packet) = self.in_service else { return };
        let (ends, work) = self.transmit(now, self.qdisc.line_bytes(&packet));
        let place = self.leave(&packet, false);
        self.stays[place].sent = Some((now, ends.unwrap_or(Time::NEVER)));
        self.stays[place].work = work;
        if self.qdisc.marks() > marks {
            self.stays[place].marked = Some(now);
        }
        self.begun = ends;
    }

    /// When a packet will have left, and its work in the measured window if the rate varies.
    fn transmit(&mut self, now: Time, bytes: u32) -> (Option<Time>, i128) {
        match &mut self.capacity {
            Some(capacity) => capacity.send(now, bytes, &mut self.owed, self.window),
            None => (Some(now + self.transmission(bytes)), 0),
        }
    }

    /// The time a packet takes. All packets so far take their exact time in all, rounded down to a picosecond.
    fn transmission(&mut self, bytes: u32) -> Span {
        let before = self.sent_bits_e12 / self.rate_bps;
        self.sent_bits_e12 += u128::from(bytes) * 8_000_000_000_000;
        Span::from_ps((self.sent_bits_e12 / self.rate_bps - before) as u64)
    }
}
