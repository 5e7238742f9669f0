//! Headers in bytes: IPv4 with TCP, UDP or ICMP.
//!
//! Payload is never written; checksums assume a payload of zeros, which does not change them.

use bufferlab_qdisc::Ecn;
use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IcmpEchoHeader, Icmpv4Header, Icmpv4Type, IpDscp, IpEcn, IpFragOffset, IpNumber, Ipv4Header, Ipv4Options,
    TcpHeader, TcpOptionElement, UdpHeader,
};

use crate::flows::Endpoints;

const IP_BYTES: u32 = 20;
const UDP_BYTES: u32 = 8;
const ICMP_BYTES: u32 = 8;
const TIME_TO_LIVE: u8 = 64;

/// What a SYN offers besides timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) mss: u16,
    pub(crate) sack: bool,
    pub(crate) scale: Option<u8>,
}

/// A TCP segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpSegment {
    pub(crate) seq: u32,
    /// `None` for a first SYN.
    pub(crate) ack: Option<u32>,
    pub(crate) offer: Option<Offer>,
    pub(crate) ece: bool,
    pub(crate) cwr: bool,
    pub(crate) push: bool,
    pub(crate) window: u16,
    /// Value and echo.
    pub(crate) stamps: Option<(u32, u32)>,
    /// Edges of the SACK blocks; the last field has their number.
    pub(crate) blocks: [(u32, u32); 3],
    pub(crate) block_count: u8,
    pub(crate) payload_bytes: u32,
}

/// The content of an IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Tcp(TcpSegment),
    Udp { wire_bytes: u32 },
    Echo { reply: bool, identifier: u16, sequence: u16, wire_bytes: u32 },
}

/// The headers of a packet, and the length that they state.
pub(crate) fn write(
    bytes: &mut Vec<u8>,
    ends: &Endpoints,
    identification: u16,
    (dscp, ecn): (u8, Ecn),
    content: &Content,
) -> u32 {
    bytes.clear();
    bytes.extend([0; IP_BYTES as usize]);
    let (protocol, payload_bytes) = match content {
        Content::Tcp(segment) => (IpNumber::TCP, write_tcp(bytes, ends, segment)),
        Content::Udp { wire_bytes } => (IpNumber::UDP, write_udp(bytes, ends, *wire_bytes)),
        Content::Echo { reply, identifier, sequence, wire_bytes } => {
            let header = IcmpEchoHeader { id: *identifier, seq: *sequence };
            let kind = if *reply { Icmpv4Type::EchoReply(header) } else { Icmpv4Type::EchoRequest(header) };
            bytes.extend(Icmpv4Header::with_checksum(kind, &[]).to_bytes());
            (IpNumber::ICMP, wire_bytes.saturating_sub(IP_BYTES + ICMP_BYTES))
        }
    };
    let total_bytes = bytes.len() as u32 + payload_bytes;
    let mut header = Ipv4Header {
        dscp: IpDscp::try_new(dscp).unwrap_or_default(),
        ecn: match ecn {
            Ecn::Incapable => IpEcn::ZERO,
            Ecn::Scalable => IpEcn::ONE,
            Ecn::Capable => IpEcn::TWO,
            Ecn::Marked => IpEcn::THREE,
        },
        // a packet too large for the field has 0 there, as in Linux with segmentation offload
        total_len: u16::try_from(total_bytes).unwrap_or(0),
        identification,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: IpFragOffset::ZERO,
        time_to_live: TIME_TO_LIVE,
        protocol,
        header_checksum: 0,
        source: ends.source,
        destination: ends.destination,
        options: Ipv4Options::default(),
    };
    header.header_checksum = header.calc_header_checksum();
    bytes[..IP_BYTES as usize].copy_from_slice(&header.to_bytes());
    total_bytes
}

