use proptest::prelude::*;

use super::*;
use crate::{Ecn, PacketKind};

const L4S: PacketKind = PacketKind::Data(Ecn::Scalable);
const ECT0: PacketKind = PacketKind::Data(Ecn::Capable);
const NOT_ECT: PacketKind = PacketKind::Data(Ecn::Incapable);
const CE: PacketKind = PacketKind::Data(Ecn::Marked);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

fn packet(seq: u32, kind: PacketKind) -> Packet {
    Packet { seq, wire_bytes: 1000, kind, ..Packet::default() }
}

fn dualpi2(config: DualPi2Config) -> DualPi2 {
    DualPi2::new(Limit::Packets(10_000), config, Stream::new(1, 0, 0))
}

/// Queues with a base chance that stays.
fn with_chance(chance: f64) -> DualPi2 {
    let mut queue = dualpi2(DualPi2Config { alpha: 0.0, beta: 0.0, ..DualPi2Config::default() });
    queue.base.pi.chance = chance;
    queue
}

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-12
}

/// Figure 2 lines 13 and 14: alpha = 0.1 `Tupdate` / `RTT_max`², beta = 0.3 / `RTT_max`. With 16 ms and 100 ms that is 0.16
/// and 3; the RFC and Linux (41/256, 819/256) have 0.16 and 3.2.
#[test]
fn the_default_gains_are_those_of_the_rfc() {
    let config = DualPi2Config::default();
    assert!(close(config.alpha, 0.1 * 0.016 / (0.1 * 0.1)));
    assert!((config.alpha - 41.0 / 256.0).abs() < 0.001);
    assert!((config.beta - 819.0 / 256.0).abs() < 0.001);
    assert_eq!((config.target, config.update, config.step_threshold), (ms(15), ms(16), ms(1)));
    assert_eq!((config.coupling_factor, config.classic_protection), (2, 10));
}

/// Figure 6: 10 ms above the target give 0.16 times 0.01, 5 ms of growth 3.2 times 0.005. The longer wait counts.
#[test]
fn the_base_chance_moves_with_the_longer_wait_and_with_its_growth() {
    for waits in [[ms(0), ms(25)], [ms(25), ms(3)]] {
        let mut base = Base::new(DualPi2Config::default());
        (base.pi.chance, base.pi.previous) = (0.1, ms(20));
        base.pi.update(waits[L].max(waits[C]));
        assert!(close(base.pi.chance, 0.1 + 0.0016 + 0.016), "{}", base.pi.chance);
        assert_eq!(base.pi.previous, ms(25));
    }
}

/// A ramp of the wait of the first packet, which joined at 24 ms and stays: (16 n − 24) ms at the n-th update.
#[test]
fn a_wait_that_grows_raises_the_chance_update_by_update() {
    let mut queue = dualpi2(DualPi2Config::default());
    let mut drops = Drops::new();
    queue.enqueue(at(24), packet(0, NOT_ECT), &mut drops);
    let (mut expected, mut previous) = (0.0_f64, 0.0);
    for update in 2..60_u64 {
        queue.update(at(16 * update));
        let wait = (16 * update - 24) as f64 * 1e-3;
        expected = (expected + 0.16 * (wait - 0.015) + 3.2 * (wait - previous)).clamp(0.0, 1.0);
        previous = wait;
        assert!(close(queue.base.pi.chance, expected), "{update}: {} {expected}", queue.base.pi.chance);
    }
    assert_eq!(expected, 1.0);
}

#[test]
fn the_codepoint_decides_where_a_packet_waits() {
    let mut queue = with_chance(0.0);
    let mut drops = Drops::new();
    let kinds = [NOT_ECT, L4S, ECT0, CE, PacketKind::Ack, PacketKind::Datagram, PacketKind::Syn];
    let classes = kinds.map(|kind| {
        queue.enqueue(Time::ZERO, packet(0, kind), &mut drops);
        queue.class()
    });
    assert_eq!(classes, [C, L, C, L, C, C, C]);
}

