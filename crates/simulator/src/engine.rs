//! The event loop.
//!
//! Four kinds of components have events: a sender (an acknowledgment, or a timer), a line (a packet reaches the
//! next link of its path), a receiver (a delayed acknowledgment, or one that reaches a queued link), and a link
//! whose discipline decides when the transmitter falls idle. Each component has at most one pending event;
//! packets wait in rings.
//!
//! Order at one moment: links, lines, receivers, senders; so a departure makes room for the packets that
//! arrive with it. Of two senders whose packets reach a queue together, the one whose packet has been longer
//! under way comes first, then the lower index; of two links, lines or receivers, the lower index. Where
//! round-trip times are whole multiples of a packet's transmission time, ties are the rule and this order decides
//! who loses packets: the queue's phase effects (Floyd and Jacobson 1992). ns-2's scheduler also handles the
//! packet that was sent earlier first, which makes the two comparable. A scenario that should not depend on
//! this has jitter.
//!
//! Hosts are handled in shifted time (see `sending` and `receiving`), and a FIFO link knows a packet's departure
//! when it arrives (see `link::fifo`), so that an ordinary packet costs one event: its acknowledgment's arrival
//! at the sender, which sends the next packet through the link to its receiver, and the answer back into the
//! ring of acknowledgments under way.

mod delayed;
mod indirect;
mod notes;
mod shared;

use bufferlab_qdisc::{Ecn, Packet, PacketKind};
use bufferlab_units::{Span, Time};

use crate::agenda::{Agenda, Other};
use crate::context::{Context, Fed};
use crate::control::Control;
use crate::ends::Ends;
use crate::link::{Fate, Link};
use crate::network::World;
use crate::outcome::{FlowState, Outcome};
use crate::recording::{Off, On, Recorder, Sight, Tap};
use crate::report;
use crate::ring::Ring;
use crate::sending::Turn;
use crate::tournament::{Key, Tournament};
use crate::under_way::UnderWay;

/// Events between two checks of the control.
const CONTROL_PERIOD: u64 = 8192;

/// Events between two reports of progress to a recorder: often enough that it keeps little in memory.
const RECORDING_PERIOD: u64 = 256;

/// Whose event comes next.
enum Next {
    Sender(usize),
    Other(Other),
}

/// The event loop's state.
pub(crate) struct Engine<K, T = Off> {
    world: World,
    /// Packets between two links, by the link that they left.
    lines: Vec<Ring<(Time, Packet)>>,
    context: Context<T>,
    agenda: Agenda<K>,
    events: u64,
}

/// Runs a world to its end, or until canceled.
pub(crate) fn run(world: World, control: &Control) -> Outcome {
    if Tournament::<i64>::holds(world.ends.len(), world.horizon()) {
        run_with::<i64>(world, control)
    } else {
        run_with::<i128>(world, control)
    }
}

/// Runs a world with keys of a given width, which must hold the senders' events.
pub(crate) fn run_with<K: Key>(world: World, control: &Control) -> Outcome {
    Engine::<K>::new(world, Off).run(control)
}

/// Runs a world with a recorder that receives every packet.
pub(crate) fn run_recorded(world: World, control: &Control, recorder: &mut dyn Recorder) -> Outcome {
    Engine::<i128, On<'_>>::new(world, On(recorder)).run(control)
}

impl<K: Key, T: Tap> Engine<K, T> {
    pub(crate) fn new(mut world: World, tap: T) -> Engine<K, T> {
        let links = world.links.len();
        if T::ON {
            world.links.iter_mut().for_each(Link::keep_drops);
        }
        let receivers = if world.receiver_events { world.ends.len() } else { 1 };
        let mut agenda = Agenda::new(world.ends.len(), world.horizon(), links, receivers);
        for (rank, ends) in world.ends.iter().enumerate() {
            agenda.senders.set(rank, ends.sender.next_event());
        }
        Engine {
            lines: vec![Ring::default(); links],
            context: Context::new(world.schedule, world.room_for_samples(), tap),
            agenda,
            events: 0,
            world,
        }
    }

