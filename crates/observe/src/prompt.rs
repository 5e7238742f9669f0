//! Which acknowledgments were sent at once.

/// A receiver acknowledges at least every second full segment at once, and may hold the acknowledgment of a single one back for up to
/// 500 ms (RFC 5681 section 4.2; Linux: 40 ms and more). What acknowledges more than one segment was not held back, nor was any of a
/// receiver that acknowledges most segments by themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prompt {
    /// Acknowledgments of at most one segment so far, and of more.
    single: u32,
    several: u32,
}

impl Prompt {
    /// Counts an acknowledgment of `bytes` new bytes, where a full segment has `full`. Says whether it was sent at once.
    pub(crate) fn acknowledge(&mut self, bytes: u64, full: u32) -> bool {
        let is_single = bytes <= u64::from(full);
        let count = if is_single { &mut self.single } else { &mut self.several };
        *count = count.saturating_add(1);
        !is_single || self.single > self.several
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_segments_may_be_held_back_where_most_come_in_pairs() {
        let mut prompt = Prompt::default();
        // Linux acknowledges each of the first segments
        assert!((0..4).all(|_| prompt.acknowledge(1_448, 1_448)));
        assert!((0..4).all(|_| prompt.acknowledge(2_896, 1_448)));
        assert!(prompt.acknowledge(1_448, 1_448));
        assert!((0..5).all(|_| prompt.acknowledge(2_896, 1_448)));
        assert!(!prompt.acknowledge(1_448, 1_448));
        assert!(!prompt.acknowledge(300, 1_448));
    }

    #[test]
    fn a_receiver_that_acknowledges_each_segment_holds_nothing_back() {
        let mut prompt = Prompt::default();
        assert!((0..100).all(|_| prompt.acknowledge(1_448, 1_448)));
    }
}
