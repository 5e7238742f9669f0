//! First in, first out, without events: a packet's departure is known when it arrives.
//!
//! An accepted packet leaves at a time that nothing can change, neither later arrivals nor a new limit. So the
//! link is brought up to date only when a packet arrives or its state is read (mahimahi calls this "rationalize"),
//! and a packet's figures are counted at once. The policy is that of `bufferlab_qdisc::Fifo`; a test checks that the
//! results of both are the same.

use bufferlab_qdisc::{Backlog, Limit, Packet};
use bufferlab_units::{Rate, Time, TransmissionClock};

use super::Fate;
use crate::ring::Ring;
use crate::statistics::LinkStatistics;

/// A packet accepted and not yet out.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    departs: Time,
    wire_bytes: u32,
    /// Wide, so that there is no gap and the whole moves in registers.
    group: u32,
}

/// A FIFO queue with its transmitter.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Limit,
    /// Packets of ECN-capable flows are marked if more than this waits.
    mark_above: Limit,
    clock: TransmissionClock,
    /// The first is in transmission, the others wait.
    packets: Ring<Held>,
    /// Of all of them.
    bytes: u64,
    /// While no more than this is held, a packet is admitted and sets no maximum, whether or not some of it has
    /// left meanwhile: so that need not be checked.
    slack: Backlog,
    /// When the transmitter will have sent everything.
    free: Time,
}

impl Fifo {
    pub(crate) fn new(limit: Limit, mark_above: Limit, rate: Rate) -> Fifo {
        Fifo {
            limit,
            mark_above,
            clock: TransmissionClock::new(rate),
            packets: Ring::default(),
            bytes: 0,
            slack: Backlog::default(),
            free: Time::ZERO,
        }
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
        self.slack = Backlog::default();
    }

    /// The largest backlog is counted anew.
    pub(crate) fn start_measuring(&mut self, statistics: &mut LinkStatistics) {
        self.count_departures(statistics);
        self.slack = Backlog::default();
    }

    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, packet: &Packet, statistics: &mut LinkStatistics) -> Fate {
        let (wire_bytes, group) = (packet.wire_bytes, packet.group);
        let slack = self.packets.len() as u64 <= self.slack.packets
            && self.bytes + u64::from(wire_bytes) <= self.slack.bytes;
        if !slack && !self.admits(now, wire_bytes, statistics) {
            statistics.on_arrival(group, wire_bytes);
            statistics.on_drop(group, wire_bytes, now);
            return Fate::Stays;
        }
        if packet.may_be_marked() && self.marks(now, group, statistics) {
            return self.admit_marked(now, packet, statistics);
        }
        let departs = self.admit(now, packet, statistics);
        departs.map_or(Fate::Stays, Fate::Leaves)
    }

    /// [`Self::admit`] where it is rare.
    #[inline(never)]
    fn admit_marked(&mut self, now: Time, packet: &Packet, statistics: &mut LinkStatistics) -> Fate {
        self.admit(now, packet, statistics).map_or(Fate::Stays, Fate::LeavesMarked)
    }

    /// Takes a packet; returns when it leaves, if that is before the run's end. A later packet is of no use, and on a
    /// slow link with a long queue it may never leave.
    #[inline(always)]
    fn admit(&mut self, now: Time, packet: &Packet, statistics: &mut LinkStatistics) -> Option<Time> {
        let (wire_bytes, group) = (packet.wire_bytes, packet.group);
        let starts = self.free.max(now);
        let departs = starts.saturating_add(self.clock.next(wire_bytes));
        self.packets.push(Held { departs, wire_bytes, group: u32::from(group) });
        self.bytes += u64::from(wire_bytes);
        self.free = departs;
        statistics.on_passage(group, wire_bytes, now, starts, departs).then_some(departs)
    }

    /// Whether a packet that may be marked is.
    #[inline(never)]
    fn marks(&mut self, now: Time, group: u16, statistics: &mut LinkStatistics) -> bool {
        self.settle(now);
        let marked = self.mark_above.is_below(self.backlog());
        if marked {
            statistics.on_mark(group);
        }
        marked
    }

    /// Whether a packet finds room once what has left is gone.
    #[inline(never)]
    fn admits(&mut self, now: Time, wire_bytes: u32, statistics: &mut LinkStatistics) -> bool {
        self.settle(now);
        let mut backlog = self.backlog();
        if !self.limit.admits(backlog, wire_bytes) {
            return false;
        }
        if !self.packets.is_empty() {
            backlog.packets += 1;
            backlog.bytes += u64::from(wire_bytes);
        }
        self.slack = self.limit.bound(statistics.on_backlog(backlog));
        true
    }

    /// The group of each packet that is in transmission or waits, the next one to be out first.
    pub(crate) fn groups_in_order(&self) -> Vec<u16> {
        self.packets.iter().map(|held| held.group as u16).collect()
    }

    /// Removes what has left up to `now`.
    fn settle(&mut self, now: Time) {
        let mut gone = 0;
        self.packets.drain_while(|held| {
            let has_left = held.departs <= now;
            if has_left {
                gone += u64::from(held.wire_bytes);
            }
            has_left
        });
        self.bytes -= gone;
    }

    /// Removes what has left before `time`.
    pub(crate) fn settle_before(&mut self, time: Time) {
        if time > Time::ZERO {
            self.settle(Time::from_ps(time.as_ps() - 1));
        }
    }

    /// What waits or is in transmission.
    pub(crate) fn held(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }

    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        let Some(first) = self.packets.front() else {
            return Backlog::default();
        };
        Backlog { packets: self.packets.len() as u64 - 1, bytes: self.bytes - u64::from(first.wire_bytes) }
    }

    /// Departures are not counted one by one: this brings their counters up to date.
    pub(crate) fn count_departures(&self, statistics: &mut LinkStatistics) {
        statistics.count_departures(self.packets.iter().map(|held| (held.group as u16, held.wire_bytes)));
    }

    pub(crate) fn finish(&mut self, end: Time, statistics: &mut LinkStatistics) {
        self.settle_before(end);
        self.count_departures(statistics);
        for held in self.packets.iter() {
            statistics.on_left(held.group as u16);
        }
    }
}

const _: () = assert!(size_of::<Held>() == 16, "a queued packet should cost little memory");