/// Shares of marks and drops of 100 000 packets of a kind that wait in a long queue but not for long.
fn shares(chance: f64, kind: PacketKind) -> (f64, f64) {
    let count = 100_000;
    let mut queue = DualPi2::new(Limit::Unlimited, with_chance(0.0).base.config, Stream::new(7, 0, 0));
    queue.base.pi.chance = chance;
    let mut drops = Drops::new();
    (0..count + 3).for_each(|seq| queue.enqueue(Time::ZERO, packet(seq, kind), &mut drops));
    while queue.backlog().packets > 3 {
        queue.dequeue(Time::ZERO, &mut drops);
    }
    (queue.marks() as f64 / f64::from(count), drops.len() as f64 / f64::from(count))
}

/// Section 2.1, equation 1, with k = 2: p' = 0.1 marks 20 % of L and a square of it, 1 %, of C. Tolerances are four
/// standard deviations.
#[test]
fn marks_of_l_and_drops_of_c_are_coupled_by_a_square() {
    let near = |share: f64, chance: f64| {
        (share - chance).abs() <= 4.0 * (chance * (1.0 - chance) / 100_000.0).sqrt()
    };
    for chance in [0.05, 0.1, 0.3] {
        let (marked, dropped) = shares(chance, L4S);
        assert!(near(marked, 2.0 * chance) && dropped == 0.0, "{marked} {dropped}");
        let (marked, dropped) = shares(chance, NOT_ECT);
        assert!(near(dropped, chance * chance) && marked == 0.0, "{marked} {dropped}");
        let (marked, dropped) = shares(chance, ECT0);
        assert!(near(marked, chance * chance) && dropped == 0.0, "{marked} {dropped}");
    }
}

/// Appendix A.2: above k p' = 1 both queues are dropped from with p'², and what is left of L is marked.
#[test]
fn overload_drops_whoever_listens() {
    let near = |share: f64, chance: f64| (share - chance).abs() < 0.006;
    for kind in [L4S, NOT_ECT, ECT0] {
        let (marked, dropped) = shares(0.6, kind);
        assert!(near(dropped, 0.36), "{kind:?} {dropped}");
        let expected = if kind == L4S { 0.64 } else { 0.0 };
        assert!(near(marked, expected), "{kind:?} {marked}");
    }
}

/// Linux's `overflow`: the chance stops where each L4S packet is marked, and nothing is dropped before the buffer is full.
#[test]
fn overflow_marks_all_and_drops_none_of_l() {
    let config = DualPi2Config { drop_on_overload: false, ..DualPi2Config::default() };
    let mut base = Base::new(config);
    (0..100).for_each(|_| base.pi.update(ms(500)));
    assert_eq!((base.pi.chance, base.coupled(), base.is_overloaded()), (0.5, 1.0, false));
}

#[test]
fn the_step_marks_what_has_waited_for_longer() {
    let mut queue = with_chance(0.0);
    let mut drops = Drops::new();
    (0..4).for_each(|seq| queue.enqueue(Time::ZERO, packet(seq, L4S), &mut drops));
    let mut after = |us| queue.dequeue(Time::ZERO + Span::from_us(us), &mut drops).map(|packet| packet.kind);
    assert_eq!([500, 1000, 1001, 1002].map(&mut after), [Some(L4S), Some(L4S), Some(CE), Some(CE)]);
    assert_eq!(queue.marks(), 2);
}

/// Linux: "Never mark/drop if we have a standing queue of less than 2 MTUs".
#[test]
fn small_backlogs_are_safe_from_chance() {
    for kind in [L4S, ECT0, NOT_ECT] {
        let mut queue = with_chance(1.0);
        let mut drops = Drops::new();
        (0..3).for_each(|seq| queue.enqueue(Time::ZERO, packet(seq, kind), &mut drops));
        // two full packets remain, then one
        let first = queue.dequeue(Time::ZERO, &mut drops).expect("three wait");
        assert_eq!((first.seq, first.kind, drops.len()), (1, kind, 1), "{kind:?}");
    }
}

