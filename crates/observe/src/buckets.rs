//! Numbers by size, in buckets whose width grows with them: at most 1/64, 1.6 %, so that a bucket's middle is within 0.8 %.
//!
//! Only integers, so that every machine has the same buckets. (As in G. Tene's `HdrHistogram`; the guarantee is that of C. Masson,
//! J. Rim and H. Lee, "`DDSketch`", VLDB 2019.)

const SUB_BITS: u32 = 6;
const SUBS: u64 = 1 << SUB_BITS;

/// The bucket of a number. Numbers below 64 have one each.
#[inline]
pub(crate) fn bucket(value: u64) -> usize {
    if value < SUBS {
        return value as usize;
    }
    let octave = value.ilog2() - SUB_BITS;
    ((u64::from(octave) << SUB_BITS) + (value >> octave)) as usize
}

/// The number that stands for those of a bucket: its middle.
pub(crate) fn middle(bucket: usize) -> f64 {
    let bucket = bucket as u64;
    if bucket < SUBS {
        return bucket as f64;
    }
    let octave = (bucket >> SUB_BITS) - 1;
    let width = (1_u64 << octave) as f64;
    (SUBS + (bucket & (SUBS - 1))) as f64 * width + (width - 1.0) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_near_every_number() {
        let mut value = 1_u64;
        while value < u64::MAX / 3 {
            for near in [value - 1, value, value + 1, value + value / 3] {
                let error = (middle(bucket(near)) - near as f64).abs();
                assert!(error <= near as f64 / 128.0, "{near}: {error}");
            }
            value *= 2;
        }
        assert_eq!(middle(bucket(63)), 63.0);
    }

    #[test]
    fn buckets_are_in_the_order_of_numbers() {
        let numbers = [0, 1, 63, 64, 65, 127, 128, 130, 1_000, 1_000_000, u64::MAX];
        assert!(numbers.windows(2).all(|pair| bucket(pair[0]) < bucket(pair[1]) || pair == [128, 130]));
    }
}
