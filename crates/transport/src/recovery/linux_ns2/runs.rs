//! What ns-2's `Agent/TCP/Linux` knows of outstanding segments: runs of segments with one fate.
//!
//! Source: ns-2 2.35, `tcp/scoreboard1.cc` (`UpdateScoreBoard`, `CleanRtxQueue`, `MarkLoss`, `MarkRetran`), read as
//! behavior. It differs from RFC 6675 and from Linux in these points:
//! - A segment is lost when one at least four beyond it was SACKed: `lost_seq_threshold` is `fack_` less
//!   `dupack_threshold` and one more.
//! - A retransmission is lost when a segment first sent after it was SACKed, or when the last retransmission that was
//!   acknowledged is five or more behind it in order of sending.
//! - One pass from the first outstanding segment does all; where nothing beyond was reported, it ends with the
//!   acknowledgment's last block, and what is lost beyond waits.
//! - Segments beyond the highest SACKed one are not described, except after a timeout.

use std::collections::VecDeque;

use crate::SackBlocks;
use crate::recovery::scoreboard::DUP_THRESH;

/// What became of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    Sacked,
    Lost,
    /// Sent again as the `order`-th, when the next new segment was `before`.
    Resent {
        before: u32,
        order: i64,
    },
}

/// Segments `start..end` of one fate.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u32,
    end: u32,
    fate: Fate,
}

impl Run {
    fn len(self) -> u32 {
        self.end - self.start
    }
}

/// What an acknowledgment brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// A segment is considered lost that was not.
    pub(crate) lost: bool,
    /// A segment was SACKed for the first time.
    pub(crate) sacked: bool,
    /// A retransmission was acknowledged: which sending it answers is unsure.
    pub(crate) resent: bool,
}

/// The fates of outstanding segments.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    known: VecDeque<Run>,
    /// The runs that a pass has seen; kept for its memory.
    seen: VecDeque<Run>,
    sacked: u32,
    lost: u32,
    /// One more than the highest SACKed segment; 0 before the first.
    sacked_to: u32,
    /// The order of the last retransmission that was acknowledged; below zero before the first.
    acked_order: i64,
    /// The order of the next retransmission.
    next_order: i64,
    /// Lost segments from here on may be sent again.
    resend_from: Option<u32>,
}

impl Runs {
    pub(super) fn new() -> Runs {
        Runs {
            known: VecDeque::new(),
            seen: VecDeque::new(),
            sacked: 0,
            lost: 0,
            sacked_to: 0,
            acked_order: -1,
            next_order: 0,
            resend_from: None,
        }
    }

    /// Forgets all (`ClearScoreBoard`).
    pub(super) fn clear(&mut self) {
        self.known.clear();
        (self.sacked, self.lost, self.sacked_to, self.resend_from) = (0, 0, 0, None);
        (self.acked_order, self.next_order) = (-1, 0);
    }

    /// Segments that are not in the network any more.
    pub(super) fn gone(&self) -> u32 {
        self.sacked + self.lost
    }

    /// An acknowledgment came; everything below `una` is acknowledged.
    pub(super) fn on_ack(&mut self, una: u32, sack: &SackBlocks) -> News {
        let mut news = News::default();
        let mut thorough = self.clean(una, &mut news);
        if self.known.is_empty() {
            self.clear();
            thorough = false;
        }
        let mut blocks = [(0, 0); SackBlocks::MAX];
        let mut count = 0;
        for &block in sack.ranges().iter().filter(|block| block.0 + 1 >= una) {
            blocks[count] = block;
            count += 1;
        }
        let blocks = &mut blocks[..count];
        blocks.sort_unstable();
        if let Some(&(_, end)) = blocks.last()
            && end > self.sacked_to
        {
            (self.sacked_to, thorough) = (end, true);
        }
        if self.known.is_empty() && self.sacked_to > una {
            self.known.push_back(Run { start: una, end: self.sacked_to, fate: Fate::InFlight });
        }
        if (thorough || !blocks.is_empty()) && !self.known.is_empty() {
            self.pass(blocks, thorough, &mut news);
        }
        news
    }

    /// Drops what is acknowledged; whether a later retransmission was than any before.
    fn clean(&mut self, una: u32, news: &mut News) -> bool {
        let mut later = false;
        while let Some(first) = self.known.front_mut()
            && first.start < una
        {
            let whole = first.end <= una;
            let dropped = if whole { first.len() } else { una - first.start };
            match first.fate {
                Fate::Sacked => self.sacked -= dropped,
                Fate::Lost => self.lost -= dropped,
                Fate::Resent { order, .. } => {
                    news.resent = true;
                    if order > self.acked_order {
                        (self.acked_order, later) = (order, true);
                    }
                }
                Fate::InFlight => {}
            }
            if !whole {
                first.start = una;
                break;
            }
            self.known.pop_front();
        }
        later
    }

