use std::iter;

use bufferlab_congestion::{AnyControl, Bbr1, CongestionControl, Fixed, Growth, Reno};

use bufferlab_units::Stream;

use super::*;
use crate::config::MAX_PACKET_SEGMENTS;
use crate::sender::Sender;
use crate::sender::tests::{Pair, config, every, lose_once};
use crate::{Ack, Load, Recovery, SackBlocks, TcpConfig};

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Round trips of 100 ms are known from the handshake; packets of up to this number of segments.
fn packed(recovery: Recovery, segments: u32) -> TcpConfig {
    TcpConfig {
        handshake: true,
        ack_every: 2,
        offload: Some(Offload::Segments(segments)),
        ..config(recovery)
    }
}

/// Packets as Linux sizes them.
fn automatic() -> TcpConfig {
    TcpConfig { mss_bytes: 1448, offload: Some(Offload::Auto), ..config(Recovery::Linux) }
}

/// The packets that leave at a moment: first segment and size.
fn sent<F>(pair: &Pair<F>, ms: u64) -> Vec<(u32, u32)> {
    let log = pair.log.iter().zip(&pair.sizes);
    log.filter(|((then, _), _)| *then == at(1000 * ms))
        .map(|((_, segment), size)| (segment.seq, *size))
        .collect()
}

#[test]
fn a_window_leaves_in_packets_and_is_acknowledged_by_packets() {
    let mut pair = Pair::new(&packed(Recovery::Sack, 4), Fixed::new(10).into(), |_| false);
    pair.run(350);
    assert_eq!(sent(&pair, 0), [(0, 1)], "the SYN");
    // the last two wait for nothing: their acknowledgment is further away than half a round trip
    assert_eq!(sent(&pair, 100), [(0, 4), (4, 4), (8, 2)]);
    assert_eq!(sent(&pair, 200), [(10, 4), (14, 4), (18, 2)]);
    assert_eq!(pair.sender.counters().sent, 30);
    assert_eq!(pair.receiver.delivered(), 30);
}

#[test]
fn a_packet_holds_at_most_half_of_the_window() {
    let mut pair = Pair::new(&packed(Recovery::Sack, 44), Fixed::new(10).into(), |_| false);
    pair.run(150);
    assert_eq!(sent(&pair, 100), [(0, 5), (5, 5)]);
}

#[test]
fn a_lost_packet_is_sent_again_as_one() {
    for recovery in [Recovery::Sack, Recovery::Linux] {
        let mut pair = Pair::new(&packed(recovery, 5), Fixed::new(20).into(), lose_once([5]));
        pair.run(2_000);
        let again = pair
            .log
            .iter()
            .zip(&pair.sizes)
            .filter(|((_, segment), _)| segment.kind == SegmentKind::Retransmission);
        let again: Vec<_> = again.map(|((_, segment), size)| (segment.seq, *size)).collect();
        assert_eq!(again, [(5, 5)], "{recovery:?}");
        assert_eq!(pair.sender.counters().retransmissions, 5);
        assert_eq!(pair.sender.counters().timeouts, 0);
    }
}

#[test]
fn whatever_is_lost_all_comes_in_the_end() {
    for recovery in every() {
        let mut state = 1_u32;
        let lose = move |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 28 == 0
        };
        let control = Reno::new(10, None, Growth::PerSegment).into();
        let mut pair = Pair::sending(2_000, &packed(recovery, 6), control, lose);
        pair.run(10_000_000);
        assert_eq!(pair.receiver.delivered(), 2_000, "{recovery:?}");
        assert!(pair.sizes.iter().all(|size| *size <= 6));
        assert!(pair.sizes.iter().filter(|size| **size > 1).count() > 200, "{recovery:?}");
    }
}

/// A sender with a window of 12 segments, sent as three packets of 4 at 100 ms.
fn started() -> Sender {
    let mut sender = Sender::new(&packed(Recovery::Sack, 4), Load::ENDLESS, Fixed::new(12).into());
    sender.start();
    sender.poll_transmit(at(0));
    sender.on_ack(at(100_000), &Ack { syn: true, ..Ack::default() }, &SackBlocks::NONE);
    assert_eq!(polled(&mut sender, 100_000), [(0, 4), (4, 4), (8, 4)]);
    sender
}

fn polled(sender: &mut Sender, us: u64) -> Vec<(u32, u32)> {
    let next = || sender.poll_transmit(at(us)).map(|segment| (segment.seq, sender.segments_in_packet()));
    iter::from_fn(next).collect()
}

fn acked(sender: &mut Sender, us: u64, ack: u32) -> Vec<(u32, u32)> {
    sender.on_ack(at(us), &Ack { ack, ..Ack::default() }, &SackBlocks::NONE);
    polled(sender, us)
}

