//! A flow's sending host: the transport's sender, its interface, its processing delay, and the
//! acknowledgments on their way to it.
//!
//! A sender's clock runs ahead of its first link's by the delay between them: the engine hands it an
//! acknowledgment at the moment when the answer reaches that link. Nothing else happens in between, since a
//! delay changes nothing, so one event serves for three.

mod card;
mod delayed;
mod paced;
mod reading;
mod setup;
mod turns;

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_transport::{Ack, DatagramSource, SackBlocks, Segment, SegmentKind, Sender, SenderCounters};
use bufferlab_units::{Span, Time};

use crate::context::Context;
use crate::extras::Extras;
use crate::plan::JitterPlan;
use crate::pool::Queue;
use crate::readings::Readings;
use crate::recording::Tap;
use crate::under_way::Arrival;
pub(crate) use setup::SendingSetup;

/// The source of a host's packets.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all sources are TCP, and a box is a look into memory more"
)]
pub(crate) enum Source {
    Tcp(Sender),
    Datagrams(DatagramSource),
}

/// Where a host stands in the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) flow: u32,
    pub(crate) first_link: u32,
    pub(crate) group: u16,
    /// Its data crosses one link, and its acknowledgments none.
    pub(crate) single_link: bool,
    pub(crate) capable: Capable,
}

/// What of a flow's data may be marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capable {
    Nothing,
    /// All but what is sent again (RFC 3168 section 6.1.5).
    New,
    /// All, with a control that asks for marks (RFC 8257 section 3.3; retransmissions as in Linux).
    All,
    /// All, with L4S's codepoint (RFC 9331 section 4.1).
    L4s,
}

impl Capable {
    #[inline(always)]
    fn ecn(self, kind: SegmentKind) -> Ecn {
        match self {
            Capable::Nothing => Ecn::Incapable,
            Capable::New if kind != SegmentKind::New => Ecn::Incapable,
            Capable::New | Capable::All => Ecn::Capable,
            Capable::L4s => Ecn::Scalable,
        }
    }
}

/// A sending host. Its fields lie in this order: those that each event touches, then the others.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct SendingHost {
    /// The next acknowledgment to arrive, at [`Time::NEVER`] if none is on its way. Here and not in the pool,
    /// so that with thousands of flows one memory access is enough.
    next: Arrival,
    /// Those behind it.
    arrivals: Queue,
    readings: Readings,
    /// When the host acts on its own: start, or the end of a processing delay.
    action: Time,
    /// When there is no more data, or the application changes.
    stop: Time,
    /// Between the host and its first link.
    offset: Span,
    extras: Option<Box<Extras>>,
    data_bytes: u32,
    syn_bytes: u32,
    /// Its place in the network.
    pub(crate) identity: Identity,
    /// Its packets cross one link only, and nothing that reaches it is postponed or delayed.
    pub(crate) direct: bool,
    /// Acknowledgments and timers are postponed while its pace lets nothing leave; see `paced`.
    postpones: bool,
    started: bool,
    /// Its packets state round-trip times, as a queue or its receiver reads them.
    states: bool,
    source: Source,
    /// Their SACK blocks, of those that have some.
    blocks: Queue,
    start: Time,
    at_warmup: Option<Box<SenderCounters>>,
}

impl SendingHost {
    /// The host's time when its first link's is `now`.
    #[inline]
    pub(crate) fn local(&self, now: Time) -> Time {
        Time::from_ps(now.as_ps() - self.offset.as_ps())
    }

    /// An acknowledgment will reach the host, by its own clock, at `at`.
    #[inline(always)]
    pub(crate) fn expect<T: Tap>(&mut self, at: Time, ack: Ack, context: &mut Context<T>) {
        let arrival = Arrival::new(at + self.offset, ack);
        if self.next.at == Time::NEVER {
            self.next = arrival;
            if !self.direct {
                self.wait_for_host();
            }
        } else {
            context.under_way.arrivals.push(&mut self.arrivals, arrival);
        }
    }

