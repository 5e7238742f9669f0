//! The engine's slow twin: every packet's every step is an event in one calendar, in true time.
//!
//! It shares with the engine what both are built on (the transport's endpoints, the disciplines, the random
//! streams) and nothing else: no shifted clocks, no departures known in advance, no readings, no rings, no running
//! sums. What a link measured is worked out at the end from a log of its packets.
//!
//! # Order at one moment
//! What the engine's documentation promises, spelled out by [`Turn`]: samples are read first; then transmissions
//! end; then hosts act, receivers before senders; then packets join queues: those that come from another link
//! (by that link's index), from a receiver (by flow), from a sender (the longest way first, then by flow).
//!
//! Within a receiver, a delayed acknowledgment goes before a packet that arrives at the same moment counts, and so does an
//! interrupt.
//! Within a sender, acknowledgments are answered first, one by one, then comes the application's stop or change, then what
//! was held back (a start, a processing delay, a busy interface), then the retransmission timer.

mod application;
mod bursts;
mod capacity;
mod classes;
mod delays;
mod flow;
mod link;
mod report;
mod video;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_simulator::{GroupPlan, LinkPlan, Outcome, Plan};
use bufferlab_transport::{Ack, SackBlocks};
use bufferlab_units::{Span, Time};

use flow::{Coming, Flow};
use link::Link;

/// The order at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    Reading,
    Departure { link: u32 },
    DelayedAck { flow: u32 },
    Interrupt { flow: u32 },
    Data { flow: u32 },
    Ack { flow: u32 },
    Wake { flow: u32 },
    FromLink { link: u32 },
    FromReceiver { flow: u32 },
    FromSender { way: Reverse<u64>, flow: u32 },
}

/// What happens; to whom is in the turn.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// Samples and the warm-up's end.
    Reading { sample: bool, warmup: bool },
    /// A transmission ends.
    Departure,
    /// A link may take a packet.
    Turn,
    /// A delayed acknowledgment may be due.
    DelayedAck,
    /// A receiving host takes what has come to its card.
    Interrupt,
    /// A packet reaches its receiver.
    Data(Packet),
    /// An acknowledgment reaches its sender, with the window that it tells of, if that is tuned.
    Ack(Ack, SackBlocks, u32),
    /// A sender's time may have come.
    Wake,
    /// A packet reaches a link.
    Arrival { link: u32, packet: Packet },
}

/// A network at work.
pub(crate) struct Oracle<'a> {
    plan: &'a Plan,
    /// By time, turn, and the order of scheduling.
    calendar: BTreeMap<(Time, Turn, u64), Event>,
    scheduled: u64,
    links: Vec<Link>,
    flows: Vec<Flow>,
    /// One line a packet's step, if asked for.
    trace: Option<Vec<String>>,
}

/// Runs a plan that [`bufferlab_simulator::run`] accepts. [`Outcome::events`] stays 0.
pub(crate) fn run(plan: &Plan) -> Outcome {
    let mut oracle = Oracle::new(plan);
    oracle.drive();
    oracle.report()
}

/// Runs a plan and tells each packet's steps.
pub(crate) fn trace(plan: &Plan) -> Vec<String> {
    let mut oracle = Oracle::new(plan);
    oracle.trace = Some(Vec::new());
    oracle.drive();
    oracle.trace.unwrap_or_default()
}

