//! Data that was sent but has not been seen yet: what a packet repeats, fills or leaves out.

/// Holes that are remembered; of a sender with more, the oldest is forgotten.
const MOST: usize = 64;
/// By how much identifications of packets that are sent at about the same time can differ. With random ones, one in 32 is as near.
const NEAR_IDS: u16 = 1_024;
/// Before a round trip is known, what comes within such a time after later data was not sent again: Wireshark's threshold (`tcp.analysis`,
/// "Out-Of-Order": 3 ms).
const SOON_NS: u64 = 3_000_000;

/// What a packet says of the time at which it was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) at: u64,
    pub(crate) identification: Option<u16>,
    pub(crate) stamp: Option<u32>,
    /// The longest of the flow's last round trips behind the vantage point.
    pub(crate) trip_ns: Option<u64>,
}

/// What data is that comes after later data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It fills a hole, and was sent before what followed that.
    Reordered,
    /// It fills a hole, and was sent again: the first copy was lost before the vantage point. The longest of the last round trips when the
    /// hole came to be, which is when the queue dropped.
    Repaired(Option<u64>),
    /// Such a number of its bytes was seen before.
    Repeated(u32),
}

/// Bytes that were passed over by later ones.
#[derive(Clone, Copy, Debug)]
struct Hole {
    start: u64,
    end: u64,
    /// The packet behind it.
    passed: Sent,
}

/// A sender's holes, in the order in which they came to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holes {
    holes: Vec<Hole>,
}

impl Holes {
    pub(crate) fn is_empty(&self) -> bool {
        self.holes.is_empty()
    }

    /// Data from `start` on was not seen, but what follows it at `end`.
    pub(crate) fn open(&mut self, start: u64, end: u64, passed: Sent) {
        if self.holes.len() == MOST {
            self.holes.remove(0);
        }
        self.holes.push(Hole { start, end, passed });
    }

    /// Bytes before `ack` that were never seen, although they arrived: the capture lost them. They are no holes any more.
    /// Those before `from` were sent before the capture began.
    pub(crate) fn acknowledge(&mut self, ack: u64, from: u64) -> u64 {
        let seen_of = |hole: &Hole| hole.end.min(ack).saturating_sub(hole.start.max(from));
        let lost = self.holes.iter().map(seen_of).sum();
        self.holes.retain_mut(|hole| {
            hole.start = hole.start.max(ack);
            hole.start < hole.end
        });
        lost
    }

    /// What a packet's data from `start` to `end` is, if all of it lies before the newest.
    ///
    /// A packet that fills a hole was reordered if it was sent before the packet that passed the hole: so say its timestamp, or else its
    /// identification, or else the time since then, which for a retransmission is at least a round trip of the whole path (S. Jaiswal and
    /// others, "Measurement and classification of out-of-sequence packets in a tier-1 IP backbone", IEEE/ACM Transactions on Networking 15(1), 2007, section III,
    /// with the same rules; RFC 4737 section 3.3 defines reordering by the order of sending). A hole that is filled in part stays.
    pub(crate) fn fill(&mut self, start: u64, end: u64, sent: Sent, round_trip: Option<u64>) -> Kind {
        let covered = |hole: &Hole| hole.end.min(end).saturating_sub(hole.start.max(start));
        let Some(first) = self.holes.iter().find(|hole| covered(hole) > 0) else {
            return Kind::Repeated((end - start) as u32);
        };
        let trip_ns = first.passed.trip_ns;
        let reordered = was_sent_before(sent, first.passed, round_trip.unwrap_or(SOON_NS));
        let filled: u64 = self.holes.iter().map(covered).sum();
        let mut rests = Vec::new();
        self.holes.retain_mut(|hole| {
            if covered(hole) > 0 {
                if hole.start < start && end < hole.end {
                    rests.push(Hole { start: end, ..*hole });
                    hole.end = start;
                } else if hole.start < start {
                    hole.end = start;
                } else {
                    hole.start = end;
                }
            }
            hole.start < hole.end
        });
        rests.truncate(MOST - self.holes.len().min(MOST));
        self.holes.append(&mut rests);
        match (end - start).saturating_sub(filled) {
            repeated if repeated > filled => Kind::Repeated(repeated as u32),
            _ if reordered => Kind::Reordered,
            _ => Kind::Repaired(trip_ns),
        }
    }
}

fn was_sent_before(one: Sent, other: Sent, round_trip: u64) -> bool {
    if let (Some(a), Some(b)) = (one.stamp, other.stamp)
        && a != b
    {
        return a.wrapping_sub(b).cast_signed() < 0;
    }
    if let (Some(a), Some(b)) = (one.identification, other.identification)
        && a != 0
        && b != 0
    {
        let after = a.wrapping_sub(b);
        let before = b.wrapping_sub(a);
        if after != 0 && after.min(before) <= NEAR_IDS {
            return before < after;
        }
    }
    one.at.saturating_sub(other.at) < round_trip
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(at: u64, identification: u16, stamp: Option<u32>) -> Sent {
        Sent { at, identification: Some(identification), stamp, trip_ns: Some(at) }
    }

    fn filled(passed: Sent, by: Sent, round_trip: Option<u64>) -> Kind {
        let mut holes = Holes::default();
        holes.open(100, 200, passed);
        let kind = holes.fill(100, 200, by, round_trip);
        assert!(holes.is_empty());
        kind
    }

    #[test]
    fn the_timestamp_decides_first() {
        assert_eq!(filled(sent(0, 5, Some(10)), sent(1, 9, Some(9)), None), Kind::Reordered);
        assert_eq!(filled(sent(0, 5, Some(u32::MAX)), sent(1, 4, Some(3)), None), Kind::Repaired(Some(0)));
    }

    #[test]
    fn then_the_identification() {
        assert_eq!(filled(sent(0, 1, Some(10)), sent(90_000_000, 65_530, Some(10)), None), Kind::Reordered);
        assert_eq!(filled(sent(0, 5, None), sent(1, 6, None), None), Kind::Repaired(Some(0)));
    }

    #[test]
    fn then_the_time() {
        assert_eq!(filled(sent(0, 0, None), sent(2_000_000, 0, None), None), Kind::Reordered);
        assert_eq!(filled(sent(0, 0, None), sent(4_000_000, 0, None), None), Kind::Repaired(Some(0)));
        assert_eq!(filled(sent(0, 0, None), sent(4_000_000, 30_000, None), Some(5_000_000)), Kind::Reordered);
    }

    #[test]
    fn what_lies_in_no_hole_is_repeated() {
        let mut holes = Holes::default();
        assert_eq!(holes.fill(0, 100, Sent::default(), None), Kind::Repeated(100));
        holes.open(100, 110, Sent::default());
        assert_eq!(holes.fill(100, 200, Sent::default(), None), Kind::Repeated(90));
    }

    #[test]
    fn a_part_leaves_the_rest() {
        let mut holes = Holes::default();
        holes.open(100, 400, Sent::default());
        holes.fill(200, 300, Sent::default(), None);
        assert_eq!(holes.acknowledge(150, 0), 50);
        assert_eq!(holes.acknowledge(1_000, 350), 50);
        assert!(holes.is_empty());
    }
}
