use std::sync::Arc;

use bufferlab_units::Rate;

use super::*;
use crate::{PacketKind, RttInformation};

const US: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

const LIMIT: Limit = Limit::Packets(6_250);

fn config() -> SplitBuffConfig {
    let update = Span::from_ms(100);
    SplitBuffConfig { update, first_update: Some(update), smoothing: 0.25, ..SplitBuffConfig::default() }
}

/// Round-trip times from headers, at 100 Mbps.
fn limited(limit: Limit, config: SplitBuffConfig) -> SplitBuff {
    let rate = Rate::from_bps(100_000_000).unwrap();
    SplitBuff::new(config, Classes::Rtt(RttInformation::Header), limit, rate)
}

fn splitbuff(config: SplitBuffConfig) -> SplitBuff {
    limited(LIMIT, config)
}

fn with_classes(classes: Classes) -> SplitBuff {
    SplitBuff::new(config(), classes, LIMIT, Rate::from_bps(100_000_000).unwrap())
}

pub(super) fn packet(flow: u32, seq: u32, rtt_ms: u32) -> Packet {
    let kind = PacketKind::Data(crate::Ecn::Incapable);
    Packet { flow, seq, wire_bytes: 1_000, kind, srtt_us: rtt_ms * 1_000, ..Packet::default() }
}

/// A packet of each round-trip time each millisecond, served at once.
fn feed(queue: &mut SplitBuff, rtts_ms: &[u32], from_ms: u64, to_ms: u64) {
    let mut drops = Drops::new();
    for ms in from_ms..to_ms {
        for (flow, &rtt_ms) in rtts_ms.iter().enumerate() {
            queue.enqueue(at(ms), packet(flow as u32, ms as u32, rtt_ms), &mut drops);
            queue.dequeue(at(ms), &mut drops);
        }
    }
    assert!(drops.is_empty());
}

fn limits(queue: &SplitBuff) -> Vec<u64> {
    let packets = queue.parts.iter().map(|part| match part.limit {
        Limit::Packets(packets) => packets,
        _ => unreachable!("the limit is in packets"),
    });
    packets.collect()
}

#[test]
fn the_document_s_example_gives_62_and_6187_packets() {
    // section III: 10 and 990 ms, 100 Mbps, 1 KB: 6250 in all, "about 62 and 6187"
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 990], 0, 500);
    assert_eq!(limits(&queue), [62, 6187]);
    assert_eq!(queue.thresholds, Some(vec![0.5]));
}

#[test]
fn what_is_estimated_can_be_read() {
    let mut queue = splitbuff(SplitBuffConfig { weighted: true, ..config() });
    let before = queue.estimates().unwrap();
    assert_eq!((before.classes.len(), before.whole.rtt, before.classes[0].threshold), (2, None, None));
    feed(&mut queue, &[10, 990], 0, 500);
    let (twin, read) = (queue.clone(), queue.estimates().unwrap());
    assert_eq!(read.whole.rtt, Some(Span::from_ms(500)));
    assert_eq!(read.classes[0].rtt, Some(Span::from_ms(10)));
    assert_eq!(read.classes[1].rtt, Some(Span::from_ms(990)));
    assert_eq!((read.classes[0].threshold, read.classes[1].threshold), (Some(Span::from_ms(500)), None));
    assert_eq!(
        read.classes.iter().map(|class| class.limit).collect::<Vec<_>>(),
        [62, 6187].map(Limit::Packets)
    );
    assert!((read.classes[1].flows.unwrap() - 1.0).abs() < 0.01 && read.classes[0].weight == 1.0);
    assert_eq!(format!("{twin:?}"), format!("{queue:?}"));
}

