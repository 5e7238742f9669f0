//! What leads from a frame to an IP packet, and what does not.

use super::build::{ethernet, ipv4, ipv6, only, pcap, read, tcp4, udp};
use crate::reading::Content;

/// Whether a frame of this link type has the IP packet `tcp4(100)`; if not, whether its headers are reported.
fn leads(link_type: u32, parts: &[&[u8]]) -> Result<(), bool> {
    let (packets, report) = read(pcap(link_type, &[[&parts.concat()[..], &tcp4(100)].concat()]));
    match packets[..] {
        [packet] if packet.ip_bytes == 152 && !packet.tunneled => Ok(()),
        _ => Err(!report.warnings.is_empty()),
    }
}

const OTHER: Result<(), bool> = Err(false);

/// IEEE 802.3: below 0x600 the field is a length, and 802.2 follows; RFC 1042 for SNAP.
#[test]
fn lengths_and_types_of_ethernet_are_distinguished() {
    let snap = [0xAA, 0xAA, 3, 0, 0, 0, 8, 0];
    assert_eq!(leads(1, &[&[0x11; 12], &[0, 160], &snap]), Ok(()));
    assert_eq!(leads(1, &[&[0x11; 12], &[5, 0xFF], &snap]), Ok(()));
    assert_eq!(leads(1, &[&[0x11; 12], &[6, 0], &snap]), OTHER);
    assert_eq!(leads(1, &[&[0x11; 12], &[0, 160], &[0xAA, 0xAA, 3, 0, 0, 1, 8, 0]]), OTHER);
    assert_eq!(leads(1, &[&[0x11; 12], &[0, 160], &[0x42, 0x42, 3, 0, 0, 0, 8, 0]]), OTHER);
    assert_eq!(leads(1, &[&[0x11; 12], &[0, 160], &[0xAA, 0xAA, 3, 0, 0, 0, 5, 0xFF]]), OTHER);
    // behind a tag a length, too
    assert_eq!(leads(1, &[&[0x11; 12], &[0x81, 0, 0, 5, 0, 160], &snap]), Ok(()));
    for tag in [[0x81, 0], [0x88, 0xA8], [0x91, 0], [0x92, 0]] {
        assert_eq!(leads(1, &[&[0x11; 12], &tag, &[0, 5], &tag, &[0, 6, 8, 0]]), Ok(()));
    }
    assert_eq!(leads(1, &[&[0x11; 12], &[0x81, 1, 0, 5, 8, 0]]), OTHER);
}

/// Linux's cooked captures: 4 stands for IEEE 802.2, other small numbers for what is not Ethernet's.
#[test]
fn cooked_captures_have_a_type_or_802_2() {
    let snap = [0xAA, 0xAA, 3, 0, 0, 0, 8, 0];
    assert_eq!(leads(113, &[&[0; 14], &[0, 4], &snap]), Ok(()));
    assert_eq!(leads(276, &[&[0, 4], &[0; 18], &snap]), Ok(()));
    assert_eq!([leads(113, &[&[0; 14], &[0, 3]]), leads(113, &[&[0; 14], &[5, 0xFF]])], [OTHER; 2]);
    assert_eq!(leads(113, &[&[0; 14], &[0x81, 0], &[0, 9, 8, 0]]), Ok(()));
}

/// The address family in the byte order of whatever machine captured: IPv4 is 2, IPv6 10, 24, 28 or 30.
#[test]
fn loopback_has_a_family_in_either_byte_order() {
    for family in [2, 10, 24, 28, 30] {
        assert_eq!([leads(0, &[&[family, 0, 0, 0]]), leads(0, &[&[0, 0, 0, family]])], [Ok(()); 2]);
        assert_eq!(leads(108, &[&[0, 0, 0, family]]), Ok(()));
    }
    assert_eq!([leads(0, &[&[7, 0, 0, 0]]), leads(108, &[&[2, 0, 0, 0]])], [OTHER; 2]);
}