/// While both wait, nine packets of L go for one of C; whoever is alone has all.
#[test]
fn classic_flows_keep_their_part() {
    let mut queue = with_chance(0.0);
    let mut drops = Drops::new();
    let served = |queue: &mut DualPi2, count: usize| {
        let mut classes = [0; 2];
        for _ in 0..count {
            queue.dequeue(Time::ZERO, &mut Drops::new()).expect("enough wait");
            classes[queue.class()] += 1;
        }
        classes
    };
    assert!(queue.dequeue(Time::ZERO, &mut drops).is_none());
    for seq in 0..1_000 {
        queue.enqueue(Time::ZERO, packet(seq, L4S), &mut drops);
        queue.enqueue(Time::ZERO, packet(seq, NOT_ECT), &mut drops);
    }
    assert_eq!(served(&mut queue, 1_000), [900, 100]);
    assert_eq!(served(&mut queue, 111)[L], 100);
    assert_eq!(served(&mut queue, 889), [0, 889]);
}

/// Linux: who finds nothing waiting sets the credit to a full packet times the difference of the parts.
#[test]
fn the_first_turn_is_that_of_the_larger_part() {
    for (classic_protection, first) in [(10, L), (90, C)] {
        let mut queue = dualpi2(DualPi2Config { classic_protection, ..DualPi2Config::default() });
        let mut drops = Drops::new();
        for kind in [NOT_ECT, L4S] {
            queue.enqueue(Time::ZERO, packet(0, kind), &mut drops);
            queue.dequeue(Time::ZERO, &mut drops);
        }
        queue.dequeue(Time::ZERO, &mut drops);
        assert_eq!(queue.scheduler.credit, 1000 * (2 * i64::from(classic_protection) - 100));
        for kind in [NOT_ECT, L4S] {
            queue.enqueue(Time::ZERO, packet(1, kind), &mut drops);
        }
        queue.dequeue(Time::ZERO, &mut drops);
        assert_eq!(queue.class(), first);
    }
}

/// However late the next call comes, and without counting through an idle day.
#[test]
fn updates_are_made_up_for() {
    let mut queue = dualpi2(DualPi2Config::default());
    queue.base.pi.chance = 0.5;
    let mut twin = queue.clone();
    (1..2_000).for_each(|update| queue.update(at(16 * update)));
    twin.update(at(16 * 1_999));
    assert_eq!((queue.base.pi.chance, twin.base.pi.chance), (0.0, 0.0));
    assert_eq!(queue.base.pi.next_update, twin.base.pi.next_update);
    twin.update(Time::ZERO + Span::from_s(86_400));
    assert_eq!(twin.base.pi.next_update, Time::ZERO + Span::from_s(86_400) + ms(16));
}

#[test]
fn dropped_packets_are_of_their_queue() {
    let mut queue = with_chance(1.0);
    let mut drops = Drops::new();
    for seq in 0..20 {
        queue.enqueue(Time::ZERO, packet(seq, if seq % 2 == 0 { L4S } else { NOT_ECT }), &mut drops);
    }
    while queue.dequeue(Time::ZERO, &mut drops).is_some() {}
    let classes: Vec<_> = drops.iter().map(|dropped| queue.class_of_dropped(&dropped.packet)).collect();
    assert!(classes.contains(&L) && classes.contains(&C), "{classes:?}");
}

/// The pseudocode with all packets in one list and a timer that rings, to be compared with the queue above.
struct Slow {
    config: DualPi2Config,
    waiting: Vec<(bool, Packet)>,
    limit: u64,
    p: f64,
    prevq: f64,
    credit: i64,
    rings: Time,
    largest: u32,
    stream: Stream,
}