#[test]
fn the_class_is_that_of_the_packet_that_came_or_went() {
    let mut queue = limited(Limit::Packets(2), config());
    feed(&mut queue, &[10, 990], 0, 300);
    let mut drops = Drops::new();
    for (rtt_ms, class) in [(990, 1), (10, 0), (990, 1)] {
        queue.enqueue(at(300), packet(rtt_ms, 0, rtt_ms), &mut drops);
        assert_eq!(queue.class(), class);
    }
    assert_eq!(drops.len(), 1);
    for _ in 0..2 {
        let class = usize::from(queue.dequeue(at(301), &mut drops).unwrap().srtt_us == 990_000);
        assert_eq!(queue.class(), class);
    }
}

#[test]
fn the_sum_of_the_sizes_is_never_above_the_limit() {
    let mut queue = limited(Limit::Packets(600), config());
    feed(&mut queue, &[10, 990], 0, 500);
    assert_eq!(limits(&queue), [6, 594]);
}

#[test]
fn three_thresholds_lie_half_a_sigma_from_the_mean() {
    let mut queue = splitbuff(SplitBuffConfig { sub_buffers: 3, ..config() });
    feed(&mut queue, &[50, 100, 150], 0, 500);
    let sigma = (5_000.0_f64 / 3.0).sqrt() * 1e-3;
    let thresholds = queue.thresholds.clone().unwrap();
    assert!((thresholds[0] - (0.1 - sigma / 2.0)).abs() < 1e-9, "{thresholds:?}");
    assert!((thresholds[1] - (0.1 + sigma / 2.0)).abs() < 1e-9, "{thresholds:?}");
    // 100 ms at 100 Mbps are 1250 packets, in parts of 50, 100 and 150
    assert_eq!(limits(&queue), [208, 416, 625]);
}

#[test]
fn the_queueing_delay_is_taken_off_the_round_trip_times() {
    // every packet waits 20 ms, and says so
    let mut queue = splitbuff(SplitBuffConfig { smoothing: 1.0, ..config() });
    let mut drops = Drops::new();
    for ms in 0..=100_u64 {
        queue.enqueue(at(ms), packet(0, ms as u32, 30), &mut drops);
        queue.enqueue(at(ms), packet(1, ms as u32, 1_010), &mut drops);
        if ms >= 20 {
            queue.dequeue(at(ms), &mut drops);
            queue.dequeue(at(ms), &mut drops);
        }
    }
    let threshold = queue.thresholds.as_ref().unwrap()[0];
    assert!((threshold - 0.5).abs() < 1e-9, "{threshold}");
    assert_eq!(limits(&queue).iter().sum::<u64>(), 6_250);
}

#[test]
fn before_the_first_period_is_over_it_is_a_fifo() {
    let mut queue = limited(Limit::Packets(3), config());
    let mut drops = Drops::new();
    for (seq, rtt_ms) in [990, 10, 990, 10].into_iter().enumerate() {
        queue.enqueue(at(1), packet(rtt_ms, seq as u32, rtt_ms), &mut drops);
    }
    assert_eq!(drops.len(), 1);
    let served: Vec<_> =
        std::iter::from_fn(|| queue.dequeue(at(2), &mut drops).map(|packet| packet.seq)).collect();
    assert_eq!(served, [0, 1, 2]);
}

#[test]
fn the_short_are_served_between_the_long() {
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 990], 0, 300);
    let mut drops = Drops::new();
    for seq in 0..10 {
        queue.enqueue(at(300), packet(1, seq, 990), &mut drops);
    }
    for seq in 0..3 {
        queue.enqueue(at(300), packet(0, seq, 10), &mut drops);
    }
    let flows: Vec<_> =
        std::iter::from_fn(|| queue.dequeue(at(301), &mut drops).map(|packet| packet.flow)).collect();
    assert_eq!(flows.iter().take(6).filter(|&&flow| flow == 0).count(), 3, "{flows:?}");
    // and the rest goes to the long ones: work conservation
    assert_eq!(flows.len(), 13);
}

