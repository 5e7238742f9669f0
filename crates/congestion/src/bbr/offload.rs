//! Segments that leave as one packet, for which the windows allow: the hosts' queues and cards hold three.
//!
//! Sources: Linux 5.10 to 6.12 `net/ipv4/tcp_bbr.c` (`bbr_tso_segs_goal`, `bbr_min_tso_segs`), read as behavior, for
//! version 1, which asks no network card: it counts on such packets where segments leave one by one as well;
//! draft-ietf-ccwg-bbr, `SetSendQuantum`, for version 3.

/// Version 1: a packet is what leaves in so much of a second (`sk_pacing_shift`: 2¹⁰).
const PACKETS_A_SECOND: f64 = 1024.0;
/// Bytes of it at most (`GSO_LEGACY_MAX_SIZE` less one and `MAX_TCP_HEADER`), and segments.
const MOST_BYTES: f64 = 65_215.0;
const MOST_SEGMENTS: f64 = 127.0;
/// It holds at least two segments, but one below this pace, bytes a second (`bbr_min_tso_rate`, 1.2 Mbit/s).
const LEAST_SEGMENTS: f64 = 2.0;
const LEAST_PACE: f64 = 150_000.0;
/// Version 3: what leaves in a millisecond, "64 `KBytes`" at most, two segments at least.
const QUANTUM_S: f64 = 1e-3;
const MOST_QUANTUM_BYTES: f64 = 65_536.0;
const LEAST_QUANTUM: f64 = 2.0;

/// Whether several segments may leave as one packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Offload {
    /// Payload of a segment, bytes, if so.
    mss_bytes: Option<f64>,
}

impl Offload {
    pub(super) fn new(mss_bytes: Option<u32>) -> Offload {
        Offload { mss_bytes: mss_bytes.map(f64::from) }
    }

    /// `send_quantum` at a pace in segments a second, segments.
    pub(super) fn send_quantum(self, pacing: f64) -> f64 {
        let quantum = |mss_bytes| (pacing * QUANTUM_S).min(MOST_QUANTUM_BYTES / mss_bytes).max(LEAST_QUANTUM);
        self.mss_bytes.map_or(1.0, quantum)
    }
}

/// `bbr_tso_segs_goal` at a pace in segments a second, each with a payload of `mss_bytes`. Neither a network card nor
/// `gso_max_segs` has a part in it.
pub(super) fn tso_goal(pacing: f64, mss_bytes: f64) -> f64 {
    let pace = pacing * mss_bytes;
    let least = if pace < LEAST_PACE { 1.0 } else { LEAST_SEGMENTS };
    let whole = ((pace / PACKETS_A_SECOND).min(MOST_BYTES) / mss_bytes) as u32;
    f64::from(whole).max(least).min(MOST_SEGMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments a second of 1448 bytes.
    fn pace(mbps: f64) -> f64 {
        mbps * 1e6 / 8.0 / 1448.0
    }

    #[test]
    fn linux_puts_a_millisecond_into_a_packet() {
        let goal = |mbps| tso_goal(pace(mbps), 1448.0);
        assert_eq!([1.0, 1.3, 10.0].map(goal), [1.0, 2.0, 2.0]);
        // 100 Mbit/s: 12207 bytes, 8.43 segments; 1 Gbit/s: more than 64 KB
        assert_eq!([100.0, 1_000.0].map(goal), [8.0, 45.0]);
        assert_eq!(tso_goal(1e9, 100.0), 127.0);
    }

    #[test]
    fn the_drafts_quantum_is_a_millisecond_too() {
        let quantum = |mbps| Offload::new(Some(1448)).send_quantum(pace(mbps));
        assert_eq!(quantum(1.0), 2.0);
        assert!((quantum(100.0) - 12_500.0 / 1448.0).abs() < 1e-9);
        assert_eq!(quantum(1_000.0), 65_536.0 / 1448.0);
    }

    #[test]
    fn one_by_one_the_drafts_quantum_is_a_segment() {
        assert_eq!(Offload::default().send_quantum(1e9), 1.0);
    }
}
