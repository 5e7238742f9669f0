//! A tin: 1024 queues of one class of traffic, served in rounds, and the tin's clock.

use bufferlab_units::{Rate, Span, Stream, Time, TransmissionClock};

use super::CakeConfig;
use super::queue::{List, Queue, Set};
use super::ways::{Hosts, QUEUES, own, ways};
use crate::chains::Pool;
use crate::cobalt::{Court, Times};
use crate::{Backlog, DropReason, Dropped, Drops, Packet, SubQueue};

/// A queue's bytes a round: as many as the tin's rate sends in 1/4096 s, within these bounds (`cake_set_rate`).
const QUANTA_A_SECOND: u64 = 4096;
const LEAST_QUANTUM: u64 = 300;
const MOST_QUANTUM: u64 = 1514;

/// What the tins share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) config: CakeConfig,
    pub(super) pool: Pool,
    pub(super) backlog: Backlog,
    pub(super) stream: Stream,
    pub(super) marks: u64,
}

/// The queues of one class of traffic (`cake_tin_data`).
#[derive(Clone, Debug)]
pub(super) struct Tin {
    /// The hash whose queue a place is.
    tags: Vec<u32>,
    queues: Vec<Queue>,
    new: List,
    old: List,
    decaying: List,
    /// Queues that are sparse, and bulk.
    sparse: u32,
    bulk: u32,
    senders: Hosts,
    receivers: Hosts,
    bytes: u64,
    /// Up to which it comes before lower tins; none if CAKE does not shape.
    rate: Option<Rate>,
    times: Times,
    /// A queue's bytes a round.
    quantum: u32,
    /// The tin's bytes a round, without a shaper.
    pub(super) share: i64,
    pub(super) deficit: i64,
    /// What its rate gives it; none where that decides nothing.
    clock: Option<TransmissionClock>,
    /// When it has had that.
    next: Time,
}

impl Tin {
    /// An empty tin; one that is `alone` has no clock.
    pub(super) fn new(config: &CakeConfig, rate: Option<Rate>, share: u16, alone: bool) -> Tin {
        let quantum = rate.map_or(MOST_QUANTUM, |rate| {
            (rate.as_bps() / 8 / QUANTA_A_SECOND).clamp(LEAST_QUANTUM, MOST_QUANTUM)
        });
        Tin {
            tags: vec![0; QUEUES],
            queues: vec![Queue::NEW; QUEUES],
            new: List::EMPTY,
            old: List::EMPTY,
            decaying: List::EMPTY,
            sparse: 0,
            bulk: 0,
            senders: Hosts::new(config.isolation.counts_senders()),
            receivers: Hosts::new(config.isolation.counts_receivers()),
            bytes: 0,
            rate,
            times: Times::new(&config.cobalt, Span::ZERO),
            quantum: quantum as u32,
            share: i64::from(share),
            deficit: 0,
            clock: rate.filter(|_| !alone).map(TransmissionClock::new),
            next: Time::ZERO,
        }
    }

    /// A queue's bytes a round, with a host that has one bulk queue.
    #[cfg(test)]
    pub(super) fn quantum(&self) -> u32 {
        self.quantum
    }

    /// A larger packet than all before has come.
    pub(super) fn retune(&mut self, config: &CakeConfig, wire_bytes: u32) {
        let time = self.rate.map_or(Span::ZERO, |rate| rate.transmission(u64::from(wire_bytes)));
        self.times = Times::new(&config.cobalt, time);
    }

    /// Whether it has queues that are not empty, or were not when they were served last.
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// How long until its turn by its clock.
    #[inline]
    pub(super) fn until_next(&self, now: Time) -> Span {
        self.next.saturating_since(now)
    }

    /// The queue of a hash; `hosts` hashes the flow's sender and receiver (`cake_hash`).
    #[inline]
    pub(super) fn place(&mut self, hash: u32, hosts: impl FnOnce() -> (u32, u32)) -> usize {
        let own = own(hash);
        if self.tags[own] == hash && self.queues[own].set != Set::None {
            return own;
        }
        self.place_anew(hash, hosts)
    }

