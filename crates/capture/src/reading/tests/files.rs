//! The two formats, compressed or not.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::build::{block, ethernet, pcap, read, tcp4, words};
use crate::reading::{Format, ReadError, Reader, Warning};

fn frames(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| ethernet(0x0800, &tcp4(number))).collect()
}

/// A section with an interface of this resolution and offset, and an enhanced packet at these units.
pub(super) fn section(resolution: u8, offset_s: i64, units: u64) -> Vec<u8> {
    let frame = ethernet(0x0800, &tcp4(100));
    let mut description = [&[0, 1, 0, 0][..], &words(&[0]), &[0, 2, 0, 4], b"eth7"].concat();
    description.extend([0, 9, 0, 1, resolution, 0, 0, 0, 0, 14, 0, 8]);
    description.extend(offset_s.to_be_bytes());
    description.extend([0; 4]);
    let length = frame.len() as u32;
    let packet = [words(&[0, (units >> 32) as u32, units as u32, length, length]), frame].concat();
    let header = words(&[0x1A2B_3C4D, 1 << 16, u32::MAX, u32::MAX]);
    let statistics = [words(&[0, 0, 0]), vec![0, 5, 0, 8], 3_u64.to_be_bytes().to_vec(), vec![0; 4]].concat();
    [block(0x0A0D_0D0A, &header), block(1, &description), block(6, &packet), block(5, &statistics)].concat()
}

#[test]
fn pcap_has_micro_and_nanoseconds_in_either_byte_order() {
    let little = pcap(1, &frames(3));
    let (packets, report) = read(little.clone());
    assert_eq!(
        packets.iter().map(|packet| packet.at_ns).collect::<Vec<_>>(),
        [5_000_000_000, 5_001_000_000, 5_002_000_000]
    );
    assert_eq!((report.format, report.packets, report.bytes), (Format::Pcap, 3, little.len() as u64));
    let mut nano = little.clone();
    nano[0] = 0x4D;
    nano[1] = 0x3C;
    assert_eq!(read(nano).0[2].at_ns, 5_000_002_000);
    // every number but the frames' turned round
    let mut big = little;
    let heads: Vec<usize> = std::iter::once(0).chain([24, 24 + 82, 24 + 82 + 83]).collect();
    for (index, at) in heads.into_iter().enumerate() {
        let count = if index == 0 { 6 } else { 4 };
        for word in 0..count {
            big[at + 4 * word..at + 4 * word + 4].reverse();
        }
    }
    let (packets, report) = read(big);
    assert_eq!((packets.len(), report.warnings), (3, vec![]));
    assert_eq!(packets[1].at_ns, 5_001_000_000);
}

/// A cooked capture of the second version: protocol, two reserved bytes, index, ten more of the head.
fn cooked(index: u32) -> Vec<u8> {
    [&[8, 0, 0, 0][..], &index.to_be_bytes(), &[0; 12], &tcp4(10)].concat()
}

#[test]
fn each_interface_of_a_cooked_capture_has_a_number() {
    let (packets, report) = read(pcap(276, &[cooked(3), cooked(2), cooked(3), cooked(0), cooked(70_000)]));
    let numbers: Vec<_> = packets.iter().map(|packet| packet.interface).collect();
    // without an index, a packet is of the capture's own
    assert_eq!(numbers, [0, 1, 0, 0, 2]);
    let names: Vec<_> = report.interfaces.iter().filter_map(|each| each.name.as_deref()).collect();
    assert_eq!(names, ["index 3", "index 2", "index 70000"]);
    assert!(report.interfaces.iter().all(|each| each.link_type == 276 && each.snap_length == Some(262_144)));
    // what a section describes afterwards has the next number
    let head = block(0x0A0D_0D0A, &words(&[0x1A2B_3C4D, 1 << 16, u32::MAX, u32::MAX]));
    let described = |link_type: u8| block(1, &[0, link_type, 0, 0, 0, 0, 0, 0]);
    let packet = |interface, frame: &[u8]| {
        let length = frame.len() as u32;
        block(6, &[words(&[interface, 0, 0, length, length]), frame.to_vec()].concat())
    };
    let file = [
        head,
        block(1, &[1, 20, 0, 0, 0, 0, 0, 0]),
        packet(0, &cooked(5)),
        packet(0, &cooked(6)),
        described(1),
        packet(1, &ethernet(0x0800, &tcp4(10))),
        packet(0, &cooked(5)),
    ];
    let (packets, report) = read(file.concat());
    assert_eq!(packets.iter().map(|packet| packet.interface).collect::<Vec<_>>(), [0, 1, 2, 0]);
    assert_eq!((report.interfaces.len(), report.interfaces[2].link_type), (3, 1));
    assert_eq!(report.warnings, vec![]);
}

