//! What a sending host does of its own: start, stop, the application's changes, its timers.

use bufferlab_units::Time;

use super::{SendingHost, Source, Turn};
use crate::extras::Extras;
use crate::on_off::OnOff;

impl SendingHost {
    /// What is due at `local` but acknowledgements.
    #[inline(never)]
    pub(super) fn handle_timers(&mut self, local: Time) -> Turn {
        let mut turn = Turn::Answer;
        if self.stop <= local && self.change(local) {
            turn = Turn::Send;
        }
        if self.action <= local {
            return self.act(local);
        }
        if let Source::Tcp(sender) = &mut self.source {
            if sender.is_released(local) {
                turn = Turn::Send;
            }
            sender.on_timer(local);
            if let Some(on_off) = on_off(&mut self.extras) {
                on_off.look(local, sender);
                self.stop = on_off.next_change();
            }
        }
        turn
    }

    /// There is no more data, or there is some again; whether it is the latter.
    fn change(&mut self, local: Time) -> bool {
        if let Some(on_off) = on_off(&mut self.extras)
            && let Source::Tcp(sender) = &mut self.source
            && self.started
        {
            let is_on = on_off.change(local, sender);
            self.stop = on_off.next_change();
            return is_on;
        }
        self.stop = Time::NEVER;
        match &mut self.source {
            Source::Tcp(sender) => sender.stop(),
            Source::Udp(source) => source.stop(),
        }
        if !self.started {
            self.action = Time::NEVER;
        }
        false
    }

    /// The start, or the end of a processing delay.
    #[inline(never)]
    pub(super) fn act(&mut self, local: Time) -> Turn {
        self.action = Time::NEVER;
        if !self.started {
            self.started = true;
            match &mut self.source {
                Source::Tcp(sender) => {
                    sender.start();
                    if let Some(on_off) = on_off(&mut self.extras) {
                        self.stop = on_off.start(local, self.stop, sender);
                    }
                }
                Source::Udp(source) => source.start(local),
            }
        }
        Turn::Send
    }
}

/// The application, if it is silent at times.
fn on_off(extras: &mut Option<Box<Extras>>) -> Option<&mut OnOff> {
    extras.as_deref_mut().and_then(|extras| extras.on_off.as_mut())
}
