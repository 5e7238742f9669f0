//! The link's rate from what it carries while packets wait for it.

use super::pauses::Pauses;
use super::rates::{Cluster, Rates};

/// A window is faster than a rate if it carries that many times as much: packets cross windows' edges. Our choice.
const FASTER: f64 = 1.15;

/// Bytes by windows of one width, and the rates of those in which a queue stood.
///
/// A link with a standing queue sends all the time, so what leaves it in a window is its rate, up to a packet at both ends. That is what the
/// vantage point sees if the queue is behind, and what receivers acknowledge if it is ahead (there the packets that are seen fill the queue,
/// too). Acknowledged payload counts with the headers of the packets that are seen. It errs downward where traffic that the vantage point
/// does not see shares the link, and each way in windows that are not much longer than a round trip: a repaired loss
/// acknowledges much at once. Windows in which the link was idle for a while do not count, though packets waited in the rest.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    width_ns: u64,
    /// The window that is open; `None` before the first.
    index: Option<u64>,
    /// In it: bytes that are seen, bytes that arrived; samples, and those that show a queue with what they waited, ahead and behind.
    seen_bytes: f64,
    delivered_bytes: f64,
    samples: [u32; 2],
    queued: [u32; 2],
    queued_ns: [u64; 2],
    /// What arrived in windows with a queue ahead, and what was seen in those with one behind.
    delivered: Rates,
    seen: Rates,
    /// The same of all windows, with a queue or without.
    all: [Rates; 2],
    /// The sum over windows with a queue of what is waited in the mean, ahead and behind.
    standing_ns: [f64; 2],
    highest_bps: f64,
    /// Whether the open window was seen from its beginning.
    is_whole: bool,
    now: u64,
    /// In the open window, of what arrives and of what is seen; and how many windows with a queue are not of a link that always sent.
    pauses: [Pauses; 2],
    idle: [u64; 2],
}

impl Windows {
    pub(crate) fn new(width_ns: u64) -> Windows {
        Windows {
            width_ns,
            index: None,
            seen_bytes: 0.0,
            delivered_bytes: 0.0,
            samples: [0; 2],
            queued: [0; 2],
            queued_ns: [0; 2],
            delivered: Rates::default(),
            seen: Rates::default(),
            all: [0; 2].map(|_| Rates::default()),
            standing_ns: [0.0; 2],
            highest_bps: 0.0,
            is_whole: false,
            now: 0,
            pauses: [0, 1].map(|_| Pauses::default()),
            idle: [0; 2],
        }
    }

    /// Time goes on; windows of the past are closed. The first one, which has no beginning, does not count.
    #[inline]
    pub(crate) fn advance(&mut self, now: u64) {
        let index = now / self.width_ns;
        self.now = now;
        if self.index == Some(index) {
            return;
        }
        if self.index.is_some() {
            self.close();
        }
        self.is_whole = self.index.is_some();
        (self.seen_bytes, self.delivered_bytes) = (0.0, 0.0);
        (self.samples, self.queued, self.queued_ns) = ([0; 2], [0; 2], [0; 2]);
        self.index = Some(index);
        self.pauses.iter_mut().for_each(|each| each.begin(index * self.width_ns));
    }

    /// Bytes on the wire; those of TCP arrive only when they are acknowledged.
    #[inline]
    pub(crate) fn seen(&mut self, bytes: f64, is_tcp: bool) {
        self.seen_bytes += bytes;
        self.pauses[1].delivered(self.now, bytes);
        if !is_tcp {
            self.delivered(bytes);
        }
    }

    /// Acknowledged bytes, with their headers.
    pub(crate) fn delivered(&mut self, bytes: f64) {
        self.delivered_bytes += bytes;
        self.pauses[0].delivered(self.now, bytes);
    }

    /// A round trip, which says whether a queue stood ahead (0) or behind (1), and for how long a packet waited in it.
    pub(crate) fn sample(&mut self, place: usize, queued_ns: Option<u64>) {
        self.samples[place] += 1;
        self.queued[place] += u32::from(queued_ns.is_some());
        self.queued_ns[place] = self.queued_ns[place].saturating_add(queued_ns.unwrap_or(0));
    }

    /// Windows with a standing queue ahead, or behind.
    pub(crate) fn queued_windows(&self, is_ahead: bool) -> u64 {
        if is_ahead { &self.delivered } else { &self.seen }.total()
    }

