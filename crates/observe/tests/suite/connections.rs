//! What is counted of a connection.

use bufferlab_capture::reading::{Flags, Packet, Tcp};
use bufferlab_observe::Limits;

use crate::packets::*;

/// The row of the server's packets.
const SERVERS: usize = 1;

#[test]
fn a_transfer_is_counted_across_the_wrap_of_its_numbers() {
    let packets = (0..3).flat_map(|n| {
        let at = (50 + 40 * u64::from(n)) * MS;
        [data(at, n * 1_460, 1_460), ack(at + 20 * MS, (n + 1) * 1_460, &[])]
    });
    let seen = observe_after_handshake(packets);
    let all = &seen.connections;
    assert_eq!((all.initiator[0].as_str(), all.initiator_port[0]), ("10.0.0.2", 50_000));
    assert_eq!((all.responder[0].as_str(), all.responder_port[0]), ("198.51.100.7", 443));
    assert_eq!((all.first_ns[0], all.last_ns[0]), (START, START + 150 * MS));
    assert_eq!((all.direction[0], all.is_opened[0], all.has_sack[0], all.has_timestamps[0]), (0, 1, 1, 0));
    let ways = &seen.directions;
    assert_eq!(ways.packets, [5, 4]);
    assert_eq!(ways.direction, [0, 1]);
    assert_eq!(ways.payload_bytes, [0, 4_380]);
    assert_eq!(ways.ip_bytes, [200, 4_380 + 160]);
    assert_eq!(ways.segments, [0, 3]);
    assert_eq!(ways.largest_segment_bytes, [0, 1_460]);
    assert_eq!(ways.mss_bytes, [1_460, 1_460]);
    for zeros in
        [&ways.retransmitted_segments, &ways.missed_bytes, &ways.reordered_segments, &ways.strange_packets]
    {
        assert_eq!(*zeros, [0, 0]);
    }
}

#[test]
fn a_loss_behind_the_vantage_point_is_repaired_by_a_repetition() {
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(51 * MS, 1_000, 1_000),
        data(52 * MS, 2_000, 1_000),
        ack(70 * MS, 1_000, &[]),
        ack(72 * MS, 1_000, &[(2_000, 3_000)]),
        data(100 * MS, 1_000, 1_000),
        ack(120 * MS, 3_000, &[]),
    ]);
    let ways = &seen.directions;
    assert_eq!(ways.retransmitted_segments, [0, 1]);
    assert_eq!(ways.retransmitted_bytes, [0, 1_000]);
    assert_eq!(ways.loss_episodes, [0, 1]);
    assert_eq!((ways.lost_before_segments[SERVERS], ways.spurious_segments[SERVERS]), (0, 0));
    assert_eq!(ways.sack_packets, [1, 0]);
    // the repetition gives no round trip, nor does what it covers
    assert_eq!(ways.rtt_samples[SERVERS], 2);
    assert_eq!(ways.rtt_max_ns[SERVERS], 20e6);
}

#[test]
fn what_the_start_loses_is_apart_from_what_is_lost_later() {
    let repaired = |at: u64, n: u32| {
        [
            data(at, n, 1_000),
            data(at + MS, n + 1_000, 1_000),
            ack(at + 21 * MS, n, &[(n + 1_000, n + 2_000)]),
            data(at + 40 * MS, n, 1_000),
            ack(at + 60 * MS, n + 2_000, &[]),
        ]
    };
    // the second follows within two round trips of about 40 ms, the third is a second later
    let packets: Vec<_> = [(50, 0), (130, 2_000), (1_200, 4_000)]
        .into_iter()
        .flat_map(|(at, n)| repaired(at * MS, n))
        .collect();
    let ways = observe_after_handshake(packets.clone()).directions;
    assert_eq!((ways.loss_episodes[SERVERS], ways.retransmitted_segments[SERVERS]), (3, 3));
    assert_eq!((ways.start_segments[SERVERS], ways.start_retransmitted_segments[SERVERS]), (6, 2));
    let ways = observe(packets).directions;
    let own = ways.retransmitted_segments.iter().position(|&again| again > 0).expect("some were lost");
    assert_eq!((ways.start_segments[own], ways.start_retransmitted_segments[own]), (0, 0)); // no SYN was seen
}

