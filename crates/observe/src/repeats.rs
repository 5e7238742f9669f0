//! Retransmissions for nothing: their data had arrived.

use bufferlab_capture::reading::Edges;

use crate::sequence;

/// Retransmissions that wait for an acknowledgment.
const MOST: usize = 32;

/// A sender's retransmissions that are not acknowledged yet, and those that were spurious.
///
/// There are two signs. The receiver reports a second copy (DSACK, RFC 2883 section 4): one per segment, also where the network doubled a
/// packet. And the acknowledgment came sooner after the retransmission than a round trip to the receiver takes, so it answers the first
/// copy (as the Eifel detection concludes from timestamps, RFC 3522). Both see most of the same ones, so the number is that of the sign
/// that saw more. It is too low for a receiver without DSACK, where an early acknowledgment was lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repeats {
    waiting: Vec<(u64, u64)>,
    /// Reported by DSACK.
    pub(crate) reported: u32,
    /// Acknowledged too early.
    pub(crate) early: u32,
}

impl Repeats {
    /// Data that ends there is sent again; `arrived` if it is acknowledged already.
    pub(crate) fn sent(&mut self, now: u64, end: u64, arrived: bool) {
        if arrived {
            self.early += 1;
        } else if self.waiting.len() < MOST {
            self.waiting.push((end, now));
        }
    }

    /// An acknowledgment of all data before `ack`, with what the smallest round trip is.
    pub(crate) fn acknowledge(&mut self, now: u64, ack: u64, round_trip: Option<u64>) {
        let mut early = 0;
        self.waiting.retain(|&(end, at)| {
            early += u32::from(end <= ack && round_trip.is_some_and(|least| now - at < least));
            end > ack
        });
        self.early += early;
    }

    /// SACK blocks of a packet that acknowledges `ack`. A first block that is acknowledged already, or lies within the second, is a DSACK.
    pub(crate) fn blocks(&mut self, edges: &Edges, ack: u64, segment: u32) {
        let wide = |edge: u32| sequence::widen(ack, edge);
        let mut blocks = edges.blocks().iter().map(|&(left, right)| (wide(left), wide(right)));
        let Some(first) = blocks.next() else {
            return;
        };
        let within = |second: (u64, u64)| second.0 <= first.0 && first.1 <= second.1;
        if first.0 < first.1
            && sequence::is_near(first.0, first.1)
            && (first.1 <= ack || blocks.next().is_some_and(within))
        {
            let segments = (first.1 - first.0).div_ceil(u64::from(segment.max(1))) as u32;
            self.reported = self.reported.saturating_add(segments);
        }
    }

    /// How many were spurious.
    pub(crate) fn spurious(&self) -> u32 {
        self.reported.max(self.early)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(blocks: &[(u32, u32)]) -> Edges {
        let mut edges = Edges::default();
        for &(left, right) in blocks {
            edges.push(left, right);
        }
        edges
    }

    #[test]
    fn a_block_that_was_acknowledged_is_a_second_copy() {
        let mut repeats = Repeats::default();
        let ack = sequence::widen(0, 5_000);
        repeats.blocks(&edges(&[(6_000, 7_000)]), ack, 1_000);
        assert_eq!(repeats.spurious(), 0);
        repeats.blocks(&edges(&[(3_000, 5_000)]), ack, 1_000);
        assert_eq!(repeats.spurious(), 2);
        repeats.blocks(&edges(&[(6_000, 7_000), (6_000, 9_000)]), ack, 1_000);
        assert_eq!(repeats.reported, 3);
    }

    #[test]
    fn an_acknowledgment_before_a_round_trip_answers_the_first_copy() {
        let mut repeats = Repeats::default();
        repeats.sent(100, 1_000, false);
        repeats.sent(100, 2_000, false);
        repeats.acknowledge(140, 1_000, Some(50));
        repeats.acknowledge(150, 2_000, Some(50));
        assert_eq!(repeats.early, 1);
        repeats.sent(200, 500, true);
        assert_eq!(repeats.early, 2);
    }
}