    fn place_anew(&mut self, hash: u32, hosts: impl FnOnce() -> (u32, u32)) -> usize {
        let is_free = |way: &usize| self.queues[*way].set == Set::None;
        let known = ways(hash).find(|&way| self.tags[way] == hash);
        if let Some(place) = known.filter(|way| !is_free(way)) {
            return place;
        }
        let place = known.or_else(|| ways(hash).find(is_free)).unwrap_or(own(hash));
        let is_bulk = self.queues[place].set == Set::Bulk;
        if is_bulk {
            self.discount(place);
        }
        self.tags[place] = hash;
        let (sender, receiver) = hosts();
        self.queues[place].sender = self.senders.place(sender);
        self.queues[place].receiver = self.receivers.place(receiver);
        if is_bulk {
            self.count(place);
        }
        place
    }

    fn count(&mut self, place: usize) {
        self.senders.count(self.queues[place].sender);
        self.receivers.count(self.queues[place].receiver);
    }

    fn discount(&mut self, place: usize) {
        self.senders.discount(self.queues[place].sender);
        self.receivers.discount(self.queues[place].receiver);
    }

    /// A queue's bytes for its turn: the quantum over the bulk queues of the busier of its hosts (`cake_get_flow_quantum`).
    /// What is below a byte is drawn.
    #[inline]
    fn quantum_of(&self, place: usize, stream: &mut Stream) -> i32 {
        let queue = &self.queues[place];
        let load = self.senders.load(queue.sender).max(self.receivers.load(queue.receiver));
        if load <= 1 {
            return self.quantum.cast_signed();
        }
        let scaled = self.quantum * (65_535 / u32::from(load)) + (stream.bits() >> 48) as u32;
        (scaled >> 16).cast_signed()
    }

