//! CAKE: fair to hosts and to flows within each, in tins by codepoint, each queue under COBALT, at a rate that knows the
//! line's framing.
//!
//! Sources: T. Høiland-Jørgensen, D. Täht, J. Morton, "Piece of CAKE: a comprehensive queue management solution for home
//! gateways", IEEE LANMAN 2018 (arXiv:1804.07617), for what it is; Linux 6.12 `net/sched/sch_cake.c`, read as behavior, for
//! every constant: `cake_enqueue`, `cake_dequeue`, `cake_hash` (queues, ways, hosts), `cake_get_flow_quantum`,
//! `cake_select_tin` and the tables before it, `cake_config_…`, `cake_set_rate`, `cake_advance_shaper`,
//! `cake_calc_overhead`, `cake_drop`, `cake_init` (defaults). COBALT is that of [`crate::Cobalt`].
//!
//! **Queues.** A tin has 1024. A flow whose own queue is another flow's takes a free one of the eight in its set; if none is
//! free, both share its own. A queue whose first packet comes is sparse and comes before the bulk ones, until its
//! credit is spent (DRR++). A queue that runs empty leaves when its COBALT has come to rest; one such is looked at with
//! each packet.
//!
//! **Hosts.** A bulk queue's credit is the quantum over the number of bulk queues of its flow's sender, of its
//! receiver, or of the busier of both (`triple-isolate`). So hosts get equal shares, whatever the number of their flows.
//!
//! **Tins.** Each has a share of the rate: up to that it comes before the tins below it, beyond that it is served when
//! nobody else's turn has come. Without a shaper they are served by deficit round robin.
//!
//! **The shaper** is the link: its rate is CAKE's `bandwidth`, and a packet takes the time of its bytes on the line behind, with
//! `overhead`, `mpu` and cells. Decisions fall at the same moments as in Linux, but a packet leaves when its time is over
//! and not when it begins. `unlimited` is CAKE without its shaper, on an interface with the link's rate.
//!
//! At a full buffer the longest queue loses its oldest packet.
//!
//! Departures from Linux, beside those of [`crate::Cobalt`] (but here a queue is found empty as there):
//! - Flows and hosts are identified by number, hashed with a seed, as there are no addresses here: no NAT, no filters, no
//!   firewall marks. All packets of a flow have one codepoint; none is washed.
//! - `overhead` comes on top of a packet's bytes as they are here, and is not negative.
//! - A host with one bulk queue has the whole quantum; Linux's rounding takes a byte from one in 43.
//! - Of equally long queues the first in turn loses its packet; Linux's choice is its heap's.
//! - The buffer is the link's, in packets or bytes; Linux's `memlimit` counts memory, by default of 4 MB or more.
//! - The rate is the link's mean: no `autorate-ingress`.
//! - No `ack-filter`: what an acknowledgment says is not in the descriptors that queues see. No `ingress` mode.
//!
//! Cost: one copy of 40 bytes each way, a hash, a queue's state (two cache lines), a comparison a tin; a division a turn of a
//! host with several bulk queues. A drop at the limit looks at every queue that has packets. Memory: 80 KB a tin, 16 KB more
//! where hosts count, 48 bytes a packet.

mod classes;
mod queue;
mod tin;
mod ways;

use std::sync::Arc;

use bufferlab_parameters::{FLAG, bytes, choice, parameters, words};
use bufferlab_units::{Rate, Stream, Time};

use self::tin::{Shared, Tin};
use crate::chains::Pool;
use crate::header::{Header, header_of};
use crate::turns::mixed;
use crate::{
    Backlog, CobaltConfig, Context, Discipline, Drops, Limit, Packet, PacketKind, QueueDisc, SubQueue,
};

words! {
    /// Classes of traffic, by codepoint (tc-cake(8)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CakeTins {
        /// One for all.
        BestEffort = "besteffort",
        /// Best effort; bulk (CS1, LE) with 1/16 of the rate; voice (CS6, CS7, EF, VA, 4) with 1/4.
        Diffserv3 = "diffserv3",
        /// Best effort; bulk (CS1, LE) with 1/16; video (AF2x to AF4x, CS2, CS3, 4) with 1/2; voice (CS4 to CS7, EF, VA) with 1/4.
        Diffserv4 = "diffserv4",
        /// Eight, each with 7/8 of the rate of the one below it.
        Diffserv8 = "diffserv8",
        /// Eight by IP precedence, each with 7/8 of the rate of the one below it.
        Precedence = "precedence",
    }
}

