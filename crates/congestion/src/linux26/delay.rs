//! Vegas and Compound TCP of Linux 2.6.22, which judge once a round what waits in queues.
//!
//! A round begins with the next segment to be sent, and ends with an acknowledgment beyond it. What was sent in it is the
//! distance between two such segments (`beg_snd_nxt` less `beg_snd_una`); a recovery's end begins a round without moving
//! the latter, so that the next one has all that was sent in the recovery, too.

use crate::linux_window::LinuxWindow;

/// Fewer waiting halves of a segment than this: one segment more (`alpha`).
const ALPHA: u64 = 4;
/// More: one fewer (`beta`).
const BETA: u64 = 8;
/// More of them end slow start (`gamma`).
const GAMMA: u64 = 2;
/// The threshold with which slow start is left then.
const LEFT_SLOW_START: u32 = 2;
/// A round is judged with more samples than this.
const FEW_SAMPLES: u32 = 2;
/// Vegas's least window.
const MIN_WINDOW: u32 = 2;
/// Halves of a waiting segment that end the growth of Compound's delay window (`TCP_COMPOUND_GAMMA`).
const COMPOUND_GAMMA: u64 = 30 << 1;
/// log₂ of the part of win^¾ that it grows by (`TCP_COMPOUND_ALPHA`).
const COMPOUND_SHIFT: u32 = 3;

/// A round's measurements; round-trip times are µs and one.
#[derive(Clone, Debug)]
pub(super) struct Round {
    base_us: u64,
    least_us: u64,
    samples: u32,
    next: u32,
    first: u32,
    cwnd: u32,
}

/// A round that has ended.
struct Ended {
    /// Segments sent in it.
    sent: u64,
    /// The window when it began.
    cwnd: u32,
    /// What would be in the network without queues, and what is beyond, in halves of segments; with few samples nothing.
    judged: Option<(u64, u64)>,
}

impl Default for Round {
    fn default() -> Round {
        Round {
            base_us: u64::from(u32::MAX),
            least_us: u64::from(u32::MAX),
            samples: 0,
            next: 0,
            first: 0,
            cwnd: 0,
        }
    }
}

impl Round {
    pub(super) fn begin(sent_to: u32) -> Round {
        Round { next: sent_to, ..Round::default() }
    }

    pub(super) fn measure(&mut self, us: u64) {
        self.base_us = self.base_us.min(us + 1);
        self.least_us = self.least_us.min(us + 1);
        self.samples = self.samples.saturating_add(1);
    }

    pub(super) fn restart(&mut self, sent_to: u32) {
        self.next = sent_to;
        self.forget();
    }

    /// Segments sent between the beginnings of this round and of the last.
    #[cfg(test)]
    pub(super) fn sent(&self) -> u32 {
        self.next - self.first
    }

    fn forget(&mut self) {
        (self.least_us, self.samples) = (u64::from(u32::MAX), 0);
    }

    fn end(&mut self, una: u32, sent_to: u32, cwnd: u32) -> Option<Ended> {
        if una <= self.next {
            return None;
        }
        let sent = u64::from(self.next.saturating_sub(self.first));
        let prior = self.cwnd;
        (self.first, self.next, self.cwnd) = (self.next, sent_to, cwnd);
        let judged = (self.samples > FEW_SAMPLES).then(|| {
            let target = (sent * self.base_us * 2) / self.least_us.max(1);
            (target, (sent * 2).saturating_sub(target))
        });
        self.forget();
        Some(Ended { sent, cwnd: prior, judged })
    }
}

/// Vegas.
#[derive(Clone, Debug)]
pub(super) struct Vegas {
    pub(super) round: Round,
    /// No loss is being repaired.
    pub(super) enabled: bool,
}

impl Default for Vegas {
    fn default() -> Vegas {
        Vegas { round: Round::default(), enabled: true }
    }
}

impl Vegas {
    /// New data is acknowledged; whether Reno's growth is due.
    pub(super) fn grow(&mut self, window: &mut LinuxWindow, una: u32, sent_to: u32) -> bool {
        let Some(ended) = self.round.end(una, sent_to, window.cwnd) else {
            window.slow_start_per_ack();
            return false;
        };
        let Some((target, waiting)) = ended.judged else {
            return true;
        };
        if window.ssthresh.is_none_or(|ssthresh| window.cwnd <= ssthresh) {
            if waiting > GAMMA {
                window.ssthresh = Some(LEFT_SLOW_START);
                window.cwnd = window.cwnd.min((target >> 1).min(u64::from(u32::MAX - 1)) as u32 + 1);
            }
            // without a look at the threshold
            window.cwnd = window.cwnd.saturating_add(1);
        } else {
            let next = if waiting > BETA {
                ended.cwnd.saturating_sub(1)
            } else if waiting < ALPHA {
                ended.cwnd.saturating_add(1)
            } else {
                ended.cwnd
            };
            window.cwnd = match next.cmp(&window.cwnd) {
                std::cmp::Ordering::Greater => window.cwnd.saturating_add(1),
                std::cmp::Ordering::Less => window.cwnd - 1,
                std::cmp::Ordering::Equal => window.cwnd,
            };
        }
        window.cwnd = window.cwnd.max(MIN_WINDOW);
        false
    }
}

