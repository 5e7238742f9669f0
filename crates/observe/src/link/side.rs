//! On which side of the vantage point the queue is.

/// Waits differ if those of one side are that many times the other's: hosts wait, too. Our choice.
const APART: f64 = 2.0;
/// Losses tell if there are as many, and all but one in as many of them on one side. Our choice.
const LEAST_LOSSES: u64 = 3;
const ONE_IN: u64 = 10;

/// What was seen of a side: ahead of the vantage point, or behind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side {
    /// The sum over windows of equal width in which a queue stood there of what was waited in the mean.
    pub(crate) standing_ns: f64,
    /// Round trips that were measured.
    pub(crate) samples: u64,
    /// Losses on the way there, or on the way from there.
    pub(crate) losses: u64,
}

/// Whether the queue that matters is ahead.
///
/// It is where more is waited over time. The number of round trips says nothing: a short leg has many, and a receiver that holds
/// acknowledgments back for a millisecond is a small queue in each of them. Where both sides wait alike, or one has no round trips at all
/// (behind the queue without timestamps), it is where packets are lost; a queue that drops is full.
pub(crate) fn is_ahead(ahead: Side, behind: Side) -> bool {
    let [more, less] = if ahead.standing_ns > behind.standing_ns { [ahead, behind] } else { [behind, ahead] };
    let is_clear = less.samples > 0 && more.standing_ns > APART * less.standing_ns;
    let by_losses = if is_clear { None } else { lost_ahead(ahead.losses, behind.losses) };
    by_losses.unwrap_or(ahead.standing_ns > behind.standing_ns)
}

fn lost_ahead(ahead: u64, behind: u64) -> Option<bool> {
    let is_clear = ahead.min(behind) * ONE_IN <= ahead + behind && ahead + behind >= LEAST_LOSSES;
    is_clear.then_some(ahead > behind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Side = Side { standing_ns: 0.0, samples: 0, losses: 0 };

    #[test]
    fn the_queue_is_where_more_is_waited_however_few_say_so() {
        let held_back = Side { standing_ns: 300e6, samples: 20_000, ..NONE };
        let queue = Side { standing_ns: 8_000e6, samples: 6_000, ..NONE };
        assert!(!is_ahead(held_back, queue) && is_ahead(queue, held_back));
        // losses elsewhere do not change that
        assert!(!is_ahead(Side { losses: 50, ..held_back }, queue));
        assert!(!is_ahead(NONE, NONE));
    }

    #[test]
    fn losses_say_where_waits_do_not() {
        let measured = Side { standing_ns: 5e6, samples: 20_000, ..NONE };
        assert!(is_ahead(measured, NONE));
        assert!(!is_ahead(measured, Side { losses: 57, ..NONE }));
        assert!(!is_ahead(measured, Side { losses: 57, standing_ns: 4e6, samples: 10 }));
        assert!(is_ahead(measured, Side { losses: 2, ..NONE }));
        assert!(is_ahead(Side { losses: 30, ..measured }, Side { losses: 57, ..NONE }));
    }
}
