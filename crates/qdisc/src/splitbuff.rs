//! SplitBuff: one buffer split by round-trip time, so that short flows do not wait behind long ones.
//!
//! Source: "SplitBuff: Improving the Interaction of Heterogeneous RTT Flows on the Internet", section III (the
//! algorithm, its equation (4) for the sizes) and section IV.E (three sub-buffers). Per packet: two comparisons, a few
//! sums; no state of any flow.
//!
//! What the document leaves open, and what is done here:
//! - **Period and smoothing.** `T_u` and alpha have no values there. Both are parameters; the scenario's defaults are
//!   2 s and 1/4. `T_u` must be longer than the longest round trip: with flows of 500 ms and a `T_u` of 100 ms most
//!   periods see no packet of the long ones; the mean falls, and with it the long flows' buffer, which starves them. An
//!   alpha of 1/4 forgets a delay within some four periods.
//! - **Start.** Until a first period has seen round-trip times, all packets share the first sub-buffer, which may take
//!   the whole limit: a plain FIFO.
//! - **A sub-buffer without packets in a period** keeps its last mean; if it never had one, it counts as the threshold
//!   beside it, so that it is ready when its flows come.
//! - **Shrinking below the occupancy** keeps what waits and refuses what comes, as for every discipline here.
//! - **The sum of the sizes** is B = (mean RTT − `T_q`)·C as published, and never above the discipline's limit.
//! - **Packets that tell no round-trip time** (a SYN, a datagram, a flow before its first sample) join the sub-buffer of
//!   the shortest, where they wait least; they count in no mean.
//! - **k sub-buffers**: thresholds at mean + (i − k/2)·sigma, i = 1 … k − 1, which is the mean for two and mean ±
//!   sigma/2 for three, as published; sizes by (4) for all.
//! - **Service**: round robin for packets of one size; deficit round robin (Shreedhar and Varghese 1995) for others, with
//!   the largest packet seen as quantum. Empty sub-buffers are passed over.
//! - **A flow at the threshold** may have packets in two sub-buffers, which reorders them. The published remedy is none;
//!   a quantized header ([`crate::RttInformation::Quantized`]) moves a flow only when its round-trip time leaves a step.
//! - **Where the information has no queueing in it** (the oracle), `T_q` counts as zero.
//!
//! Beyond the document: [`Service::Flows`] serves each sub-buffer by the number of its active flows, estimated by
//! linear counting (Whang, Vander-Zanden and Taylor, ACM TODS 15(2), 1990) in a bitmap of fixed size. A sub-buffer's
//! size is then its own bandwidth-delay product, its flows' part of the link times their propagation delay, in place of
//! (4): 90 flows of 10 ms behind (4)'s share, made for one, lose so much that they cannot use their part of the link. The
//! sum is the mean over flows times C, which does not fall with flows that are slow.
//! [`Classes::Random`] is the document's Blind-SplitBuff (section IV.D).

mod reading;
mod sketch;
mod sub_buffer;
#[cfg(test)]
mod tests;

use bufferlab_units::{Rate, Span, Time};

use crate::{Backlog, DropReason, Dropped, Drops, Estimates, Limit, Packet, QueueDisc, RttInformation};
use sub_buffer::SubBuffer;

/// Most sub-buffers.
pub const MAX_SUB_BUFFERS: usize = 8;

/// How packets are told apart.
#[derive(Clone, Debug)]
pub enum Classes {
    /// By round-trip time.
    Rtt(RttInformation),
    /// Each flow at random; sub-buffers of equal size, as Blind-SplitBuff has it.
    Random {
        /// Whom chance favors.
        seed: u64,
    },
}

/// How sub-buffers share the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Alike, as published.
    Alike,
    /// By the estimated number of their active flows.
    Flows,
}

