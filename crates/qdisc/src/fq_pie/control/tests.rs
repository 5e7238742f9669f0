use super::*;

fn ms(ms: u64) -> Span {
    Span::from_ms(ms)
}

/// The chance after one update.
fn updated(prob: f64, wait_before: Span, wait: Span, waits: bool) -> f64 {
    let mut control = Control { prob, wait, wait_before, ..Control::new(PieConfig::default()) };
    control.calculate_probability(waits);
    control.prob
}

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-12
}

/// 10 ms above the target give 0.125 times 0.01, 5 ms of growth 1.25 times 0.005: 0.0075 in all, less for small chances.
#[test]
fn the_chance_moves_with_the_wait_and_with_its_growth() {
    let table = [
        (5e-7, 2048.0),
        (1e-6, 512.0),
        (1e-5, 128.0),
        (1e-4, 32.0),
        (1e-3, 8.0),
        (1e-2, 2.0),
        (0.1, 1.0),
        (7.0, 1.0),
    ];
    for (prob, scale) in table {
        assert!(close(updated(prob, ms(20), ms(25), true), prob + 0.0075 / scale), "{prob}");
    }
    assert_eq!(updated(0.0, ms(20), ms(10), true), 0.0);
}

#[test]
fn long_waits_add_two_percent_to_each_step() {
    assert!(close(updated(0.1, ms(0), ms(250), true), 0.12));
    assert!(close(updated(0.1, ms(0), ms(251), true), 0.14));
    assert!(close(updated(1.5, ms(1_251), ms(251), true), 1.52 + 0.125 * 0.236 - 1.25));
}

#[test]
fn a_chance_above_one_is_kept_until_it_overflows() {
    assert!(close(updated(0.99, ms(400), ms(400), true), 0.99 + 0.02 + 0.02));
    assert!(close(updated(1.6, ms(1_000), ms(10), true), 1.6 - 0.000_625 - 1.2375));
    assert_eq!(updated(255.99, ms(400), ms(400), true), 1.0);
}

#[test]
fn the_chance_decays_only_when_nothing_waits() {
    let less = 0.5 - 0.125 * 0.015;
    assert!(close(updated(0.5, ms(0), ms(0), false), less * 63.0 / 64.0));
    assert!(close(updated(0.5, ms(0), ms(0), true), less));
}

#[test]
fn a_burst_is_counted_by_departures_and_given_back_at_calm_updates() {
    let mut control = Control::new(PieConfig::default());
    control.on_departure(Time::ZERO + ms(50), ms(20));
    assert_eq!(control.burst_time, ms(150), "the first departure has none before it");
    control.on_departure(Time::ZERO + ms(100), ms(20));
    assert_eq!(control.burst_time, ms(100));
    control.on_departure(Time::ZERO + ms(300), Span::ZERO);
    assert_eq!(control.burst_time, ms(0));
    control.calculate_probability(true);
    control.calculate_probability(true);
    assert_eq!((control.burst_time, control.last_departure), (ms(150), None));
}

/// At a chance of 1 % drops begin after 85 packets; a mark that is due after 850 does not end the count, a drop does.
#[test]
fn marks_that_were_due_are_given_until_a_drop() {
    let config = PieConfig { ecn: true, ..PieConfig::default() };
    let wait = ms(20);
    let due = Control { prob: 0.01, accu_prob: 8.495, burst_time: Span::ZERO, wait, ..Control::new(config) };
    let capable = Packet { kind: crate::PacketKind::Data(crate::Ecn::Capable), ..Packet::default() };
    let (mut stream, mut marks) = (Stream::new(1, 0, 0), 0);
    let mut control = due;
    for _ in 0..3 {
        assert!(!control.refuses(&mut { capable }, false, &mut stream, &mut marks));
    }
    assert_eq!(marks, 3);
    assert!(control.refuses(&mut Packet::default(), false, &mut stream, &mut marks));
    assert_eq!(control.accu_prob, 0.0);
    // up to a tenth, that included
    for (prob, is_dropped) in [(0.1, false), (0.100_1, true)] {
        let mut control = Control { prob, ..due };
        assert_eq!(control.refuses(&mut { capable }, false, &mut stream, &mut marks), is_dropped);
    }
}

#[test]
fn small_backlogs_and_short_waits_are_safe() {
    let mut stream = Stream::new(1, 0, 0);
    let with = |prob, wait| Control {
        prob,
        wait,
        accu_prob: 9.0,
        burst_time: Span::ZERO,
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
    let mut control = Control { prob: 0.5, ..Control::new(PieConfig::default()) };
    let mut twin = control;
    for update in 1..2_000 {
        control.update(Time::ZERO + ms(15 * update), 0);
    }
    twin.update(Time::ZERO + ms(15 * 1_999), 0);
    assert_eq!(control, twin);
    twin.update(Time::ZERO + Span::from_s(86_400), 0);
    assert_eq!(twin.next_update, Time::ZERO + Span::from_s(86_400) + ms(15));
}

/// 2⁶⁴ is no number of 64 bits: a chance that comes to 256 has overflown.
#[test]
fn a_chance_of_256_has_overflown() {
    // 2 % for its size, and 2 % for the long wait
    let below = OVERFLOW - 0.04;
    assert_eq!((below + 0.04, updated(below, Span::ZERO, ms(1_000), true)), (OVERFLOW, 1.0));
    assert!(updated(below.next_down(), Span::ZERO, ms(1_000), true) > 255.9);
}

/// `pie_drop_early`: 17 halves of a chance of one, that included.
#[test]
fn a_packet_goes_when_eight_and_a_half_have_accumulated() {
    let chance = 1.0 / 1024.0;
    for (accumulated, goes) in [(8.5, true), (8.5 - chance, false)] {
        let mut control = Control {
            prob: chance,
            accu_prob: accumulated - chance,
            wait: ms(100),
            burst_time: Span::ZERO,
            ..Control::new(PieConfig::default())
        };
        assert_eq!(control.drop_early(false, &mut Stream::new(1, 0, 0)), goes);
    }
}
