use proptest::prelude::*;

use super::*;
use crate::{Ecn, PacketKind};

const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);
const ECT0: PacketKind = PacketKind::Data(Ecn::Capable);
const L4S: PacketKind = PacketKind::Data(Ecn::Scalable);
const CE: PacketKind = PacketKind::Data(Ecn::Marked);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn packet(seq: u32, kind: PacketKind) -> Packet {
    Packet { seq, kind, wire_bytes: 1000, ..Packet::default() }
}

fn with_chance(chance: f64, config: Pi2Config) -> Pi2 {
    let still = Pi2Config { alpha: 0.0, beta: 0.0, ..config };
    let mut queue = Pi2::new(Limit::Unlimited, still, Stream::new(7, 0, 0));
    queue.pi.chance = chance;
    queue
}

/// Their gains are 10/16 and 100/16 for a chance that is `k` times ours.
#[test]
fn the_defaults_are_the_authors_over_the_coupling_factor() {
    let config = Pi2Config::default();
    assert_eq!((config.alpha, config.beta), (10.0 / 16.0 / 2.0, 100.0 / 16.0 / 2.0));
    assert_eq!((config.target, config.update, config.coupling_factor), (ms(20), ms(30), 2));
    assert!(config.ecn);
}

/// A packet that joined at 10 ms and stays: the wait is (30 n − 10) ms at the n-th update, 20 ms the target.
#[test]
fn a_wait_that_grows_raises_the_chance_update_by_update() {
    let mut queue = Pi2::new(Limit::Unlimited, Pi2Config::default(), Stream::new(1, 0, 0));
    queue.enqueue(Time::ZERO + ms(10), packet(0, DEAF), &mut Drops::new());
    let (mut expected, mut previous) = (0.0_f64, 0.0);
    for update in 1..30_u64 {
        queue.update(Time::ZERO + ms(30 * update));
        let wait = (30 * update - 10) as f64 * 1e-3;
        expected = (expected + 0.3125 * (wait - 0.02) + 3.125 * (wait - previous)).clamp(0.0, 0.5);
        previous = wait;
        assert!((queue.pi.chance - expected).abs() < 1e-12, "{update}");
    }
    assert_eq!(expected, 0.5);
}

/// Shares of marks and drops of 100 000 packets that meet a long queue.
fn shares(chance: f64, kind: PacketKind, config: Pi2Config) -> (f64, f64) {
    let count = 100_000;
    let mut queue = with_chance(chance, config);
    let mut drops = Drops::new();
    for seq in 0..2 {
        queue.enqueue(Time::ZERO, packet(seq, DEAF), &mut drops);
    }
    (0..count).for_each(|seq| queue.enqueue(Time::ZERO, packet(seq, kind), &mut drops));
    (queue.marks() as f64 / f64::from(count), drops.len() as f64 / f64::from(count))
}

/// Drops of the square, marks of twice the base chance. Tolerances are four standard deviations.
#[test]
fn classic_packets_get_the_square_and_scalable_ones_the_coupled_chance() {
    let near = |share: f64, chance: f64| {
        (share - chance).abs() <= 4.0 * (chance * (1.0 - chance) / 100_000.0).sqrt()
    };
    let (on, off) = (Pi2Config::default(), Pi2Config { ecn: false, ..Pi2Config::default() });
    for chance in [0.05, 0.1, 0.3, 0.5] {
        let square = chance * chance;
        let of = |kind, config| shares(chance, kind, config);
        let (marked, dropped) = of(L4S, on);
        assert!(near(marked, 2.0 * chance) && dropped == 0.0, "{marked} {dropped}");
        let (marked, dropped) = of(ECT0, on);
        assert!(near(marked, square) && dropped == 0.0, "{marked} {dropped}");
        for (kind, config) in [(DEAF, on), (DEAF, off), (ECT0, off), (L4S, off)] {
            let (marked, dropped) = of(kind, config);
            assert!(near(dropped, square) && marked == 0.0, "{marked} {dropped}");
        }
    }
}

#[test]
fn small_backlogs_are_safe_from_chance() {
    let mut queue = with_chance(1.0, Pi2Config::default());
    let mut drops = Drops::new();
    (0..5).for_each(|seq| queue.enqueue(Time::ZERO, packet(seq, DEAF), &mut drops));
    assert_eq!((queue.backlog().packets, drops.len()), (2, 3));
    assert!(drops.iter().all(|dropped| dropped.reason == DropReason::Early));
}

