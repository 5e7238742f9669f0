//! A window that the receiver tunes: as large as twice what came in the last round trip, and room for slow start.
//!
//! Source: Linux 6.6 `net/ipv4/tcp_input.c`, read as behavior (`tcp_init_buffer_space`, `tcp_rcv_space_adjust`,
//! `tcp_grow_window`, `tcp_rcv_rtt_measure`), after W. Feng and M. Fisk's dynamic right-sizing (2001). Where it reckons in
//! bytes of memory, half of them are window, as in `tcp_win_from_space` with `tcp_adv_win_scale` = 1 (until 6.5) and
//! with the ratio of 50 % that is assumed before packets were seen (later).
//!
//! Departures:
//! - the application reads at once, and what is held out of order takes no room;
//! - payload is half of the memory that it takes, whatever the network card; from 6.6 on that is measured;
//! - with timestamps, the receiver's round-trip time is the sender's smoothed one, which data brings with it: Linux
//!   smooths samples of its own, from an acknowledgment to the data that it releases (`tcp_rcv_rtt_measure_ts`);
//! - no memory pressure.

use bufferlab_units::{Span, Time};

/// Window of the receive buffer that a connection begins with: half of `tcp_rmem[1]`, 131,072 bytes.
const INITIAL_BYTES: u64 = 65_536;
/// Largest window of a SYN, whose window field is not scaled.
const SYN_BYTES: u64 = 65_535;
/// `sysctl_rmem_max`, which the scale must be able to say, too.
const RMEM_MAX: u64 = 212_992;
/// Segments that make the first measure of what comes in a round trip: `TCP_INIT_CWND`.
const FIRST_SEGMENTS: u64 = 10;
/// Segments of room beside twice what came: "16 * advmss".
const SPARE_SEGMENTS: u64 = 16;
/// Bytes that the timestamp option takes from each announced segment.
const STAMP_BYTES: u64 = 12;

/// How a receiver's window is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TuningConfig {
    /// Payload of a segment, bytes.
    pub mss_bytes: u32,
    /// The largest window, bytes: half of `tcp_rmem[2]`, or 65,535 without window scaling.
    pub most_bytes: u64,
    /// Segments carry timestamps.
    pub timestamps: bool,
}

impl TuningConfig {
    /// The window at first, bytes (`tcp_select_initial_window`): whole segments, unscaled.
    fn first_bytes(self) -> u64 {
        let (space, mss) = (INITIAL_BYTES.min(self.most_bytes), u64::from(self.mss_bytes));
        let whole = if space > mss { space / mss * mss } else { space };
        whole.min(SYN_BYTES)
    }

    /// The window at first, segments.
    pub fn first_segments(self) -> u32 {
        ((self.first_bytes() / u64::from(self.mss_bytes)) as u32).max(1)
    }

    /// The announced segment size (`advmss`).
    fn announced_bytes(self) -> u64 {
        u64::from(self.mss_bytes) + if self.timestamps { STAMP_BYTES } else { 0 }
    }

    /// The window field's scale: with it, 16 bits can say the largest buffer.
    pub fn scale(self) -> u8 {
        if self.most_bytes <= SYN_BYTES {
            return 0;
        }
        let bits = (2 * self.most_bytes).max(RMEM_MAX).ilog2();
        bits.saturating_sub(15).min(14) as u8
    }

    /// Units of the window field.
    fn unit(self) -> u64 {
        1 << self.scale()
    }
}

/// The window of a receiver, as it tunes it. Names in parentheses are Linux's.
#[derive(Clone, Debug)]
pub(crate) struct Tuning {
    config: TuningConfig,
    /// The window that is advertised, bytes (`rcv_ssthresh`).
    window: u64,
    /// What the receive buffer has room for (`window_clamp`).
    clamp: u64,
    /// Bytes that came in the last measured round trip (`rcvq_space.space`).
    space: u64,
    /// In-order segments when this round trip began, and when that was (`rcvq_space.seq`, `.time`).
    round_start: u32,
    round_began: Time,
    /// The round-trip time (`rcv_rtt_est.rtt_us`); zero before it is known.
    rtt: Span,
    /// Without timestamps: where the current window ends, bytes, and when it began (`rcv_rtt_est.seq`, `.time`).
    window_end: u64,
    window_began: Option<Time>,
    /// In-order segments so far.
    next: u32,
    /// The window last advertised to the sender, segments.
    advertised: u32,
}

