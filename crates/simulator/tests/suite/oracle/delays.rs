//! What a packet's way over a link takes beyond the propagation delay, and losses in bursts.

use bufferlab_simulator::{DelayPlan, JitterPlan, LossBurstsPlan};
use bufferlab_units::{Span, Stream, Time};

/// The random streams, whose numbers are the engine's.
const LOSS_BURSTS_STREAM: u32 = 20;
const JITTER_STREAM: u32 = 22;

/// A way with its memory.
pub(super) struct Delays {
    plan: DelayPlan,
    stream: Stream,
    passed: Vec<Time>,
}

impl Delays {
    pub(super) fn new(plan: &DelayPlan, seed: u64, index: u32) -> Delays {
        Delays { plan: plan.clone(), stream: Stream::new(seed, JITTER_STREAM, index), passed: Vec::new() }
    }

    /// What a packet that leaves now waits for beyond the propagation delay.
    pub(super) fn more(&mut self, now: Time) -> Span {
        let into = now.as_ps().checked_rem(self.plan.repeat_ps).unwrap_or(now.as_ps());
        let step =
            self.plan.delays.iter().rfind(|piece| piece.at_ps <= into).map_or(0, |piece| piece.more_ps);
        let jitter = match self.plan.jitter {
            JitterPlan::None => Span::ZERO,
            JitterPlan::Uniform { low_ps, high_ps } => {
                self.stream.uniform_span(Span::from_ps(low_ps), Span::from_ps(high_ps))
            }
            JitterPlan::Exponential { mean_ps } => self.stream.exponential_span(Span::from_ps(mean_ps)),
        };
        let mut passes = now + Span::from_ps(step) + jitter;
        if !self.plan.reorders {
            passes = self.passed.iter().copied().fold(passes, Time::max);
        }
        self.passed.push(passes);
        passes - now
    }
}

/// The two states of bursty losses.
pub(super) struct Bursts {
    plan: LossBurstsPlan,
    stream: Stream,
    is_bad: bool,
}

impl Bursts {
    pub(super) fn new(plan: &LossBurstsPlan, seed: u64, index: u32) -> Bursts {
        Bursts { plan: *plan, stream: Stream::new(seed, LOSS_BURSTS_STREAM, index), is_bad: false }
    }

    pub(super) fn loses(&mut self) -> bool {
        let LossBurstsPlan { begin_ppb, end_ppb, bad_ppb, good_ppb } = self.plan;
        let (leaves, loses) = if self.is_bad { (end_ppb, bad_ppb) } else { (begin_ppb, good_ppb) };
        let mut happens = |ppb: u32| u128::from(self.stream.bits()) < (u128::from(ppb) << 64) / 1_000_000_000;
        self.is_bad ^= happens(leaves);
        happens(loses)
    }
}
