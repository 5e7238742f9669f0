//! A window that never changes: for tests and for sources that only the receiver's window bounds.

use bufferlab_parameters::{count, parameters};
use bufferlab_units::Time;

use crate::{AckSample, Algorithm, Congestion, CongestionControl, Context, NO_THRESHOLD};

/// Largest window of a scenario, segments: its bytes stay far within 64 bits.
const MOST_SEGMENTS: u64 = 1_000_000_000;

parameters! {
    /// Parameters of a fixed window.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FixedConfig {
        /// The window.
        segments: u32, count("segments", 1, MOST_SEGMENTS);
    }
}

impl Algorithm for FixedConfig {
    type Control = Fixed;

    fn build(&self, _context: Context) -> Fixed {
        Fixed::new(self.segments)
    }
}

/// A constant window.
#[derive(Clone, Debug)]
pub struct Fixed {
    segments: f64,
}

impl Fixed {
    /// A window of `segments`, at least one.
    pub fn new(segments: u32) -> Fixed {
        Fixed { segments: f64::from(segments.max(1)) }
    }
}

impl CongestionControl for Fixed {
    fn on_ack(&mut self, _now: Time, _sample: &AckSample) {}

    fn on_congestion(&mut self, _now: Time, _congestion: &Congestion) {}

    fn cwnd(&self) -> f64 {
        self.segments
    }

    fn ssthresh(&self) -> f64 {
        NO_THRESHOLD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CongestionEvent;

    #[test]
    fn nothing_moves_it() {
        let mut control = Fixed::new(7);
        control.on_ack(Time::ZERO, &AckSample::of(3));
        let event = CongestionEvent::Timeout { repeated: false };
        control.on_congestion(Time::ZERO, &Congestion { event, flight: 7, receive_window: 100 });
        assert_eq!(control.cwnd(), 7.0);
    }
}
