//! SplitBuff: one buffer split by round-trip time, so that short flows do not wait behind long ones.
//!
//! Source: "SplitBuff: Improving the Interaction of Heterogeneous RTT Flows on the Internet", section III (the
//! algorithm, its equation (4) for the sizes) and section IV.E (three sub-buffers). Per packet: two comparisons, a few
//! sums; no state of any flow.
//!
//! What the document leaves open, and what is done here:
//! - **Period and smoothing.** `T_u` and alpha have no values there. Both are parameters; the scenario's defaults, 500 ms
//!   and 1/2, were the best of a grid (0.5 to 4 s, 1/8 to 1) over 2, 10 and 100 flows of 10 ms against 100, 300 and 500 ms:
//!   a smoothed delay lags behind the mean round-trip time, and what it is late by counts as propagation, or against it.
//!   With alpha = 1/4 and 2 s, two flows of 10 and 500 ms fill a quarter of the link. A `T_u` shorter than a round
//!   trip sees no packet of the long flows in some periods: with few flows of a second the mean falls, and with it
//!   their buffer; [`Mean::Flows`] then needs a longer one, too.
//! - **Start.** Until a first period has seen round-trip times, all packets share the first sub-buffer, which may take
//!   the whole limit: a plain FIFO. Periods before the first round-trip times and the first one with some may be short;
//!   each is then twice the one before, until they are `T_u` long. The first delay counts in full, as the first sample
//!   does in RFC 6298 section 2.2: smoothed from zero, it is taken off too little for many periods.
//! - **A sub-buffer without packets in a period** keeps its last mean; if it never had one, it counts as the threshold
//!   beside it, so that it is ready when its flows come.
//! - **Shrinking below the occupancy** keeps what waits and refuses what comes, as for every discipline here.
//! - **The sum of the sizes** is B = (mean RTT − `T_q`)·C as published, and never above the discipline's limit.
//! - **Packets without a round-trip time** (a SYN, a datagram, a flow before its first sample, or one whose sender states none:
//!   [`SplitBuffConfig::silent`] of them) join the sub-buffer of
//!   the shortest, where they wait least; they count in no mean.
//! - **k sub-buffers**: thresholds at mean + (i − k/2)·sigma, i = 1 … k − 1, which is the mean for two and mean ±
//!   sigma/2 for three, as published; sizes by (4) for all.
//! - **Queueing delays.** The pseudocode updates `T_q` by the number of packets that an arrival finds. Here they are the
//!   waits of the packets that left, which need no assumption on how fast a sub-buffer is served; [`Delays::Arrivals`] takes
//!   the queue that each arrival (also one that is dropped) finds, divided by the link's rate and multiplied by the number of
//!   sub-buffers that hold packets.
//! - **Updates are lazy**: a period ends with the first arrival or departure at or after its end, not by a timer.
//! - **Nothing below what makes sense**: mean round-trip times and thresholds below zero count as zero, and every sub-buffer
//!   may hold one packet.
//! - **B in packets** is B in bytes over the mean size of the period's packets.
//! - **Service**: round robin for packets of one size; deficit round robin (Shreedhar and Varghese 1995) for others, with
//!   the largest packet seen as quantum. Empty sub-buffers are passed over.
//! - **A flow at the threshold** may have packets in two sub-buffers, which reorders them. There is no published remedy;
//!   a header of few bits ([`crate::RttSource::Quantized`]) moves a flow only when its round-trip time leaves a step.
//! - **Where the information has no queueing in it** (the oracle, and handshakes, which are measured from the moment at
//!   which the SYN leaves the queue), `T_q` counts as zero.
//! - **A flow that lies** about its round-trip time joins the sub-buffer of the stated one. One that states a longer time
//!   than all others has that sub-buffer's part of the link to itself, 1/k where all are served alike, and (4) gives it nearly
//!   all of the buffer: the others, with a packet or two of room, cannot use their part, and it has that, too. So does one
//!   that states a time so long that the limit binds where sub-buffers are served by their flows. Two options hold against
//!   it: [`Sizes::Own`] leaves the others their room, and `police` bounds what a flow may have where there is a queue, as
//!   no flow is slower to lose than one whose round trips are short among long ones. Neither reads a round-trip time,
//!   so it does not matter how well it was measured. A flow that states a short time loses (`lies`).
//!
//! Beyond the document: [`SplitBuffConfig::weighted`] serves each sub-buffer by the number of its active flows, estimated by
//! linear counting (Whang, Vander-Zanden and Taylor, ACM TODS 15(2), 1990) in a bitmap of fixed size. A sub-buffer's
//! size is then its own bandwidth-delay product, its flows' part of the link times their propagation delay, in place of
//! (4): 90 flows of 10 ms behind (4)'s share, made for one, lose so much that they cannot use their part of the link. The
//! sum is the mean over flows times C, which does not fall with flows that are slow.
//! [`Mean::Flows`] takes the mean round-trip time over flows, counted likewise: over packets it feeds back, since flows that
//! are slow lower it, get less buffer and become slower. [`Thresholds::Gaps`] has as many classes as the round-trip times
//! need and puts the thresholds where there are none (see `gaps`). With a hysteresis a threshold that moved by a small part
//! stays where it is (a dead band); flows beside it still change sides as their smoothed times do. None of it keeps state
//! of a flow.
//! [`Classes::Random`] is the document's Blind-SplitBuff (section IV.D).