#[test]
fn a_loss_before_the_vantage_point_leaves_a_hole() {
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(52 * MS, 2_000, 1_000),
        data(100 * MS, 1_000, 1_000),
        ack(120 * MS, 3_000, &[]),
    ]);
    let ways = &seen.directions;
    assert_eq!((ways.retransmitted_segments[SERVERS], ways.lost_before_segments[SERVERS]), (1, 1));
    assert_eq!((ways.reordered_segments[SERVERS], ways.missed_bytes[SERVERS]), (0, 0));
    assert_eq!(ways.loss_episodes[SERVERS], 1);
}

#[test]
fn losses_are_apart_without_acknowledgments_too() {
    let lost = |at, n: u32| {
        let mut packets =
            vec![data(at, n, 1_000), data(at + MS, n + 2_000, 1_000), data(at + 2 * MS, n + 4_000, 1_000)];
        packets.extend([data(at + 50 * MS, n + 1_000, 1_000), data(at + 51 * MS, n + 3_000, 1_000)]);
        packets
    };
    let seen = observe(lost(0, 0).into_iter().chain(lost(90 * MS, 5_000)));
    // there is no handshake: the server's direction is the responder's
    let ways = &seen.directions;
    assert_eq!((ways.retransmitted_segments[SERVERS], ways.lost_before_segments[SERVERS]), (4, 4));
    assert_eq!(ways.loss_episodes[SERVERS], 2);
}

#[test]
fn what_fills_a_hole_within_a_round_trip_was_reordered() {
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(52 * MS, 2_000, 1_000),
        data(60 * MS, 1_000, 1_000),
        ack(80 * MS, 3_000, &[]),
    ]);
    let ways = &seen.directions;
    assert_eq!((ways.reordered_segments[SERVERS], ways.retransmitted_segments[SERVERS]), (1, 0));
    assert_eq!(ways.loss_episodes[SERVERS], 0);
}

#[test]
fn a_repetition_that_the_receiver_reports_is_spurious() {
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(51 * MS, 1_000, 1_000),
        data(90 * MS, 0, 1_000),
        ack(100 * MS, 2_000, &[]),
        ack(110 * MS, 2_000, &[(0, 1_000)]),
    ]);
    let ways = &seen.directions;
    // also, the acknowledgment came 10 ms after it, where a round trip takes 20 ms
    assert_eq!((ways.spurious_segments[SERVERS], ways.dsack_segments[SERVERS]), (1, 1));
    assert_eq!(ways.retransmitted_segments[SERVERS], 1);
}

#[test]
fn acknowledged_data_that_was_not_seen_was_missed() {
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(52 * MS, 3_000, 1_000),
        ack(72 * MS, 4_000, &[]),
        ack(90 * MS, 9_000, &[]),
    ]);
    assert_eq!(seen.directions.missed_bytes, [0, 7_000]);
    // of a direction without a packet, nothing is missed
    let one_way = observe([ack(0, 0, &[]), ack(20 * MS, 5_000, &[]), ack(40 * MS, 9_000, &[])]);
    assert_eq!(one_way.directions.missed_bytes, [0, 0]);
}

#[test]
fn what_was_under_way_when_the_capture_began_was_not_missed() {
    // the acknowledgment comes first; then newer data than it acknowledges
    let flow = [ack(0, 5_000, &[]), data(MS, 40_000, 1_000), ack(21 * MS, 41_000, &[])];
    let seen = observe(flow);
    assert_eq!(seen.directions.missed_bytes, [0, 0]);
    // a repair comes first, and what lies beyond it had arrived before
    let repaired = [data(0, 5_000, 1_000), ack(20 * MS, 30_000, &[]), data(22 * MS, 50_000, 1_000)];
    let repaired = repaired.into_iter().chain([ack(42 * MS, 51_000, &[])]);
    assert_eq!(observe(repaired).directions.missed_bytes, [0, 0]);
    // once data was seen for a while, it was
    let later = [data(1_030 * MS, 43_000, 1_000), ack(1_051 * MS, 44_000, &[])];
    assert_eq!(observe(flow.into_iter().chain(later)).directions.missed_bytes, [0, 2_000]);
    // nor is it excused where the connection's beginning was seen
    assert_eq!(observe_after_handshake(flow).directions.missed_bytes, [0, 40_000]);
}