impl Tuning {
    pub(crate) fn new(config: TuningConfig) -> Tuning {
        let mut tuning = Tuning {
            config,
            window: 0,
            clamp: 0,
            space: 0,
            round_start: 0,
            round_began: Time::ZERO,
            rtt: Span::ZERO,
            window_end: 0,
            window_began: None,
            next: 0,
            advertised: 0,
        };
        tuning.restart(Time::ZERO, 0);
        tuning
    }

    /// A connection begins whose first segment is `next`; its first window, segments.
    pub(crate) fn restart(&mut self, now: Time, next: u32) -> u32 {
        let (first, config) = (self.config.first_bytes(), self.config);
        let space = first.min(FIRST_SEGMENTS * config.announced_bytes());
        let clamp = INITIAL_BYTES.min(config.most_bytes);
        *self =
            Tuning { window: first, clamp, space, round_start: next, round_began: now, next, ..self.clone() };
        (self.rtt, self.window_began, self.advertised) = (Span::ZERO, None, config.first_segments());
        self.advertised
    }

    /// A packet of `count` segments came, and all below `next` are there in order; its sender's smoothed round-trip time
    /// was `srtt`, if it had one. Before it is acknowledged.
    pub(crate) fn on_data(&mut self, now: Time, next: u32, count: u32, srtt: Option<Span>) {
        if next == self.next {
            return;
        }
        self.next = next;
        if self.config.timestamps {
            self.rtt = srtt.unwrap_or(self.rtt);
        } else {
            self.measure(now);
        }
        // `tcp_grow_window`: by twice what came, so that slow start finds room
        let bytes = u64::from(count) * u64::from(self.config.mss_bytes);
        let more = (2 * self.config.announced_bytes()).max(2 * bytes);
        self.window = (self.window + more).min(self.clamp).max(self.window);
    }

    /// `tcp_rcv_rtt_measure`: a window's bytes take a round trip or more.
    fn measure(&mut self, now: Time) {
        let received = u64::from(self.next) * u64::from(self.config.mss_bytes);
        if let Some(began) = self.window_began {
            if received < self.window_end {
                return;
            }
            let sample = (now - began).max(Span::from_us(1));
            self.rtt = if self.rtt == Span::ZERO { sample } else { self.rtt.min(sample) };
        }
        (self.window_end, self.window_began) = (received + self.window, Some(now));
    }

    /// The application has read all (`tcp_rcv_space_adjust`): once a round trip, the buffer has to have room for twice what
    /// came, and for twice the growth since the last.
    pub(crate) fn on_read(&mut self, now: Time) {
        if self.rtt == Span::ZERO || now.saturating_since(self.round_began) < self.rtt {
            return;
        }
        let copied = u64::from(self.next - self.round_start) * u64::from(self.config.mss_bytes);
        if copied > self.space {
            let room = 2 * copied + SPARE_SEGMENTS * self.config.announced_bytes();
            let grow = u128::from(room) * u128::from(copied - self.space) / u128::from(self.space.max(1));
            let room = u128::from(room) + 2 * grow;
            self.clamp = self.clamp.max(room.min(u128::from(self.config.most_bytes)) as u64);
            self.space = copied;
        }
        (self.round_start, self.round_began) = (self.next, now);
    }