    fn run(mut self, control: &Control) -> Outcome {
        let end = self.end();
        let canceled_at = self.drive(control);
        self.finish(canceled_at.map_or(end, |now| now.min(end)), canceled_at.is_some(), control)
    }

    /// The run's end.
    pub(crate) fn end(&self) -> Time {
        self.context.schedule.end
    }

    /// Handles the events before `until`; returns the moment reached if canceled before.
    pub(crate) fn advance(&mut self, until: Time, control: &Control) -> Option<Time> {
        self.agenda.stop_at(until);
        self.drive(control)
    }

    /// A link, brought up to `now`, before which all events were handled.
    pub(crate) fn link_at(&mut self, now: Time, index: usize) -> Option<&mut Link> {
        let link = self.world.links.get_mut(index)?;
        link.take_readings(now, index as u32, &mut self.context);
        Some(link)
    }

    /// The state of a flow's sender.
    pub(crate) fn flow_state(&self, flow: usize) -> Option<FlowState> {
        let rank = *self.world.ranks.get(flow)?;
        Some(self.world.ends[rank as usize].sender.state())
    }

    /// How long the last exchange of a flow took that is done by `now`.
    pub(crate) fn last_exchange(&self, flow: usize, now: Time) -> Option<Span> {
        let rank = *self.world.ranks.get(flow)?;
        self.world.ends[rank as usize].sender.exchanges()?.last_duration(now)
    }

    /// Handles events until there are none; returns the moment reached if canceled before.
    fn drive(&mut self, control: &Control) -> Option<Time> {
        loop {
            let (now, next) = match self.agenda.next_sender() {
                Some((now, rank)) => (now, Next::Sender(rank)),
                None => self.agenda.next_other().map(|(now, other)| (now, Next::Other(other)))?,
            };
            if self.events.is_multiple_of(CONTROL_PERIOD) && self.is_canceled(now, control) {
                return Some(now);
            }
            if T::ON && self.events.is_multiple_of(RECORDING_PERIOD) {
                self.context.tap.tell(|recorder| recorder.reaches(now));
            }
            self.events += 1;
            match next {
                Next::Sender(rank) => self.on_sender(now, rank),
                Next::Other(other) => self.on_other(now, other),
            }
        }
    }

    /// Reports how far the run has come; returns whether it is to end here.
    #[inline(never)]
    fn is_canceled(&self, now: Time, control: &Control) -> bool {
        control.report(now.min(self.context.schedule.end).as_ps());
        control.is_canceled()
    }

    #[inline(never)]
    fn on_other(&mut self, now: Time, other: Other) {
        match other {
            Other::Link(link) => self.on_link(now, link),
            Other::Line(link) => self.on_line(now, link),
            Other::Receiver(flow) => self.on_receiver(now, flow),
        }
    }

    /// A transmission ends.
    fn on_link(&mut self, now: Time, index: usize) {
        let link = &mut self.world.links[index];
        let open = !link.reading_due(now) || link.take_readings(now, index as u32, &mut self.context);
        let departure = if open { link.depart(now) } else { None };
        let Some((packet, next)) = departure else {
            let next = if open { link.take_turn(now) } else { Time::NEVER };
            self.agenda.set_link(index, next);
            self.note_drops(now, index);
            return;
        };
        let delays = link.delay_line.is_some();
        self.agenda.set_link(index, next);
        self.note_drops(now, index);
        if delays {
            self.hold(now, index, packet);
        } else {
            self.pass_on(now, index, packet);
        }
    }

