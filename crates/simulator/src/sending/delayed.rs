//! Hosts whose processing delay holds acknowledgments back; [`crate::JitterPlan`] says which and why.
//!
//! An acknowledgment that finds the host idle draws the delay at whose end the host is ready: for it, and for those that
//! come until then. Those that wait stay in the line of those under way, and the first of them stands there with the
//! moment at which it will be handled.

use bufferlab_units::Time;

use super::{SendingHost, Turn};
use crate::context::Context;
use crate::recording::Tap;

impl SendingHost {
    #[inline]
    pub(super) fn delays_acks(&self) -> bool {
        self.extras.as_deref().is_some_and(|extras| extras.ready.is_some())
    }

    /// Handles the acknowledgment that has come by `now`, the first link's clock, if the host is ready for it.
    pub(super) fn handle_when_ready<T: Tap>(
        &mut self,
        now: Time,
        local: Time,
        context: &mut Context<T>,
    ) -> Turn {
        if self.waits_for_host(now) {
            return Turn::Wait;
        }
        self.handle(now, local, context);
        // the next one may have come before
        self.next.at = self.next.at.max(now);
        Turn::Send
    }

    fn waits_for_host(&mut self, now: Time) -> bool {
        let Some(extras) = self.extras.as_deref_mut().filter(|extras| extras.ready < Some(now)) else {
            return false;
        };
        let ready = now + extras.draw();
        (extras.ready, self.next.at) = (Some(ready), ready);
        ready > now
    }
}
