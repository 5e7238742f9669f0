//! What a video client has in its buffer, and when it plays what.

use bufferlab_units::{Span, Time};

/// A buffer that is played from.
#[derive(Clone, Debug)]
pub(super) struct Playback {
    segment: Span,
    /// It begins, or goes on, with this much.
    needs: Span,
    /// The same after a stall.
    resume: Span,
    /// Segments that have come.
    came: usize,
    /// When each segment begins to be played, of those for which that is known.
    plays: Vec<Time>,
    /// While it plays: when the buffer runs empty.
    empties: Option<Time>,
}

impl Playback {
    /// Nothing is there yet; it begins with `startup`, and goes on after a stall with `resume`.
    pub(super) fn new(segment: Span, startup: Span, resume: Span) -> Playback {
        Playback { segment, needs: startup, resume, came: 0, plays: Vec::new(), empties: None }
    }

    /// What is in the buffer.
    pub(super) fn level(&self, now: Time) -> Span {
        match self.empties {
            Some(empties) => empties.saturating_since(now),
            None => self.segment.saturating_mul((self.came - self.plays.len()) as u64),
        }
    }

    /// Whether it plays, as far as is known.
    pub(super) fn is_playing(&self) -> bool {
        self.empties.is_some()
    }

    /// A segment is there; whether the buffer had run empty before.
    pub(super) fn add(&mut self, now: Time) -> bool {
        let stalled = self.empties.is_some_and(|empties| empties < now);
        if stalled {
            (self.empties, self.needs) = (None, self.resume);
        }
        self.came += 1;
        let begins = self.empties.or_else(|| (self.level(now) >= self.needs).then_some(now));
        if let Some(mut at) = begins {
            while self.plays.len() < self.came {
                self.plays.push(at);
                at += self.segment;
            }
            self.empties = Some(at);
        }
        stalled
    }

    /// When playback comes to a segment's turn: when `first`, the video's start, or the segment before it ends, if that is
    /// known.
    pub(super) fn due(&self, number: usize, first: Time) -> Option<Time> {
        let Some(before) = number.checked_sub(1) else { return Some(first) };
        self.plays.get(before).map(|&at| at + self.segment)
    }

    /// When a segment begins to be played, if that is known.
    pub(super) fn begins(&self, number: usize) -> Option<Time> {
        self.plays.get(number).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(seconds: u64) -> Time {
        Time::ZERO + Span::from_s(seconds)
    }

    #[test]
    fn it_begins_with_so_much_plays_and_stalls_until_there_is_enough_again() {
        let mut playback = Playback::new(Span::from_s(4), Span::from_s(8), Span::from_s(4));
        assert!(!playback.add(s(1)) && !playback.is_playing());
        assert_eq!(playback.level(s(3)), Span::from_s(4));
        assert!(!playback.add(s(5)) && playback.is_playing());
        assert_eq!((playback.begins(0), playback.begins(1)), (Some(s(5)), Some(s(9))));
        assert_eq!(playback.level(s(6)), Span::from_s(7));
        // in time, at the very moment, and too late
        assert!(!playback.add(s(13)));
        assert_eq!(playback.begins(2), Some(s(13)));
        assert!(playback.add(s(20)));
        assert_eq!((playback.due(3, s(0)), playback.begins(3)), (Some(s(17)), Some(s(20))));
        assert_eq!((playback.due(0, s(0)), playback.due(5, s(0))), (Some(s(0)), None));
    }
}
