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