impl Slow {
    fn ring(&mut self, now: Time) {
        while self.rings <= now {
            let time = |l4s: bool| {
                let first = self.waiting.iter().find(|(of, _)| *of == l4s);
                first.map_or(0.0, |(_, packet)| self.rings.saturating_since(packet.enqueued).as_s())
            };
            let curq = f64::max(time(true), time(false));
            let DualPi2Config { target, alpha, beta, coupling_factor, drop_on_overload, .. } = self.config;
            self.p += alpha * (curq - target.as_s()) + beta * (curq - self.prevq);
            let most = if drop_on_overload { 1.0 } else { 1.0 / f64::from(coupling_factor) };
            self.p = self.p.max(0.0).min(most);
            self.prevq = curq;
            self.rings += self.config.update;
        }
    }

    fn roll(&mut self, chance: f64) -> bool {
        if chance <= 0.0 || chance >= 1.0 { chance >= 1.0 } else { self.stream.unit() <= chance }
    }

    fn enqueue(&mut self, now: Time, packet: Packet) {
        self.ring(now);
        self.largest = self.largest.max(packet.wire_bytes);
        if (self.waiting.len() as u64) < self.limit {
            let l4s = packet.kind == L4S || packet.kind == CE;
            self.waiting.push((l4s, Packet { enqueued: now, ..packet }));
        }
    }

    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        self.ring(now);
        let (wc, wl) =
            (i64::from(self.config.classic_protection), 100 - i64::from(self.config.classic_protection));
        while !self.waiting.is_empty() {
            let [l, c] = [true, false].map(|l4s| self.waiting.iter().position(|(of, _)| *of == l4s));
            let scheduled_l = l.is_some() && (c.is_none() || self.credit <= 0);
            let (_, mut packet) = self.waiting.remove(if scheduled_l { l? } else { c? });
            let rest: u64 = self.waiting.iter().map(|(_, packet)| u64::from(packet.wire_bytes)).sum();
            let p = if rest < 2 * u64::from(self.largest) { 0.0 } else { self.p };
            let p_cl = p * f64::from(self.config.coupling_factor);
            let saturated = p_cl > 1.0 && self.config.drop_on_overload;
            if scheduled_l {
                if saturated && self.roll(p) && self.roll(p) {
                    continue;
                }
                let native = f64::from(u8::from(now - packet.enqueued > self.config.step_threshold));
                if self.roll(native.max(p_cl)) {
                    packet.kind = CE;
                }
            } else if self.roll(p) && self.roll(p) {
                if packet.kind != ECT0 || saturated {
                    continue;
                }
                packet.kind = CE;
            }
            if l.is_some() && c.is_some() {
                let bytes = i64::from(packet.wire_bytes);
                self.credit += if scheduled_l { wc * bytes } else { -wl * bytes };
            }
            return Some(packet);
        }
        self.credit = i64::from(self.largest) * (wc - wl);
        None
    }
}

proptest! {
    #[test]
    fn it_does_what_the_pseudocode_says(
        steps in prop::collection::vec((0..7_u64, 0..7_usize, 40..1500_u32), 1..600),
        which in 0..4_usize,
        limit in 1..60_u64,
    ) {
        let fast = DualPi2Config {
            target: ms(3),
            update: ms(4),
            alpha: 8.0,
            beta: 60.0,
            step_threshold: ms(2),
            ..DualPi2Config::default()
        };
        let config = [
            DualPi2Config::default(),
            fast,
            DualPi2Config { drop_on_overload: false, coupling_factor: 3, ..fast },
            DualPi2Config { classic_protection: 70, coupling_factor: 1, ..fast },
        ][which];
        let stream = Stream::new(3, 0, 0);
        let mut queue = DualPi2::new(Limit::Packets(limit), config, stream.clone());
        let (waiting, rings) = (Vec::new(), Time::ZERO + config.update);
        let (p, prevq, credit, largest) = (0.0, 0.0, 0, 0);
        let mut slow = Slow { config, waiting, limit, p, prevq, credit, rings, largest, stream };
        let (mut now, mut drops) = (Time::ZERO, Drops::new());
        for (seq, (wait, step, wire_bytes)) in (0..).zip(steps) {
            now += Span::from_us(300 * wait);
            if let Some(&kind) = [L4S, L4S, ECT0, NOT_ECT, CE].get(step) {
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
