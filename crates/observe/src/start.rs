//! What a connection loses in its start.

use crate::counts::Counts;

/// Round trips without a repeat after which the start is over. A sender in congestion avoidance takes more from loss to loss. Our choice.
const TRIPS: u64 = 2;

/// The start of a connection: up to the last segment sent again of those that follow each other within a few round trips.
///
/// In slow start the window doubles each round trip until the buffer overflows (RFC 5681 section 3.1): a sender then loses up to what the
/// path holds, in one episode or in a few in a row, as BBR does, which sends at twice the rate until its estimate has not grown for three
/// round trips (draft-ietf-ccwg-bbr, Startup). What is lost then says nothing of what is lost later.
#[derive(Clone, Debug, Default)]
pub(crate) struct Start {
    last_ns: Option<u64>,
    is_over: bool,
}

impl Start {
    /// Segments are sent again for a loss; a round trip takes such a time, with what waits.
    pub(crate) fn again(&mut self, now: u64, trip_ns: u64, segments: u64, counts: &mut Counts) {
        self.is_over |= self.last_ns.is_some_and(|last| now > last + TRIPS * trip_ns);
        if self.is_over {
            return;
        }
        self.last_ns = Some(now);
        counts.start_segments = counts.segments;
        counts.start_retransmitted_segments += segments;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_with_the_last_repeat_that_follows_within_two_round_trips() {
        let (mut start, mut counts) = (Start::default(), Counts::default());
        for (now, segments) in [(1_000, 40), (1_100, 2), (1_290, 1), (1_500, 1), (1_510, 1)] {
            counts.segments += 100;
            start.again(now, 100, segments, &mut counts);
        }
        assert_eq!((counts.start_segments, counts.start_retransmitted_segments), (300, 43));
    }
}
