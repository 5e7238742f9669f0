use super::*;
use crate::{Ecn, PacketKind};

const CAPABLE: PacketKind = PacketKind::Data(Ecn::Capable);
const MARKED: PacketKind = PacketKind::Data(Ecn::Marked);
const DEAF: PacketKind = PacketKind::Data(Ecn::Incapable);

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// A queue of packets of 1000 bytes that all came at time zero.
fn standing(packets: u32, kind: PacketKind, config: CodelConfig) -> Codel {
    let mut queue = Codel::new(Limit::Unlimited, config);
    for seq in 0..packets {
        let packet = Packet { seq, wire_bytes: 1000, kind, ..Packet::default() };
        queue.enqueue(Time::ZERO, packet, &mut Drops::new());
    }
    queue
}

/// Serves a packet every millisecond; the moments of drops and of marks, ms.
fn serve(queue: &mut Codel, times_ms: std::ops::RangeInclusive<u64>) -> (Vec<u64>, Vec<u64>) {
    let (mut dropped, mut marked) = (Vec::new(), Vec::new());
    for ms in times_ms {
        let (mut drops, marks) = (Drops::new(), queue.marks());
        queue.dequeue(at_ms(ms), &mut drops);
        dropped.extend(drops.iter().map(|_| ms));
        marked.extend((marks..queue.marks()).map(|_| ms));
    }
    (dropped, marked)
}

/// Section 5.6: with 100 ms the distances are 100, 70.7, 57.7, 50 ms, …
#[test]
fn the_control_law_divides_the_interval_by_the_root_of_the_count() {
    let (config, mut state) = (CodelConfig::default(), DropState::NEW);
    let distances: Vec<u64> = (1..=9)
        .map(|count| {
            state.count = count;
            state.control_law(&config, at_ms(7)).as_ps() - at_ms(7).as_ps()
        })
        .collect();
    let expected_ps: [u64; 9] = [
        100_000_000_000,
        70_710_678_118,
        57_735_026_918,
        50_000_000_000,
        44_721_359_549,
        40_824_829_046,
        37_796_447_300,
        35_355_339_059,
        33_333_333_333,
    ];
    assert_eq!(distances, expected_ps);
}

/// By hand: 1·(3 − 2)/2 = 0.5, 0.5·(3 − 3/4)/2 = 0.5625, 0.5625·(3 − 4·0.31640625)/2 = 0.48779296875. ns-3's drops of
/// `cubic-50ms-no-ecn` are at 5.4119, 5.5121, 5.5624, 5.6184 and 5.6671 s.
#[test]
fn linux_improves_the_root_by_one_step_a_drop() {
    let config = CodelConfig { control_law: ControlLaw::Linux, ..CodelConfig::default() };
    let mut queue = standing(1000, DEAF, config);
    let (dropped, _) = serve(&mut queue, 1..=400);
    assert_eq!(dropped, [105, 205, 255, 312, 361]);
    // 0.48779296875·(3 − 5·0.48779296875²)/2 = 0.441523… of an interval after 360.029296875 ms
    assert_eq!(queue.state.drop_next.as_ps(), 404_181_635_939);
}

/// Above the target from 5 ms on: the first drop comes an interval later, and then at 100, 70.7, 57.7, 50, … ms
/// from drop to drop (sections 5.5 and 5.6), each at the first service from then on.
#[test]
fn a_standing_queue_loses_packets_at_shrinking_distances() {
    let mut queue = standing(1000, DEAF, CodelConfig::default());
    let (dropped, _) = serve(&mut queue, 1..=500);
    assert_eq!(dropped, [105, 205, 276, 334, 384, 429, 469]);
}

/// The dropping state of seven drops ends; the next one begins with six, those after its first.
#[test]
fn a_queue_that_stands_again_soon_is_dropped_at_the_rate_reached() {
    let mut queue = standing(1000, DEAF, CodelConfig::default());
    serve(&mut queue, 1..=500);
    assert_eq!((queue.state.count, queue.state.lastcount), (7, 1));
    let young = |queue: &mut Codel, ms: u64| {
        queue.queue.packets = PacketQueue::default();
        for seq in 0..1000 {
            let packet = Packet { seq, wire_bytes: 1000, kind: DEAF, ..Packet::default() };
            queue.enqueue(at_ms(ms), packet, &mut Drops::new());
        }
    };
    let mut forgotten = queue.clone();
    young(&mut queue, 600);
    let (dropped, _) = serve(&mut queue, 600..=760);
    assert_eq!(queue.state.lastcount, 6);
    // 100 ms / sqrt(6) = 40.8 ms
    assert_eq!(dropped, [705, 746]);
    // 16 intervals after the last date it starts anew
    young(&mut forgotten, 2_200);
    let (dropped, _) = serve(&mut forgotten, 2_200..=2_410);
    assert_eq!(forgotten.state.lastcount, 1);
    assert_eq!(dropped, [2_305, 2_405]);
}

