//! What waits for an answer: a few numbers, each with its moment.

/// Numbers that wait at a time.
const MOST: usize = 8;

/// Numbers in the order of sending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watched<N> {
    entries: [(N, u64); MOST],
    count: u8,
    last: u64,
}

impl<N: Copy + Default> Default for Watched<N> {
    fn default() -> Watched<N> {
        Watched { entries: [(N::default(), 0); MOST], count: 0, last: 0 }
    }
}

impl<N: Copy> Watched<N> {
    /// Watches a number, unless as many wait already as are watched, or the last was less than an eighth of a round trip ago: samples
    /// are spread over it.
    pub(crate) fn put(&mut self, now: u64, number: N, round_trip: Option<u64>) {
        let apart = round_trip.unwrap_or(0) / MOST as u64;
        let is_soon = self.count > 0 && now - self.last < apart;
        if !is_soon && usize::from(self.count) < MOST {
            self.entries[usize::from(self.count)] = (number, now);
            self.count += 1;
            self.last = now;
        }
    }

    /// The moment of the first number that is the answered one. It and those that were sent before it wait no more.
    pub(crate) fn take(&mut self, is_answered: impl Fn(N) -> bool) -> Option<(N, u64)> {
        let waiting = &self.entries[..usize::from(self.count)];
        let place = waiting.iter().position(|&(number, _)| is_answered(number))?;
        let taken = self.entries[place];
        self.forget(place + 1);
        Some(taken)
    }

    /// Ends the wait of those at the beginning that are past.
    pub(crate) fn pass(&mut self, is_past: impl Fn(N) -> bool) {
        let waiting = &self.entries[..usize::from(self.count)];
        let past = waiting.iter().take_while(|&&(number, _)| is_past(number)).count();
        self.forget(past);
    }

    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// Ends the wait of some, wherever they are.
    pub(crate) fn remove(&mut self, is_unclear: impl Fn(N) -> bool) {
        let mut left = 0;
        for place in 0..usize::from(self.count) {
            if !is_unclear(self.entries[place].0) {
                self.entries[left] = self.entries[place];
                left += 1;
            }
        }
        self.count = left as u8;
    }

    fn forget(&mut self, first: usize) {
        self.entries.copy_within(first..usize::from(self.count), 0);
        self.count -= first as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_the_wait_of_earlier_ones() {
        let mut watched = Watched::default();
        (0..20).for_each(|number| watched.put(number * 10, number, None));
        assert_eq!(watched.take(|number| number == 9), None);
        assert_eq!(watched.take(|number| number == 3), Some((3, 30)));
        assert_eq!(watched.take(|number| number == 2), None);
        watched.pass(|number| number < 6);
        assert_eq!(watched.take(|number| number == 5), None);
        assert_eq!(watched.take(|number| number == 7), Some((7, 70)));
    }

    #[test]
    fn what_is_sent_twice_waits_no_more() {
        let mut watched = Watched::default();
        (0..6).for_each(|number| watched.put(number * 10, number, None));
        watched.remove(|number| (1..3).contains(&number));
        assert_eq!(watched.take(|number| number == 2), None);
        assert_eq!(watched.take(|number| number == 3), Some((3, 30)));
        assert_eq!(watched.take(|number| number == 0), None);
    }

    #[test]
    fn samples_are_spread_over_the_round_trip() {
        let mut watched = Watched::default();
        (0..20).for_each(|number| watched.put(number * 10, number, Some(800)));
        assert_eq!(watched.take(|number| number == 1), None);
        assert_eq!(watched.take(|number| number == 10), Some((10, 100)));
    }
}
