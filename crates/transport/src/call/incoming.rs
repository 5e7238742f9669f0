//! The incoming bitrate: draft-ietf-rmcat-gcc-02 section 5.5.

use std::collections::VecDeque;

use bufferlab_units::{Span, Time};

/// T: "A window between 0.5 and 1 second is RECOMMENDED."
const WINDOW: Span = Span::from_ms(500);

/// `R_hat(i)`, of the payload that came in the last T seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Incoming {
    packets: VecDeque<(Time, u32)>,
    bytes: u64,
    first: Option<Time>,
    newest: Time,
}

impl Incoming {
    /// A packet came.
    pub(super) fn add(&mut self, at: Time, payload_bytes: u32) {
        self.first.get_or_insert(at);
        self.newest = self.newest.max(at);
        self.packets.push_back((at, payload_bytes));
        self.bytes += u64::from(payload_bytes);
        while let Some(&(at, bytes)) = self.packets.front()
            && at.saturating_add(WINDOW) <= self.newest
        {
            self.packets.pop_front();
            self.bytes -= u64::from(bytes);
        }
    }

    /// The rate, bit/s; nothing until the window has passed once.
    pub(super) fn bps(&self) -> Option<f64> {
        let is_full = self.first.is_some_and(|first| self.newest.saturating_since(first) >= WINDOW);
        is_full.then(|| (8 * self.bytes) as f64 / WINDOW.as_s())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_half_second() {
        let mut incoming = Incoming::default();
        let mut add = |ms: u64, bytes: u32| {
            incoming.add(Time::ZERO + Span::from_ms(ms), bytes);
            incoming.bps()
        };
        assert_eq!([add(0, 1_000), add(499, 1_000)], [None, None]);
        // the first has just left the window
        assert_eq!(add(500, 500), Some(8.0 * 1_500.0 / 0.5));
        assert_eq!(add(2_000, 100), Some(8.0 * 100.0 / 0.5));
    }
}
