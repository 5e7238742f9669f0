use super::*;
use crate::{Ecn, PacketKind};

const CAPABLE: PacketKind = PacketKind::Data(Ecn::Capable);

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// The chance after one update.
fn updated(drop_prob: f64, qdelay_old: Span, current_qdelay: Span) -> f64 {
    let mut control = Control { drop_prob, current_qdelay, qdelay_old, ..Control::new(PieConfig::default()) };
    control.calculate_drop_prob();
    control.drop_prob
}

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-12
}

/// Section 4.2: 10 ms above the target give 0.125 times 0.01, 5 ms of growth 1.25 times 0.005: 0.0075 in all.
#[test]
fn the_chance_moves_with_the_wait_and_with_its_growth() {
    assert!(close(updated(0.2, ms(20), ms(25)), 0.2075));
    assert!(close(updated(0.2, ms(20), ms(10)), 0.2 - 0.000_625 - 0.0125));
    assert_eq!(updated(0.0, ms(20), ms(10)), 0.0);
    assert_eq!(updated(0.99, ms(2_000), ms(4_000)), 1.0);
}

/// Section 4.2's table.
#[test]
fn steps_are_smaller_while_the_chance_is_small() {
    let table = [
        (0.000_000_5, 2048.0),
        (0.000_001, 512.0),
        (0.000_01, 128.0),
        (0.000_1, 32.0),
        (0.001, 8.0),
        (0.01, 2.0),
        (0.1, 1.0),
    ];
    for (drop_prob, scale) in table {
        assert!(close(updated(drop_prob, ms(20), ms(25)), drop_prob + 0.0075 / scale), "{drop_prob}");
    }
}

/// Section 5.5.
#[test]
fn large_steps_are_capped_from_a_tenth_on() {
    assert!(close(updated(0.1, ms(0), ms(500)), 0.12));
    assert!(updated(0.09, ms(0), ms(500)) > 0.3);
    assert!(updated(0.9, ms(500), ms(0)) < 0.3, "steps down are not");
}

#[test]
fn the_chance_decays_while_nothing_waits() {
    assert!(close(updated(0.5, ms(0), ms(0)), (0.5 - 0.125 * 0.015) * 0.98));
}

/// A load in percent, of packets of 1000 bytes on 10 Mbit/s; returns the waits of the packets served.
fn overload(queue: &mut Pie, percent: u64, duration: Span, kind: PacketKind) -> (Vec<Span>, usize) {
    let (service, gap) = (Span::from_us(800), Span::from_ps(80_000_000_000 / percent));
    let (mut arrival, mut departure) = (Time::ZERO, Time::ZERO);
    let (mut waits, mut drops) = (Vec::new(), Drops::new());
    while arrival < Time::ZERO + duration {
        if arrival <= departure {
            queue.enqueue(arrival, Packet { wire_bytes: 1000, kind, ..Packet::default() }, &mut drops);
            arrival += gap;
        } else {
            let packet = queue.dequeue(departure, &mut drops);
            waits.extend(packet.map(|packet| departure - packet.enqueued));
            departure += service;
        }
    }
    (waits, drops.len())
}

fn pie(config: PieConfig) -> Pie {
    Pie::new(Limit::Packets(1_000), config, Stream::new(1, 0, 0))
}

/// Section 4.4: ten updates of 15 ms take the allowance of 150 ms, counted from the last packet that found a calm
/// queue; then drops begin.
#[test]
fn a_burst_passes_for_a_tenth_of_a_second_and_a_half() {
    let mut queue = pie(PieConfig::default());
    assert_eq!(overload(&mut queue, 200, ms(150), CAPABLE).1, 0);
    // full allowance until the wait of 7.5 ms is seen, at 15 ms
    assert_eq!(queue.control.burst_allowance, ms(15));
    assert!(queue.backlog().bytes > 90_000);
    let mut queue = pie(PieConfig::default());
    assert!(overload(&mut queue, 200, ms(1_000), CAPABLE).1 > 0);
}

