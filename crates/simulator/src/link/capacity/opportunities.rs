//! Moments at which a number of bytes may leave: Mahimahi's packet-delivery traces.
//!
//! Behavior as in Mahimahi (`man mm-link`, and `src/packet/link_queue.cc` as of 2018: `rationalize`,
//! `use_a_delivery_opportunity`, `PACKET_SIZE`; R. Netravali et al., "Mahimahi: accurate record-and-replay for HTTP",
//! USENIX ATC 2015, section 4): bytes are counted, so several small packets may leave at once and a large one may need
//! several opportunities; what an opportunity has left when the queue is empty is lost; a packet that comes at that very
//! moment is too late for it; after the last one the list begins again, its times counted from the last one's.

use bufferlab_units::{Span, Time};

use super::{BYTE, Call, Passage, Window};

const PS_PER_MS: u64 = 1_000_000_000;

/// The next opportunity of an endless list.
#[derive(Clone, Debug)]
struct Cursor {
    at_ms: Vec<u32>,
    repeat_ms: u32,
    next: usize,
    base_ms: u64,
}

impl Cursor {
    fn time(&self) -> Time {
        Time::ZERO + Span::from_ps((self.base_ms + u64::from(self.at_ms[self.next])) * PS_PER_MS)
    }

    fn pass(&mut self) {
        self.next += 1;
        if self.next == self.at_ms.len() {
            self.next = 0;
            self.base_ms += u64::from(self.repeat_ms);
        }
    }
}

/// A transmitter that sends at given moments.
#[derive(Clone, Debug)]
pub(super) struct Opportunities {
    bytes: u32,
    cursor: Cursor,
    /// What is left of the last one, and when that was.
    left: u32,
    at: Time,
}

impl Opportunities {
    pub(super) fn new(at_ms: &[u32], bytes: u32, repeat_ms: u32) -> Opportunities {
        let cursor = Cursor { at_ms: at_ms.to_vec(), repeat_ms, next: 0, base_ms: 0 };
        Opportunities { bytes, cursor, left: 0, at: Time::ZERO }
    }

    pub(super) fn ready(&mut self, now: Time, call: Call) -> Time {
        if call == Call::Turn && self.left > 0 && self.at == now {
            return now;
        }
        let is_over = |time: Time| time < now || time == now && call == Call::Arrival;
        while is_over(self.cursor.time()) {
            self.cursor.pass();
        }
        self.cursor.time()
    }

    pub(super) fn send(&mut self, now: Time, wire_bytes: u32, window: Window) -> Passage {
        if self.at != now {
            self.left = 0;
        }
        let (mut needed, mut counted) = (wire_bytes, 0);
        while needed > 0 {
            if self.left == 0 {
                (self.at, self.left) = (self.cursor.time(), self.bytes);
                if self.at >= window.to {
                    return Passage { departs: Time::NEVER, work: counted };
                }
                self.cursor.pass();
            }
            let used = needed.min(self.left);
            needed -= used;
            self.left -= used;
            if window.holds(self.at) {
                counted += u128::from(used) * BYTE;
            }
        }
        Passage { departs: self.at, work: counted }
    }

    pub(super) fn offered(&self, window: Window) -> u128 {
        let mut cursor = Cursor { next: 0, base_ms: 0, ..self.cursor.clone() };
        let mut count = 0;
        while cursor.time() < window.to {
            count += u128::from(window.holds(cursor.time()));
            cursor.pass();
        }
        count * u128::from(self.bytes) * BYTE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Window = Window { from: Time::ZERO, to: Time::from_ps(1_000 * PS_PER_MS) };

    fn ms(time: Time) -> u64 {
        time.as_ps() / PS_PER_MS
    }

    fn at(ms: u64) -> Time {
        Time::from_ps(ms * PS_PER_MS)
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_need_several() {
        let mut link = Opportunities::new(&[5, 7, 20], 1504, 20);
        assert_eq!(ms(link.ready(at(0), Call::Arrival)), 5);
        assert_eq!(ms(link.send(at(5), 1000, ALL).departs), 5);
        assert_eq!(ms(link.ready(at(5), Call::Turn)), 5, "504 bytes are left");
        assert_eq!(ms(link.send(at(5), 1000, ALL).departs), 7);
        assert_eq!(ms(link.ready(at(7), Call::Turn)), 7, "1008 bytes are left");
        assert_eq!(ms(link.ready(at(7), Call::Arrival)), 20, "for what comes now they are lost");
    }

    /// The list of 20 ms begins again after its last entry, which is also the moment 0 of the next round.
    #[test]
    fn the_list_begins_again_and_unused_opportunities_are_lost() {
        let mut link = Opportunities::new(&[0, 5, 20], 1504, 20);
        assert_eq!(ms(link.ready(at(0), Call::Arrival)), 5, "too late for the one at 0");
        assert_eq!(ms(link.ready(at(30), Call::Arrival)), 40);
        let found = [(); 3].map(|()| ms(link.send(at(40), 1504, ALL).departs));
        assert_eq!(found, [40, 40, 45], "the last of a round and the first of the next");
    }

    #[test]
    fn what_is_offered_is_counted() {
        let link = Opportunities::new(&[1, 1, 4], 1504, 4);
        let window = Window { from: at(1), to: at(9) };
        // 1, 1, 4, 5, 5, 8
        assert_eq!(link.offered(window), 6 * 1504 * BYTE);
    }
}
