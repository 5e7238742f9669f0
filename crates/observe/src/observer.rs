//! Packets in, an observation out.

use bufferlab_capture::reading::{Content, Packet, Tcp};

use crate::connection::{Connection, Place};
use crate::flows::Flows;
use crate::key::{End, Key, Protocol};
use crate::limits::Limits;
use crate::link::Link;
use crate::observation::{Observation, Totals};
use crate::rows::Rows;
use crate::sample::Seen;
use crate::sides::{Sides, is_in};
use crate::times::Times;

/// Each takes memory for its two directions, whether or not it has packets.
const MOST_INTERFACES: usize = 1_024;

/// Takes packets in the order of a capture, and keeps what they say in bounded memory.
#[derive(Clone, Debug)]
pub struct Observer {
    limits: Limits,
    times: Times,
    totals: Totals,
    flows: Flows<Connection>,
    rows: Rows,
    sides: Sides,
    links: Interfaces,
    seen: Seen,
}

/// Out and in of each interface.
#[derive(Clone, Debug)]
struct Interfaces {
    links: Vec<[Link; 2]>,
    bins: usize,
}

impl Interfaces {
    fn of(&mut self, interface: u32) -> &mut [Link; 2] {
        let place = interface as usize;
        if self.links.len() <= place {
            self.links.resize_with(place + 1, || [0, 1].map(|_| Link::new(self.bins)));
        }
        &mut self.links[place]
    }
}

impl Observer {
    /// An observer that has seen nothing.
    pub fn new(limits: Limits) -> Observer {
        Observer {
            times: Times::default(),
            totals: Totals::default(),
            flows: Flows::new(limits.flows),
            rows: Rows::new(limits.rows),
            sides: Sides::new(&limits.inside, limits.joined),
            links: Interfaces { links: Vec::new(), bins: limits.bins },
            seen: Seen::default(),
            limits: Limits { interfaces: limits.interfaces.min(MOST_INTERFACES), ..limits },
        }
    }

    /// The next packet. One with an earlier time than one before it is taken as of that time, but for those that its neighbors contradict.
    pub fn packet(&mut self, packet: &Packet) {
        if !self.is_wanted(packet) {
            return;
        }
        let place = match self.times.before(packet.at_ns) {
            Some((held, is_wrong)) => {
                self.totals.wrong_times += u64::from(is_wrong);
                self.take(&held);
                held
            }
            None => Box::new(*packet),
        };
        self.times.hold(place, packet);
    }

    fn is_wanted(&self, packet: &Packet) -> bool {
        let only = &self.limits.only;
        only.is_empty() || is_in(only, packet.source) || is_in(only, packet.destination)
    }

    fn take(&mut self, packet: &Packet) {
        let now = self.count(packet);
        if packet.interface as usize >= self.limits.interfaces {
            self.totals.other_interface_packets += 1;
            return;
        }
        let interface = if self.limits.joined { 0 } else { packet.interface };
        let Some(place) = place(packet, interface) else {
            let direction = self.sides.direction(packet);
            self.seen.begin(0, packet.frame_bytes, true);
            self.links.of(interface)[direction].packet(now, packet, &self.seen, None);
            return;
        };
        let entry = self.connection(now, &place, packet);
        let connection = self.flows.get(entry);
        let loaded = self.links.of(interface).each_ref().map(|link| link.is_loaded(now));
        self.seen.loaded = [0, 1].map(|role| loaded[connection.direction ^ role]);
        match &packet.content {
            Content::Tcp(tcp) => connection.tcp(now, place.sender, packet, tcp, &mut self.seen),
            Content::Udp(udp) => connection.udp(now, place.sender, packet, udp, &mut self.seen),
            &Content::Echo { reply, sequence, .. } => {
                connection.echo(now, place.sender, packet, (reply, sequence), &mut self.seen);
            }
            _ => {}
        }
        let from = connection.role(place.sender);
        let outward = connection.direction;
        let long = connection.long(now, from);
        let link = self.links.of(interface);
        link[outward ^ from].packet(now, packet, &self.seen, long);
        if self.seen.delivered_bytes > 0 {
            link[outward ^ from ^ 1].delivered(now, self.seen.delivered_bytes);
        }
        for sample in &self.seen.samples {
            let is_long = connection.trip(now, sample);
            link[outward ^ sample.of].sample(now, sample, is_long);
        }
        if let Some(loss) = &self.seen.loss {
            connection.lost(now, loss);
            link[outward ^ loss.of].loss(now, loss);
        }
    }

