//! What the document leaves open: how delays are measured, and flows that state no round-trip time.

use super::tests::packet;
use super::*;
use crate::RttInformation;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_ms(ms)
}

/// At 8 Mbps, where a packet takes a millisecond.
fn splitbuff(config: SplitBuffConfig) -> SplitBuff {
    let update = Span::from_ms(100);
    let config = SplitBuffConfig { update, first_update: Some(update), ..config };
    let rate = Rate::from_bps(8_000_000).unwrap();
    SplitBuff::new(config, Classes::Rtt(RttInformation::Header), Limit::Packets(1_000), rate)
}

/// The smoothed delay, ms, after a period in which each of 99 arrivals found ten packets and the last to leave waited 10 ms.
fn delay_ms(delays: Delays) -> f64 {
    let mut queue = splitbuff(SplitBuffConfig { delays, ..SplitBuffConfig::default() });
    let mut drops = Drops::new();
    for seq in 0..10 {
        queue.enqueue(at(0), packet(0, seq, 50), &mut drops);
    }
    for ms in 1..100 {
        queue.enqueue(at(ms), packet(0, 9 + ms as u32, 50), &mut drops);
        queue.dequeue(at(ms), &mut drops);
    }
    queue.enqueue(at(100), packet(0, 200, 50), &mut drops);
    queue.delay_s * 1e3
}

#[test]
fn departures_give_their_waits_and_arrivals_the_queue_before_them() {
    // the first ten left after 1 to 10 ms, all others after 10 ms
    let departures = (f64::from((1..=10).sum::<i32>()) + 89.0 * 10.0) / 99.0;
    // the first ten found 0 to 9 packets, the 99 that followed 10 each
    let arrivals = (f64::from((0..10).sum::<i32>()) + 99.0 * 10.0) / 109.0;
    assert!((delay_ms(Delays::Departures) - departures).abs() < 1e-9, "{}", delay_ms(Delays::Departures));
    assert!((delay_ms(Delays::Arrivals) - arrivals).abs() < 1e-9, "{}", delay_ms(Delays::Arrivals));
}

#[test]
fn the_queue_before_an_arrival_takes_longer_if_another_sub_buffer_is_served_too() {
    let mut queue = splitbuff(SplitBuffConfig { delays: Delays::Arrivals, ..SplitBuffConfig::default() });
    let mut drops = Drops::new();
    for (flow, rtt_ms) in [(0, 10), (1, 100)] {
        queue.enqueue(at(0), packet(flow, 0, rtt_ms), &mut drops);
        queue.dequeue(at(0), &mut drops);
    }
    queue.enqueue(at(100), packet(0, 1, 10), &mut drops);
    assert!((queue.drain_s(0) - 0.001).abs() < 1e-12);
    queue.enqueue(at(100), packet(1, 1, 100), &mut drops);
    assert!((queue.drain_s(0) - 0.002).abs() < 1e-12);
}

#[test]
fn silent_flows_wait_with_the_shortest_and_count_in_no_mean() {
    let counted = |silent: f64| {
        let mut queue = splitbuff(SplitBuffConfig { silent, ..SplitBuffConfig::default() }).with_silent(7);
        let mut drops = Drops::new();
        for flow in 0..1_000 {
            queue.enqueue(at(0), packet(flow, 0, 100), &mut drops);
            queue.dequeue(at(0), &mut drops);
        }
        queue.sums.packets
    };
    assert_eq!((counted(0.0), counted(1.0)), (1_000, 0));
    assert!(counted(0.25).abs_diff(750) < 50, "{}", counted(0.25));
}
