//! Which acknowledgments were sent at once.

/// Acknowledgments that come sooner after one another were not held back: hosts hold one back for 40 ms and more (Linux:
/// `TCP_DELACK_MIN`, include/net/tcp.h), and a second segment ends that. Our choice.
const SOON_NS: u64 = 20_000_000;

/// A receiver acknowledges at least every second full segment at once, and may hold the acknowledgment of a single one back for up to
/// 500 ms (RFC 5681 section 4.2; Linux: 40 ms and more). What acknowledges more than one segment was not held back, nor was any of a
/// receiver that acknowledges most segments by themselves. That shows where segments come soon after one another: of one that sends
/// them far apart, each is acknowledged by itself, and held back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prompt {
    /// Acknowledgments of at most one segment so far that came soon after another, and of more.
    single: u32,
    several: u32,
    last_ns: u64,
}

impl Prompt {
    /// Counts an acknowledgment of `bytes` new bytes, where a full segment has `full`. Says whether it was sent at once.
    pub(crate) fn acknowledge(&mut self, now: u64, bytes: u64, full: u32) -> bool {
        let is_single = bytes <= u64::from(full);
        let is_soon = now - std::mem::replace(&mut self.last_ns, now) < SOON_NS;
        if !is_single {
            self.several = self.several.saturating_add(1);
        } else if is_soon {
            self.single = self.single.saturating_add(1);
        }
        !is_single || self.single > self.several
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn single_segments_may_be_held_back_where_most_come_in_pairs() {
        let mut prompt = Prompt::default();
        let mut at = 50 * MS;
        let mut acknowledge = |bytes| {
            at += MS;
            prompt.acknowledge(at, bytes, 1_448)
        };
        // Linux acknowledges each of the first segments
        assert!(!acknowledge(1_448));
        assert!((0..3).all(|_| acknowledge(1_448)));
        assert!((0..3).all(|_| acknowledge(2_896)));
        assert!(acknowledge(1_448));
        assert!((0..5).all(|_| acknowledge(2_896)));
        assert!(!acknowledge(1_448));
        assert!(!acknowledge(300));
    }

    #[test]
    fn a_receiver_that_acknowledges_each_segment_holds_nothing_back() {
        let mut prompt = Prompt::default();
        prompt.acknowledge(50 * MS, 1_448, 1_448);
        assert!((1..100).all(|n| prompt.acknowledge((50 + n) * MS, 1_448, 1_448)));
    }

    #[test]
    fn each_of_segments_that_are_far_apart_may_be_held_back() {
        let mut prompt = Prompt::default();
        assert!((1..100).all(|n| !prompt.acknowledge(n * 30 * MS, 1_448, 1_448)));
    }
}