mod config;
mod gaps;
#[cfg(test)]
mod lies;
#[cfg(test)]
mod opened;
mod period;
mod police;
mod reading;
mod sketch;
mod sub_buffer;
#[cfg(test)]
mod tests;

pub use config::{Classes, Delays, Mean, Sizes, SplitBuffBlindConfig, SplitBuffConfig, Thresholds};

use bufferlab_units::{Rate, Span, Time};

use crate::{Backlog, DropReason, Dropped, Drops, Estimates, Limit, Packet, QueueDisc};
use gaps::Gaps;
use police::Police;
use sub_buffer::SubBuffer;

/// Sums over a period.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    rtt_s: f64,
    squares: f64,
    packets: u64,
    bytes: u64,
}

/// SplitBuff.
#[derive(Clone, Debug)]
pub struct SplitBuff {
    config: SplitBuffConfig,
    classes: Classes,
    limit: Limit,
    rate: Rate,
    parts: Vec<SubBuffer>,
    /// Between the sub-buffers, as propagation delays, s; nothing before the first period is over.
    thresholds: Option<Vec<f64>>,
    /// Mean propagation delay of all packets of the last period, s.
    center_s: f64,
    /// Smoothed delay in all sub-buffers (`T_q`), s.
    delay_s: f64,
    /// That is more than the zero of the start.
    delay_known: bool,
    sums: Sums,
    /// Round-trip times of the period, if thresholds are to lie in their gaps.
    gaps: Option<Gaps>,
    /// Bytes of flows, if none may have more than a multiple of its share.
    police: Option<Box<Police>>,
    /// How long this period is, and when it ends.
    period: Span,
    next_update: Time,
    /// The sub-buffer whose turn it is, and whether it has had its quantum.
    turn: usize,
    granted: bool,
    /// The largest packet seen, bytes.
    quantum: u32,
    backlog: Backlog,
    /// The sub-buffer of the packet that came or went last.
    last: u8,
    /// Which flows state no round-trip time.
    silent_seed: u64,
}

impl SplitBuff {
    /// Empty sub-buffers for a link of this rate.
    pub fn new(config: SplitBuffConfig, classes: Classes, limit: Limit, rate: Rate) -> SplitBuff {
        let count = config.sub_buffers.clamp(1, config::MAX_SUB_BUFFERS);
        let counts = config.weighted || config.mean == Mean::Flows;
        let period = config.first_update();
        let mut splitbuff = SplitBuff {
            parts: (0..count).map(|_| SubBuffer::new(counts, config.delays)).collect(),
            thresholds: None,
            center_s: 0.0,
            delay_s: 0.0,
            delay_known: false,
            sums: Sums::default(),
            gaps: (config.thresholds == Thresholds::Gaps).then(Gaps::new),
            police: config.police.map(|multiple| Box::new(Police::new(multiple))),
            period,
            next_update: Time::ZERO + period,
            turn: 0,
            granted: false,
            quantum: 0,
            backlog: Backlog::default(),
            last: 0,
            silent_seed: 0,
            config,
            classes,
            limit,
            rate,
        };
        splitbuff.share_limit();
        splitbuff
    }

    /// The same; chance picks the flows that state no round-trip time by this seed.
    #[must_use]
    pub fn with_silent(self, seed: u64) -> SplitBuff {
        let mut police = self.police;
        if let Some(police) = police.as_deref_mut() {
            police.seed(seed);
        }
        SplitBuff { silent_seed: seed, police, ..self }
    }

    /// What a router must keep beside the packets that wait, bytes.
    pub fn state_bytes(&self) -> usize {
        let information = match &self.classes {
            Classes::Rtt(information) => information.bytes(),
            Classes::Random { .. } => 0,
        };
        let gaps = self.gaps.as_ref().map_or(0, Gaps::bytes);
        size_of::<SplitBuff>()
            + information
            + gaps
            + self.police.as_deref().map_or(0, Police::bytes)
            + self.parts.iter().map(SubBuffer::state_bytes).sum::<usize>()
    }

    /// Equal shares for random classes, all for the first before anything is known.
    fn share_limit(&mut self) {
        let count = self.parts.len() as u64;
        let random = matches!(self.classes, Classes::Random { .. });
        for (index, part) in self.parts.iter_mut().enumerate() {
            part.limit = match (random, self.limit) {
                (true, Limit::Packets(packets)) => Limit::Packets((packets / count).max(1)),
                (true, Limit::Bytes(bytes)) => Limit::Bytes((bytes / count).max(1)),
                (false, limit) if index == 0 => limit,
                (false, Limit::Packets(_)) => Limit::Packets(0),
                (false, Limit::Bytes(_)) => Limit::Bytes(0),
                (_, Limit::Unlimited) => Limit::Unlimited,
            };
        }
    }

