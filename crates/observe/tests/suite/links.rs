//! What is known of a link after a transfer that fills it.

use bufferlab_capture::reading::{Content, Packet};
use bufferlab_observe::Observation;

use crate::packets::*;

/// The server's packets come in.
const IN: usize = 1;
/// Frames of 1500 bytes, one a millisecond: 12 Mbit/s.
const PAYLOAD: u32 = 1_446;
const SECONDS: u64 = 13;

/// A sender with 80 packets under way over a link of 12 Mbit/s with a round trip of 20 ms, which ends with the handshake's: the queue holds
/// 60 packets, 60 ms. Captured where packets join the queue, or where they leave it; all of the propagation is beyond it.
fn transfer(before_the_queue: bool) -> Observation {
    let mut packets = handshake();
    let (mut joins, mut leaves) = (vec![50 * MS; 80], 50 * MS);
    for n in 0..(SECONDS * 1_000) as usize {
        leaves = leaves.max(joins[n]) + MS;
        let acknowledged = leaves + 20 * MS;
        let first = n as u32 * PAYLOAD;
        packets.push(data(if before_the_queue { joins[n] } else { leaves }, first, PAYLOAD));
        packets.push(ack(acknowledged, first + PAYLOAD, &[]));
        joins.push(acknowledged);
    }
    packets.sort_by_key(|packet| (packet.at_ns, packet.source == SERVER));
    observe(packets)
}

fn is_near(estimate: f64, exact: f64) -> bool {
    (estimate / exact - 1.0).abs() < 0.01
}

#[test]
fn before_the_queue_the_rate_is_what_is_acknowledged() {
    let seen = transfer(true);
    let links = &seen.links;
    assert_eq!((links.direction.as_slice(), links.is_queue_ahead[IN]), ([0, 1].as_slice(), 1));
    assert_eq!((links.rate_by[IN], links.queued_1s_windows[IN]), (1, SECONDS - 1));
    assert!(is_near(links.rate_bps[IN], 12e6), "{}", links.rate_bps[IN]);
    assert!(links.rate_error_bps[IN] < 0.02e6, "{}", links.rate_error_bps[IN]);
    assert_eq!(links.plateau_1s_share[IN], 1.0);
    assert!(is_near(links.steady_1s_bps[IN], 12e6), "{}", links.steady_1s_bps[IN]);
    assert!(links.steady_1s_share[IN] > 0.9 && links.steady_1s_windows[IN] >= SECONDS - 1);
    // nothing waits for the other direction
    assert_eq!((links.rate_by[0], links.queued_1s_windows[0]), (0, 0));
    assert!(links.rate_bps[0].is_nan());

    let queueing = &seen.queueing;
    assert_eq!(
        (queueing.direction.as_slice(), queueing.is_ahead.as_slice()),
        ([1].as_slice(), [1].as_slice())
    );
    // 80 under way, of which one is in transmission and the link holds 20; and the transmission itself
    assert!(is_near(queueing.median_ns[0], 60e6), "{}", queueing.median_ns[0]);
    assert_eq!((queueing.loss_episodes[0], queueing.is_filled[0]), (0, 0));
    assert!(queueing.depth_ns[0].is_nan());
    let late =
        seen.moments.start_ns.iter().zip(&seen.moments.median_ns).filter(|(at, _)| **at > START + 500 * MS);
    assert!(late.clone().count() > 100);
    assert!(late.into_iter().all(|(_, &median)| is_near(median, 60e6)));
}

#[test]
fn behind_the_queue_packets_are_apart_as_the_link_sends_them() {
    let seen = transfer(false);
    let links = &seen.links;
    assert_eq!((links.rate_by[IN], links.dispersion_pairs[IN]), (3, SECONDS * 1_000 - 1));
    assert!((links.rate_bps[IN] - 12e6).abs() < 1.0, "{}", links.rate_bps[IN]);
    assert_eq!(links.dispersion_share[IN], 1.0);
    // one train from when the rate was known to the end
    let of = |quantity: &str| -> Vec<(f64, u64)> {
        let all = &seen.distributions;
        let rows =
            (0..all.count.len()).filter(|&row| all.quantity[row] == quantity && all.direction[row] == 1);
        rows.map(|row| (all.value[row], all.count[row])).collect()
    };
    let trains = of("train_packets");
    assert_eq!((trains.len(), trains[0].1), (1, 1));
    assert!(is_near(trains[0].0, (SECONDS * 1_000 - 256) as f64));
}

#[test]
fn long_flows_are_counted_from_when_they_are_long() {
    let seen = transfer(true);
    let seconds = &seen.seconds;
    let long: Vec<_> = (0..seconds.packets.len())
        .filter(|&row| seconds.direction[row] == 1)
        .map(|row| seconds.long_flows[row])
        .collect();
    assert_eq!(long[..3], [0, 1, 1]);
    assert_eq!(seconds.new_flows.iter().sum::<u64>(), 1);
    assert!(!seen.distributions.quantity.iter().any(|quantity| quantity == "short_flow_bytes"));
}

#[test]
fn short_flows_have_sizes_and_times_between_them() {
    let other = |port: u16, packet: Packet| {
        let mut packet = packet;
        if let Content::Udp(udp) = &mut packet.content {
            let client =
                if udp.source_port == 443 { &mut udp.destination_port } else { &mut udp.source_port };
            *client = port;
        }
        packet
    };
    let flows = (0..5).flat_map(|n| {
        let at = u64::from(n) * 40 * MS;
        [
            other(50_000 + n, datagram(at, true, 50, None)),
            other(50_000 + n, datagram(at + MS, false, 60, None)),
        ]
    });
    let seen = observe(flows);
    let all = &seen.distributions;
    let rows: Vec<_> = (0..all.count.len())
        .map(|row| (all.direction[row], all.quantity[row].as_str(), all.value[row], all.count[row]))
        .collect();
    assert_eq!(rows[0], (0, "short_flow_bytes", 50.0, 5));
    assert_eq!((rows[1].1, rows[1].3), ("interarrival_ns", 4));
    assert!(is_near(rows[1].2, 40e6));
    assert_eq!(rows[2], (1, "short_flow_bytes", 60.0, 5));
    assert_eq!((rows.len(), seen.seconds.new_flows.as_slice()), (3, [5, 0].as_slice()));
}
