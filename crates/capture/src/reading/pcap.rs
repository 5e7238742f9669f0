//! The older format: draft-ietf-opsawg-pcap, sections 4 (the file's head) and 5 (records).
//!
//! The framing is written here, as is pcapng's, because crates for it lack what captures of others need: powers of two in
//! `if_tsresol`, `if_tsoffset` in either byte order, and no allocation per packet.

use super::frame::{Desk, Frame, Order, PACKET_BYTES};
use super::report::{Interface, Warning};
use super::window::LOOKED_BYTES;

const MICROSECONDS: u32 = 0xA1B2_C3D4;
const NANOSECONDS: u32 = 0xA1B2_3C4D;
const HEAD_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;
/// In the word of the link type: a frame's checksum is captured, and its length in units of 16 bits.
const CHECKSUM_IS_KNOWN: u32 = 0x0400_0000;

/// A pcap file behind its head.
pub(super) struct Pcap {
    order: Order,
    ns_per_unit: u64,
    link_type: u16,
    checksum_bytes: u32,
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
        let snap_length = (snap_length > 0).then_some(snap_length);
        desk.interfaces.push(Interface { link_type, snap_length, ..Interface::default() });
        Some(Pcap { order, ns_per_unit, link_type, checksum_bytes, ended: false })
    }

    #[inline]
    pub(super) fn next<'a>(&mut self, desk: &'a mut Desk) -> Option<Frame<'a>> {
        if self.ended {
            return None;
        }
        let at_byte = desk.window.position();
        let record = desk.window.ahead(RECORD_BYTES)?;
        let word = |at| self.order.word(record, at);
        let (seconds, units, captured, original) = (word(0), word(4), word(8), word(12));
        if captured > PACKET_BYTES {
            // without its length, the next record cannot be found
            desk.notices.add(Warning::LargePacket, at_byte);
            self.ended = true;
            return None;
        }
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

    /// Whether it stopped before the input's end.
    pub(super) fn gave_up(&self) -> bool {
        self.ended
    }
}
