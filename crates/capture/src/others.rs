//! Packets of others, which a kernel sent and somebody saw, as a pcapng file like a run's.
//!
//! They keep their addresses, ports and numbers. What a packet has at all places is its headers but for what routers change in
//! them (RFC 791 section 3.1: service, time to live, checksum) and for the checksum of the transport, which hosts may leave to
//! devices; by that it is known again, and has one number.

use std::collections::BTreeMap;

use crate::blocks::{Blocks, Output, Report};
use crate::pcapng::{self, Direction, PacketRecord};

const TCP: u8 = 6;
const UDP: u8 = 17;

/// Where packets were seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The interface's name.
    pub name: String,
    /// What is seen there.
    pub description: String,
    /// A link's rate.
    pub rate_bps: Option<u64>,
}

/// A packet that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Since the run's start.
    pub time_ns: u64,
    /// Where, by index.
    pub place: u32,
    /// It left there; otherwise it came.
    pub outbound: bool,
    /// Its first bytes, from IP's header on.
    pub headers: Vec<u8>,
    /// All of its bytes.
    pub original_bytes: u32,
}

/// Writes a capture of at most `most` packets, in order of time.
pub fn write(
    output: Box<dyn Output>,
    comment: &str,
    places: &[Place],
    mut packets: Vec<Seen>,
    most: u64,
) -> Report {
    packets.sort_by_key(|packet| (packet.time_ns, packet.place));
    let mut blocks = Blocks::new(output);
    let application = concat!("Bufferlab ", env!("CARGO_PKG_VERSION"));
    blocks.push(|buffer| pcapng::section(buffer, application, comment));
    for place in places {
        blocks.push(|buffer| pcapng::interface(buffer, &place.name, &place.description, place.rate_bps));
    }
    let mut numbers = BTreeMap::new();
    let mut seen = vec![0; places.len()];
    let last_ns = packets.last().map_or(0, |packet| packet.time_ns);
    let total = packets.len() as u64;
    let kept = total.min(most);
    for packet in packets.into_iter().take(kept as usize) {
        let next = numbers.len() as u64;
        let id = *numbers.entry(unchanged(&packet.headers)).or_insert(next);
        seen[packet.place as usize] += 1;
        let direction = if packet.outbound { Direction::Outbound } else { Direction::Inbound };
        let record = PacketRecord {
            interface: packet.place,
            time_ns: packet.time_ns,
            headers: &packet.headers,
            original_bytes: packet.original_bytes,
            direction,
            id,
            comment: None,
        };
        blocks.push(|buffer| pcapng::packet(buffer, &record));
    }
    for (place, &count) in (0..).zip(&seen) {
        blocks.push(|buffer| pcapng::statistics(buffer, place, last_ns, count));
    }
    let heads = 1 + places.len() as u64;
    let (bytes, written, problem) = blocks.finish();
    let records = written.saturating_sub(heads).min(kept);
    Report { records, left_out: total - kept, bytes, problem }
}

