//! A transmitter whose rate varies: when it may take a packet from the queue, and when that will have left.
//!
//! What it offers does not depend on what is sent, so both are known when the packet is taken. Work is counted in bits
//! times 10¹², that is in bit/s times picoseconds, so that nothing is rounded but the moment at which a packet leaves: to
//! the picosecond before, as [`bufferlab_units::TransmissionClock`] does, and what is left of it is owed by the next packet.

mod bucket;
mod opportunities;
mod rates;

use bufferlab_units::{Stream, Time};

use bucket::Bucket;
use opportunities::Opportunities;
use rates::Rates;

use crate::plan::CapacityPlan;
use crate::readings::Schedule;

/// A byte's work.
const BYTE: u128 = 8_000_000_000_000;

/// The measured window, which ends with the run.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: Time,
    to: Time,
}

impl Window {
    fn holds(self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    /// How much of a stretch lies within, ps.
    fn overlap(self, from: Time, to: Time) -> u128 {
        u128::from(to.min(self.to).saturating_since(from.max(self.from)).as_ps())
    }
}

/// When a packet that is taken will have left, and its work in the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    /// [`Time::NEVER`] if that is not before the run's end.
    pub(crate) departs: Time,
    pub(crate) work: u128,
}

/// Why the transmitter is asked whether it may take a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// A packet has come. What could be used at that moment is gone.
    Arrival,
    /// The link has its turn.
    Turn,
}

/// A transmitter whose rate varies.
#[derive(Clone, Debug)]
pub(crate) struct Capacity {
    kind: Kind,
    window: Window,
}

#[derive(Clone, Debug)]
enum Kind {
    Rates(Rates),
    Opportunities(Opportunities),
    Bucket(Bucket),
}

impl Capacity {
    pub(crate) fn new(plan: &CapacityPlan, schedule: &Schedule, stream: Stream) -> Capacity {
        let kind = match plan {
            CapacityPlan::Opportunities { at_ms, bytes, repeat_ms } => {
                Kind::Opportunities(Opportunities::new(at_ms, *bytes, *repeat_ms))
            }
            CapacityPlan::Bucket { rate_bps, burst_bytes, line_bps } => {
                Kind::Bucket(Bucket::new(*rate_bps, *burst_bytes, *line_bps))
            }
            rates => Kind::Rates(Rates::new(rates, stream)),
        };
        Capacity { kind, window: Window { from: schedule.warmup, to: schedule.end } }
    }

    /// When it may take a packet that waits now: now, or later.
    pub(crate) fn ready(&mut self, now: Time, call: Call) -> Time {
        match &mut self.kind {
            Kind::Rates(rates) => rates.ready(now, self.window.to),
            Kind::Opportunities(opportunities) => opportunities.ready(now, call),
            Kind::Bucket(_) => now,
        }
    }

    /// Takes a packet, where it is ready.
    pub(crate) fn send(&mut self, now: Time, wire_bytes: u32) -> Passage {
        let work = u128::from(wire_bytes) * BYTE;
        match &mut self.kind {
            Kind::Rates(rates) => rates.send(now, work, self.window),
            Kind::Opportunities(opportunities) => opportunities.send(now, wire_bytes, self.window),
            Kind::Bucket(bucket) => bucket.send(now, wire_bytes, self.window),
        }
    }

    /// Work that could have been done in the measured window.
    pub(crate) fn offered(&self) -> u128 {
        match &self.kind {
            Kind::Rates(rates) => rates.offered(self.window),
            Kind::Opportunities(opportunities) => opportunities.offered(self.window),
            Kind::Bucket(bucket) => bucket.offered(self.window),
        }
    }
}
