//! Packets made by hand.

use std::net::{IpAddr, Ipv4Addr};

use bufferlab_capture::reading::{Content, Edges, Flags, Packet, Tcp, Udp};
use bufferlab_observe::{Limits, Observation, Observer};

pub const MS: u64 = 1_000_000;
/// When captures begin.
pub const START: u64 = 1_700_000_000_000_000_000;
pub const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));
pub const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));

/// A packet of the client, or of the server.
pub fn packet(at: u64, is_client: bool, payload: u32, content: Content) -> Packet {
    let (source, destination) = if is_client { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
    Packet {
        at_ns: START + at,
        interface: 0,
        frame_bytes: payload + 54,
        ip_bytes: payload + 40,
        source,
        destination,
        ecn: 0,
        dscp: 0,
        identification: None,
        tunneled: false,
        outbound: None,
        stations: None,
        content,
    }
}

/// A segment of TCP between port 50,000 of the client and port 443 of the server.
pub fn segment(at: u64, is_client: bool, tcp: Tcp) -> Packet {
    let (source_port, destination_port) = if is_client { (50_000, 443) } else { (443, 50_000) };
    let tcp = Tcp { source_port, destination_port, window: 1_000, ..tcp };
    packet(at, is_client, tcp.payload_bytes, Content::Tcp(tcp))
}

/// A datagram between the same ports.
pub fn datagram(at: u64, is_client: bool, payload_bytes: u32, first_byte: Option<u8>) -> Packet {
    let (source_port, destination_port) = if is_client { (50_000, 443) } else { (443, 50_000) };
    let udp = Udp { source_port, destination_port, payload_bytes, first_byte };
    packet(at, is_client, payload_bytes, Content::Udp(udp))
}

/// A SYN, or its answer.
pub fn syn(at: u64, is_client: bool, seq: u32, ack: Option<u32>) -> Packet {
    let flags = Flags { syn: true, ..Flags::default() };
    segment(at, is_client, Tcp { seq, ack, flags, mss: Some(1_460), sack_permitted: true, ..Tcp::default() })
}

/// Data of the server, in bytes from its first one.
pub fn data(at: u64, first: u32, bytes: u32) -> Packet {
    let seq = SERVER_ISN.wrapping_add(1).wrapping_add(first);
    segment(at, false, Tcp { seq, ack: Some(CLIENT_ISN + 1), payload_bytes: bytes, ..Tcp::default() })
}

/// The client's acknowledgment of such a number of bytes, with SACK blocks.
pub fn ack(at: u64, bytes: u32, blocks: &[(u32, u32)]) -> Packet {
    let number = |byte: u32| SERVER_ISN.wrapping_add(1).wrapping_add(byte);
    let mut sacks = Edges::default();
    for &(left, right) in blocks {
        sacks.push(number(left), number(right));
    }
    segment(at, true, Tcp { seq: CLIENT_ISN + 1, ack: Some(number(bytes)), sacks, ..Tcp::default() })
}

pub const CLIENT_ISN: u32 = 5_000;
/// The server's numbers wrap after 1,000 bytes.
pub const SERVER_ISN: u32 = u32::MAX - 1_000;

/// A handshake: 20 ms to the server and back, and 20 ms to the client.
pub fn handshake() -> Vec<Packet> {
    vec![
        syn(0, true, CLIENT_ISN, None),
        syn(20 * MS, false, SERVER_ISN, Some(CLIENT_ISN + 1)),
        ack(40 * MS, 0, &[]),
    ]
}

/// What an observer with these limits makes of packets.
pub fn observe_with(limits: Limits, packets: impl IntoIterator<Item = Packet>) -> Observation {
    let mut observer = Observer::new(limits);
    packets.into_iter().for_each(|packet| observer.packet(&packet));
    observer.finish()
}

pub fn observe(packets: impl IntoIterator<Item = Packet>) -> Observation {
    observe_with(Limits::default(), packets)
}

/// A handshake and what follows.
pub fn observe_after_handshake(packets: impl IntoIterator<Item = Packet>) -> Observation {
    observe(handshake().into_iter().chain(packets))
}
