//! Round trips again and again: from a timestamp to the packet that its echo set free.

use bufferlab_units::{Span, Time};

use crate::FlowTable;

#[derive(Clone, Copy, Debug)]
struct Watch {
    /// The timestamp that is waited for, and when it passed.
    stamp: Time,
    passed: Time,
    /// The last round trip.
    rtt: Option<Span>,
}

/// The latest round trip of each flow that is remembered; one timestamp of a flow is watched at a time.
///
/// What it measures is the whole loop from here to here: half of it on each side, with the queues of now in it, and
/// with what the hosts wait before they answer.
#[derive(Clone, Debug)]
pub struct TimestampEstimator {
    flows: FlowTable<Watch>,
    /// Two timestamps no further apart are one: the option's clock ticks.
    tick: Span,
}

impl TimestampEstimator {
    /// An estimator for about so many flows at a time, whose hosts' timestamps tick so.
    pub fn new(flows: usize, tick: Span) -> TimestampEstimator {
        TimestampEstimator { flows: FlowTable::new(flows), tick }
    }

    /// Its size, bytes.
    pub fn bytes(&self) -> usize {
        self.flows.bytes()
    }

    /// A packet passes with a timestamp; `echoed` is the newest timestamp of its own direction that its sender has
    /// had back. The flow's latest round-trip time, if it is known.
    pub fn on_packet(&mut self, now: Time, key: u64, stamp: Time, echoed: Option<Time>) -> Option<Span> {
        let fresh = Watch { stamp, passed: now, rtt: None };
        let Some(watch) = self.flows.get(now, key) else {
            self.flows.put(now, key, fresh);
            return None;
        };
        if let Some(echoed) = echoed.filter(|&echoed| echoed + self.tick >= watch.stamp) {
            // A later timestamp's echo says that the watched one's was lost, or never sent: no sample.
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
        // the packet that the echo of the first one set free
        assert_eq!(estimator.on_packet(at(70), 1, at(60), Some(at(0))), Some(Span::from_ms(60)));
        // the echo of the second is none that is watched: the third is
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
}
