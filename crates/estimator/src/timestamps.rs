//! Repeated round trips: from a timestamp to the packet that its echo released.

use bufferlab_units::{Span, Time};

use crate::FlowTable;

#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The watched timestamp, and when it passed.
    stamp: Time,
    passed: Time,
    /// The last round trip.
    rtt: Option<Span>,
}

/// The latest round trip of each remembered flow; one timestamp per flow is watched at a time.
///
/// The sample is the whole loop from this point back to it, both sides together. It includes the queues at that time
/// and the delays of the hosts before they answer.
#[derive(Clone, Debug)]
pub struct TimestampEstimator {
    flows: FlowTable<Watch>,
    /// Timestamps that are no further apart count as one, because the option's clock has ticks.
    tick: Span,
}

impl TimestampEstimator {
    /// An estimator for about this number of flows at a time, with the tick of the hosts' timestamps.
    pub fn new(flows: usize, tick: Span) -> TimestampEstimator {
        TimestampEstimator { flows: FlowTable::new(flows), tick }
    }

    /// Its size, bytes.
    pub fn bytes(&self) -> usize {
        self.flows.bytes()
    }

    /// A packet passes with a timestamp; `echoed` is the newest timestamp of its own direction that its sender has
    /// received back. Returns the flow's latest round-trip time, if it is known.
    pub fn on_packet(&mut self, now: Time, key: u64, stamp: Time, echoed: Option<Time>) -> Option<Span> {
        let fresh = Watch { stamp, passed: now, rtt: None };
        let Some(watch) = self.flows.get(now, key) else {
            self.flows.put(now, key, fresh);
            return None;
        };
        if let Some(echoed) = echoed.filter(|&echoed| echoed + self.tick >= watch.stamp) {
            // The echo of a later timestamp: that of the watched one was lost or never sent, so there is no sample.
            let own = echoed <= watch.stamp + self.tick;
            let rtt = if own { Some(now.saturating_since(watch.passed)) } else { watch.rtt };
            *watch = Watch { rtt, ..fresh };
        }
        watch.rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn each_echo_measures_a_round_trip() {
        let mut estimator = TimestampEstimator::new(64, Span::from_us(1));
        assert_eq!(estimator.on_packet(at(10), 1, at(0), None), None);
        assert_eq!(estimator.on_packet(at(15), 1, at(5), None), None);
        // the packet that the echo of the first one released
        assert_eq!(estimator.on_packet(at(70), 1, at(60), Some(at(0))), Some(Span::from_ms(60)));
        // the echo of the second is not watched; the third is
        assert_eq!(estimator.on_packet(at(75), 1, at(65), Some(at(5))), Some(Span::from_ms(60)));
        assert_eq!(estimator.on_packet(at(150), 1, at(140), Some(at(60))), Some(Span::from_ms(80)));
    }

    #[test]
    fn a_lost_timestamp_gives_no_sample() {
        let mut estimator = TimestampEstimator::new(64, Span::from_us(1));
        estimator.on_packet(at(10), 1, at(0), None);
        assert_eq!(estimator.on_packet(at(300), 1, at(290), Some(at(230))), None);
        assert_eq!(estimator.on_packet(at(360), 1, at(350), Some(at(290))), Some(Span::from_ms(60)));
    }

    /// Timestamps within a tick of each other are one; the echo of a later one begins anew without a sample.
    #[test]
    fn an_echo_is_the_watched_timestamps_within_a_tick() {
        let measured = |echoed_us: u64| {
            let mut estimator = TimestampEstimator::new(64, Span::from_ms(1));
            estimator.on_packet(at(20), 1, at(10), None);
            let echoed = Some(Time::ZERO + Span::from_us(echoed_us));
            let first = estimator.on_packet(at(70), 1, at(60), echoed);
            // whether the timestamp of then is watched now
            (
                first,
                estimator
                    .on_packet(at(100), 1, at(90), Some(at(60)))
                    .is_some_and(|rtt| rtt == Span::from_ms(30)),
            )
        };
        let sample = Some(Span::from_ms(50));
        assert_eq!(measured(8_999), (None, false));
        assert_eq!([9_000, 10_000, 11_000].map(measured), [(sample, true); 3]);
        assert_eq!(measured(11_001), (None, true));
        assert!(TimestampEstimator::new(64, Span::from_ms(1)).bytes() > 64 * 16);
    }
}
