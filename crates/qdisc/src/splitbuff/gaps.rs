//! Thresholds in the gaps between the round-trip times that there are, and no more classes than these need.
//!
//! A period's round-trip times go into a histogram of fixed size, eight bins an octave. At its end the bins are grouped
//! so that the logarithms of round-trip times differ least within the classes (W. D. Fisher, "On grouping for maximum
//! homogeneity", JASA 53, 1958: the best grouping of ordered values by dynamic programming; Jenks' natural breaks).
//! Stopping rule: the fewest classes whose pooled standard deviation of ln RTT is at most [`TOLERANCE`], or all that
//! may be. A packet weighs the root of its round-trip time: that is between a fair period, in which flows send alike,
//! and an unfair one, in which they send the less the longer their round trips are, so that neither side is overlooked.
//! Thresholds lie midway, as ratios go, between the bins on both sides.

use bufferlab_units::ln;

/// Bins an octave are 2 to this.
const SUB_BITS: u32 = 3;
/// The histogram's ends, powers of two of picoseconds: 0.27 ms and 8.8 s.
const LEAST: u32 = 28;
const MOST: u32 = 43;
const BINS: usize = ((MOST - LEAST) << SUB_BITS) as usize;
/// Round-trip times of a class may differ by about this part.
const TOLERANCE: f64 = 0.25;

/// A histogram of round-trip times.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    bins: Vec<Bin>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    packets: f64,
    propagation_s: f64,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Split {
    /// Thresholds between the classes, in the round-trip times that packets carry, s.
    pub(super) thresholds_s: Vec<f64>,
    /// Mean propagation delay of each class, s.
    pub(super) propagations_s: Vec<f64>,
}

/// A bin with packets in it.
struct Filled {
    index: usize,
    bin: Bin,
    ln_s: f64,
    weight: f64,
}

impl Gaps {
    pub(super) fn new() -> Gaps {
        Gaps { bins: vec![Bin::default(); BINS] }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.bins.as_slice())
    }

    /// Records a packet's round-trip time and the propagation delay in it.
    pub(super) fn note(&mut self, rtt_s: f64, propagation_s: f64) {
        let bin = &mut self.bins[index_of(rtt_s)];
        bin.packets += 1.0;
        bin.propagation_s += propagation_s.max(0.0);
    }

    /// Groups what was noted into `most` classes or fewer, and starts anew.
    pub(super) fn take(&mut self, most: usize) -> Split {
        let filled: Vec<Filled> =
            self.bins.iter().enumerate().filter_map(|(index, &bin)| fill(index, bin)).collect();
        self.bins.fill(Bin::default());
        let starts = group(&filled, most);
        let ends = starts.iter().skip(1).copied().chain([filled.len()]);
        let classes =
            starts.iter().zip(ends).map(|(&from, to)| &filled[from..to]).filter(|bins| !bins.is_empty());
        let propagations_s = classes.map(|bins| {
            let packets: f64 = bins.iter().map(|filled| filled.bin.packets).sum();
            bins.iter().map(|filled| filled.bin.propagation_s).sum::<f64>() / packets
        });
        let thresholds_s = starts
            .iter()
            .skip(1)
            .map(|&start| (lower_s(filled[start - 1].index + 1) * lower_s(filled[start].index)).sqrt());
        Split { thresholds_s: thresholds_s.collect(), propagations_s: propagations_s.collect() }
    }
}

fn fill(index: usize, bin: Bin) -> Option<Filled> {
    let middle_s = lower_s(index).midpoint(lower_s(index + 1));
    (bin.packets > 0.0).then(|| Filled {
        index,
        bin,
        ln_s: ln(middle_s),
        weight: bin.packets * middle_s.sqrt(),
    })
}

/// First bins of the classes.
fn group(filled: &[Filled], most: usize) -> Vec<usize> {
    let count = filled.len();
    let sums = Sums::of(filled);
    let bound = TOLERANCE * TOLERANCE * sums.weight[count];
    // best[end]: least cost of the first `end` bins in this number of classes; cut[classes][end]: start of the last one
    let mut best: Vec<f64> = (0..=count).map(|end| sums.cost(0, end)).collect();
    let mut cuts = vec![vec![0; count + 1]];
    while cuts.len() < most.min(count) && best[count] > bound {
        let more = cuts.len();
        let mut next = vec![f64::INFINITY; count + 1];
        let mut cut = vec![0; count + 1];
        for end in more + 1..=count {
            for (start, before) in best.iter().enumerate().take(end).skip(more) {
                let cost = before + sums.cost(start, end);
                if cost < next[end] {
                    (next[end], cut[end]) = (cost, start);
                }
            }
        }
        cuts.push(cut);
        best = next;
    }
    let mut starts = Vec::new();
    let mut end = count;
    for cut in cuts.iter().rev() {
        end = cut[end];
        starts.insert(0, end);
    }
    starts
}