/// Parameters.
#[derive(Clone, Debug)]
pub struct SplitBuffConfig {
    /// How much may wait in all.
    pub limit: Limit,
    /// Rate of the link.
    pub rate: Rate,
    /// Number of sub-buffers, 1 to [`MAX_SUB_BUFFERS`].
    pub sub_buffers: usize,
    /// Update period `T_u`.
    pub update: Span,
    /// Weight alpha of a period's delay in the smoothed one, 0 to 1.
    pub smoothing: f64,
    /// How packets are told apart.
    pub classes: Classes,
    /// How sub-buffers share the link.
    pub service: Service,
}

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
    parts: Vec<SubBuffer>,
    /// Between the sub-buffers, as propagation delays, s; nothing before the first period is over.
    thresholds: Option<Vec<f64>>,
    /// Mean propagation delay of all packets of the last period, s.
    center_s: f64,
    /// Smoothed delay in all sub-buffers (`T_q`), s.
    delay_s: f64,
    sums: Sums,
    next_update: Time,
    /// The sub-buffer whose turn it is, and whether it has had its quantum.
    turn: usize,
    granted: bool,
    /// The largest packet seen, bytes.
    quantum: u32,
    backlog: Backlog,
    /// The sub-buffer of the packet that came or went last.
    last: usize,
}

impl SplitBuff {
    /// Empty sub-buffers.
    pub fn new(config: SplitBuffConfig) -> SplitBuff {
        let count = config.sub_buffers.clamp(1, MAX_SUB_BUFFERS);
        let mut splitbuff = SplitBuff {
            parts: (0..count).map(|_| SubBuffer::new(config.service)).collect(),
            thresholds: None,
            center_s: 0.0,
            delay_s: 0.0,
            sums: Sums::default(),
            next_update: Time::ZERO + config.update,
            turn: 0,
            granted: false,
            quantum: 0,
            backlog: Backlog::default(),
            last: 0,
            config,
        };
        splitbuff.share_limit();
        splitbuff
    }

    /// What a router must keep beside the packets that wait, bytes.
    pub fn state_bytes(&self) -> usize {
        let information = match &self.config.classes {
            Classes::Rtt(information) => information.bytes(),
            Classes::Random { .. } => 0,
        };
        size_of::<SplitBuff>() + information + self.parts.iter().map(SubBuffer::state_bytes).sum::<usize>()
    }