/// Compound TCP.
#[derive(Clone, Debug)]
pub(super) struct Compound {
    pub(super) round: Round,
    /// Reno's window.
    cwnd: u32,
    /// The delay window.
    dwnd: u32,
}

impl Compound {
    pub(super) fn new(cwnd: u32) -> Compound {
        Compound { round: Round::default(), cwnd, dwnd: 0 }
    }

    pub(super) fn begin(&mut self, sent_to: u32, cwnd: u32) {
        (self.round, self.cwnd, self.dwnd) = (Round::begin(sent_to), cwnd, 0);
    }

    /// The delay window.
    #[cfg(test)]
    pub(super) fn dwnd(&self) -> u32 {
        self.dwnd
    }

    /// New data is acknowledged.
    pub(super) fn grow(&mut self, window: &mut LinuxWindow, una: u32, sent_to: u32, limited: bool) {
        if self.cwnd.saturating_add(self.dwnd) > window.cwnd {
            if self.cwnd > window.cwnd || self.dwnd > window.cwnd {
                (self.cwnd, self.dwnd) = (window.cwnd, 0);
            } else {
                self.cwnd = window.cwnd - self.dwnd;
            }
        }
        if !limited {
            return;
        }
        let slow = window.ssthresh.is_none_or(|ssthresh| self.cwnd <= ssthresh);
        let mut grows = slow;
        if !slow && window.counted < window.cwnd {
            window.counted += 1;
        }
        if window.counted >= window.cwnd {
            (window.counted, grows) = (0, true);
        }
        self.cwnd = self.cwnd.saturating_add(u32::from(grows));
        if let Some(Ended { sent, judged: Some((_, waiting)), .. }) =
            self.round.end(una, sent_to, window.cwnd)
        {
            self.judge(sent, waiting);
        }
        window.cwnd = self.cwnd.saturating_add(self.dwnd);
    }

