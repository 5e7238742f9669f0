use bufferlab_parameters::Parameters;

use super::*;
use crate::{Ecn, PacketKind};

const CONFIG: RedConfig = RedConfig {
    min_threshold: Some(Threshold::Packets(5)),
    max_threshold: Some(Threshold::Packets(15)),
    min_threshold_medium: None,
    min_threshold_high: None,
    target_delay: None,
    weight: Some(0.002),
    max_p: 0.1,
    gentle: false,
    ecn: false,
    adaptive: false,
    mean_packet_bytes: Some(1000),
};
const CAPABLE: PacketKind = PacketKind::Data(Ecn::Capable);

fn red(config: RedConfig) -> Red {
    let rate = Rate::from_bps(100_000_000).unwrap();
    Red::new(Limit::Unlimited, config, rate, Stream::new(1, 0, 0))
}

fn offer(queue: &mut Red, now: Time, packets: u64, kind: PacketKind) -> usize {
    let mut drops = Drops::new();
    for _ in 0..packets {
        queue.enqueue(now, Packet { wire_bytes: 1000, kind, ..Packet::default() }, &mut drops);
    }
    drops.len()
}

/// The average after a burst of packets into an empty queue: 1993, section 6, equation 2. The first of ours finds
/// nothing, the second one packet, and so on.
fn after_burst(weight: f64, packets: u64) -> f64 {
    let mut queue = red(RedConfig {
        weight: Some(weight),
        min_threshold: Some(Threshold::Packets(1000)),
        max_threshold: None,
        ..CONFIG
    });
    offer(&mut queue, Time::ZERO, packets + 1, CAPABLE);
    queue.average
}

/// Section 6: the average of 100 packets' burst is 4.88 with a weight of 0.001; a threshold of 5 lets a burst of 50
/// packets pass with weights up to 0.0042.
#[test]
fn bursts_pass_as_the_paper_computes() {
    assert_eq!((after_burst(0.001, 100) * 100.0).floor(), 488.0);
    assert!(after_burst(0.004_15, 50) < 5.0);
    assert!(after_burst(0.004_25, 50) > 5.0);
}

#[test]
fn an_idle_time_counts_for_the_packets_it_could_have_sent_and_for_the_one_that_ends_it() {
    let mut queue = red(CONFIG);
    (queue.average, queue.idle_since) = (10.0, None);
    queue.dequeue(Time::ZERO, &mut Drops::new());
    // asking again does not restart it
    queue.dequeue(Time::ZERO + Span::from_ms(40), &mut Drops::new());
    queue.estimate(Time::ZERO + Span::from_us(80 * 1000 + 79));
    let expected = 10.0 * 0.998_f64.powi(1001);
    assert!((queue.average - expected).abs() < 1e-12, "{} {expected}", queue.average);
}

#[test]
fn the_chance_grows_between_the_thresholds() {
    let chance = |gentle, average| Red { average, ..red(RedConfig { gentle, ..CONFIG }) }.chance(5.0);
    assert_eq!(chance(false, 5.0), Some(0.0));
    assert_eq!(chance(false, 10.0), Some(0.05));
    assert_eq!(chance(false, 15.0), None);
    assert_eq!(chance(true, 15.0), Some(0.1));
    assert_eq!(chance(true, 22.5), Some(0.55));
    assert_eq!(chance(true, 30.0), None);
}

/// Section 7, method 2: distances are uniform up to 1/p, so no two drops are farther from each other.
#[test]
fn distances_between_drops_are_uniform() {
    // the average stays at 10: a chance of 0.02
    let mut queue = red(RedConfig { weight: Some(0.0), max_p: 0.04, ..CONFIG });
    (queue.average, queue.idle_since, queue.counts) = (10.0, None, [Some(0); 3]);
    let (mut seen, mut distance) = (vec![0_u32; 51], 0);
    for _ in 0..49 * 25 * 100 {
        distance += 1;
        if offer(&mut queue, Time::ZERO, 1, CAPABLE) > 0 {
            seen[distance] += 1;
            distance = 0;
        }
    }
    assert_eq!((seen[0], seen[50]), (0, 0));
    let sum: u32 = seen.iter().sum();
    // 4900 distances, 100 of each length, standard deviation 10
    assert!((4_700..=5_100).contains(&sum), "{sum}");
    assert!(seen[1..50].iter().all(|times| (55..=145).contains(times)), "{seen:?}");
}

