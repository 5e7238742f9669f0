//! The older format: draft-ietf-opsawg-pcap, sections 4 (the file's head) and 5 (records).
//!
//! The framing is written here, as is pcapng's, because crates for it lack what captures of others need: powers of two in
//! `if_tsresol`, `if_tsoffset` in either byte order, and no allocation per packet.

use super::frame::{Desk, Frame, ORIGINAL_BYTES, Order, PACKET_BYTES};
use super::report::{Interface, Warning};
use super::window::{LOOKED_BYTES, SOUGHT_BYTES};

const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;
const HEAD_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;
/// A packet that carries anything.
const LEAST_BYTES: u32 = 14;
/// Heads that are looked at in a row where the next record is looked for, as far as they are in sight: of two, one in some thousand places in
/// packets of small numbers could be a record's.
const CHAIN: usize = 4;
/// Records next to each other are not as far apart. Our choice.
const APART_S: u32 = 86_400;
/// Nor is one as much earlier than the one before it: processors that capture side by side, and merged files, differ by less. Our choice.
const BACK_S: u32 = 60;
/// In the word of the link type: a frame's checksum is captured, and its length in units of 16 bits.
const CHECKSUM_IS_KNOWN: u32 = 0x0400_0000;

/// A pcap file behind its head.
pub(super) struct Pcap {
    order: Order,
    ns_per_unit: u64,
    link_type: u16,
    checksum_bytes: u32,
    /// What is kept of a packet by the file's head, which some programs write wrong; 64 KiB where that says nothing.
    usual_bytes: u32,
    /// Seconds of the last two records; of one the time may be damaged.
    seconds: Option<[u32; 2]>,
    ended: bool,
}

impl Pcap {
    /// Reads the head; `None` if it is not pcap's.
    pub(super) fn open(desk: &mut Desk) -> Option<Pcap> {
        let head = desk.window.ahead(HEAD_BYTES)?;
        let (order, ns_per_unit) = match (Order::Little.word(head, 0), Order::Big.word(head, 0)) {
            (MICROSECONDS, _) => (Order::Little, 1000),
            (NANOSECONDS, _) => (Order::Little, 1),
            (_, MICROSECONDS) => (Order::Big, 1000),
            (_, NANOSECONDS) => (Order::Big, 1),
            _ => return None,
        };
        let (snap_length, link) = (order.word(head, 16), order.word(head, 20));
        let checksum_bytes = if link & CHECKSUM_IS_KNOWN == 0 { 0 } else { (link >> 28) * 2 };
        let link_type = link as u16;
        desk.window.pass(HEAD_BYTES as u64);
        let usual_bytes =
            if snap_length == 0 { LOOKED_BYTES as u32 } else { snap_length.min(LOOKED_BYTES as u32) };
        let snap_length = (snap_length > 0).then_some(snap_length);
        desk.interfaces.push(Interface { link_type, snap_length, ..Interface::default() });
        Some(Pcap { order, ns_per_unit, link_type, checksum_bytes, usual_bytes, seconds: None, ended: false })
    }

    #[inline]
    pub(super) fn next<'a>(&mut self, desk: &'a mut Desk) -> Option<Frame<'a>> {
        let (at_byte, head) = self.head(desk)?;
        let [seconds, units, captured, mut original] = head;
        if original > ORIGINAL_BYTES {
            desk.notices.add(Warning::BadLength, at_byte);
            original = captured;
        }
        self.seconds = Some([seconds, self.seconds.map_or(seconds, |[last, _]| last)]);
        let looked = RECORD_BYTES + LOOKED_BYTES.min(captured as usize);
        let bytes = desk.window.take(looked, RECORD_BYTES as u64 + u64::from(captured))?;
        Some(Frame {
            at_ns: u64::from(seconds) * 1_000_000_000 + u64::from(units) * self.ns_per_unit,
            interface: 0,
            link_type: self.link_type,
            bytes: &bytes[RECORD_BYTES..],
            outbound: None,
            original_bytes: original.max(captured).saturating_sub(self.checksum_bytes),
            at_byte,
        })
    }

    /// The next record's place and head, behind what is damaged.
    #[inline]
    fn head(&mut self, desk: &mut Desk) -> Option<(u64, [u32; 4])> {
        loop {
            if self.ended {
                return None;
            }
            let at_byte = desk.window.position();
            let head = self.words(desk.window.ahead(RECORD_BYTES)?);
            if head[2] <= self.usual_bytes || self.is_followed(desk, head[2]) {
                return Some((at_byte, head));
            }
            let is_record = |ahead: &[u8], is_all: bool| self.is_record(ahead, is_all);
            self.ended = !desk.skip(Warning::BadLength, is_record);
        }
    }

    fn words(&self, head: &[u8]) -> [u32; 4] {
        [0, 4, 8, 12].map(|at| self.order.word(head, at))
    }

    /// Whether a packet that is longer than usual can be: another record follows it, or it is the last.
    #[cold]
    fn is_followed(&self, desk: &mut Desk, captured: u32) -> bool {
        if captured > PACKET_BYTES {
            return false;
        }
        let whole = RECORD_BYTES + captured as usize;
        match desk.window.ahead(whole + RECORD_BYTES) {
            Some(ahead) => {
                let next = self.words(&ahead[whole..]);
                self.is_likely(next, PACKET_BYTES) && self.can_follow(next)
            }
            None => desk.window.ended_at(whole),
        }
    }

    /// Whether a head may be one: of about the time of those before, if there are any, and of a length that can be.
    fn can_follow(&self, [seconds, _, captured, _]: [u32; 4]) -> bool {
        captured <= PACKET_BYTES
            && self.seconds.is_none_or(|before| before.iter().any(|&last| is_near(last, seconds)))
    }

    /// Whether a record is ahead: all that its head says can be, and so can what follows it, or it is the last.
    fn is_record(&self, ahead: &[u8], is_all: bool) -> bool {
        let mut at = 0;
        let mut last = None;
        for seen in 0..CHAIN {
            let Some(head) = ahead.get(at..at + RECORD_BYTES).map(|head| self.words(head)) else {
                return seen > 1 || (is_all && at == ahead.len() && seen > 0);
            };
            let is_in_time = last.map_or_else(|| self.can_follow(head), |seconds| is_next(seconds, head[0]));
            if !is_in_time || !self.is_likely(head, SOUGHT_BYTES as u32) {
                return false;
            }
            last = Some(head[0]);
            at += RECORD_BYTES + head[2] as usize;
        }
        true
    }

    /// Whether what a head says of a packet can be: less than a second beside the seconds, and no more kept than there was.
    fn is_likely(&self, [_, units, captured, original]: [u32; 4], most: u32) -> bool {
        u64::from(units) * self.ns_per_unit < 1_000_000_000
            && (LEAST_BYTES..=original.min(most)).contains(&captured)
            && original <= ORIGINAL_BYTES
    }

    /// Whether it stopped before the input's end.
    pub(super) fn gave_up(&self) -> bool {
        self.ended
    }
}

/// Whether records of such times may be next to each other.
fn is_near(one: u32, other: u32) -> bool {
    one.abs_diff(other) <= APART_S
}

/// Whether a record of one time may be followed by one of the other.
fn is_next(one: u32, other: u32) -> bool {
    is_near(one, other) && one.saturating_sub(other) <= BACK_S
}