/// RFC 1661 section 6.5 and RFC 1662 section 3.1: the first byte of address and control, and of the protocol, may be missing.
#[test]
fn ppp_is_read_with_and_without_what_may_be_left_out() {
    for head in [&[0xFF, 3, 0, 0x21][..], &[0, 0x21], &[0x21], &[0xFF, 3, 0x21], &[0x57], &[0, 0x57]] {
        assert_eq!(leads(9, &[head]), Ok(()), "{head:?}");
    }
    for head in [&[0xC0, 0x21][..], &[0x23], &[0, 0x2F]] {
        assert_eq!(leads(9, &[head]), OTHER, "{head:?}");
    }
    let label = [0, 1, 0x31, 64];
    assert_eq!([leads(9, &[&[2, 0x81], &label]), leads(9, &[&[2, 0x83], &label])], [Ok(()); 2]);
    // RFC 1547 section 4.3.1: Cisco's has Ethernet's types
    for head in [&[0x0F, 0, 8, 0][..], &[0x8F, 0, 8, 0], &[0xFF, 3, 0, 0x21]] {
        assert_eq!(leads(50, &[head]), Ok(()), "{head:?}");
    }
    assert_eq!([leads(104, &[&[0x0F, 0, 8, 0]]), leads(9, &[&[0x0F, 0, 8, 0]])], [Ok(()), OTHER]);
    // RFC 2516 section 4: only a session's data
    assert_eq!(leads(51, &[&[0x11, 0, 0, 1, 0, 0, 0, 0x21]]), Ok(()));
    assert_eq!(leads(51, &[&[0x11, 9, 0, 1, 0, 0, 0, 0x21]]), OTHER);
}

/// RFC 3032 section 2.1: the last label is marked; RFC 4385: a control word begins with 0, an associated channel with 1.
#[test]
fn labels_lead_to_ip_or_to_ethernet() {
    let mpls = [&[0x11; 12][..], &[0x88, 0x47]].concat();
    let (more, last) = ([0, 1, 0x20, 64], [0, 1, 0x31, 64]);
    assert_eq!(leads(1, &[&mpls, &last]), Ok(()));
    assert_eq!(leads(1, &[&mpls, &more, &more, &last]), Ok(()));
    assert_eq!(leads(1, &[&[0x11; 12], &[0x88, 0x48], &last]), Ok(()));
    let frame = [&[0x21; 12][..], &[8, 0]].concat();
    assert_eq!(leads(1, &[&mpls, &last, &frame]), Ok(()), "Ethernet without a control word");
    assert_eq!(leads(1, &[&mpls, &last, &[0, 0, 0, 1], &frame]), Ok(()), "and with one");
    let zeros = [&[0; 12][..], &[8, 0]].concat();
    assert_eq!(leads(1, &[&mpls, &last, &zeros]), Ok(()), "an address that begins like one");
    assert_eq!(leads(1, &[&mpls, &last, &[0x10, 0, 0, 1]]), OTHER);
    // an address that begins as IP does: neither a length of a header nor of a packet that can be
    for address in [[0x41, 0, 9, 9], [0x45, 0, 0, 19]] {
        assert_eq!(leads(1, &[&mpls, &last, &address, &[0x21; 8], &[8, 0]]), Ok(()), "{address:?}");
    }
}

#[test]
fn a_frame_that_ends_too_early_is_reported() {
    for (link_type, frame) in [
        (1, &[0x11; 13][..]),
        (1, &[0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x81, 0, 0]),
        (0, &[2, 0, 0]),
        (9, &[]),
        (101, &[]),
        (113, &[0; 15]),
    ] {
        let (packets, report) = read(pcap(link_type, &[frame.to_vec()]));
        assert_eq!((packets.len(), report.warnings.len(), report.frames), (0, 1, 1), "{link_type}");
    }
}

fn tunneled(outer: Vec<u8>) -> bool {
    only(101, outer).tunneled
}

/// RFC 7348 section 5: a flag for the identifier, whose fields of no meaning are 0; then Ethernet.
#[test]
fn vxlan_is_known_by_its_port_and_flag() {
    let frame = ethernet(0x0800, &tcp4(9));
    let of = |port, head: [u8; 8]| tunneled(ipv4(17, &udp(40_000, port, &[&head[..], &frame].concat())));
    assert!(of(4789, [8, 0, 0, 0, 1, 2, 3, 0]));
    assert!(!of(4788, [8, 0, 0, 0, 1, 2, 3, 0]));
    assert!(!of(4789, [0, 0, 0, 0, 1, 2, 3, 0]) && !of(4789, [8, 0, 0, 0, 1, 2, 3, 1]));
}

