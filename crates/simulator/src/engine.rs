//! The event loop.
//!
//! Four kinds of components have events: a link (its transmission ends), a line (a packet reaches the next link
//! of its path), a receiver (a delayed acknowledgement, or one that reaches a queued link) and a sender (an
//! acknowledgement, or a timer). Each component has at most one pending event; packets wait in rings.
//!
//! Order at one moment: links, lines, receivers, senders; so a departure makes room for the packets that
//! arrive with it. Of two senders whose packets reach a queue together, the one whose packet has been longer
//! under way comes first, then the lower index; of two links, lines or receivers, the lower index. Where
//! round-trip times are whole multiples of a packet's transmission time, ties are the rule and this order decides
//! who loses packets: the queue's phase effects (Floyd and Jacobson 1992). ns-2's scheduler too handles the
//! packet that set out earlier first, which makes the two comparable; a scenario that should not depend on
//! such things asks for jitter.
//!
//! Hosts are handled in shifted time (see `sending` and `receiving`), so that an ordinary packet costs two
//! events: the end of its transmission, and its acknowledgement's arrival.

use std::collections::VecDeque;

use bufferlab_qdisc::{Packet, PacketKind};
use bufferlab_transport::Ack;
use bufferlab_units::Time;

use crate::control::Control;
use crate::link::Link;
use crate::marks::MarkPlan;
use crate::outcome::Outcome;
use crate::receiving::ReceivingHost;
use crate::report;
use crate::samples::Samples;
use crate::sending::SendingHost;
use crate::tournament::Tournament;

/// Events between two looks at the control.
const CONTROL_PERIOD: u64 = 8192;

/// A group's links in both directions.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) forward: Vec<u32>,
    pub(crate) reverse: Vec<u32>,
}

/// A network at work.
pub(crate) struct World {
    pub(crate) links: Vec<Link>,
    pub(crate) senders: Vec<SendingHost>,
    pub(crate) receivers: Vec<ReceivingHost>,
    /// Flows by their senders' order at one moment: the longer way to the first link comes first.
    pub(crate) by_rank: Vec<u32>,
    /// Each flow's place in that order.
    pub(crate) ranks: Vec<u32>,
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
    lines: Vec<VecDeque<(Time, Packet)>>,
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
        for (flow, sender) in world.senders.iter().enumerate() {
            sender_events.set(world.ranks[flow] as usize, sender.next_event());
        }
        let receivers = if world.receiver_events {
            world.receivers.len()
        } else {
            1
        };
        Engine {
            lines: vec![VecDeque::new(); links],
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
        self.finish(
            canceled_at.map_or(end, |now| now.min(end)),
            canceled_at.is_some(),
            control,
        )
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
                Next::Sender(flow) => self.on_sender(now, flow),
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
            return Some((sender_time, Next::Sender(self.world.by_rank[sender] as usize)));
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
        if self.world.links[index].mark_due(now) && !self.pass_link_marks(now, index) {
            self.link_events.set(index, Time::NEVER);
            return;
        }
        let link = &mut self.world.links[index];
        let mut packet = link.depart(now, &self.world.groups);
        self.link_events.set(index, link.departs());
        let delay = link.delay;
        packet.hop += 1;
        let group = self.world.groups[packet.flow as usize];
        let route = &self.world.routes[group as usize];
        let path = if packet.kind == PacketKind::Ack {
            &route.reverse
        } else {
            &route.forward
        };
        if usize::from(packet.hop) < path.len() {
            let at = now + delay;
            self.lines[index].push_back((at, packet));
            self.line_events.advance(index, at);
        } else if packet.kind == PacketKind::Ack {
            self.bring_home(now, &packet);
        } else {
            self.deliver(now, &packet);
        }
    }

    /// A packet reaches the next link of its path.
    fn on_line(&mut self, now: Time, index: usize) {
        let Some((_, packet)) = self.lines[index].pop_front() else {
            return;
        };
        let next = self.lines[index].front().map_or(Time::NEVER, |(at, _)| *at);
        self.line_events.set(index, next);
        let route = &self.world.routes[self.world.groups[packet.flow as usize] as usize];
        let path = if packet.kind == PacketKind::Ack {
            &route.reverse
        } else {
            &route.forward
        };
        let link = path[usize::from(packet.hop)];
        self.offer(now, link as usize, packet);
    }

    /// A packet arrives at a link.
    #[inline]
    fn offer(&mut self, now: Time, index: usize, packet: Packet) {
        if self.world.links[index].mark_due(now) && !self.pass_link_marks(now, index) {
            return;
        }
        let link = &mut self.world.links[index];
        if link.arrive(now, packet, &self.world.groups) {
            self.link_events.set(index, link.departs());
        }
    }

