//! When a link that packets wait for carries nothing.

/// Shorter pauses are what hosts and radio links make of a steady flow, as they deliver some packets at once. Our choice.
const LEAST_NS: u64 = 20_000_000;
/// What comes together behind a pause comes within this. Our choice.
const LUMP_NS: u64 = 2_000_000;
/// A pause is none as long as what comes behind it fills this many times its length at the mean rate. Our choice.
const ALLOWED: f64 = 1.5;
/// Two full packets: receivers acknowledge every second one (RFC 5681 section 4.2).
const LEAST_BYTES: f64 = 3_000.0;
/// The link was idle in a window if its pauses are longer than this part of it. Our choice.
const IDLE: f64 = 0.25;

/// Pauses of one window: between the bytes that a link delivers, where these come in bursts.
///
/// Senders that send by turns fill the queue for a part of each window, so that packets are seen to wait, and leave the link idle for the
/// rest. What it carries in the window is then what they have to send.
#[derive(Clone, Debug, Default)]
pub(super) struct Pauses {
    last: u64,
    /// How long each was, when it ended, and the bytes that came right behind.
    found: Vec<(u64, u64, f64)>,
}

impl Pauses {
    /// A window begins.
    pub(super) fn begin(&mut self, at: u64) {
        self.last = at;
        self.found.clear();
    }

    /// Something is delivered.
    #[inline]
    pub(super) fn delivered(&mut self, now: u64, bytes: f64) {
        if bytes <= 0.0 {
            return;
        }
        if now.saturating_sub(self.last) >= LEAST_NS {
            self.found.push((now - self.last, now, 0.0));
        }
        if let Some((_, at, behind)) = self.found.last_mut()
            && now - *at <= LUMP_NS
        {
            *behind += bytes;
        }
        self.last = now;
    }

    /// Whether the link was idle for much of the window, which ends: its bytes came in bursts.
    pub(super) fn is_idle(&self, end: u64, width_ns: u64, bytes: f64) -> bool {
        let rest = (end.saturating_sub(self.last) >= LEAST_NS).then_some((end - self.last, end, 0.0));
        let ns_per_byte = width_ns as f64 / bytes.max(1.0);
        let idle_ns: f64 = self
            .found
            .iter()
            .copied()
            .chain(rest)
            .map(|(long_ns, _, behind)| {
                (long_ns as f64 - ALLOWED * behind.max(LEAST_BYTES) * ns_per_byte).max(0.0)
            })
            .sum();
        idle_ns > IDLE * width_ns as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A window of 100 ms in which a packet of 1500 bytes arrives at each of some milliseconds.
    fn is_idle(arrivals: &[u64]) -> bool {
        let mut pauses = Pauses::default();
        pauses.begin(1_000 * MS);
        for &at in arrivals {
            pauses.delivered((1_000 + at) * MS, 1_500.0);
        }
        pauses.is_idle(1_100 * MS, 100 * MS, 1_500.0 * arrivals.len() as f64)
    }

    #[test]
    fn a_link_is_idle_between_bursts() {
        let even: Vec<u64> = (0..100).collect();
        let burst: Vec<u64> = (20..50).collect();
        let by_turns: Vec<u64> = (0..20).chain(50..70).collect();
        let lumps: Vec<u64> = (0..100).map(|at| at / 25 * 25 + 2).collect();
        let found = [even, burst, by_turns, lumps].map(|arrivals| is_idle(&arrivals));
        assert_eq!(found, [false, true, true, false]);
    }

    #[test]
    fn packets_of_a_slow_link_are_far_apart() {
        assert!(!is_idle(&[10, 34, 58, 82]));
        // two late ones are acknowledged at once
        assert!(!is_idle(&[0, 12, 60, 60, 60, 60, 72, 84, 96]));
    }
}
