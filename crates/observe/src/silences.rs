//! When a sender has nothing to send: silences between bursts, as of on-off sources and video.

/// A shorter silence may be a retransmission timeout of one whose last packets were lost before the vantage point. Linux waits for as long
/// at least (`TCP_RTO_MIN`, include/net/tcp.h).
const LEAST_NS: u64 = 200_000_000;
/// It is longer, too, than such a number of round trips, each with what waits: what is sent next may be under way for one. Our choice.
const TRIPS: u64 = 2;
/// Two full packets take as long at 1.2 Mbit/s. Our choice.
const SOON_NS: u64 = 20_000_000;

/// A round trip: the longest of the last ones, and the smallest of all, ahead of the vantage point and behind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trip {
    pub(crate) longest_ns: u64,
    pub(crate) least_ns: [u64; 2],
}

/// Number, sum, and sum of squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) number: u32,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.number += 1;
        self.sum += value;
        self.squares += value * value;
    }

    /// Not a number of none.
    pub(crate) fn mean(&self) -> f64 {
        self.sum / f64::from(self.number)
    }

    /// The standard deviation.
    pub(crate) fn deviation(&self) -> f64 {
        let mean = self.mean();
        (self.squares / f64::from(self.number) - mean * mean).max(0.0).sqrt()
    }
}

/// How long it was, and the payload before it.
#[derive(Clone, Copy, Debug)]
struct Silence {
    long_ns: u64,
    before: u64,
}

/// The silences of one sender.
///
/// One begins when all that was sent is acknowledged. It ends with two segments in a row: after a timeout a sender has one under way, and
/// sends more only when that is acknowledged (RFC 5681 section 3.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Silences {
    /// When something was last sent, or acknowledged.
    last_ns: u64,
    /// New payload so far, and up to the last silence.
    bytes: u64,
    before: u64,
    /// A first segment behind a silence, and until when a second one may come.
    first: Option<(Silence, u64)>,
    /// How long they were, ns.
    pub(crate) times: Moments,
    /// Payload of the bursts between them.
    pub(crate) bursts: Moments,
}

impl Silences {
    /// Something is acknowledged.
    pub(crate) fn acknowledged(&mut self, now: u64) {
        self.last_ns = now;
    }

    /// A packet with new payload, which stands for some segments; `trip` if nothing else is under way, and round trips are known.
    pub(crate) fn sent(&mut self, now: u64, (payload, segments): (u64, u64), trip: Option<Trip>) {
        if let Some((silence, until)) = self.first.take()
            && now < until
        {
            self.end(silence);
        }
        let silent_ns = now.saturating_sub(self.last_ns);
        if let Some(trip) = trip
            && self.bytes > 0
            && silent_ns > LEAST_NS.max(TRIPS.saturating_mul(trip.longest_ns))
        {
            let [ahead_ns, behind_ns] = trip.least_ns;
            let silence = Silence { long_ns: silent_ns.saturating_sub(behind_ns), before: self.bytes };
            if segments > 1 {
                self.end(silence);
            } else {
                let soon_ns = ahead_ns.saturating_add(behind_ns).max(SOON_NS);
                self.first = Some((silence, now.saturating_add(soon_ns)));
            }
        }
        self.bytes += payload;
        self.last_ns = now;
    }

    fn end(&mut self, silence: Silence) {
        // what comes before the first is a start, as that of a video, which fills its buffer, or was cut
        if self.times.number > 0 {
            self.bursts.add((silence.before - self.before) as f64);
        }
        self.times.add(silence.long_ns as f64);
        self.before = silence.before;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const TRIP: Trip = Trip { longest_ns: 60 * MS, least_ns: [20 * MS, 10 * MS] };

    /// Of a sender that sends full segments at such milliseconds, each acknowledged before the next.
    fn silences(sent: &[u64]) -> Silences {
        let mut silences = Silences::default();
        for &at in sent {
            silences.sent((1_000 + at) * MS, (1_000, 1), Some(TRIP));
            silences.acknowledged((1_000 + at) * MS);
        }
        silences
    }

    #[test]
    fn a_silence_lies_between_bursts() {
        let found = silences(&[0, 1, 2, 3, 403, 404, 804, 805, 806, 807, 1_207, 1_208]);
        assert_eq!((found.times.number, found.bursts.number), (3, 2));
        assert_eq!((found.times.mean(), found.times.deviation()), (390e6, 0.0));
        assert_eq!((found.bursts.mean(), found.bursts.deviation()), (3_000.0, 1_000.0));
    }

    #[test]
    fn a_timeout_and_a_round_trip_are_none() {
        assert_eq!(silences(&[0, 1, 402, 462, 522]).times.number, 0);
        assert_eq!(silences(&[0, 190, 191, 380, 381]).times.number, 0);
        assert!(Silences::default().times.mean().is_nan());
    }

    #[test]
    fn nothing_is_known_while_packets_are_under_way() {
        let mut found = Silences::default();
        found.sent(MS, (1_000, 1), None);
        found.sent(900 * MS, (1_000, 2), None);
        assert_eq!(found.times.number, 0);
        found.sent(1_900 * MS, (1_000, 2), Some(TRIP));
        assert_eq!(found.times.number, 1);
    }
}