    /// Ends all connections: what was seen.
    pub fn finish(mut self) -> Observation {
        if let Some(last) = self.times.end() {
            self.take(&last);
        }
        for (key, connection) in std::mem::replace(&mut self.flows, Flows::new(1)).into_all() {
            self.end(&key, &connection, false);
        }
        let (connections, directions, trips, losses, (left_out, left_out_bytes)) = self.rows.finish();
        let totals = Totals { left_out_connections: left_out, left_out_bytes, ..self.totals };
        let mut tables =
            Observation { totals, connections, directions, trips, losses, ..Observation::default() };
        for (interface, ways) in (0..).zip(self.links.links) {
            for (direction, way) in (0..).zip(ways) {
                way.finish((interface, direction), &mut tables);
            }
        }
        tables
    }

    /// Counts a packet; returns its time.
    fn count(&mut self, packet: &Packet) -> u64 {
        let totals = &mut self.totals;
        if totals.packets == 0 {
            (totals.first_ns, totals.last_ns) = (packet.at_ns, packet.at_ns);
        }
        if packet.at_ns < totals.last_ns {
            totals.backward_packets += 1;
            totals.backward_ns = totals.backward_ns.max(totals.last_ns - packet.at_ns);
        }
        totals.last_ns = totals.last_ns.max(packet.at_ns);
        totals.packets += 1;
        totals.frame_bytes += u64::from(packet.frame_bytes);
        totals.sided_packets += u64::from(packet.outbound.is_some() || packet.stations.is_some());
        totals.tunneled_packets += u64::from(packet.tunneled);
        totals.cut_options_packets +=
            u64::from(matches!(packet.content, Content::Tcp(Tcp { is_cut: true, .. })));
        *match packet.content {
            Content::Tcp(_) => &mut totals.tcp_packets,
            Content::Udp(_) => &mut totals.udp_packets,
            Content::Echo { .. } => &mut totals.echo_packets,
            Content::Fragment => &mut totals.fragment_packets,
            Content::Other(_) => &mut totals.other_packets,
            Content::Cut => &mut totals.cut_packets,
        } += 1;
        totals.last_ns
    }

    /// The entry of a packet's connection, which may be new.
    fn connection(&mut self, now: u64, place: &Place, packet: &Packet) -> usize {
        let found = self.flows.find(&place.key);
        if let Some(entry) = found {
            let idle_ns = self.limits.idle_ns;
            let connection = self.flows.get(entry);
            let is_over = match &packet.content {
                Content::Tcp(tcp) => connection.is_over(place.sender, tcp),
                _ => now - connection.last_ns > idle_ns,
            };
            if !is_over {
                return entry;
            }
        }
        let number = self.totals.connections;
        self.totals.connections += 1;
        let direction = self.sides.learn(packet, [place.from.1, place.to.1]);
        let new = Connection::new(number, now, place, &packet.content, direction);
        if new.is_opened {
            self.links.of(place.key.interface)[new.direction].begin(now);
        }
        if let Some(entry) = found {
            let old = std::mem::replace(self.flows.get(entry), new);
            self.end(&place.key, &old, false);
            return entry;
        }
        let (entry, evicted) = self.flows.add(place.key, new);
        if let Some((key, old)) = evicted {
            self.totals.evicted_connections += 1;
            self.end(&key, &old, true);
        }
        entry
    }

    fn end(&mut self, key: &Key, connection: &Connection, is_evicted: bool) {
        if let Some(spins) = connection.as_quic() {
            let bytes = connection.counts.iter().map(|counts| counts.ip_bytes).sum::<u64>();
            self.totals.quic_bytes += bytes;
            self.totals.spinning_bytes += if spins { bytes } else { 0 };
        }
        for (from, counts) in connection.counts.iter().enumerate() {
            if counts.payload_bytes > 0 && connection.long_ns[from].is_none() {
                self.links.of(key.interface)[connection.direction ^ from].short(counts.payload_bytes);
            }
        }
        self.rows.add(key, connection, is_evicted);
    }
}

/// Which connection a packet is of; none for what has no ports.
fn place(packet: &Packet, interface: u32) -> Option<Place> {
    let (protocol, from, to) = match &packet.content {
        Content::Tcp(tcp) => (Protocol::Tcp, tcp.source_port, tcp.destination_port),
        Content::Udp(udp) => (Protocol::Udp, udp.source_port, udp.destination_port),
        Content::Echo { identifier, .. } => (Protocol::Echo, *identifier, *identifier),
        Content::Fragment | Content::Other(_) | Content::Cut => return None,
    };
    let (from, to): (End, End) = ((packet.source, from), (packet.destination, to));
    let (key, sender) = Key::new(from, to, protocol, interface);
    Some(Place { key, sender, from, to })
}