words! {
    /// Who gets equal shares (tc-cake(8)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CakeIsolation {
        /// Nobody: one queue in each tin.
        FlowBlind = "flowblind",
        /// Hosts that send.
        SrcHost = "srchost",
        /// Hosts that receive.
        DstHost = "dsthost",
        /// Pairs of hosts.
        Hosts = "hosts",
        /// Flows.
        Flows = "flows",
        /// Hosts that send, and flows of each.
        DualSrcHost = "dual-srchost",
        /// Hosts that receive, and flows of each.
        DualDstHost = "dual-dsthost",
        /// Hosts on both sides, and flows of each.
        TripleIsolate = "triple-isolate",
    }
}

impl CakeIsolation {
    fn hashes_flows(self) -> bool {
        matches!(
            self,
            CakeIsolation::Flows
                | CakeIsolation::DualSrcHost
                | CakeIsolation::DualDstHost
                | CakeIsolation::TripleIsolate
        )
    }

    fn counts_senders(self) -> bool {
        matches!(self, CakeIsolation::DualSrcHost | CakeIsolation::TripleIsolate)
    }

    fn counts_receivers(self) -> bool {
        matches!(self, CakeIsolation::DualDstHost | CakeIsolation::TripleIsolate)
    }
}

words! {
    /// In what a line carries its packets (tc-cake(8)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CakeFraming {
        /// As they are (`noatm`).
        Plain = "plain",
        /// In ATM's cells: 53 bytes for each 48 or part of them (ADSL).
        Atm = "atm",
        /// In 64/65-byte blocks: a byte for each 64 or part of them (VDSL2).
        Ptm = "ptm",
    }
}

/// Bounds of `overhead` and of `mpu`, bytes (tc-cake(8)).
const MOST_OVERHEAD: u64 = 256;

parameters! {
    /// Parameters of CAKE.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct CakeConfig {
        /// Classes of traffic (Linux's `diffserv3` …).
        tins: CakeTins = CakeTins::Diffserv3, choice::<CakeTins>();
        /// Who gets equal shares (Linux's `triple-isolate` …).
        isolation: CakeIsolation = CakeIsolation::TripleIsolate, choice::<CakeIsolation>();
        /// No shaper: the link is an interface with its own rate (Linux's `unlimited`).
        unlimited: bool = false, FLAG;
        /// Bytes that the line behind the shaper adds to a packet (Linux's `overhead`).
        overhead_bytes: u32 = 0, bytes(0, MOST_OVERHEAD);
        /// Least size of a packet on that line, with its overhead (Linux's `mpu`).
        mpu_bytes: u32 = 0, bytes(0, MOST_OVERHEAD);
        /// In what that line carries packets (Linux's `atm`, `ptm`, `noatm`).
        framing: CakeFraming = CakeFraming::Plain, choice::<CakeFraming>();
        include
        /// COBALT's parameters in each queue.
        cobalt: CobaltConfig = CobaltConfig::default();
    }
}

impl CakeConfig {
    /// A packet's bytes on the line (`cake_calc_overhead`).
    #[inline]
    fn line_bytes(&self, wire_bytes: u32) -> u32 {
        let bytes = (wire_bytes + self.overhead_bytes).max(self.mpu_bytes);
        match self.framing {
            CakeFraming::Plain => bytes,
            CakeFraming::Atm => bytes.div_ceil(48) * 53,
            CakeFraming::Ptm => bytes + bytes.div_ceil(64),
        }
    }
}

impl Discipline for CakeConfig {
    type Qdisc = Cake;
    const DROPS_OLDEST: bool = true;
    const REORDERS: bool = true;

    fn build(&self, context: Context<'_>) -> Cake {
        Cake::new(context.limit, *self, context.rate, (context.headers)(), context.stream)
    }

    #[cfg(test)]
    fn eager() -> Vec<Self> {
        let of = |cobalt| CakeConfig { cobalt, ..CakeConfig::default() };
        let [hasty, deaf] = [CobaltConfig::eager()[0], CobaltConfig::eager()[1]].map(of);
        let cells = CakeConfig { overhead_bytes: 44, framing: CakeFraming::Atm, ..hasty };
        let one = CakeConfig { tins: CakeTins::BestEffort, isolation: CakeIsolation::FlowBlind, ..cells };
        let eight = CakeConfig { tins: CakeTins::Diffserv8, unlimited: true, ..deaf };
        vec![hasty, one, eight, CakeConfig { isolation: CakeIsolation::Hosts, ..cells }]
    }
}

/// CAKE's tins.
#[derive(Clone, Debug)]
pub struct Cake {
    shared: Shared,
    tins: Vec<Tin>,
    /// The tin of each codepoint.
    tin_of: [u8; 64],
    /// The tin that is served.
    current: usize,
    headers: Arc<[Header]>,
    /// Seeds of the hashes of flows, of senders and of receivers.
    seeds: [u64; 3],
    limit: Limit,
    /// The largest packet that has come, bytes.
    max_packet: u32,
}

