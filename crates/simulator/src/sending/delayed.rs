//! Hosts whose processing delay holds acknowledgments back; [`crate::JitterPlan`] says which and why. A card that waits until it
//! interrupts the host is a constant part of it.
//!
//! An acknowledgment that finds the host idle draws the delay at whose end the host is ready: for it, and for those that
//! come until then. When it comes is known as soon as it is the first of those under way, so it draws then, and stands
//! there with the moment at which it will be handled: its coming needs no event. Delays are drawn in the order of the
//! moments that they begin at, all the same.

use bufferlab_units::{Span, Time};

use super::{SendingHost, Turn};
use crate::context::Context;
use crate::recording::Tap;

impl SendingHost {
    #[inline]
    pub(super) fn delays_acks(&self) -> bool {
        self.extras.as_deref().is_some_and(|extras| extras.ready.is_some())
    }

    /// Handles the acknowledgment that the host is ready for at `now`, the first link's clock.
    pub(super) fn handle_when_ready<T: Tap>(
        &mut self,
        now: Time,
        local: Time,
        context: &mut Context<T>,
    ) -> Turn {
        self.handle(now, local, context);
        self.wait_for_host();
        Turn::Send
    }

    /// Another acknowledgment is the first of those under way: it will be handled when the host is ready.
    pub(super) fn wait_for_host(&mut self) {
        let at = self.next.at;
        let Some(extras) = self.extras.as_deref_mut() else {
            return;
        };
        let Some(ready) = extras.ready.filter(|_| at != Time::NEVER) else {
            return;
        };
        let ready = if ready < at {
            extras.comes = at;
            at + extras.interrupt + extras.draw()
        } else {
            ready
        };
        (extras.ready, self.next.at) = (Some(ready), ready);
    }

    /// The delay of what is to be sent at `local`. If the next acknowledgment has drawn and is yet to come, that was this
    /// one's turn.
    pub(super) fn draw_in_turn(&mut self, local: Time) -> Span {
        let now = local + self.offset;
        let Some(extras) = self.extras.as_deref_mut() else {
            return Span::ZERO;
        };
        let drawn = extras.draw();
        let Some(ready) = extras.ready.filter(|_| extras.comes > now) else {
            return drawn;
        };
        let anew = extras.comes + drawn;
        (extras.ready, self.next.at) = (Some(anew), anew);
        ready - extras.comes
    }
}
