//! What holds for any sequence of packets.

use std::net::{IpAddr, Ipv4Addr};

use bufferlab_capture::reading::{Content, Edges, Flags, Packet, Tcp, Udp};
use bufferlab_observe::{Limits, Table};
use proptest::prelude::*;

use crate::packets::{MS, START, data, observe_with};

fn tcp() -> impl Strategy<Value = Content> {
    let numbers = (0_u32..20_000, prop::option::of(0_u32..20_000), prop_oneof![0_u32..2_000, 0_u32..70_000]);
    let wild = (any::<u32>(), prop::option::of(any::<u32>()), any::<u32>());
    let flags =
        (prop::bool::weighted(0.05), prop::bool::weighted(0.05), prop::bool::weighted(0.03), any::<bool>());
    let options = (
        prop::option::of((0_u32..500, 0_u32..500)),
        prop::collection::vec((0_u32..20_000, 0_u32..20_000), 0..3),
        prop::option::of(any::<u16>()),
        0_u16..3,
    );
    let ends = (0_u16..3, 0_u16..3);
    (prop_oneof![9 => numbers, 1 => wild], flags, options, ends).prop_map(
        |(numbers, flags, options, ends)| {
            let mut sacks = Edges::default();
            options.1.iter().for_each(|&(left, right)| sacks.push(left, right));
            Content::Tcp(Tcp {
                source_port: ends.0,
                destination_port: ends.1,
                seq: numbers.0,
                ack: numbers.1,
                payload_bytes: numbers.2,
                flags: Flags { syn: flags.0, fin: flags.1, rst: flags.2, ece: flags.3, ..Flags::default() },
                stamps: options.0,
                sacks,
                mss: options.2,
                window: options.3,
                ..Tcp::default()
            })
        },
    )
}

fn content() -> impl Strategy<Value = Content> {
    let udp =
        (0_u16..3, 0_u16..3, 0_u32..1_500, prop::option::of(any::<u8>())).prop_map(|(a, b, bytes, first)| {
            let port = |port| [443, 50_000, 53][usize::from(port)];
            let (source_port, destination_port) = (port(a), port(b));
            Content::Udp(Udp { source_port, destination_port, payload_bytes: bytes, first_byte: first })
        });
    let echo = (any::<bool>(), 0_u16..2, 0_u16..9).prop_map(|(reply, identifier, sequence)| Content::Echo {
        reply,
        identifier,
        sequence,
    });
    prop_oneof![8 => tcp(), 3 => udp, 2 => echo, 1 => Just(Content::Fragment), 1 => Just(Content::Cut), 1 => Just(Content::Other(50))]
}

prop_compose! {
    fn packet()(
        content in content(),
        step in prop_oneof![0_u64..1_000, 0_u64..30_000_000, 0_u64..400_000_000_000],
        ends in (0_u8..3, 0_u8..3),
        interface in 0_u32..3,
        sizes in (any::<u16>(), any::<u16>()),
        ecn in 0_u8..4,
        identification in prop::option::of(0_u16..50),
    ) -> (u64, Packet) {
        let address = |last| IpAddr::V4(Ipv4Addr::new(192, 0, 2, last));
        let packet = Packet {
            at_ns: 0,
            interface,
            frame_bytes: sizes.0.into(),
            ip_bytes: sizes.1.into(),
            source: address(ends.0),
            destination: address(ends.1),
            ecn,
            dscp: 0,
            identification,
            tunneled: false,
        outbound: None,
        stations: None,
            content,
        };
        (step, packet)
    }
}

fn limits() -> impl Strategy<Value = Limits> {
    (1_usize..6, 1_usize..200, 1_usize..4, any::<bool>()).prop_map(|(flows, rows, interfaces, joined)| {
        Limits { flows, rows, bins: 8, interfaces, joined, ..Limits::default() }
    })
}