#[test]
fn large_packets_stand_for_segments() {
    let seen = observe_after_handshake([data(50 * MS, 0, 14_600), data(51 * MS, 14_600, 1_000)]);
    let ways = &seen.directions;
    assert_eq!((ways.large_packets[SERVERS], ways.large_segments[SERVERS]), (1, 10));
    assert_eq!((ways.segments[SERVERS], ways.largest_segment_bytes[SERVERS]), (11, 1_000));
    // ten frames with 54 bytes of headers each, one more, and the SYN's
    assert_eq!(seen.links.frame_bytes[SERVERS], 14_600 + 1_000 + 3 * 54);
    assert_eq!(seen.links.wire_bytes[SERVERS], 14_600 + 1_000 + 12 * 54);
}

#[test]
fn a_syn_with_another_number_is_another_connection() {
    let again = |seq| Packet { at_ns: START + 400 * MS, ..syn(0, true, seq, None) };
    assert_eq!(observe_after_handshake([again(CLIENT_ISN)]).totals.connections, 1);
    let seen = observe_after_handshake([data(50 * MS, 0, 1_000), again(77)]);
    assert_eq!(seen.totals.connections, 2);
    assert_eq!(seen.connections.first_ns, [START, START + 400 * MS]);
    assert_eq!(seen.directions.packets, [2, 2, 1, 0]);
}

#[test]
fn datagrams_after_a_silence_are_another_connection() {
    let at = [0, 119, 239, 359 + 1].map(|seconds| datagram(seconds * 1_000 * MS, true, 100, None));
    let seen = observe(at);
    assert_eq!(seen.connections.first_ns, [START, START + 360_000 * MS]);
    assert_eq!(seen.connections.is_opened, [1, 1]);
    assert_eq!(seen.totals.quic_bytes, 560);
}

#[test]
fn the_silent_are_evicted_and_those_with_the_most_bytes_reported() {
    let limits = Limits { flows: 2, rows: 2, ..Limits::default() };
    let flow = |port: u16, at: u64, payload_bytes: u32| {
        let tcp = Tcp { payload_bytes, ack: Some(1), ..Tcp::default() };
        let mut packet = segment(at, true, tcp);
        let bufferlab_capture::reading::Content::Tcp(tcp) = &mut packet.content else { unreachable!() };
        tcp.source_port = port;
        packet
    };
    let packets = [flow(1, 0, 900), flow(2, 1, 10), flow(1, 2, 20), flow(3, 3, 30), flow(4, 4, 40)];
    let seen = observe_with(limits, packets);
    assert_eq!((seen.totals.connections, seen.totals.evicted_connections), (4, 2));
    assert_eq!((seen.totals.left_out_connections, seen.totals.left_out_bytes), (2, 10 + 30 + 80));
    // without a SYN, the end with the higher port counts as the client
    assert_eq!(seen.connections.responder_port, [1, 4]);
    assert_eq!(seen.connections.is_evicted, [1, 0]);
}

#[test]
fn congestion_bits_and_closed_windows_are_counted() {
    let with_ecn = |ecn: u8, packet: Packet| Packet { ecn, ..packet };
    let flags = Flags { ece: true, ..Flags::default() };
    let mut closed =
        segment(62 * MS, true, Tcp { seq: CLIENT_ISN + 1, ack: Some(SERVER_ISN), flags, ..Tcp::default() });
    if let bufferlab_capture::reading::Content::Tcp(tcp) = &mut closed.content {
        tcp.window = 0;
    }
    let seen = observe_after_handshake([
        with_ecn(2, data(50 * MS, 0, 100)),
        with_ecn(1, data(51 * MS, 100, 100)),
        with_ecn(3, data(52 * MS, 200, 100)),
        closed,
    ]);
    let ways = &seen.directions;
    assert_eq!((ways.ect0_packets[1], ways.ect1_packets[1], ways.ce_packets[1]), (1, 1, 1));
    assert_eq!((ways.ece_packets[0], ways.zero_windows[0]), (1, 1));
}