#[test]
fn above_the_upper_threshold_all_are_dropped_unless_the_queue_is_short() {
    let mut queue = red(RedConfig { weight: Some(0.0), ecn: true, ..CONFIG });
    (queue.average, queue.idle_since) = (15.0, None);
    assert_eq!(offer(&mut queue, Time::ZERO, 20, CAPABLE), 18);
    assert_eq!(queue.backlog().packets, 2);
    queue.dequeue(Time::ZERO, &mut Drops::new());
    assert_eq!(offer(&mut queue, Time::ZERO, 20, CAPABLE), 19);
    queue.average = 4.9;
    assert_eq!(offer(&mut queue, Time::ZERO, 20, CAPABLE), 0);
}

/// Five packets a packet's time on an average that a burst has left far too high: the transmitter always finds one, and the
/// average comes down.
#[test]
fn a_flood_keeps_the_link_busy_and_lowers_the_average() {
    let mut queue = red(RedConfig { gentle: true, adaptive: true, ..CONFIG });
    (queue.average, queue.idle_since) = (500.0, None);
    for step in 0..20_000 {
        let now = Time::ZERO + Span::from_ps(step * queue.packet_time.as_ps());
        offer(&mut queue, now, 5, CAPABLE);
        assert!(queue.dequeue(now, &mut Drops::new()).is_some(), "at step {step}");
    }
    assert!(queue.average < 30.0, "{}", queue.average);
}

#[test]
fn who_listens_is_marked_early() {
    let mut queue = red(RedConfig { weight: Some(0.0), ecn: true, ..CONFIG });
    (queue.average, queue.idle_since) = (10.0, None);
    assert_eq!(offer(&mut queue, Time::ZERO, 1000, CAPABLE), 0);
    let mut waiting = queue.packets.clone();
    let marked =
        std::iter::from_fn(|| waiting.pop()).filter(|packet| packet.kind == PacketKind::Data(Ecn::Marked));
    assert_eq!(marked.count() as u64, queue.marks());
    assert!(queue.marks() >= 50, "{}", queue.marks());
    let marks = queue.marks();
    assert!(offer(&mut queue, Time::ZERO, 1000, PacketKind::Datagram) >= 50);
    assert_eq!(queue.marks(), marks);
}

/// 2001: up by a hundredth, or a quarter if that is less; down by a tenth; once in half a second.
#[test]
fn max_p_follows_the_average() {
    let adapted = |max_p, average, ms| {
        let mut queue = red(RedConfig { weight: Some(0.0), adaptive: true, max_p, ..CONFIG });
        (queue.average, queue.idle_since) = (average, None);
        offer(&mut queue, Time::ZERO + Span::from_ms(ms), 2, CAPABLE);
        queue.max_p
    };
    assert_eq!(adapted(0.1, 11.1, 499), 0.1);
    assert_eq!(adapted(0.1, 11.1, 500), 0.11);
    assert_eq!(adapted(0.02, 11.1, 500), 0.025);
    assert_eq!(adapted(0.1, 8.9, 500), 0.1 * 0.9);
    assert_eq!(adapted(0.1, 10.0, 500), 0.1);
    assert_eq!(adapted(0.6, 14.0, 500), 0.6);
    assert_eq!(adapted(0.009, 1.0, 500), 0.009);
}

/// 10 Mbit/s in packets of 1000 bytes: 1250 a second.
#[test]
fn the_automatic_weight_is_the_papers() {
    for us in [1_u32, 800, 80_000, 1_000_000] {
        let expected = -(-(f64::from(us) * 1e-6)).exp_m1();
        let weight = automatic_weight(Span::from_us(u64::from(us)));
        assert!((weight - expected).abs() <= 1e-15 * expected.max(0.1), "{us} us: {weight} {expected}");
    }
    assert_eq!((automatic_weight(Span::from_us(800)) * 1e6).round(), 800.0);
}

#[test]
fn thresholds_may_be_bytes() {
    let min_threshold = Some(Threshold::Bytes(2_500));
    let config = RedConfig {
        min_threshold,
        max_threshold: Some(Threshold::Bytes(3_000)),
        weight: Some(1.0),
        ..CONFIG
    };
    let mut queue = red(config);
    assert_eq!(offer(&mut queue, Time::ZERO, 9, CAPABLE), 6);
    assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: 3_000 });
}

