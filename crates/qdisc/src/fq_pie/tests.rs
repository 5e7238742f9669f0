use proptest::prelude::*;

use super::*;
use crate::{Ecn, PacketKind, Pie};

const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);
const ECT0: PacketKind = PacketKind::Data(Ecn::Capable);

fn packet(flow: u32, seq: u32, wire_bytes: u32) -> Packet {
    Packet { flow, seq, wire_bytes, kind: DEAF, ..Packet::default() }
}

fn queues(limit: Limit) -> FqPie {
    FqPie::new(limit, FqPieConfig::default(), Stream::new(1, 0, 0))
}

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// `fq_pie_init`; the quantum is an MTU of 1500 bytes and the Ethernet header.
#[test]
fn the_defaults_are_those_of_linux() {
    let FqPieConfig { flows, quantum_bytes, pie } = FqPieConfig::default();
    assert_eq!((flows, quantum_bytes, pie.ecn), (1024, 1514, false));
    assert_eq!((pie.target, pie.t_update), (Span::from_ms(15), Span::from_ms(15)));
    assert_eq!((pie.alpha, pie.beta), (2.0 / 16.0, 20.0 / 16.0));
}

#[test]
fn a_new_flow_goes_first_and_old_ones_take_turns() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for seq in 0..3 {
        (0..2).for_each(|flow| queue.enqueue(Time::ZERO, packet(flow, seq, 1514), &mut drops));
    }
    let serve = |queue: &mut FqPie| queue.dequeue(at_ms(1), &mut Drops::new()).map(|packet| packet.flow);
    assert_eq!([(); 4].map(|()| serve(&mut queue)), [Some(0), Some(1), Some(0), Some(1)]);
    queue.enqueue(at_ms(1), packet(2, 0, 100), &mut drops);
    assert_eq!([(); 4].map(|()| serve(&mut queue)), [Some(2), Some(0), Some(1), None]);
}

/// Other than under FQ-CoDel the packet that comes goes, though its flow has nothing waiting.
#[test]
fn whoever_comes_to_a_full_buffer_is_dropped() {
    let mut queue = queues(Limit::Packets(3));
    let mut drops = Drops::new();
    (0..3).for_each(|seq| queue.enqueue(Time::ZERO, packet(0, seq, 1000), &mut drops));
    queue.enqueue(Time::ZERO, packet(1, 9, 1000), &mut drops);
    assert_eq!(
        drops.iter().map(|dropped| (dropped.packet.flow, dropped.reason)).collect::<Vec<_>>(),
        [(1, DropReason::Overlimit)]
    );
}

/// A flood in one queue is dropped from; who sends a packet now and then loses none and waits for a quantum.
#[test]
fn each_queue_has_a_chance_of_its_own() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for ms in 0..3_000 {
        (0..2).for_each(|seq| queue.enqueue(at_ms(ms), packet(0, seq, 1000), &mut drops));
        if ms % 20 == 0 {
            queue.enqueue(at_ms(ms), packet(1, 0, 100), &mut drops);
        }
        let packet = queue.dequeue(at_ms(ms), &mut Drops::new()).expect("the flood waits");
        assert!(packet.flow == 0 || packet.enqueued >= at_ms(ms.saturating_sub(2)), "{packet:?}");
    }
    assert!(drops.len() > 500, "{}", drops.len());
    assert!(drops.iter().all(|dropped| dropped.packet.flow == 0 && dropped.reason == DropReason::Early));
}

#[test]
fn its_queues_are_shown_in_the_order_of_their_turns() {
    let mut queue = queues(Limit::Unlimited);
    let mut drops = Drops::new();
    for (flow, group) in [(0, 7), (0, 7), (1, 8)] {
        queue.enqueue(Time::ZERO, Packet { group, ..packet(flow, 0, 1514) }, &mut drops);
    }
    let shown: Vec<_> = queue.sub_queues().iter().map(|each| (each.group, each.is_new)).collect();
    assert_eq!(shown, [(7, true), (8, true)]);
}