fn write_tcp(bytes: &mut Vec<u8>, ends: &Endpoints, segment: &TcpSegment) -> u32 {
    let mut header = TcpHeader::new(ends.source_port, ends.destination_port, segment.seq, segment.window);
    header.syn = segment.offer.is_some();
    header.ack = segment.ack.is_some();
    header.acknowledgment_number = segment.ack.unwrap_or(0);
    (header.ece, header.cwr, header.psh) = (segment.ece, segment.cwr, segment.push);
    // four options of a SYN, or timestamps and three blocks: both fit into 40 bytes
    let fits = header.set_options(&options(segment));
    debug_assert!(fits.is_ok(), "{segment:?}");
    let length = header.header_len() as u32 + segment.payload_bytes;
    header.checksum =
        pseudo_header(ends, IpNumber::TCP, length).add_slice(&header.to_bytes()).ones_complement().to_be();
    bytes.extend(header.to_bytes());
    segment.payload_bytes
}

/// Options in Linux's order, padded to words in front.
fn options(segment: &TcpSegment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
        WindowScale,
    };
    let mut options = Vec::with_capacity(8);
    let sack_offered = segment.offer.is_some_and(|offer| offer.sack);
    if let Some(offer) = segment.offer {
        options.push(MaximumSegmentSize(offer.mss));
    }
    if sack_offered {
        if segment.stamps.is_none() {
            options.extend([Noop, Noop]);
        }
        options.push(SelectiveAcknowledgementPermitted);
    }
    if let Some((value, echo)) = segment.stamps {
        if !sack_offered {
            options.extend([Noop, Noop]);
        }
        options.push(Timestamp(value, echo));
    }
    if let Some(scale) = segment.offer.and_then(|offer| offer.scale) {
        options.extend([Noop, WindowScale(scale)]);
    }
    if let [first, rest @ ..] = &segment.blocks[..usize::from(segment.block_count)] {
        let rest = [rest.first().copied(), rest.get(1).copied(), None];
        options.extend([Noop, Noop, SelectiveAcknowledgement(*first, rest)]);
    }
    options
}

fn write_udp(bytes: &mut Vec<u8>, ends: &Endpoints, wire_bytes: u32) -> u32 {
    let payload_bytes = wire_bytes.saturating_sub(IP_BYTES + UDP_BYTES);
    let length = UDP_BYTES + payload_bytes;
    let mut header = UdpHeader {
        source_port: ends.source_port,
        destination_port: ends.destination_port,
        length: u16::try_from(length).unwrap_or(0),
        checksum: 0,
    };
    header.checksum = pseudo_header(ends, IpNumber::UDP, length)
        .add_slice(&header.to_bytes())
        .to_ones_complement_with_no_zero()
        .to_be();
    bytes.extend(header.to_bytes());
    payload_bytes
}