#[test]
fn thresholds_that_are_not_given_fit_the_link() {
    let filled = |config: RedConfig, mbps: u64| {
        let mut config = RedConfig { mean_packet_bytes: None, ..config };
        config.fill(Rate::from_bps(mbps * 1_000_000).unwrap(), 1_500);
        assert_eq!(
            (config.mean_packet_bytes, config.target_delay, config.validate()),
            (Some(1_500), None, Ok(()))
        );
        [config.min_threshold, config.max_threshold].map(Option::unwrap)
    };
    let open = RedConfig::default();
    assert_eq!(filled(open, 10), [5, 15].map(Threshold::Packets));
    // half of 5 ms at 100 Mbit/s: 31,250 bytes, 20.83 packets
    assert_eq!(filled(open, 100), [21, 63].map(Threshold::Packets));
    let target_delay = Some(Span::from_ms(12));
    assert_eq!(filled(RedConfig { target_delay, ..open }, 100), [50, 150].map(Threshold::Packets));
    // 12.5 and 13.5 packets: to the even one
    let target_delay = Some(Span::from_ms(3));
    assert_eq!(filled(RedConfig { target_delay, ..open }, 100)[0], Threshold::Packets(12));
    let target_delay = Some(Span::from_us(3_240));
    assert_eq!(filled(RedConfig { target_delay, ..open }, 100)[0], Threshold::Packets(14));
    let max_threshold = Some(Threshold::Bytes(2));
    assert_eq!(filled(RedConfig { max_threshold, ..open }, 100), [1, 2].map(Threshold::Bytes));
    let min_threshold = Some(Threshold::Bytes(20));
    assert_eq!(filled(RedConfig { min_threshold, ..open }, 100), [20, 60].map(Threshold::Bytes));
}

#[test]
fn thresholds_that_contradict_each_other_are_refused() {
    let field = |config: RedConfig| config.validate().unwrap_err().field;
    let [low, high] = [Some(Threshold::Packets(5)), Some(Threshold::Packets(15))];
    assert_eq!(field(RedConfig { min_threshold: high, max_threshold: low, ..CONFIG }), "min_threshold");
    assert_eq!(field(RedConfig { max_threshold: Some(Threshold::Bytes(15)), ..CONFIG }), "min_threshold");
    assert_eq!(field(RedConfig { target_delay: Some(Span::from_ms(5)), ..CONFIG }), "target_delay_ps");
}

/// RFC 2597 section 2: within a class, a packet with higher drop precedence goes before one with lower. With an average of 10,
/// thresholds of 5 to 15, 8 to 15 and 2 to 15 give chances of 0.05, 0.029 and 0.062, and none where the average is below.
#[test]
fn each_drop_precedence_has_a_lower_threshold() {
    let [medium, high] = [8, 2].map(|packets| Some(Threshold::Packets(packets)));
    let config = RedConfig { min_threshold_medium: medium, min_threshold_high: high, ..CONFIG };
    let dscps = [10, 12, 14, 46];
    let headers: Arc<[Header]> = dscps.iter().map(|&dscp| Header { dscp, ..Header::own(0) }).collect();
    let mut queue = Red { headers, ..red(config) };
    let precedences = [0, 1, 2, 3].map(|flow| queue.precedence_of(&Packet { flow, ..Packet::default() }));
    assert_eq!(precedences, [0, 1, 2, 0]);
    (0..9).for_each(|_| queue.packets.push(Packet::default()));
    let shares = |queue: &mut Red, average| {
        queue.average = average;
        [0, 1, 2].map(|precedence| {
            let hits = (0..30_000).filter(|_| !matches!(queue.judge(precedence), Verdict::Pass)).count();
            hits as f64 / 30_000.0
        })
    };
    // distances are uniform up to 1/p packets (section 7): their mean is half of that
    for (share, chance) in shares(&mut queue, 10.0).into_iter().zip([0.05, 0.2 / 7.0, 0.8 / 13.0]) {
        assert!((share - 2.0 * chance).abs() < 0.006, "{share} {chance}");
    }
    let [low, medium, high] = shares(&mut queue, 4.0);
    assert!(low == 0.0 && medium == 0.0 && high > 0.02, "{high}");
}

#[test]
fn own_thresholds_have_the_unit_of_the_one_of_all() {
    let bad = |config: RedConfig| config.validate().unwrap_err().field;
    let [packets, bytes] = [Some(Threshold::Packets(3)), Some(Threshold::Bytes(3))];
    assert!(RedConfig { min_threshold_high: packets, ..CONFIG }.validate().is_ok());
    assert!(RedConfig { min_threshold_high: packets, ..RedConfig::default() }.validate().is_ok());
    assert_eq!(bad(RedConfig { min_threshold_high: bytes, ..RedConfig::default() }), "min_threshold_high");
    assert_eq!(bad(RedConfig { min_threshold_medium: bytes, ..CONFIG }), "min_threshold_medium");
}
