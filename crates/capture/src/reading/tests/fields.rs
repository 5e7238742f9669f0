//! Each field of IP, TCP, UDP and ICMP, and what makes headers contradict themselves.

use super::build::{ipv4, ipv6, only, pcap, read, udp};
use crate::reading::{Content, Flags, Packet, Tcp, Warning};

/// A TCP header with these flags and options, and this much payload behind it.
fn segment(flags: u16, options: &[u8], payload: usize) -> Vec<u8> {
    let words = 5 + options.len() as u16 / 4;
    let [upper, lower] = (words << 12 | flags).to_be_bytes();
    let mut segment = vec![0, 80, 0xC3, 0x50, 1, 2, 3, 4, 5, 6, 7, 8, upper, lower, 0x12, 0x34, 0, 0, 0, 0];
    segment.extend(options);
    segment.resize(segment.len() + payload, 0);
    segment
}

fn tcp(flags: u16, options: &[u8]) -> Tcp {
    let packet = only(101, ipv4(6, &segment(flags, options, 7)));
    let Content::Tcp(tcp) = packet.content else { panic!("{packet:?}") };
    assert_eq!(tcp.payload_bytes, 7);
    tcp
}

/// The packets of one frame of raw IP with this original length, and whether its headers are reported.
fn raw(frame: Vec<u8>, original: usize) -> (Vec<Packet>, bool) {
    let mut file = pcap(101, &[frame]);
    file[36..40].copy_from_slice(&(original as u32).to_le_bytes());
    let (packets, report) = read(file);
    assert!(report.warnings.iter().all(|notice| notice.warning == Warning::Headers));
    (packets, !report.warnings.is_empty())
}

fn whole(frame: Vec<u8>) -> (Vec<Packet>, bool) {
    let original = frame.len();
    raw(frame, original)
}

/// RFC 9293 section 3.1: the order of the control bits; RFC 3168 section 6.1: the two in front of them; RFC 9768 section 3.1: another.
#[test]
fn each_flag_is_a_bit() {
    let none = Flags::default();
    for (bits, flags) in [
        (0, none),
        (1, Flags { fin: true, ..none }),
        (2, Flags { syn: true, ..none }),
        (4, Flags { rst: true, ..none }),
        (8, Flags { psh: true, ..none }),
        (0x20, none),
        (0x40, Flags { ece: true, ..none }),
        (0x80, Flags { cwr: true, ..none }),
        (0x100, Flags { ae: true, ..none }),
    ] {
        let found = tcp(bits, &[]);
        assert_eq!((found.flags, found.ack), (flags, None), "{bits}");
    }
    let found = tcp(0x10, &[]);
    assert_eq!((found.flags, found.ack), (none, Some(0x0506_0708)));
    assert_eq!((found.source_port, found.destination_port), (80, 50_000));
    assert_eq!((found.seq, found.window), (0x0102_0304, 0x1234));
}

/// RFC 9293 section 3.2, RFC 7323 sections 2.2 and 3.2, RFC 2018 sections 2 and 3.
#[test]
fn options_of_a_syn_are_read_in_a_syn_only() {
    let options = [2, 4, 5, 0xB4, 4, 2, 8, 10, 0, 0, 1, 0, 0, 0, 2, 0, 1, 3, 3, 7];
    let syn = tcp(2, &options);
    assert_eq!((syn.mss, syn.scale, syn.sack_permitted), (Some(1460), Some(7), true));
    let later = tcp(0x10, &options);
    assert_eq!((later.mss, later.scale, later.sack_permitted), (None, None, false));
    assert_eq!([syn.stamps, later.stamps], [Some((256, 512)); 2]);
}

#[test]
fn sack_blocks_are_pairs_of_edges() {
    let option = |blocks: u8| {
        let mut option = vec![1, 1, 5, 2 + 8 * blocks];
        option.extend((1..=2 * blocks).flat_map(|edge| [0, 0, 1, edge]));
        tcp(0x10, &option).sacks.blocks().to_vec()
    };
    let blocks: Vec<(u32, u32)> = (0..4).map(|block| (257 + 2 * block, 258 + 2 * block)).collect();
    for count in 0..=4 {
        assert_eq!(option(count), blocks[..usize::from(count)]);
    }
}

/// RFC 9293 section 3.1: 0 ends the list. What has a length that cannot be ends it, too.
#[test]
fn options_end_where_their_list_does() {
    let stamps = [8, 10, 0, 0, 0, 5, 0, 0, 0, 4];
    let behind = |before: &[u8]| {
        let mut options = [before, &stamps].concat();
        options.resize(options.len().next_multiple_of(4), 0);
        tcp(0x10, &options).stamps
    };
    let seen = Some((5, 4));
    for (before, found) in [
        (&[][..], seen),
        (&[1, 1], seen),
        (&[0, 1], None),
        (&[254, 4, 9, 9], seen), // an experiment's, passed over
        (&[254, 2], seen),
        (&[254, 1], None),
        (&[254, 0], None),
        (&[254, 200], None),
    ] {
        assert_eq!(behind(before), found, "{before:?}");
    }
    // a length beyond the header; a kind without one; a value of another length
    assert_eq!(tcp(0x10, &[1, 1, 8, 10]).stamps, None);
    assert_eq!(tcp(0x10, &[1, 1, 1, 8]).stamps, None);
    assert_eq!(tcp(0x10, &[8, 9, 0, 0, 0, 5, 0, 0, 0, 1, 1, 1]).stamps, None);
    assert_eq!((tcp(2, &[2, 3, 5, 1]).mss, tcp(2, &[3, 4, 7, 7]).scale), (None, None));
}

