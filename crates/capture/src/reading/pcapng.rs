//! The newer format: draft-ietf-opsawg-pcapng. Section numbers are the draft's.
//!
//! A file is a sequence of blocks (section 3.1); a section header (4.1) says the byte order of what follows and forgets the
//! interfaces before it.

use super::clock::Clock;
use super::frame::{Desk, Frame, MOST_INTERFACES, ORIGINAL_BYTES, Order, PACKET_BYTES};
use super::report::{Interface, Warning};
use super::window::LOOKED_BYTES;

/// The same in both byte orders.
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
/// Obsolete (appendix A of the draft).
const PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
const DECRYPTION_SECRETS: u32 = 10;

const IF_NAME: u16 = 2;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const IF_FCSLEN: u16 = 13;
const IF_TSOFFSET: u16 = 14;
const EPB_FLAGS: u16 = 2;
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// Type and length.
const HEAD_BYTES: usize = 8;
/// Type, and length twice.
const FRAME_BYTES: u32 = 12;
/// The head of an enhanced packet block, before the packet; a packet block's is as long.
const PACKET_HEAD_BYTES: usize = 28;
/// The head of a simple packet block, before the packet.
const SIMPLE_HEAD_BYTES: usize = 12;
/// No writer makes blocks as large; a length beyond is damage.
const BLOCK_BYTES: u32 = 1 << 28;
/// What a packet's block has beside it: heads, and options of 64 KiB.
const OPTIONS_BYTES: u32 = 1 << 16;
/// What is read of a block: its head, what is looked at of a packet, padding, the length at its end.
const LOOKED_BLOCK_BYTES: u32 = LOOKED_BYTES as u32 + 64;
const NAME_BYTES: usize = 256;

/// What packets of an interface need.
struct Facts {
    /// Counts interfaces over all sections.
    number: usize,
    link_type: u16,
    snap_length: u32,
    checksum_bytes: u32,
    clock: Clock,
}

/// A pcapng file.
pub(super) struct Pcapng {
    order: Order,
    /// The interfaces of this section.
    facts: Vec<Facts>,
    /// The section is of an unknown version.
    foreign: bool,
    ended: bool,
}

/// Where a packet is in its block.
struct Place {
    interface: usize,
    units: Option<u64>,
    captured: u32,
    original: u32,
    head_bytes: usize,
    outbound: Option<bool>,
}

impl Pcapng {
    /// `None` if the input does not begin with a section header.
    pub(super) fn open(desk: &mut Desk) -> Option<Pcapng> {
        let head = desk.window.ahead(FRAME_BYTES as usize)?;
        let order = order_of(head)?;
        Some(Pcapng { order, facts: Vec::new(), foreign: false, ended: false })
    }