    /// Windows in which a queue was seen there though the link was idle for much of them.
    pub(crate) fn idle_windows(&self, is_ahead: bool) -> u64 {
        self.idle[usize::from(!is_ahead)]
    }

    /// What is waited ahead and behind, summed over the windows in which a queue stands there.
    pub(crate) fn standing_ns(&self) -> [f64; 2] {
        self.standing_ns
    }

    /// The rate that most windows with a queue have: of what arrived (a queue ahead), or of what was seen.
    pub(crate) fn plateau(&self, is_ahead: bool) -> Option<Cluster> {
        if is_ahead { &self.delivered } else { &self.seen }.cluster()
    }

    /// The rate that most others have.
    pub(crate) fn second(&self, is_ahead: bool) -> Option<Cluster> {
        if is_ahead { &self.delivered } else { &self.seen }.second()
    }

    /// Windows in which more arrived (a queue ahead), or more was seen, than a link of this rate carries.
    pub(crate) fn faster_windows(&self, is_ahead: bool, rate_bps: f64) -> u64 {
        self.all[usize::from(!is_ahead)].above(FASTER * rate_bps)
    }

    /// The rate that most of all windows have, with a queue or without, and how many these are.
    pub(crate) fn steady(&self, is_ahead: bool) -> (Option<Cluster>, u64) {
        let all = &self.all[usize::from(!is_ahead)];
        (all.cluster(), all.total())
    }

    /// The highest rate of a window, with or without a queue; zero if there is no whole window.
    pub(crate) fn highest_bps(&self) -> f64 {
        self.highest_bps
    }

    fn close(&mut self) {
        if !self.is_whole {
            return;
        }
        let rate = |bytes: f64| bytes * 8e9 / self.width_ns as f64;
        self.highest_bps = self.highest_bps.max(rate(self.seen_bytes));
        let end = self.index.map_or(0, |index| (index + 1) * self.width_ns);
        let sides = [(&mut self.delivered, self.delivered_bytes), (&mut self.seen, self.seen_bytes)];
        for (place, (rates, bytes)) in sides.into_iter().enumerate() {
            self.all[place].add(rate(bytes));
            let [samples, queued] = [self.samples[place], self.queued[place]];
            if samples == 0 || queued * 2 < samples {
                continue;
            }
            self.standing_ns[place] += self.queued_ns[place] as f64 / f64::from(queued);
            if self.pauses[place].is_idle(end, self.width_ns, bytes) {
                self.idle[place] += 1;
            } else {
                rates.add(rate(bytes));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_with_a_queue_show_the_rate() {
        for (place, other, bps) in [(1, 0, 8e12), (0, 1, 7.2e12)] {
            let mut windows = Windows::new(100);
            for now in 0..1_000 {
                windows.advance(now);
                // the queue stands in all windows but 100..200 and 200..300
                let is_queued = !(100..300).contains(&now);
                windows.seen(if is_queued { 1_000.0 } else { 500.0 }, true);
                windows.delivered(900.0);
                windows.sample(place, is_queued.then_some(now % 3));
                windows.sample(other, None);
            }
            // neither the first window nor the last, which is open, counts
            assert_eq!((windows.queued_windows(place == 0), windows.queued_windows(place == 1)), (6, 0));
            let plateau = windows.plateau(place == 0).unwrap();
            assert_eq!((plateau.rate_bps, plateau.error_bps, plateau.share), (bps, 0.0, 1.0));
            assert_eq!(windows.plateau(place == 1), None);
            let standing_ns = windows.standing_ns();
            assert!((standing_ns[place] - 6.0).abs() < 0.1 && standing_ns[other] == 0.0, "{standing_ns:?}");
            assert_eq!(windows.highest_bps(), 8e12);
            // by a tenth windows scatter
            let faster = |times: f64| windows.faster_windows(place == 0, bps / times);
            assert_eq!((faster(1.1), faster(1.2)), (0, if place == 1 { 6 } else { 8 }));
        }
    }

    #[test]
    fn times_that_cannot_be_add_up_to_something() {
        let mut windows = Windows::new(100);
        for now in [0, 100, 101, 200] {
            windows.advance(now);
            windows.sample(0, Some(u64::MAX));
        }
        assert!(windows.standing_ns()[0].is_finite());
    }
}