/// RFC 9293 section 3.1: the header has 5 words at least, and no more than the packet.
#[test]
fn a_tcp_header_that_does_not_fit_its_packet_is_reported() {
    for (words, payload, fits) in [(4, 0, false), (5, 0, true), (6, 0, false), (6, 4, true), (6, 3, false)] {
        let mut bytes = segment(0x10, &[], payload);
        bytes[12] = words << 4;
        let (packets, bad) = whole(ipv4(6, &bytes));
        assert_eq!(bad, !fits, "{words} {payload}");
        assert_eq!(packets[0].content == Content::Other(6), !fits);
    }
    let (packets, bad) = whole(ipv4(6, &segment(0x10, &[], 0)[..19]));
    assert_eq!((packets[0].content, bad), (Content::Other(6), true));
    // the capture cut it: nothing is wrong with it
    let (packets, bad) = raw(ipv4(6, &segment(0x10, &[], 0))[..39].to_vec(), 40);
    assert_eq!((packets[0].content, bad), (Content::Cut, false));
}

/// Options of a header that was cut count as far as they were captured.
#[test]
fn options_that_were_cut_are_left_out() {
    let packet = ipv4(6, &segment(0x10, &[1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 4], 0));
    for (captured, stamps) in [(52, Some((5, 4))), (51, None), (40, None)] {
        let (packets, bad) = raw(packet[..captured].to_vec(), 52);
        let Content::Tcp(tcp) = packets[0].content else { panic!() };
        assert_eq!((tcp.stamps, tcp.payload_bytes, bad), (stamps, 0, false));
        assert_eq!(tcp.is_cut, captured < 52);
    }
}

/// RFC 768; RFC 2675 section 4 for a length of 0.
#[test]
fn a_datagrams_length_is_its_headers() {
    for (stated, payload_bytes) in [(20, Some(12)), (8, Some(0)), (0, Some(24)), (7, None)] {
        let mut datagram = udp(5_000, 443, &[0x41; 24]);
        datagram[4..6].copy_from_slice(&u16::to_be_bytes(stated));
        let (packets, bad) = whole(ipv4(17, &datagram));
        match (packets[0].content, payload_bytes) {
            (Content::Udp(udp), Some(bytes)) => {
                assert_eq!((udp.payload_bytes, udp.first_byte, bad), (bytes, Some(0x41), false));
                assert_eq!((udp.source_port, udp.destination_port), (5_000, 443));
            }
            (content, _) => assert_eq!((content, bad, payload_bytes), (Content::Other(17), true, None)),
        }
    }
    let Content::Udp(empty) = whole(ipv4(17, &udp(1, 2, &[]))).0[0].content else { panic!() };
    assert_eq!((empty.payload_bytes, empty.first_byte), (0, None));
}

/// RFC 792: 8 asks and 0 answers; RFC 4443 section 4: 128 and 129.
#[test]
fn echoes_are_known_in_both_versions() {
    let message = |kind| [kind, 0, 0, 0, 0, 9, 1, 2, 7, 7];
    let echo = |reply| Content::Echo { reply, identifier: 9, sequence: 258 };
    for (kind, content) in
        [(8, echo(false)), (0, echo(true)), (3, Content::Other(1)), (128, Content::Other(1))]
    {
        assert_eq!(only(101, ipv4(1, &message(kind))).content, content);
    }
    for (kind, content) in [(128, echo(false)), (129, echo(true)), (8, Content::Other(58))] {
        assert_eq!(only(101, ipv6(58, &message(kind))).content, content);
    }
    let cut = ipv4(1, &message(8))[..27].to_vec();
    assert_eq!(raw(cut, 30).0[0].content, Content::Cut);
    let (packets, bad) = whole(ipv4(1, &message(8)[..7]));
    assert_eq!((packets[0].content, bad), (Content::Other(1), true));
}