impl<'a> Oracle<'a> {
    fn new(plan: &'a Plan) -> Oracle<'a> {
        let links = plan.links.iter().enumerate();
        let mut oracle = Oracle {
            plan,
            calendar: BTreeMap::new(),
            scheduled: 0,
            links: links.map(|(index, link)| Link::new(plan, index as u32, link)).collect(),
            flows: (0..plan.flows.group.len()).map(|flow| Flow::new(plan, flow)).collect(),
            trace: None,
        };
        oracle.schedule_readings();
        for flow in 0..oracle.flows.len() as u32 {
            oracle.schedule_wake(flow);
        }
        oracle
    }

    fn schedule_readings(&mut self) {
        let (interval, warmup) = (self.plan.sample_interval_ps, self.plan.warmup_ps);
        let samples = self.plan.duration_ps.checked_div(interval).unwrap_or(0);
        let mut times: Vec<u64> = (1..=samples).map(|count| count * interval).collect();
        let is_sample = |ps: u64| interval > 0 && ps > 0 && ps.is_multiple_of(interval);
        if !is_sample(warmup) {
            times.push(warmup);
        }
        for ps in times {
            let event = Event::Reading { sample: is_sample(ps), warmup: ps == warmup };
            self.schedule(Time::from_ps(ps), Turn::Reading, event);
        }
    }

    fn schedule(&mut self, at: Time, turn: Turn, event: Event) {
        self.calendar.insert((at, turn, self.scheduled), event);
        self.scheduled += 1;
    }

    /// Handles everything before the end; at the end, the last samples are read.
    fn drive(&mut self) {
        let end = Time::from_ps(self.plan.duration_ps);
        while let Some(((now, turn, _), event)) = self.calendar.pop_first() {
            if now < end || now == end && turn == Turn::Reading {
                self.handle(now, turn, event);
            }
        }
    }

    fn handle(&mut self, now: Time, turn: Turn, event: Event) {
        match (turn, event) {
            (Turn::Reading, Event::Reading { sample, warmup }) => {
                for flow in &mut self.flows {
                    flow.read(now, sample, warmup);
                }
                if sample {
                    self.links.iter_mut().for_each(|link| link.read(now));
                }
            }
            (Turn::Departure { link }, Event::Departure) => self.on_departure(now, link),
            (Turn::Departure { link }, Event::Turn) => {
                self.links[link as usize].take_turn(now);
                self.schedule_departure(now, link);
            }
            (Turn::DelayedAck { flow }, Event::DelayedAck) => {
                let answer = self.flows[flow as usize].delayed_ack(now);
                self.answer(now, flow, answer);
            }
            (Turn::Data { flow }, Event::Data(packet)) => {
                self.note(now, || format!("{} reaches the receiver", name(&packet)));
                match self.flows[flow as usize].collect(now, &packet) {
                    Coming::Taken => self.deliver(now, flow, &packet),
                    Coming::Waits => {}
                    Coming::WaitsUntil(at) => self.schedule(at, Turn::Interrupt { flow }, Event::Interrupt),
                }
            }
            (Turn::Interrupt { flow }, Event::Interrupt) => {
                for packet in self.flows[flow as usize].take_collected() {
                    self.deliver(now, flow, &packet);
                }
            }
            (Turn::Ack { flow }, Event::Ack(ack, blocks, window)) => {
                self.note(now, || format!("{} reaches the sender", content(&ack, &blocks)));
                let packets = self.flows[flow as usize].on_ack(now, &ack, &blocks, window);
                self.send(now, flow, packets);
            }
            (Turn::Wake { flow }, Event::Wake) => {
                let packets = self.flows[flow as usize].wake(now);
                self.send(now, flow, packets);
            }
            (_, Event::Arrival { link, packet }) => self.on_arrival(now, link, packet),
            (turn, event) => unreachable!("{event:?} in the turn of {turn:?}"),
        }
    }

    /// A receiving host takes a packet.
    fn deliver(&mut self, now: Time, flow: u32, packet: &Packet) {
        let before = self.flows[flow as usize].delivered_segments();
        let answer = self.flows[flow as usize].on_data(now, packet);
        let segments = self.flows[flow as usize].delivered_segments();
        let by = self.plan.flows.echo_of.iter().position(|&of| of == flow);
        if let Some(by) = by.filter(|_| segments > before) {
            self.flows[by].feed(now, segments);
            self.schedule_wake(by as u32);
        }
        // a video's client may know when its next request reaches the sender
        self.schedule_wake(flow);
        self.answer(now, flow, answer);
    }

    fn group(&self, flow: u32) -> &'a GroupPlan {
        &self.plan.groups[self.plan.flows.group[flow as usize] as usize]
    }

    fn schedule_wake(&mut self, flow: u32) {
        let turn = Turn::Wake { flow };
        if let Some(at) = self.flows[flow as usize].next_wake()
            && self.calendar.range((at, turn, 0)..=(at, turn, u64::MAX)).next().is_none()
        {
            self.schedule(at, turn, Event::Wake);
        }
    }

    /// A sender's packets set out for the first link.
    fn send(&mut self, now: Time, flow: u32, packets: Vec<Packet>) {
        let link = self.group(flow).forward[0];
        let way = self.plan.flows.source_delay_ps[flow as usize];
        for packet in packets {
            self.note(now, || format!("{} is sent", name(&packet)));
            let turn = Turn::FromSender { way: Reverse(way), flow };
            self.schedule(packet.enqueued + Span::from_ps(way), turn, Event::Arrival { link, packet });
        }
        self.schedule_wake(flow);
    }

    fn on_arrival(&mut self, now: Time, link: u32, packet: Packet) {
        let room = self.has_room(link, &packet);
        let fate = self.links[link as usize].arrive(now, packet, room);
        self.note(now, || format!("{} {fate} link {link}", name(&packet)));
        self.schedule_departure(now, link);
    }

