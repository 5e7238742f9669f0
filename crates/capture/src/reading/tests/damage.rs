//! Damaged files: what is before the damage is read, and nothing panics.

use proptest::prelude::*;

use super::build::{ethernet, pcap, read, tcp4, udp};
use super::files::section;
use crate::reading::{Notice, Reader, Warning};

fn file() -> Vec<u8> {
    let tcp = |size| ethernet(0x0800, &tcp4(size));
    let tunnel = super::build::ipv4(17, &udp(9, 4789, &[&[8, 0, 0, 0, 0, 0, 9, 0][..], &tcp(30)].concat()));
    let frames: Vec<Vec<u8>> = (0..30)
        .map(|number| if number % 5 == 4 { ethernet(0x0800, &tunnel) } else { tcp(10 * number) })
        .collect();
    pcap(1, &frames)
}

#[test]
fn a_cut_file_gives_what_is_before_the_cut() {
    let whole = read(file()).0;
    for length in 24..file().len() {
        let mut cut = file();
        cut.truncate(length);
        let (packets, report) = read(cut);
        assert!(whole.starts_with(&packets));
        let warns = report.warnings.iter().any(|notice| notice.warning == Warning::Cut);
        let ends = report.bytes == length as u64 && packets.len() as u64 == report.frames;
        assert!(warns || ends, "{length}: {report:?}");
    }
}

/// One wrong length of a record costs it, and no other: too much for any packet, for the file's packets, and for its rest.
#[test]
fn a_length_that_cannot_be_costs_one_record() {
    let third = 24 + 2 * (16 + 14 + 52) + 10;
    let whole = read(file()).0;
    for length in [u32::MAX, 6_000_000, 262_145, 100_000] {
        let mut wrong = file();
        wrong[third + 8..third + 12].copy_from_slice(&length.to_le_bytes());
        let (packets, report) = read(wrong);
        let mut others = whole.clone();
        others.remove(2);
        assert_eq!(packets, others, "{length}");
        let skipped = 16 + 14 + 52 + 20;
        assert_eq!(report.skipped_bytes, skipped);
        assert_eq!(report.bytes + skipped, file().len() as u64);
        let expected = Notice { warning: Warning::BadLength, count: 1, first_byte: third as u64 };
        assert_eq!(report.warnings, [expected]);
    }
}

/// The first record, and the last: there is no time before, and nothing behind.
#[test]
fn the_first_and_the_last_record_may_be_damaged_too() {
    let whole = file();
    let (mut last, mut next) = (24, 24);
    while next < whole.len() {
        let length: [u8; 4] = whole[next + 8..next + 12].try_into().unwrap();
        (last, next) = (next, next + 16 + u32::from_le_bytes(length) as usize);
    }
    for place in [24, last] {
        let mut wrong = file();
        wrong[place + 8..place + 12].copy_from_slice(&u32::MAX.to_le_bytes());
        let (packets, report) = read(wrong);
        assert_eq!((packets.len(), report.warnings[0].count), (29, 1), "{place}: {report:?}");
    }
}

/// A length on the link that cannot be counts as what was captured: one of 4 GB was more than all other packets.
#[test]
fn a_length_on_the_link_that_cannot_be_is_what_was_captured() {
    let whole = read(file()).0;
    for (original, is_wrong) in [(u32::MAX, true), ((1 << 20) + 1, true), (1 << 20, false)] {
        let mut wrong = file();
        wrong[24 + 12..24 + 16].copy_from_slice(&original.to_le_bytes());
        let (packets, report) = read(wrong);
        let length = if is_wrong { whole[0].frame_bytes } else { original };
        assert_eq!((packets[0].frame_bytes, report.warnings.len()), (length, usize::from(is_wrong)));
        assert_eq!(packets[1..], whole[1..]);
    }
}

/// Some programs write a snap length that is less than their packets.
#[test]
fn packets_beyond_a_wrong_snap_length_are_read() {
    let mut odd = file();
    odd[16..20].copy_from_slice(&68_u32.to_le_bytes());
    let (packets, report) = read(odd);
    assert_eq!((packets, report.warnings.len()), (read(file()).0, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_stops_the_program(
        newer in any::<bool>(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        cut in any::<prop::sample::Index>(),
        inserted in proptest::collection::vec(any::<u8>(), 0..40),
        at in any::<prop::sample::Index>(),
    ) {
        let mut damaged = if newer { section(9, 1, 7).repeat(12) } else { file() };
        for (place, value) in flips {
            let length = damaged.len();
            damaged[place.index(length)] = value;
        }
        let place = at.index(damaged.len());
        damaged.splice(place..place, inserted);
        damaged.truncate(cut.index(damaged.len()) + 1);
        let length = damaged.len();
        if let Ok(mut reader) = Reader::new(Box::new(std::io::Cursor::new(damaged))) {
            let packets = reader.by_ref().count();
            let report = reader.report();
            prop_assert!(packets * 16 <= length && report.bytes <= length as u64 + (1 << 28));
        }
    }
}
