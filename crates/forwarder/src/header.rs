//! What a queue looks at in an IPv4 packet, and the mark that it leaves there.
//!
//! # Sources
//! - IPv4: RFC 791 section 3.1. TCP: RFC 9293 section 3.1. UDP: RFC 768.
//! - ECN's codepoints: RFC 3168 section 5, RFC 9331 section 2; the flag CWR: RFC 3168 section 6.1.
//! - The header's checksum after a change: RFC 1624 section 3, equation 3.

use bufferlab_qdisc::{Ecn, PacketKind};

const LEAST_IPV4: usize = 20;
const TCP: u8 = 6;
const UDP: u8 = 17;
const LEAST_TCP: usize = 20;
const LEAST_UDP: usize = 8;

const ECN_FIELD: u8 = 0b11;
const ECT_0: u8 = 0b10;
const ECT_1: u8 = 0b01;

const SYN: u8 = 0x02;
const CWR: u8 = 0x80;

/// What is read of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The sender's port.
    pub(crate) port: u16,
    pub(crate) to_port: u16,
    /// Addresses, protocol, ports.
    pub(crate) connection: ([u8; 8], u8, [u8; 4]),
    /// Of the whole packet.
    pub(crate) bytes: u16,
    pub(crate) kind: PacketKind,
    /// Its sender has reduced the window.
    pub(crate) reduced: bool,
}

impl Header {
    /// Reads a packet; nothing if it is no whole packet of TCP or UDP over IPv4.
    pub(crate) fn read(packet: &[u8]) -> Option<Header> {
        if packet.len() < LEAST_IPV4 || packet[0] >> 4 != 4 {
            return None;
        }
        let length = usize::from(packet[0] & 0x0f) * 4;
        let bytes = u16::from_be_bytes([packet[2], packet[3]]);
        if length < LEAST_IPV4 || usize::from(bytes) > packet.len() {
            return None;
        }
        let inner = packet.get(length..usize::from(bytes))?;
        let (kind, reduced) = match packet[9] {
            TCP if inner.len() >= LEAST_TCP => (tcp_kind(packet[1], inner)?, inner[13] & CWR != 0),
            UDP if inner.len() >= LEAST_UDP => (PacketKind::Datagram, false),
            _ => return None,
        };
        Some(Header::of(packet, inner, bytes, kind, reduced))
    }

    /// Reads whatever else is IPv4, as a datagram without ports: ICMP, fragments.
    pub(crate) fn of_others(packet: &[u8]) -> Option<Header> {
        if packet.len() < LEAST_IPV4 || packet[0] >> 4 != 4 {
            return None;
        }
        let bytes = u16::from_be_bytes([packet[2], packet[3]]);
        Some(Header::of(packet, &[0; 4], bytes, PacketKind::Datagram, false))
    }

    fn of(packet: &[u8], inner: &[u8], bytes: u16, kind: PacketKind, reduced: bool) -> Header {
        let mut addresses = [0; 8];
        addresses.copy_from_slice(&packet[12..20]);
        let ports = [inner[0], inner[1], inner[2], inner[3]];
        Header {
            port: u16::from_be_bytes([ports[0], ports[1]]),
            to_port: u16::from_be_bytes([ports[2], ports[3]]),
            connection: (addresses, packet[9], ports),
            bytes,
            kind,
            reduced,
        }
    }
}

fn tcp_kind(service: u8, segment: &[u8]) -> Option<PacketKind> {
    if segment[13] & SYN != 0 {
        return Some(PacketKind::Syn);
    }
    let offset = usize::from(segment[12] >> 4) * 4;
    let payload = segment.len().checked_sub(offset)?;
    Some(if payload == 0 { PacketKind::Ack } else { PacketKind::Data(ecn(service)) })
}

fn ecn(service: u8) -> Ecn {
    match service & ECN_FIELD {
        0 => Ecn::Incapable,
        ECT_0 => Ecn::Capable,
        ECT_1 => Ecn::Scalable,
        _ => Ecn::Marked,
    }
}