#[test]
fn little_room_waits_for_more_if_that_comes_soon() {
    let mut sender = started();
    // the last departure is long ago
    assert_eq!(acked(&mut sender, 200_000, 2), [(12, 2)]);
    // now it is not, and one segment is less than a third of the window
    assert_eq!(acked(&mut sender, 200_500, 3), []);
    assert_eq!(acked(&mut sender, 200_800, 6), [(14, 4)]);
    // a millisecond later nothing waits
    assert_eq!(acked(&mut sender, 201_801, 7), [(18, 1)]);
}

#[test]
fn a_third_of_the_window_does_not_wait() {
    let mut sender = Sender::new(&packed(Recovery::Sack, 44), Load::ENDLESS, Fixed::new(12).into());
    sender.start();
    sender.poll_transmit(at(0));
    sender.on_ack(at(100_000), &Ack { syn: true, ..Ack::default() }, &SackBlocks::NONE);
    assert_eq!(polled(&mut sender, 100_000), [(0, 6), (6, 6)]);
    assert_eq!(acked(&mut sender, 200_000, 1), [(12, 1)]);
    assert_eq!(acked(&mut sender, 200_100, 4), []);
    assert_eq!(acked(&mut sender, 200_200, 5), [(13, 4)]);
}

#[test]
fn the_last_data_does_not_wait() {
    let load = Load { segments: 13, bursts: None };
    let mut sender = Sender::new(&packed(Recovery::Sack, 4), load, Fixed::new(12).into());
    sender.start();
    sender.poll_transmit(at(0));
    sender.on_ack(at(100_000), &Ack { syn: true, ..Ack::default() }, &SackBlocks::NONE);
    assert_eq!(polled(&mut sender, 100_000), [(0, 4), (4, 4), (8, 4)]);
    assert_eq!(acked(&mut sender, 200_000, 1), [(12, 1)]);
}

/// A control's packets once the round-trip time is known.
fn suited(control: impl Into<AnyControl>, rtt_us: u64) -> u32 {
    let mut sender = Sender::new(&automatic(), Load::ENDLESS, control.into());
    assert_eq!(sender.most_segments(), 45, "as much as there is room for, before there is a pace");
    sender.rtt.estimator.update(Span::from_us(rtt_us));
    sender.most_segments()
}

#[test]
fn packets_are_a_millisecond_of_the_pace_and_more_on_short_paths() {
    // 2 windows a round trip: 20,000 segments of 1448 bytes a second, 28,281 bytes in 1/1024 s; 100 ms allow nothing more
    assert_eq!(suited(Fixed::new(1_000), 100_000), 19);
    // 1.2 windows above half of the threshold: 16,968 bytes
    assert_eq!(suited(Reno::new(1_000, Some(100), Growth::PerSegment), 100_000), 11);
    // 4,000 segments a second, 5,656 bytes; 1 ms allows 65,215 / 2 bytes more
    assert_eq!(suited(Fixed::new(2), 1_000), 26);
    // 4 ms allow 65,215 / 128 bytes: 1,414 + 509 bytes are one segment, and two the least
    assert_eq!(suited(Fixed::new(2), 4_000), 2);
    assert_eq!(suited(Fixed::new(100_000), 1_000), 45);
}

#[test]
fn packets_of_bbr_follow_its_own_pace() {
    let mut sender =
        Sender::new(&automatic(), Load::ENDLESS, Bbr1::new(10, 1448, Stream::new(1, 0, 0)).into());
    sender.rtt.estimator.update(Span::from_ms(100));
    let pace = sender.control.pacing();
    // 10 segments in the first millisecond that it assumes, 2.885 times as fast: 40 KB in 1/1024 s
    assert_eq!(
        pace.map(|rate| (rate * 1448.0 / 1024.0 / 1448.0) as u32),
        Some(sender.most_segments()),
        "{pace:?}"
    );
}

#[test]
fn what_is_sent_again_in_part_is_a_packet_of_its_own() {
    let mut packetizer = Packetizer::new(Offload::Segments(8), 1448);
    packetizer.packets = [(0, at(1)), (8, at(2)), (16, at(3))].into();
    assert_eq!((packetizer.end_of(0, 24), packetizer.end_of(9, 24), packetizer.end_of(20, 24)), (8, 16, 24));
    packetizer.split(at(9), 10, 12, 24);
    assert_eq!(packetizer.packets, [(0, at(1)), (8, at(2)), (10, at(9)), (12, at(2)), (16, at(3))]);
    packetizer.split(at(10), 16, 24, 24);
    assert_eq!(packetizer.packets.back(), Some(&(16, at(10))));
    packetizer.forget_below(11);
    assert_eq!(packetizer.packets, [(10, at(9)), (12, at(2)), (16, at(10))]);
}

#[test]
fn sizes_keep_to_64_kilobytes() {
    assert_eq!(
        (most_by_size(1448), most_by_size(8948), most_by_size(65_215), most_by_size(65_216)),
        (45, 7, 1, 1)
    );
    assert_eq!(most_by_size(100), MAX_PACKET_SEGMENTS);
}
