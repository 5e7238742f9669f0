//! The event loop.
//!
//! Four kinds of components have events: a sender (an acknowledgement, or a timer), a line (a packet reaches the
//! next link of its path), a receiver (a delayed acknowledgement, or one that reaches a queued link), and a link
//! whose discipline decides when the transmitter falls idle. Each component has at most one pending event;
//! packets wait in rings.
//!
//! Order at one moment: links, lines, receivers, senders; so a departure makes room for the packets that
//! arrive with it. Of two senders whose packets reach a queue together, the one whose packet has been longer
//! under way comes first, then the lower index; of two links, lines or receivers, the lower index. Where
//! round-trip times are whole multiples of a packet's transmission time, ties are the rule and this order decides
//! who loses packets: the queue's phase effects (Floyd and Jacobson 1992). ns-2's scheduler too handles the
//! packet that set out earlier first, which makes the two comparable; a scenario that should not depend on
//! such things asks for jitter.
//!
//! Hosts are handled in shifted time (see `sending` and `receiving`), and a FIFO link knows a packet's departure
//! when it arrives (see `link::fifo`), so that an ordinary packet costs one event: its acknowledgement's arrival
//! at the sender, which sends the next packet through the link to its receiver, and the answer back into the
//! ring of acknowledgements under way.

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_units::Time;

use crate::control::Control;
use crate::link::{Fate, Link};
use crate::marks::MarkPlan;
use crate::outcome::Outcome;
use crate::receiving::ReceivingHost;
use crate::report;
use crate::ring::Ring;
use crate::samples::Samples;
use crate::sending::{SendingHost, Turn};
use crate::tournament::Tournament;

/// Events between two looks at the control.
const CONTROL_PERIOD: u64 = 8192;

/// A group's links in both directions.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) forward: Vec<u32>,
    pub(crate) reverse: Vec<u32>,
}

impl Route {
    /// The links that a packet crosses.
    #[inline]
    fn path(&self, packet: &Packet) -> &[u32] {
        if packet.kind == PacketKind::Ack { &self.reverse } else { &self.forward }
    }
}

/// A network at work.
pub(crate) struct World {
    pub(crate) links: Vec<Link>,
    pub(crate) senders: Vec<SendingHost>,
    pub(crate) receivers: Vec<ReceivingHost>,
    /// Flows by their senders' order at one moment: the longer way to the first link comes first.
    pub(crate) by_rank: Vec<u32>,
    /// Group of each flow.
    pub(crate) groups: Vec<u32>,
    /// Route of each group.
    pub(crate) routes: Vec<Route>,
    pub(crate) marks: MarkPlan,
    /// Whether any receiver may have events of its own.
    pub(crate) receiver_events: bool,
}

/// The event loop's state.
pub(crate) struct Engine {
    world: World,
    /// Packets between two links, by the link that they left.
    lines: Vec<Ring<(Time, Packet)>>,
    link_events: Tournament,
    line_events: Tournament,
    receiver_events: Tournament,
    sender_events: Tournament,
    samples: Samples,
    events: u64,
}

/// Whose event comes next.
enum Next {
    Link(usize),
    Line(usize),
    Receiver(usize),
    Sender(usize),
}

impl Engine {
    pub(crate) fn new(world: World) -> Engine {
        let links = world.links.len();
        let mut sender_events = Tournament::new(world.senders.len());
        for sender in &world.senders {
            sender_events.set(sender.identity.rank as usize, sender.next_event());
        }
        let receivers = if world.receiver_events { world.receivers.len() } else { 1 };
        Engine {
            lines: vec![Ring::default(); links],
            link_events: Tournament::new(links),
            line_events: Tournament::new(links),
            receiver_events: Tournament::new(receivers),
            sender_events,
            samples: Samples::default(),
            events: 0,
            world,
        }
    }

