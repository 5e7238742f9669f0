//! From the engine's reports to the content of files.
//!
//! The engine reports future events, and not in order. Events wait here until none can come before them, and are then
//! handled in order, so that a host's state (the last timestamp that it received, its packets' numbers) is that of the
//! moment. The events that wait are those of packets in flight.

use std::collections::BTreeMap;

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_simulator::{Plan, Recorder, Sight, Way};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::{Rate, Span, Time};

use crate::blocks::{Output, Report};
use crate::flows::{Flow, Group, Kind};
use crate::headers::{Content, TcpSegment};
use crate::lateness;
use crate::order::Order;
use crate::pcap::{Pcap, Places};
use crate::sighting::{Known, LinkFacts, Network, Sighting, Step};
use crate::trace::{Trace, TraceFormat};

/// What waits for its turn.
#[derive(Clone, Copy)]
enum Event {
    Packet(Step, Packet),
    Answer {
        flow: u32,
        number: u32,
        ack: Ack,
        blocks: SackBlocks,
    },
    /// An answer reaches the sender without having crossed a queue.
    Home {
        flow: u32,
        number: u32,
    },
    /// A receiver offers a different window from now on, segments.
    Offers {
        flow: u32,
        segments: u32,
    },
    /// A client's SYN leaves, and reaches the server.
    Asks {
        flow: u32,
        connection: u32,
    },
    Asked {
        flow: u32,
        connection: u32,
    },
    /// A connection is opened for segments from `base`.
    Connects {
        flow: u32,
        base: u32,
    },
}

/// A packet's identity: flow, whether it is an answer, number, time of sending.
type Key = (u32, bool, u32, Time);

/// A recorder that writes files.
pub struct Recording {
    end: Time,
    /// How far behind the engine's time a report may be.
    hold: Span,
    /// The same for the start of a transmission, which only traces contain.
    transmission: Span,
    delays: Vec<Span>,
    rates: Vec<Rate>,
    /// The recorded groups.
    included: Vec<bool>,
    network: Network,
    order: Order<Event>,
    /// Events before this time were handled.
    taken: Time,
    in_flight: BTreeMap<Key, Known>,
    /// Packets are looked up between their hosts.
    tracks: bool,
    pcap: Option<Pcap>,
    trace: Option<Trace>,
}

impl Recording {
    /// A recording of all flows, or of those of some groups, without a file yet.
    pub fn new(plan: &Plan, groups: Option<&[u32]>) -> Recording {
        let links = &plan.links;
        let all = 0..plan.groups.len() as u32;
        Recording {
            end: Time::from_ps(plan.duration_ps),
            hold: lateness::of_hosts(plan),
            transmission: lateness::of_transmissions(plan),
            delays: links.iter().map(|link| Span::from_ps(link.delay_ps)).collect(),
            rates: links.iter().filter_map(|link| Rate::from_bps(link.rate_bps)).collect(),
            included: all.map(|group| groups.is_none_or(|some| some.contains(&group))).collect(),
            network: Network {
                links: links
                    .iter()
                    .map(|link| LinkFacts { name: link.name.clone(), rate_bps: link.rate_bps })
                    .collect(),
                groups: plan.groups.iter().map(Group::new).collect(),
                flows: Flow::all(plan),
                packets: 0,
            },
            order: Order::new(),
            taken: Time::ZERO,
            in_flight: BTreeMap::new(),
            tracks: false,
            pcap: None,
            trace: None,
        }
    }

    /// Writes a capture of the packets that pass some places, up to a number of packets.
    #[must_use]
    pub fn with_pcap(mut self, output: Box<dyn Output>, places: &Places, most: u64) -> Recording {
        self.tracks |= places.beyond_senders();
        let mut pcap = Pcap::new(output, places, &self.network, most);
        pcap.name_hosts(&self.network, &self.included);
        self.pcap = Some(pcap);
        self
    }