    /// Whether a packet finds room in the memory that its link's queue shares.
    fn has_room(&self, link: u32, packet: &Packet) -> bool {
        let Some(memory) = self.plan.links[link as usize].memory else { return true };
        let shares = |other: &LinkPlan| other.memory.is_some_and(|other| other.number == memory.number);
        let links = self.plan.links.iter().zip(&self.links).filter(|(plan, _)| shares(plan));
        let lengths: Vec<i128> = links.map(|(_, link)| i128::from(link.waiting_bytes())).collect();
        let free = i128::from(memory.bytes) - lengths.iter().sum::<i128>();
        let own = i128::from(self.links[link as usize].waiting_bytes());
        // an alpha of all the congested queues together, of which each counts as `whole` at most
        let whole = memory.congested_bytes.map_or(1, i128::from);
        let congested = match memory.congested_bytes {
            None => 1,
            Some(_) => lengths.into_iter().map(|length| length.min(whole)).sum::<i128>().max(whole),
        };
        let threshold = memory.alpha_ppm.map(|alpha| i128::from(alpha) * free * whole);
        i128::from(packet.wire_bytes) <= free
            && threshold.is_none_or(|most| own * 1_000_000 * congested < most)
    }

    /// Schedules the end of a transmission that has just begun.
    fn schedule_departure(&mut self, now: Time, link: u32) {
        for packet in std::mem::take(&mut self.links[link as usize].expelled) {
            self.note(now, || format!("{} is dropped from link {link}", name(&packet)));
        }
        if let Some(at) = self.links[link as usize].begun.take() {
            self.schedule(at, Turn::Departure { link }, Event::Departure);
        }
        if let Some(at) = self.links[link as usize].turn.take() {
            self.schedule(at, Turn::Departure { link }, Event::Turn);
        }
    }

    /// A packet leaves a link, for the next one of its path or for its host.
    fn on_departure(&mut self, now: Time, link: u32) {
        let mut packet = self.links[link as usize].depart(now);
        self.schedule_departure(now, link);
        self.note(now, || format!("{} leaves link {link}", name(&packet)));
        packet.hop += 1;
        let (flow, group) = (packet.flow, self.group(packet.flow));
        let is_ack = packet.kind == PacketKind::Ack;
        let path = if is_ack { &group.reverse } else { &group.forward };
        let more = self.links[link as usize].more_delay(now);
        let at = now + more + Span::from_ps(self.plan.links[link as usize].delay_ps);
        if let Some(&next) = path.get(packet.crossed()) {
            self.schedule(at, Turn::FromLink { link }, Event::Arrival { link: next, packet });
        } else if is_ack {
            let at = at + Span::from_ps(self.plan.flows.home_delay_ps[flow as usize]);
            let (ack, blocks, window) = self.flows[flow as usize].answers[packet.seq as usize];
            self.schedule(at, Turn::Ack { flow }, Event::Ack(ack, blocks, window));
        } else {
            let at = at + Span::from_ps(self.plan.flows.sink_delay_ps[flow as usize]);
            self.schedule(at, Turn::Data { flow }, Event::Data(packet));
        }
    }

    /// An acknowledgment sets out for the first reverse link, or for the sender.
    fn answer(&mut self, now: Time, flow: u32, answer: Option<(Ack, SackBlocks)>) {
        let host = &mut self.flows[flow as usize];
        if let Some((ack, blocks)) = answer {
            let (packet, window) = (host.wrap(now, ack, blocks), host.window);
            let at = now + Span::from_ps(self.plan.flows.return_delay_ps[flow as usize]);
            self.note(now, || format!("{} is sent", content(&ack, &blocks)));
            match self.group(flow).reverse.first() {
                Some(&link) => {
                    self.schedule(at, Turn::FromReceiver { flow }, Event::Arrival { link, packet });
                }
                None => self.schedule(at, Turn::Ack { flow }, Event::Ack(ack, blocks, window)),
            }
        }
        if let Some(at) = self.flows[flow as usize].ack_deadline() {
            self.schedule(at, Turn::DelayedAck { flow }, Event::DelayedAck);
        }
    }

    fn note(&mut self, now: Time, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("{:>11} us  {}", now.as_ps() / 1_000_000, what()));
        }
    }
}

fn name(packet: &Packet) -> String {
    let Packet { flow, seq, .. } = packet;
    match packet.kind {
        PacketKind::Syn => format!("flow {flow} SYN"),
        PacketKind::Data(_) => format!("flow {flow} data {seq}"),
        PacketKind::Ack => format!("flow {flow} acknowledgment no. {seq}"),
        PacketKind::Datagram => format!("flow {flow} datagram {seq}"),
    }
}

fn content(ack: &Ack, blocks: &SackBlocks) -> String {
    let ranges: Vec<_> = blocks.ranges().iter().map(|(start, end)| format!("{start}-{}", end - 1)).collect();
    let sack = if ranges.is_empty() { String::new() } else { format!(" SACK {}", ranges.join(" ")) };
    if ack.syn { "SYN-ACK".into() } else { format!("ACK {}{sack}", ack.ack) }
}