#[test]
fn small_packets_get_no_more_than_large_ones() {
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 990], 0, 300);
    let mut drops = Drops::new();
    for seq in 0..600 {
        queue.enqueue(at(300), Packet { wire_bytes: 100, ..packet(0, seq, 10) }, &mut drops);
        queue.enqueue(at(300), packet(1, seq, 990), &mut drops);
    }
    let mut bytes = [0_u32; 2];
    for _ in 0..55 {
        let served = queue.dequeue(at(301), &mut drops).unwrap();
        bytes[served.flow as usize] += served.wire_bytes;
    }
    assert!(bytes[0].abs_diff(bytes[1]) <= 1_000, "{bytes:?}");
}

/// Shreedhar and Varghese 1995, section 4.1: who has nothing to send keeps no credit for later.
#[test]
fn an_empty_sub_buffer_saves_no_credit() {
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 990], 0, 300);
    let mut drops = Drops::new();
    for seq in 0..100 {
        queue.enqueue(at(300), packet(1, seq, 990), &mut drops);
    }
    for seq in 0..10 {
        queue.enqueue(at(301), Packet { wire_bytes: 100, ..packet(0, seq, 10) }, &mut drops);
        // until the other's turn has come and gone
        for _ in 0..3 {
            queue.dequeue(at(301), &mut drops);
        }
    }
    for seq in 10..20 {
        queue.enqueue(at(302), packet(0, seq, 10), &mut drops);
    }
    let flows: Vec<_> = (0..10).map(|_| queue.dequeue(at(302), &mut drops).unwrap().flow).collect();
    assert_eq!(flows.iter().filter(|&&flow| flow == 0).count(), 5, "{flows:?}");
    assert!(drops.is_empty());
}

#[test]
fn a_sub_buffer_is_crowded_from_a_quarter_on() {
    for (limit, crowded_at) in
        [(Limit::Packets(40), Some(10)), (Limit::Bytes(40_000), Some(10)), (Limit::Unlimited, None)]
    {
        let mut part = SubBuffer::new(false, Delays::Departures);
        part.limit = limit;
        let crowded = (1..=20).find(|&seq| {
            part.push(packet(0, seq, 10));
            part.is_crowded()
        });
        assert_eq!(crowded, crowded_at, "{limit:?}");
    }
}

#[test]
fn weights_follow_the_number_of_flows() {
    let mut queue = splitbuff(SplitBuffConfig { weighted: true, ..config() });
    let rtts: Vec<u32> = (0..100).map(|flow| if flow < 90 { 10 } else { 990 }).collect();
    feed(&mut queue, &rtts, 0, 400);
    let weights: Vec<f64> = queue.parts.iter().map(|part| part.weight).collect();
    assert!((weights[0] - 9.0).abs() < 0.6 && weights[1] == 1.0, "{weights:?}");
}

#[test]
fn sizes_of_weighted_sub_buffers_are_their_own_bandwidth_delay_products() {
    let mut queue = splitbuff(SplitBuffConfig { weighted: true, ..config() });
    let rtts: Vec<u32> = (0..100).map(|flow| if flow < 90 { 10 } else { 100 }).collect();
    feed(&mut queue, &rtts, 0, 400);
    // 12,500 packets/s: nine tenths for 10 ms, one tenth for 100 ms
    let (short, long) = (limits(&queue)[0] as f64, limits(&queue)[1] as f64);
    assert!((short / 112.5 - 1.0).abs() < 0.05 && (long / 125.0 - 1.0).abs() < 0.05, "{short} {long}");
    // the mean over flows does not care that the short send a hundred times as often
    let mut queue = splitbuff(SplitBuffConfig { weighted: true, ..config() });
    for ms in (0..400).step_by(4) {
        let now: Vec<u32> = if ms % 80 == 0 { vec![10, 990] } else { vec![10] };
        feed(&mut queue, &now, ms, ms + 1);
    }
    let (short, long) = (limits(&queue)[0] as f64, limits(&queue)[1] as f64);
    assert!((short / 62.5 - 1.0).abs() < 0.05 && (long / 6187.0 - 1.0).abs() < 0.05, "{short} {long}");
}

