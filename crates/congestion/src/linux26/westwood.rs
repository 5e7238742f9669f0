//! Westwood+ of Linux 2.6.22: bytes a millisecond, filtered twice, times the shortest round-trip time.

use bufferlab_units::Time;

use crate::bic::jiffies;

/// The rate is measured over at least this, ms (`TCP_WESTWOOD_RTT_MIN`).
const LEAST_WINDOW_MS: u64 = 50;
/// The round-trip time at first, ms (`TCP_WESTWOOD_INIT_RTT`).
const FIRST_RTT_MS: u64 = 20_000;
/// The least window, segments.
const MIN_WINDOW: u64 = 2;

#[derive(Clone, Debug)]
pub(super) struct Westwood {
    /// Smoothed round-trip time at the last new acknowledgment (`rtt`).
    pub(super) rtt_ms: u64,
    /// The shortest (`rtt_min`).
    least_ms: u64,
    /// It is to be set by the next one (`reset_rtt_min`).
    fresh: bool,
    /// Filtered once (`bw_ns_est`) and twice (`bw_est`), bytes/ms.
    rates: (u64, u64),
    /// Bytes since (`bk`), and since when (`rtt_win_sx`).
    bytes: u64,
    since_ms: u64,
    /// The first segment not acknowledged, as last seen (`snd_una`).
    una: u32,
    /// Bytes that duplicates stood for (`accounted`).
    accounted: u64,
    segment_bytes: u64,
}

impl Westwood {
    pub(super) fn new(wire_bytes: u32) -> Westwood {
        Westwood {
            rtt_ms: FIRST_RTT_MS,
            least_ms: FIRST_RTT_MS,
            fresh: true,
            rates: (0, 0),
            bytes: 0,
            since_ms: 0,
            una: 0,
            accounted: 0,
            segment_bytes: u64::from(wire_bytes.max(1)),
        }
    }

    pub(super) fn begin(&mut self, now: Time, una: u32) {
        (self.since_ms, self.una) = (jiffies(now), una);
    }

    /// An acknowledgment; `in_order` if nothing is suspected (`CA_EVENT_FAST_ACK`).
    pub(super) fn on_ack(&mut self, now: Time, una: u32, in_order: bool) {
        self.close_window(jiffies(now));
        let covered = u64::from(una.saturating_sub(self.una)) * self.segment_bytes;
        self.una = una;
        self.bytes += if in_order { covered } else { self.counted(covered) };
        self.least_ms =
            if std::mem::take(&mut self.fresh) { self.rtt_ms } else { self.least_ms.min(self.rtt_ms) };
    }

    /// `westwood_acked_count`: a duplicate stands for a segment, which is not counted once more when it is covered.
    fn counted(&mut self, covered: u64) -> u64 {
        let one = self.segment_bytes;
        if covered == 0 {
            self.accounted += one;
            return one;
        }
        if covered <= one {
            covered
        } else if self.accounted >= covered {
            self.accounted -= covered;
            one
        } else {
            covered - std::mem::take(&mut self.accounted)
        }
    }

    fn close_window(&mut self, now_ms: u64) {
        let elapsed = now_ms.saturating_sub(self.since_ms);
        if self.rtt_ms == 0 || elapsed <= self.rtt_ms.max(LEAST_WINDOW_MS) {
            return;
        }
        let rate = self.bytes / elapsed;
        self.rates = match self.rates {
            (0, 0) => (rate, rate),
            (once, twice) => {
                let once = (7 * once + rate) >> 3;
                (once, (7 * twice + once) >> 3)
            }
        };
        (self.bytes, self.since_ms) = (0, now_ms);
    }

    /// The window that keeps the link busy without a queue, segments.
    pub(super) fn needed(&self) -> u32 {
        let needed = self.rates.1.saturating_mul(self.least_ms) / self.segment_bytes;
        needed.clamp(MIN_WINDOW, u64::from(u32::MAX)) as u32
    }
}

#[cfg(test)]
mod tests {
    use bufferlab_units::Span;

    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    /// `westwood_acked_count`.
    #[test]
    fn duplicates_stand_for_segments_that_are_not_counted_again() {
        for (accounted, covered, counted, left) in [
            (0, 0, 1_000, 1_000),
            (3_000, 0, 1_000, 4_000),
            (3_000, 1_000, 1_000, 3_000),
            (3_000, 3_000, 1_000, 0),
            (3_000, 2_000, 1_000, 1_000),
            (3_000, 5_000, 2_000, 0),
            (0, 5_000, 5_000, 0),
        ] {
            let mut westwood = Westwood { accounted, ..Westwood::new(1_000) };
            assert_eq!(
                (westwood.counted(covered), westwood.accounted),
                (counted, left),
                "{accounted} {covered}"
            );
        }
    }

    /// `westwood_update_window`: over a round trip and 50 ms at least; "fill it with the first sample", then 7/8 are kept, twice.
    #[test]
    fn the_rate_is_measured_over_a_round_trip_and_filtered_twice() {
        for (rtt_ms, longest) in [(100, 100), (20, 50), (50, 50)] {
            let mut westwood = Westwood { rtt_ms, bytes: 90_000, ..Westwood::new(1_000) };
            westwood.close_window(longest);
            assert_eq!((westwood.rates, westwood.bytes), ((0, 0), 90_000), "{rtt_ms}");
            westwood.close_window(longest + 1);
            let rate = 90_000 / (longest + 1);
            assert_eq!((westwood.rates, westwood.bytes, westwood.since_ms), ((rate, rate), 0, longest + 1));
        }
        let mut westwood =
            Westwood { rtt_ms: 100, bytes: 160_000, rates: (800, 400), ..Westwood::new(1_000) };
        westwood.close_window(200);
        // 800 bytes a millisecond
        assert_eq!(westwood.rates, (800, (7 * 400 + 800) / 8));
        (westwood.bytes, westwood.since_ms) = (320_000, 200);
        westwood.close_window(400);
        assert_eq!(westwood.rates, (900, (7 * 450 + 900) / 8));
        let mut unknown = Westwood { rtt_ms: 0, bytes: 90_000, ..Westwood::new(1_000) };
        unknown.close_window(500);
        assert_eq!(unknown.rates, (0, 0));
    }

    /// `tcp_westwood_bw_rttmin`: the rate times the shortest round trip, in segments of the wire, two at least.
    #[test]
    fn the_window_needed_is_the_rate_times_the_shortest_round_trip() {
        let mut westwood = Westwood { rates: (0, 900), ..Westwood::new(1_500) };
        westwood.begin(at(0), 5);
        for (rtt_ms, least_ms, needed) in [(120, 120, 72), (90, 90, 54), (200, 90, 54), (1, 1, 2)] {
            westwood.rtt_ms = rtt_ms;
            westwood.on_ack(at(0), 5, true);
            assert_eq!((westwood.least_ms, westwood.needed()), (least_ms, needed));
        }
    }

    #[test]
    fn in_order_all_that_is_covered_counts_else_as_duplicates_say() {
        let mut westwood = Westwood::new(1_000);
        westwood.begin(at(3), 5);
        assert_eq!(westwood.since_ms, 3);
        westwood.on_ack(at(4), 8, true);
        assert_eq!((westwood.bytes, westwood.una), (3_000, 8));
        westwood.on_ack(at(4), 8, false);
        westwood.on_ack(at(4), 10, false);
        assert_eq!((westwood.bytes, westwood.accounted), (3_000 + 1_000 + 1_000, 0));
    }
}
