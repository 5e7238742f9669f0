//! The receiving side of a call: it reports when packets came.

use bufferlab_units::{Span, Time};

use super::CallConfig;

/// When reports go.
#[derive(Clone, Debug)]
pub struct CallReceiver {
    interval: Span,
    next: Time,
    arrived: u32,
}

impl CallReceiver {
    /// A receiver to which nothing has come.
    pub fn new(config: &CallConfig) -> CallReceiver {
        CallReceiver { interval: Span::from_ps(config.report_ps), next: Time::ZERO, arrived: 0 }
    }

    /// A packet has come. If it makes a report, on how many arrivals.
    pub fn on_packet(&mut self, now: Time) -> Option<u32> {
        self.arrived += 1;
        if now < self.next {
            return None;
        }
        self.next = now + self.interval;
        Some(self.arrived)
    }
}
