//! PIE as Linux has it: what each queue of FQ-PIE is under.
//!
//! Source: Linux 6.12 `net/sched/sch_pie.c` and `include/net/pie.h`, read as behavior: `pie_calculate_probability` (its
//! steps have their place in [`Control::step`]), `pie_drop_early`, `pie_process_dequeue`, `pie_vars_init`;
//! `fq_pie_qdisc_enqueue` (marks and drops). It is not RFC 8033's, which [`crate::Pie`] is:
//! - The chance has no upper bound at 1. It is an integer with 2⁵⁶ for 1, and only an overflow of its 64 bits, at 256, is
//!   caught. So a chance that had to be near 1 does not fall to 0 when a long queue has drained at once.
//! - Above a wait of 250 ms each step is 2 % larger, the cap of 2 % notwithstanding.
//! - The wait that makes packets safe is the last packet's, not the last update's; less than two full packets are safe.
//! - A burst's allowance is taken by the time between departures. It is given back at an update that finds no chance and
//!   two short waits.
//! - The chance decays by 1/64, and not while packets wait whose last one had no wait.
//! - Marks are given up to a chance of 10 %, that included. One that was due after 8.5 accumulated does not end the count, so
//!   that each packet is marked until one is dropped, a lot falls before that, or the chance is gone.
//!
//! Departures from Linux: the first update is one `update` after the beginning, not half a second; the chance is a float of
//! 53 bits, not an integer.

use bufferlab_units::{Span, Stream, Time};

use crate::{Packet, PieConfig};

/// Here a chance that grows more starts anew from 1 (an overflow of 64 bits with `MAX_PROB` 2⁵⁶).
const OVERFLOW: f64 = 256.0;
/// From this chance on a step up is at most 2 %, and none is scaled down (`MAX_PROB / 10`, `MAX_PROB / (100 / 2)`).
const LARGE: f64 = 0.1;
/// The largest step up of a large chance, and what long waits add to each ("no more than 2%").
const STEP: f64 = 0.02;
/// Waits above this are long ("250ms is derived through experiments and provides error protection").
const LONG_WAIT: Span = Span::from_ms(250);
/// Below a tenth a step is halved, and divided by four more for each of these that the chance is below (`power`).
const POWERS: [f64; 5] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
/// Part of the chance that goes when nothing waits ("98.4%").
const DECAY: f64 = 1.0 / 64.0;
/// Below half the target and this chance nothing is dropped (`MAX_PROB / 5`).
const SAFE_CHANCE: f64 = 0.2;
/// Up to this chance, packets of those who listen are marked (`ecn_prob`, 10).
const ECN_CHANCE: f64 = 0.1;
/// Accumulated chance below which nothing is dropped, and from which on a packet is (`MAX_PROB / 100 * 85`, `/ 2 * 17`).
const ACCUMULATED: (f64, f64) = (0.85, 8.5);

/// The chance of a drop, and what it comes from (`pie_vars`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Control {
    config: PieConfig,
    pub(super) prob: f64,
    /// Sum of the chances since the last drop or drawn mark.
    pub(super) accu_prob: f64,
    pub(super) burst_time: Span,
    /// The last packet's wait.
    pub(super) wait: Span,
    /// The wait at the last update.
    pub(super) wait_before: Span,
    /// When the last packet left; nothing after a calm time.
    last_departure: Option<Time>,
    next_update: Time,
}

impl Control {
    /// # Panics
    /// Without time between updates.
    pub(super) fn new(config: PieConfig) -> Control {
        assert!(config.t_update > Span::ZERO, "updates need time between them");
        Control {
            config,
            prob: 0.0,
            accu_prob: 0.0,
            burst_time: config.max_burst,
            wait: Span::ZERO,
            wait_before: Span::ZERO,
            last_departure: None,
            next_update: Time::ZERO + config.t_update,
        }
    }