    #[inline]
    pub(super) fn next<'a>(&mut self, desk: &'a mut Desk) -> Option<Frame<'a>> {
        let (at_byte, place, body) = self.locate(desk)?;
        let facts = &self.facts[place.interface];
        if place.units.is_none() {
            desk.notices.add(Warning::NoTime, at_byte);
        }
        let mut original_bytes = place.original.max(place.captured);
        if original_bytes > ORIGINAL_BYTES {
            desk.notices.add(Warning::BadLength, at_byte);
            original_bytes = place.captured;
        }
        let end = body.min(place.head_bytes + place.captured as usize);
        Some(Frame {
            at_ns: place.units.map_or(0, |units| facts.clock.ns(units)),
            interface: facts.number as u32,
            link_type: facts.link_type,
            bytes: &desk.window.taken(end)[place.head_bytes..],
            outbound: place.outbound,
            original_bytes: original_bytes.saturating_sub(facts.checksum_bytes),
            at_byte,
        })
    }

    /// The next packet's block: where it begins, what it says, and how much of it was looked at.
    #[inline]
    fn locate(&mut self, desk: &mut Desk) -> Option<(u64, Place, usize)> {
        while !self.ended {
            let at_byte = desk.window.position();
            let head = desk.window.ahead(HEAD_BYTES)?;
            let (kind, mut length) = (self.order.word(head, 0), self.order.word(head, 4));
            if kind == SECTION_HEADER {
                let head = desk.window.ahead(FRAME_BYTES as usize)?;
                let Some(order) = order_of(head) else {
                    self.skip(desk);
                    continue;
                };
                (self.order, length) = (order, order.word(head, 4));
            }
            if !can_be(kind, length) {
                self.skip(desk);
                continue;
            }
            let looked = length.min(LOOKED_BLOCK_BYTES) as usize;
            let block = desk.window.ahead(looked)?;
            if looked as u32 == length && self.order.word(block, looked - 4) != length {
                if !self.is_followed(desk, looked) {
                    self.skip(desk);
                    continue;
                }
                desk.notices.add(Warning::BadBlock, at_byte);
            }
            desk.window.pass(u64::from(length));
            let block = desk.window.taken(looked);
            // without the length at its end
            let body = looked.min(length as usize - 4);
            let place = match kind {
                ENHANCED_PACKET | PACKET | SIMPLE_PACKET if self.foreign => continue,
                ENHANCED_PACKET => enhanced(self.order, &block[..body]),
                PACKET => obsolete(self.order, &block[..body]),
                SIMPLE_PACKET => self.simple(&block[..body], length),
                _ => {
                    // these are few and short
                    let block = block[..body].to_vec();
                    self.note(desk, kind, &block, at_byte);
                    continue;
                }
            };
            match self.check(place, length) {
                Ok(place) => return Some((at_byte, place, body)),
                Err(warning) => desk.notices.add(warning, at_byte),
            }
        }
        None
    }

    /// Whether it stopped before the input's end.
    pub(super) fn gave_up(&self) -> bool {
        self.ended
    }

    /// Goes on at the next place that can be a block's.
    #[cold]
    fn skip(&mut self, desk: &mut Desk) {
        self.ended = !desk.skip(Warning::BadBlock, |ahead, _| self.is_block(ahead));
    }

    /// Whether a block is ahead: its length is at both of its ends, and a packet's holds it and is of a known interface.
    fn is_block(&self, ahead: &[u8]) -> bool {
        let Some(head) = ahead.get(..FRAME_BYTES as usize) else { return false };
        let order = order_of(head).unwrap_or(self.order);
        let (kind, length) = (order.word(head, 0), order.word(head, 4));
        let (true, Some(block)) = (is_known(kind) && can_be(kind, length), ahead.get(..length as usize))
        else {
            return false;
        };
        let is_whole = order.word(block, block.len() - 4) == length;
        let is_held = || enhanced(order, block).is_some_and(|place| self.check(Some(place), length).is_ok());
        is_whole && (kind != ENHANCED_PACKET || is_held())
    }

    /// Whether another block follows one of such a length, or it is the last.
    #[cold]
    fn is_followed(&self, desk: &mut Desk, length: usize) -> bool {
        match desk.window.ahead(length + HEAD_BYTES) {
            Some(ahead) => {
                let (kind, next) = (self.order.word(ahead, length), self.order.word(ahead, length + 4));
                is_known(kind) && (kind == SECTION_HEADER || can_be(kind, next))
            }
            None => desk.window.ended_at(length),
        }
    }

    /// Whether a packet's block holds it and its interface is known.
    #[inline]
    fn check(&self, place: Option<Place>, length: u32) -> Result<Place, Warning> {
        let place = place.ok_or(Warning::BadBlock)?;
        if place.captured > PACKET_BYTES {
            return Err(Warning::BadLength);
        }
        if place.captured > length - 4 - place.head_bytes as u32 {
            return Err(Warning::BadBlock);
        }
        if place.interface >= self.facts.len() {
            return Err(Warning::UnknownInterface);
        }
        Ok(place)
    }

    /// Section 4.4: of the section's first interface, without a time; what is captured follows from the lengths.
    fn simple(&self, block: &[u8], length: u32) -> Option<Place> {
        let original = self.order.word(block.get(..SIMPLE_HEAD_BYTES)?, 8);
        let snap_length = self.facts.first().map_or(0, |facts| facts.snap_length);
        let limit = if snap_length == 0 { u32::MAX } else { snap_length };
        let captured = original.min(limit).min(length - 4 - SIMPLE_HEAD_BYTES as u32);
        let head_bytes = SIMPLE_HEAD_BYTES;
        Some(Place { interface: 0, units: None, captured, original, head_bytes, outbound: None })
    }

    /// Blocks that hold no packet.
    fn note(&mut self, desk: &mut Desk, kind: u32, block: &[u8], at_byte: u64) {
        let read = match kind {
            SECTION_HEADER => self.section(desk, block, at_byte),
            INTERFACE_DESCRIPTION if !self.foreign => self.interface(desk, block, at_byte),
            INTERFACE_STATISTICS if !self.foreign => self.statistics(desk, block),
            _ => Some(()),
        };
        if read.is_none() {
            desk.notices.add(Warning::BadBlock, at_byte);
        }
    }

    /// Section 4.1. Version 1.2 was written by some programs and is the same as 1.0.
    fn section(&mut self, desk: &mut Desk, block: &[u8], at_byte: u64) -> Option<()> {
        self.facts.clear();
        self.foreign = self.order.half(block.get(..24)?, 12) != 1;
        if self.foreign {
            desk.notices.add(Warning::UnknownVersion, at_byte);
        }
        Some(())
    }

    /// Section 4.2.
    fn interface(&mut self, desk: &mut Desk, block: &[u8], at_byte: u64) -> Option<()> {
        let order = self.order;
        let head = block.get(..16)?;
        let (link_type, snap_length) = (order.half(head, 8), order.word(head, 12));
        let number = desk.interfaces.len();
        let mut facts = Facts { number, link_type, snap_length, checksum_bytes: 0, clock: Clock::default() };
        let mut interface = Interface {
            link_type,
            snap_length: (snap_length > 0).then_some(snap_length),
            ..Interface::default()
        };
        let (mut resolution, mut offset_s) = (None, 0);
        for (code, value) in options(order, &block[16..]) {
            match (code, value.len()) {
                (IF_NAME, _) => {
                    let name = String::from_utf8_lossy(&value[..value.len().min(NAME_BYTES)]);
                    interface.name = Some(name.trim_end_matches('\0').to_owned());
                }
                (IF_SPEED, 8) => interface.rate_bps = Some(order.double(value, 0)).filter(|&rate| rate > 0),
                (IF_TSRESOL, 1) => resolution = Some(value[0]),
                // in bits by the draft, but programs also write bytes
                (IF_FCSLEN, 1) => {
                    facts.checksum_bytes = u32::from(if value[0] >= 16 { value[0] / 8 } else { value[0] });
                }
                (IF_TSOFFSET, 8) => offset_s = order.double(value, 0).cast_signed(),
                _ => {}
            }
        }
        facts.clock = Clock::new(resolution, offset_s);
        if desk.interfaces.len() >= MOST_INTERFACES {
            desk.notices.add(Warning::ManyInterfaces, at_byte);
            return Some(());
        }
        self.facts.push(facts);
        desk.interfaces.push(interface);
        Some(())
    }

    /// Section 4.6. Counters are totals since the capture began: the last one counts.
    fn statistics(&mut self, desk: &mut Desk, block: &[u8]) -> Option<()> {
        let number = self.facts.get(self.order.word(block.get(..20)?, 8) as usize)?.number;
        let mut dropped: Option<u64> = None;
        for (code, value) in options(self.order, &block[20..]) {
            if matches!(code, ISB_IFDROP | ISB_OSDROP) && value.len() == 8 {
                dropped = Some(dropped.unwrap_or(0).saturating_add(self.order.double(value, 0)));
            }
        }
        let interface = &mut desk.interfaces[number];
        interface.dropped = dropped.or(interface.dropped);
        Some(())
    }
}