#[test]
fn echoes_of_one_mark_are_one_until_the_sender_answers() {
    let flagged = |mut packet: Packet, flags: Flags| {
        if let bufferlab_capture::reading::Content::Tcp(tcp) = &mut packet.content {
            tcp.flags = flags;
        }
        packet
    };
    let echo = |at, n| flagged(ack(at, n, &[]), Flags { ece: true, ..Flags::default() });
    let answer = flagged(data(90 * MS, 3_000, 1_000), Flags { cwr: true, ..Flags::default() });
    let mut packets: Vec<_> = (0..3).map(|n| data((50 + u64::from(n)) * MS, n * 1_000, 1_000)).collect();
    packets.extend([echo(70 * MS, 1_000), echo(71 * MS, 2_000), echo(72 * MS, 3_000), answer]);
    let once = observe_after_handshake(packets.clone()).directions;
    assert_eq!((once.mark_episodes[SERVERS], once.ece_packets[0]), (1, 3));
    // what is behind the answer was marked, too
    packets.push(echo(110 * MS, 4_000));
    assert_eq!(observe_after_handshake(packets).directions.mark_episodes[SERVERS], 2);
}

#[test]
fn a_packet_that_the_capture_has_twice_is_no_repetition() {
    let numbered = |id, packet: Packet| Packet { identification: Some(id), ..packet };
    let seen = observe_after_handshake([
        numbered(7, data(50 * MS, 0, 1_000)),
        numbered(7, data(50 * MS + 10, 0, 1_000)),
        numbered(8, data(90 * MS, 0, 1_000)),
    ]);
    let ways = &seen.directions;
    assert_eq!((ways.doubled_packets[SERVERS], ways.retransmitted_segments[SERVERS]), (1, 1));
}

#[test]
fn probes_of_a_silent_connection_are_no_repetitions() {
    let probe = |at| data(at, 999, 1);
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        ack(70 * MS, 1_000, &[]),
        probe(5_000 * MS),
        probe(9_000 * MS),
    ]);
    assert_eq!(seen.directions.retransmitted_segments, [0, 0]);
}

#[test]
fn times_that_go_back_are_reported() {
    let seen = observe([
        datagram(5 * MS, true, 1, None),
        datagram(2 * MS, false, 1, None),
        datagram(6 * MS, true, 1, None),
    ]);
    assert_eq!((seen.totals.backward_packets, seen.totals.backward_ns), (1, 3 * MS));
    assert_eq!((seen.totals.first_ns, seen.totals.last_ns), (START + 5 * MS, START + 6 * MS));
}

#[test]
fn interfaces_are_apart_unless_they_are_joined() {
    let at = |interface, packet: Packet| Packet { interface, ..packet };
    let packets = || {
        [
            at(0, datagram(0, true, 1, None)),
            at(1, datagram(1, false, 1, None)),
            at(9, datagram(2, true, 1, None)),
        ]
    };
    let limits = Limits { interfaces: 2, ..Limits::default() };
    let apart = observe_with(limits.clone(), packets());
    assert_eq!(
        (apart.connections.interface.as_slice(), apart.totals.other_interface_packets),
        ([0, 1].as_slice(), 1)
    );
    let joined = observe_with(Limits { joined: true, ..limits }, packets());
    assert_eq!(joined.directions.packets, [1, 1]);
}

#[test]
fn what_has_no_end_in_a_named_network_is_left_out() {
    let named = |network: &str| Limits { only: vec![(network.parse().unwrap(), 24)], ..Limits::default() };
    let packets = || [datagram(0, true, 1, None), datagram(1, false, 1, None)];
    let source = datagram(0, true, 1, None).source.to_string();
    assert_eq!(observe_with(named(&source), packets()).totals.packets, 2);
    assert_eq!(observe_with(named("203.0.113.0"), packets()).totals.packets, 0);
}
