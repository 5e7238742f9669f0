//! When a component's state is read: for samples, at the end of the warm-up, at the end of the run.
//!
//! A component's state is constant between its events, so it is read lazily: at the first event at or after the moment
//! of a reading, before that event changes anything. Sampling therefore adds no events and cannot change a result.

use bufferlab_units::{Span, Time};

/// A moment at which a component's state is read, and what for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// The moment.
    pub(crate) time: Time,
    /// For the time series.
    pub(crate) sample: bool,
    /// For the end of the warm-up.
    pub(crate) warmup: bool,
}

/// A component's readings still to come.
#[derive(Clone, Debug)]
pub(crate) struct Readings {
    next: Time,
    next_sample: Time,
    warmup: Time,
    /// The component wants to be asked at each of its events.
    watched: bool,
}

/// When all components are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    pub(crate) interval: Span,
    pub(crate) warmup: Time,
    pub(crate) end: Time,
}

impl Schedule {
    /// The readings of a component; `sample` if it takes part in the time series.
    pub(crate) fn readings(&self, sample: bool) -> Readings {
        let sampled = sample && self.interval > Span::ZERO;
        let next_sample = if sampled { Time::ZERO + self.interval } else { Time::NEVER };
        let mut readings = Readings { next: Time::ZERO, next_sample, warmup: self.warmup, watched: false };
        readings.settle(self.end);
        readings
    }

    /// Samples that a component in the time series gives.
    pub(crate) fn samples(&self) -> usize {
        let whole = (self.end - Time::ZERO).as_ps().checked_div(self.interval.as_ps());
        whole.unwrap_or(0) as usize
    }
}

impl Readings {
    /// Whether the component takes part in the time series.
    pub(crate) fn are_sampled(&self) -> bool {
        self.next_sample < Time::NEVER
    }

    /// Whether a reading is due at `now`, or the run has ended.
    #[inline]
    pub(crate) fn due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// The moment of the next reading.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next_sample.min(self.warmup)
    }

    /// Takes the next reading at or before `now`, none after the run's end.
    pub(crate) fn take(&mut self, now: Time, schedule: &Schedule) -> Option<Reading> {
        let time = self.next();
        if time > now || time > schedule.end {
            return None;
        }
        let reading = Reading { time, sample: time == self.next_sample, warmup: time == self.warmup };
        if reading.sample {
            self.next_sample += schedule.interval;
        }
        if reading.warmup {
            self.warmup = Time::NEVER;
        }
        self.settle(schedule.end);
        Some(reading)
    }

    /// Whether the component wants to be asked at each of its events, beside the readings.
    pub(crate) fn watch(&mut self, watched: bool, schedule: &Schedule) {
        self.watched = watched;
        self.settle(schedule.end);
    }

    fn settle(&mut self, end: Time) {
        self.next = self.next().min(end);
        if self.watched {
            self.next = Time::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_and_the_warmup_come_in_order_and_stop_at_the_end() {
        let at = Time::from_ps;
        let schedule = Schedule { interval: Span::from_ps(10), warmup: at(20), end: at(30) };
        let mut readings = schedule.readings(true);
        assert!(!readings.due(at(9)));
        let taken: Vec<_> = std::iter::from_fn(|| readings.take(Time::NEVER, &schedule)).collect();
        let expected = [(10, true, false), (20, true, true), (30, true, false)];
        let expected = expected.map(|(ps, sample, warmup)| Reading { time: at(ps), sample, warmup });
        assert_eq!(taken, expected);
        assert!(readings.due(at(30)));
    }

    #[test]
    fn without_samples_only_the_end_of_the_warmup_is_read() {
        let at = Time::from_ps;
        let schedule = Schedule { interval: Span::from_ps(10), warmup: at(15), end: at(30) };
        let mut readings = schedule.readings(false);
        assert_eq!(readings.take(at(14), &schedule), None);
        assert!(readings.take(at(15), &schedule).is_some_and(|reading| reading.warmup && !reading.sample));
        assert_eq!(readings.take(Time::NEVER, &schedule), None);
    }
}
