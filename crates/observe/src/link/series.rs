//! A time series of bounded length.

/// What a bin holds.
pub(crate) trait Bin: Default {
    /// Adds a bin that was beside it.
    fn merge(&mut self, later: Self);
}

/// Bins in the order of time, those alone in which something was. When there are too many, pairs of neighbors become one.
#[derive(Clone, Debug)]
pub(crate) struct Series<T> {
    pub(crate) width_ns: u64,
    most: usize,
    bins: Vec<(u64, T)>,
}

impl<T: Bin> Series<T> {
    pub(crate) fn new(width_ns: u64, most: usize) -> Series<T> {
        Series { width_ns, most: most.max(2), bins: Vec::new() }
    }

    /// Whether two moments lie in one bin.
    pub(crate) fn is_same(&self, a: u64, b: u64) -> bool {
        a / self.width_ns == b / self.width_ns
    }

    /// The bin of a moment, which is not before the last one.
    #[inline]
    pub(crate) fn at(&mut self, now: u64) -> &mut T {
        let index = now / self.width_ns;
        if self.bins.last().is_none_or(|&(last, _)| last != index) {
            self.bins.push((index, T::default()));
            while self.bins.len() > self.most {
                self.widen();
            }
        }
        let last = self.bins.len() - 1;
        &mut self.bins[last].1
    }

    /// When each begins, with what is in it.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u64, &T)> {
        self.bins.iter().map(|(index, bin)| (index * self.width_ns, bin))
    }

    /// The same, of one that is over.
    pub(crate) fn into_bins(self) -> impl Iterator<Item = (u64, T)> {
        let width_ns = self.width_ns;
        self.bins.into_iter().map(move |(index, bin)| (index * width_ns, bin))
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        let mut wide: Vec<(u64, T)> = Vec::with_capacity(self.bins.len());
        for (index, bin) in self.bins.drain(..) {
            match wide.last_mut() {
                Some((last, before)) if *last == index / 2 => before.merge(bin),
                _ => wide.push((index / 2, bin)),
            }
        }
        self.bins = wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Bin for u64 {
        fn merge(&mut self, later: u64) {
            *self += later;
        }
    }

    #[test]
    fn neighbors_become_one() {
        let mut series: Series<u64> = Series::new(10, 4);
        for now in [5, 7, 12, 25, 100] {
            *series.at(now) += 1;
        }
        assert!(series.is_same(5, 7) && !series.is_same(7, 12));
        *series.at(110) += 1;
        assert_eq!(series.width_ns, 20);
        let bins: Vec<_> = series.into_bins().collect();
        assert_eq!(bins, [(0, 3), (20, 1), (100, 2)]);
    }
}
