//! Some of many, evenly: all of few, and every second, fourth, … of more.

/// At most such a number of what was added, in order.
#[derive(Clone, Debug)]
pub(crate) struct Thinned<T, const MOST: usize> {
    kept: Vec<T>,
    of: u64,
    every: u64,
}

impl<T, const MOST: usize> Default for Thinned<T, MOST> {
    fn default() -> Thinned<T, MOST> {
        Thinned { kept: Vec::new(), of: 0, every: 1 }
    }
}

impl<T, const MOST: usize> Thinned<T, MOST> {
    pub(crate) fn add(&mut self, value: T) {
        if self.of.is_multiple_of(self.every) {
            if self.kept.len() == MOST {
                self.every *= 2;
                let mut place = 0_u64;
                self.kept.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
            }
            if self.of.is_multiple_of(self.every) {
                self.kept.push(value);
            }
        }
        self.of += 1;
    }

    pub(crate) fn clear(&mut self) {
        self.kept.clear();
        (self.of, self.every) = (0, 1);
    }

    pub(crate) fn kept(&self) -> &[T] {
        &self.kept
    }

    pub(crate) fn kept_mut(&mut self) -> &mut [T] {
        &mut self.kept
    }

    /// For how many each of those kept stands.
    pub(crate) fn every(&self) -> u64 {
        self.every
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_every_second_or_fourth_of_many() {
        let kept = |number: u64| {
            let mut thinned = Thinned::<u64, 8>::default();
            (0..number).for_each(|value| thinned.add(value));
            (thinned.kept().to_vec(), thinned.every())
        };
        assert_eq!(kept(3), (vec![0, 1, 2], 1));
        assert_eq!(kept(10), (vec![0, 2, 4, 6, 8], 2));
        assert_eq!(kept(30), (vec![0, 4, 8, 12, 16, 20, 24, 28], 4));
        let mut thinned = Thinned::<u64, 8>::default();
        (0..30).for_each(|value| thinned.add(value));
        thinned.clear();
        thinned.add(7);
        assert_eq!((thinned.kept(), thinned.every()), ([7].as_slice(), 1));
    }
}