#[test]
fn pcapng_has_sections_interfaces_and_resolutions_of_their_own() {
    let file = [section(6, 0, 1_500_000), section(0x8A, 2, 512), section(9, -1, 3_000_000_001)].concat();
    let (packets, report) = read(file);
    assert_eq!(report.warnings, []);
    let seen: Vec<_> = packets.iter().map(|packet| (packet.interface, packet.at_ns)).collect();
    assert_eq!(seen, [(0, 1_500_000_000), (1, 2_500_000_000), (2, 2_000_000_001)]);
    assert!(report.interfaces.iter().all(|interface| interface.name.as_deref() == Some("eth7")));
    assert!(report.interfaces.iter().all(|interface| interface.dropped == Some(3)));
}

/// Section 4.4 and appendix A: a simple packet has its length only, and as much of it as the interface keeps; an obsolete one
/// has an interface of 16 bits before a count of drops.
#[test]
fn pcapng_s_simple_and_obsolete_packets_are_read() {
    let frame = ethernet(0x0800, &tcp4(100));
    let length = frame.len() as u32;
    let header = block(0x0A0D_0D0A, &words(&[0x1A2B_3C4D, 1 << 16, u32::MAX, u32::MAX]));
    let kept = block(1, &words(&[1 << 16, 80]));
    let all = block(1, &words(&[1 << 16, 0]));
    let simple = |captured: &[u8]| block(3, &[words(&[length]), captured.to_vec()].concat());
    let obsolete = block(2, &[words(&[1 << 16 | 7, 0, 2_000_000, length, length]), frame.clone()].concat());
    let file =
        [header.clone(), kept, all.clone(), simple(&frame[..80]), obsolete, header, all, simple(&frame)]
            .concat();
    let (packets, report) = read(file);
    let seen: Vec<_> =
        packets.iter().map(|packet| (packet.interface, packet.at_ns, packet.frame_bytes)).collect();
    assert_eq!(seen, [(0, 0, length), (1, 2_000_000_000, length), (2, 0, length)], "{:?}", report.warnings);
    assert!(packets.iter().all(|packet| packet.ip_bytes == 152));
}

/// The upper bits of pcap's link type: how many units of 16 bits end each frame, if that is known.
#[test]
fn a_checksum_at_a_frame_s_end_is_not_counted() {
    let link = 1 | 0x0400_0000 | 3 << 28;
    let frame = [ethernet(0x0800, &tcp4(100)), vec![0; 6]].concat();
    let (packets, report) = read(pcap(link, std::slice::from_ref(&frame)));
    assert_eq!((packets[0].frame_bytes, report.interfaces[0].link_type), (frame.len() as u32 - 6, 1));
    assert_eq!(report.interfaces[0].snap_length, Some(262_144));
    // the bits mean nothing where it is not known
    assert_eq!(read(pcap(1 | 2 << 28, std::slice::from_ref(&frame))).0[0].frame_bytes, frame.len() as u32);
}