    fn judge(&mut self, sent: u64, waiting: u64) {
        let twice = u64::from(self.dwnd) * 2;
        self.dwnd = if waiting < COMPOUND_GAMMA {
            let root = u128::from(sent).pow(3).isqrt().isqrt() as u64;
            let grown = (root >> COMPOUND_SHIFT).saturating_sub(1).min(u64::from(u32::MAX)) as u32;
            self.dwnd.saturating_add(grown)
        } else {
            (twice.saturating_sub(waiting) / 2) as u32
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With what 50 segments sent in a round of at least 100 µs tell of a path of `base_us`: 100 halves less `base_us` wait.
    fn round(base_us: u64, samples: u32, cwnd: u32) -> Round {
        Round { base_us, least_us: 100, samples, next: 150, first: 100, cwnd }
    }

    /// `tcp_vegas_cong_avoid`: a round ends with an acknowledgment beyond `beg_snd_nxt`, the first one with what had been sent.
    #[test]
    fn a_round_ends_beyond_what_was_sent_when_it_began() {
        let mut round = Round::begin(10);
        for _ in 0..3 {
            round.measure(99);
        }
        assert!(round.end(10, 25, 5).is_none());
        let ended = round.end(11, 25, 5).unwrap();
        assert_eq!((ended.sent, ended.cwnd, ended.judged), (10, 0, Some((20, 0))));
        assert_eq!((round.samples, round.least_us), (0, u64::from(u32::MAX)));
        round.measure(149);
        assert!(round.end(25, 60, 6).is_none());
        let ended = round.end(26, 60, 6).unwrap();
        assert_eq!((ended.sent, ended.cwnd, ended.judged), (15, 5, None), "one sample is too few");
        for us in [199, 224, 199] {
            round.measure(us);
        }
        // 35 segments at 100 of 200 µs: half of them wait
        assert_eq!(round.end(61, 70, 6).unwrap().judged, Some((35, 35)));
    }

    /// The same, in halves of segments: more than 8 wait, one fewer; less than 4, one more; the window goes there by one.
    #[test]
    fn vegas_keeps_two_to_four_segments_waiting() {
        for (base_us, before, window, after) in [
            (97, 50, 50, 51),
            (96, 50, 50, 50),
            (92, 50, 50, 50),
            (91, 50, 50, 49),
            (97, 50, 60, 59),
            (91, 50, 40, 41),
            (91, 1, 3, 2),
            (91, 1, 2, 2),
        ] {
            let mut vegas = Vegas { round: round(base_us, 3, before), enabled: true };
            let mut linux = LinuxWindow::new(window, Some(2));
            linux.cwnd = window;
            linux.ssthresh = Some(1);
            assert!(!vegas.grow(&mut linux, 151, 200));
            assert_eq!(linux.cwnd, after, "{base_us} {before} {window}");
        }
    }

    /// More than one segment waiting ends slow start with a threshold of 2 and the window that the rate fills, and one.
    #[test]
    fn vegas_leaves_slow_start_with_the_window_that_the_rate_fills() {
        for (base_us, window, after, threshold) in
            [(98, 50, 51, 60), (97, 55, 50, 2), (97, 20, 21, 2), (98, 60, 61, 60)]
        {
            let mut vegas = Vegas { round: round(base_us, 3, 50), enabled: true };
            let mut linux = LinuxWindow::new(window, Some(60));
            vegas.grow(&mut linux, 151, 200);
            assert_eq!((linux.cwnd, linux.ssthresh), (after, Some(threshold)), "{base_us} {window}");
        }
    }

    #[test]
    fn between_rounds_vegas_is_in_slow_start_or_waits_and_with_two_samples_it_is_reno() {
        for (threshold, after) in [(50, 51), (49, 50)] {
            let mut vegas = Vegas { round: round(91, 3, 50), enabled: true };
            let mut linux = LinuxWindow::new(50, Some(threshold));
            assert!(!vegas.grow(&mut linux, 150, 200));
            assert_eq!(linux.cwnd, after);
        }
        let mut vegas = Vegas { round: round(91, 2, 50), enabled: true };
        assert!(vegas.grow(&mut LinuxWindow::new(50, Some(2)), 151, 200));
    }

    /// The port's `tcp_compound_cong_avoid`: a window that was reduced meanwhile takes from Reno's part, or leaves only that.
    #[test]
    fn compounds_parts_follow_a_window_that_was_reduced() {
        for (parts, window, after) in [
            ((50, 30), 100, (50, 30)),
            ((50, 30), 80, (50, 30)),
            ((50, 30), 60, (30, 30)),
            ((50, 30), 50, (20, 30)),
            ((50, 30), 49, (49, 0)),
            ((30, 50), 49, (49, 0)),
            ((30, 50), 50, (0, 50)),
        ] {
            let mut compound = Compound { round: Round::begin(1_000), cwnd: parts.0, dwnd: parts.1 };
            let mut linux = LinuxWindow::new(window, Some(2));
            compound.grow(&mut linux, 1, 2_000, false);
            assert_eq!((compound.cwnd, compound.dwnd, linux.cwnd), (after.0, after.1, window));
        }
    }

    #[test]
    fn compounds_reno_grows_by_a_segment_a_window_or_an_acknowledgment() {
        let grown = |threshold, acks| {
            let mut compound = Compound { round: Round::begin(1_000), cwnd: 10, dwnd: 5 };
            let mut linux = LinuxWindow::new(15, Some(threshold));
            for _ in 0..acks {
                compound.grow(&mut linux, 1, 2_000, true);
            }
            (compound.cwnd, linux.cwnd, linux.counted)
        };
        assert_eq!([grown(2, 14), grown(2, 15), grown(2, 16)], [(10, 15, 14), (11, 16, 0), (11, 16, 1)]);
        // its own window counts for the threshold, not the sum
        assert_eq!([grown(10, 1), grown(10, 2), grown(11, 2)], [(11, 16, 0), (11, 16, 1), (12, 17, 0)]);
    }

    /// dwnd + max(win^¾/8 − 1, 0) while fewer than 30 segments wait, else dwnd less what waits.
    #[test]
    fn compounds_delay_window_grows_below_thirty_waiting_segments() {
        for (sent, waiting, dwnd, after) in
            [(256, 59, 100, 107), (256, 60, 100, 70), (256, 61, 100, 69), (256, 60, 20, 0), (15, 0, 5, 5)]
        {
            let mut compound = Compound { round: Round::default(), cwnd: 10, dwnd };
            compound.judge(sent, waiting);
            assert_eq!(compound.dwnd, after, "{sent} {waiting}");
        }
        // at a round's end, if it had samples
        for (samples, dwnd) in [(2, 0), (3, 50_u32.pow(3).isqrt().isqrt() / 8 - 1)] {
            let mut compound = Compound { round: round(100, samples, 50), cwnd: 50, dwnd: 0 };
            compound.grow(&mut LinuxWindow::new(50, Some(2)), 151, 200, true);
            assert_eq!(compound.dwnd, dwnd);
        }
    }

    #[test]
    fn compound_begins_with_the_window_and_what_was_sent() {
        let mut compound = Compound { dwnd: 9, ..Compound::new(2) };
        compound.begin(10, 7);
        assert_eq!((compound.cwnd, compound.dwnd, compound.round.next, compound.round.first), (7, 0, 10, 0));
    }
}