    /// Equal shares for random classes, all for the first before anything is known.
    fn share_limit(&mut self) {
        let count = self.parts.len() as u64;
        let random = matches!(self.config.classes, Classes::Random { .. });
        for (index, part) in self.parts.iter_mut().enumerate() {
            part.limit = match (random, self.config.limit) {
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
        let information = match &mut self.config.classes {
            Classes::Random { seed } => return random_class(*seed, packet.flow, self.parts.len()),
            Classes::Rtt(information) => information,
        };
        let Some(rtt) = information.of(now, packet) else {
            return 0;
        };
        let rtt_s = rtt.as_s();
        let queueing_s = if information.has_queueing() { self.delay_s } else { 0.0 };
        let propagation_s = rtt_s - queueing_s;
        let class = match &self.thresholds {
            Some(thresholds) => thresholds.iter().filter(|&&threshold| propagation_s >= threshold).count(),
            None => 0,
        };
        self.sums.rtt_s += rtt_s;
        self.sums.squares += rtt_s * rtt_s;
        self.sums.packets += 1;
        self.sums.bytes += u64::from(packet.wire_bytes);
        self.parts[class].note_rtt(rtt_s);
        class
    }

    /// The period is over: thresholds and sizes for the next one.
    fn update(&mut self, now: Time) {
        let period_ps = self.config.update.as_ps().max(1);
        let periods = now.saturating_since(self.next_update).as_ps() / period_ps + 1;
        self.next_update = self.next_update.saturating_add(Span::from_ps(period_ps.saturating_mul(periods)));
        self.smooth_delays();
        let Classes::Rtt(information) = &self.config.classes else {
            return;
        };
        let has_queueing = information.has_queueing();
        let sums = std::mem::take(&mut self.sums);
        if sums.packets == 0 {
            return;
        }
        let count = sums.packets as f64;
        let (mean_s, mean_bytes) = (sums.rtt_s / count, sums.bytes as f64 / count);
        let sigma_s = (sums.squares / count - mean_s * mean_s).max(0.0).sqrt();
        let queueing_s = if has_queueing { self.delay_s } else { 0.0 };
        let center_s = (mean_s - queueing_s).max(0.0);
        self.center_s = center_s;
        let k = self.parts.len();
        let offset = |index: usize| (index as f64 - k as f64 / 2.0) * sigma_s;
        let thresholds: Vec<f64> = (1..k).map(|index| (center_s + offset(index)).max(0.0)).collect();
        for (index, part) in self.parts.iter_mut().enumerate() {
            let beside = thresholds.get(index.min(k.saturating_sub(2))).copied().unwrap_or(center_s);
            part.end_period(has_queueing, beside);
        }
        self.thresholds = Some(thresholds);
        // B = (mean RTT − `T_q`)·C
        let mean_s = if self.config.service == Service::Flows { self.mean_over_flows_s() } else { center_s };
        let bytes = mean_s * self.config.rate.as_bps() as f64 / 8.0;
        self.share(bytes, mean_bytes);
    }

    /// Mean of the sub-buffers' propagation delays, each counted as often as it has flows.
    fn mean_over_flows_s(&self) -> f64 {
        let flows: f64 = self.parts.iter().map(|part| part.flows).sum();
        self.parts.iter().map(SubBuffer::need_s).sum::<f64>() / flows.max(1.0)
    }

    fn smooth_delays(&mut self) {
        let alpha = self.config.smoothing;
        let (wait_s, served) = self
            .parts
            .iter()
            .fold((0.0, 0), |(wait_s, served), part| (wait_s + part.waited_s, served + part.served));
        if served > 0 {
            self.delay_s += alpha * (wait_s / served as f64 - self.delay_s);
        }
        for part in &mut self.parts {
            part.smooth_delay(alpha);
        }
        if self.config.service == Service::Flows {
            self.weigh();
        }
    }

    /// Equation (4): a sub-buffer's part of the whole is its propagation delay's part of their sum.
    fn share(&mut self, bytes: f64, mean_bytes: f64) {
        let sum_s: f64 = self.parts.iter().map(SubBuffer::need_s).sum();
        if sum_s <= 0.0 {
            return;
        }
        for part in &mut self.parts {
            let share = part.need_s() / sum_s;
            part.limit = match self.config.limit {
                Limit::Packets(most) => {
                    let packets = (bytes / mean_bytes.max(1.0)).min(most as f64) * share;
                    Limit::Packets((packets as u64).max(1))
                }
                Limit::Bytes(most) => {
                    let packet = f64::from(self.quantum);
                    Limit::Bytes((bytes.min(most as f64) * share).max(packet) as u64)
                }
                Limit::Unlimited => Limit::Bytes((bytes * share).max(f64::from(self.quantum)) as u64),
            };
        }
    }

    /// The quanta of the next period: at least one packet each, more for those with more flows.
    fn weigh(&mut self) {
        self.parts.iter_mut().for_each(SubBuffer::count_flows);
        let counts = self.parts.iter().map(|part| part.flows).filter(|&flows| flows > 0.0);
        let fewest = counts.fold(f64::INFINITY, f64::min);
        for part in &mut self.parts {
            if part.flows > 0.0 {
                part.weight = part.flows / fewest;
            }
        }
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
        self.last = class;
        let part = &mut self.parts[class];
        if !part.limit.admits(part.backlog(), packet.wire_bytes)
            || !self.config.limit.admits(self.backlog, packet.wire_bytes)
        {
            drops.push(Dropped { packet, reason: DropReason::Overlimit });
            return;
        }
        packet.enqueued = now;
        self.backlog.add(&packet);
        part.push(packet);
    }

    fn dequeue(&mut self, now: Time, _drops: &mut Drops) -> Option<Packet> {
        if now >= self.next_update {
            self.update(now);
        }
        let class = self.choose()?;
        self.last = class;
        let packet = self.parts[class].pop(now)?;
        self.backlog.remove(&packet);
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// The next period shares the new limit; until then no sub-buffer may take more than all of it.
    fn set_limit(&mut self, limit: Limit) {
        self.config.limit = limit;
        if self.thresholds.is_none() {
            self.share_limit();
        }
    }

    fn estimates(&self) -> Option<Estimates> {
        Some(self.read())
    }

    #[inline]
    fn class(&self) -> usize {
        self.last
    }
}

/// Where chance puts a flow.
fn random_class(seed: u64, flow: u32, classes: usize) -> usize {
    let mixed = (u64::from(flow) ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((u128::from(mixed) * classes as u128) >> 64) as usize
}
