//! The largest bandwidth of the last rounds, as Linux remembers it.
//!
//! Source: Linux 6.12 `lib/win_minmax.c` (`minmax_running_max`, `minmax_subwin_update`), read as behavior: the best
//! value, the best after it, and the best after that, so that a value is forgotten after the window and not before, and
//! those that follow it are about a quarter and half a window younger.

/// A value and the round in which it was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    round: u64,
    value: f64,
}

/// The largest value of the last `WINDOW` rounds and the running one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunningMax<const WINDOW: u64> {
    /// The best three, the oldest first.
    best: [Seen; 3],
    /// The round that is running.
    round: u64,
    /// A smaller value in this round changes nothing.
    settled: bool,
}

impl<const WINDOW: u64> RunningMax<WINDOW> {
    /// Takes a value of a round, which never falls.
    pub(super) fn update(&mut self, round: u64, value: f64) {
        let seen = Seen { round, value };
        self.round = round;
        let [first, second, third] = &mut self.best;
        if value >= first.value || round - third.round > WINDOW {
            (self.best, self.settled) = ([seen; 3], true);
            return;
        }
        if value >= second.value {
            (*second, *third) = (seen, seen);
        } else if value >= third.value {
            *third = seen;
        }
        self.settled = !self.age(seen);
    }

    /// Makes room for what is younger; returns whether something changed.
    fn age(&mut self, seen: Seen) -> bool {
        let [first, second, third] = &mut self.best;
        let age = seen.round - first.round;
        if age > WINDOW {
            (*first, *second, *third) = (*second, *third, seen);
            if seen.round - first.round > WINDOW {
                (*first, *second, *third) = (*second, *third, seen);
            }
        } else if second.round == first.round && age > WINDOW / 4 {
            (*second, *third) = (seen, seen);
        } else if third.round == second.round && age > WINDOW / 2 {
            *third = seen;
        } else {
            return false;
        }
        true
    }

    /// What a value of this round must reach to change anything, if something is known of that round.
    pub(super) fn least_news(&self, round: u64) -> Option<f64> {
        (round == self.round && self.settled).then_some(self.best[2].value)
    }

    pub(super) fn best(&self) -> f64 {
        self.best[0].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(values: &[(u64, f64)]) -> Vec<f64> {
        let mut filter = RunningMax::<10>::default();
        let best = values.iter().map(|&(round, value)| {
            filter.update(round, value);
            filter.best()
        });
        best.collect()
    }

    #[test]
    fn a_value_is_forgotten_when_the_window_has_passed() {
        let falling: Vec<_> = (1..=14).map(|round| (round, 100.0 - round as f64)).collect();
        // until round 11 that of round 1; then that of the second quarter, and of the last half
        assert_eq!(after(&falling)[..11], [99.0; 11]);
        assert_eq!(after(&falling)[11..], [96.0, 96.0, 96.0]);
    }

    #[test]
    fn a_larger_value_makes_all_before_it_needless() {
        assert_eq!(after(&[(1, 5.0), (2, 7.0), (12, 1.0), (13, 1.0)]), [5.0, 7.0, 7.0, 1.0]);
    }

    #[test]
    fn what_a_smaller_value_does_not_change_is_known() {
        let mut filter = RunningMax::<10>::default();
        filter.update(1, 8.0);
        assert_eq!((filter.least_news(1), filter.least_news(2)), (Some(8.0), None));
        filter.update(2, 3.0);
        let before = filter;
        filter.update(2, 2.0);
        assert_eq!(format!("{before:?}"), format!("{filter:?}"));
    }

    /// `minmax_subwin_update`: after a quarter of the window a second choice is taken, after half of it a third one.
    #[test]
    fn younger_choices_are_taken_after_a_quarter_and_half_of_the_window() {
        let choices = |rounds: &[(u64, f64)]| {
            let mut filter = RunningMax::<10>::default();
            for &(round, value) in rounds {
                filter.update(round, value);
            }
            filter.best.map(|seen| seen.round)
        };
        // a quarter is two whole rounds, half of it five
        assert_eq!(choices(&[(1, 9.0), (3, 5.0)]), [1, 1, 1]);
        assert_eq!(choices(&[(1, 9.0), (4, 5.0), (6, 4.0)]), [1, 4, 4]);
        let after = |round, value| choices(&[(1, 9.0), (4, 5.0), (7, 4.0), (round, value)]);
        assert_eq!(after(8, 3.0), [1, 4, 7]);
        assert_eq!(
            [after(8, 4.0), after(8, 5.0), after(8, 9.0)],
            [[1, 4, 8], [1, 8, 8], [8, 8, 8]],
            "of equals the younger"
        );
        // the window passes over one, two and all three
        assert_eq!([11, 12, 14].map(|round| after(round, 1.0)), [[1, 4, 7], [4, 7, 12], [4, 7, 14]]);
        assert_eq!([15, 17, 18].map(|round| after(round, 1.0)), [[7, 15, 15], [7, 17, 17], [18, 18, 18]]);
    }

    /// What the filter says that it needs not be given changes nothing, also where it has just made room.
    #[test]
    fn leaving_out_what_is_no_news_changes_nothing() {
        for seed in 0..20 {
            let mut stream = bufferlab_units::Stream::new(seed, 0, 0);
            let (mut given, mut spared) = (RunningMax::<10>::default(), RunningMax::<10>::default());
            let (mut round, mut left_out) = (1, 0);
            for _ in 0..2_000 {
                round += stream.below(8) / 5 * (1 + stream.below(6));
                let value = stream.below(9) as f64;
                given.update(round, value);
                if spared.least_news(round).is_none_or(|least| value >= least) {
                    spared.update(round, value);
                } else {
                    left_out += 1;
                }
                assert_eq!(format!("{:?}", given.best), format!("{:?}", spared.best));
            }
            assert!(left_out > 200, "{left_out}");
        }
    }

    #[test]
    fn a_longer_window_has_longer_parts() {
        let second = |round| {
            let mut filter = RunningMax::<20>::default();
            filter.update(1, 9.0);
            filter.update(round, 5.0);
            filter.best[1].round
        };
        assert_eq!([second(6), second(7)], [1, 7]);
    }
}
