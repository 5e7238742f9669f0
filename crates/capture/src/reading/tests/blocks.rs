//! pcapng block by block: what each states, and what cannot be.

use super::build::{block, ethernet, read, tcp4, words};
use crate::reading::{Notice, Packet, Report, Warning};

/// A section header of a version.
fn header(major: u32) -> Vec<u8> {
    block(0x0A0D_0D0A, &words(&[0x1A2B_3C4D, major << 16, u32::MAX, u32::MAX]))
}

/// An interface of Ethernet that keeps so much, with options.
fn interface(snap_length: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
    block(1, &[words(&[1 << 16, snap_length]), written(options)].concat())
}

fn written(options: &[(u16, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (code, value) in options {
        bytes.extend([code.to_be_bytes(), (value.len() as u16).to_be_bytes()].concat());
        bytes.extend(*value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn frame() -> Vec<u8> {
    ethernet(0x0800, &tcp4(100))
}

/// An enhanced packet of an interface, of which so much is said to be captured.
fn packet(number: u32, captured: u32) -> Vec<u8> {
    block(6, &[words(&[number, 0, 7, captured, 0]), frame()].concat())
}

/// Statistics of an interface.
fn statistics(number: u32, options: &[(u16, &[u8])]) -> Vec<u8> {
    block(5, &[words(&[number, 0, 0]), written(options)].concat())
}

fn found(blocks: &[Vec<u8>]) -> (Vec<Packet>, Report) {
    read(blocks.concat())
}

const LENGTH: u32 = 14 + 152;

/// Section 4.2.
#[test]
fn an_interface_says_its_name_rate_and_checksum() {
    let speed = 10_000_000_u64.to_be_bytes();
    let names = [&b"wlan0"[..], b"wlan0\0\0"];
    for (name, (checksum, bytes)) in names.into_iter().zip([(4_u8, 4), (32, 4)]) {
        let options: [(u16, &[u8]); 3] = [(2, name), (8, &speed), (13, &[checksum])];
        let (packets, report) = found(&[header(1), interface(96, &options), packet(0, LENGTH)]);
        let seen = &report.interfaces[0];
        assert_eq!(
            (seen.name.as_deref(), seen.rate_bps, seen.snap_length),
            (Some("wlan0"), Some(10_000_000), Some(96))
        );
        assert_eq!((packets[0].frame_bytes, seen.dropped), (LENGTH - bytes, None));
    }
    // 15 are bytes, as no checksum has as few bits; 16 are bits
    for (checksum, bytes) in [(15_u8, 15), (16, 2)] {
        let (packets, _) = found(&[header(1), interface(0, &[(13, &[checksum])]), packet(0, LENGTH)]);
        assert_eq!(packets[0].frame_bytes, LENGTH - bytes);
    }
    // a rate of 0 is none; an option of another length is passed over; 0 ends the list
    for options in [&[(8_u16, &[0; 8][..])][..], &[(8, &[1; 4])], &[(0, &[]), (8, &[1; 8])]] {
        let (_, report) = found(&[header(1), interface(0, options)]);
        assert_eq!(
            (report.interfaces[0].rate_bps, report.interfaces[0].snap_length),
            (None, None),
            "{options:?}"
        );
    }
    let long = [b'n'; 300];
    let (_, report) = found(&[header(1), interface(0, &[(2, &long), (8, &speed)])]);
    assert_eq!(report.interfaces[0].name.as_ref().map(String::len), Some(256));
    assert_eq!(report.interfaces[0].rate_bps, Some(10_000_000));
}

/// Section 4.6: what the interface and the system dropped, by the last statistics that say so.
#[test]
fn drops_are_those_of_the_last_statistics() {
    let count = |number: u64| number.to_be_bytes();
    let (three, four, nine) = (count(3), count(4), count(9));
    let first = statistics(0, &[(4, &nine), (5, &three), (7, &four)]);
    let drops = |blocks: &[Vec<u8>]| {
        let (_, report) =
            found(&[vec![header(1), interface(0, &[]), interface(0, &[])], blocks.to_vec()].concat());
        let all: Vec<_> = report.interfaces.iter().map(|interface| interface.dropped).collect();
        (all, report.warnings.len())
    };
    assert_eq!(drops(std::slice::from_ref(&first)), (vec![Some(7), None], 0));
    assert_eq!(drops(&[first.clone(), statistics(0, &[(5, &nine)])]), (vec![Some(9), None], 0));
    assert_eq!(drops(&[first, statistics(0, &[(4, &nine)])]), (vec![Some(7), None], 0));
    assert_eq!(drops(&[statistics(1, &[(7, &four)])]), (vec![None, Some(4)], 0));
    assert_eq!(drops(&[statistics(2, &[(7, &four)])]), (vec![None, None], 1));
    assert_eq!(drops(&[statistics(0, &[(5, &[1; 4])])]), (vec![None, None], 0));
    // interfaces are counted from a section's first
    let (_, report) =
        found(&[header(1), interface(0, &[]), header(1), interface(0, &[]), statistics(0, &[(5, &three)])]);
    assert_eq!(report.interfaces.iter().map(|each| each.dropped).collect::<Vec<_>>(), [None, Some(3)]);
}

/// Section 3.1: a length of whole words, which holds at least its type and itself twice. Behind one that is not, reading goes on.
#[test]
fn a_length_that_cannot_be_costs_what_is_before_the_next_block() {
    for (length, is_bad) in [(8, true), (13, true), (12, false), ((1 << 28) + 4, true)] {
        let mut odd = block(99, &[]);
        odd[4..8].copy_from_slice(&u32::to_be_bytes(length));
        let (packets, report) = found(&[header(1), interface(0, &[]), odd, packet(0, LENGTH)]);
        let expected = Notice { warning: Warning::BadBlock, count: 1, first_byte: 28 + 20 };
        assert_eq!(report.warnings, if is_bad { vec![expected] } else { vec![] });
        assert_eq!((packets.len(), report.skipped_bytes), (1, if is_bad { 12 } else { 0 }), "{length}");
    }
    let mut headless = header(1);
    headless[8] = 0;
    let (packets, report) = found(&[header(1), interface(0, &[]), headless, packet(0, LENGTH)]);
    assert_eq!((packets.len(), report.warnings[0].warning), (1, Warning::BadBlock));
    // a packet's block that would hold all that follows
    let mut large = packet(0, LENGTH);
    large[4..8].copy_from_slice(&u32::to_be_bytes(LENGTH * 4));
    let blocks = [vec![header(1), interface(0, &[]), large], vec![packet(0, LENGTH); 9]].concat();
    let (packets, report) = found(&blocks);
    assert_eq!((packets.len(), report.warnings.len()), (9, 1));
}

/// A block whose length at its end differs, or whose packet is longer than it, is reported; reading goes on.
#[test]
fn other_damage_costs_a_block() {
    let good = packet(0, LENGTH);
    let mut odd = block(99, &[1; 8]);
    *odd.last_mut().unwrap() = 0;
    let warned = |blocks: &[Vec<u8>]| {
        let (packets, report) =
            found(&[vec![header(1), interface(0, &[])], blocks.to_vec(), vec![good.clone()]].concat());
        (packets.len(), report.warnings.iter().map(|notice| notice.warning).collect::<Vec<_>>())
    };
    assert_eq!(warned(&[odd]), (1, vec![Warning::BadBlock]));
    // padded to 168
    assert_eq!(warned(&[packet(0, 168)]), (2, vec![]));
    assert_eq!(warned(&[packet(0, 169)]), (1, vec![Warning::BadBlock]));
    assert_eq!(warned(&[packet(0, 262_144)]), (1, vec![Warning::BadBlock]));
    assert_eq!(warned(&[packet(0, 262_145)]), (1, vec![Warning::BadLength]));
    assert_eq!(warned(&[packet(1, LENGTH)]), (1, vec![Warning::UnknownInterface]));
    assert_eq!(warned(&[block(6, &words(&[0, 0, 0, 0]))]), (1, vec![Warning::BadBlock]));
    assert_eq!(warned(&[block(1, &words(&[1 << 16]))]), (1, vec![Warning::BadBlock]));
    assert_eq!(warned(&[block(3, &[])]), (1, vec![Warning::BadBlock]));
}

/// Section 4.1: a later version's blocks mean nothing, up to the next section.
#[test]
fn a_section_of_an_unknown_version_is_passed_over() {
    let section = |major| [header(major), interface(0, &[]), packet(0, LENGTH), statistics(9, &[])].concat();
    let (packets, report) = found(&[section(2), section(1)]);
    assert_eq!((packets.len(), packets[0].interface, report.interfaces.len()), (1, 0, 1));
    let warnings: Vec<_> = report.warnings.iter().map(|notice| (notice.warning, notice.count)).collect();
    assert_eq!(warnings, [(Warning::BadBlock, 1), (Warning::UnknownVersion, 1)]);
}

/// A block of more than is looked at: the packet's headers are read, and what follows it is found.
#[test]
fn a_packet_larger_than_what_is_looked_at_is_passed_over() {
    let mut large = frame();
    large.resize(200_000, 0);
    let length = large.len() as u32;
    let block = block(6, &[words(&[0, 0, 7, length, length]), large].concat());
    let (packets, report) = found(&[header(1), interface(0, &[]), block.clone(), packet(0, LENGTH), block]);
    assert_eq!((packets.len(), report.warnings), (3, vec![]));
    assert_eq!(packets.iter().map(|packet| packet.frame_bytes).collect::<Vec<_>>(), [length, LENGTH, length]);
}

#[test]
fn a_file_that_ends_within_a_block_was_cut() {
    let blocks = [header(1), interface(0, &[]), packet(0, LENGTH), packet(0, LENGTH)];
    let whole = blocks.concat();
    let ends: Vec<usize> = (1..=4).map(|count| blocks[..count].concat().len()).collect();
    for length in ends[0]..=whole.len() {
        let (packets, report) = read(whole[..length].to_vec());
        let is_clean = ends.contains(&length);
        let warnings: Vec<_> = report.warnings.iter().map(|notice| notice.warning).collect();
        assert_eq!(warnings, if is_clean { vec![] } else { vec![Warning::Cut] }, "{length}");
        assert_eq!(packets.len(), ends[2..].iter().filter(|&&end| end <= length).count());
    }
}

/// Sections 3.5 and 4.3: behind the padding; 1 came in, 2 went out, 0 does not say.
#[test]
fn a_packet_says_which_way_it_went() {
    for (flags, expected) in [(0_u32, None), (1, Some(false)), (2, Some(true)), (3, None), (0xF6, Some(true))]
    {
        let said = flags.to_be_bytes();
        for before in [&[][..], &[(1_u16, &b"a comment"[..])]] {
            let options = [before, &[(2, &said)]].concat();
            let padding = vec![0; (LENGTH.next_multiple_of(4) - LENGTH) as usize];
            let head = words(&[0, 0, 7, LENGTH, LENGTH]);
            let block = block(6, &[head, frame(), padding, written(&options)].concat());
            let (packets, report) = found(&[header(1), interface(0, &[]), block]);
            assert_eq!((packets[0].outbound, &report.warnings[..]), (expected, &[][..]));
        }
    }
    let (packets, _) = found(&[header(1), interface(0, &[]), packet(0, LENGTH)]);
    assert_eq!(packets[0].outbound, None);
}