/// What a checksum covers besides the segment (RFC 9293 section 3.1).
fn pseudo_header(ends: &Endpoints, protocol: IpNumber, length: u32) -> Sum16BitWords {
    Sum16BitWords::new()
        .add_4bytes(ends.source)
        .add_4bytes(ends.destination)
        .add_2bytes([0, protocol.0])
        .add_2bytes((length as u16).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: Endpoints = Endpoints {
        source: [10, 0, 0, 1],
        destination: [10, 128, 0, 1],
        source_port: 51_001,
        destination_port: 50_001,
    };

    fn segment() -> TcpSegment {
        TcpSegment {
            seq: 1,
            ack: Some(1),
            offer: None,
            ece: false,
            cwr: false,
            push: false,
            window: 1000,
            stamps: Some((70_000, 69_999)),
            blocks: [(0, 0); 3],
            block_count: 0,
            payload_bytes: 0,
        }
    }

    /// The packet with its payload of zeros, as etherparse reads it.
    fn whole(content: &Content) -> (Vec<u8>, u32) {
        let mut bytes = Vec::new();
        let total = write(&mut bytes, &ENDS, 7, (0, Ecn::Marked), content);
        bytes.resize(total as usize, 0);
        (bytes, total)
    }

    #[test]
    fn checksums_cover_a_payload_of_zeros() {
        let contents = [
            Content::Tcp(TcpSegment { payload_bytes: 1448, ..segment() }),
            Content::Tcp(TcpSegment { payload_bytes: 1, push: true, ..segment() }),
            Content::Tcp(TcpSegment { blocks: [(9, 10), (1, 2), (3, 5)], block_count: 3, ..segment() }),
            Content::Udp { wire_bytes: 1001 },
            Content::Echo { reply: true, identifier: 3, sequence: 65_535, wire_bytes: 84 },
        ];
        for content in contents {
            let (bytes, total) = whole(&content);
            let (ip, rest) = Ipv4Header::from_slice(&bytes).unwrap();
            assert_eq!(u32::from(ip.total_len), total);
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(ip.ecn, IpEcn::THREE);
            match content {
                Content::Tcp(_) => {
                    let (header, payload) = TcpHeader::from_slice(rest).unwrap();
                    assert_eq!(header.checksum, header.calc_checksum_ipv4(&ip, payload).unwrap());
                }
                Content::Udp { .. } => {
                    let (header, payload) = UdpHeader::from_slice(rest).unwrap();
                    assert_eq!(usize::from(header.length), rest.len());
                    assert_eq!(header.checksum, header.calc_checksum_ipv4(&ip, payload).unwrap());
                }
                Content::Echo { .. } => {
                    let (header, payload) = Icmpv4Header::from_slice(rest).unwrap();
                    assert_eq!(header.checksum, header.icmp_type.calc_checksum(payload));
                    assert_eq!(payload.len(), 56);
                }
            }
        }
    }

    /// RFC 3168 section 5: ECT(1) is 01, ECT(0) 10, CE 11.
    #[test]
    fn codepoints_are_those_of_rfc_3168_and_of_the_group() {
        let field = |(dscp, ecn)| {
            let mut bytes = Vec::new();
            write(&mut bytes, &ENDS, 7, (dscp, ecn), &Content::Udp { wire_bytes: 28 });
            bytes[1]
        };
        let codepoints =
            [Ecn::Incapable, Ecn::Scalable, Ecn::Capable, Ecn::Marked].map(|ecn| field((0, ecn)));
        assert_eq!(codepoints, [0, 1, 2, 3]);
        // RFC 2474 section 3: six bits in front of them; 46 is EF (RFC 3246)
        assert_eq!([field((46, Ecn::Marked)), field((63, Ecn::Incapable))], [0xBB, 0xFC]);
    }

    #[test]
    fn options_are_those_of_linux_and_fill_words() {
        let syn = Offer { mss: 1460, sack: true, scale: Some(14) };
        let cases = [
            (TcpSegment { offer: Some(syn), ack: None, ..segment() }, 60),
            (TcpSegment { offer: Some(syn), stamps: None, ..segment() }, 52),
            (TcpSegment { offer: Some(Offer { sack: false, scale: None, ..syn }), ..segment() }, 56),
            (segment(), 52),
            (TcpSegment { stamps: None, ..segment() }, 40),
            (TcpSegment { block_count: 1, ..segment() }, 64),
            (TcpSegment { block_count: 3, ..segment() }, 80),
        ];
        for (segment, expected) in cases {
            let (bytes, total) = whole(&Content::Tcp(segment));
            assert_eq!(total, expected, "{segment:?}");
            let (header, _) = TcpHeader::from_slice(&bytes[20..]).unwrap();
            let options: Vec<_> = header.options_iterator().map(Result::unwrap).collect();
            assert_eq!(
                options.contains(&TcpOptionElement::Timestamp(70_000, 69_999)),
                segment.stamps.is_some()
            );
            assert_eq!(
                options.contains(&TcpOptionElement::MaximumSegmentSize(1460)),
                segment.offer.is_some()
            );
        }
    }
}
