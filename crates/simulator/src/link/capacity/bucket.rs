//! A token bucket before a faster line.
//!
//! As Linux's `tbf` (6.1 `net/sched/sch_tbf.c`, `tbf_dequeue`; `man tc-tbf`) with one bucket: a packet leaves once there are
//! tokens for its whole length, which it takes, and no more tokens than the burst are kept. Departures from it: the packet
//! whose turn it is waits for its tokens in the transmitter, as Linux's does behind a queue that cannot be peeked into
//! (`qdisc_peek_dequeued`), and is not counted as waiting; a packet larger than the burst waits for a full bucket and leaves
//! a debt, where Linux drops it.

use bufferlab_units::{Rate, Span, Time, TransmissionClock};

use super::{BYTE, Passage, Window};

/// A transmitter behind a token bucket.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    bps: i128,
    most: i128,
    /// Tokens at `at`; negative for a debt.
    tokens: i128,
    at: Time,
    line: TransmissionClock,
    /// Tokens when the window begins, once that is known.
    at_warmup: Option<i128>,
}

impl Bucket {
    pub(super) fn new(bps: u64, burst_bytes: u64, line_bps: u64) -> Bucket {
        let most = i128::from(burst_bytes) * BYTE.cast_signed();
        let line = Rate::from_bps(line_bps).expect("a checked plan has no rate of zero");
        Bucket {
            bps: bps.into(),
            most,
            tokens: most,
            at: Time::ZERO,
            line: TransmissionClock::new(line),
            at_warmup: None,
        }
    }

    fn tokens_at(&self, time: Time) -> i128 {
        (self.tokens + self.bps * i128::from((time - self.at).as_ps())).min(self.most)
    }

    pub(super) fn send(&mut self, now: Time, wire_bytes: u32, window: Window) -> Passage {
        let work = u128::from(wire_bytes) * BYTE;
        let lacking = work.cast_signed().min(self.most) - self.tokens_at(now);
        let wait = if lacking > 0 { (lacking + self.bps - 1) / self.bps } else { 0 };
        let starts = now.saturating_add(Span::from_ps(u64::try_from(wait).unwrap_or(u64::MAX)));
        if starts >= window.to {
            return Passage { departs: Time::NEVER, work: 0 };
        }
        if starts >= window.from && self.at_warmup.is_none() {
            self.at_warmup = Some(self.tokens_at(window.from));
        }
        (self.tokens, self.at) = (self.tokens_at(starts) - work.cast_signed(), starts);
        let departs = starts.saturating_add(self.line.next(wire_bytes));
        Passage { departs, work: if window.holds(starts) { work } else { 0 } }
    }

    /// What comes in the window and what was there when it began.
    pub(super) fn offered(&self, window: Window) -> u128 {
        let first = self.at_warmup.unwrap_or_else(|| self.tokens_at(window.from));
        let comes = self.bps * i128::from((window.to - window.from).as_ps());
        u128::try_from(first + comes).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;
    const ALL: Window = Window { from: Time::ZERO, to: Time::from_ps(1_000_000 * MS) };

    /// 3000 bytes at once at the line's 12 Mbit/s, 1 ms each; from then on 1500 bytes each 12 ms at 1 Mbit/s. The line
    /// carries the last bit 1 ms after the tokens are there.
    #[test]
    fn a_burst_leaves_at_the_line_rate_and_the_rest_at_the_bucket_s() {
        let mut bucket = Bucket::new(1_000_000, 3_000, 12_000_000);
        let mut now = Time::ZERO;
        let ends = [(); 4].map(|()| {
            now = bucket.send(now, 1_500, ALL).departs;
            now.as_ps() / MS
        });
        assert_eq!(ends, [1, 2, 13, 25]);
    }

    #[test]
    fn a_bucket_holds_no_more_than_its_burst() {
        let mut bucket = Bucket::new(1_000_000, 1_500, 12_000_000);
        assert_eq!(bucket.send(Time::from_ps(500 * MS), 1_500, ALL).departs, Time::from_ps(501 * MS));
        assert_eq!(bucket.send(Time::from_ps(501 * MS), 1_500, ALL).departs, Time::from_ps(513 * MS));
    }

    #[test]
    fn a_packet_larger_than_the_burst_waits_for_a_full_bucket_and_leaves_a_debt() {
        let mut bucket = Bucket::new(1_000_000, 1_000, 12_000_000);
        assert_eq!(bucket.send(Time::ZERO, 1_500, ALL).departs, Time::from_ps(MS));
        // 1000 bytes of tokens and 500 of debt: 12 ms from 0
        assert_eq!(bucket.send(Time::from_ps(MS), 1_500, ALL).departs, Time::from_ps(13 * MS));
    }

    /// Never more than what came and what was there.
    #[test]
    fn what_is_offered_holds_what_was_there() {
        let window = Window { from: Time::from_ps(100 * MS), to: Time::from_ps(200 * MS) };
        let mut bucket = Bucket::new(1_000_000, 3_000, 1_000_000_000);
        let (mut now, mut work) = (Time::ZERO, 0);
        while now < window.to {
            let passage = bucket.send(now, 500, window);
            (now, work) = (passage.departs, work + passage.work);
        }
        let offered = bucket.offered(window);
        assert!(work <= offered && work >= offered - 500 * BYTE, "{work} of {offered}");
        assert_eq!(Bucket::new(1_000_000, 3_000, 1_000_000_000).offered(window), (12_500 + 3_000) * BYTE);
    }
}
