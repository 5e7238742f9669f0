//! A sender that states a round-trip time which is not its own, in what routers on the path read of one.
//!
//! - In headers it writes what it likes.
//! - Timestamps (RFC 7323): a packet says which timestamp of its sender came back last. Where an older one is named, a router
//!   that waits for the echo of one that it saw waits longer; a newer one may be guessed.
//! - The handshake: a router takes the time from the SYN to the first data. A sender that holds its data back makes it as long
//!   as it likes, once a connection. It cannot be made shorter.

use std::collections::VecDeque;

use bufferlab_units::{Span, Time};

use super::Sender;
use crate::Recovery;
use crate::config::StatedIn;

/// What a sender says in place of its own round-trip time.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    rtt: Span,
    place: StatedIn,
    /// The SYN was answered, and data waits.
    waits: bool,
    /// Timestamps that it will say have come back, and the newest that it says has.
    sent: VecDeque<Time>,
    echoed: Option<Time>,
}

impl Statement {
    pub(super) fn new(rtt: Span, place: StatedIn) -> Statement {
        Statement { rtt, place, waits: false, sent: VecDeque::new(), echoed: None }
    }

    /// How old the newest of its timestamps is that it says has come back, as a packet with another one leaves; zero
    /// for none. A router looks for one that it saw, so it is one that was sent.
    fn echo_age(&mut self, now: Time) -> Span {
        while let Some(stamp) = self.sent.front().copied().filter(|&stamp| stamp + self.rtt <= now) {
            self.sent.pop_front();
            self.echoed = Some(stamp);
        }
        self.sent.push_back(now);
        self.echoed.map_or(Span::ZERO, |stamp| now - stamp)
    }
}

impl Sender {
    /// The round-trip time and the age of the newest timestamp that has come back, as a packet that leaves now has
    /// them; zero before the first sample.
    #[inline(always)]
    pub fn stated(&mut self, now: Time) -> (Span, Span) {
        if self.rare.is_none() { (self.srtt(), self.echo_age(now)) } else { self.stated_or_own(now) }
    }

    #[inline(never)]
    fn stated_or_own(&mut self, now: Time) -> (Span, Span) {
        let own = (self.srtt(), self.echo_age(now));
        let statement = self.rare.as_deref_mut().and_then(|rare| rare.statement.as_mut());
        match statement {
            Some(Statement { rtt, place: StatedIn::Header, .. }) => (*rtt, own.1),
            Some(statement) if statement.place == StatedIn::Timestamps => (own.0, statement.echo_age(now)),
            _ => own,
        }
    }

    fn held_by(&mut self) -> Option<&mut Statement> {
        let statement = self.rare.as_deref_mut()?.statement.as_mut()?;
        (statement.place == StatedIn::Handshake).then_some(statement)
    }

    /// The SYN that was sent at `syn` is answered: whether data waits, and the connection does not open yet.
    pub(super) fn holds_data(&mut self, now: Time, syn: Time) -> bool {
        let Some(statement) = self.held_by() else { return false };
        let until = syn + statement.rtt;
        let begins = !statement.waits && now < until;
        statement.waits |= begins;
        let waits = statement.waits;
        if begins {
            self.timers.start(now, until - now);
        }
        waits
    }

    /// Whether data waited until now for no other reason. The connection opens then, as the answer to the SYN had it do.
    pub(super) fn opens_late(&mut self) -> bool {
        let waited = self.held_by().is_some_and(|statement| std::mem::take(&mut statement.waits));
        if waited {
            self.recovery.on_syn_ack();
            self.timers.stop();
            self.refresh();
            if self.recovery.kind() == Recovery::LinuxNs2 {
                self.recovery.offer(&self.window);
            }
        }
        waited
    }
}
