//! How long packets wait on the path, as round-trip times show it.

use bufferlab_units::{Span, Time};

/// Samples of which the shortest counts (draft section 4.5: "the minimum of the 4 most recent delay samples").
const RECENT: usize = 4;
/// Minutes over which the shortest is the path's own (RFC 6817 section 2.5, `BASE_HISTORY`; draft section 3.3: "the minimum
/// of all observed transmission delays over a 10-minute interval").
const MINUTES: usize = 10;
/// Each minute has its own shortest (RFC 6817 section 2.4.2, `update_base_delay`).
const MINUTE: Span = Span::from_s(60);

/// Round-trip times, the newest and the shortest.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueDelay {
    /// The newest samples, each at its number's remainder.
    recent: [Option<Span>; RECENT],
    /// Samples taken, up to where the count starts over.
    taken: usize,
    /// The shortest of each minute, at the minute's remainder; nothing if none was measured.
    shortest: [Option<Span>; MINUTES],
    /// Minute of the newest sample, from the run's start.
    minute: u64,
    base: Option<Span>,
}

impl QueueDelay {
    /// An acknowledgment measured a round-trip time.
    pub fn measure(&mut self, now: Time, rtt: Span) {
        self.turn_to(now.as_ps() / MINUTE.as_ps());
        let shortest = &mut self.shortest[(self.minute % MINUTES as u64) as usize];
        *shortest = Some(shortest.map_or(rtt, |least| least.min(rtt)));
        self.base = Some(self.base.map_or(rtt, |least| least.min(rtt)));
        self.recent[self.taken % RECENT] = Some(rtt);
        self.taken = self.taken.wrapping_add(1);
    }

    /// Minutes older than the last ten are forgotten.
    fn turn_to(&mut self, minute: u64) {
        if minute == self.minute {
            return;
        }
        let passed = minute.saturating_sub(self.minute).min(MINUTES as u64);
        for back in 0..passed {
            self.shortest[((minute - back) % MINUTES as u64) as usize] = None;
        }
        self.minute = minute;
        self.base = self.shortest.iter().copied().flatten().min();
    }

    /// The path's own round-trip time, without waiting; zero before the first sample.
    pub fn base(&self) -> Span {
        self.base.unwrap_or_default()
    }

    /// How long packets wait.
    pub fn waiting(&self) -> Span {
        let newest = self.recent.iter().copied().flatten().min().unwrap_or_default();
        Span::from_ps(newest.as_ps().saturating_sub(self.base().as_ps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(samples: &[(u64, u64)]) -> QueueDelay {
        let mut delay = QueueDelay::default();
        for (s, ms) in samples {
            delay.measure(Time::ZERO + Span::from_s(*s), Span::from_ms(*ms));
        }
        delay
    }

    #[test]
    fn the_shortest_of_the_newest_four_counts() {
        assert_eq!(measured(&[(0, 20), (1, 90), (1, 80), (1, 95)]).waiting(), Span::ZERO);
        assert_eq!(measured(&[(0, 20), (1, 90), (1, 80), (1, 95), (1, 99)]).waiting(), Span::from_ms(60));
        assert_eq!(
            measured(&[(0, 20), (1, 90), (1, 80), (1, 95), (1, 99), (1, 120)]).waiting(),
            Span::from_ms(60)
        );
    }

    #[test]
    fn a_single_delayed_acknowledgment_is_no_wait() {
        assert_eq!(measured(&[(0, 20), (0, 20), (0, 21), (0, 60)]).waiting(), Span::ZERO);
    }

    #[test]
    fn the_path_is_the_shortest_of_ten_minutes() {
        let path = |s: u64| measured(&[(30, 20), (100, 25), (s, 40)]).base();
        assert_eq!(path(599), Span::from_ms(20));
        assert_eq!(path(600), Span::from_ms(25), "the first minute is past");
        assert_eq!(path(660), Span::from_ms(40));
        assert_eq!(path(1_000_000), Span::from_ms(40), "all are past");
    }

    #[test]
    fn samples_from_before_a_long_silence_are_no_wait() {
        assert_eq!(measured(&[(0, 20), (1_000, 40)]).waiting(), Span::ZERO);
    }

    #[test]
    fn nothing_waits_before_the_first_sample() {
        assert_eq!((measured(&[]).base(), measured(&[]).waiting()), (Span::ZERO, Span::ZERO));
    }
}
