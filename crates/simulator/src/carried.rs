//! A link that carries packets of others: they are handed over with the time, and come out with theirs.
//!
//! It is the link of a run, its queue and transmitter, losses, changes and varying rates and delays, without the run:
//! whoever owns it has a clock, and packets that are not ours. The propagation delay is not waited for; what a varying
//! delay adds to it is.
//!
//! # Laws
//! - The packets of a run, handed over at the moments at which they came to its link, leave as they did there, and
//!   [`CarriedLink::finish`] has the run's tables of that link.

use std::collections::VecDeque;

use bufferlab_qdisc::Packet;
use bufferlab_units::Time;

use crate::check::{self, PlanError};
use crate::context::Context;
use crate::link::{Fate, Link};
use crate::outcome::{LinkCounters, Outcome};
use crate::plan::Plan;
use crate::recording::Off;
use crate::samples::Samples;
use crate::world;

/// A packet that has come out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried<P> {
    /// When.
    pub at: Time,
    /// As the link left it: marked, perhaps. Its `seq` is not the one that was handed over.
    pub packet: Packet,
    /// What was handed over with it.
    pub load: P,
}

/// A plan's link, with what its packets carry.
pub struct CarriedLink<P> {
    link: Link,
    context: Context,
    index: u32,
    /// The transmitter's next event.
    departs: Time,
    /// The next end of a varying delay.
    passes: Time,
    /// What packets carry, by their `seq`.
    loads: Vec<Option<P>>,
    free: Vec<u32>,
    out: VecDeque<Carried<P>>,
}

impl<P> CarriedLink<P> {
    /// An empty link.
    ///
    /// # Errors
    /// [`PlanError`] names the first field of the plan that is out of bounds, or the link that is not in it.
    pub fn new(plan: &Plan, index: u32) -> Result<CarriedLink<P>, PlanError> {
        check::check(plan)?;
        if index as usize >= plan.links.len() {
            let accepted = "the index of a link".to_owned();
            return Err(PlanError { field: "link".to_owned(), value: index.to_string(), accepted });
        }
        let (mut link, schedule) = world::build_link(plan, index);
        link.keep_drops();
        Ok(CarriedLink {
            link,
            context: Context::new(schedule, Samples::default(), Off),
            index,
            departs: Time::NEVER,
            passes: Time::NEVER,
            loads: Vec::new(),
            free: Vec::new(),
            out: VecDeque::new(),
        })
    }

    /// When the link has something to do next.
    pub fn next(&self) -> Time {
        self.departs.min(self.passes)
    }

    /// A packet comes to the link. Times never go back.
    pub fn arrive(&mut self, now: Time, packet: Packet, load: P) {
        self.advance(now);
        if !self.is_open(now) {
            return;
        }
        let packet = Packet { seq: self.keep(load), ..packet };
        let lost = self.link.losses(packet.group).0;
        let fate = self.link.arrive(now, &packet);
        if self.link.losses(packet.group).0 > lost {
            self.release(packet.seq);
        }
        if let Fate::Starts(departs) = fate {
            self.departs = departs;
        }
        self.forget_drops();
    }

    /// Does what is to be done up to `now`, `now` included: a departure makes room for what arrives with it.
    pub fn advance(&mut self, now: Time) {
        while self.next() <= now {
            // as in a run, transmitters come first
            if self.departs <= self.passes {
                self.depart(self.departs);
            } else if let Some((packet, next)) = self.link.delay_line.as_mut().and_then(|line| line.release())
            {
                let at = self.passes;
                self.passes = next;
                self.put_out(at, packet);
            } else {
                self.passes = Time::NEVER;
            }
        }
    }

    /// The next packet that has come out.
    pub fn take(&mut self) -> Option<Carried<P>> {
        self.out.pop_front()
    }

    /// What was counted up to `now`.
    pub fn counters(&mut self, now: Time) -> LinkCounters {
        self.advance(now);
        self.is_open(now);
        self.link.counters(now)
    }

    /// Packets that were marked so far.
    pub fn marked_packets(&self) -> u64 {
        self.link.statistics.marked_packets()
    }

    /// The tables of a run that ends at the plan's end, as far as they are this link's.
    pub fn finish(self) -> Outcome {
        self.finish_at(Time::NEVER)
    }

    /// The same of a run that ends at `end`, if that is before the plan's end.
    pub fn finish_at(mut self, end: Time) -> Outcome {
        let end = end.min(self.context.schedule.end);
        // what is due at the end no longer happens
        self.advance(Time::from_ps(end.as_ps() - 1));
        self.link.statistics.end_at(end);
        self.link.take_readings(end, self.index, &mut self.context);
        self.link.finish(end);
        let mut outcome = Outcome { reached_ps: end.as_ps(), ..Outcome::default() };
        outcome.packets = self.link.statistics.departed_packets();
        self.link.statistics.report(self.index, &mut outcome);
        self.context.samples.report(&mut outcome);
        outcome
    }

    fn depart(&mut self, now: Time) {
        self.departs = Time::NEVER;
        if !self.is_open(now) {
            return;
        }
        let Some((packet, next)) = self.link.depart(now) else {
            self.departs = self.link.take_turn(now);
            self.forget_drops();
            return;
        };
        self.departs = next;
        self.forget_drops();
        match &mut self.link.delay_line {
            Some(line) => {
                let until = line.passes(now);
                self.passes = line.hold(until, packet);
            }
            None => self.put_out(now, packet),
        }
    }

    /// Takes the readings that are due; false once the plan's end is reached.
    fn is_open(&mut self, now: Time) -> bool {
        !self.link.reading_due(now) || self.link.take_readings(now, self.index, &mut self.context)
    }

    fn put_out(&mut self, at: Time, packet: Packet) {
        if let Some(load) = self.release(packet.seq) {
            self.out.push_back(Carried { at, packet, load });
        }
    }

    fn forget_drops(&mut self) {
        for dropped in self.link.take_drops() {
            self.release(dropped.packet.seq);
        }
    }

    fn keep(&mut self, load: P) -> u32 {
        if let Some(place) = self.free.pop() {
            self.loads[place as usize] = Some(load);
            return place;
        }
        self.loads.push(Some(load));
        self.loads.len() as u32 - 1
    }

    fn release(&mut self, place: u32) -> Option<P> {
        self.free.push(place);
        self.loads[place as usize].take()
    }
}