    /// A packet leaves a link at `departs`, which may lie ahead if nothing can change it.
    fn pass_on(&mut self, departs: Time, index: usize, mut packet: Packet) {
        self.note_departure(departs, index, &packet);
        packet.hop += 1;
        let path = self.world.routes[usize::from(packet.group)].path(&packet);
        if packet.crossed() < path.len() {
            let at = departs + self.world.links[index].delay;
            self.lines[index].push((at, packet));
            self.agenda.advance_line(index, at);
            return;
        }
        self.hand_over(departs, packet);
    }

    /// A packet that has left its last link reaches its host.
    #[inline]
    fn hand_over(&mut self, departs: Time, packet: Packet) {
        let rank = self.world.ranks[packet.flow as usize] as usize;
        let (ends, context) = (&mut self.world.ends[rank], &mut self.context);
        if packet.kind == PacketKind::Ack {
            let home = departs + ends.receiver.home_delay;
            context.tap.tell(|recorder| recorder.sees(home, Sight::Arrives, &packet));
            ends.bring_home(departs, packet.seq, context);
        } else {
            let arrives = departs + ends.receiver.offset();
            context.tap.tell(|recorder| recorder.sees(arrives, Sight::Arrives, &packet));
            ends.deliver(departs, &packet, context);
            if self.world.receiver_events {
                let next = ends.receiver.next_event(context.schedule.end);
                self.agenda.set_receiver(packet.flow as usize, next);
            }
        }
        self.agenda.senders.advance(rank, ends.sender.next_event());
        if !self.context.fed.is_empty() {
            self.feed();
        }
    }

    /// A packet reaches the next link of its path.
    fn on_line(&mut self, now: Time, index: usize) {
        if self.world.links[index].delay_line.is_some() {
            self.release(now, index);
            return;
        }
        let Some((_, packet)) = self.lines[index].pop() else { return };
        let next = self.lines[index].front().map_or(Time::NEVER, |(at, _)| *at);
        self.agenda.set_line(index, next);
        let path = self.world.routes[usize::from(packet.group)].path(&packet);
        let link = path[packet.crossed()];
        self.offer(now, link as usize, packet);
    }

    /// A packet arrives at a link.
    fn offer(&mut self, now: Time, index: usize, packet: Packet) {
        let link = &mut self.world.links[index];
        if link.reading_due(now) && !link.take_readings(now, index as u32, &mut self.context) {
            return;
        }
        let before = if T::ON { link.losses(packet.group) } else { (0, 0) };
        let fate = match link.memory {
            None => link.arrive(now, &packet),
            Some(number) => self.arrive_in_memory(now, index, number, &packet),
        };
        self.note_arrival(now, index, &packet, before);
        match fate {
            Fate::Leaves(departs) => self.pass_on(departs, index, packet),
            Fate::LeavesMarked(departs) => {
                self.pass_on(departs, index, Packet { kind: PacketKind::Data(Ecn::Marked), ..packet });
            }
            Fate::Starts(departs) => self.agenda.set_link(index, departs),
            Fate::Stays => {}
        }
    }

    /// A delayed acknowledgment is due, or one reaches the first reverse link.
    fn on_receiver(&mut self, now: Time, flow: usize) {
        let rank = self.world.ranks[flow] as usize;
        let (ends, context) = (&mut self.world.ends[rank], &mut self.context);
        if let Some(packet) = ends.receiver.take_outgoing(now) {
            self.agenda.set_receiver(flow, ends.receiver.next_event(context.schedule.end));
            let link = self.world.routes[usize::from(packet.group)].reverse[0] as usize;
            self.offer(now, link, packet);
            return;
        }
        ends.on_receiver_timer(now, context);
        self.agenda.set_receiver(flow, ends.receiver.next_event(context.schedule.end));
        self.agenda.senders.advance(rank, ends.sender.next_event());
        if !self.context.fed.is_empty() {
            self.feed();
        }
    }