    /// Writes a trace of all events, up to a number of lines.
    #[must_use]
    pub fn with_trace(mut self, output: Box<dyn Output>, format: TraceFormat, most: u64) -> Recording {
        self.tracks = true;
        self.hold = self.hold + self.transmission;
        self.trace = Some(Trace::new(output, format, &self.network, most));
        self
    }

    /// Ends both files at the moment that the run reached; returns the states of the capture and of the trace.
    pub fn finish(mut self, reached: Time) -> (Option<Report>, Option<Report>) {
        self.end = self.end.min(reached);
        self.take_before(self.end);
        (self.pcap.map(|pcap| pcap.finish(self.end)), self.trace.map(Trace::finish))
    }

    fn push(&mut self, at: Time, event: Event) {
        debug_assert!(at >= self.taken, "recorded too late");
        if at < self.end {
            self.order.push(at, event);
        }
    }

    fn records(&self, flow: u32) -> bool {
        self.included[self.network.flows[flow as usize].group as usize]
    }

    fn take_before(&mut self, limit: Time) {
        self.taken = self.taken.max(limit);
        while let Some((at, event)) = self.order.pop_before(limit) {
            self.take(at, event);
        }
    }

    fn take(&mut self, at: Time, event: Event) {
        match event {
            Event::Packet(Step::Leaves, packet) => {
                let known = self.network.of_packet(&packet);
                self.show(at, Step::Leaves, ecn(&packet), &known);
                if self.tracks {
                    self.in_flight.insert(key(&packet), known);
                }
            }
            Event::Packet(step, packet) => self.follow(at, step, &packet),
            Event::Answer { flow, number, ack, blocks } => {
                let known = self.network.of_answer(at, flow, &ack, &blocks);
                self.show(at, Step::Leaves, Ecn::Incapable, &known);
                self.in_flight.insert((flow, true, number, Time::ZERO), known);
            }
            Event::Offers { flow, segments } => self.network.flows[flow as usize].offered = Some(segments),
            Event::Home { flow, number } => {
                if let Some(known) = self.in_flight.remove(&(flow, true, number, Time::ZERO)) {
                    self.come_home(at, &known);
                }
            }
            Event::Asks { flow, connection } => {
                let known = self.network.of_question(at, flow, connection);
                self.show(at, Step::Leaves, Ecn::Incapable, &known);
                self.in_flight.insert((flow, true, connection, Time::NEVER), known);
            }
            Event::Connects { flow, base } => self.network.flows[flow as usize].connect(base),
            Event::Asked { flow, connection } => {
                if let Some(known) = self.in_flight.remove(&(flow, true, connection, Time::NEVER)) {
                    self.come_home(at, &known);
                }
            }
        }
    }

    fn come_home(&mut self, at: Time, known: &Known) {
        if let Content::Tcp(TcpSegment { stamps: Some((value, _)), .. }) = known.content {
            self.network.flows[known.flow as usize].heard = value;
        }
        self.show(at, Step::Arrives, Ecn::Incapable, known);
    }

    /// A packet is further on its way.
    fn follow(&mut self, at: Time, step: Step, packet: &Packet) {
        let key = key(packet);
        let gone = matches!(step, Step::Lost(..) | Step::Arrives);
        let known = if gone { self.in_flight.remove(&key) } else { self.in_flight.get(&key).cloned() };
        let Some(known) = known else { return };
        if step == Step::Arrives && !known.from_sender {
            self.come_home(at, &known);
        } else {
            self.show(at, step, ecn(packet), &known);
        }
    }

    fn show(&mut self, at: Time, step: Step, ecn: Ecn, packet: &Known) {
        let sighting = Sighting { at, step, ecn, packet };
        if let Some(pcap) = &mut self.pcap {
            pcap.see(&sighting, &self.network);
        }
        if let Some(trace) = &mut self.trace {
            trace.see(&sighting, &self.network);
        }
    }
}

