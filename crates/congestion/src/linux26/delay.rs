//! Vegas and Compound TCP of Linux 2.6.22, which judge once a round what waits in queues.
//!
//! A round begins with the next segment to be sent, and ends with an acknowledgment beyond it. What was sent in it is the
//! distance between two such segments (`beg_snd_nxt` less `beg_snd_una`); a recovery's end begins a round without moving
//! the latter, so that the next one has all that was sent in the recovery, too.

use crate::linux_window::LinuxWindow;

/// Fewer waiting halves of a segment than this: one segment more (`alpha`).
const ALPHA: u64 = 4;
/// More: one fewer (`beta`).
const BETA: u64 = 8;
/// More of them end slow start (`gamma`).
const GAMMA: u64 = 2;
/// The threshold with which slow start is left then.
const LEFT_SLOW_START: u32 = 2;
/// A round is judged with more samples than this.
const FEW_SAMPLES: u32 = 2;
/// Vegas's least window.
const MIN_WINDOW: u32 = 2;
/// Halves of a waiting segment that end the growth of Compound's delay window (`TCP_COMPOUND_GAMMA`).
const COMPOUND_GAMMA: u64 = 30 << 1;
/// log₂ of the part of win^¾ that it grows by (`TCP_COMPOUND_ALPHA`).
const COMPOUND_SHIFT: u32 = 3;

/// A round's measurements; round-trip times are µs and one.
#[derive(Clone, Debug)]
pub(super) struct Round {
    base_us: u64,
    least_us: u64,
    samples: u32,
    next: u32,
    first: u32,
    cwnd: u32,
}

/// A round that has ended.
struct Ended {
    /// Segments sent in it.
    sent: u64,
    /// The window when it began.
    cwnd: u32,
    /// What would be in the network without queues, and what is beyond, in halves of segments; with few samples nothing.
    judged: Option<(u64, u64)>,
}

impl Default for Round {
    fn default() -> Round {
        Round {
            base_us: u64::from(u32::MAX),
            least_us: u64::from(u32::MAX),
            samples: 0,
            next: 0,
            first: 0,
            cwnd: 0,
        }
    }
}

impl Round {
    pub(super) fn begin(sent_to: u32) -> Round {
        Round { next: sent_to, ..Round::default() }
    }

    pub(super) fn measure(&mut self, us: u64) {
        self.base_us = self.base_us.min(us + 1);
        self.least_us = self.least_us.min(us + 1);
        self.samples = self.samples.saturating_add(1);
    }

    pub(super) fn restart(&mut self, sent_to: u32) {
        self.next = sent_to;
        self.forget();
    }

    /// Segments sent between the beginnings of this round and of the last.
    #[cfg(test)]
    pub(super) fn sent(&self) -> u32 {
        self.next - self.first
    }

    fn forget(&mut self) {
        (self.least_us, self.samples) = (u64::from(u32::MAX), 0);
    }

    fn end(&mut self, una: u32, sent_to: u32, cwnd: u32) -> Option<Ended> {
        if una <= self.next {
            return None;
        }
        let sent = u64::from(self.next.saturating_sub(self.first));
        let prior = self.cwnd;
        (self.first, self.next, self.cwnd) = (self.next, sent_to, cwnd);
        let judged = (self.samples > FEW_SAMPLES).then(|| {
            let target = (sent * self.base_us * 2) / self.least_us.max(1);
            (target, (sent * 2).saturating_sub(target))
        });
        self.forget();
        Some(Ended { sent, cwnd: prior, judged })
    }
}

/// Vegas.
#[derive(Clone, Debug)]
pub(super) struct Vegas {
    pub(super) round: Round,
    /// No loss is being repaired.
    pub(super) enabled: bool,
}

impl Default for Vegas {
    fn default() -> Vegas {
        Vegas { round: Round::default(), enabled: true }
    }
}

impl Vegas {
    /// New data is acknowledged; whether Reno's growth is due.
    pub(super) fn grow(&mut self, window: &mut LinuxWindow, una: u32, sent_to: u32) -> bool {
        let Some(ended) = self.round.end(una, sent_to, window.cwnd) else {
            window.slow_start_per_ack();
            return false;
        };
        let Some((target, waiting)) = ended.judged else {
            return true;
        };
        if window.ssthresh.is_none_or(|ssthresh| window.cwnd <= ssthresh) {
            if waiting > GAMMA {
                window.ssthresh = Some(LEFT_SLOW_START);
                window.cwnd = window.cwnd.min((target >> 1).min(u64::from(u32::MAX - 1)) as u32 + 1);
            }
            // without a look at the threshold
            window.cwnd = window.cwnd.saturating_add(1);
        } else {
            let next = if waiting > BETA {
                ended.cwnd.saturating_sub(1)
            } else if waiting < ALPHA {
                ended.cwnd.saturating_add(1)
            } else {
                ended.cwnd
            };
            window.cwnd = match next.cmp(&window.cwnd) {
                std::cmp::Ordering::Greater => window.cwnd.saturating_add(1),
                std::cmp::Ordering::Less => window.cwnd - 1,
                std::cmp::Ordering::Equal => window.cwnd,
            };
        }
        window.cwnd = window.cwnd.max(MIN_WINDOW);
        false
    }
}

/// Compound TCP.
#[derive(Clone, Debug)]
pub(super) struct Compound {
    pub(super) round: Round,
    /// Reno's window.
    cwnd: u32,
    /// The delay window.
    dwnd: u32,
}

impl Compound {
    pub(super) fn new(cwnd: u32) -> Compound {
        Compound { round: Round::default(), cwnd, dwnd: 0 }
    }

    pub(super) fn begin(&mut self, sent_to: u32, cwnd: u32) {
        (self.round, self.cwnd, self.dwnd) = (Round::begin(sent_to), cwnd, 0);
    }

    /// The delay window.
    #[cfg(test)]
    pub(super) fn dwnd(&self) -> u32 {
        self.dwnd
    }

    /// New data is acknowledged.
    pub(super) fn grow(&mut self, window: &mut LinuxWindow, una: u32, sent_to: u32, limited: bool) {
        if self.cwnd.saturating_add(self.dwnd) > window.cwnd {
            if self.cwnd > window.cwnd || self.dwnd > window.cwnd {
                (self.cwnd, self.dwnd) = (window.cwnd, 0);
            } else {
                self.cwnd = window.cwnd - self.dwnd;
            }
        }
        if !limited {
            return;
        }
        let slow = window.ssthresh.is_none_or(|ssthresh| self.cwnd <= ssthresh);
        let mut grows = slow;
        if !slow && window.counted < window.cwnd {
            window.counted += 1;
        }
        if window.counted >= window.cwnd {
            (window.counted, grows) = (0, true);
        }
        self.cwnd = self.cwnd.saturating_add(u32::from(grows));
        if let Some(Ended { sent, judged: Some((_, waiting)), .. }) =
            self.round.end(una, sent_to, window.cwnd)
        {
            self.judge(sent, waiting);
        }
        window.cwnd = self.cwnd.saturating_add(self.dwnd);
    }

    fn judge(&mut self, sent: u64, waiting: u64) {
        let twice = u64::from(self.dwnd) * 2;
        self.dwnd = if waiting < COMPOUND_GAMMA {
            let root = u128::from(sent).pow(3).isqrt().isqrt() as u64;
            let grown = (root >> COMPOUND_SHIFT).saturating_sub(1).min(u64::from(u32::MAX)) as u32;
            self.dwnd.saturating_add(grown)
        } else {
            (twice.saturating_sub(waiting) / 2) as u32
        };
    }
}
