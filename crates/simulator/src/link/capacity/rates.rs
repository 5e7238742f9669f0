//! A rate that changes at given or random moments.

use bufferlab_units::{Span, Stream, Time};

use super::{Passage, Window};
use crate::plan::{CapacityPlan, MarkovState, RatePiece};

/// A stretch of time with one rate.
#[derive(Clone, Copy, Debug)]
struct Piece {
    from: Time,
    to: Time,
    bps: u64,
}

impl Piece {
    /// Work from `from` to its end.
    fn rest(self, from: Time) -> u128 {
        if self.to == Time::NEVER && self.bps > 0 {
            return u128::MAX;
        }
        u128::from(self.bps) * u128::from(self.to.saturating_since(from).as_ps())
    }

    fn within(self, window: Window, from: Time, to: Time) -> u128 {
        u128::from(self.bps) * window.overlap(from, to)
    }
}

/// What gives the pieces, one after the other.
#[derive(Clone, Debug)]
enum Source {
    Listed { pieces: Vec<RatePiece>, repeat_ps: u64, next: usize, base: Time },
    Markov { states: Vec<MarkovState>, state: usize, stream: Stream },
    Bursts { bps: u64, on: Span, off: (Span, Span), sends: bool, stream: Stream },
}

impl Source {
    /// The piece from `from`, where the last one ended.
    fn next(&mut self, from: Time) -> Piece {
        match self {
            Source::Listed { pieces, repeat_ps, next, base } => {
                let bps = pieces[*next].rate_bps;
                *next += 1;
                let to = match pieces.get(*next) {
                    Some(piece) => base.saturating_add(Span::from_ps(piece.at_ps)),
                    None if *repeat_ps == 0 => Time::NEVER,
                    None => {
                        *base = base.saturating_add(Span::from_ps(*repeat_ps));
                        *next = 0;
                        *base
                    }
                };
                Piece { from, to, bps }
            }
            Source::Markov { states, state, stream } => {
                let MarkovState { rate_bps, stay_ps } = states[*state];
                let stay = stream.exponential_span(Span::from_ps(stay_ps));
                let up = stream.bits() >> 63 == 1;
                let last = states.len() - 1;
                *state = match *state {
                    0 => 1,
                    state if state == last || !up => state - 1,
                    state => state + 1,
                };
                Piece { from, to: from.saturating_add(stay), bps: rate_bps }
            }
            Source::Bursts { bps, on, off, sends, stream } => {
                let (length, bps) = if *sends { (*on, *bps) } else { (stream.uniform_span(off.0, off.1), 0) };
                *sends = !*sends;
                Piece { from, to: from.saturating_add(length), bps }
            }
        }
    }
}

/// A transmitter with a rate that changes.
#[derive(Clone, Debug)]
pub(super) struct Rates {
    start: Source,
    source: Source,
    /// The piece of the last packet's end, or the next in which a packet may be taken.
    piece: Piece,
    /// Work of the packets sent that is still to be done.
    owed: u128,
}

impl Rates {
    pub(super) fn new(plan: &CapacityPlan, stream: Stream) -> Rates {
        let mut source = match plan {
            CapacityPlan::Rates { pieces, repeat_ps } => {
                Source::Listed { pieces: pieces.clone(), repeat_ps: *repeat_ps, next: 0, base: Time::ZERO }
            }
            CapacityPlan::Markov { states } => Source::Markov { states: states.clone(), state: 0, stream },
            CapacityPlan::Bursts { rate_bps, on_ps, off_low_ps, off_high_ps } => Source::Bursts {
                bps: *rate_bps,
                on: Span::from_ps(*on_ps),
                off: (Span::from_ps(*off_low_ps), Span::from_ps(*off_high_ps)),
                sends: false,
                stream,
            },
            CapacityPlan::Opportunities { .. } | CapacityPlan::Bucket { .. } => {
                unreachable!("these are no rates over time")
            }
        };
        let start = source.clone();
        let piece = source.next(Time::ZERO);
        Rates { start, source, piece, owed: 0 }
    }

    fn advance(&mut self) {
        self.piece = self.source.next(self.piece.to);
    }

    /// The first moment from `now` on with a rate; never if that is not before `end`.
    pub(super) fn ready(&mut self, now: Time, end: Time) -> Time {
        while self.piece.to <= now || self.piece.bps == 0 {
            if self.piece.to >= end {
                return Time::NEVER;
            }
            self.advance();
        }
        self.piece.from.max(now)
    }

    pub(super) fn send(&mut self, now: Time, work: u128, window: Window) -> Passage {
        let (mut at, mut left, mut within) = (now, self.owed + work, 0);
        loop {
            let rest = self.piece.rest(at);
            if left <= rest && self.piece.bps > 0 {
                let bps = u128::from(self.piece.bps);
                let departs = at.saturating_add(Span::from_ps(u64::try_from(left / bps).unwrap_or(u64::MAX)));
                self.owed = left % bps;
                return Passage { departs, work: within + self.piece.within(window, at, departs) };
            }
            within += self.piece.within(window, at, self.piece.to);
            if self.piece.to >= window.to {
                return Passage { departs: Time::NEVER, work: within };
            }
            left -= rest;
            at = self.piece.to;
            self.advance();
        }
    }

