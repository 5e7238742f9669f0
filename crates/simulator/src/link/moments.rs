//! When a link's backlog is read for its percentiles.
//!
//! The measured window is divided into equal stretches, and the backlog is read at one random moment of each (jittered
//! sampling, whose expected error is below that of independent moments: arXiv:2008.12026). So the share of the moments at
//! which more than n packets wait has the share of the time as its mean, and differs from it by at most the number of
//! times that the backlog crosses n, over the number of moments. To count the time at each backlog would take 60
//! instructions a packet, a tenth of all.

use bufferlab_units::{Span, Stream, Time};

use crate::readings::Schedule;

/// Moments of a window, fewer if it is shorter than that many picoseconds.
const MOMENTS: u64 = 5_000;

/// The moments of a link that are still to come.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    stream: Stream,
    next: Time,
    /// The stretch after that of `next` begins.
    stretch: Time,
    length: Span,
    end: Time,
}

impl Moments {
    pub(crate) fn new(schedule: &Schedule, stream: Stream) -> Moments {
        let window = schedule.end - schedule.warmup;
        let length = Span::from_ps(window.as_ps().div_ceil(MOMENTS));
        let mut moments =
            Moments { stream, next: Time::NEVER, stretch: schedule.warmup, length, end: schedule.end };
        moments.pass();
        moments
    }

    /// The next one.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The next one is over.
    #[inline]
    pub(crate) fn pass(&mut self) {
        let moment = self.stretch + Span::from_ps(self.stream.below(self.length.as_ps()));
        self.next = if moment < self.end { moment } else { Time::NEVER };
        self.stretch += self.length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(warmup: u64, end: u64) -> Vec<u64> {
        let at = Time::from_ps;
        let schedule = Schedule { interval: Span::ZERO, warmup: at(warmup), end: at(end) };
        let mut moments = Moments::new(&schedule, Stream::new(1, 2, 3));
        std::iter::from_fn(|| {
            let next = moments.next();
            moments.pass();
            (next < Time::NEVER).then_some(next.as_ps())
        })
        .collect()
    }

    #[test]
    fn each_stretch_of_the_window_has_one_moment() {
        let found = moments(5_000_000, 10_000_000);
        let stretches: Vec<u64> = found.iter().map(|moment| (moment - 5_000_000) / 1_000).collect();
        assert_eq!(stretches, (0..MOMENTS).collect::<Vec<_>>());
        let offsets: Vec<u64> = found.iter().map(|moment| moment % 1_000).collect();
        let mean = offsets.iter().sum::<u64>() as f64 / offsets.len() as f64;
        // a standard error of 1000/sqrt(12 · 5000) = 4.1
        assert!((mean - 499.5).abs() < 17.0, "{mean}");
    }

    #[test]
    fn a_short_window_has_fewer() {
        assert_eq!(moments(10, 13), [10, 11, 12]);
        let found = moments(0, 7_500);
        assert!(found.len() == 3_750 && found.iter().all(|&moment| moment < 7_500), "{}", found.len());
    }
}