impl Recorder for Recording {
    fn sees(&mut self, at: Time, sight: Sight, packet: &Packet) {
        if !self.records(packet.flow) {
            return;
        }
        let answer = packet.kind == PacketKind::Ack;
        let group = &self.network.groups[usize::from(packet.group)];
        match sight {
            Sight::Leaves => self.push(at, Event::Packet(Step::Leaves, *packet)),
            Sight::Arrives if answer || self.tracks => self.push(at, Event::Packet(Step::Arrives, *packet)),
            _ if !self.tracks => {
                if let Sight::Lost(link, loss) = sight
                    && answer
                {
                    self.push(at, Event::Packet(Step::Lost(link, loss), *packet));
                }
            }
            Sight::Joins(link) => {
                let first = packet.crossed() == 0;
                self.push(at, Event::Packet(Step::Joins(link, first), *packet));
            }
            Sight::Lost(link, loss) => self.push(at, Event::Packet(Step::Lost(link, loss), *packet)),
            Sight::Departs(link) => {
                let path = if answer { &group.reverse } else { &group.forward };
                let last = packet.crossed() + 1 == path.len();
                let transmission = self.rates[link as usize].transmission(u64::from(packet.wire_bytes));
                let starts = Time::from_ps(at.as_ps().saturating_sub(transmission.as_ps()));
                let reaches = at.saturating_add(self.delays[link as usize]);
                if self.trace.is_some() {
                    self.push(starts, Event::Packet(Step::Starts(link), *packet));
                }
                self.push(reaches, Event::Packet(Step::Reaches(link, last), *packet));
            }
            Sight::Arrives => {}
        }
    }

    fn answers(&mut self, at: Time, flow: u32, way: Way, ack: &Ack, blocks: &SackBlocks) {
        if !self.records(flow) {
            return;
        }
        let answers = &mut self.network.flows[flow as usize].answers;
        let number = match way {
            Way::Queues(number) => number,
            Way::Home(_) => *answers,
        };
        *answers = number.wrapping_add(1);
        self.push(at, Event::Answer { flow, number, ack: *ack, blocks: *blocks });
        if let Way::Home(home) = way {
            self.push(home, Event::Home { flow, number });
        }
    }

    fn offers(&mut self, at: Time, flow: u32, segments: u32) {
        if self.records(flow) {
            self.push(at, Event::Offers { flow, segments });
        }
    }

    fn fetches(&mut self, at: Time, flow: u32, number: usize, asked: Time, base: u32) {
        let state = &mut self.network.flows[flow as usize];
        if number < state.reported {
            return;
        }
        state.reported = number + 1;
        let group = &self.network.groups[state.group as usize];
        let asks = matches!(&group.kind, Kind::Tcp(tcp) if tcp.handshake);
        if self.records(flow) {
            if asks {
                self.push(asked, Event::Asks { flow, connection: number as u32 });
                self.push(at, Event::Asked { flow, connection: number as u32 });
            }
            self.push(at, Event::Connects { flow, base });
        }
    }

    fn reaches(&mut self, now: Time) {
        let open =
            self.pcap.as_ref().is_some_and(Pcap::is_open) || self.trace.as_ref().is_some_and(Trace::is_open);
        let limit = Time::from_ps(now.as_ps().saturating_sub(self.hold.as_ps()));
        if open {
            self.take_before(limit);
        } else {
            // nothing more can be written
            self.order = Order::new();
        }
    }
}

fn key(packet: &Packet) -> Key {
    if packet.kind == PacketKind::Ack {
        return (packet.flow, true, packet.seq, Time::ZERO);
    }
    // a SYN has the number of the first segment, which is sent at another time
    (packet.flow, false, packet.seq, packet.sent)
}

fn ecn(packet: &Packet) -> Ecn {
    match packet.kind {
        PacketKind::Data(ecn) => ecn,
        _ => Ecn::Incapable,
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod written;
