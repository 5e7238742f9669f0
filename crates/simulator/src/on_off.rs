//! An application that has data for a sender, then none, by turns.

use bufferlab_transport::Sender;
use bufferlab_units::{Span, Stream, Time, exp};

use crate::exchanges::ExchangeLog;
use crate::plan::{LawPlan, OnOffPlan, OnPlan};

/// The application at work; it acts in its host's time.
#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    on: OnPlan,
    off: LawPlan,
    mss_bytes: u64,
    stream: Stream,
    is_on: bool,
    /// When it changes by its own clock; never while it waits for acknowledgments.
    next: Time,
    /// When it ends.
    stop: Time,
    /// Each burst is fetched by a client; how long its request takes to arrive.
    fetch: Option<Span>,
    /// One more than the last segment of this burst.
    target: u32,
}

impl OnOff {
    pub(crate) fn new(plan: &OnOffPlan, mss_bytes: u32, way: Span, stream: Stream) -> OnOff {
        OnOff {
            on: plan.on,
            off: plan.off_ps,
            mss_bytes: u64::from(mss_bytes),
            stream,
            is_on: false,
            next: Time::NEVER,
            stop: Time::NEVER,
            fetch: plan.fetch.then_some(way),
            target: u32::MAX,
        }
    }

    /// How long after the flow's start the sender begins: a client's request travels first.
    pub(crate) fn lead(&self) -> Span {
        self.fetch.unwrap_or(Span::ZERO)
    }

    /// Whether each burst is fetched by a client.
    pub(crate) fn fetches(&self) -> bool {
        self.fetch.is_some()
    }

    /// It begins, to end at `stop`; when it wants to be called next.
    pub(crate) fn start(
        &mut self,
        now: Time,
        stop: Time,
        sender: &mut Sender,
        log: &mut ExchangeLog,
    ) -> Time {
        self.stop = stop;
        self.turn_on(now, sender, log);
        self.next_change()
    }

    /// Its time has come: whether it has data now.
    pub(crate) fn change(&mut self, now: Time, sender: &mut Sender, log: &mut ExchangeLog) -> bool {
        if self.stop <= now {
            sender.stop();
            (self.is_on, self.next, self.stop) = (false, Time::NEVER, Time::NEVER);
        } else if self.next <= now && self.is_on {
            sender.stop();
            self.turn_off(now, log);
        } else if self.next <= now {
            self.turn_on(now, sender, log);
        }
        self.is_on
    }

    /// If everything that there was to send is acknowledged, the sender is silent.
    pub(crate) fn look(&mut self, now: Time, sender: &Sender, log: &ExchangeLog) {
        if self.is_on && matches!(self.on, OnPlan::Bytes(_)) && sender.finished() <= now {
            self.turn_off(now, log);
        }
    }

    /// `delivered` segments have reached the receiver by `now`, its own time.
    pub(crate) fn note_delivered(&self, now: Time, delivered: u32, log: &mut ExchangeLog) {
        if delivered >= self.target {
            log.close_last(now);
        }
    }

    /// When [`Self::change`] wants to be called.
    pub(crate) fn next_change(&self) -> Time {
        self.next.min(self.stop)
    }

    fn turn_on(&mut self, now: Time, sender: &mut Sender, log: &mut ExchangeLog) {
        self.is_on = true;
        match self.on {
            OnPlan::TimePs(law) => {
                sender.resume(now, None);
                self.next = now + Span::from_ps(draw(law, &mut self.stream));
            }
            OnPlan::Bytes(law) => {
                let bytes = draw(law, &mut self.stream);
                let segments = u32::try_from(bytes.div_ceil(self.mss_bytes)).unwrap_or(u32::MAX);
                if self.fetch.is_some() && self.target != u32::MAX {
                    sender.reconnect(now, segments);
                } else {
                    sender.resume(now, Some(segments));
                }
                (self.next, self.target) = (Time::NEVER, sender.limit());
                log.open(Time::from_ps(now.as_ps() - self.lead().as_ps()), bytes);
            }
        }
    }

    fn turn_off(&mut self, now: Time, log: &ExchangeLog) {
        self.is_on = false;
        let off = Span::from_ps(draw(self.off, &mut self.stream));
        self.next = match self.fetch {
            Some(way) => now.max(log.last_start() + off + way),
            None => now + off,
        };
    }
}

/// Longest time and largest size drawn; sums with any time of a run stay far below the type's bound.
const MOST: f64 = 1e18;

/// The next value of a law.
pub(crate) fn draw(law: LawPlan, stream: &mut Stream) -> u64 {
    let drawn = match law {
        LawPlan::Constant { value } => return value.max(1),
        LawPlan::Exponential { mean } => stream.exponential() * mean as f64,
        LawPlan::Pareto { mean, shape } => {
            // by inversion: least·u^(−1/shape), and −ln u is exponential
            mean as f64 * ((shape - 1.0) / shape) * exp(stream.exponential() / shape)
        }
    };
    drawn.clamp(1.0, MOST) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(law: LawPlan) -> Vec<f64> {
        let mut stream = Stream::new(3, 0, 0);
        (0..100_000).map(|_| draw(law, &mut stream) as f64).collect()
    }

    #[test]
    fn laws_have_their_means_and_tails() {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let beyond = |values: &[f64], x: f64| values.iter().filter(|&&value| value > x).count() as f64 / 1e5;
        let values = draws(LawPlan::Exponential { mean: 1_000_000 });
        // standard errors: 0.3 % of the mean, 0.0015 of a share of a third
        assert!((mean(&values) / 1e6 - 1.0).abs() < 0.015);
        assert!((beyond(&values, 1e6) - 0.3679).abs() < 0.007);
        let values = draws(LawPlan::Pareto { mean: 1_000_000, shape: 3.0 });
        assert!((mean(&values) / 1e6 - 1.0).abs() < 0.015);
        assert!(values.iter().all(|&value| value >= 666_666.0));
        // (2/3 / 4/3)^3
        assert!((beyond(&values, 4e6 / 3.0) - 0.125).abs() < 0.005);
        assert_eq!(draws(LawPlan::Constant { value: 0 })[0], 1.0);
    }
}
