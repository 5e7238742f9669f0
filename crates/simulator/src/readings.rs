//! The moments at which a component's state is read: samples, the warm-up's end, the run's end.
//!
//! A component's state is constant between its events, so it is read lazily: at the first event at or after
//! a mark, before that event changes anything. Sampling therefore costs no events and cannot change a result.

use bufferlab_units::{Span, Time};

/// What is due at a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// When.
    pub(crate) time: Time,
    /// Take a sample.
    pub(crate) sample: bool,
    /// The warm-up ends.
    pub(crate) warmup: bool,
}

/// A component's marks, in order.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    next: Time,
    next_sample: Time,
    warmup: Time,
    /// Something is due at every moment.
    watched: bool,
}

/// What all components' marks have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkPlan {
    pub(crate) interval: Span,
    pub(crate) warmup: Time,
    pub(crate) end: Time,
}

impl MarkPlan {
    /// The marks of a component that takes part in the time series or not.
    pub(crate) fn marks(&self, sample: bool) -> Marks {
        let sampled = sample && self.interval > Span::ZERO;
        let next_sample = if sampled { Time::ZERO + self.interval } else { Time::NEVER };
        let mut marks = Marks { next: Time::ZERO, next_sample, warmup: self.warmup, watched: false };
        marks.settle(self.end);
        marks
    }
}

impl Marks {
    /// Whether a mark lies at or before `now` (or the run has ended).
    #[inline]
    pub(crate) fn due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Takes the next mark at or before `now`, none after the run's end.
    pub(crate) fn take(&mut self, now: Time, plan: &MarkPlan) -> Option<Mark> {
        let time = self.next_sample.min(self.warmup);
        if time > now || time > plan.end {
            return None;
        }
        let mark = Mark { time, sample: time == self.next_sample, warmup: time == self.warmup };
        if mark.sample {
            self.next_sample += plan.interval;
        }
        if mark.warmup {
            self.warmup = Time::NEVER;
        }
        self.settle(plan.end);
        Some(mark)
    }

    /// Whether the component wants to be asked at each of its events, beside the marks.
    pub(crate) fn watch(&mut self, watched: bool, plan: &MarkPlan) {
        self.watched = watched;
        self.settle(plan.end);
    }

    fn settle(&mut self, end: Time) {
        self.next = self.next_sample.min(self.warmup).min(end);
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
        let plan = MarkPlan { interval: Span::from_ps(10), warmup: at(20), end: at(30) };
        let mut marks = plan.marks(true);
        assert!(!marks.due(at(9)));
        let taken: Vec<_> = std::iter::from_fn(|| marks.take(Time::NEVER, &plan)).collect();
        let expected = [(10, true, false), (20, true, true), (30, true, false)];
        let expected = expected.map(|(ps, sample, warmup)| Mark { time: at(ps), sample, warmup });
        assert_eq!(taken, expected);
        assert!(marks.due(at(30)));
    }

    #[test]
    fn without_samples_only_the_warmup_is_a_mark() {
        let at = Time::from_ps;
        let plan = MarkPlan { interval: Span::from_ps(10), warmup: at(15), end: at(30) };
        let mut marks = plan.marks(false);
        assert_eq!(marks.take(at(14), &plan), None);
        assert!(marks.take(at(15), &plan).is_some_and(|mark| mark.warmup && !mark.sample));
        assert_eq!(marks.take(Time::NEVER, &plan), None);
    }
}