    /// Runs to the end, or until canceled.
    pub(crate) fn run(mut self, control: &Control) -> Outcome {
        let end = self.world.marks.end;
        let canceled_at = self.drive(control);
        self.finish(canceled_at.map_or(end, |now| now.min(end)), canceled_at.is_some(), control)
    }

    /// Handles events until there are none; the moment reached if canceled before.
    fn drive(&mut self, control: &Control) -> Option<Time> {
        let mut reached = Time::ZERO;
        while let Some((now, next)) = self.next() {
            debug_assert!(now >= reached, "an event at {now} after {reached}");
            reached = now;
            if self.events.is_multiple_of(CONTROL_PERIOD) {
                control.report(now.min(self.world.marks.end).as_ps());
                if control.is_canceled() {
                    return Some(now);
                }
            }
            self.events += 1;
            match next {
                Next::Link(link) => self.on_link(now, link),
                Next::Line(link) => self.on_line(now, link),
                Next::Receiver(flow) => self.on_receiver(now, flow),
                Next::Sender(rank) => self.on_sender(now, rank),
            }
        }
        None
    }

    /// The next event; at one moment, in the order of the kinds.
    #[inline]
    fn next(&self) -> Option<(Time, Next)> {
        let (sender_time, sender) = self.sender_events.first();
        let (line_time, line) = self.line_events.first();
        let (receiver_time, receiver) = self.receiver_events.first();
        let (link_time, link) = self.link_events.first();
        let others = link_time.min(line_time).min(receiver_time);
        if sender_time < others {
            return Some((sender_time, Next::Sender(sender)));
        }
        if others == Time::NEVER {
            return None;
        }
        Some(if link_time == others {
            (link_time, Next::Link(link))
        } else if line_time == others {
            (line_time, Next::Line(line))
        } else {
            (receiver_time, Next::Receiver(receiver))
        })
    }

    /// A transmission ends.
    fn on_link(&mut self, now: Time, index: usize) {
        let link = &mut self.world.links[index];
        let open = !link.mark_due(now)
            || link.pass_marks(now, &self.world.marks, index as u32, &mut self.samples.queues);
        let departure = if open { link.depart(now) } else { None };
        let Some((packet, next)) = departure else {
            self.link_events.set(index, Time::NEVER);
            return;
        };
        self.link_events.set(index, next);
        self.pass_on(now, index, packet);
    }

    /// A packet leaves a link at `departs`, which may lie ahead if nothing can change it.
    fn pass_on(&mut self, departs: Time, index: usize, mut packet: Packet) {
        packet.hop += 1;
        let path = self.world.routes[usize::from(packet.group)].path(&packet);
        if usize::from(packet.hop) < path.len() {
            let at = departs + self.world.links[index].delay;
            self.lines[index].push((at, packet));
            self.line_events.advance(index, at);
            return;
        }
        let flow = packet.flow as usize;
        let (sender, receiver) = (&mut self.world.senders[flow], &mut self.world.receivers[flow]);
        if packet.kind == PacketKind::Ack {
            receiver.bring_home(departs, packet.seq, sender);
        } else {
            receiver.deliver(departs, &packet, sender, &self.world.marks, &mut self.samples.receivers);
            if self.world.receiver_events {
                self.receiver_events.set(flow, receiver.next_event(self.world.marks.end));
            }
        }
        self.sender_events.advance(sender.identity.rank as usize, sender.next_event());
    }

    /// A packet reaches the next link of its path.
    fn on_line(&mut self, now: Time, index: usize) {
        let Some((_, packet)) = self.lines[index].pop() else { return };
        let next = self.lines[index].front().map_or(Time::NEVER, |(at, _)| *at);
        self.line_events.set(index, next);
        let path = self.world.routes[usize::from(packet.group)].path(&packet);
        let link = path[usize::from(packet.hop)];
        self.offer(now, link as usize, packet);
    }