    /// The SACK blocks of the acknowledgment that was expected last.
    pub(crate) fn expect_blocks<T: Tap>(&mut self, blocks: SackBlocks, context: &mut Context<T>) {
        context.under_way.blocks.push(&mut self.blocks, blocks);
    }

    /// When the next thing happens here, by the first link's clock.
    pub(crate) fn next_event(&self) -> Time {
        if self.postpones
            && let Source::Tcp(sender) = &self.source
        {
            return self.next_release(sender);
        }
        self.next_arrival().unwrap_or_else(|| self.own_event())
    }

    /// The same if that is an acknowledgment, before any event of the host's own.
    #[inline(always)]
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        let at = self.next.at;
        if at < self.own_event() { Some(at) } else { None }
    }

    /// The first of the host's own events, by the first link's clock.
    #[inline(always)]
    fn own_event(&self) -> Time {
        let own = match &self.source {
            Source::Tcp(sender) => sender.deadline(),
            // a datagram that is held back waits for `action`
            Source::Datagrams(_) if self.started && self.action != Time::NEVER => Time::NEVER,
            Source::Datagrams(source) => source.deadline(),
        };
        own.min(self.action).min(self.stop).saturating_add(self.offset)
    }

    /// Handles what is due at `now` (the first link's clock); packets to be sent follow by [`Self::transmit`].
    #[inline(always)]
    pub(crate) fn handle<T: Tap>(&mut self, now: Time, local: Time, context: &mut Context<T>) -> Turn {
        let arrival = self.next;
        if arrival.at > now {
            return self.handle_timers(local);
        }
        self.take_next(context);
        self.take_arrival(local, arrival, context);
        if self.action <= local { self.act(local) } else { Turn::Answer }
    }

    #[inline(always)]
    fn take_next<T: Tap>(&mut self, context: &mut Context<T>) {
        if !context.under_way.arrivals.pop_into(&mut self.arrivals, &mut self.next) {
            self.next.at = Time::NEVER;
        }
    }

    #[inline(always)]
    fn take_arrival<T: Tap>(&mut self, local: Time, arrival: Arrival, context: &mut Context<T>) {
        if arrival.flags != 0 {
            self.take_flagged(local, arrival, context);
        } else if let Source::Tcp(sender) = &mut self.source {
            let ack = Ack { ack: arrival.ack, echo: arrival.echo, ..Ack::default() };
            sender.on_ack(local, &ack, &SackBlocks::NONE);
        } else {
            self.note_answer(local, &arrival);
        }
    }

    /// Separate, so that an acknowledgment with only a number is not checked for each of the other fields.
    #[inline(never)]
    fn take_flagged<T: Tap>(&mut self, local: Time, arrival: Arrival, context: &mut Context<T>) {
        let Source::Tcp(sender) = &mut self.source else {
            return;
        };
        let (ack, mut blocks) = (arrival.ack(), SackBlocks::NONE);
        if ack.has_sack {
            context.under_way.blocks.pop_into(&mut self.blocks, &mut blocks);
        }
        sender.on_ack(local, &ack, &blocks);
    }

    /// Whether [`Self::transmit`] may have something.
    #[inline]
    pub(crate) fn may_transmit(&self) -> bool {
        match &self.source {
            Source::Tcp(sender) => sender.may_send(),
            Source::Datagrams(_) => true,
        }
    }

    /// The next packet that leaves now, if any, of a host without a card. `turn` is what [`Self::handle`] said.
    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, local: Time, turn: Turn) -> Option<Packet> {
        if self.extras.is_some() && self.is_held(local, turn) {
            return None;
        }
        self.next_packet(now, local)
    }

    /// The next packet that the source has now, if any.
    #[inline(always)]
    fn next_packet(&mut self, now: Time, local: Time) -> Option<Packet> {
        let mut hop = 0;
        let (kind, seq, mut wire_bytes, srtt_us, echo_age_us) = match &mut self.source {
            Source::Tcp(sender) => {
                let (kind, seq, wire_bytes) = match sender.poll_transmit(local)? {
                    Segment { kind: SegmentKind::Syn, .. } => (PacketKind::Syn, 0, self.syn_bytes),
                    Segment { seq, kind } => {
                        if self.identity.capable != Capable::Nothing && sender.tells_of_reduction(kind) {
                            hop = Packet::REDUCED;
                        }
                        (PacketKind::Data(self.identity.capable.ecn(kind)), seq, self.data_bytes)
                    }
                };
                if self.states {
                    // as headers carry them
                    let (srtt, echo_age) = sender.stated(local);
                    (kind, seq, wire_bytes, micros(srtt), micros(echo_age))
                } else {
                    (kind, seq, wire_bytes, 0, 0)
                }
            }
            Source::Datagrams(source) if source.deadline() <= local => {
                let number = source.sent() as u32;
                let (since, wire_bytes) = source.emit(local);
                self.note_departure(since, wire_bytes);
                (PacketKind::Datagram, number, wire_bytes, 0, 0)
            }
            Source::Datagrams(_) => return None,
        };
        if let Some(extras) = self.extras.as_deref_mut() {
            if let Source::Tcp(sender) = &self.source
                && extras.packs
            {
                wire_bytes *= sender.segments_in_packet();
            }
            if let Some(rate) = extras.access {
                extras.access_free = local + rate.transmission(u64::from(wire_bytes));
            }
        }
        let Identity { flow, group, .. } = self.identity;
        Some(Packet {
            enqueued: now,
            sent: local,
            flow,
            seq,
            wire_bytes,
            group,
            kind,
            hop,
            srtt_us,
            echo_age_us,
        })
    }

    /// Whether the interface or the processing delay holds packets back; sets when to come again.
    #[inline(always)]
    fn is_held(&mut self, local: Time, turn: Turn) -> bool {
        let Some(extras) = self.extras.as_deref_mut().filter(|_| self.started) else {
            return false;
        };
        let jitters = extras.jitter != JitterPlan::None;
        let (prompt, may_send) = match &mut self.source {
            Source::Tcp(sender) => (jitters && sender.is_prompt(), sender.may_send()),
            Source::Datagrams(source) => (false, source.deadline() <= local),
        };
        if !may_send {
            return false;
        }
        if turn == Turn::Answer && jitters && !prompt {
            if self.action == Time::NEVER {
                self.action = local + self.draw_in_turn(local);
            }
            return true;
        }
        if local < extras.access_free {
            let waits = prompt && self.action != Time::NEVER;
            self.action = if waits { self.action } else { extras.access_free };
            return true;
        }
        false
    }

    /// When it starts, by its own clock.
    pub(crate) fn start(&self) -> Time {
        self.start
    }

    /// Delay between the host and its first link.
    pub(crate) fn offset(&self) -> Span {
        self.offset
    }

    /// When a transfer's last byte was acknowledged.
    pub(crate) fn finished(&self) -> Time {
        match &self.source {
            Source::Tcp(sender)
                if self.extras.as_deref().is_none_or(|extras| {
                    extras.on_off.is_none() && extras.echo.is_none() && extras.video.is_none()
                }) =>
            {
                sender.finished()
            }
            _ => Time::NEVER,
        }
    }
}

/// Whole microseconds, as far as 32 bits go: 71 minutes.
#[inline]
fn micros(span: Span) -> u32 {
    (span.as_ps() / 1_000_000).min(u64::from(u32::MAX)) as u32
}

/// Why a host's packets leave: in answer to something, which a processing delay may hold back, or at their own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Answer,
    Send,
    /// The host's card is ready for the next segment, and nothing has reached the sender.
    Drain,
}
