//! A sender that returns what its host receives.

use std::collections::VecDeque;

use bufferlab_transport::Sender;
use bufferlab_units::Time;

/// What there is to return, as it comes; in the host's time.
#[derive(Clone, Debug)]
pub(crate) struct Echo {
    /// From when on the sender has how many segments in all.
    fed: VecDeque<(Time, u32)>,
    stop: Time,
    /// It has ended.
    over: bool,
}

impl Echo {
    /// Nothing has come; it ends at `stop`.
    pub(crate) fn new(stop: Time) -> Echo {
        Echo { fed: VecDeque::new(), stop, over: false }
    }

    /// At `at` the host has received `segments` in order.
    pub(crate) fn feed(&mut self, at: Time, segments: u32) {
        if !self.over {
            self.fed.push_back((at, segments));
        }
    }

    /// The sender starts with what has come.
    pub(crate) fn start(&mut self, now: Time, sender: &mut Sender) {
        sender.allow(0);
        self.change(now, sender);
    }

    /// Hands over what has come; whether there was something.
    pub(crate) fn change(&mut self, now: Time, sender: &mut Sender) -> bool {
        if self.stop <= now {
            sender.stop();
            (self.stop, self.fed, self.over) = (Time::NEVER, VecDeque::new(), true);
            return false;
        }
        let mut grown = false;
        while let Some(&(_, segments)) = self.fed.front().filter(|(at, _)| *at <= now) {
            self.fed.pop_front();
            sender.allow(segments);
            grown = true;
        }
        grown
    }

    /// When [`Self::change`] wants to be called.
    pub(crate) fn next_change(&self) -> Time {
        self.fed.front().map_or(Time::NEVER, |(at, _)| *at).min(self.stop)
    }
}
