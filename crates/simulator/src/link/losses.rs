//! Losses before the queue: each packet by itself, or in bursts.

use bufferlab_units::Stream;

use crate::plan::LossBurstsPlan;

/// The state of [`LossBurstsPlan`]'s model.
#[derive(Clone, Debug)]
pub(crate) struct LossBursts {
    begin_below: u64,
    end_below: u64,
    bad_below: u64,
    good_below: u64,
    is_bad: bool,
    stream: Stream,
}

impl LossBursts {
    /// It begins in the good state.
    pub(crate) fn new(plan: &LossBurstsPlan, stream: Stream) -> LossBursts {
        LossBursts {
            begin_below: threshold(plan.begin_ppb),
            end_below: threshold(plan.end_ppb),
            bad_below: threshold(plan.bad_ppb),
            good_below: threshold(plan.good_ppb),
            is_bad: false,
            stream,
        }
    }

    /// Whether the next packet is lost.
    pub(crate) fn loses(&mut self) -> bool {
        let was_bad = self.is_bad;
        let (leave_below, lose_below) =
            if was_bad { (self.end_below, self.bad_below) } else { (self.begin_below, self.good_below) };
        if is_below(self.stream.bits(), leave_below) {
            self.is_bad = !was_bad;
        }
        is_below(self.stream.bits(), lose_below)
    }
}

/// Whether random bits are among the share that a threshold stands for: all of them, if that is the largest.
fn is_below(bits: u64, threshold: u64) -> bool {
    bits < threshold || threshold == u64::MAX
}

/// `ppb` parts per billion as a bound for 64 random bits.
pub(super) fn threshold(ppb: u32) -> u64 {
    ((u128::from(ppb) << 64) / 1_000_000_000).min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_thresholds_are_shares_of_all_numbers() {
        assert_eq!(threshold(0), 0);
        assert_eq!(threshold(500_000_000), 1 << 63);
        assert_eq!(threshold(1_000_000_000), u64::MAX);
    }

    /// Gilbert's model, where all of a bad state is lost: the bad state has the share p/(p + r) of the packets, and its
    /// runs are geometric with the mean 1/r.
    #[test]
    fn shares_and_lengths_of_bursts_are_those_of_the_chain() {
        const PACKETS: u64 = 1_000_000;
        let plan = LossBurstsPlan {
            begin_ppb: 10_000_000,
            end_ppb: 250_000_000,
            bad_ppb: 1_000_000_000,
            good_ppb: 0,
        };
        let mut bursts = LossBursts::new(&plan, Stream::new(1, 2, 3));
        let lost: Vec<bool> = (0..PACKETS).map(|_| bursts.loses()).collect();
        let losses = lost.iter().filter(|&&lost| lost).count() as f64;
        let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        // about 9,600 bursts: a standard error of some 1.3 %
        assert!((losses / PACKETS as f64 / (0.01 / 0.26) - 1.0).abs() < 0.05, "{losses}");
        assert!((losses / runs / 4.0 - 1.0).abs() < 0.05, "{}", losses / runs);
    }

    /// With a chance in each state: the mean of the chances, by the shares of the states.
    #[test]
    fn both_states_may_lose() {
        const PACKETS: u32 = 1_000_000;
        let plan = LossBurstsPlan {
            begin_ppb: 100_000_000,
            end_ppb: 300_000_000,
            bad_ppb: 500_000_000,
            good_ppb: 20_000_000,
        };
        let mut bursts = LossBursts::new(&plan, Stream::new(4, 5, 6));
        let losses = (0..PACKETS).filter(|_| bursts.loses()).count() as f64;
        let mean = 0.75 * 0.02 + 0.25 * 0.5;
        assert!((losses / f64::from(PACKETS) / mean - 1.0).abs() < 0.02, "{losses}");
    }
}