/// Sums over the first bins.
struct Sums {
    weight: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sums {
    fn of(filled: &[Filled]) -> Sums {
        let over = |value: &dyn Fn(&Filled) -> f64| {
            let mut sum = 0.0;
            let sums = filled.iter().map(|filled| {
                sum += value(filled);
                sum
            });
            [0.0].into_iter().chain(sums).collect()
        };
        Sums {
            weight: over(&|filled| filled.weight),
            first: over(&|filled| filled.weight * filled.ln_s),
            second: over(&|filled| filled.weight * filled.ln_s * filled.ln_s),
        }
    }

    /// Weighted sum of squared distances from the mean.
    fn cost(&self, start: usize, end: usize) -> f64 {
        let weight = self.weight[end] - self.weight[start];
        if weight <= 0.0 {
            return 0.0;
        }
        let first = self.first[end] - self.first[start];
        (self.second[end] - self.second[start] - first * first / weight).max(0.0)
    }
}

/// The leading bits of the picoseconds decide.
fn index_of(rtt_s: f64) -> usize {
    let ps = ((rtt_s * 1e12) as u64).clamp(1 << LEAST, (1 << MOST) - 1);
    let octave = ps.ilog2();
    let sub = (ps >> (octave - SUB_BITS)) & ((1 << SUB_BITS) - 1);
    ((octave - LEAST) << SUB_BITS) as usize + sub as usize
}

/// Least round-trip time of a bin, s.
fn lower_s(index: usize) -> f64 {
    let (octave, sub) = (index >> SUB_BITS, index & ((1 << SUB_BITS) - 1));
    let ps = ((1_u64 << SUB_BITS) + sub as u64) << (LEAST as usize + octave - SUB_BITS as usize);
    ps as f64 / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(rtts_ms: &[(f64, u32)], most: usize) -> Split {
        let mut gaps = Gaps::new();
        for &(rtt_ms, packets) in rtts_ms {
            for _ in 0..packets {
                gaps.note(rtt_ms * 1e-3, rtt_ms * 1e-3);
            }
        }
        gaps.take(most)
    }

    #[test]
    fn every_round_trip_time_lies_in_its_bin() {
        for step in 0..2_000 {
            let rtt_s = 0.000_3 * 1.005_f64.powi(step);
            let index = index_of(rtt_s);
            assert!(lower_s(index) <= rtt_s && rtt_s < lower_s(index + 1), "{rtt_s} in {index}");
            assert!(lower_s(index + 1) / lower_s(index) < 1.126);
        }
        assert_eq!((index_of(0.0), index_of(1e9)), (0, BINS - 1));
    }

    #[test]
    fn as_many_classes_as_there_are_groups() {
        let one = split(&[(95.0, 100), (105.0, 100)], 4);
        assert!(one.thresholds_s.is_empty());
        assert!((one.propagations_s[0] - 0.1).abs() < 1e-9);
        let two = split(&[(9.0, 700), (11.0, 300), (500.0, 5)], 4);
        assert_eq!(two.thresholds_s.len(), 1);
        assert!((0.05..0.1).contains(&two.thresholds_s[0]), "midway by ratios: {two:?}");
        assert!((two.propagations_s[0] - 0.0096).abs() < 1e-9 && (two.propagations_s[1] - 0.5).abs() < 1e-9);
        let three = split(&[(10.0, 100), (60.0, 100), (400.0, 100)], 4);
        assert_eq!(three.thresholds_s.len(), 2);
    }

    #[test]
    fn a_broad_range_takes_what_it_may_and_no_more() {
        let broad: Vec<(f64, u32)> = (0..100).map(|flow| (10.0 + 10.0 * f64::from(flow), 10)).collect();
        assert_eq!(split(&broad, 2).thresholds_s.len(), 1);
        let many = split(&broad, 8).thresholds_s;
        assert!((2..7).contains(&many.len()) && many.is_sorted(), "{many:?}");
    }

    #[test]
    fn nothing_is_one_class_and_every_grouping_is_the_best() {
        assert_eq!(split(&[], 3), Split { thresholds_s: vec![], propagations_s: vec![] });
        // against all groupings into three
        let rtts = [(5.0, 7), (9.0, 30), (14.0, 2), (30.0, 50), (41.0, 9), (90.0, 4), (200.0, 11)];
        let mut gaps = Gaps::new();
        for (ms, packets) in rtts {
            (0..packets).for_each(|_| gaps.note(ms * 1e-3, 0.0));
        }
        let filled: Vec<_> =
            gaps.bins.iter().enumerate().filter_map(|(index, &bin)| fill(index, bin)).collect();
        let sums = Sums::of(&filled);
        let cost = |a, b| sums.cost(0, a) + sums.cost(a, b) + sums.cost(b, filled.len());
        let all = (1..6).flat_map(|a| (a + 1..7).map(move |b| (a, b)));
        let (a, b) = all.min_by(|&(a, b), &(c, d)| cost(a, b).total_cmp(&cost(c, d))).unwrap();
        assert_eq!(group(&filled, 3), [0, a, b]);
    }
}
