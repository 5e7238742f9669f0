use proptest::prelude::*;

use bufferlab_units::Span;

use super::classes::{settings, tin_of};
use super::*;
use crate::{Cobalt, DropReason, Ecn};

const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);
const MBPS: u64 = 1_000_000;

fn packet(flow: u32, seq: u32, wire_bytes: u32) -> Packet {
    Packet { flow, seq, wire_bytes, kind: DEAF, ..Packet::default() }
}

fn at_us(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn header(dscp: u8, sender: u32, receiver: u32) -> Header {
    Header { dscp, sender, receiver }
}

/// Of a link of 12 Mbps: a packet of 1500 bytes takes a millisecond.
fn cake(config: CakeConfig, headers: &[Header]) -> Cake {
    let rate = Rate::from_bps(12 * MBPS).unwrap();
    Cake::new(Limit::Unlimited, config, rate, Arc::from(headers), Stream::new(1, 0, 0))
}

fn best_effort(isolation: CakeIsolation) -> CakeConfig {
    CakeConfig { tins: CakeTins::BestEffort, isolation, ..CakeConfig::default() }
}

/// Keeps a queue of each flow and sends one packet after another at the link's rate; the bytes that each flow gets.
fn shares(mut queue: Cake, flows: u32, packets: u32) -> Vec<u64> {
    let mut drops = Drops::new();
    let mut served = vec![0_u64; flows as usize];
    let mut seq = 0;
    let mut now = Time::ZERO;
    for _ in 0..8 {
        (0..flows).for_each(|flow| queue.enqueue(now, packet(flow, seq, 1500), &mut drops));
        seq += 1;
    }
    for _ in 0..packets {
        let sent = queue.dequeue(now, &mut drops).expect("queues are kept full");
        served[sent.flow as usize] += u64::from(sent.wire_bytes);
        let lost: Vec<u32> = drops.drain(..).map(|dropped| dropped.packet.flow).collect();
        for flow in lost.into_iter().chain([sent.flow]) {
            queue.enqueue(now, packet(flow, seq, 1500), &mut drops);
            seq += 1;
        }
        now += Span::from_ms(1);
    }
    served
}

/// `cake_init`, tc-cake(8).
#[test]
fn the_defaults_are_those_of_linux() {
    let config = CakeConfig::default();
    assert_eq!((config.tins, config.isolation), (CakeTins::Diffserv3, CakeIsolation::TripleIsolate));
    assert_eq!((config.overhead_bytes, config.mpu_bytes, config.framing), (0, 0, CakeFraming::Plain));
    assert_eq!((config.cobalt.target, config.cobalt.interval), (Span::from_ms(5), Span::from_ms(100)));
}

/// The codepoints of each tin, as `man tc-cake` lists them; all others are best effort.
#[test]
fn codepoints_go_to_the_tins_of_linux() {
    let of = |tins, wanted: u8| (0..64).filter(|&dscp| tin_of(tins, dscp) == wanted).collect::<Vec<u8>>();
    assert_eq!(of(CakeTins::Diffserv3, 1), [1, 8]);
    assert_eq!(of(CakeTins::Diffserv3, 2), [4, 44, 46, 48, 56]);
    assert_eq!(of(CakeTins::Diffserv4, 1), [1, 8]);
    assert_eq!(of(CakeTins::Diffserv4, 2), [4, 16, 18, 20, 22, 24, 26, 28, 30, 34, 36, 38]);
    assert_eq!(of(CakeTins::Diffserv4, 3), [32, 40, 44, 46, 48, 56]);
    let eight = [0, 1, 3, 4, 5, 6, 7].map(|tin| of(CakeTins::Diffserv8, tin));
    assert_eq!(
        eight,
        [
            vec![1],
            vec![2, 8, 10, 12, 14],
            vec![24, 26, 28, 30, 34, 36, 38],
            vec![4, 18, 20, 22],
            vec![16],
            vec![32, 40, 44, 46],
            vec![48, 56]
        ]
    );
    assert_eq!(of(CakeTins::Precedence, 5), (40..48).collect::<Vec<u8>>());
    assert_eq!(of(CakeTins::BestEffort, 0).len(), 64);
}

/// `cake_config_diffserv3` … : shifts of the rate, and sevenths and eighths.
#[test]
fn tins_have_the_rates_and_quanta_of_linux() {
    let of = |tins| settings(tins, 16 * MBPS);
    assert_eq!(of(CakeTins::BestEffort), [(16 * MBPS, 65_535)]);
    assert_eq!(of(CakeTins::Diffserv3), [(16 * MBPS, 1024), (MBPS, 64), (4 * MBPS, 256)]);
    assert_eq!(of(CakeTins::Diffserv4), [(16 * MBPS, 1024), (MBPS, 64), (8 * MBPS, 512), (4 * MBPS, 256)]);
    let quanta: Vec<u16> = of(CakeTins::Diffserv8).into_iter().map(|(_, quantum)| quantum).collect();
    assert_eq!(quanta, [256, 224, 196, 171, 149, 130, 113, 98]);
    assert_eq!(of(CakeTins::Precedence)[1].0, 14 * MBPS);
}

/// `cake_calc_overhead`. ADSL with `PPPoE` over LLC has 40 bytes of overhead: a packet of 1500 bytes takes 33 cells.
#[test]
fn a_packet_takes_its_bytes_on_the_line() {
    let of = |overhead_bytes, mpu_bytes, framing| CakeConfig {
        overhead_bytes,
        mpu_bytes,
        framing,
        ..CakeConfig::default()
    };
    assert_eq!(of(40, 0, CakeFraming::Atm).line_bytes(1500), 33 * 53);
    assert_eq!(of(40, 0, CakeFraming::Atm).line_bytes(40), 2 * 53);
    assert_eq!(of(8, 0, CakeFraming::Atm).line_bytes(40), 53);
    assert_eq!(of(22, 0, CakeFraming::Ptm).line_bytes(1500), 1522 + 24);
    assert_eq!(of(38, 84, CakeFraming::Plain).line_bytes(40), 84);
    let queue = cake(of(40, 0, CakeFraming::Atm), &[]);
    assert_eq!(queue.line_bytes(&packet(0, 0, 1500)), 33 * 53);
    let unlimited = cake(CakeConfig { unlimited: true, ..of(40, 0, CakeFraming::Atm) }, &[]);
    assert_eq!(unlimited.line_bytes(&packet(0, 0, 1500)), 1500);
}

/// `cake_set_rate`: what the rate sends in 1/4096 s, at least 300 bytes, at most 1514.
#[test]
fn a_tin_has_the_quantum_of_its_rate() {
    let rate = |bps| Rate::from_bps(bps);
    let quantum = |rate| {
        let tin = Tin::new(&CakeConfig::default(), rate, 1024, true);
        tin.quantum()
    };
    assert_eq!(quantum(rate(MBPS)), 300);
    assert_eq!(quantum(rate(20 * MBPS)), 610);
    assert_eq!(quantum(rate(100 * MBPS)), 1514);
    assert_eq!(quantum(None), 1514);
}

#[test]
fn a_sparse_flow_goes_first() {
    let mut queue = cake(best_effort(CakeIsolation::TripleIsolate), &[]);
    let mut drops = Drops::new();
    for seq in 0..3 {
        (0..2).for_each(|flow| queue.enqueue(Time::ZERO, packet(flow, seq, 1500), &mut drops));
    }
    let serve = |queue: &mut Cake| queue.dequeue(at_us(1), &mut Drops::new()).map(|packet| packet.flow);
    assert_eq!([(); 4].map(|()| serve(&mut queue)), [Some(0), Some(1), Some(0), Some(1)]);
    queue.enqueue(at_us(1), packet(2, 0, 100), &mut drops);
    assert_eq!([(); 4].map(|()| serve(&mut queue)), [Some(2), Some(0), Some(1), None]);
}

/// Eight flows hash to one set of a thousand queues by chance only: with ways, none shares its queue.
#[test]
fn a_flow_whose_queue_is_taken_gets_another_of_its_set() {
    let mut tin = Tin::new(&best_effort(CakeIsolation::Flows), None, 1, true);
    let cake = cake(best_effort(CakeIsolation::Flows), &[]);
    let mut shared = cake.shared.clone();
    let mut place = |hash: u32| {
        let place = tin.place(hash, || (0, 0));
        tin.take(Time::ZERO, place, packet(hash, 0, 100), &mut shared);
        place
    };
    // hashes that are alike but for their upper bits
    let hash = |upper: u32| upper * 1024 + 13;
    let places: Vec<usize> = (1..=8).map(|upper| place(hash(upper))).collect();
    assert_eq!(places, [13, 14, 15, 8, 9, 10, 11, 12]);
    assert_eq!(place(hash(3)), 15, "who has a queue keeps it");
    assert_eq!(place(hash(9)), 13, "a ninth shares its own queue with the first");
    assert_eq!(place(hash(9)), 13);
    assert_eq!(
        place(hash(1)),
        13,
        "as the queue is the ninth's now, the first comes back as one without a queue"
    );
}

/// One host has eight flows, the other two.
#[test]
fn hosts_get_equal_shares_by_their_side() {
    let flows = 10;
    let of = |isolation, hosts: fn(u32) -> (u32, u32)| {
        let headers: Vec<Header> = (0..flows).map(|flow| header(0, hosts(flow).0, hosts(flow).1)).collect();
        let served = shares(cake(best_effort(isolation), &headers), flows, 20_000);
        served[..8].iter().sum::<u64>() as f64 / served.iter().sum::<u64>() as f64
    };
    let senders = |flow: u32| (flow / 8, 100 + flow);
    let receivers = |flow: u32| (100 + flow, flow / 8);
    for (isolation, by_senders, by_receivers) in [
        (CakeIsolation::Flows, 0.8, 0.8),
        (CakeIsolation::DualSrcHost, 0.5, 0.8),
        (CakeIsolation::DualDstHost, 0.8, 0.5),
        (CakeIsolation::TripleIsolate, 0.5, 0.5),
        (CakeIsolation::SrcHost, 0.5, 0.8),
        (CakeIsolation::DstHost, 0.8, 0.5),
    ] {
        // a turn of a flow is at most a packet of 10, in 20,000
        let near = |share: f64, wanted: f64| (share - wanted).abs() < 0.01;
        assert!(near(of(isolation, senders), by_senders), "{isolation:?}");
        assert!(near(of(isolation, receivers), by_receivers), "{isolation:?}");
    }
}

/// Acknowledgments go from the receiver to the sender.
#[test]
fn an_acknowledgment_comes_from_the_receiver() {
    let headers: Vec<Header> = (0..10).map(|flow| header(0, 100 + flow, flow / 8)).collect();
    let mut queue = cake(best_effort(CakeIsolation::SrcHost), &headers);
    let ack = |flow| Packet { kind: PacketKind::Ack, ..packet(flow, 0, 40) };
    let places = (0..10).map(|flow| queue.classify(&ack(flow)).1).collect::<Vec<_>>();
    assert!(places[..8].iter().all(|place| *place == places[0]) && places[8] == places[9]);
    assert_ne!(places[0], places[8]);
}

/// Voice has a quarter of the rate before all others, bulk a sixteenth when best effort would take all.
#[test]
fn a_tin_comes_first_up_to_its_share() {
    let headers = [header(0, 0, 0), header(8, 1, 1), header(46, 2, 2)];
    let served = shares(cake(CakeConfig::default(), &headers), 3, 16_000);
    let whole = served.iter().sum::<u64>() as f64;
    let share = |flow: usize| served[flow] as f64 / whole;
    assert!((share(1) - 1.0 / 16.0).abs() < 0.005, "{}", share(1));
    assert!((share(2) - 0.25).abs() < 0.005, "{}", share(2));
    let mut queue = cake(CakeConfig::default(), &headers);
    let mut drops = Drops::new();
    (0..3).for_each(|flow| queue.enqueue(Time::ZERO, packet(flow, 0, 1500), &mut drops));
    assert_eq!(queue.dequeue(Time::ZERO, &mut drops).map(|packet| packet.flow), Some(2));
}

/// Without a shaper: by deficit round robin, in the proportion of the quanta, 1024 : 64 : 256.
#[test]
fn without_a_shaper_tins_take_turns() {
    let headers = [header(0, 0, 0), header(8, 1, 1), header(46, 2, 2)];
    let config = CakeConfig { unlimited: true, ..CakeConfig::default() };
    let served = shares(cake(config, &headers), 3, 16_000);
    let whole = served.iter().sum::<u64>() as f64;
    for (served, quantum) in served.iter().zip([1024.0, 64.0, 256.0]) {
        assert!((*served as f64 / whole - quantum / 1344.0).abs() < 0.005);
    }
}

#[test]
fn the_longest_queue_of_all_tins_gives_way() {
    let headers = [header(0, 0, 0), header(46, 1, 1)];
    let mut queue = cake(CakeConfig::default(), &headers);
    queue.set_limit(Limit::Packets(4));
    let mut drops = Drops::new();
    (0..3).for_each(|seq| queue.enqueue(Time::ZERO, packet(1, seq, 1000), &mut drops));
    (0..2).for_each(|seq| queue.enqueue(Time::ZERO, packet(0, seq, 1000), &mut drops));
    let dropped = drops.iter().map(|dropped| (dropped.packet.flow, dropped.packet.seq, dropped.reason));
    assert_eq!(dropped.collect::<Vec<_>>(), [(1, 0, DropReason::Overlimit)]);
}

/// Of equally long queues, in one tin or in several, the first in turn loses its packet.
#[test]
fn of_equally_long_queues_the_first_in_turn_gives_way() {
    for dscps in [[0, 0, 0], [46, 0, 8]] {
        let headers: Vec<Header> = (0..3).map(|flow| header(dscps[flow as usize], flow, flow)).collect();
        let rate = Rate::from_bps(12 * MBPS).unwrap();
        let config = CakeConfig { isolation: CakeIsolation::Flows, ..CakeConfig::default() };
        let mut queue =
            Cake::new(Limit::Packets(4), config, rate, Arc::from(&headers[..]), Stream::new(1, 0, 0));
        let mut drops = Drops::new();
        for (seq, flow) in (0..).zip([1, 1, 0, 0, 2]) {
            queue.enqueue(Time::ZERO, packet(flow, seq, 1000), &mut drops);
        }
        let dropped: Vec<_> = drops.iter().map(|dropped| (dropped.packet.flow, dropped.packet.seq)).collect();
        // best effort is the first tin
        assert_eq!(dropped, [(1, 0)], "{dscps:?}");
    }
}

proptest! {
    /// With one queue in one tin CAKE is COBALT, packet by packet, as long as it is not found empty.
    #[test]
    fn one_queue_is_cobalt(steps in prop::collection::vec((0..3_u8, 60..1500_u32, 1..4_u64), 1..400)) {
        let cobalt = CobaltConfig::eager()[0];
        let config = CakeConfig { cobalt, ..best_effort(CakeIsolation::FlowBlind) };
        let rate = Rate::from_bps(1000 * MBPS).unwrap();
        let mut stream = Stream::new(1, 0, 0);
        let limit = Limit::Packets(20);
        let mut queue = Cake::new(limit, config, rate, Arc::from([]), stream.clone());
        let _ = [(); 3].map(|()| stream.bits());
        let mut twin = Cobalt::new(limit, cobalt, rate, stream);
        let (mut drops, mut others) = (Drops::new(), Drops::new());
        let mut now = Time::ZERO;
        for (seq, (step, bytes, us)) in steps.into_iter().enumerate() {
            now += Span::from_us(us);
            if step > 0 || queue.backlog().packets < 2 {
                let packet = Packet { kind: PacketKind::Data(Ecn::Capable), ..packet(u32::from(step), seq as u32, bytes) };
                queue.enqueue(now, packet, &mut drops);
                twin.enqueue(now, packet, &mut others);
            } else {
                prop_assert_eq!(queue.dequeue(now, &mut drops), twin.dequeue(now, &mut others));
            }
            prop_assert_eq!(&drops, &others);
            prop_assert_eq!(queue.marks(), twin.marks());
        }
    }
}
