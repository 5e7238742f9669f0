//! First in, first out, without events: a packet's departure is known when it arrives.
//!
//! What is accepted leaves at a time that nothing can change, neither later arrivals nor a new limit. So the
//! link is brought up to date only when a packet arrives or a mark is read (mahimahi calls this "rationalize"),
//! and a packet's figures are booked at once. The policy is that of `bufferlab_qdisc::Fifo`, and a test holds
//! the two to the same bits.

use bufferlab_qdisc::{Backlog, Limit, Packet};
use bufferlab_units::{Rate, Time, TransmissionClock};

use super::Fate;
use crate::ring::Ring;
use crate::statistics::LinkStatistics;

/// A packet accepted and not yet out.
#[derive(Clone, Copy, Debug)]
struct Held {
    departs: Time,
    wire_bytes: u32,
    group: u16,
}

/// A FIFO queue with its transmitter.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    limit: Limit,
    clock: TransmissionClock,
    /// The first is in transmission, the others wait.
    packets: Ring<Held>,
    waiting_bytes: u64,
    /// When the transmitter will have sent everything.
    free: Time,
}

impl Fifo {
    pub(crate) fn new(limit: Limit, rate: Rate) -> Fifo {
        let clock = TransmissionClock::new(rate);
        Fifo { limit, clock, packets: Ring::default(), waiting_bytes: 0, free: Time::ZERO }
    }

    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, packet: &Packet, statistics: &mut LinkStatistics) -> Fate {
        self.settle(now, statistics);
        let backlog = self.backlog();
        if !self.limit.admits(backlog, packet.wire_bytes) {
            statistics.on_drop(packet);
            return Fate::Stays;
        }
        let starts = self.free.max(now);
        let departs = starts.saturating_add(self.clock.next(packet.wire_bytes));
        if !self.packets.is_empty() {
            self.waiting_bytes += u64::from(packet.wire_bytes);
        }
        self.packets.push(Held { departs, wire_bytes: packet.wire_bytes, group: packet.group });
        self.free = departs;
        statistics.on_backlog(self.backlog());
        statistics.on_passage(packet, now, starts, departs);
        // what leaves after the run's end reaches nobody; on a slow link with a long queue it may never leave
        if departs < statistics.end() { Fate::Leaves(departs) } else { Fate::Stays }
    }

    /// Lets go what has left up to `now`.
    #[inline(always)]
    fn settle(&mut self, now: Time, statistics: &mut LinkStatistics) {
        while let Some(&Held { departs, wire_bytes, group }) = self.packets.front() {
            if departs > now {
                return;
            }
            statistics.on_departure(group, wire_bytes);
            self.packets.pop();
            if let Some(next) = self.packets.front() {
                self.waiting_bytes -= u64::from(next.wire_bytes);
            }
        }
    }

    /// Lets go what has left before `time`.
    pub(crate) fn settle_before(&mut self, time: Time, statistics: &mut LinkStatistics) {
        if time > Time::ZERO {
            self.settle(Time::from_ps(time.as_ps() - 1), statistics);
        }
    }

    #[inline]
    pub(crate) fn backlog(&self) -> Backlog {
        Backlog { packets: (self.packets.len() as u64).saturating_sub(1), bytes: self.waiting_bytes }
    }

    pub(crate) fn finish(&mut self, end: Time, statistics: &mut LinkStatistics) {
        self.settle_before(end, statistics);
        for held in self.packets.iter() {
            statistics.on_left(held.group);
        }
    }
}

const _: () = assert!(size_of::<Held>() == 16, "a queued packet should cost little memory");