/// 3GPP TS 29.281 section 5.1: version 1, protocol type GTP, message type 255.
#[test]
fn gtp_is_known_by_its_port_version_and_type() {
    let tcp = tcp4(9);
    let of = |head: &[u8]| tunneled(ipv4(17, &udp(2152, 2152, &[head, &tcp].concat())));
    assert!(of(&[0x30, 0xFF, 0, 61, 0, 0, 0, 1]));
    assert!(!of(&[0x30, 0xFE, 0, 61, 0, 0, 0, 1]));
    assert!(!of(&[0x50, 0xFF, 0, 61, 0, 0, 0, 1]) && !of(&[0x20, 0xFF, 0, 61, 0, 0, 0, 1]));
    // a sequence number, or one of a packet data unit: four bytes more, whose last means nothing without its flag
    for flags in [0x31, 0x32, 0x33] {
        assert!(of(&[flags, 0xFF, 0, 65, 0, 0, 0, 1, 0, 9, 0, 0x85]), "{flags:x}");
    }
    // of extension headers, one without a length
    assert!(!of(&[0x34, 0xFF, 0, 65, 0, 0, 0, 1, 0, 9, 0, 0x85, 0, 0, 0, 0]));
    assert!(!tunneled(ipv4(17, &udp(2152, 2153, &[&[0x30, 0xFF, 0, 61, 0, 0, 0, 1][..], &tcp].concat()))));
}

/// RFC 2784 section 2.1, RFC 2890 section 2: four bytes for each of a checksum, a key and a sequence number.
#[test]
fn gre_has_four_bytes_for_each_flag() {
    let tcp = tcp4(9);
    for (flags, optional) in [(0, 0), (0x80, 4), (0x20, 4), (0x10, 4), (0xA0, 8), (0xB0, 12)] {
        let of = |bytes: usize| {
            let gre = [&[flags, 0, 8, 0][..], &vec![0; bytes], &tcp].concat();
            let packet = only(101, ipv4(47, &gre));
            packet.tunneled && packet.ip_bytes == 61
        };
        assert!(of(optional), "{flags:x}");
    }
    for flags in [[0x40, 0], [0, 1], [8, 0]] {
        assert!(!tunneled(ipv4(47, &[&flags[..], &[8, 0], &tcp].concat())), "{flags:?}");
    }
    let bridged = [&[0, 0, 0x65, 0x58][..], &ethernet(0x0800, &tcp)].concat();
    assert!(tunneled(ipv4(47, &bridged)));
}

/// A packet that is longer than what carries it is none, but for fragments, whose first has no more of it.
#[test]
fn what_is_carried_is_no_longer_than_what_carries_it() {
    let mut inner = tcp4(9);
    inner[3] += 1;
    let outer = ipv4(4, &inner);
    assert!(!tunneled(outer.clone()));
    let mut fragment = outer;
    fragment[6] = 0x20;
    assert!(tunneled(fragment.clone()));
    (fragment[6], fragment[7]) = (0, 9);
    assert_eq!(only(101, fragment).content, Content::Fragment);
    // in IPv6 the header of fragments says so, also one that is whole (RFC 6946)
    for (more, is_first) in [(0, false), (1, true)] {
        assert_eq!(tunneled(ipv6(44, &[&[4, 0, 0, more, 0, 0, 0, 9][..], &inner].concat())), is_first);
    }
}

/// The packet types of Linux's cooked captures: 0 to 2 came in, 3 is somebody else's, 4 went out. The older format does not name the interface.
#[test]
fn cooked_captures_say_which_way_a_packet_went() {
    let way =
        |link_type, parts: &[&[u8]]| only(link_type, [&parts.concat()[..], &tcp4(100)].concat()).outbound;
    for (kind, expected) in [(0, Some(false)), (1, Some(false)), (2, Some(false)), (3, None), (4, Some(true))]
    {
        assert_eq!(way(113, &[&[0, kind], &[0; 12], &[8, 0]]), None);
        assert_eq!(way(276, &[&[8, 0], &[0; 8], &[kind], &[0; 9]]), expected);
    }
}

#[test]
fn ethernet_has_the_sending_station_behind_the_other() {
    let packet = only(1, [&[2; 6][..], &[4; 6], &[8, 0], &tcp4(100)].concat());
    assert_eq!((packet.stations, packet.outbound), (Some([[4; 6], [2; 6]]), None));
    assert_eq!(only(101, tcp4(100)).stations, None);
}