/// 4 Mbps of datagrams with a share of 1.1 need a chance of 0.73. RFC 8033, which holds the chance at 1, takes it to 0 when
/// the queue has drained, and the queue fills anew; Linux's chance of more than 1 comes back to where it has to be.
#[test]
fn a_flood_with_a_queue_of_its_own_does_not_fill_it() {
    let waits = |queue: &mut dyn QueueDisc| {
        let (mut arrival, mut departure) = (Time::ZERO, Time::ZERO);
        let (mut waits, mut drops) = (Vec::new(), Drops::new());
        while departure < Time::ZERO + Span::from_s(80) {
            if arrival <= departure {
                queue.enqueue(arrival, packet(0, 0, 1500), &mut drops);
                arrival += Span::from_us(3_000);
            } else {
                let packet = queue.dequeue(departure, &mut drops);
                waits.extend(packet.map(|packet| (departure - packet.enqueued).as_s()));
                departure += Span::from_us(10_909);
            }
        }
        let late = &waits[waits.len() / 4..];
        late.iter().sum::<f64>() / late.len() as f64
    };
    let stream = Stream::new(1, 0, 0);
    let linux = waits(&mut queues(Limit::Packets(1_000)));
    let rfc = waits(&mut Pie::new(Limit::Packets(1_000), PieConfig::default(), stream));
    assert!(linux < 0.06, "{linux}");
    assert!(rfc > 0.5, "{rfc}");
}

/// One queue, with Linux's integers: the chance in 2⁻⁵⁶, times in ticks of 64 ns.
struct Twin {
    waiting: std::collections::VecDeque<Packet>,
    limit: usize,
    ecn: bool,
    stream: Stream,
    mtu: u32,
    prob: u64,
    accu: u64,
    burst: u64,
    left: Option<u64>,
    wait: u64,
    old: u64,
    next: Time,
    marks: u64,
}

const MAX_PROB: u64 = u64::MAX >> 8;
const MS: u64 = 15_625;
const TARGET: u64 = 15 * MS;

fn ticks(time: Time) -> u64 {
    (time - Time::ZERO).as_ps() / 64_000
}

impl Twin {
    fn new(limit: usize, ecn: bool, stream: Stream) -> Twin {
        Twin {
            waiting: std::collections::VecDeque::new(),
            limit,
            ecn,
            stream,
            mtu: 0,
            prob: 0,
            accu: 0,
            burst: 150 * MS,
            left: None,
            wait: 0,
            old: 0,
            next: at_ms(15),
            marks: 0,
        }
    }

    fn bytes(&self) -> u32 {
        self.waiting.iter().map(|packet| packet.wire_bytes).sum()
    }

    fn timer(&mut self, now: Time) {
        while self.next <= now {
            self.next += Span::from_ms(15);
            self.calculate();
        }
    }

    fn calculate(&mut self) {
        let unit = MAX_PROB / 15_625_000;
        let (mut alpha, mut beta, mut power) = ((2 * unit) >> 4, (20 * unit) >> 4, 10);
        while power <= 1_000_000 && self.prob < MAX_PROB / power {
            let by = if power == 10 { 1 } else { 2 };
            (alpha, beta, power) = (alpha >> by, beta >> by, power * 10);
        }
        let less = |one: u64, other: u64| one.cast_signed() - other.cast_signed();
        let mut delta =
            alpha.cast_signed() * less(self.wait, TARGET) + beta.cast_signed() * less(self.wait, self.old);
        let step = (MAX_PROB / 50).cast_signed();
        if delta > step && self.prob >= MAX_PROB / 10 {
            delta = step;
        }
        if self.wait > 250 * MS {
            delta += step;
        }
        let before = self.prob;
        self.prob = before.wrapping_add_signed(delta);
        let mut decays = self.wait == 0 && self.old == 0 && self.waiting.is_empty();
        if delta > 0 && self.prob < before {
            (self.prob, decays) = (MAX_PROB, false);
        } else if delta <= 0 && self.prob > before {
            self.prob = 0;
        }
        if decays {
            self.prob -= self.prob / 64;
        }
        if self.wait < TARGET / 2 && self.old < TARGET / 2 && self.prob == 0 {
            (self.burst, self.left, self.accu) = (150 * MS, None, 0);
        }
        self.old = self.wait;
    }

