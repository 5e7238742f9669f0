//! A TCP connection as both of its directions show it.

use bufferlab_capture::reading::{Edges, Packet, Tcp};

use crate::arrived::Arrived;
use crate::clock::Clock;
use crate::counts::Counts;
use crate::handshake::Handshake;
use crate::holes::{Holes, Kind, Sent};
use crate::leg::{Leg, Recent};
use crate::marks::Marks;
use crate::prompt::Prompt;
use crate::repeats::Repeats;
use crate::sample::{Loss, Sample, Seen};
use crate::segments;
use crate::sequence::{is_near, widen};
use crate::silences::{Silences, Trip};
use crate::start::Start;
use crate::watched::Watched;

/// Clocks of milliseconds do not show less.
const TICK_NS: u64 = 1_000_000;

/// An echo tells what a queue holds if the sender was not silent for longer than such a part of it.
const SILENT_PART: u64 = 4;
/// Losses of before the capture are repaired by then. Our choice.
const CUT_NS: u64 = 1_000_000_000;
/// A sample stands for packets of the last two round trips, or of this time if that is longer. Our choice.
const STANDS_NS: u64 = 100_000_000;
/// Samples by a sender's clock in a round trip at most.
const TRIPS: u64 = 8;

/// One direction: what its sender has sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sending {
    pub(crate) isn: Option<u32>,
    pub(crate) mss: Option<u16>,
    pub(crate) scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    pub(crate) has_stamps: bool,
    arrived: Arrived,
    pub(crate) repeats: Repeats,
    /// Of its data, as the other side echoes them.
    pub(crate) marks: Marks,
    /// Behind the newest byte that was seen; 0 before the first.
    next: u64,
    /// Acknowledged up to there; 0 before the first acknowledgment.
    una: u64,
    holes: Holes,
    /// The losses of one episode lie before it.
    recovery: u64,
    /// Acknowledgments up to there are no samples.
    unclear: u64,
    /// Ends of segments that wait for a cumulative acknowledgment, and of those that wait for a SACK block; timestamps with whether data
    /// came with them.
    segments: Watched<u64>,
    blocks: Watched<u64>,
    stamps: Watched<(u32, bool)>,
    prompt: Prompt,
    start: Start,
    pub(crate) silences: Silences,
    clock: Clock,
    /// When its data was first seen; and data before this number may have been sent before the capture began.
    first_data_ns: Option<u64>,
    cut: u64,
    last_trip_ns: u64,
    last_stamp: Option<u32>,
    last_data_ns: u64,
    last_copy: (u64, u64, u16),
    has_zero_window: bool,
    /// Of this direction's data: ahead of the vantage point, and behind; and when the last sample was taken, with the number of packets until then.
    recent: [Recent; 2],
    sampled: [(u64, u64); 2],
    packets: u64,
}

/// Both directions: the initiator's, and the responder's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connection {
    pub(crate) sending: [Sending; 2],
    handshake: Handshake,
}

impl Connection {
    /// Whether a segment opens another connection between the same ports: a SYN with another initial sequence number.
    pub(crate) fn is_over(&self, from: usize, tcp: &Tcp) -> bool {
        let [me, peer] = [&self.sending[from], &self.sending[1 - from]];
        let answered = peer.isn.is_some() && widen(me.next, tcp.seq.wrapping_add(1)) == me.next;
        tcp.flags.syn && tcp.ack.is_none() && me.isn.map_or(me.next != 0 && !answered, |isn| isn != tcp.seq)
    }

    /// The number of segments that a packet of one direction stands for.
    pub(crate) fn segments_of(&self, from: usize, tcp: &Tcp) -> u32 {
        segments::count(tcp, self.sending[1 - from].mss)
    }