/// However late the next call comes, and without counting through an idle day.
#[test]
fn updates_are_made_up_for() {
    let mut queue = Pi2::new(Limit::Unlimited, Pi2Config::default(), Stream::new(1, 0, 0));
    queue.pi.chance = 0.5;
    let mut twin = queue.clone();
    (1..200).for_each(|update| queue.update(Time::ZERO + ms(30 * update)));
    twin.update(Time::ZERO + ms(30 * 199));
    assert_eq!((queue.pi.chance, twin.pi.chance), (0.0, 0.0));
    assert_eq!(queue.pi.next_update, twin.pi.next_update);
    twin.update(Time::ZERO + Span::from_s(86_400));
    assert_eq!(twin.pi.next_update, Time::ZERO + Span::from_s(86_400) + ms(30));
}

/// The authors' steps with a list and a timer that rings, their chance (`k` times ours), and their order of lots.
struct Slow {
    config: Pi2Config,
    waiting: Vec<Packet>,
    limit: usize,
    prob: f64,
    previous: f64,
    rings: Time,
    largest: u32,
    stream: Stream,
}

impl Slow {
    fn ring(&mut self, now: Time) {
        let k = f64::from(self.config.coupling_factor);
        while self.rings <= now {
            let first = self.waiting.first();
            let wait = first.map_or(0.0, |packet| self.rings.saturating_since(packet.enqueued).as_s());
            let delta = self.config.alpha * (wait - self.config.target.as_s());
            self.prob = (self.prob + (delta + self.config.beta * (wait - self.previous))).clamp(0.0, 1.0 / k);
            self.previous = wait;
            self.rings += self.config.update;
        }
    }

    fn roll(&mut self, chance: f64) -> bool {
        if chance <= 0.0 || chance >= 1.0 { chance >= 1.0 } else { self.stream.unit() <= chance }
    }

    fn drop_early(&mut self, packet: &mut Packet) -> bool {
        let backlog: u64 = self.waiting.iter().map(|packet| u64::from(packet.wire_bytes)).sum();
        if backlog < 2 * u64::from(self.largest) {
            return false;
        }
        let Pi2Config { ecn, coupling_factor, .. } = self.config;
        if ecn && (packet.kind == L4S || packet.kind == CE) {
            if self.roll(f64::from(coupling_factor) * self.prob) {
                packet.kind = CE;
            }
            return false;
        }
        if !(self.roll(self.prob) && self.roll(self.prob)) {
            return false;
        }
        if ecn && packet.kind == ECT0 {
            packet.kind = CE;
            return false;
        }
        true
    }

    fn enqueue(&mut self, now: Time, mut packet: Packet) {
        self.ring(now);
        self.largest = self.largest.max(packet.wire_bytes);
        if self.waiting.len() < self.limit && !self.drop_early(&mut packet) {
            self.waiting.push(Packet { enqueued: now, ..packet });
        }
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.ring(now);
        (!self.waiting.is_empty()).then(|| self.waiting.remove(0))
    }
}

proptest! {
    #[test]
    fn it_does_what_the_authors_do(
        steps in prop::collection::vec((0..7_u64, 0..7_usize, 40..1500_u32), 1..600),
        which in 0..3_usize,
        limit in 1..60_usize,
    ) {
        let fast =
            Pi2Config { target: ms(3), update: ms(4), alpha: 8.0, beta: 60.0, ..Pi2Config::default() };
        let deaf = Pi2Config { ecn: false, coupling_factor: 1, ..fast };
        let config = [Pi2Config::default(), fast, deaf][which];
        let stream = Stream::new(3, 0, 0);
        let mut queue = Pi2::new(Limit::Packets(limit as u64), config, stream.clone());
        let rings = Time::ZERO + config.update;
        let (prob, previous, largest, waiting) = (0.0, 0.0, 0, Vec::new());
        let mut slow = Slow { config, waiting, limit, prob, previous, rings, largest, stream };
        let (mut now, mut drops) = (Time::ZERO, Drops::new());
        for (seq, (wait, step, wire_bytes)) in (0..).zip(steps) {
            now += Span::from_us(300 * wait);
            if let Some(&kind) = [L4S, DEAF, ECT0, DEAF, CE].get(step) {
                let packet = Packet { wire_bytes, ..packet(seq, kind) };
                queue.enqueue(now, packet, &mut drops);
                slow.enqueue(now, packet);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), slow.dequeue(now));
            }
            prop_assert_eq!(queue.backlog().packets, slow.waiting.len() as u64);
        }
    }
}