    /// The window, segments, if it grew since the last time that this was asked.
    pub(crate) fn news(&mut self) -> Option<u32> {
        let field = self.window.next_multiple_of(self.config.unit());
        let segments = (field / u64::from(self.config.mss_bytes)).min(u64::from(u32::MAX)) as u32;
        let grown = segments > self.advertised;
        self.advertised = self.advertised.max(segments);
        grown.then_some(segments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1_448;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn tuning(most_bytes: u64, timestamps: bool) -> Tuning {
        Tuning::new(TuningConfig { mss_bytes: MSS, most_bytes, timestamps })
    }

    /// Segments come one after the other at a moment.
    fn receive(tuning: &mut Tuning, ms: u64, segments: u32) {
        for _ in 0..segments {
            tuning.on_data(at(ms), tuning.next + 1, 1, Some(Span::from_ms(100)));
            tuning.on_read(at(ms));
        }
    }

    /// 10, 20 and 40 segments in round trips of 100 ms; the numbers are worked out by hand.
    #[test]
    fn slow_start_finds_room() {
        let mut tuning = tuning(3 << 20, true);
        assert_eq!((tuning.window, tuning.advertised, tuning.space), (65_160, 45, 14_600));
        tuning.restart(at(0), 0);
        receive(&mut tuning, 50, 10);
        assert_eq!((tuning.window, tuning.clamp), (65_536, 65_536));
        // the first of 20 ends a round trip of 11 segments, 15,928 bytes: 2·15,928 + 16·1,460 = 55,216, and twice
        // 55,216·1,328/14,600 = 5,022 on top, 65,260, are less than there is
        receive(&mut tuning, 150, 20);
        assert_eq!((tuning.clamp, tuning.space), (65_536, 15_928));
        // the first of 40 ends one of 20, 28,960 bytes: 81,280 + 2·66,501 (81,280·13,032/15,928)
        receive(&mut tuning, 250, 1);
        assert_eq!((tuning.clamp, tuning.space, tuning.window), (214_282, 28_960, 65_536));
        // each of the others opens the window by 2·1,460 bytes
        receive(&mut tuning, 250, 39);
        assert_eq!(tuning.window, 65_536 + 39 * 2_920);
        // 179,416 bytes, advertised in units of 128 (2²² bytes and more take 22 − 15 bits): 179,456 are 123 segments
        assert_eq!((tuning.news(), tuning.news()), (Some(123), None));
    }

    /// `tcp_grow_window`: twice what came, and two segments at least.
    #[test]
    fn a_packet_opens_the_window_by_twice_its_bytes() {
        for (count, more) in [(1, 2_920), (4, 8 * 1_448), (10, 20 * 1_448)] {
            let mut tuning = tuning(3 << 20, true);
            (tuning.clamp, tuning.window) = (1 << 20, 100_000);
            tuning.on_data(at(0), count, count, None);
            assert_eq!(tuning.window, 100_000 + more);
        }
    }

    #[test]
    fn the_largest_window_is_never_passed() {
        for (most, segments) in [(3 << 20, 2_172), (65_535, 45), (8_000, 5)] {
            let mut tuning = tuning(most, true);
            for round in 0..20_u64 {
                receive(&mut tuning, 50 + 100 * round, 10 << round.min(12));
            }
            tuning.news();
            assert_eq!(tuning.advertised, segments, "{most}");
        }
    }

    #[test]
    fn a_steady_rate_needs_twice_its_round_trip() {
        let mut tuning = tuning(3 << 20, true);
        (0..50).for_each(|round| receive(&mut tuning, 50 + 100 * round, 100));
        // 100 segments: 2·144,800 + 16·1,460, and what the jump from 10 segments had added
        let least = 2 * 144_800 + 16 * 1_460;
        assert!(tuning.window >= least, "{}", tuning.window);
        let settled = tuning.window;
        (50..100).for_each(|round| receive(&mut tuning, 50 + 100 * round, 100));
        assert_eq!(tuning.window, settled);
    }

    #[test]
    fn without_timestamps_a_window_s_time_bounds_the_round_trip() {
        let mut tuning = tuning(3 << 20, false);
        receive(&mut tuning, 0, 1);
        assert_eq!(tuning.rtt, Span::ZERO, "nothing is known yet");
        // the window of 65,160 bytes has come with 45 segments more
        (1..=44).for_each(|ms| receive(&mut tuning, ms, 1));
        assert_eq!(tuning.rtt, Span::ZERO);
        receive(&mut tuning, 45, 1);
        assert_eq!(tuning.rtt, Span::from_ms(45));
        // a longer time says nothing
        (10..=110).for_each(|tens| receive(&mut tuning, 10 * tens, 1));
        assert_eq!(tuning.rtt, Span::from_ms(45));
    }
}
