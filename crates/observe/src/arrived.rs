//! What a receiver has, by its acknowledgments.

/// Stretches beyond the acknowledgment that are remembered; further ones count when they are acknowledged.
const MOST: usize = 64;

/// Data that arrived out of order, by SACK blocks (RFC 2018), so that each byte counts when it arrived: the acknowledgment of a repaired
/// loss covers what came long before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrived {
    /// Stretches beyond the acknowledgment, apart and in order.
    beyond: Vec<(u64, u64)>,
}

impl Arrived {
    /// A block. Returns how many of its bytes are new.
    pub(crate) fn block(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let first = self.beyond.partition_point(|&(_, other)| other < start);
        let last = self.beyond.partition_point(|&(other, _)| other <= end);
        let touched = self.beyond.get(first..last).unwrap_or_default();
        let known: u64 = touched.iter().map(|&(from, to)| to.min(end).saturating_sub(from.max(start))).sum();
        if touched.is_empty() && self.beyond.len() == MOST {
            return 0;
        }
        let from = touched.first().map_or(start, |&(from, _)| from.min(start));
        let to = touched.last().map_or(end, |&(_, to)| to.max(end));
        self.beyond.splice(first..last.max(first), [(from, to)]);
        end - start - known
    }

    /// All up to `ack` is acknowledged, before it was up to `una`. Returns how many of these bytes are new.
    pub(crate) fn acknowledge(&mut self, una: u64, ack: u64) -> u64 {
        let known: u64 =
            self.beyond.iter().map(|&(from, to)| to.min(ack).saturating_sub(from.max(una))).sum();
        self.beyond.retain_mut(|stretch| {
            stretch.0 = stretch.0.max(ack);
            stretch.0 < stretch.1
        });
        ack.saturating_sub(una).saturating_sub(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_once_and_when_they_arrive() {
        let mut arrived = Arrived::default();
        assert_eq!(arrived.acknowledge(100, 200), 100);
        // 200 to 300 is lost
        assert_eq!(
            (arrived.block(300, 400), arrived.block(300, 500), arrived.block(300, 500)),
            (100, 100, 0)
        );
        // another hole, which is filled
        assert_eq!(
            (arrived.block(600, 700), arrived.block(500, 600), arrived.block(250, 650)),
            (100, 100, 50)
        );
        assert_eq!(arrived.acknowledge(200, 640), 50);
        assert_eq!((arrived.acknowledge(640, 700), arrived.acknowledge(700, 800)), (0, 100));
        assert_eq!((arrived.block(900, 900), arrived.block(900, 850)), (0, 0));
    }

    #[test]
    fn memory_is_bounded() {
        let mut arrived = Arrived::default();
        let counted: u64 = (0..1_000).map(|n| arrived.block(100 * n + 50, 100 * n + 100)).sum();
        assert_eq!((counted, arrived.beyond.len()), (50 * MOST as u64, MOST));
        assert_eq!(arrived.acknowledge(0, 100_000), 100_000 - counted);
        assert!(arrived.beyond.is_empty());
    }
}
