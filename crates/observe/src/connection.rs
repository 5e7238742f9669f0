//! A connection of any protocol.

use bufferlab_capture::reading::{Content, Flags, Packet, Tcp, Udp};

use crate::counts::Counts;
use crate::key::{End, Key, Protocol};
use crate::least::Least;
use crate::leg::Leg;
use crate::link::is_long;
use crate::quic::{Quic, Trip};
use crate::sample::{Loss, Sample, Seen};
use crate::segments;
use crate::tcp;
use crate::thinned::Thinned;
use crate::trips::RoundTrips;
use crate::watched::Watched;

/// The port of HTTP/3 (RFC 9114 section 3.1); what goes there is taken for QUIC.
const QUIC_PORT: u16 = 443;
/// Losses that are kept of a direction and side. Our choice.
const MOST_LOSSES: usize = 32;

/// What a protocol adds.
#[derive(Clone, Debug)]
enum Detail {
    Tcp(Box<tcp::Connection>),
    Quic(Quic),
    Udp,
    /// Requests that wait for their reply, of either end.
    Echo([Watched<u16>; 2]),
}

/// A connection, with what is common to all protocols.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Counts connections from 0.
    pub(crate) number: u64,
    /// Which end of the key is the initiator.
    initiator: usize,
    /// The direction of the initiator's packets over the link.
    pub(crate) direction: usize,
    pub(crate) is_opened: bool,
    pub(crate) first_ns: u64,
    pub(crate) last_ns: u64,
    /// Of the initiator's packets, and of the responder's.
    pub(crate) counts: [Counts; 2],
    /// To the responder and back, to the initiator and back.
    pub(crate) legs: [Leg; 2],
    /// Until when each direction was counted as a long flow, once it is one.
    pub(crate) long_ns: [Option<u64>; 2],
    /// Of each direction once it is long: round trips ahead of the vantage point, and behind.
    pub(crate) trips: [[RoundTrips; 2]; 2],
    /// Of each direction, ahead of the vantage point and behind: losses, each with its moment and the longest of the last round trips.
    pub(crate) lost: [[Thinned<(u64, u64), MOST_LOSSES>; 2]; 2],
    /// Round trips of the whole path at once.
    whole: Least,
    detail: Detail,
}

/// The parts of a packet that say which connection it is of.
pub(crate) struct Place {
    pub(crate) key: Key,
    /// Which end of the key sends.
    pub(crate) sender: usize,
    pub(crate) from: End,
    pub(crate) to: End,
}

impl Connection {
    /// A new one by its first packet; `direction` is that packet's over the link.
    pub(crate) fn new(
        number: u64,
        now: u64,
        place: &Place,
        content: &Content,
        direction: usize,
    ) -> Connection {
        // Without its beginning, a client has the higher port.
        let is_client = place.from.1 >= place.to.1;
        let (is_opened, sends_first) = match content {
            Content::Tcp(Tcp { flags: Flags { syn: true, .. }, ack, .. }) => (ack.is_none(), ack.is_none()),
            Content::Tcp(_) => (false, is_client),
            Content::Echo { reply, .. } => (!reply, !reply),
            _ => (is_client, is_client),
        };
        let quic = place.from.1 == QUIC_PORT || place.to.1 == QUIC_PORT;
        Connection {
            number,
            initiator: if sends_first { place.sender } else { 1 - place.sender },
            direction: if sends_first { direction } else { 1 - direction },
            is_opened,
            first_ns: now,
            last_ns: now,
            counts: Default::default(),
            legs: Default::default(),
            long_ns: [None; 2],
            trips: Default::default(),
            lost: Default::default(),
            whole: Least::default(),
            detail: match place.key.protocol {
                Protocol::Tcp => Detail::Tcp(Box::default()),
                Protocol::Udp if quic => Detail::Quic(Quic::default()),
                Protocol::Udp => Detail::Udp,
                Protocol::Echo => Detail::Echo(Default::default()),
            },
        }
    }

    /// Whether the end of the key is the responder (1).
    pub(crate) fn role(&self, sender: usize) -> usize {
        sender ^ self.initiator
    }

    /// Whether a segment is of a new connection.
    pub(crate) fn is_over(&self, sender: usize, tcp: &Tcp) -> bool {
        matches!(&self.detail, Detail::Tcp(state) if state.is_over(self.role(sender), tcp))
    }

    /// A segment of TCP.
    pub(crate) fn tcp(&mut self, now: u64, sender: usize, packet: &Packet, tcp: &Tcp, seen: &mut Seen) {
        let from = self.role(sender);
        let Detail::Tcp(state) = &mut self.detail else {
            return;
        };
        self.last_ns = now;
        let segments = state.segments_of(from, tcp);
        self.counts[from].packet(now, packet, tcp.payload_bytes, segments);
        let wire_bytes = segments::wire_bytes(packet, tcp.payload_bytes, segments);
        seen.begin(tcp.payload_bytes, wire_bytes, segments == 1);
        state.segment(now, from, (packet, tcp), &mut self.counts, &mut self.legs, seen);
    }