    /// A packet has left its last forward link.
    #[inline]
    fn deliver(&mut self, now: Time, packet: &Packet) {
        let flow = packet.flow as usize;
        if self.world.receivers[flow].mark_due(now) && !self.pass_receiver_marks(now, flow) {
            return;
        }
        let receiver = &mut self.world.receivers[flow];
        if let Some(ack) = receiver.handle(now, packet) {
            self.acknowledge(now, flow, ack);
        }
        if self.world.receiver_events {
            self.receiver_events
                .set(flow, self.world.receivers[flow].next_event());
        }
    }

    /// A receiver, at the moment that the last link's `now` stands for, sends an acknowledgement.
    #[inline]
    fn acknowledge(&mut self, now: Time, flow: usize, ack: Ack) {
        let receiver = &mut self.world.receivers[flow];
        if receiver.has_events() {
            receiver.send_back(now, flow as u32, ack);
        } else {
            let at = receiver.local(now) + receiver.return_delay;
            self.expect(flow, at, &ack);
        }
    }

    /// An acknowledgement has left its last reverse link.
    fn bring_home(&mut self, now: Time, packet: &Packet) {
        let flow = packet.flow as usize;
        let receiver = &mut self.world.receivers[flow];
        let at = now + receiver.home_delay;
        if let Some(ack) = receiver.content(packet.seq) {
            self.expect(flow, at, &ack);
        }
    }

    #[inline]
    fn expect(&mut self, flow: usize, at: Time, ack: &Ack) {
        let event = self.world.senders[flow].expect(at, ack);
        self.sender_events.advance(self.world.ranks[flow] as usize, event);
    }

    /// A delayed acknowledgement is due, or one reaches the first reverse link.
    fn on_receiver(&mut self, now: Time, flow: usize) {
        let receiver = &mut self.world.receivers[flow];
        if let Some(packet) = receiver.take_outgoing(now) {
            let group = self.world.groups[flow] as usize;
            let link = self.world.routes[group].reverse[0] as usize;
            self.offer(now, link, packet);
        } else if receiver.mark_due(now) && !self.pass_receiver_marks(now, flow) {
            self.receiver_events.set(flow, Time::NEVER);
            return;
        } else if let Some(ack) = self.world.receivers[flow].handle_timer(now) {
            self.acknowledge(now, flow, ack);
        }
        self.receiver_events
            .set(flow, self.world.receivers[flow].next_event());
    }

    /// An acknowledgement reaches a sender, or one of its timers runs out.
    fn on_sender(&mut self, now: Time, flow: usize) {
        let rank = self.world.ranks[flow] as usize;
        if self.world.senders[flow].mark_due(now) && !self.pass_sender_marks(now, flow) {
            self.sender_events.set(rank, Time::NEVER);
            return;
        }
        let turn = self.world.senders[flow].handle(now);
        let group = self.world.groups[flow] as usize;
        let first = self.world.routes[group].forward[0] as usize;
        while let Some(packet) = self.world.senders[flow].transmit(now, flow as u32, turn) {
            self.offer(now, first, packet);
        }
        self.sender_events
            .set(rank, self.world.senders[flow].next_event());
    }

    /// Handles a link's marks; false once the run has ended for it.
    #[cold]
    fn pass_link_marks(&mut self, now: Time, index: usize) -> bool {
        self.world.links[index].pass_marks(now, &self.world.marks, index as u32, &mut self.samples.queues);
        now < self.world.marks.end
    }

    #[cold]
    fn pass_receiver_marks(&mut self, now: Time, flow: usize) -> bool {
        let receiver = &mut self.world.receivers[flow];
        let local = receiver.local(now);
        receiver.pass_marks(local, &self.world.marks, flow as u32, &mut self.samples.receivers);
        local < self.world.marks.end
    }

    #[cold]
    fn pass_sender_marks(&mut self, now: Time, flow: usize) -> bool {
        let sender = &mut self.world.senders[flow];
        let local = sender.local(now);
        sender.pass_marks(local, &self.world.marks, flow as u32, &mut self.samples.senders);
        local < self.world.marks.end
    }

    /// Brings every component to `end` and reports.
    fn finish(mut self, end: Time, canceled: bool, control: &Control) -> Outcome {
        control.report(end.as_ps());
        let marks = self.world.marks;
        for (index, link) in self.world.links.iter_mut().enumerate() {
            link.pass_marks(end, &marks, index as u32, &mut self.samples.queues);
            link.finish(end, &self.world.groups);
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
