//! How the window comes down in fast recovery: RFC 6937's proportional rate reduction, as Linux has it.
//!
//! Sources: RFC 6937 section 3; Linux `net/ipv4/tcp_input.c` (`tcp_cwnd_reduction`), read as behavior, for the first
//! retransmission, which nothing holds back, and for what counts as progress: the cumulative acknowledgment moves and
//! no new loss is found, as in Linux 5.14 to 5.18; before, a retransmission had to be acknowledged and none found lost.

/// Bounds what is sent while a loss is repaired, so that the window has come down to its target when all is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// The window before (`RecoverFS`; Linux takes the congestion window).
    prior: u32,
    /// Segments delivered in this recovery (`prr_delivered`).
    delivered: u32,
    /// Segments that may be in the network until the next acknowledgment.
    window: u32,
    /// Segments sent in this recovery (`prr_out`).
    out: u32,
}

impl Reduction {
    /// Recovery begins with this window.
    pub(super) fn from(prior: u32) -> Reduction {
        Reduction { prior: prior.max(1), ..Reduction::default() }
    }

    /// Segments that may be in the network until the next acknowledgment.
    pub(super) fn window(self) -> u32 {
        self.window
    }

    /// A segment is sent.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
    }

    /// An acknowledgment reports `newly` segments and leaves `pipe` in the network; `progress` as the module says.
    pub(super) fn on_ack(&mut self, newly: u32, pipe: u32, target: u32, progress: bool) {
        self.delivered += newly;
        let count = if pipe > target {
            // "Proportional Rate Reduction": CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out
            let share = (u64::from(self.delivered) * u64::from(target)).div_ceil(u64::from(self.prior));
            (share as u32).saturating_sub(self.out)
        } else {
            // "PRR-SSRB", or where losses go on "PRR-CRB"
            let room = target - pipe;
            let owed = self.delivered.saturating_sub(self.out);
            if progress { room.min(owed.max(newly) + 1) } else { room.min(newly) }
        };
        let first = u32::from(self.out == 0);
        self.window = pipe + count.max(first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledges one segment after the other, and sends what may be sent; what is sent for each.
    fn sent(reduction: &mut Reduction, mut pipe: u32, target: u32, acks: u32, progress: bool) -> Vec<u32> {
        let each = (0..acks).map(|_| {
            pipe -= 1;
            reduction.on_ack(1, pipe, target, progress);
            let count = reduction.window.saturating_sub(pipe);
            (0..count).for_each(|_| reduction.on_sent());
            pipe += count;
            count
        });
        each.collect()
    }

    #[test]
    fn one_segment_goes_for_two_where_the_window_is_halved() {
        // RFC 6937 section 3.1's first example: 20 segments, one lost
        let mut reduction = Reduction::from(20);
        let counts = sent(&mut reduction, 19, 10, 18, false);
        assert_eq!(counts.iter().sum::<u32>(), 9, "{counts:?}");
        assert!(counts[..16].windows(2).all(|pair| pair[0] + pair[1] == 1), "{counts:?}");
    }

    #[test]
    fn many_losses_do_not_let_a_burst_out() {
        // 20 segments, 15 of them lost: the pipe is below the target at once
        let mut reduction = Reduction::from(20);
        let counts = sent(&mut reduction, 5, 10, 4, false);
        assert_eq!(counts, [1, 1, 1, 1]);
        let counts = sent(&mut reduction, 5, 10, 3, true);
        assert_eq!(counts, [2, 2, 2], "slow start towards the target");
    }
}
