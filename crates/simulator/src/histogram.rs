//! A log-linear histogram of waiting times.

use bufferlab_units::Span;

/// Each octave has 2⁶ buckets, so a bucket is at most 1.6 % wide.
const SUB_BITS: u32 = 6;
const SUBS: u64 = 1 << SUB_BITS;
const BUCKETS: usize = ((64 - SUB_BITS as usize) + 1) << SUB_BITS;

/// Counts of spans by buckets whose width grows with the span.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Box<[u64]>,
}

impl Histogram {
    /// Nothing counted.
    pub(crate) fn new() -> Histogram {
        Histogram { counts: vec![0; BUCKETS].into_boxed_slice() }
    }

    /// Counts a span.
    #[inline]
    pub(crate) fn record(&mut self, span: Span) {
        self.counts[bucket(span.as_ps())] += 1;
    }

    /// Spans counted.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Adds another's counts.
    pub(crate) fn add(&mut self, other: &Histogram) {
        for (sum, count) in self.counts.iter_mut().zip(&other.counts) {
            *sum += count;
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.counts.fill(0);
    }

    /// The buckets that are not empty: least span, bound (both ps), count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(index, &count)| (lower(index), lower(index + 1), count))
    }
}

/// Spans below 2⁶ ps have a bucket each; above, the leading bits decide.
#[inline]
fn bucket(ps: u64) -> usize {
    if ps < SUBS {
        return ps as usize;
    }
    let octave = ps.ilog2() - SUB_BITS;
    ((u64::from(octave) << SUB_BITS) + (ps >> octave)) as usize
}

fn lower(index: usize) -> u64 {
    let index = index as u64;
    if index < SUBS {
        return index;
    }
    let octave = (index >> SUB_BITS) - 1;
    let lower = u128::from(SUBS + (index & (SUBS - 1))) << octave;
    u64::try_from(lower).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_span_lies_in_its_bucket() {
        let mut ps = 1_u64;
        while ps < u64::MAX / 3 {
            for value in [ps - 1, ps, ps + 1, ps + ps / 3] {
                let index = bucket(value);
                assert!(lower(index) <= value && value < lower(index + 1), "{value}");
                assert!(lower(index + 1) - lower(index) <= (value / SUBS).max(1), "{value}");
            }
            ps *= 2;
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn counts_are_found_again() {
        let mut histogram = Histogram::new();
        for ps in [5, 5, 1_000_000] {
            histogram.record(Span::from_ps(ps));
        }
        let mut sum = Histogram::new();
        sum.add(&histogram);
        let buckets: Vec<_> = sum.buckets().collect();
        assert_eq!(buckets[0], (5, 6, 2));
        assert_eq!(buckets[1].2, 1);
        sum.clear();
        assert_eq!(sum.buckets().count(), 0);
    }
}
