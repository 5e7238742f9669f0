//! Packets and files, byte by byte.

use std::io::Cursor;

use crate::reading::{Packet, Reader, Report};

/// TCP from 10.0.0.1:1000 to 10.0.0.2:80, with this many bytes of payload, all captured.
pub(super) fn tcp4(payload: usize) -> Vec<u8> {
    let mut segment = vec![3, 232, 0, 80, 0, 0, 0, 7, 0, 0, 0, 9, 0x80, 0x18, 1, 0, 0, 0, 0, 0];
    // timestamps behind two bytes of padding (RFC 7323 appendix A)
    segment.extend([1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4]);
    segment.resize(segment.len() + payload, 0);
    ipv4(6, &segment)
}

/// A packet of IPv4 from 10.0.0.1 to 10.0.0.2, ECT(0), identification 258.
pub(super) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (20 + payload.len() as u16).to_be_bytes();
    let mut packet = vec![0x45, 2, high, low, 1, 2, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
    packet.extend(payload);
    packet
}

/// A packet of IPv6 from `2001:db8::1` to `2001:db8::2`.
pub(super) fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = (payload.len() as u16).to_be_bytes();
    let address = |last| [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    let mut packet = vec![0x60, 0, 0, 0, high, low, next, 64];
    packet.extend(address(1));
    packet.extend(address(2));
    packet.extend(payload);
    packet
}

pub(super) fn udp(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let mut datagram =
        [from.to_be_bytes(), to.to_be_bytes(), (8 + payload.len() as u16).to_be_bytes()].concat();
    datagram.extend([0, 0]);
    datagram.extend(payload);
    datagram
}

pub(super) fn ethernet(kind: u16, inside: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x11; 12];
    frame.extend(kind.to_be_bytes());
    frame.extend(inside);
    frame
}

/// A file of pcap with little-endian numbers and microseconds; packets are a millisecond apart, from the 5th second on.
pub(super) fn pcap(link_type: u32, frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xA1B2_C3D4, 4 << 16 | 2, 0, 0, 262_144, link_type] {
        file.extend(u32::to_le_bytes(word));
    }
    for (number, frame) in (0..).zip(frames) {
        let length = frame.len() as u32;
        for word in [5, 1000 * number, length, length] {
            file.extend(u32::to_le_bytes(word));
        }
        file.extend(frame);
    }
    file
}

/// A block of pcapng with big-endian numbers.
pub(super) fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (12 + body.len().next_multiple_of(4)) as u32;
    let mut block = [kind.to_be_bytes(), length.to_be_bytes()].concat();
    block.extend(body);
    block.resize(length as usize - 4, 0);
    block.extend(length.to_be_bytes());
    block
}

pub(super) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// All packets of a file, and the report at its end.
pub(super) fn read(file: Vec<u8>) -> (Vec<Packet>, Report) {
    let mut reader = Reader::new(Box::new(Cursor::new(file))).expect("it is a capture");
    let packets = reader.by_ref().collect();
    (packets, reader.report())
}

/// The only packet of a file with this frame.
pub(super) fn only(link_type: u32, frame: Vec<u8>) -> Packet {
    let (packets, report) = read(pcap(link_type, &[frame]));
    assert_eq!(report.warnings, [], "{packets:?}");
    assert_eq!(packets.len(), 1);
    packets[0]
}