/// RFC 791 section 3.1.
#[test]
fn an_ipv4_header_has_five_words_and_no_more_than_the_packet() {
    let changed = |at: usize, value: u8| {
        let mut packet = ipv4(17, &udp(1, 2, &[0; 4]));
        packet[at] = value;
        whole(packet)
    };
    for (at, value) in [(0, 0x44), (3, 19), (0, 0x55)] {
        let (packets, bad) = changed(at, value);
        assert!(packets.is_empty() && bad, "{at} {value}");
    }
    // a header alone
    let (packets, bad) = changed(3, 20);
    assert_eq!((packets[0].ip_bytes, packets[0].content, bad), (20, Content::Other(17), true));
    // what stands behind the packet is the link's
    let mut padded = ipv4(17, &udp(1, 2, &[]));
    padded.resize(46, 0);
    let packet = whole(padded).0[0];
    assert_eq!((packet.ip_bytes, packet.frame_bytes), (28, 46));
    let Content::Udp(udp) = packet.content else { panic!() };
    assert_eq!((udp.payload_bytes, udp.first_byte), (0, None));
    let class = changed(1, 0b1011_1011).0[0];
    assert_eq!((class.dscp, class.ecn), (46, 3));
}

/// The same: options are words behind the first five.
#[test]
fn options_of_ipv4_are_passed() {
    let mut packet = ipv4(17, &[&[1; 40][..], &udp(1, 2, &[9])].concat());
    packet[0] = 0x4F;
    let Content::Udp(udp) = only(101, packet).content else { panic!() };
    assert_eq!((udp.source_port, udp.payload_bytes, udp.first_byte), (1, 1, Some(9)));
}

/// The same: an offset of 13 bits in units of eight bytes, and a flag for more.
#[test]
fn only_a_first_fragment_has_ports() {
    for (high, low, is_later) in
        [(0, 0, false), (0x40, 0, false), (0x20, 0, false), (0x20, 1, true), (0x10, 0, true)]
    {
        let mut packet = ipv4(17, &udp(1, 2, &[9]));
        (packet[6], packet[7]) = (high, low);
        assert_eq!(only(101, packet).content == Content::Fragment, is_later, "{high} {low}");
    }
}

/// RFC 8200 section 4; RFC 4302 section 2.2 for authentication, whose length is in words less two.
#[test]
fn extension_headers_are_passed_by_their_lengths() {
    let datagram = udp(5_000, 443, &[7; 3]);
    let found = |next: u8, headers: &[u8]| {
        let (packets, bad) = whole(ipv6(next, &[headers, &datagram].concat()));
        (packets[0].content, bad)
    };
    let seen = |found: (Content, bool)| matches!(found, (Content::Udp(udp), false) if (udp.source_port, udp.payload_bytes) == (5_000, 3));
    let options = [17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for kind in [0, 43, 60] {
        assert!(seen(found(kind, &options)), "{kind}");
    }
    assert!(seen(found(51, &[17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])));
    let both = [&[60, 0, 0, 0, 0, 0, 0, 0][..], &options].concat();
    assert!(seen(found(0, &both)));
    // a fragment's: the offset's 13 bits, two of no meaning, and one for more
    for (high, low, later) in [(0, 0, false), (0, 1, false), (0, 6, false), (0, 8, true), (1, 0, true)] {
        let fragment = found(44, &[17, 0, high, low, 0, 0, 0, 9]);
        assert_eq!(fragment.0 == Content::Fragment, later, "{high} {low}");
        assert!(later || seen(fragment));
    }
    // behind a later fragment's header are no headers
    assert_eq!(found(44, &[0, 0, 0, 8, 0, 0, 0, 9]).0, Content::Fragment);
    // 59: nothing follows
    assert_eq!(found(59, &[]).0, Content::Other(59));
    let mut authenticated = ipv4(51, &[&[17, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0][..], &datagram].concat());
    assert!(seen((only(101, authenticated.clone()).content, false)));
    authenticated.truncate(25);
    assert_eq!(raw(authenticated, 43).0[0].content, Content::Cut);
}

#[test]
fn an_extension_header_longer_than_its_packet_is_reported() {
    for (units, fits) in [(0, true), (1, true), (2, false)] {
        let (packets, bad) = whole(ipv6(0, &[59, units, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        assert_eq!((packets.len(), bad), if fits { (1, false) } else { (0, true) }, "{units}");
    }
}

/// RFC 8200 section 3; RFC 2675: 0 is a length of its own option, and here the frame's.
#[test]
fn an_ipv6_packet_has_the_length_that_it_states() {
    let mut packet = ipv6(17, &udp(1, 2, &[9; 5]));
    (packet[0], packet[1]) = (0x6B, 0xB0);
    let seen = whole([packet.clone(), vec![0; 6]].concat()).0[0];
    assert_eq!((seen.ip_bytes, seen.dscp, seen.ecn, seen.identification), (53, 46, 3, None));
    assert_eq!(seen.source, "2001:db8::1".parse::<std::net::IpAddr>().unwrap());
    assert_eq!(seen.destination, "2001:db8::2".parse::<std::net::IpAddr>().unwrap());
    (packet[4], packet[5]) = (0, 0);
    assert_eq!(whole(packet.clone()).0[0].ip_bytes, 53);
    packet[6] = 59;
    assert_eq!(whole(packet).0[0].ip_bytes, 40);
    assert!(whole(vec![0x50; 40]).1, "version 5");
}