    /// A segment.
    pub(crate) fn segment(
        &mut self,
        now: u64,
        from: usize,
        (packet, tcp): (&Packet, &Tcp),
        counts: &mut [Counts; 2],
        legs: &mut [Leg; 2],
        seen: &mut Seen,
    ) {
        if let Some(rtt) = self.handshake.segment(now, from, tcp) {
            legs[1 - from].add(rtt, 1);
        }
        self.note(from, tcp, &mut counts[from]);
        if tcp.flags.rst {
            return;
        }
        let stamp = tcp.stamps.map(|(value, _)| value);
        let segments = u64::from(self.segments_of(from, tcp));
        let me = &mut self.sending[from];
        me.packets += if tcp.payload_bytes > 0 { segments } else { 0 };
        let trip_ns = me.recent[1].largest();
        let sent = Sent { at: now, identification: packet.identification, stamp, trip_ns };
        let silent_ns = now - self.sending[from].last_data_ns;
        self.data(from, tcp, sent, counts, legs, seen);
        if let Some(ack) = tcp.ack {
            let waited_ns = self.acknowledgment_waited(now, from, tcp, legs, seen);
            self.acknowledgment(now, from, (tcp, ack, waited_ns), counts, legs, seen);
        }
        if !tcp.flags.syn {
            self.stamps(now, from, tcp, silent_ns, legs, seen);
        }
    }

    /// Options and flags.
    fn note(&mut self, from: usize, tcp: &Tcp, counts: &mut Counts) {
        let me = &mut self.sending[from];
        me.has_stamps |= tcp.stamps.is_some();
        if tcp.flags.syn {
            me.isn = Some(tcp.seq);
            me.mss = tcp.mss;
            me.scale = tcp.scale;
            me.sack_permitted = tcp.sack_permitted;
            return;
        }
        me.has_zero_window = tcp.window == 0 && !tcp.flags.rst;
        counts.zero_windows += u64::from(me.has_zero_window);
        counts.ece_packets += u64::from(tcp.flags.ece);
        counts.sack_packets += u64::from(!tcp.sacks.blocks().is_empty());
    }

    /// What a packet's sequence numbers say: new data, a hole, a repetition.
    fn data(
        &mut self,
        from: usize,
        tcp: &Tcp,
        sent: Sent,
        counts: &mut [Counts; 2],
        legs: &[Leg; 2],
        seen: &mut Seen,
    ) {
        let [me, peer] = pair(&mut self.sending, from);
        let counts = &mut counts[from];
        let payload = tcp.payload_bytes;
        let start = widen(me.next, tcp.seq) + u64::from(tcp.flags.syn);
        let end = start + u64::from(payload) + u64::from(tcp.flags.fin);
        if me.next == 0 || (me.last_data_ns == 0 && me.isn.is_none() && me.next < start && payload > 0) {
            // what was under way when the capture began was acknowledged in it, but is not missed
            me.next = start;
        }
        if !is_near(start, me.next) || !is_near(end, me.next) {
            counts.strange_packets += 1;
            return;
        }
        if payload > 0 && tcp.flags.cwr {
            me.marks.reduced(start);
        }
        let probes = payload <= 1 && start < me.next && (peer.has_zero_window || me.una == me.next);
        if payload > 0 && !probes {
            let copy = (start, end, sent.identification.unwrap_or(0));
            if copy.2 != 0 && std::mem::replace(&mut me.last_copy, copy) == copy {
                counts.doubled_packets += 1;
                return;
            }
            if start < me.next {
                let least_ns = [from, 1 - from].map(|to| legs[to].least.smallest());
                let round_trip = least_ns[0].zip(least_ns[1]).map(|(there, back)| there + back);
                let kind = me.holes.fill(start, end.min(me.next), sent, round_trip);
                let segments_of = |bytes| u64::from(segments::of_part(bytes, tcp, peer.mss));
                me.again(
                    from,
                    (start, end.min(me.next)),
                    kind,
                    (payload, segments_of, sent.at, least_ns),
                    counts,
                    seen,
                );
            }
            me.last_data_ns = sent.at;
        }
        if payload > 0 {
            me.first_data_ns.get_or_insert(sent.at);
        }
        if start > me.next {
            me.cut = if me.is_cut(sent.at) { start } else { me.cut };
            me.holes.open(me.next, start, sent);
            me.unclear = end;
        }
        if end > me.next {
            if payload > 0 {
                let trip = (me.una > 0 && me.una >= me.next).then(|| me.trip(from, legs)).flatten();
                let segments = u64::from(segments::count(tcp, peer.mss));
                me.silences.sent(sent.at, (end - me.next, segments), trip);
            }
            me.next = end;
            let least_ns = legs[from].least.smallest();
            if payload > 0 && me.una >= me.unclear && me.holes.is_empty() {
                me.segments.put(sent.at, end, least_ns);
            }
            if payload > 0 {
                me.blocks.put(sent.at, end, least_ns);
            }
        }
    }