    /// A packet arrives at a link.
    fn offer(&mut self, now: Time, index: usize, packet: Packet) {
        let link = &mut self.world.links[index];
        if link.mark_due(now)
            && !link.pass_marks(now, &self.world.marks, index as u32, &mut self.samples.queues)
        {
            return;
        }
        match link.arrive(now, &packet) {
            Fate::Leaves(departs) => self.pass_on(departs, index, packet),
            Fate::Starts(departs) => self.link_events.set(index, departs),
            Fate::Stays => {}
        }
    }

    /// A delayed acknowledgement is due, or one reaches the first reverse link.
    fn on_receiver(&mut self, now: Time, flow: usize) {
        let (sender, receiver) = (&mut self.world.senders[flow], &mut self.world.receivers[flow]);
        if let Some(packet) = receiver.take_outgoing(now) {
            self.receiver_events.set(flow, receiver.next_event(self.world.marks.end));
            let link = self.world.routes[usize::from(packet.group)].reverse[0] as usize;
            self.offer(now, link, packet);
            return;
        }
        receiver.on_timer(now, sender, &self.world.marks, &mut self.samples.receivers);
        self.receiver_events.set(flow, receiver.next_event(self.world.marks.end));
        self.sender_events.advance(sender.identity.rank as usize, sender.next_event());
    }

    /// An acknowledgement reaches a sender, or one of its timers runs out.
    #[inline(always)]
    fn on_sender(&mut self, now: Time, rank: usize) {
        let world = &mut self.world;
        let flow = world.by_rank[rank];
        let sender = &mut world.senders[flow as usize];
        let local = sender.local(now);
        if sender.mark_due(local) && !sender.pass_marks(local, &world.marks, flow, &mut self.samples.senders)
        {
            self.sender_events.set(rank, Time::NEVER);
            return;
        }
        let turn = sender.handle(now, local);
        if sender.may_transmit() {
            self.transmit(now, local, flow as usize, turn);
        }
        self.sender_events.set(rank, self.world.senders[flow as usize].next_event());
    }

    /// A sender sends what it may. The common case, one link without events and no way back through links, is
    /// taken by the shortest way.
    #[inline(always)]
    fn transmit(&mut self, now: Time, local: Time, flow: usize, turn: Turn) {
        let world = &mut self.world;
        let sender = &mut world.senders[flow];
        let index = sender.identity.first_link as usize;
        let link = &mut world.links[index];
        let open =
            !link.mark_due(now) || link.pass_marks(now, &world.marks, index as u32, &mut self.samples.queues);
        if !sender.identity.single_link {
            while let Some(packet) = self.world.senders[flow].transmit(now, local, turn) {
                self.offer(now, index, packet);
            }
            return;
        }
        let receiver = &mut world.receivers[flow];
        while sender.may_transmit()
            && let Some(packet) = sender.transmit(now, local, turn)
        {
            if !open {
                continue;
            }
            match link.arrive(now, &packet) {
                Fate::Leaves(departs) => {
                    let rows = &mut self.samples.receivers;
                    receiver.deliver(departs, &packet, sender, &world.marks, rows);
                }
                Fate::Starts(departs) => self.link_events.set(index, departs),
                Fate::Stays => {}
            }
        }
        if world.receiver_events {
            self.receiver_events.set(flow, receiver.next_event(world.marks.end));
        }
    }

    /// Brings every component to `end` and reports.
    fn finish(mut self, end: Time, canceled: bool, control: &Control) -> Outcome {
        control.report(end.as_ps());
        let marks = self.world.marks;
        for (index, link) in self.world.links.iter_mut().enumerate() {
            link.pass_marks(end, &marks, index as u32, &mut self.samples.queues);
            link.finish(end);
        }
        for (flow, sender) in self.world.senders.iter_mut().enumerate() {
            sender.pass_marks(end, &marks, flow as u32, &mut self.samples.senders);
        }
        for (flow, receiver) in self.world.receivers.iter_mut().enumerate() {
            receiver.pass_marks(end, &marks, flow as u32, &mut self.samples.receivers);
        }
        report::outcome(&self.world, self.samples, self.events, end, canceled)
    }
}
