//! Round trips of QUIC, of which an observer sees little.

use crate::least::Least;

/// Packets with the short header before the spin bit is believed.
const LEAST_PACKETS: u32 = 16;
/// A bit that changes more often than once in such a number of packets does not spin, but is random (RFC 9000 section 17.4 asks for
/// that, or a constant, on one path in eight).
const PACKETS_AN_EDGE: u32 = 4;
/// Changes that follow each other sooner than such a part of the round trip come from reordering.
const LEAST_PART: u64 = 4;
/// That time before a round trip is known.
const LEAST_NS: u64 = 1_000_000;

const LONG: u8 = 0x80;
const SPIN: u8 = 0x20;

/// One QUIC connection, the client being the initiator.
///
/// The client's first packet and the server's answer give the round trip to the server, the client's next packet that to the client (RFC
/// 9312 section 3.8.1). Afterwards the spin bit: the server reflects it, the client inverts what it receives, so it changes once a round
/// trip, and from a change in one direction to the answer in the other is one leg (RFC 9000 section 17.4, RFC 9312 section 3.8.2). A
/// sample contains the time until the end sends something, so it is too long where applications pause.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quic {
    /// The client's first packet; how many it sent before the answer; the answer.
    first: Option<u64>,
    tries: u32,
    answer: Option<u64>,
    is_open: bool,
    /// Bit and time of the last change in each direction that is believed.
    spin: [Option<bool>; 2],
    edges: [Option<u64>; 2],
    /// The bit of the last packet in each direction, and how often it differed from that before.
    last: [bool; 2],
    changes: u32,
    short_packets: u32,
}

/// A round trip that QUIC shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trip {
    /// To the end that receives from this one (0: the initiator sends).
    Leg(usize, u64),
    /// Of the whole path.
    Whole(u64),
}

impl Quic {
    /// A packet, with its first byte, of the initiator (0) or responder (1); `path` is the smallest round trip of the path so far.
    pub(crate) fn packet(&mut self, now: u64, from: usize, byte: u8, path: &Least) -> Option<Trip> {
        if byte & LONG != 0 {
            return self.opening(now, from);
        }
        self.short_packets += 1;
        let bit = byte & SPIN != 0;
        let Some(before) = self.spin[from] else {
            (self.spin[from], self.last[from]) = (Some(bit), bit);
            return None;
        };
        self.changes += u32::from(std::mem::replace(&mut self.last[from], bit) != bit);
        let least = path.smallest().map_or(LEAST_NS, |rtt| rtt / LEAST_PART);
        if before == bit || self.edges[from].is_some_and(|edge| now - edge < least) {
            return None;
        }
        self.spin[from] = Some(bit);
        let last = self.edges[from].replace(now);
        if !self.spins() {
            return None;
        }
        // The server answers with the same bit, the client with the other one.
        let other = 1 - from;
        let is_answer = self.spin[other] == Some(if from == 1 { bit } else { !bit });
        match self.edges[other].filter(|&edge| is_answer && last.is_none_or(|last| edge >= last)) {
            Some(edge) => Some(Trip::Leg(other, now - edge)),
            None => last.map(|last| Trip::Whole(now - last)),
        }
    }

    /// Whether the bit has changed, but not at random.
    pub(crate) fn spins(&self) -> bool {
        self.changes >= 2
            && self.short_packets >= LEAST_PACKETS
            && self.changes.saturating_mul(PACKETS_AN_EDGE) <= self.short_packets
    }

    fn opening(&mut self, now: u64, from: usize) -> Option<Trip> {
        if from == 0 && self.answer.is_none() {
            self.first.get_or_insert(now);
            self.tries += 1;
            return None;
        }
        if from == 1 && self.answer.is_none() {
            self.answer = Some(now);
            return self.first.filter(|_| self.tries == 1).map(|first| Trip::Leg(0, now - first));
        }
        if from == 1 || self.is_open {
            return None;
        }
        self.is_open = true;
        self.answer.map(|answer| Trip::Leg(1, now - answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_opening_measures_both_sides() {
        let (mut quic, path) = (Quic::default(), Least::default());
        assert_eq!(quic.packet(0, 0, 0xc0, &path), None);
        assert_eq!(quic.packet(30, 1, 0xc0, &path), Some(Trip::Leg(0, 30)));
        assert_eq!(quic.packet(31, 1, 0xe0, &path), None);
        assert_eq!(quic.packet(50, 0, 0xe0, &path), Some(Trip::Leg(1, 20)));
        assert_eq!(quic.packet(60, 0, 0xe0, &path), None);
    }

    /// Twenty packets a round trip of 20 ms, 15 ms of which are on the server's side.
    fn spin(bits: impl Fn(u64, u64) -> bool) -> Vec<Trip> {
        let (mut quic, mut path) = (Quic::default(), Least::default());
        let byte = |bit: bool| 0x40 | if bit { SPIN } else { 0 };
        let mut trips = Vec::new();
        for ms in 0..200 {
            let client = bits(ms / 20, ms);
            let server = ms >= 15 && bits((ms - 15) / 20, ms + 1_000);
            trips.extend(quic.packet(ms * MS, 0, byte(client), &path));
            trips.extend(quic.packet(ms * MS, 1, byte(server), &path));
            path.add(20 * MS);
        }
        trips
    }

    #[test]
    fn the_spin_bit_measures_both_sides() {
        let trips = spin(|round, _| round % 2 == 1);
        assert!(trips.len() >= 10, "{trips:?}");
        assert!(
            trips.iter().all(|&trip| trip == Trip::Leg(0, 15 * MS) || trip == Trip::Leg(1, 5 * MS)),
            "{trips:?}"
        );
    }

    #[test]
    fn a_constant_or_random_bit_measures_nothing() {
        assert_eq!(spin(|_, _| true).len(), 0);
        let random = spin(|_, ms| (ms * 0x9e37_79b9) >> 7 & 1 == 1);
        assert!(random.len() <= 2, "{random:?}");
    }
}