    /// What an acknowledgment without data waited between its sender and the vantage point, where long flows fill that way; else nothing.
    ///
    /// Round trips of the other side's data contain it, and it is no wait of that data's.
    fn acknowledgment_waited(
        &mut self,
        now: u64,
        from: usize,
        tcp: &Tcp,
        legs: &[Leg; 2],
        seen: &Seen,
    ) -> u64 {
        let (Some((value, _)), true, 0) = (tcp.stamps, seen.loaded[from], tcp.payload_bytes) else {
            return 0;
        };
        let least_ns = legs[1 - from].least.smallest().unwrap_or(0);
        let is_data_loaded = seen.loaded[1 - from];
        let waited_ns = self.sending[from].clock.packet(now, value, least_ns, is_data_loaded);
        waited_ns.filter(|&waited_ns| waited_ns > TICK_NS).unwrap_or(0)
    }

    fn acknowledgment(
        &mut self,
        now: u64,
        from: usize,
        (tcp, ack, waited_ns): (&Tcp, u32, u64),
        counts: &mut [Counts; 2],
        legs: &mut [Leg; 2],
        seen: &mut Seen,
    ) {
        let of = 1 - from;
        let [peer, me] = pair(&mut self.sending, of);
        let ack = widen(peer.next, ack);
        if peer.next == 0 {
            (peer.next, peer.una) = (ack, ack);
        }
        if !is_near(ack, peer.next) {
            counts[from].strange_packets += 1;
            return;
        }
        if !tcp.flags.syn && ack >= peer.una {
            peer.marks.acknowledged(ack, tcp.flags);
        }
        // Nothing was missed of a direction that is not captured at all.
        let is_captured = counts[of].packets > 0;
        if !peer.holes.is_empty() {
            counts[of].missed_bytes += peer.holes.acknowledge(ack, peer.cut);
        }
        if ack > peer.next {
            let is_missed = is_captured && !peer.is_cut(now);
            counts[of].missed_bytes += if is_missed { ack - peer.next } else { 0 };
            peer.next = ack;
        }
        let full = segments::full(me.mss, tcp);
        peer.repeats.blocks(&tcp.sacks, ack, full);
        peer.blocks.pass(|end| end <= ack);
        if let Some(at) = peer.reported(&tcp.sacks, ack) {
            add(now, (of, true, (now - at).saturating_sub(waited_ns)), &mut legs[of], peer, seen);
        }
        if peer.una == 0 {
            peer.una = ack;
        }
        let new_bytes = ack.saturating_sub(peer.una);
        seen.delivered_bytes = peer.delivered(&tcp.sacks, ack);
        if new_bytes == 0 {
            return;
        }
        peer.una = ack;
        peer.silences.acknowledged(now);
        let is_prompt = peer.prompt.acknowledge(now, new_bytes, full);
        let leg = &mut legs[of];
        if let Some((_, at)) = peer.segments.take(|end| end == ack) {
            let rtt_ns = (now - at).saturating_sub(waited_ns);
            if is_prompt {
                add(now, (of, false, rtt_ns), leg, peer, seen);
            } else {
                leg.add(rtt_ns, 0);
            }
        }
        peer.segments.pass(|end| end <= ack);
        peer.repeats.acknowledge(now, ack, leg.least.smallest());
    }