    /// From the first outstanding segment on: what the blocks report, and what is lost by it.
    fn pass(&mut self, blocks: &[(u32, u32)], mut thorough: bool, news: &mut News) {
        self.resend_from = None;
        let mut seen = std::mem::take(&mut self.seen);
        let mut next = 0;
        while next < blocks.len() || thorough {
            let Some(run) = self.known.pop_front() else {
                let end = seen.back().map_or(self.sacked_to, |last| last.end);
                if end >= self.sacked_to {
                    break;
                }
                self.known.push_back(Run { start: end, end: self.sacked_to, fate: Fate::InFlight });
                continue;
            };
            if run.fate == Fate::Sacked {
                append(&mut seen, run);
                continue;
            }
            while next < blocks.len() && blocks[next].1 <= run.start {
                next += 1;
            }
            let block = blocks.get(next).filter(|block| block.0 < run.end);
            match block {
                Some(&(start, _)) if start > run.start => {
                    let head = self.split(run, start);
                    self.judge(head, &mut seen, news);
                }
                Some(&(_, end)) => {
                    let head = if end < run.end { self.split(run, end) } else { run };
                    thorough |= self.report(head, &mut seen, news);
                }
                None => self.judge(run, &mut seen, news),
            }
        }
        while let Some(run) = seen.pop_back() {
            self.known.push_front(run);
        }
        self.seen = seen;
    }

    /// The part of a run below `seq`; the rest is the next run.
    fn split(&mut self, run: Run, seq: u32) -> Run {
        self.known.push_front(Run { start: seq, ..run });
        Run { end: seq, ..run }
    }

    /// A block covers this run; whether it had been sent again.
    fn report(&mut self, run: Run, seen: &mut VecDeque<Run>, news: &mut News) -> bool {
        let mut resent = false;
        match run.fate {
            Fate::Lost => self.lost -= run.len(),
            Fate::Resent { order, .. } => {
                self.acked_order = order;
                (news.resent, resent) = (true, true);
            }
            _ => {}
        }
        self.sacked += run.len();
        news.sacked = true;
        append(seen, Run { fate: Fate::Sacked, ..run });
        resent
    }

    /// No block covers this run: it may be lost.
    fn judge(&mut self, run: Run, seen: &mut VecDeque<Run>, news: &mut News) {
        let mut run = run;
        let beyond = i64::from(DUP_THRESH) + 1;
        match run.fate {
            Fate::Resent { before, order } => {
                if before < self.sacked_to || order + beyond < self.acked_order {
                    run.fate = Fate::Lost;
                }
            }
            Fate::InFlight => {
                let lost_to = self.sacked_to.saturating_sub(DUP_THRESH + 1);
                if run.start < lost_to {
                    if lost_to < run.end {
                        run = self.split(run, lost_to);
                    }
                    run.fate = Fate::Lost;
                }
            }
            Fate::Lost => {
                self.resend_from.get_or_insert(run.start);
                append(seen, run);
                return;
            }
            Fate::Sacked => {}
        }
        if run.fate == Fate::Lost {
            self.lost += run.len();
            news.lost = true;
            self.resend_from.get_or_insert(run.start);
        }
        append(seen, run);
    }

    /// The retransmission timer ran out: what is not SACKed of `una..nxt` is lost.
    pub(super) fn declare_all_lost(&mut self, una: u32, nxt: u32) {
        let end = self.known.back().map_or(una, |last| last.end);
        if end < nxt {
            self.known.push_back(Run { start: end, end: nxt, fate: Fate::InFlight });
        }
        let mut seen = std::mem::take(&mut self.seen);
        self.resend_from = None;
        while let Some(run) = self.known.pop_front() {
            if run.fate == Fate::Sacked {
                append(&mut seen, run);
                continue;
            }
            if run.fate != Fate::Lost {
                self.lost += run.len();
            }
            self.resend_from.get_or_insert(run.start);
            append(&mut seen, Run { fate: Fate::Lost, ..run });
        }
        std::mem::swap(&mut self.known, &mut seen);
        self.seen = seen;
        (self.acked_order, self.next_order) = (-1, 0);
    }