    /// An acknowledgment reaches a sender, or one of its timers runs out.
    #[inline(always)]
    fn on_sender(&mut self, now: Time, rank: usize) {
        let (sender, context) = (&mut self.world.ends[rank].sender, &mut self.context);
        let local = sender.local(now);
        if sender.reading_due(local) && !sender.take_readings(local, context) {
            self.agenda.senders.set(rank, Time::NEVER);
            return;
        }
        if !sender.direct {
            self.on_indirect(now, local, rank);
            return;
        }
        let turn = sender.handle(now, local, context);
        sender.note_fetch(local, context);
        if sender.may_transmit() && !self.transmit_directly(now, local, rank, turn) {
            self.transmit(now, local, rank, turn);
            return;
        }
        // decided by a branch, which is nearly always predicted, so that the list need not wait for the timers
        match self.world.ends[rank].sender.next_arrival() {
            Some(at) => self.agenda.senders.set_due(rank, at),
            None => self.schedule(rank),
        }
    }

    /// A sender whose packets cross one link sends what it may; returns false if that is left to `transmit`.
    #[inline(always)]
    fn transmit_directly(&mut self, now: Time, local: Time, rank: usize, turn: Turn) -> bool {
        if T::ON {
            return false;
        }
        let (ends, context) = (&mut self.world.ends[rank], &mut self.context);
        let index = ends.sender.identity.first_link;
        let link = &mut self.world.links[index as usize];
        if link.reading_due(now) && !link.take_readings(now, index, context) {
            return false;
        }
        while let Some(packet) = ends.sender.transmit(now, local, turn) {
            match link.arrive(now, &packet) {
                Fate::Leaves(departs) => ends.deliver(departs, &packet, context),
                Fate::LeavesMarked(departs) => {
                    let packet = Packet { kind: PacketKind::Data(Ecn::Marked), ..packet };
                    ends.deliver_apart(departs, &packet, context);
                }
                Fate::Starts(departs) => self.agenda.set_link(index as usize, departs),
                Fate::Stays => {}
            }
            if !ends.sender.may_transmit() {
                break;
            }
        }
        if self.world.receiver_events {
            self.follow_receiver(rank);
        }
        true
    }

    /// Segments have reached a receiver, in a run where receivers have events of their own. Separate, since few have.
    #[inline(never)]
    fn follow_receiver(&mut self, rank: usize) {
        let Ends { sender, receiver } = &self.world.ends[rank];
        let next = receiver.next_event(self.context.schedule.end);
        self.agenda.set_receiver(sender.identity.flow as usize, next);
        if !self.context.fed.is_empty() {
            self.feed();
        }
    }

    /// Hands what has arrived to the flows that return it.
    #[inline(never)]
    fn feed(&mut self) {
        for Fed { by, at, segments } in std::mem::take(&mut self.context.fed) {
            let rank = self.world.ranks[by as usize] as usize;
            self.world.ends[rank].sender.feed(at, segments);
            self.agenda.senders.advance(rank, self.world.ends[rank].sender.next_event());
        }
    }

    /// Sets a sender's event.
    #[inline(never)]
    fn schedule(&mut self, rank: usize) {
        self.agenda.senders.set(rank, self.world.ends[rank].sender.next_event());
    }

    /// Brings every component to `end` and reports.
    pub(crate) fn finish(mut self, end: Time, canceled: bool, control: &Control) -> Outcome {
        control.report(end.as_ps());
        let context = &mut self.context;
        for (index, link) in self.world.links.iter_mut().enumerate() {
            link.take_readings(end, index as u32, context);
            link.finish(end);
        }
        for Ends { sender, receiver } in &mut self.world.ends {
            sender.finish(end, context);
            receiver.take_readings(end, sender.identity.flow, context);
        }
        // the report needs memory: what it does not need is freed first
        self.agenda = Agenda::new(0, Time::ZERO, 0, 0);
        self.context.under_way = UnderWay::default();
        report::outcome(&self.world, self.context.samples, self.events, end, canceled)
    }
}
