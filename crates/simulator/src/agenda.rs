//! Who acts next: the event lists of the four kinds of components.

use bufferlab_units::Time;

use crate::tournament::{IDLE, Tournament};

/// A component other than a sender.
#[derive(Clone, Copy)]
pub(crate) enum Other {
    Link(usize),
    Line(usize),
    Receiver(usize),
}

/// Every component's next event. Components are numbered within their kind; senders by rank.
pub(crate) struct Agenda {
    pub(crate) senders: Tournament,
    links: Tournament,
    lines: Tournament,
    receivers: Tournament,
    /// The earliest event that is no sender's.
    others: Time,
}

impl Agenda {
    /// Nothing is due.
    pub(crate) fn new(senders: usize, links: usize, receivers: usize) -> Agenda {
        Agenda {
            senders: Tournament::new(senders),
            links: Tournament::new(links),
            lines: Tournament::new(links),
            receivers: Tournament::new(receivers),
            others: IDLE,
        }
    }

    /// A sender's event, if it comes before all others: at one moment, senders come last.
    #[inline(always)]
    pub(crate) fn next_sender(&self) -> Option<(Time, usize)> {
        let (time, rank) = self.senders.first();
        (time < self.others).then_some((time, rank))
    }

    /// The first event that is no sender's; at one moment, in the order of the kinds.
    pub(crate) fn next_other(&self) -> Option<(Time, Other)> {
        if self.others == IDLE {
            return None;
        }
        let (link_time, link) = self.links.first();
        let (line_time, line) = self.lines.first();
        let (_, receiver) = self.receivers.first();
        let next = if link_time == self.others {
            Other::Link(link)
        } else if line_time == self.others {
            Other::Line(line)
        } else {
            Other::Receiver(receiver)
        };
        Some((self.others, next))
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
        self.others = self.links.first().0.min(self.lines.first().0).min(self.receivers.first().0);
    }
}