/// A sender that does not react and sends 10 % too much loses one packet in eleven, and the wait is the target.
#[test]
fn the_wait_is_held_at_the_target() {
    let mut queue = pie(PieConfig::default());
    let (waits, drops) = overload(&mut queue, 110, ms(120_000), CAPABLE);
    let late = &waits[waits.len() / 2..];
    let mean_ms = 1e3 * late.iter().map(|wait| wait.as_s()).sum::<f64>() / late.len() as f64;
    assert!((14.0..16.0).contains(&mean_ms), "{mean_ms}");
    let share = drops as f64 / (drops + waits.len()) as f64;
    assert!((0.085..0.095).contains(&share), "{share}");
}

/// Section 5.1: marks below a tenth, drops above.
#[test]
fn who_listens_is_marked_while_the_chance_is_small() {
    let config = PieConfig { ecn: true, ..PieConfig::default() };
    let mut queue = pie(config);
    let (_, drops) = overload(&mut queue, 101, ms(20_000), CAPABLE);
    assert!(queue.marks() > 0);
    // marks do not slow this source down, so the chance grows beyond a tenth
    assert!(drops > 0 && queue.control.drop_prob > 0.005, "{drops} {}", queue.control.drop_prob);
    let mut queue = pie(config);
    assert!(overload(&mut queue, 105, ms(20_000), PacketKind::Datagram).1 > 0);
    assert_eq!(queue.marks(), 0);
}

/// Section 5.4: at a chance of 1 % no two drops are closer than 85 packets or farther than 850.
#[test]
fn drops_are_neither_too_close_nor_too_far() {
    let qdelay_old = ms(20);
    let mut control = Control { drop_prob: 0.01, qdelay_old, ..Control::new(PieConfig::default()) };
    let mut stream = Stream::new(1, 0, 0);
    let (mut distances, mut distance) = (Vec::new(), 0);
    for _ in 0..1_000_000 {
        distance += 1;
        if control.drop_early(false, &mut stream) {
            distances.push(distance);
            distance = 0;
        }
    }
    assert!(distances.iter().all(|distance| (85..=851).contains(distance)));
    // 85 without a chance, then 100 on average
    let mean = 1e6 / distances.len() as f64;
    assert!((180.0..189.0).contains(&mean), "{mean}");
}

#[test]
fn small_backlogs_and_short_waits_are_safe() {
    let mut stream = Stream::new(1, 0, 0);
    let with = |drop_prob, qdelay_old| Control {
        drop_prob,
        qdelay_old,
        accu_prob: 9.0,
        ..Control::new(PieConfig::default())
    };
    assert!(with(0.1, ms(10)).drop_early(false, &mut stream));
    assert!(!with(0.1, ms(10)).drop_early(true, &mut stream));
    assert!(!with(0.1, ms(7)).drop_early(false, &mut stream));
    assert!(with(0.2, ms(7)).drop_early(false, &mut stream));
}

/// However late the next call comes, and without counting through an idle day.
#[test]
fn updates_are_made_up_for() {
    let mut queue = pie(PieConfig::default());
    queue.control.drop_prob = 0.5;
    queue.control.update(Time::ZERO + ms(15 * 3 + 1));
    let mut twin = queue.clone();
    assert_eq!(queue.control.next_update, Time::ZERO + ms(60));
    for update in 4..2_000 {
        queue.control.update(Time::ZERO + ms(15 * update));
    }
    twin.control.update(Time::ZERO + ms(15 * 1_999));
    assert_eq!(queue.control.next_update, twin.control.next_update);
    assert_eq!(queue.control.drop_prob, 0.0);
    assert_eq!(twin.control.drop_prob, 0.0);
    twin.control.update(Time::ZERO + Span::from_s(86_400));
    assert_eq!(twin.control.next_update, Time::ZERO + Span::from_s(86_400) + ms(15));
}