    /// Timestamps: the first packet with a value, and the first with its echo (B. Veal, K. Li and D. Lowenthal, "New methods for passive
    /// estimation of TCP round-trip times", PAM 2005, section 3; RFC 7323 section 4).
    ///
    /// A receiver echoes the oldest segment that it has not acknowledged, and holds its acknowledgment back: echoes of data are too
    /// long by that and count for the minimum only. The echo of an acknowledgment comes with the data that it released; of a sender that is
    /// not silent it tells what the queue between sender and vantage point holds, but for what the sender itself waits: one that paces sends
    /// at its own times. Where its clock is known, packets' own times tell instead.
    fn stamps(
        &mut self,
        now: u64,
        from: usize,
        tcp: &Tcp,
        silent_ns: u64,
        legs: &mut [Leg; 2],
        seen: &mut Seen,
    ) {
        let Some((value, echo)) = tcp.stamps else {
            return;
        };
        let [me, peer] = pair(&mut self.sending, from);
        let least_there_ns = legs[from].least.smallest();
        let leg = &mut legs[1 - from];
        if tcp.ack.is_some()
            && let Some(((_, with_data), at)) = peer.stamps.take(|(value, _)| value == echo)
        {
            let rtt_ns = now - at;
            let is_good = !with_data
                && tcp.payload_bytes > 0
                && silent_ns <= rtt_ns / SILENT_PART
                && !me.clock.is_known(now);
            me.clock.echo(rtt_ns);
            if is_good {
                me.waited(now, from, rtt_ns, leg, seen);
            } else {
                leg.add(rtt_ns, 0);
            }
        }
        if tcp.payload_bytes > 0
            && let Some(least_ns) = leg.least.smallest()
            && let Some(excess_ns) = me.clock.packet(now, value, least_ns, seen.loaded[1 - from])
            && now - me.last_trip_ns >= least_ns / TRIPS
        {
            me.last_trip_ns = now;
            me.waited(now, from, least_ns + excess_ns, leg, seen);
        }
        if me.last_stamp.is_none_or(|last| value.wrapping_sub(last).cast_signed() > 0) {
            me.last_stamp = Some(value);
            me.stamps.put(now, (value, tcp.payload_bytes > 0), least_there_ns);
        }
    }
}

impl Sending {
    /// When the segment was seen that an acknowledgment's first SACK block reports. A receiver that misses data acknowledges each segment at
    /// once (RFC 5681 section 4.2), and the block that contains it comes first (RFC 2018 section 4), so its right edge is the segment's end
    /// where that was sent once. A block that is a duplicate's (RFC 2883 section 4) lies below the acknowledgment. Linux holds such
    /// acknowledgments back for up to 1 ms (`net.ipv4.tcp_comp_sack_delay_ns`, since 4.18).
    fn reported(&mut self, sacks: &Edges, ack: u64) -> Option<u64> {
        let &(_, right) = sacks.blocks().first()?;
        let right = widen(self.next, right);
        let taken = (right > ack).then(|| self.blocks.take(|end| end == right))?;
        taken.map(|(_, at)| at)
    }

    /// Whether the flow is older than the capture, which began a moment ago: what was sent before that and lies beyond a hole is not seen.
    fn is_cut(&self, now: u64) -> bool {
        self.isn.is_none() && self.first_data_ns.is_none_or(|at| now - at < CUT_NS)
    }

    /// How many bytes have arrived since the last acknowledgment: those that it covers, and those in its blocks.
    fn delivered(&mut self, sacks: &Edges, ack: u64) -> u64 {
        let mut bytes = self.arrived.acknowledge(self.una, self.una.max(ack));
        for &(left, right) in sacks.blocks() {
            let (start, end) = (widen(self.next, left), widen(self.next, right));
            if start > ack && end <= self.next {
                bytes += self.arrived.block(start, end);
            }
        }
        bytes
    }

    /// The round trip of the moment, if one is known of either side.
    fn trip(&self, from: usize, legs: &[Leg; 2]) -> Option<Trip> {
        let least_ns = [from, 1 - from].map(|to| legs[to].least.smallest().unwrap_or(0));
        let longest = |side: usize| self.recent[side].largest().unwrap_or(least_ns[side]);
        let longest_ns = longest(0).saturating_add(longest(1));
        (longest_ns > 0).then_some(Trip { longest_ns, least_ns })
    }