#[test]
fn blind_classes_are_halves_and_a_flow_stays_in_its_own() {
    let mut queue = with_classes(Classes::Random { seed: 3 });
    assert_eq!(limits(&queue), [3_125, 3_125]);
    let first: Vec<usize> = (0..1_000).map(|flow| queue.class_of(at(0), &packet(flow, 0, 10))).collect();
    let again: Vec<usize> = (0..1_000).map(|flow| queue.class_of(at(9), &packet(flow, 1, 900))).collect();
    assert_eq!(first, again);
    assert!((400..600).contains(&first.iter().sum::<usize>()), "{}", first.iter().sum::<usize>());
}

#[test]
fn the_oracle_knows_delays_without_queueing() {
    let delays: Arc<[Span]> = [Span::from_ms(10), Span::from_ms(990)].into();
    let mut queue = with_classes(Classes::Rtt(RttInformation::Oracle(delays)));
    queue.delay_s = 0.3;
    feed(&mut queue, &[7, 7], 0, 300);
    assert_eq!(limits(&queue), [62, 6187]);
}

#[test]
fn a_sub_buffer_that_sees_nothing_keeps_its_mean() {
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 990], 0, 300);
    feed(&mut queue, &[10], 300, 900);
    // all at 10 ms now: B is 125 packets, the threshold 10 ms
    assert!((queue.parts[1].propagation_s - 0.99).abs() < 0.02 || queue.parts[1].propagation_s < 0.02);
    assert!(limits(&queue).iter().sum::<u64>() <= 126, "{:?}", limits(&queue));
}

#[test]
fn nothing_is_kept_of_flows() {
    let state = |flows: u32, weighted| {
        let mut queue = splitbuff(SplitBuffConfig { weighted, ..config() });
        let rtts: Vec<u32> = (0..flows).map(|flow| 10 + flow % 500).collect();
        feed(&mut queue, &rtts, 0, 150);
        queue.state_bytes()
    };
    for weighted in [false, true] {
        assert_eq!(state(10, weighted), state(10_000, weighted));
    }
    assert!(state(10_000, false) < 1_024 && state(10, true) < 2_500);
}

#[test]
fn time_between_packets_does_not_matter_for_the_update() {
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 990], 0, 150);
    queue.enqueue(at(5_000_000), packet(0, 0, 10), &mut Drops::new());
    assert!(queue.next_update > at(5_000_000) && queue.next_update.as_ps().is_multiple_of(100_000 * US));
}

#[test]
fn the_first_periods_are_short_and_grow() {
    let mut queue = splitbuff(SplitBuffConfig {
        update: Span::from_ms(800),
        first_update: Some(Span::from_ms(100)),
        ..config()
    });
    let mut ends = vec![queue.next_update];
    for ms in (0..3_000).step_by(10) {
        queue.enqueue(at(ms), packet(0, ms as u32, if ms < 250 { 0 } else { 10 }), &mut Drops::new());
        queue.dequeue(at(ms), &mut Drops::new());
        ends.extend((Some(&queue.next_update) != ends.last()).then_some(queue.next_update));
    }
    // no packet carries a round-trip time before 250 ms: the first estimate comes soon after
    assert_eq!(ends, [100, 200, 300, 500, 900, 1_700, 2_500, 3_300].map(at));
}

#[test]
fn the_first_delay_counts_in_full() {
    let mut queue = splitbuff(config());
    let mut drops = Drops::new();
    for ms in 0..=100_u64 {
        queue.enqueue(at(ms), packet(0, ms as u32, 30), &mut drops);
        if ms >= 20 {
            queue.dequeue(at(ms), &mut drops);
        }
    }
    assert!((queue.delay_s - 0.02).abs() < 1e-9 && (queue.center_s - 0.01).abs() < 1e-9);
}

