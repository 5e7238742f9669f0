//! Percentiles of the backlog.

/// Backlogs at random moments. Its memory follows the largest, as the queue's own does.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlogs {
    /// How many moments found a number of packets, indexed by packets.
    moments: Vec<u32>,
}

impl Backlogs {
    /// Notes how many packets wait at a moment.
    #[inline]
    pub(super) fn note(&mut self, packets: u64) {
        let packets = packets as usize;
        if packets >= self.moments.len() {
            self.moments.resize(packets + 1, 0);
        }
        self.moments[packets] += 1;
    }

    /// The least backlog that was not exceeded at a percentage of the moments; 0 if there were none.
    pub(super) fn percentile(&self, percent: u64) -> u64 {
        let all: u64 = self.moments.iter().copied().map(u64::from).sum();
        let mut up_to = 0;
        let reached = self.moments.iter().position(|&moments| {
            up_to += u64::from(moments);
            up_to * 100 >= all * percent
        });
        reached.unwrap_or(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_the_least_backlog_that_is_not_exceeded_more_often() {
        let mut backlogs = Backlogs::default();
        assert_eq!(backlogs.percentile(50), 0);
        for packets in [7, 1, 1, 0, 3, 3, 3, 3, 2, 9] {
            backlogs.note(packets);
        }
        // in order: 0 1 1 2 3 3 3 3 7 9
        let found = [10, 11, 30, 31, 50, 80, 81, 90, 91, 99].map(|percent| backlogs.percentile(percent));
        assert_eq!(found, [0, 1, 1, 2, 3, 3, 7, 7, 9, 9]);
    }
}