    fn is_due(&mut self) -> bool {
        let safe = self.wait < TARGET / 2 && self.prob < MAX_PROB / 5;
        if self.burst > 0 || safe || self.bytes() < 2 * self.mtu {
            return false;
        }
        self.accu = if self.prob == 0 { 0 } else { self.accu + self.prob };
        if self.accu < MAX_PROB / 100 * 85 {
            return false;
        }
        if self.accu >= MAX_PROB / 2 * 17 {
            return true;
        }
        let hit = self.stream.unit() <= self.prob as f64 / MAX_PROB as f64;
        if hit {
            self.accu = 0;
        }
        hit
    }

    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut Drops) {
        self.timer(now);
        self.mtu = self.mtu.max(packet.wire_bytes);
        let full = self.waiting.len() >= self.limit;
        let is_due = !full && self.is_due();
        let marks = self.ecn && self.prob <= MAX_PROB / 10;
        if full || is_due && !(marks && packet.mark(&mut self.marks)) {
            self.accu = 0;
            let reason = if full { DropReason::Overlimit } else { DropReason::Early };
            drops.push(Dropped { packet, reason });
            return;
        }
        packet.enqueued = now;
        self.waiting.push_back(packet);
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.timer(now);
        let packet = self.waiting.pop_front()?;
        let since = self.left.map_or(0, |left| ticks(now) - left);
        self.burst = self.burst.saturating_sub(since);
        self.left = Some(ticks(now));
        self.wait = if self.waiting.is_empty() { 0 } else { ticks(now) - ticks(packet.enqueued) };
        Some(packet)
    }
}

proptest! {
    /// With one flow it is Linux's PIE, also where it lasts until chances are above 1.
    #[test]
    fn with_one_flow_it_is_linux_pie(
        steps in prop::collection::vec((0..9_u64, 0..5_usize, 40..1500_u32), 1..600),
        slowness in 1..5_usize,
        ecn in any::<bool>(),
        limit in 1..400_u64,
    ) {
        let pie = PieConfig { ecn, ..PieConfig::default() };
        let config = FqPieConfig { pie, ..FqPieConfig::default() };
        let mut stream = Stream::new(3, 0, 0);
        let mut queue = FqPie::new(Limit::Packets(limit), config, stream.clone());
        // the seed of the hash is drawn first
        stream.bits();
        let mut twin = Twin::new(limit as usize, ecn, stream);
        let (mut now, mut drops, mut theirs) = (Time::ZERO, Drops::new(), Drops::new());
        for (seq, (gap, step, wire_bytes)) in (0..).zip(steps.iter().cycle().take(3_000)) {
            now += Span::from_ms(*gap);
            if *step < slowness {
                let packet = Packet { kind: [DEAF, ECT0][step % 2], ..packet(5, seq, *wire_bytes) };
                queue.enqueue(now, packet, &mut drops);
                twin.enqueue(now, packet, &mut theirs);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), twin.dequeue(now));
            }
            prop_assert_eq!(&drops, &theirs);
            prop_assert_eq!((queue.backlog().packets, queue.marks()), (twin.waiting.len() as u64, twin.marks));
        }
        let of = &mut queue.queues[hashed(queue.perturbation, 5, 1024) as usize];
        of.control.update(now, of.chain.bytes());
        twin.timer(now);
        let prob = of.control.prob;
        let twins = twin.prob as f64 / MAX_PROB as f64;
        prop_assert!((prob - twins).abs() <= 1e-6 * (1.0 + twins), "{} {}", prob, twins);
    }
}
