//! Paced senders: what reaches one between two releases is postponed until the next.
//!
//! Before a paced sender's release nothing leaves, whatever acknowledgments and timers do, and only readings see what
//! they change. So they are postponed until something may leave, and then handled in their order, each at its own time:
//! one event instead of two, an acknowledgment's and a departure's. A sender with a processing delay or an interface of
//! its own draws and waits when an acknowledgment arrives, so nothing is postponed there.

use bufferlab_transport::Sender;
use bufferlab_units::Time;

use super::{SendingHost, Source, Turn};
use crate::context::Context;
use crate::recording::Tap;

impl SendingHost {
    /// Whether what reaches the host may be postponed.
    pub(super) fn postpones(source: &Source, plain: bool) -> bool {
        plain && matches!(source, Source::Tcp(sender) if sender.is_paced())
    }

    /// When something may leave, or the host has to act, by the first link's clock.
    pub(super) fn next_release(&self, sender: &Sender) -> Time {
        let earliest = self.next.at.min(sender.deadline().saturating_add(self.offset));
        let own = self.action.min(self.stop).saturating_add(self.offset);
        earliest.max(sender.released_at().saturating_add(self.offset)).min(own)
    }

    /// Handles what arrived before `until`, the host's time, and was postponed.
    #[inline(always)]
    pub(super) fn catch_up<T: Tap>(&mut self, until: Time, context: &mut Context<T>) {
        while let Source::Tcp(sender) = &mut self.source {
            let (arrival, timer) = (self.next, sender.deadline());
            let due = until.saturating_add(self.offset);
            if arrival.at < due && arrival.at <= timer.saturating_add(self.offset) {
                self.take_next(context);
                self.take_arrival(self.local(arrival.at), arrival, context);
            } else if timer < until {
                sender.on_timer(timer);
            } else {
                return;
            }
        }
    }

    /// [`Self::handle`], after what was postponed, and when the host is ready.
    #[inline]
    pub(crate) fn handle_in_turn<T: Tap>(
        &mut self,
        now: Time,
        local: Time,
        context: &mut Context<T>,
    ) -> Turn {
        if self.postpones {
            self.catch_up(local, context);
        } else if self.delays_acks() && self.next.at <= now {
            return self.handle_when_ready(now, local, context);
        }
        self.handle(now, local, context)
    }
}