    /// The sub-buffer that a packet joins; counts it.
    fn class_of(&mut self, now: Time, packet: &Packet) -> usize {
        let information = match &mut self.classes {
            Classes::Random { seed } => return random_class(*seed, packet.flow, self.parts.len()),
            Classes::Rtt(information) => information,
        };
        if is_silent(self.config.silent, self.silent_seed, packet.flow) {
            return 0;
        }
        let Some(rtt) = information.of(now, packet) else {
            return 0;
        };
        let (rtt_s, has_queueing) = (rtt.as_s(), information.has_queueing());
        // gaps lie between the round-trip times that packets carry
        let compared_s = if has_queueing && self.gaps.is_none() { rtt_s - self.delay_s } else { rtt_s };
        let class = match &self.thresholds {
            Some(thresholds) => thresholds.iter().filter(|&&threshold| compared_s >= threshold).count(),
            None => 0,
        };
        if let Some(gaps) = &mut self.gaps {
            let queueing_s = if has_queueing { self.parts[class].delay_s } else { 0.0 };
            gaps.note(rtt_s, rtt_s - queueing_s);
        }
        self.sums.rtt_s += rtt_s;
        self.sums.squares += rtt_s * rtt_s;
        self.sums.packets += 1;
        self.sums.bytes += u64::from(packet.wire_bytes);
        self.parts[class].note_rtt(rtt_s);
        class
    }

    /// How long what waits in a sub-buffer takes to leave, if all that hold packets are served alike.
    fn drain_s(&self, class: usize) -> f64 {
        let busy = self.parts.iter().filter(|part| part.backlog().packets > 0).count();
        self.parts[class].backlog().bytes as f64 * 8.0 * busy as f64 / self.rate.as_bps() as f64
    }

    /// Whether a packet is one too many of its flow, where there is a queue.
    #[inline(never)]
    fn is_refused(&self, packet: &Packet) -> bool {
        self.police.as_deref().is_some_and(|police| police.is_ahead(packet.flow))
            && self.parts.iter().any(SubBuffer::is_crowded)
    }

    /// Deficit round robin: the sub-buffer that may send its first packet.
    fn choose(&mut self) -> Option<usize> {
        if self.backlog.packets == 0 {
            return None;
        }
        loop {
            let part = &mut self.parts[self.turn];
            if let Some(first) = part.packets.front() {
                if !self.granted {
                    part.deficit += f64::from(self.quantum) * part.weight;
                    self.granted = true;
                }
                if part.deficit >= f64::from(first.wire_bytes) {
                    return Some(self.turn);
                }
            } else {
                part.deficit = 0.0;
            }
            (self.turn, self.granted) = ((self.turn + 1) % self.parts.len(), false);
        }
    }
}

impl QueueDisc for SplitBuff {
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        if now >= self.next_update {
            self.update(now);
        }
        self.quantum = self.quantum.max(packet.wire_bytes);
        let class = self.class_of(now, &packet);
        self.last = class as u8;
        if self.config.delays == Delays::Arrivals {
            let found_s = self.drain_s(class);
            self.parts[class].note_delay(found_s);
        }
        if self.police.is_some() && self.is_refused(&packet) {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        let part = &mut self.parts[class];
        if !part.limit.admits(part.backlog(), packet.wire_bytes)
            || !self.limit.admits(self.backlog, packet.wire_bytes)
        {
            if let Some(police) = self.police.as_deref_mut() {
                police.note_loss(packet.flow);
            }
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        packet.enqueued = now;
        if let Some(police) = self.police.as_deref_mut() {
            police.note(packet.flow, packet.wire_bytes);
        }
        self.backlog.add(&packet);
        part.push(packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        if now >= self.next_update {
            self.update(now);
        }
        let class = self.choose()?;
        self.last = class as u8;
        let packet = self.parts[class].pop(now)?;
        self.backlog.remove(&packet);
        if let Classes::Rtt(information) = &mut self.classes {
            information.on_departure(now, &packet);
        }
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The next period shares the new limit; until then no sub-buffer may take more than all of it.
    fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
        if self.thresholds.is_none() {
            self.share_limit();
        }
    }

    fn estimates(&self) -> Option<Estimates> {
        Some(self.read())
    }

    #[inline]
    fn class(&self) -> usize {
        usize::from(self.last)
    }
}

/// Where chance puts a flow.
fn random_class(seed: u64, flow: u32, classes: usize) -> usize {
    ((u128::from(mixed(seed, flow)) * classes as u128) >> 64) as usize
}

/// Whether a flow is one of the part that states no round-trip time.
fn is_silent(part: f64, seed: u64, flow: u32) -> bool {
    part > 0.0 && (mixed(seed, flow) >> 32) as f64 <= part * f64::from(u32::MAX)
}

fn mixed(seed: u64, flow: u32) -> u64 {
    let mixed = (u64::from(flow) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
