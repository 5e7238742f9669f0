//! One round trip per flow: from its SYN to its first data.

use bufferlab_units::{Span, Time};

use crate::FlowTable;

#[derive(Clone, Copy, Debug)]
enum Opening {
    /// When the SYN passed.
    Seen(Time),
    /// How long it took until data passed.
    Measured(Span),
}

/// The handshake's round trip of each flow, as long as the flow is remembered.
///
/// The sample includes the queues of that moment, and does not change. A caller that reports the SYN as it leaves its
/// queue, and data as it arrives there, excludes its own queue.
#[derive(Clone, Debug)]
pub struct SynEstimator {
    flows: FlowTable<Opening>,
}

impl SynEstimator {
    /// An estimator for about this number of flows at a time.
    pub fn new(flows: usize) -> SynEstimator {
        SynEstimator { flows: FlowTable::new(flows) }
    }

    /// Its size, bytes.
    pub fn bytes(&self) -> usize {
        self.flows.bytes()
    }

    /// A SYN passes. If it is retransmitted, time counts from now: which of the two was answered is unknown.
    pub fn on_syn(&mut self, now: Time, key: u64) {
        self.flows.put(now, key, Opening::Seen(now));
    }

    /// Data in the same direction passes; returns the flow's round-trip time, if it is known.
    pub fn on_data(&mut self, now: Time, key: u64) -> Option<Span> {
        let opening = self.flows.get(now, key)?;
        let rtt = match *opening {
            Opening::Seen(syn) => now.saturating_since(syn),
            Opening::Measured(rtt) => rtt,
        };
        *opening = Opening::Measured(rtt);
        Some(rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_handshake_is_measured_once() {
        let mut estimator = SynEstimator::new(64);
        assert_eq!(estimator.on_data(at(0), 5), None);
        estimator.on_syn(at(10), 5);
        assert_eq!(estimator.on_data(at(60), 5), Some(Span::from_ms(50)));
        assert_eq!(estimator.on_data(at(900), 5), Some(Span::from_ms(50)));
    }

    #[test]
    fn a_repeated_syn_counts_from_its_repetition() {
        let mut estimator = SynEstimator::new(64);
        estimator.on_syn(at(0), 5);
        estimator.on_syn(at(1_000), 5);
        assert_eq!(estimator.on_data(at(1_030), 5), Some(Span::from_ms(30)));
    }

    #[test]
    fn its_size_is_that_of_its_table() {
        assert!(SynEstimator::new(1024).bytes() >= 4 * SynEstimator::new(256).bytes());
        assert!(SynEstimator::new(256).bytes() > 256 * 16);
    }
}