    /// A packet joins a queue (`cake_enqueue`).
    #[inline]
    pub(super) fn take(&mut self, now: Time, place: usize, packet: Packet, shared: &mut Shared) {
        if self.bytes == 0 {
            self.next = self.next.max(now);
        }
        self.bytes += u64::from(packet.wire_bytes);
        shared.backlog.add(&packet);
        shared.pool.push_back(&mut self.queues[place].chain, packet);
        match self.queues[place].set {
            Set::None => self.begin(place, shared),
            Set::Decaying => {
                self.decaying.remove(&mut self.queues, place);
                self.begin(place, shared);
            }
            Set::SparseWait => {
                self.sparse -= 1;
                self.become_bulk(place);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn begin(&mut self, place: usize, shared: &mut Shared) {
        self.new.push(&mut self.queues, place);
        self.queues[place].set = Set::Sparse;
        self.sparse += 1;
        self.queues[place].deficit = self.quantum_of(place, &mut shared.stream);
    }

    fn become_bulk(&mut self, place: usize) {
        self.queues[place].set = Set::Bulk;
        self.bulk += 1;
        self.count(place);
    }

    /// The packet that is sent next; none if the queue whose turn it was has none (`cake_dequeue`). `decays` says that a
    /// queue that is coming to rest is looked at first.
    #[inline]
    pub(super) fn serve(
        &mut self,
        now: Time,
        mut decays: bool,
        shared: &mut Shared,
        drops: &mut Drops,
    ) -> Option<Packet> {
        loop {
            let (place, list) = self.turn(decays)?;
            decays = false;
            if self.queues[place].deficit <= 0 {
                self.end_turn(place, list, &mut shared.stream);
                continue;
            }
            let packet = self.pull(now, place, shared, drops);
            match &packet {
                Some(packet) => self.charge(now, place, shared.config.line_bytes(packet.wire_bytes)),
                None => self.leave(now, place, list, shared),
            }
            return packet;
        }
    }

    /// Whose turn it is.
    #[inline]
    fn turn(&self, decays: bool) -> Option<(usize, Turn)> {
        let decaying = || self.decaying.first().map(|place| (place, Turn::Decaying));
        let first = if decays { decaying() } else { None };
        first
            .or_else(|| self.new.first().map(|place| (place, Turn::New)))
            .or_else(|| self.old.first().map(|place| (place, Turn::Old)))
            .or_else(decaying)
    }

    #[inline]
    fn list(&mut self, turn: Turn) -> &mut List {
        match turn {
            Turn::New => &mut self.new,
            Turn::Old => &mut self.old,
            Turn::Decaying => &mut self.decaying,
        }
    }

    #[inline]
    fn remove(&mut self, place: usize, turn: Turn) {
        let mut list = *self.list(turn);
        list.remove(&mut self.queues, place);
        *self.list(turn) = list;
    }

    #[inline]
    fn end_turn(&mut self, place: usize, turn: Turn, stream: &mut Stream) {
        if self.queues[place].set == Set::Sparse {
            if self.queues[place].chain.is_empty() {
                self.queues[place].set = Set::SparseWait;
            } else {
                self.sparse -= 1;
                self.become_bulk(place);
            }
        }
        self.queues[place].deficit += self.quantum_of(place, stream);
        self.remove(place, turn);
        self.old.push(&mut self.queues, place);
    }

    /// The next packet that COBALT lets pass.
    #[inline]
    fn pull(&mut self, now: Time, place: usize, shared: &mut Shared, drops: &mut Drops) -> Option<Packet> {
        let Queue { chain, state, .. } = &mut self.queues[place];
        let Shared { config, pool, backlog, stream, marks } = shared;
        let mut court = Court { config: &config.cobalt, times: &self.times, stream, marks };
        while let Some(mut packet) = pool.pop_front(chain) {
            self.bytes -= u64::from(packet.wire_bytes);
            backlog.remove(&packet);
            match state.sentence(now, &mut packet, chain.is_empty(), &mut court) {
                Some(reason) => drops.push(Dropped { packet, reason }),
                None => return Some(packet),
            }
        }
        None
    }

    /// An empty queue leaves; it stays with those that decay until its COBALT has come to rest.
    fn leave(&mut self, now: Time, place: usize, turn: Turn, shared: &Shared) {
        let state = &mut self.queues[place].state;
        state.on_empty(now, &self.times, &shared.config.cobalt);
        let rests = state.is_at_rest(now);
        match self.queues[place].set {
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.discount(place);
            }
            Set::None | Set::Decaying => {}
        }
        self.remove(place, turn);
        self.queues[place].set = if rests { Set::None } else { Set::Decaying };
        if !rests {
            self.decaying.push(&mut self.queues, place);
        }
    }

    /// A packet takes its bytes of its queue's turn and its tin's (`cake_advance_shaper`).
    #[inline]
    fn charge(&mut self, now: Time, place: usize, line_bytes: u32) {
        self.queues[place].deficit -= line_bytes.cast_signed();
        self.deficit -= i64::from(line_bytes);
        let Some(clock) = &mut self.clock else { return };
        let span = clock.next(line_bytes);
        if self.next < now {
            self.next += span;
        } else {
            self.next = self.next.max(now + span);
        }
    }

    /// Its queue with most bytes, of several the first in turn.
    pub(super) fn longest(&self) -> (u64, usize) {
        let served = self.new.iter(&self.queues).chain(self.old.iter(&self.queues));
        let bytes = |place: usize| self.queues[place].chain.bytes();
        served.fold(
            (0, 0),
            |(most, at), place| {
                if bytes(place) > most { (bytes(place), place) } else { (most, at) }
            },
        )
    }

    /// The oldest packet of a queue gives way (`cake_drop`).
    pub(super) fn drop_oldest(&mut self, now: Time, place: usize, shared: &mut Shared) -> Option<Dropped> {
        let queue = &mut self.queues[place];
        let packet = shared.pool.pop_front(&mut queue.chain)?;
        queue.state.on_full(now, &self.times, &shared.config.cobalt);
        self.bytes -= u64::from(packet.wire_bytes);
        shared.backlog.remove(&packet);
        Some(Dropped { packet, reason: DropReason::Overlimit })
    }

    /// Its queues with packets, in turn.
    pub(super) fn look<'a>(&'a self, pool: &'a Pool) -> impl Iterator<Item = SubQueue> + 'a {
        let look = |is_new| move |place: usize| pool.look(&self.queues[place].chain, is_new);
        let new = self.new.iter(&self.queues).filter_map(look(true));
        new.chain(self.old.iter(&self.queues).filter_map(look(false)))
    }
}

/// The list of the queue whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    New,
    Old,
    Decaying,
}
