//! Link types, IP and tunnels.

use std::net::IpAddr;

use super::build::{ethernet, ipv4, ipv6, only, pcap, read, tcp4, udp};
use crate::reading::{Content, Packet};

fn ports(packet: &Packet) -> (u16, u16, u32) {
    match packet.content {
        Content::Tcp(tcp) => (tcp.source_port, tcp.destination_port, tcp.payload_bytes),
        Content::Udp(udp) => (udp.source_port, udp.destination_port, udp.payload_bytes),
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn every_link_type_leads_to_the_ip_packet() {
    let tcp = tcp4(100);
    let vlan = [&[0, 5][..], &[8, 0], &tcp].concat();
    let double = [&[0, 5, 0x81, 0][..], &vlan].concat();
    let label = [&[0, 1, 0x20, 64][..], &[0, 1, 0x31, 64], &tcp].concat();
    let session = [&[0x11, 0, 0, 1, 0, 0, 0, 0x21][..], &tcp].concat();
    let cooked = [&[0; 14][..], &[8, 0], &tcp].concat();
    let cooked_2 = [&[8, 0][..], &[0; 18], &tcp].concat();
    let frames = [
        (1, ethernet(0x0800, &tcp)),
        (1, ethernet(0x8100, &vlan)),
        (1, ethernet(0x88A8, &double)),
        (1, ethernet(0x8847, &label)),
        (1, ethernet(0x8864, &session)),
        (101, tcp.clone()),
        (228, tcp.clone()),
        (12, tcp.clone()),
        (113, cooked),
        (276, cooked_2),
        (0, [&[2, 0, 0, 0][..], &tcp].concat()),
        (108, [&[0, 0, 0, 2][..], &tcp].concat()),
        (9, [&[0xFF, 3, 0, 0x21][..], &tcp].concat()),
    ];
    for (link_type, frame) in frames {
        let frame_bytes = frame.len() as u32;
        let packet = only(link_type, frame);
        assert_eq!(ports(&packet), (1000, 80, 100), "{link_type}");
        assert_eq!((packet.ip_bytes, packet.frame_bytes), (152, frame_bytes), "{link_type}");
        assert_eq!(packet.source, "10.0.0.1".parse::<IpAddr>().unwrap());
        assert_eq!((packet.ecn, packet.identification, packet.tunneled), (2, Some(258), false));
    }
}

#[test]
fn a_tcp_header_says_what_was_written() {
    let Content::Tcp(tcp) = only(101, tcp4(10)).content else { panic!() };
    assert_eq!((tcp.seq, tcp.ack, tcp.window, tcp.stamps), (7, Some(9), 256, Some((5, 4))));
    assert!(tcp.flags.psh && !tcp.flags.syn);
}

/// RFC 2018 section 3: the kind, the length, then the edges of each block.
#[test]
fn sack_blocks_are_read_in_their_order() {
    let mut packet = tcp4(0);
    // in place of the timestamps: padding, and one block of 10 bytes
    packet[40..52].copy_from_slice(&[1, 1, 5, 10, 0, 0, 0, 90, 0, 0, 1, 0]);
    let Content::Tcp(tcp) = only(101, packet).content else { panic!() };
    assert_eq!((tcp.sacks.blocks(), tcp.stamps), (&[(90, 256)][..], None));
}

/// 3GPP TS 29.281 section 5.2: each header says its length in units of four bytes, and what comes next.
#[test]
fn extension_headers_of_gtp_are_passed() {
    let tcp = tcp4(100);
    let of = |flags: u8, more: &[u8]| {
        let head = [flags, 0xFF, 0, 200, 0, 0, 0, 1];
        only(101, ipv4(17, &udp(2152, 2152, &[&head[..], more, &tcp].concat())))
    };
    let two = [0, 9, 0, 0x85, 2, 1, 2, 3, 4, 5, 6, 0xC0, 1, 0, 0, 0];
    for (flags, more) in [(0x34, &two[..]), (0x34, &[0, 9, 0, 0][..]), (0x32, &[0, 9, 0, 0x85][..])] {
        let packet = of(flags, more);
        assert_eq!((ports(&packet), packet.tunneled), ((1000, 80, 100), true), "{flags:x} {more:?}");
    }
}

#[test]
fn extension_headers_are_passed_and_fragments_known() {
    let datagram = udp(5000, 443, &[0x40; 12]);
    let hop = [&[17, 0, 1, 4, 0, 0, 0, 0][..], &datagram].concat();
    assert_eq!(ports(&only(101, ipv6(0, &hop))), (5000, 443, 12));
    let mut later = ipv4(17, &datagram);
    later[7] = 10;
    assert_eq!(only(101, later).content, Content::Fragment);
}

#[test]
fn one_level_of_tunnels_is_looked_into() {
    let tcp = tcp4(100);
    let frame = ethernet(0x0800, &tcp);
    let tunnels = [
        ipv4(4, &tcp),
        ipv4(47, &[&[0, 0, 8, 0][..], &tcp].concat()),
        ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 9][..], &tcp].concat()),
        ipv4(17, &udp(40_000, 4789, &[&[8, 0, 0, 0, 0, 0, 9, 0][..], &frame].concat())),
        ipv4(17, &udp(2152, 2152, &[&[0x30, 0xFF, 0, 152, 0, 0, 0, 1][..], &tcp].concat())),
    ];
    for tunnel in tunnels {
        let packet = only(101, tunnel);
        assert_eq!((ports(&packet), packet.ip_bytes, packet.tunneled), ((1000, 80, 100), 152, true));
    }
    // a second level is that second tunnel's
    let twice = only(101, ipv4(4, &ipv4(4, &tcp)));
    assert_eq!(twice.content, Content::Other(4));
}

#[test]
fn a_cut_packet_keeps_its_length_and_a_shorter_one_its_addresses() {
    let whole = tcp4(1400);
    for (captured, cut) in [(whole.len(), false), (60, false), (52, false), (39, true), (20, true)] {
        let mut file = pcap(101, &[whole[..captured].to_vec()]);
        // the length of the frame
        file[36..40].copy_from_slice(&(whole.len() as u32).to_le_bytes());
        let (packets, _) = read(file);
        assert_eq!(packets[0].ip_bytes, 1452, "{captured}");
        assert_eq!(packets[0].content == Content::Cut, cut, "{captured}");
        if !cut {
            assert_eq!(ports(&packets[0]).2, 1400);
        }
    }
}

/// Segments that hardware cuts later: IP's length is 0.
#[test]
fn a_packet_without_a_length_has_that_of_its_frame() {
    let mut large = tcp4(5000);
    large[2..4].fill(0);
    let packet = only(101, large);
    assert_eq!((packet.ip_bytes, ports(&packet).2), (5052, 5000));
}
