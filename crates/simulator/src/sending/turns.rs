//! What a sending host does on its own: start, stop, the application's changes, its timers.

use bufferlab_transport::Arrived;
use bufferlab_units::Time;

use super::{SendingHost, Source, Turn};
use crate::exchanges::ExchangeLog;
use crate::extras::Extras;
use crate::on_off::OnOff;
use crate::under_way::Arrival;
use crate::video::Video;

impl SendingHost {
    /// What is due at `local`, except acknowledgments.
    #[inline(never)]
    pub(super) fn handle_timers(&mut self, local: Time) -> Turn {
        let mut turn = Turn::Answer;
        if self.stop <= local && self.change(local) {
            turn = Turn::Send;
        }
        if self.action <= local {
            let drains = self.started && turn == Turn::Answer && self.card().is_some();
            let acted = self.act(local);
            return if drains { Turn::Drain } else { acted };
        }
        if let Source::Tcp(sender) = &mut self.source {
            if sender.is_released(local) {
                turn = Turn::Send;
            }
            sender.on_timer(local);
            if let Some((on_off, log)) = on_off(&mut self.extras) {
                on_off.look(local, sender, log);
                self.stop = on_off.next_change();
            }
        }
        turn
    }

    /// There is no more data, or there is some again; returns whether there is.
    fn change(&mut self, local: Time) -> bool {
        if let Some((on_off, log)) = on_off(&mut self.extras)
            && let Source::Tcp(sender) = &mut self.source
            && self.started
        {
            let is_on = on_off.change(local, sender, log);
            self.stop = on_off.next_change();
            return is_on;
        }
        if let Some((video, _)) = video(&mut self.extras)
            && let Source::Tcp(sender) = &mut self.source
            && self.started
        {
            let asked = video.change(local, sender);
            self.stop = video.next_change();
            return asked;
        }
        if let Some(echo) = self.extras.as_deref_mut().and_then(|extras| extras.echo.as_mut())
            && let Source::Tcp(sender) = &mut self.source
            && self.started
        {
            let grown = echo.change(local, sender);
            self.stop = echo.next_change();
            return grown;
        }
        self.stop = Time::NEVER;
        match &mut self.source {
            Source::Tcp(sender) => sender.stop(),
            Source::Datagrams(source) => source.stop(),
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
                    if let Some((on_off, log)) = on_off(&mut self.extras) {
                        self.stop = on_off.start(local, self.stop, sender, log);
                    }
                    if let Some((video, log)) = video(&mut self.extras) {
                        video.start(local, sender, log);
                        self.stop = video.next_change();
                    }
                    if let Some(echo) = self.extras.as_deref_mut().and_then(|extras| extras.echo.as_mut()) {
                        echo.start(local, sender);
                        self.stop = echo.next_change();
                    }
                }
                Source::Datagrams(source) => source.start(local),
            }
        } else if self.extras.is_some()
            && let Source::Tcp(sender) = &mut self.source
        {
            sender.end_delay();
        }
        Turn::Send
    }

    /// `delivered` segments have reached the receiver by `now`, its own time.
    pub(crate) fn note_delivered(&mut self, now: Time, delivered: u32) {
        if let Some((on_off, log)) = on_off(&mut self.extras) {
            on_off.note_delivered(now, delivered, log);
        }
        if let Some((video, log)) = video(&mut self.extras) {
            video.note_delivered(now, delivered, log);
            self.stop = video.next_change();
        }
    }

    /// Acknowledgments of `from` and more advertise a window of `segments`.
    pub(crate) fn note_window(&mut self, from: u32, segments: u32) {
        if let Source::Tcp(sender) = &mut self.source {
            sender.note_window(from, segments);
        }
    }

    /// At `at`, its own time, the host has received `segments` that it returns.
    pub(crate) fn feed(&mut self, at: Time, segments: u32) {
        if let Some(echo) = self.extras.as_deref_mut().and_then(|extras| extras.echo.as_mut()) {
            echo.feed(at, segments);
            if self.started {
                self.stop = echo.next_change();
            }
        }
    }

    /// A datagram leaves, whose data is there since `since`. Separate, like the next ones, so that the path of segments stays
    /// short.
    #[inline(never)]
    pub(super) fn note_departure(&mut self, since: Time, wire_bytes: u32) {
        if let Some(log) = self.log() {
            log.open(since, u64::from(wire_bytes));
        }
    }

    /// The answer to a datagram has come, or a call's report.
    #[inline(never)]
    pub(super) fn note_answer(&mut self, now: Time, arrival: &Arrival) {
        let Source::Datagrams(source) = &mut self.source else { return };
        let reported = source.call().map(|call| call.on_report(now, arrival.ack, arrival.echo)).is_some();
        let Some(log) = self.log() else { return };
        if reported {
            log.note_rtt(now - arrival.echo);
        } else {
            log.answer(arrival.ack as usize, now);
        }
    }

    /// Datagram `number` has reached the receiver.
    pub(crate) fn note_datagram(&mut self, now: Time, number: u32) {
        if let Some(log) = self.log() {
            log.close(number as usize, now);
        }
    }

    /// A call's packet has reached the receiver.
    pub(crate) fn note_arrived(&mut self, arrived: Arrived) {
        self.note_datagram(arrived.at, arrived.number);
        if let Source::Datagrams(source) = &mut self.source
            && let Some(call) = source.call()
        {
            call.note_arrived(arrived);
        }
    }

    fn log(&mut self) -> Option<&mut ExchangeLog> {
        self.extras.as_deref_mut()?.log.as_mut()
    }

    /// The video that it serves, if it does.
    pub(crate) fn video(&self) -> Option<&Video> {
        self.extras.as_deref()?.video.as_deref()
    }

    /// Each burst or datagram that it sends, if they are recorded.
    pub(crate) fn exchanges(&self) -> Option<&ExchangeLog> {
        self.extras.as_deref().and_then(|extras| extras.log.as_ref())
    }
}

/// The application, if it is silent at times, and its log.
fn on_off(extras: &mut Option<Box<Extras>>) -> Option<(&mut OnOff, &mut ExchangeLog)> {
    let extras = extras.as_deref_mut()?;
    Some((extras.on_off.as_mut()?, extras.log.as_mut()?))
}

/// The video that it serves, and the log of its segments.
fn video(extras: &mut Option<Box<Extras>>) -> Option<(&mut Video, &mut ExchangeLog)> {
    let extras = extras.as_deref_mut()?;
    Some((extras.video.as_deref_mut()?, extras.log.as_mut()?))
}
