//! Packets in groups, and how the delay changes from one to the next: draft-ietf-rmcat-gcc-02 sections 5.1 and 5.2.

use bufferlab_units::{Span, Time};

use super::ms;

/// > A sequence of packets which are sent within a `burst_time` interval constitute a group.
///
/// Section 5.6: 5 ms.
const BURST_TIME: Span = Span::from_ms(5);

#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    /// T(i): when its last packet left.
    last_sent: Time,
    /// t(i): when its last packet came.
    last_at: Time,
}

/// A group that is complete, beside the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Change {
    /// d(i) = t(i) − t(i−1) − (T(i) − T(i−1)), ms.
    pub(super) d_ms: f64,
    /// T(i) − T(i−1), ms.
    pub(super) sent_gap_ms: f64,
    /// t(i).
    pub(super) at: Time,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    current: Option<Group>,
    before: Option<Group>,
}

impl Groups {
    /// A packet has come. If it begins a group, the one before is complete.
    pub(super) fn add(&mut self, sent: Time, at: Time) -> Option<Change> {
        let begun = Group { first_sent: sent, last_sent: sent, last_at: at };
        let Some(current) = &mut self.current else {
            self.current = Some(begun);
            return None;
        };
        if sent < current.last_sent {
            // "Any packets received out of order are ignored by the arrival-time model."
            return None;
        }
        if current.takes(sent, at) {
            (current.last_sent, current.last_at) = (sent, at);
            return None;
        }
        let done = std::mem::replace(current, begun);
        self.before.replace(done).map(|before| done.after(&before))
    }
}

impl Group {
    fn takes(&self, sent: Time, at: Time) -> bool {
        let between = at.saturating_since(self.last_at);
        let is_late_burst = between < BURST_TIME && between < sent - self.last_sent;
        sent - self.first_sent <= BURST_TIME || is_late_burst
    }

    fn after(&self, before: &Group) -> Change {
        let sent_gap_ms = ms(self.last_sent - before.last_sent);
        Change {
            d_ms: ms(self.last_at.saturating_since(before.last_at)) - sent_gap_ms,
            sent_gap_ms,
            at: self.last_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    fn changes(packets: &[(u64, u64)]) -> Vec<(f64, f64)> {
        let mut groups = Groups::default();
        let found = packets.iter().filter_map(|&(sent, at)| groups.add(time(sent), time(at)));
        let rounded = |ms: f64| (ms * 1e6).round() / 1e6;
        found.map(|change| (rounded(change.d_ms), rounded(change.sent_gap_ms))).collect()
    }

    #[test]
    fn what_leaves_within_5_ms_is_one_group() {
        // groups that leave at 0 to 4, 20 to 25 and 40 ms, and come 50, 58 and 50 ms later
        let packets = [(0, 50), (4, 54), (20, 75), (25, 83), (40, 90), (60, 110)];
        assert_eq!(changes(&packets), [(8.0, 21.0), (-8.0, 15.0)]);
    }

    #[test]
    fn what_comes_in_a_burst_after_an_outage_is_one_group() {
        // nothing comes until 200 ms, then all at once: one step of the delay, and none back
        let packets = [(0, 50), (20, 70), (40, 200), (60, 201), (80, 202), (200, 250), (220, 270)];
        assert_eq!(changes(&packets), [(0.0, 20.0), (72.0, 60.0), (-72.0, 120.0)]);
    }

    #[test]
    fn what_comes_out_of_order_is_ignored() {
        assert_eq!(changes(&[(0, 50), (20, 70), (10, 75), (40, 90), (60, 110)]), [(0.0, 20.0), (0.0, 20.0)]);
    }
}