/// Writes Congestion Experienced into a packet that [`Header::read`] took.
pub(crate) fn mark(packet: &mut [u8]) {
    let word = |packet: &[u8], at: usize| u32::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    let old = word(packet, 0);
    packet[1] |= ECN_FIELD;
    let new = word(packet, 0);
    // HC' = ~(~HC + ~m + m'), in ones' complement
    let mut sum = (!word(packet, 10) & 0xffff) + (!old & 0xffff) + new;
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    let checksum = !(sum as u16);
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A packet with a valid header.
    pub(crate) fn packet(service: u8, protocol: u8, port: u16, flags: u8, payload: usize) -> Vec<u8> {
        let inner = if protocol == TCP { LEAST_TCP } else { LEAST_UDP };
        let mut packet = vec![0_u8; LEAST_IPV4 + inner + payload];
        let bytes = packet.len() as u16;
        packet[0] = 0x45;
        packet[1] = service;
        packet[2..4].copy_from_slice(&bytes.to_be_bytes());
        packet[8] = 64;
        packet[9] = protocol;
        packet[12..16].copy_from_slice(&[10, 0, 0, 2]);
        packet[16..20].copy_from_slice(&[10, 1, 0, 2]);
        packet[20..22].copy_from_slice(&port.to_be_bytes());
        if protocol == TCP {
            packet[32] = 5 << 4;
            packet[33] = flags;
        }
        let checksum = !sum(&packet);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    /// The ones' complement sum of a header, which is all ones if its checksum is right.
    fn sum(packet: &[u8]) -> u16 {
        let words =
            packet[..LEAST_IPV4].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        sum as u16
    }

    #[test]
    fn what_a_packet_is_stands_in_its_headers() {
        let read = |service, flags, payload| {
            Header::read(&packet(service, TCP, 10_007, flags, payload))
                .map(|header| (header.kind, header.reduced))
        };
        assert_eq!(read(0, SYN | 0xc0, 0), Some((PacketKind::Syn, true)));
        assert_eq!(read(0, 0x10, 0), Some((PacketKind::Ack, false)));
        assert_eq!(read(0, 0x10, 9), Some((PacketKind::Data(Ecn::Incapable), false)));
        assert_eq!(read(0x02, 0x10 | CWR, 9), Some((PacketKind::Data(Ecn::Capable), true)));
        assert_eq!(read(0x29, 0x10, 9), Some((PacketKind::Data(Ecn::Scalable), false)));
        assert_eq!(read(0x03, 0x10, 9), Some((PacketKind::Data(Ecn::Marked), false)));
        let datagram = Header::read(&packet(0, UDP, 10_001, 0, 100)).unwrap();
        assert_eq!((datagram.kind, datagram.port, datagram.bytes), (PacketKind::Datagram, 10_001, 128));
    }

    #[test]
    fn what_is_no_whole_packet_is_none() {
        let whole = packet(0, TCP, 1, 0, 10);
        for length in 0..whole.len() {
            assert_eq!(Header::read(&whole[..length]), None, "{length}");
        }
        for (place, value) in [(0, 0x65), (0, 0x44), (0, 0x4f), (9, 1), (32, 0xf0)] {
            let mut changed = whole.clone();
            changed[place] = value;
            assert_eq!(Header::read(&changed), None, "{place}");
        }
    }

    #[test]
    fn a_mark_leaves_a_right_checksum() {
        for service in [0x02, 0x01, 0xfd, 0xb8, 0x03] {
            for payload in [0, 1, 700, 1400] {
                let mut packet = packet(service, TCP, 10_000, 0x10, payload);
                mark(&mut packet);
                assert_eq!((packet[1], sum(&packet)), (service | ECN_FIELD, 0xffff), "{service} {payload}");
            }
        }
    }
}