    /// Makes the updates that are due by now; this many bytes have waited since the last call.
    #[inline]
    pub(super) fn update(&mut self, now: Time, backlog: u64) {
        if now >= self.next_update {
            self.catch_up(now, backlog > 0);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, now: Time, waits: bool) {
        while now >= self.next_update {
            let before = *self;
            self.calculate_probability(waits);
            let settled = *self == before;
            self.next_update += self.config.t_update;
            if settled && now >= self.next_update {
                // nothing changes any more
                let missed = (now - self.next_update).as_ps() / self.config.t_update.as_ps();
                self.next_update += self.config.t_update.saturating_mul(missed + 1);
            }
        }
    }

    /// One update (`pie_calculate_probability`); whether packets wait.
    pub(super) fn calculate_probability(&mut self, waits: bool) {
        let step = self.step();
        let overflows = self.prob + step >= OVERFLOW;
        self.prob = if overflows { 1.0 } else { (self.prob + step).max(0.0) };
        let still = self.wait == Span::ZERO && self.wait_before == Span::ZERO;
        if still && !waits && !overflows {
            self.prob -= self.prob * DECAY;
        }
        if self.is_short(self.wait) && self.is_short(self.wait_before) && self.prob == 0.0 {
            self.burst_time = self.config.max_burst;
            self.last_departure = None;
            self.accu_prob = 0.0;
        }
        self.wait_before = self.wait;
    }

    /// By how much the chance changes (`delta`).
    fn step(&self) -> f64 {
        let PieConfig { target, alpha, beta, .. } = self.config;
        let now = self.wait.as_s();
        let whole = alpha * (now - target.as_s()) + beta * (now - self.wait_before.as_s());
        let scaled = if self.prob < LARGE {
            let below = POWERS.iter().filter(|&&power| self.prob < power).count();
            whole / f64::from(2 << (2 * below))
        } else {
            whole.min(STEP)
        };
        if self.wait > LONG_WAIT { scaled + STEP } else { scaled }
    }

    /// The wait is below half the target.
    #[inline]
    fn is_short(&self, wait: Span) -> bool {
        wait.saturating_mul(2) < self.config.target
    }

    /// Whether the packet that comes is to be dropped or marked (`pie_drop_early`). `small`: less than two full packets
    /// wait.
    #[inline]
    pub(super) fn drop_early(&mut self, small: bool, stream: &mut Stream) -> bool {
        let safe = self.is_short(self.wait) && self.prob < SAFE_CHANCE;
        if self.burst_time > Span::ZERO || safe || small {
            return false;
        }
        if self.prob == 0.0 {
            self.accu_prob = 0.0;
            return false;
        }
        self.accu_prob += self.prob;
        if self.accu_prob < ACCUMULATED.0 || self.accu_prob >= ACCUMULATED.1 {
            return self.accu_prob >= ACCUMULATED.1;
        }
        // `unit` is in (0, 1]
        let hit = stream.unit() <= self.prob;
        if hit {
            self.accu_prob = 0.0;
        }
        hit
    }

    /// Whether the packet that comes has to go: drawn, and not marked instead.
    #[inline]
    pub(super) fn refuses(
        &mut self,
        packet: &mut Packet,
        small: bool,
        stream: &mut Stream,
        marks: &mut u64,
    ) -> bool {
        if !self.drop_early(small, stream) {
            return false;
        }
        if self.config.ecn && self.prob <= ECN_CHANCE && packet.mark(marks) {
            return false;
        }
        self.accu_prob = 0.0;
        true
    }

    /// The buffer was full.
    #[inline]
    pub(super) fn on_overlimit(&mut self) {
        self.accu_prob = 0.0;
    }

    /// A packet leaves after this wait (`pie_process_dequeue`); what leaves an empty queue behind counts as none.
    #[inline]
    pub(super) fn on_departure(&mut self, now: Time, wait: Span) {
        self.wait = wait;
        let since = self.last_departure.map_or(Span::ZERO, |last| now - last);
        self.burst_time = Span::from_ps(self.burst_time.as_ps().saturating_sub(since.as_ps()));
        self.last_departure = Some(now);
    }
}

#[cfg(test)]
mod tests;
