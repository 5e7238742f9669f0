//! A receiving host's network card: it interrupts the host not for each packet but some time after the first, and the host
//! then takes all that have come. Consecutive segments become one packet again (GRO), which TCP answers once.
//!
//! Sources, read as behavior:
//! - Linux 6.1 `Documentation/networking/napi.rst` (6.12) and `net/core/dev.c` (`napi_poll`, `napi_complete_done`): what has
//!   come is taken together, and what GRO holds is passed on at the end, since `gro_flush_timeout` is 0;
//! - `net/ipv4/tcp_offload.c`, `tcp_gro_receive`: segments of one connection in order, with the same timestamps, up to
//!   64 KB; a PSH ends a packet; `net/ipv4/af_inet.c`, `inet_gro_receive`: with the same ECN field;
//! - `net/ipv4/tcp_output.c`, `__tcp_transmit_skb`: a packet of several segments carries a PSH at its end.
//!
//! Departures:
//! - the time runs from the first packet and is constant; real cards adapt it to what comes;
//! - the end of a packet of several segments is known by the time of sending, which its segments share: one of which only
//!   the last segment comes with an interrupt does not end there;
//! - the host takes what has come in no time, whatever the number (NAPI's budget of 64 packets a turn).

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_transport::most_by_size;
use bufferlab_units::{Span, Time};

use crate::context::Context;
use crate::ends::Ends;
use crate::extras::Noise;
use crate::recording::Tap;

/// Timestamps count milliseconds (`TCP_TS_HZ`).
const TIMESTAMP_PS: u64 = Span::from_ms(1).as_ps();

/// What has come and waits for the host to be interrupted.
#[derive(Clone, Debug)]
pub(crate) struct Interrupts {
    delay: Span,
    /// What the host takes at random beside that.
    noise: Option<Noise>,
    /// Bytes of a whole segment on the wire, and most of them in a packet.
    segment_bytes: u32,
    most_bytes: u32,
    /// When the host takes what waits, by its own time.
    due: Time,
    waiting: Vec<Packet>,
    /// When the newest segment was sent, and how many of the last packet's were sent with it.
    newest: Time,
    together: u32,
}

impl Interrupts {
    /// Interrupts come so long after the first packet, whose segments have `mss_bytes` of payload.
    pub(crate) fn new(delay: Span, noise: Option<Noise>, mss_bytes: u32, header_bytes: u32) -> Interrupts {
        let segment_bytes = mss_bytes + header_bytes;
        Interrupts {
            delay,
            noise,
            segment_bytes,
            most_bytes: most_by_size(mss_bytes) * segment_bytes,
            due: Time::NEVER,
            waiting: Vec::new(),
            newest: Time::ZERO,
            together: 0,
        }
    }

    /// When the host will be interrupted.
    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// A packet comes.
    fn take(&mut self, local: Time, packet: &Packet) {
        if self.due == Time::NEVER {
            self.due = local + self.delay + self.noise.as_mut().map_or(Span::ZERO, Noise::draw);
        }
        if self.continues(packet)
            && let Some(whole) = self.waiting.last_mut()
        {
            whole.wire_bytes += packet.wire_bytes;
            self.together = if self.newest == packet.sent { self.together } else { 0 };
        } else {
            self.waiting.push(*packet);
            self.together = 0;
        }
        self.together += packet.wire_bytes / self.segment_bytes;
        self.newest = packet.sent;
    }

    /// Whether a segment becomes part of the packet that came last.
    fn continues(&self, packet: &Packet) -> bool {
        let tick = |sent: Time| sent.as_ps() / TIMESTAMP_PS;
        let has_ended = self.together > 1 && self.newest != packet.sent;
        self.waiting.last().is_some_and(|last| {
            let follows = last.seq + last.wire_bytes / self.segment_bytes == packet.seq;
            let alike = matches!(packet.kind, PacketKind::Data(_)) && last.kind == packet.kind;
            let apart = last.is_reduced() || packet.is_reduced();
            let fits = last.wire_bytes + packet.wire_bytes <= self.most_bytes;
            follows && alike && !apart && fits && !has_ended && tick(last.sent) == tick(packet.sent)
        })
    }
}

impl Ends {
    /// A packet comes to the card at `local`, the receiver's time; what was due earlier is done first.
    pub(super) fn deliver_to_card<T: Tap>(&mut self, local: Time, packet: &Packet, context: &mut Context<T>) {
        self.act_until(local, context);
        if self.reads_receiver(local, context)
            && let Some(interrupts) = self.receiver.interrupts_mut()
        {
            interrupts.take(local, packet);
        }
    }

    /// Does what is due up to `until`, the receiver's time: delayed acknowledgments, interrupts.
    pub(super) fn act_until<T: Tap>(&mut self, until: Time, context: &mut Context<T>) {
        loop {
            let (timer, interrupt) = (self.receiver.timer(), self.receiver.interrupt());
            let next = timer.min(interrupt);
            if next > until || next >= context.schedule.end {
                return;
            }
            if timer <= interrupt {
                self.fire_timer(timer, context);
            } else {
                self.take_what_has_come(interrupt, context);
            }
        }
    }

    fn take_what_has_come<T: Tap>(&mut self, local: Time, context: &mut Context<T>) {
        self.reads_receiver(local, context);
        let Some(interrupts) = self.receiver.interrupts_mut() else { return };
        let mut packets = std::mem::take(&mut interrupts.waiting);
        interrupts.due = Time::NEVER;
        for packet in &packets {
            self.take_apart(local, packet, context);
        }
        self.look(local, context);
        packets.clear();
        if let Some(interrupts) = self.receiver.interrupts_mut() {
            interrupts.waiting = packets;
        }
    }
}
