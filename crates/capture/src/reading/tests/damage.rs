//! Damaged files: what is before the damage is read, and nothing panics.

use proptest::prelude::*;

use super::build::{ethernet, pcap, read, tcp4, udp};
use super::files::section;
use crate::reading::{Reader, Warning};

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

#[test]
fn a_length_that_cannot_be_ends_the_reading() {
    let mut wrong = file();
    let third = 24 + 2 * (16 + 14 + 52) + 10;
    wrong[third + 8..third + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let (packets, report) = read(wrong);
    assert_eq!(packets.len(), 2);
    assert_eq!(report.warnings[0].warning, Warning::LargePacket);
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
