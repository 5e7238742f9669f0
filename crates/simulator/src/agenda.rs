//! Which component acts next: the event lists of the four kinds of components.

use bufferlab_units::Time;

use crate::tournament::{Key, Tournament};

/// A component other than a sender.
#[derive(Clone, Copy)]
pub(crate) enum Other {
    Link(usize),
    Line(usize),
    Receiver(usize),
}

/// Later than any event of a component that is no sender.
const HORIZON: Time = Time::from_ps(i64::MAX as u64 - 1);

/// Every component's next event. Components are numbered within their kind; senders by rank.
pub(crate) struct Agenda<K> {
    pub(crate) senders: Tournament<K>,
    links: Tournament<i128>,
    lines: Tournament<i128>,
    receivers: Tournament<i128>,
    /// The earliest event that is no sender's.
    other: Time,
    /// Events from this time on wait for the next call.
    stop: Time,
    /// The earliest of both, or when the senders are idle if that is earlier.
    senders_until: Time,
}

impl<K: Key> Agenda<K> {
    /// Nothing is due. Senders' events after `horizon` are not distinguished.
    pub(crate) fn new(senders: usize, horizon: Time, links: usize, receivers: usize) -> Agenda<K> {
        let mut agenda = Agenda {
            senders: Tournament::new(senders, horizon),
            links: Tournament::new(links, HORIZON),
            lines: Tournament::new(links, HORIZON),
            receivers: Tournament::new(receivers, HORIZON),
            other: Time::NEVER,
            stop: Time::NEVER,
            senders_until: Time::NEVER,
        };
        agenda.settle();
        agenda
    }

    /// From now on, only events before `stop` are due.
    pub(crate) fn stop_at(&mut self, stop: Time) {
        self.stop = stop;
        self.settle();
    }

    /// A sender's event, if it comes before all others: at one moment, senders come last.
    #[inline(always)]
    pub(crate) fn next_sender(&self) -> Option<(Time, usize)> {
        let (time, rank) = self.senders.first();
        (time < self.senders_until).then_some((time, rank))
    }

    /// The first event that is no sender's; at one moment, in the order of the kinds.
    pub(crate) fn next_other(&self) -> Option<(Time, Other)> {
        if self.other > HORIZON || self.other >= self.stop {
            return None;
        }
        let (link_time, link) = self.links.first();
        let (line_time, line) = self.lines.first();
        let (_, receiver) = self.receivers.first();
        let next = if link_time == self.other {
            Other::Link(link)
        } else if line_time == self.other {
            Other::Line(line)
        } else {
            Other::Receiver(receiver)
        };
        Some((self.other, next))
    }

    /// Sets a link's event.
    pub(crate) fn set_link(&mut self, link: usize, time: Time) {
        self.links.set(link, time);
        self.settle();
    }

    /// Sets a line's event.
    pub(crate) fn set_line(&mut self, line: usize, time: Time) {
        self.lines.set(line, time);
        self.settle();
    }

    /// Sets a line's event if that makes it earlier.
    pub(crate) fn advance_line(&mut self, line: usize, time: Time) {
        self.lines.advance(line, time);
        self.settle();
    }

    /// Sets a receiver's event.
    pub(crate) fn set_receiver(&mut self, receiver: usize, time: Time) {
        self.receivers.set(receiver, time);
        self.settle();
    }

    fn settle(&mut self) {
        self.other = self.links.first().0.min(self.lines.first().0).min(self.receivers.first().0);
        self.senders_until = self.other.min(self.stop).min(self.senders.idle());
    }
}