    /// A round trip between this sender and the vantage point.
    fn waited(&mut self, now: u64, of: usize, rtt_ns: u64, leg: &mut Leg, seen: &mut Seen) {
        let packets = self.packets_since(1, now, rtt_ns);
        let excess_ns = leg.add(rtt_ns, packets);
        self.recent[1].add(now, rtt_ns);
        seen.samples.push(Sample { of, ahead: false, in_loss: false, rtt_ns, excess_ns, packets });
    }

    /// For how many packets a round trip stands: those since the last one of that side, but not those of long ago, of which it says nothing.
    fn packets_since(&mut self, place: usize, now: u64, rtt_ns: u64) -> u64 {
        let (at, since) = std::mem::replace(&mut self.sampled[place], (now, self.packets));
        let (passed_ns, packets) = (now.saturating_sub(at), self.packets - since);
        let most_ns = STANDS_NS.max(rtt_ns.saturating_mul(2));
        let part = most_ns as f64 / passed_ns.max(most_ns) as f64;
        ((packets as f64 * part) as u64).max(1)
    }

    /// Data from `start` to `end` comes a second time, or late.
    fn again(
        &mut self,
        of: usize,
        (start, end): (u64, u64),
        kind: Kind,
        (payload, segments_of, now, least_ns): (u32, impl Fn(u32) -> u64, u64, [Option<u64>; 2]),
        counts: &mut Counts,
        seen: &mut Seen,
    ) {
        let (bytes, ahead, trip_ns) = match kind {
            Kind::Reordered => {
                counts.reordered_segments += segments_of(payload);
                return;
            }
            Kind::Repaired(trip_ns) => (payload, false, trip_ns),
            Kind::Repeated(bytes) => (bytes.min(payload), true, self.recent[0].largest()),
        };
        let [there_ns, back_ns] = least_ns;
        let least_ns = if ahead { there_ns } else { back_ns };
        let excess_ns = trip_ns.zip(least_ns).map(|(trip_ns, least_ns)| trip_ns.saturating_sub(least_ns));
        let segments = segments_of(bytes);
        counts.retransmitted_segments += segments;
        counts.retransmitted_bytes += u64::from(bytes);
        counts.lost_before_segments += if ahead { 0 } else { segments };
        let arrived = end <= self.una;
        self.repeats.sent(now, end, arrived);
        self.segments.clear();
        self.blocks.remove(|other| start < other && other <= end);
        self.unclear = self.unclear.max(self.next);
        // where no acknowledgment is seen, what is sent again beyond the last loss is another
        let is_repaired = if self.una > 0 { self.una >= self.recovery } else { end > self.recovery };
        if !arrived && is_repaired {
            self.recovery = self.next;
            counts.loss_episodes += 1;
            seen.loss = Some(Loss { of, ahead, trip_ns, excess_ns });
        }
        if !arrived && self.isn.is_some() {
            let round_trip_ns =
                there_ns.zip(back_ns).map_or(0, |(there_ns, back_ns)| there_ns.saturating_add(back_ns));
            self.start.again(now, round_trip_ns.saturating_add(excess_ns.unwrap_or(0)), segments, counts);
        }
    }
}

/// A round trip from the vantage point to the receiver and back.
fn add(
    now: u64,
    (of, in_loss, rtt_ns): (usize, bool, u64),
    leg: &mut Leg,
    sender: &mut Sending,
    seen: &mut Seen,
) {
    let packets = sender.packets_since(0, now, rtt_ns);
    let excess_ns = leg.add(rtt_ns, packets);
    sender.recent[0].add(now, rtt_ns);
    seen.samples.push(Sample { of, ahead: true, in_loss, rtt_ns, excess_ns, packets });
}

/// One direction, and the other.
fn pair(sending: &mut [Sending; 2], from: usize) -> [&mut Sending; 2] {
    let [a, b] = sending;
    if from == 0 { [a, b] } else { [b, a] }
}