/// Section 5.5: `now - drop_next < 16 * INTERVAL`, and only if there was more than one drop.
#[test]
fn the_rate_is_remembered_for_less_than_sixteen_intervals() {
    let config = CodelConfig::default();
    let count_after = |drops: u64, ms: u64| {
        let mut state =
            DropState { count: 10 + drops, lastcount: 10, drop_next: at_ms(500), ..DropState::NEW };
        state.start_dropping(&config, at_ms(500 + ms));
        state.count
    };
    assert_eq!([0, 900, 1_599, 1_600, 1_601].map(|ms| count_after(7, ms)), [7, 7, 7, 1, 1]);
    assert_eq!([0, 1, 2].map(|drops| count_after(drops, 0)), [1, 1, 2]);
}

#[test]
fn a_wait_below_the_target_starts_the_interval_anew() {
    let mut queue = Codel::new(Limit::Unlimited, CodelConfig::default());
    for ms in 0..300 {
        // 20 ms of queue, except one packet in 100, which waits for just under 5 ms
        let young = ms % 100 == 50;
        let enqueued = if young { at_ms(ms + 15) + Span::from_us(1) } else { at_ms(ms) };
        let packet = Packet { seq: ms as u32, wire_bytes: 1000, kind: DEAF, ..Packet::default() };
        queue.enqueue(enqueued, packet, &mut Drops::new());
    }
    let (dropped, _) = serve(&mut queue, 20..=310);
    assert!(dropped.is_empty(), "{dropped:?}");
}

#[test]
fn a_queue_of_no_more_than_a_full_packet_is_never_dropped() {
    let mut queue = standing(2, DEAF, CodelConfig::default());
    assert!(serve(&mut queue, 1_000..=1_001).0.is_empty());
    // three: the first finds two behind it, so the interval starts there, and ends with the second
    let mut queue = standing(3, DEAF, CodelConfig::default());
    assert!(serve(&mut queue, 1_000..=1_002).0.is_empty());
}

#[test]
fn several_drops_may_be_due_at_once() {
    let mut queue = standing(1000, DEAF, CodelConfig::default());
    serve(&mut queue, 1..=105);
    let mut drops = Drops::new();
    let packet = queue.dequeue(at_ms(300), &mut drops);
    // due at 205 and 275.7 ms, of packets 105 (the first drop took one more) to 107
    assert_eq!(drops.iter().map(|dropped| dropped.packet.seq).collect::<Vec<_>>(), [106, 107]);
    assert_eq!(packet.map(|packet| packet.seq), Some(108));
    assert!(drops.iter().all(|dropped| dropped.reason == DropReason::Standing));
}

#[test]
fn with_ecn_those_who_listen_are_marked_when_others_are_dropped() {
    let config = CodelConfig { ecn: true, ..CodelConfig::default() };
    let times = [105, 205, 276, 334, 384, 429, 469];
    let mut queue = standing(1000, CAPABLE, config);
    assert_eq!(serve(&mut queue, 1..=500), (vec![], times.to_vec()));
    let mut queue = standing(1000, DEAF, config);
    assert_eq!(serve(&mut queue, 1..=500), (times.to_vec(), vec![]));
    let mut queue = standing(1000, CAPABLE, CodelConfig::default());
    assert_eq!(serve(&mut queue, 1..=500), (times.to_vec(), vec![]));
    // departs from Linux: what another queue marked is spared, and not counted
    let mut queue = standing(1000, MARKED, config);
    assert_eq!(serve(&mut queue, 1..=500), (vec![], vec![]));
}

#[test]
fn with_a_threshold_those_who_listen_are_marked_if_they_waited_for_longer() {
    let config = CodelConfig { ce_threshold: Some(Span::from_ms(2)), ..CodelConfig::default() };
    let mut queue = standing(6, CAPABLE, config);
    assert_eq!(serve(&mut queue, 1..=5), (vec![], vec![3, 4, 5]));
    let mut queue = standing(6, DEAF, config);
    assert_eq!(serve(&mut queue, 1..=5), (vec![], vec![]));
    // due for dropping and above the threshold: one mark
    let mut queue = standing(1000, CAPABLE, CodelConfig { ecn: true, ..config });
    assert_eq!(serve(&mut queue, 1..=300), (vec![], (3..=300).collect()));
}

#[test]
fn the_last_to_come_is_dropped_at_the_limit_and_a_smaller_one_keeps_what_waits() {
    let mut queue = Codel::new(Limit::Bytes(2_500), CodelConfig::default());
    let offer = |queue: &mut Codel, bytes: u32| {
        let mut drops = Drops::new();
        let packet = Packet { wire_bytes: bytes, kind: DEAF, ..Packet::default() };
        queue.enqueue(Time::ZERO, packet, &mut drops);
        drops.iter().map(|dropped| dropped.reason).collect::<Vec<_>>()
    };
    assert_eq!(offer(&mut queue, 1_000), []);
    assert_eq!(offer(&mut queue, 1_000), []);
    assert_eq!(offer(&mut queue, 1_000), [DropReason::Overlimit]);
    queue.set_limit(Limit::Packets(1));
    assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 2_000 });
    assert_eq!(offer(&mut queue, 100), [DropReason::Overlimit]);
}