    pub(super) fn offered(&self, window: Window) -> u128 {
        let mut source = self.start.clone();
        let (mut sum, mut at) = (0, Time::ZERO);
        while at < window.to {
            let piece = source.next(at);
            sum += piece.within(window, at, piece.to);
            at = piece.to;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::capacity::BYTE;

    const S: u64 = 1_000_000_000_000;
    const ALL: Window = Window { from: Time::ZERO, to: Time::from_ps(1_000 * S) };

    fn listed(pieces: &[(u64, u64)], repeat_ps: u64) -> Rates {
        let pieces = pieces.iter().map(|&(at_ps, rate_bps)| RatePiece { at_ps, rate_bps }).collect();
        Rates::new(&CapacityPlan::Rates { pieces, repeat_ps }, Stream::new(1, 2, 3))
    }

    /// 1000 bytes: half a second at 8 kbit/s, then the other half at twice that.
    #[test]
    fn a_packet_goes_on_at_the_new_rate() {
        let mut rates = listed(&[(0, 8_000), (S / 2, 16_000)], 0);
        let passage = rates.send(Time::ZERO, 1_000 * BYTE, ALL);
        assert_eq!(passage, Passage { departs: Time::from_ps(3 * S / 4), work: 1_000 * BYTE });
    }

    #[test]
    fn a_packet_waits_through_an_outage() {
        let mut rates = listed(&[(0, 8_000), (S / 2, 0), (10 * S, 8_000)], 0);
        assert_eq!(rates.send(Time::ZERO, 1_000 * BYTE, ALL).departs, Time::from_ps(21 * S / 2));
        let mut rates = listed(&[(0, 8_000), (S / 2, 0), (10 * S, 8_000)], 0);
        assert_eq!(rates.ready(Time::from_ps(S), ALL.to), Time::from_ps(10 * S));
        assert_eq!(rates.ready(Time::from_ps(2 * S), ALL.to), Time::from_ps(10 * S), "asked twice");
    }

    #[test]
    fn pieces_repeat() {
        let mut rates = listed(&[(0, 8_000), (S, 0)], 2 * S);
        let mut ends = Vec::new();
        let mut now = Time::ZERO;
        for _ in 0..3 {
            now = rates.ready(now, ALL.to);
            now = rates.send(now, 1_000 * BYTE, ALL).departs;
            ends.push(now.as_ps() / S);
        }
        assert_eq!(ends, [1, 3, 5]);
        assert_eq!(rates.offered(ALL), 500 * 1_000 * BYTE);
    }

    /// Only what lies in the window counts.
    #[test]
    fn work_is_cut_at_the_edges_of_the_window() {
        let window = Window { from: Time::from_ps(S / 4), to: Time::from_ps(S) };
        let mut rates = listed(&[(0, 8_000)], 0);
        assert_eq!(rates.send(Time::ZERO, 1_000 * BYTE, window).work, 750 * BYTE);
        assert_eq!(rates.send(Time::from_ps(S), 1_000 * BYTE, window).work, 0);
        assert_eq!(rates.offered(window), 750 * BYTE);
    }

    /// Of a birth-and-death chain whose inner states go up and down alike, a visit to an inner state is twice as frequent
    /// as one to an end: shares of time 1·1 : 2·2 : 1·3 of stays of 1, 2 and 3 s.
    #[test]
    fn a_markov_rate_has_its_stationary_mean() {
        let state = |mbps: u64, stay_s: u64| MarkovState { rate_bps: mbps * 1_000_000, stay_ps: stay_s * S };
        let states = vec![state(0, 1), state(10, 2), state(40, 3)];
        let mean = (4.0 * 10e6 + 3.0 * 40e6) / 8.0;
        let window = Window { from: Time::ZERO, to: Time::from_ps(200_000 * S) };
        let rates = Rates::new(&CapacityPlan::Markov { states }, Stream::new(5, 6, 7));
        let found = rates.offered(window) as f64 / (200_000.0 * S as f64);
        // some 50,000 cycles of 8 s with a deviation of about 40 % of the mean each
        assert!((found / mean - 1.0).abs() < 0.01, "{found} of {mean}");
    }

    #[test]
    fn bursts_send_for_their_share_of_the_time() {
        let plan = CapacityPlan::Bursts {
            rate_bps: 100_000_000,
            on_ps: S / 1_000,
            off_low_ps: S / 1_000,
            off_high_ps: 5 * S / 1_000,
        };
        let mut rates = Rates::new(&plan, Stream::new(8, 9, 10));
        let first = rates.ready(Time::ZERO, ALL.to).as_ps();
        assert!((S / 1_000..5 * S / 1_000).contains(&first), "{first}");
        let found = rates.offered(ALL) as f64 / (1_000.0 * S as f64);
        // 1 ms of 4 ms on average; 250,000 cycles
        assert!((found / 25e6 - 1.0).abs() < 0.01, "{found}");
    }
}