/// Whether a block of a kind may have such a length.
#[inline]
fn can_be(kind: u32, length: u32) -> bool {
    let is_packet = matches!(kind, ENHANCED_PACKET | PACKET | SIMPLE_PACKET);
    let most = if is_packet { PACKET_BYTES + OPTIONS_BYTES } else { BLOCK_BYTES };
    length.is_multiple_of(4) && (FRAME_BYTES..=most).contains(&length)
}

/// Whether a block is of a kind that programs write: those of the draft's section 4, and custom ones.
fn is_known(kind: u32) -> bool {
    matches!(kind, SECTION_HEADER | INTERFACE_DESCRIPTION..=DECRYPTION_SECRETS | 0x0000_0BAD | 0x4000_0BAD)
}

/// The byte order that a section header states.
fn order_of(head: &[u8]) -> Option<Order> {
    if Order::Little.word(head, 0) != SECTION_HEADER {
        return None;
    }
    [Order::Little, Order::Big].into_iter().find(|order| order.word(head, 8) == BYTE_ORDER_MAGIC)
}

/// Section 4.3.
#[inline]
fn enhanced(order: Order, block: &[u8]) -> Option<Place> {
    let head = block.get(..PACKET_HEAD_BYTES)?;
    let word = |at| order.word(head, at);
    let captured = word(20);
    Some(Place {
        interface: word(8) as usize,
        units: Some(u64::from(word(12)) << 32 | u64::from(word(16))),
        captured,
        original: word(24),
        head_bytes: PACKET_HEAD_BYTES,
        outbound: outbound(order, block, captured),
    })
}

/// Sections 3.5 and 4.3: behind the packet's padding; of the flags the last two bits are 1 if it came in, 2 if it went out.
#[inline]
fn outbound(order: Order, block: &[u8], captured: u32) -> Option<bool> {
    let behind = block.get(PACKET_HEAD_BYTES + (captured as usize).next_multiple_of(4)..)?;
    let (_, flags) = options(order, behind).find(|&(code, value)| code == EPB_FLAGS && value.len() == 4)?;
    match order.word(flags, 0) & 3 {
        1 => Some(false),
        2 => Some(true),
        _ => None,
    }
}

/// Appendix A: the interface's number has 16 bits, beside the count of drops.
fn obsolete(order: Order, block: &[u8]) -> Option<Place> {
    let place = enhanced(order, block)?;
    Some(Place { interface: usize::from(order.half(block, 8)), ..place })
}

/// Section 3.5: code, length, value padded to 32 bits. Ends at what is cut.
fn options(order: Order, mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let head = bytes.get(..4)?;
        let (code, length) = (order.half(head, 0), usize::from(order.half(head, 2)));
        let value = bytes.get(4..4 + length)?;
        bytes = bytes.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
        (code != 0).then_some((code, value))
    })
}