#[test]
fn a_threshold_that_hardly_moves_stays() {
    let thresholds = |hysteresis, rtt_ms| {
        let mut queue = splitbuff(SplitBuffConfig { hysteresis, ..config() });
        feed(&mut queue, &[10, 90], 0, 150);
        feed(&mut queue, &[10, rtt_ms], 150, 350);
        queue.thresholds.clone().unwrap()[0]
    };
    assert!((thresholds(0.0, 94) - 0.052).abs() < 1e-9);
    assert!((thresholds(0.1, 94) - 0.050).abs() < 1e-9);
    assert!((thresholds(0.1, 120) - 0.065).abs() < 1e-9);
}

#[test]
fn the_mean_over_flows_does_not_care_who_sends_more() {
    let center = |mean| {
        let mut queue = splitbuff(SplitBuffConfig { mean, ..config() });
        let mut rtts = vec![10; 99];
        rtts.push(990);
        // one flow of 10 ms sends 99 packets a millisecond, one of 990 ms a single one
        let mut drops = Drops::new();
        for ms in 0..500_u64 {
            for &rtt_ms in &rtts {
                queue.enqueue(at(ms), packet(rtt_ms, ms as u32, rtt_ms), &mut drops);
                queue.dequeue(at(ms), &mut drops);
            }
        }
        queue.center_s
    };
    assert!((center(Mean::Packets) - 0.0198).abs() < 1e-9);
    assert!((center(Mean::Flows) - 0.5).abs() < 1e-9);
}

#[test]
fn gaps_take_as_many_sub_buffers_as_they_need() {
    let mut queue = splitbuff(SplitBuffConfig { sub_buffers: 4, thresholds: Thresholds::Gaps, ..config() });
    feed(&mut queue, &[10, 11, 300], 0, 250);
    let estimates = queue.estimates().unwrap();
    let thresholds: Vec<_> = estimates.classes.iter().map(|class| class.threshold).collect();
    assert!(thresholds[0].is_some() && thresholds[1..] == [None; 3], "{thresholds:?}");
    // (10 + 11 + 300)/3 ms at 100 Mbps are 1337 packets, in parts of 10.5 and 300; what has no class may hold one
    assert_eq!(limits(&queue), [45, 1292, 1, 1]);
    let state = |flows: u32| {
        let mut queue = splitbuff(SplitBuffConfig { thresholds: Thresholds::Gaps, ..config() });
        feed(&mut queue, &(0..flows).map(|flow| 10 + flow % 500).collect::<Vec<_>>(), 0, 150);
        queue.state_bytes()
    };
    assert_eq!(state(10), state(10_000));
    assert!(state(10) < 4_096);
}

#[test]
fn the_handshake_has_none_of_this_queue_in_it() {
    let mut queue =
        with_classes(Classes::Rtt(RttInformation::Handshake(bufferlab_estimator::SynEstimator::new(16))));
    let mut drops = Drops::new();
    let syn = Packet { kind: PacketKind::Syn, ..packet(0, 0, 0) };
    queue.enqueue(at(0), syn, &mut drops);
    queue.dequeue(at(70), &mut drops);
    for ms in 110..250 {
        queue.enqueue(at(ms), packet(0, ms as u32, 0), &mut drops);
        queue.dequeue(at(ms), &mut drops);
    }
    assert_eq!(queue.estimates().unwrap().whole.rtt, Some(Span::from_ms(40)));
}

/// The mean moves by its part of the packets times the difference; the parts of (4) stay.
#[test]
fn a_flow_that_lies_joins_those_whom_it_imitates() {
    let mut queue = splitbuff(config());
    feed(&mut queue, &[10, 10, 10, 990, 990, 990], 0, 300);
    let before = limits(&queue);
    // one of the long ones says 10 ms
    feed(&mut queue, &[10, 10, 10, 10, 990, 990], 300, 600);
    let after = limits(&queue);
    // the threshold stays between, (4) has the same parts, only the mean falls: by its part of the packets
    assert_eq!((before.clone(), after.clone()), (vec![62, 6187], vec![42, 4166]));
}
