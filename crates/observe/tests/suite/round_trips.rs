//! Round trips on both sides of the vantage point.

use bufferlab_capture::reading::{Content, Tcp};

use crate::packets::*;

#[test]
fn the_handshake_measures_both_sides() {
    let seen = observe(handshake());
    let ways = &seen.directions;
    assert_eq!(ways.rtt_samples, [1, 1]);
    assert_eq!(ways.rtt_min_ns, [20e6, 20e6]);
    assert_eq!(seen.connections.path_rtt_ns, [40e6]);
    // one sample a side says nothing of how far the minimum is
    assert_eq!(seen.connections.path_rtt_low_ns, [0.0]);
    assert_eq!((seen.connections.sender_share[0], seen.connections.vantage[0]), (0.5, 3));
}

#[test]
fn acknowledgments_measure_the_receivers_side() {
    let packets = (0..100).flat_map(|n| {
        let at = (50 + 40 * u64::from(n)) * MS;
        let rtt = (20 + u64::from(n % 10)) * MS;
        let (first, second) = (2 * n * 1_000, (2 * n + 1) * 1_000);
        [
            data(at, first, 1_000),
            data(at + 3 * MS, second, 1_000),
            ack(at + 3 * MS + rtt, second + 1_000, &[]),
        ]
    });
    let seen = observe_after_handshake(packets);
    let ways = &seen.directions;
    assert_eq!(ways.rtt_samples, [1, 101]);
    assert_eq!((ways.rtt_min_ns[1], ways.rtt_low_ns[1], ways.rtt_max_ns[1]), (20e6, 20e6, 29e6));
    for (estimate, exact) in [(ways.rtt_median_ns[1], 24e6), (ways.rtt_p90_ns[1], 28e6)] {
        assert!((estimate / exact - 1.0).abs() < 0.01, "{estimate}");
    }
}

#[test]
fn only_the_acknowledgment_of_the_last_byte_counts() {
    // an acknowledgment that was held back for the second segment
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(65 * MS, 1_000, 1_000),
        ack(86 * MS, 2_000, &[]),
    ]);
    assert_eq!((seen.directions.rtt_samples[1], seen.directions.rtt_max_ns[1]), (2, 21e6));
}

#[test]
fn sack_blocks_measure_while_data_is_lost() {
    // the first segment is lost; each of the others is acknowledged at once, 20 ms and a wait later
    let wait = |n: u32| u64::from(n % 10);
    let lost = (1..100_u32).flat_map(|n| {
        let at = (50 + 30 * u64::from(n)) * MS;
        [data(at, n * 1_000, 1_000), ack(at + (20 + wait(n)) * MS, 0, &[(1_000, (n + 1) * 1_000)])]
    });
    let seen = observe_after_handshake([data(50 * MS, 0, 1_000)].into_iter().chain(lost));
    let ways = &seen.directions;
    assert_eq!((ways.rtt_samples[1], ways.rtt_min_ns[1], ways.rtt_max_ns[1]), (100, 20e6, 29e6));
    assert!((ways.rtt_median_ns[1] / 24e6 - 1.0).abs() < 0.01);
}

#[test]
fn a_block_of_what_was_sent_twice_measures_nothing() {
    let seen = observe_after_handshake([
        data(50 * MS, 0, 1_000),
        data(51 * MS, 1_000, 1_000),
        data(80 * MS, 1_000, 1_000),
        ack(90 * MS, 0, &[(1_000, 2_000)]),
    ]);
    assert_eq!(seen.directions.rtt_samples[1], 1); // that of the handshake
}

/// Segments with timestamps: the server sends data, the client acknowledges.
fn stamped(
    at: u64,
    is_client: bool,
    (first, bytes): (u32, u32),
    stamps: (u32, u32),
) -> bufferlab_capture::reading::Packet {
    let (seq, ack, payload_bytes) = if is_client { (500, first + bytes, 0) } else { (first, 500, bytes) };
    segment(at, is_client, Tcp { seq, ack: Some(ack), payload_bytes, stamps: Some(stamps), ..Tcp::default() })
}

#[test]
fn timestamps_measure_the_side_of_the_data_sender() {
    // near the receiver: acknowledgments come at once, the data that they release 30 ms later
    let packets = (0..20_u32).flat_map(|n| {
        let at = u64::from(n) * 30 * MS;
        let stamp = 100 + n * 30;
        (0..5).flat_map(move |k| {
            let bytes = ((n * 5 + k) * 1_000, 1_000);
            let at = at + u64::from(k) * 5 * MS;
            [
                stamped(at, false, bytes, (stamp + 5 * k, (7 + stamp + 5 * k).saturating_sub(30))),
                stamped(at + MS, true, bytes, (7 + stamp + 5 * k, stamp + 5 * k)),
            ]
        })
    });
    let seen = observe(packets);
    // the higher port is the client's, as there is no SYN
    let ways = &seen.directions;
    assert_eq!(ways.rtt_min_ns, [29e6, 1e6]);
    assert!((ways.rtt_median_ns[0] / 29e6 - 1.0).abs() < 0.01);
    assert!(ways.rtt_samples[0] > 90, "{:?}", ways.rtt_samples);
    assert_eq!((seen.connections.vantage[0], seen.connections.path_rtt_ns[0]), (2, 30e6));
}

#[test]
fn an_echo_after_a_silence_counts_for_the_minimum_only() {
    let seen = observe([
        stamped(0, false, (0, 1_000), (100, 1)),
        stamped(MS, true, (0, 1_000), (200, 100)),
        stamped(5_000 * MS, false, (1_000, 1_000), (5_100, 200)),
    ]);
    let ways = &seen.directions;
    assert_eq!((ways.rtt_samples[0], ways.rtt_min_ns[0]), (1, 4_999e6));
    assert!(ways.rtt_median_ns[0].is_nan());
}

#[test]
fn pings_are_measured() {
    let echo = |at, is_client, sequence| {
        packet(at, is_client, 56, Content::Echo { reply: !is_client, identifier: 9, sequence })
    };
    let seen = observe([
        echo(0, true, 1),
        echo(10 * MS, true, 2),
        echo(25 * MS, false, 1),
        echo(33 * MS, false, 2),
        echo(99 * MS, false, 2),
    ]);
    assert_eq!((seen.connections.protocol[0], seen.connections.initiator_port[0]), (1, 9));
    assert_eq!(
        (seen.directions.rtt_samples[0], seen.directions.rtt_min_ns[0], seen.directions.rtt_max_ns[0]),
        (2, 23e6, 25e6)
    );
    assert!(seen.connections.path_rtt_ns[0].is_nan());
}

#[test]
fn the_spin_bit_measures_quic() {
    let byte = |at: u64| Some(0x40 | if at / 20 % 2 == 1 { 0x20 } else { 0 });
    let packets = (0..400).flat_map(|ms| {
        [datagram(ms * MS, true, 100, byte(ms)), datagram(ms * MS, false, 1_200, byte(ms.saturating_sub(15)))]
    });
    let seen = observe(packets);
    assert_eq!(seen.connections.is_spinning, [1]);
    assert_eq!(seen.directions.rtt_min_ns, [15e6, 5e6]);
    assert_eq!(seen.connections.path_rtt_ns, [20e6]);
    assert_eq!(seen.totals.spinning_bytes, 400 * (140 + 1_240));
    assert_eq!(seen.totals.quic_bytes, seen.totals.spinning_bytes);
}
