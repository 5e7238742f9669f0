//! Acknowledgments that wait until their host has time for them.

use bufferlab_qdisc::Packet;
use bufferlab_simulator::{GroupPlan, JitterPlan, SourcePlan};
use bufferlab_transport::{Ack, Recovery, SackBlocks};
use bufferlab_units::{Span, Time};

use super::{Flow, interrupts};

/// Those that wait, and until when.
pub(super) struct Delayed {
    until: Time,
    /// A constant part of each delay.
    wait: Span,
    waiting: Vec<(Ack, SackBlocks, u32)>,
}

impl Delayed {
    /// Linux's acknowledgments wait, and those of hosts; else it is what they allow.
    pub(super) fn of(group: &GroupPlan) -> Option<Delayed> {
        let SourcePlan::Tcp(tcp) = &group.source else { return None };
        let real = tcp.config.recovery == Recovery::Linux || group.host.is_some();
        let wait = interrupts::wait(group);
        let delays = real && group.jitter != JitterPlan::None || wait.is_some();
        let wait = wait.unwrap_or(Span::ZERO);
        delays.then(|| Delayed { until: Time::ZERO, wait, waiting: Vec::new() })
    }

    pub(super) fn next(&self) -> Option<Time> {
        (!self.waiting.is_empty()).then_some(self.until)
    }
}

impl Flow {
    /// An acknowledgment, which tells of a window, comes.
    pub(in super::super) fn on_ack(
        &mut self,
        now: Time,
        ack: &Ack,
        blocks: &SackBlocks,
        window: u32,
    ) -> Vec<Packet> {
        if self.delayed.as_ref().is_some_and(|delayed| delayed.until < now) {
            let drawn = self.draw();
            let delayed = self.delayed.as_mut().unwrap();
            delayed.until = now + delayed.wait + drawn;
        }
        match &mut self.delayed {
            Some(delayed) if delayed.until > now || !delayed.waiting.is_empty() => {
                delayed.waiting.push((*ack, *blocks, window));
                Vec::new()
            }
            _ => self.process(now, ack, blocks, window),
        }
    }

    /// The host has time, if it is so late: what waits is processed, one after the other.
    pub(super) fn take_delayed(&mut self, now: Time) -> Vec<Packet> {
        let Some(delayed) = self.delayed.as_mut().filter(|delayed| delayed.until <= now) else {
            return Vec::new();
        };
        let waiting = std::mem::take(&mut delayed.waiting);
        waiting.iter().flat_map(|(ack, blocks, window)| self.process(now, ack, blocks, *window)).collect()
    }
}