/// What a packet has everywhere on its way.
fn unchanged(headers: &[u8]) -> Vec<u8> {
    let mut same = headers.to_vec();
    let transport = headers.first().map_or(0, |first| usize::from(first & 0x0f) * 4);
    let checksum = match headers.get(9) {
        Some(&TCP) => transport + 16,
        Some(&UDP) => transport + 6,
        _ => 10,
    };
    for at in [1, 8, 10, 11, checksum, checksum + 1] {
        if let Some(byte) = same.get_mut(at) {
            *byte = 0;
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::tests::Memory;
    use crate::reading::Reader;

    fn place(name: &str) -> Place {
        Place { name: name.to_owned(), description: String::new(), rate_bps: None }
    }

    fn segment(number: u8, ttl: u8) -> Vec<u8> {
        let mut bytes = vec![0_u8; 40];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&1500_u16.to_be_bytes());
        (bytes[8], bytes[9], bytes[27]) = (ttl, TCP, number);
        bytes[32] = 5 << 4;
        bytes
    }

    fn seen(time_ns: u64, place: u32, headers: Vec<u8>) -> Seen {
        Seen { time_ns, place, outbound: place == 0, headers, original_bytes: 1500 }
    }

    #[test]
    fn packets_stand_in_order_of_time_and_are_known_again() {
        let memory = Memory::default();
        let packets =
            vec![seen(30, 1, segment(1, 63)), seen(10, 0, segment(1, 64)), seen(20, 0, segment(2, 64))];
        let places = [place("senders"), place("receivers")];
        let report = write(Box::new(memory.clone()), "a kernel", &places, packets, 10);
        assert_eq!((report.records, report.left_out, report.problem), (3, 0, None));
        let bytes = memory.bytes();
        assert_eq!(report.bytes, bytes.len() as u64);
        let reader = Reader::new(Box::new(std::io::Cursor::new(bytes.clone()))).unwrap();
        let times: Vec<_> = reader.map(|packet| (packet.at_ns, packet.interface)).collect();
        assert_eq!(times, [(10, 0), (20, 0), (30, 1)]);
        assert_eq!(unchanged(&segment(1, 64)), unchanged(&segment(1, 63)));
        assert_ne!(unchanged(&segment(1, 64)), unchanged(&segment(2, 64)));
        // epb_packetid: the third packet is the first again
        let ids: Vec<u64> = bytes
            .windows(4)
            .enumerate()
            .filter(|(_, word)| *word == [5, 0, 8, 0])
            .map(|(at, _)| u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()))
            .collect();
        assert_eq!(ids, [0, 1, 0]);
    }

    #[test]
    fn what_is_beyond_the_limit_is_counted() {
        let packets = (0..5).map(|number| seen(number, 0, segment(number as u8, 64))).collect();
        let report = write(Box::new(Memory::default()), "", &[place("senders")], packets, 2);
        assert_eq!((report.records, report.left_out), (2, 3));
    }

    #[test]
    fn headers_may_be_cut_anywhere() {
        for length in 0..40 {
            assert_eq!(unchanged(&segment(1, 64)[..length]).len(), length);
        }
    }

    /// Statistics at the end: `isb_ifrecv` of each place.
    #[test]
    fn each_place_has_its_count() {
        let memory = Memory::default();
        let packets =
            (0..5).map(|number| seen(number, u32::from(number > 2), segment(number as u8, 64))).collect();
        let places = [place("senders"), place("receivers")];
        let report = write(Box::new(memory.clone()), "", &places, packets, 9);
        let bytes = memory.bytes();
        let counts: Vec<u64> = bytes
            .windows(4)
            .enumerate()
            .filter(|(_, word)| *word == [4, 0, 8, 0])
            .map(|(at, _)| u64::from_le_bytes(bytes[at + 4..at + 12].try_into().unwrap()))
            .collect();
        assert_eq!((counts, report.records), (vec![3, 2], 5));
        // room for the heads and two packets
        let full = Memory { room: Some(bytes.len() - 3 * 100), ..Memory::default() };
        let packets = (0..5).map(|number| seen(number, 0, segment(number as u8, 64))).collect();
        let cut = write(Box::new(full), "", &places, packets, 9);
        assert!(cut.problem.is_some() && cut.records < 5, "{cut:?}");
    }

    /// RFC 768 and RFC 9293: the checksum is bytes 6 and 7 of a datagram, 16 and 17 of a segment; other protocols' are theirs.
    #[test]
    fn only_what_changes_on_the_way_is_left_out() {
        let kept = |protocol: u8, words: u8| -> Vec<usize> {
            let mut bytes = vec![0xFF_u8; 60];
            (bytes[0], bytes[9]) = (0x40 | words, protocol);
            let same = unchanged(&bytes);
            (0..60).filter(|&at| same[at] != bytes[at]).collect()
        };
        assert_eq!(kept(TCP, 5), [1, 8, 10, 11, 36, 37]);
        assert_eq!(kept(TCP, 6), [1, 8, 10, 11, 40, 41]);
        assert_eq!(kept(UDP, 5), [1, 8, 10, 11, 26, 27]);
        assert_eq!(kept(1, 5), [1, 8, 10, 11]);
    }
}