proptest! {
    #[test]
    fn packets_and_bytes_are_conserved(
        steps in prop::collection::vec(packet(), 0..200),
        limits in limits(),
    ) {
        let mut at = START;
        let packets: Vec<_> = steps.into_iter().map(|(step, packet)| {
            at += step;
            Packet { at_ns: at, ..packet }
        }).collect();
        let seen = observe_with(limits.clone(), packets.iter().copied());
        prop_assert_eq!(&observe_with(limits.clone(), packets.iter().copied()).totals, &seen.totals);

        let totals = &seen.totals;
        let has_ports = |packet: &&Packet| !matches!(packet.content, Content::Fragment | Content::Other(_) | Content::Cut);
        let kept = || packets.iter().filter(|packet| (packet.interface as usize) < limits.interfaces).filter(has_ports);
        let bytes: u64 = kept().map(|packet| u64::from(packet.ip_bytes)).sum();
        prop_assert_eq!(seen.directions.ip_bytes.iter().sum::<u64>() + totals.left_out_bytes, bytes);
        if totals.left_out_connections == 0 {
            prop_assert_eq!(seen.directions.packets.iter().sum::<u64>(), kept().count() as u64);
        }
        let at_links = packets.iter().filter(|packet| (packet.interface as usize) < limits.interfaces);
        prop_assert_eq!(seen.links.packets.iter().sum::<u64>(), at_links.count() as u64);
        prop_assert_eq!(seen.seconds.packets.iter().sum::<u64>(), seen.links.packets.iter().sum::<u64>());
        prop_assert_eq!(seen.seconds.wire_bytes.iter().sum::<u64>(), seen.links.wire_bytes.iter().sum::<u64>());
        prop_assert_eq!(seen.moments.samples.iter().sum::<u64>(), seen.queueing.samples.iter().sum::<u64>());
        let begun = if totals.left_out_connections == 0 { seen.connections.is_opened.iter().sum() } else { 0 };
        prop_assert!(seen.seconds.new_flows.iter().sum::<u64>() >= u64::from(begun));
        prop_assert!(seen.seconds.packets.len() <= limits.bins * 2 * limits.interfaces);
        let rows = seen.connections.connection.len() as u64;
        prop_assert_eq!(rows + totals.left_out_connections, totals.connections);
        prop_assert!(rows <= limits.rows as u64);
        for row in 0..seen.directions.packets.len() {
            let ways = &seen.directions;
            prop_assert!(ways.retransmitted_segments[row] + ways.reordered_segments[row] <= ways.segments[row]);
            prop_assert!(ways.retransmitted_bytes[row] <= ways.payload_bytes[row]);
            prop_assert!(ways.lost_before_segments[row] <= ways.retransmitted_segments[row]);
            let [low, min, max] = [ways.rtt_low_ns[row], ways.rtt_min_ns[row], ways.rtt_max_ns[row]];
            prop_assert!(low <= min || (low.is_nan() && min.is_nan()));
            prop_assert!(min <= max || max.is_nan());
        }
        let lengths: Vec<_> = seen.directions.into_columns().into_iter().map(|(_, column)| length(&column)).collect();
        prop_assert!(lengths.iter().all(|&length| length as u64 == 2 * rows));
    }
}

#[test]
fn a_time_that_both_neighbors_contradict_is_as_of_the_next() {
    let second = 1_000_000_000;
    let times = |wrong: &[(usize, u64)]| {
        let packets = (0..1_000).map(|n: usize| {
            let at = wrong.iter().find(|&&(place, _)| place == n).map_or(n as u64 * MS, |&(_, at)| at);
            data(at, n as u32 * 100, 100)
        });
        observe_with(Limits::default(), packets).totals
    };
    let right = times(&[]);
    for at in [3 * second, 3_600 * second, u64::MAX - START] {
        for place in [0, 1, 500, 996] {
            let totals = times(&[(place, at), (place + 2, at)]);
            assert_eq!((totals.wrong_times, totals.backward_packets), (2, 0), "{place} {at}");
            assert_eq!((totals.last_ns, totals.packets), (right.last_ns, 1_000));
        }
    }
    // a little late, earlier, and the last one, of which nobody knows
    for (place, at) in [(500, second), (500, 0), (999, 3_600 * second)] {
        assert_eq!(times(&[(place, at)]).wrong_times, 0, "{place} {at}");
    }
    // the second of two captures in one file is earlier
    let joined =
        (0..1_000).map(|n| data((n % 500 + 3_600_000 * u64::from(n < 500)) * MS, n as u32 * 100, 100));
    assert_eq!(observe_with(Limits::default(), joined).totals.wrong_times, 0);
}

fn length(column: &bufferlab_observe::Column) -> usize {
    use bufferlab_observe::Column::{F64, Text, U32, U64};
    match column {
        U32(values) => values.len(),
        U64(values) => values.len(),
        F64(values) => values.len(),
        Text(values) => values.len(),
    }
}