    /// The first lost segment that may be sent again.
    pub(super) fn next_lost(&self) -> Option<u32> {
        let from = self.resend_from?;
        let run = self.known.iter().find(|run| run.fate == Fate::Lost && run.end > from)?;
        Some(run.start.max(from))
    }

    /// The segment of [`Runs::next_lost`] is sent again, when the next new one is `nxt`.
    pub(super) fn on_resent(&mut self, seq: u32, nxt: u32) {
        let Some(index) = self.known.iter().position(|run| run.end > seq) else { return };
        let run = self.known[index];
        if seq + 1 < run.end {
            self.known.insert(index + 1, Run { start: seq + 1, ..run });
        }
        let fate = Fate::Resent { before: nxt, order: self.next_order };
        self.known[index] = Run { start: seq, end: seq + 1, fate };
        self.next_order += 1;
        self.lost -= 1;
        self.resend_from = Some(seq + 1);
    }
}

/// Adds a run, to the last if it has the same fate. Each retransmission stays for itself.
fn append(runs: &mut VecDeque<Run>, run: Run) {
    match runs.back_mut() {
        Some(last) if last.fate == run.fate && !matches!(run.fate, Fate::Resent { .. }) => last.end = run.end,
        _ => runs.push_back(run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acked(runs: &mut Runs, una: u32, blocks: &[(u32, u32)]) -> News {
        let mut sack = SackBlocks::NONE;
        blocks.iter().rev().for_each(|&(start, end)| sack.report(start, end));
        runs.on_ack(una, &sack)
    }

    /// Segments 10 to 29 are out; 10 was lost, and 11 to 14 have come.
    fn with_a_loss() -> Runs {
        let mut runs = Runs::new();
        for end in 12..15 {
            assert!(!acked(&mut runs, 10, &[(11, end)]).lost, "{end}");
        }
        assert_eq!(acked(&mut runs, 10, &[(11, 15)]), News { lost: true, sacked: true, resent: false });
        runs
    }

    #[test]
    fn four_segments_beyond_tell_a_loss() {
        let mut runs = with_a_loss();
        assert_eq!((runs.next_lost(), runs.gone()), (Some(10), 5));
        runs.on_resent(10, 30);
        assert_eq!((runs.next_lost(), runs.gone()), (None, 4));
        assert!(acked(&mut runs, 15, &[]).resent);
        assert_eq!(runs.gone(), 0);
    }

    #[test]
    fn holes_are_lost_up_to_four_below_the_highest() {
        let mut runs = Runs::new();
        let news = acked(&mut runs, 10, &[(12, 14), (16, 20)]);
        assert!(news.lost);
        // 10, 11, 14 and 15; six are reported
        assert_eq!((runs.gone(), runs.next_lost()), (10, Some(10)));
        let next = std::iter::from_fn(|| {
            let seq = runs.next_lost()?;
            runs.on_resent(seq, 30);
            Some(seq)
        });
        assert_eq!(next.collect::<Vec<_>>(), [10, 11, 14, 15]);
    }

    #[test]
    fn a_retransmission_is_lost_when_what_was_first_sent_after_it_has_come() {
        let mut runs = with_a_loss();
        runs.on_resent(10, 30);
        assert!(!acked(&mut runs, 10, &[(11, 30)]).lost);
        assert!(acked(&mut runs, 10, &[(11, 31)]).lost);
        assert_eq!(runs.next_lost(), Some(10));
    }

    #[test]
    fn a_retransmission_is_lost_when_the_fifth_after_it_has_come() {
        let mut runs = Runs::new();
        runs.declare_all_lost(0, 10);
        (0..10).for_each(|seq| runs.on_resent(seq, 10));
        for seq in 1..5 {
            assert!(!acked(&mut runs, 0, &[(1, seq + 1)]).lost, "{seq}");
        }
        assert!(acked(&mut runs, 0, &[(1, 6)]).resent);
        // one pass looks at the first before it learns of the others
        assert!(acked(&mut runs, 0, &[(1, 7)]).lost);
        assert_eq!(runs.next_lost(), Some(0));
    }

    #[test]
    fn a_timeout_spares_what_was_reported() {
        let mut runs = with_a_loss();
        runs.on_resent(10, 30);
        runs.declare_all_lost(10, 30);
        assert_eq!((runs.gone(), runs.next_lost()), (20, Some(10)));
        runs.on_resent(10, 30);
        assert_eq!(runs.next_lost(), Some(15));
    }
}
