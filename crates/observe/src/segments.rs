//! Packets of several segments, as a host with segmentation offload shows them to a capture.

use bufferlab_capture::reading::{Packet, Tcp};

/// The largest segment where no SYN was seen: Ethernet's 1500 bytes without the headers of IPv4 and TCP.
const USUAL_MSS: u32 = 1_460;
/// What timestamps take of each segment, with padding (RFC 7323, appendix A). A receiver's MSS does not count options (RFC 6691).
const STAMPS_BYTES: u32 = 12;

/// The payload of a full segment of a sender whose receiver takes `mss`.
pub(crate) fn full(mss: Option<u16>, tcp: &Tcp) -> u32 {
    let options = if tcp.stamps.is_some() { STAMPS_BYTES } else { 0 };
    mss.map_or(USUAL_MSS, u32::from).saturating_sub(options).max(1)
}

/// For how many segments on the wire a packet stands.
///
/// A packet whose payload is larger than the MSS left the host, or came to the capture, as several: the card cuts (TSO) and joins them
/// (GRO, LRO). Joined packets need not be of full segments, so the number is a lower bound where a sender sends small ones.
pub(crate) fn count(tcp: &Tcp, mss: Option<u16>) -> u32 {
    if tcp.payload_bytes <= mss.map_or(USUAL_MSS, u32::from) {
        return 1;
    }
    tcp.payload_bytes.div_ceil(full(mss, tcp))
}

/// How many of a packet's segments some of its bytes fill, at most all of them.
pub(crate) fn of_part(bytes: u32, tcp: &Tcp, mss: Option<u16>) -> u32 {
    bytes.div_ceil(full(mss, tcp)).min(count(tcp, mss))
}

/// What a packet of several segments takes on the wire: each has the headers. A frame that is longer than its IP packet by as much
/// counts them already, as Bufferlab's own captures do.
pub(crate) fn wire_bytes(packet: &Packet, payload: u32, segments: u32) -> u32 {
    let more = segments.saturating_sub(1);
    let headers = packet.ip_bytes.saturating_sub(payload);
    if packet.frame_bytes.saturating_sub(packet.ip_bytes) >= more.saturating_mul(headers) && more > 0 {
        return packet.frame_bytes;
    }
    packet.frame_bytes.saturating_add(more.saturating_mul(packet.frame_bytes.saturating_sub(payload)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_packet_stands_for_its_segments() {
        let tcp = |payload_bytes| Tcp { payload_bytes, ..Tcp::default() };
        assert_eq!(count(&tcp(1_460), Some(1_460)), 1);
        assert_eq!(count(&tcp(14_600), Some(1_460)), 10);
        assert_eq!(count(&tcp(14_601), None), 11);
        assert_eq!(count(&Tcp { stamps: Some((1, 1)), ..tcp(14_480) }, Some(1_460)), 10);
        assert_eq!(count(&tcp(8_960), Some(8_960)), 1);
        assert_eq!(count(&tcp(0), Some(0)), 1);
    }

    #[test]
    fn a_part_is_never_more_than_the_packet() {
        let tcp = |payload_bytes| Tcp { payload_bytes, stamps: Some((1, 1)), ..Tcp::default() };
        // with timestamps a full segment has 1448 bytes, but nobody knows whether 1449 came as one
        assert_eq!((count(&tcp(1_449), None), of_part(1_449, &tcp(1_449), None)), (1, 1));
        assert_eq!(of_part(1_449, &tcp(14_480), None), 2);
        assert_eq!(of_part(14_480, &tcp(14_480), None), 10);
    }
}