#[test]
fn a_snap_length_of_0_is_none() {
    let mut file = pcap(1, &frames(2));
    file[16..20].fill(0);
    let (packets, report) = read(file);
    assert_eq!((packets.len(), report.interfaces[0].snap_length), (2, None));
    assert!(report.warnings.is_empty());
}

#[test]
fn compressed_captures_are_read_member_by_member() {
    let plain = pcap(1, &frames(50));
    let gzip = |part: &[u8]| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |part: &[u8]| compress_to_vec(part, CompressionLevel::Fastest);
    let expected = read(plain.clone()).0;
    let (first, second) = plain.split_at(1000);
    for file in [
        gzip(&plain),
        [gzip(first), gzip(second)].concat(),
        zstd(&plain),
        [zstd(first), zstd(second)].concat(),
    ] {
        let (packets, report) = read(file);
        assert_eq!(packets, expected);
        assert!(report.compression.is_some() && report.warnings.is_empty());
    }
    let mut cut = gzip(&plain);
    cut.truncate(cut.len() / 2);
    let (packets, report) = read(cut);
    assert!(expected.starts_with(&packets) && report.warnings.len() == 1, "{:?}", report.warnings);
}

/// RFC 8878 section 3.1.2: a skippable frame has its length behind its magic number.
#[test]
fn frames_of_zstandard_that_are_to_be_skipped_are() {
    let plain = pcap(1, &frames(20));
    let zstd = |part: &[u8]| compress_to_vec(part, CompressionLevel::Fastest);
    let skipped = |last: u8, length: u32, bytes: usize| {
        [&[last, 0x2A, 0x4D, 0x18][..], &length.to_le_bytes(), &vec![7; bytes]].concat()
    };
    let (first, second) = plain.split_at(700);
    let file =
        [skipped(0x50, 9, 9), zstd(first), skipped(0x5F, 0, 0), zstd(second), skipped(0x55, 70_000, 70_000)];
    let (packets, report) = read(file.concat());
    assert_eq!((packets.len(), report.warnings), (20, vec![]));
    let (packets, report) = read([zstd(&plain), skipped(0x50, 9, 8)].concat());
    let warnings: Vec<_> = report.warnings.iter().map(|notice| notice.warning).collect();
    assert_eq!((packets.len(), warnings), (20, vec![Warning::Cut]));
}

#[test]
fn what_is_no_capture_is_refused_by_what_it_begins_with() {
    let message = |content: &[u8]| match Reader::new(Box::new(std::io::Cursor::new(content.to_vec()))) {
        Err(error @ (ReadError::Empty | ReadError::Foreign { .. })) => error.to_string(),
        _ => panic!("it is refused"),
    };
    assert!(message(b"").contains("empty"));
    assert!(message(b"time,bytes\n1,2\n").contains("the text \"time,bytes"));
    assert!(message(&[0xFD, b'7', b'z', b'X', b'Z', 0, 1, 2]).contains("xz's compression"));
    assert!(message(&[0xD4, 0xC3, 0xB2, 0xA1, 2, 0]).contains("cut within its head"));
    assert!(message(&[10, 13, 13, 10, 0]).contains("pcapng's first bytes"));
    assert!(message(b"PK\x03\x04\0").contains("a zip archive (bytes 50 4b 03 04 00)"));
    // neither a known beginning nor a text: eight bytes
    assert!(message(b"text\0 and more").contains("begins with the bytes 74 65 78 74 00 20 61 6e;"));
}

#[test]
fn unknown_links_and_other_frames_are_counted() {
    let (packets, report) = read(pcap(147, &frames(2)));
    assert!(packets.is_empty());
    assert_eq!((report.warnings[0].warning, report.warnings[0].count), (Warning::UnknownLink(147), 2));
    let (_, report) = read(pcap(1, &[ethernet(0x0806, &[0; 28])]));
    assert_eq!((report.others, report.warnings.len()), (1, 0));
}
