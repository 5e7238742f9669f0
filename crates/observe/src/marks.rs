//! Marks of a direction's data, as its receiver echoes them.

use bufferlab_capture::reading::Flags;

/// How often a receiver began to echo marks.
///
/// A receiver has ECE set in each acknowledgment from a mark on until the sender says by CWR that it has made its window smaller (RFC 3168
/// sections 6.1.2 and 6.1.3). So the acknowledgments in between are one answer, as the sender takes them. A receiver that ends by itself
/// (DCTCP, RFC 8257 section 3.2) is counted as often as it begins. With accurate ECN the flags are a counter (RFC 9768 section 3.2), which
/// is not read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    episodes: u64,
    is_accurate: bool,
    is_echoed: bool,
    /// Where the data begins that came with the sender's last answer.
    reduced: Option<u64>,
}

impl Marks {
    /// The sender has made its window smaller, by data from there on.
    pub(crate) fn reduced(&mut self, start: u64) {
        self.reduced = Some(self.reduced.map_or(start, |at| at.max(start)));
    }

    /// The receiver acknowledges up to there.
    pub(crate) fn acknowledged(&mut self, ack: u64, flags: Flags) {
        self.is_accurate |= flags.ae;
        let is_answered = self.reduced.is_some_and(|at| ack > at);
        if flags.ece && (!self.is_echoed || is_answered) {
            self.episodes += 1;
            self.reduced = None;
        }
        self.is_echoed = flags.ece;
    }

    pub(crate) fn episodes(&self) -> u64 {
        if self.is_accurate { 0 } else { self.episodes }
    }

    pub(crate) fn is_accurate(&self) -> bool {
        self.is_accurate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echoed(ece: bool) -> Flags {
        Flags { ece, ..Flags::default() }
    }

    #[test]
    fn echoes_until_the_senders_answer_are_one() {
        let mut marks = Marks::default();
        for (ack, ece) in [(1_000, false), (2_000, true), (3_000, true), (4_000, true)] {
            marks.acknowledged(ack, echoed(ece));
        }
        marks.reduced(6_000);
        for (ack, ece) in [(5_000, true), (6_000, true), (7_000, false), (8_000, false), (9_000, true)] {
            marks.acknowledged(ack, echoed(ece));
        }
        assert_eq!(marks.episodes(), 2);
    }

    #[test]
    fn a_mark_behind_the_senders_answer_is_another() {
        let mut marks = Marks::default();
        marks.acknowledged(1_000, echoed(true));
        marks.reduced(3_000);
        for ack in [2_000, 3_000, 4_000, 5_000] {
            marks.acknowledged(ack, echoed(true));
        }
        assert_eq!(marks.episodes(), 2);
    }

    #[test]
    fn the_counter_of_accurate_ecn_is_no_echo() {
        let mut marks = Marks::default();
        marks.acknowledged(1_000, echoed(true));
        marks.acknowledged(2_000, Flags { ae: true, ece: true, ..Flags::default() });
        assert_eq!((marks.episodes(), marks.is_accurate()), (0, true));
    }
}