    /// A datagram of UDP.
    pub(crate) fn udp(&mut self, now: u64, sender: usize, packet: &Packet, udp: &Udp, seen: &mut Seen) {
        let from = self.role(sender);
        self.simple(now, from, packet, udp.payload_bytes, seen);
        let path = self.path();
        let (Detail::Quic(quic), Some(byte)) = (&mut self.detail, udp.first_byte) else {
            return;
        };
        match quic.packet(now, from, byte, &path) {
            Some(Trip::Leg(to, rtt)) => drop(self.legs[to].add(rtt, 1)),
            Some(Trip::Whole(rtt)) => self.whole.add(rtt),
            None => {}
        }
    }

    /// An echo of ICMP: the reply has the request's sequence number (RFC 792, RFC 4443 section 4.2).
    pub(crate) fn echo(
        &mut self,
        now: u64,
        sender: usize,
        packet: &Packet,
        (reply, sequence): (bool, u16),
        seen: &mut Seen,
    ) {
        let from = self.role(sender);
        self.simple(now, from, packet, 0, seen);
        let Detail::Echo(waiting) = &mut self.detail else {
            return;
        };
        if !reply {
            waiting[from].put(now, sequence, None);
            return;
        }
        let of = 1 - from;
        if let Some((_, at)) = waiting[of].take(|request| request == sequence) {
            let rtt_ns = now - at;
            let excess_ns = self.legs[of].add(rtt_ns, 1);
            let sample = Sample { of, ahead: true, in_loss: false, rtt_ns, excess_ns, packets: 1 };
            seen.samples.push(sample);
        }
    }

    /// Until when a direction was counted as a long flow, if it is one now.
    pub(crate) fn long(&mut self, now: u64, from: usize) -> Option<&mut u64> {
        let counts = &self.counts[from];
        let since_ns = now - counts.first_data_ns.unwrap_or(now);
        if self.long_ns[from].is_none() && is_long(counts.payload_bytes, since_ns) {
            self.long_ns[from] = Some(0);
        }
        self.long_ns[from].as_mut()
    }

    /// A round trip, which is kept if the direction is long; whether it is.
    pub(crate) fn trip(&mut self, now: u64, sample: &Sample) -> bool {
        let is_long = self.long_ns[sample.of].is_some();
        if is_long {
            self.trips[sample.of][usize::from(!sample.ahead)].add(now, sample);
        }
        is_long
    }

    /// A loss, which is kept with what was waited before.
    pub(crate) fn lost(&mut self, now: u64, loss: &Loss) {
        if let Some(trip_ns) = loss.trip_ns {
            self.lost[loss.of][usize::from(!loss.ahead)].add((now, trip_ns));
        }
    }

    /// The smallest round trip of the path with the lower end of its interval: the sum of the legs, or of both at once where that is smaller
    /// or there are no legs.
    pub(crate) fn path_rtt(&self) -> Option<(u64, f64)> {
        let [a, b] = [&self.legs[0].least, &self.legs[1].least];
        let sum = a.smallest().zip(b.smallest()).map(|(a, b)| a + b);
        let low = a.low().zip(b.low()).map(|(a, b)| a + b);
        let sum = sum.zip(low);
        let whole = self.whole.smallest().zip(self.whole.low());
        match (sum, whole) {
            (Some(sum), Some(whole)) => Some(if whole.0 < sum.0 { whole } else { sum }),
            (sum, whole) => sum.or(whole),
        }
    }

    /// State of TCP, if it is that.
    pub(crate) fn as_tcp(&self) -> Option<&tcp::Connection> {
        match &self.detail {
            Detail::Tcp(state) => Some(state),
            _ => None,
        }
    }

    /// Whether it is QUIC, and if so, whether its spin bit spins.
    pub(crate) fn as_quic(&self) -> Option<bool> {
        match &self.detail {
            Detail::Quic(quic) => Some(quic.spins()),
            _ => None,
        }
    }

    /// The initiator and the responder.
    pub(crate) fn ends(&self, key: &Key) -> [End; 2] {
        [key.ends[self.initiator], key.ends[1 - self.initiator]]
    }

    fn simple(&mut self, now: u64, from: usize, packet: &Packet, payload: u32, seen: &mut Seen) {
        self.last_ns = now;
        self.counts[from].packet(now, packet, payload, 1);
        seen.begin(payload, packet.frame_bytes, true);
    }

    fn path(&self) -> Least {
        let mut least = self.whole;
        if let Some((rtt, _)) = self.path_rtt() {
            least.add(rtt);
        }
        least
    }
}