impl Cake {
    /// Empty tins of a link with this rate, with what the flows' headers say. The random numbers are of the stream, as are
    /// the seeds of the hashes.
    pub fn new(
        limit: Limit,
        config: CakeConfig,
        rate: Rate,
        headers: Arc<[Header]>,
        mut stream: Stream,
    ) -> Cake {
        let seeds = [(); 3].map(|()| stream.bits());
        let rate = Some(rate).filter(|_| !config.unlimited);
        Cake {
            tins: classes::tins_of(&config, rate),
            tin_of: std::array::from_fn(|dscp| classes::tin_of(config.tins, dscp as u8)),
            shared: Shared { config, pool: Pool::new(), backlog: Backlog::default(), stream, marks: 0 },
            current: 0,
            headers,
            seeds,
            limit,
            max_packet: 0,
        }
    }

    /// A larger packet than all before has come.
    #[cold]
    fn retune(&mut self, wire_bytes: u32) {
        self.max_packet = wire_bytes;
        self.tins.iter_mut().for_each(|tin| tin.retune(&self.shared.config, wire_bytes));
    }

    /// The tin and the queue of a packet (`cake_classify`).
    #[inline]
    fn classify(&mut self, packet: &Packet) -> (usize, usize) {
        let (seeds, headers) = (self.seeds, &self.headers);
        let hash = |seed: usize, number| (mixed(seeds[seed], number) >> 32) as u32;
        let hosts = || {
            let Header { sender, receiver, .. } = header_of(headers, packet.flow);
            let (from, to) =
                if packet.kind == PacketKind::Ack { (receiver, sender) } else { (sender, receiver) };
            (hash(1, from), hash(2, to))
        };
        let tin = match self.tins.len() {
            1 => 0,
            _ => usize::from(self.tin_of[usize::from(header_of(headers, packet.flow).dscp & 63)]),
        };
        let hash = match self.shared.config.isolation {
            isolation if isolation.hashes_flows() => hash(0, packet.flow),
            CakeIsolation::SrcHost => hosts().0,
            CakeIsolation::DstHost => hosts().1,
            CakeIsolation::Hosts => hosts().0 ^ hosts().1,
            _ => 0,
        };
        (tin, self.tins[tin].place(hash, hosts))
    }

    /// The longest queues lose their oldest packets until one that comes has its room.
    #[cold]
    fn make_room(&mut self, now: Time, bytes: u64, drops: &mut Drops) {
        let mut freed = 0;
        while self.limit.is_below(self.shared.backlog) && freed < bytes {
            let longest = self.tins.iter().map(Tin::longest).enumerate();
            let longest = longest.fold((0, (0, 0)), |most, tin| if tin.1.0 > most.1.0 { tin } else { most });
            let (tin, (_, place)) = longest;
            let Some(dropped) = self.tins[tin].drop_oldest(now, place, &mut self.shared) else { break };
            freed += u64::from(dropped.packet.wire_bytes);
            drops.push(dropped);
        }
    }

    /// Chooses the tin to be served: with a shaper the highest whose time has come, or else the one whose comes first;
    /// without, by turns.
    #[inline]
    fn choose(&mut self, now: Time) {
        if self.tins.len() == 1 {
            return;
        }
        if self.shared.config.unlimited {
            self.take_turns();
            return;
        }
        let mut soonest = None;
        for (index, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            let wait = tin.until_next(now);
            if soonest.is_none_or(|least| wait <= least) {
                (soonest, self.current) = (Some(wait), index);
            }
        }
    }

    /// Goes on to the next tin that has something and may send it; one that is left gets its quantum.
    fn take_turns(&mut self) {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.deficit >= 0 && tin.is_active() {
                return;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.share;
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }
}

impl QueueDisc for Cake {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if packet.wire_bytes > self.max_packet {
            self.retune(packet.wire_bytes);
        }
        packet.enqueued = now;
        let (tin, place) = self.classify(&packet);
        self.tins[tin].take(now, place, packet, &mut self.shared);
        if self.limit.is_below(self.shared.backlog) {
            self.make_room(now, u64::from(packet.wire_bytes), drops);
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, drops: &mut Drops) -> Option<Packet> {
        let mut decays = true;
        while self.shared.backlog.packets > 0 {
            self.choose(now);
            if let Some(packet) = self.tins[self.current].serve(now, decays, &mut self.shared, drops) {
                return Some(packet);
            }
            decays = false;
        }
        None
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.shared.backlog
    }

    #[inline]
    fn marks(&self) -> u64 {
        self.shared.marks
    }

    #[inline]
    fn line_bytes(&self, packet: &Packet) -> u32 {
        let Shared { config, .. } = &self.shared;
        if config.unlimited { packet.wire_bytes } else { config.line_bytes(packet.wire_bytes) }
    }

    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
    }

    fn sub_queues(&self) -> Vec<SubQueue> {
        self.tins.iter().flat_map(|tin| tin.look(&self.shared.pool)).collect()
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod twin;
