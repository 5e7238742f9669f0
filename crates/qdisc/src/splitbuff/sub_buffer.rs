//! One of the sub-buffers.

use bufferlab_units::Time;

use super::Delays;
use super::sketch::FlowSketch;
use crate::packet_queue::PacketQueue;
use crate::{Backlog, Limit, Packet};

/// A queue with its own limit, and what is known of its flows.
#[derive(Clone, Debug)]
pub(super) struct SubBuffer {
    pub(super) packets: PacketQueue,
    pub(super) limit: Limit,
    /// Mean propagation delay of its packets (`T_B`), s.
    pub(super) propagation_s: f64,
    /// It was seen once.
    known: bool,
    /// Smoothed delay here (`T_qx`), s.
    pub(super) delay_s: f64,
    delay_known: bool,
    delays: Delays,
    /// Sums of this period: round-trip times of arrivals, and queueing delays.
    rtt_s: f64,
    arrived: u64,
    pub(super) delayed_s: f64,
    pub(super) delays_seen: u64,
    /// Bytes that it may send in this turn.
    pub(super) deficit: f64,
    /// Its quantum, in those of the class with the fewest flows.
    pub(super) weight: f64,
    /// Flows served in the last period, about; 1 where they are not counted.
    pub(super) flows: f64,
    sketch: Option<FlowSketch>,
}

impl SubBuffer {
    /// Empty; counts its flows or not.
    pub(super) fn new(counts: bool, delays: Delays) -> SubBuffer {
        SubBuffer {
            packets: PacketQueue::default(),
            limit: Limit::Unlimited,
            propagation_s: 0.0,
            known: false,
            delay_s: 0.0,
            delay_known: false,
            delays,
            rtt_s: 0.0,
            arrived: 0,
            delayed_s: 0.0,
            delays_seen: 0,
            deficit: 0.0,
            weight: 1.0,
            flows: 1.0,
            sketch: counts.then(FlowSketch::new),
        }
    }

    pub(super) fn state_bytes(&self) -> usize {
        size_of::<SubBuffer>() + self.sketch.as_ref().map_or(0, FlowSketch::bytes)
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.packets.backlog()
    }

    /// A quarter of what it may hold waits.
    pub(super) fn is_crowded(&self) -> bool {
        match self.limit {
            Limit::Packets(packets) => 4 * self.backlog().packets >= packets.max(1),
            Limit::Bytes(bytes) => 4 * self.backlog().bytes >= bytes.max(1),
            Limit::Unlimited => false,
        }
    }

    pub(super) fn note_rtt(&mut self, rtt_s: f64) {
        self.rtt_s += rtt_s;
        self.arrived += 1;
    }

    /// A delay of this period.
    pub(super) fn note_delay(&mut self, delay_s: f64) {
        self.delayed_s += delay_s;
        self.delays_seen += 1;
    }

    pub(super) fn push(&mut self, packet: Packet) {
        self.packets.push(packet);
    }

    pub(super) fn pop(&mut self, now: Time) -> Option<Packet> {
        let packet = self.packets.pop()?;
        self.deficit -= f64::from(packet.wire_bytes);
        if self.delays == Delays::Departures {
            self.note_delay((now - packet.enqueued).as_s());
        }
        if let Some(sketch) = &mut self.sketch {
            sketch.note(packet.flow);
        }
        Some(packet)
    }

    pub(super) fn smooth_delay(&mut self, alpha: f64) {
        if self.delays_seen > 0 {
            let alpha = if self.delay_known { alpha } else { 1.0 };
            self.delay_known = true;
            self.delay_s += alpha * (self.delayed_s / self.delays_seen as f64 - self.delay_s);
        }
        (self.delayed_s, self.delays_seen) = (0.0, 0);
    }

    /// `T_B` of the period.
    pub(super) fn end_period(&mut self, has_queueing: bool) {
        if self.arrived > 0 {
            let queueing_s = if has_queueing { self.delay_s } else { 0.0 };
            self.propagation_s = (self.rtt_s / self.arrived as f64 - queueing_s).max(0.0);
            self.known = true;
        }
        (self.rtt_s, self.arrived) = (0.0, 0);
    }

    /// What stands for `T_B` while no packet was ever seen.
    pub(super) fn stand_in(&mut self, beside_s: f64) {
        if !self.known {
            self.propagation_s = beside_s;
        }
    }

    /// What its flows need of the buffer: their propagation delay, as often as there are flows; room for one if
    /// there are none now.
    pub(super) fn need_s(&self) -> f64 {
        self.propagation_s * self.flows.max(1.0)
    }

    /// Flows served in the last period, about, if they are counted.
    pub(super) fn counted_flows(&self) -> Option<f64> {
        self.sketch.is_some().then_some(self.flows)
    }

    /// Flows that were served in this period, about.
    pub(super) fn count_flows(&mut self) {
        if let Some(sketch) = &mut self.sketch {
            self.flows = sketch.take();
        }
    }
}
