//! From a frame to the IP packet in it.
//!
//! Link types are those of the registry of link-layer header types (tcpdump.org/linktypes.html; draft-ietf-opsawg-pcaplinktype).
//! What comes back is always the rest of what went in, so that its length says where it began.

use super::packet::Station;

/// Why there is no IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// It is something else.
    Other,
    /// The headers end too early.
    Short,
    /// The headers contradict themselves.
    Bad,
    /// The link type is not known.
    Link,
}

type Found<'a> = Result<&'a [u8], Miss>;

/// `LINKTYPE_ETHERNET`.
const ETHERNET: u16 = 1;
/// `LINKTYPE_LINUX_SLL2`.
const SLL2: u16 = 276;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const MPLS: u16 = 0x8847;
const MPLS_UPSTREAM: u16 = 0x8848;
const PPPOE_SESSION: u16 = 0x8864;
/// 802.1Q, 802.1ad, and the two that were in use before it.
const TAGS: [u16; 4] = [0x8100, 0x88A8, 0x9100, 0x9200];
/// Transparent Ethernet bridging, in GRE.
const BRIDGED: u16 = 0x6558;
/// Below, the field is a length (IEEE 802.3, 3.2.6).
const LEAST_TYPE: u16 = 0x0600;

/// The IP packet in a frame of the link type.
#[inline]
pub(super) fn ip(link_type: u16, frame: &[u8]) -> Found<'_> {
    match link_type {
        ETHERNET => ethernet(frame),
        0 => loopback(frame),
        108 => family(be_word(frame, 0)?, frame),
        9 | 50 | 51 => point_to_point(link_type, frame),
        // RAW is 101; some systems wrote their own DLT_RAW
        12 | 14 | 101 | 228 | 229 => Ok(frame),
        104 => of_type(be_half(frame, 2)?, rest(frame, 4)?),
        113 => cooked(be_half(frame, 14)?, rest(frame, 16)?),
        SLL2 => cooked(be_half(frame, 0)?, rest(frame, 20)?),
        _ => Err(Miss::Link),
    }
}

/// The number that Linux gave the interface of a frame, where one capture has several (`LINKTYPE_LINUX_SLL2`: behind a
/// protocol type and a reserved field). The older format does not say, and 0 is none.
#[inline]
pub(super) fn index(link_type: u16, frame: &[u8]) -> Option<u32> {
    if link_type == SLL2 { be_word(frame, 4).ok().filter(|&index| index > 0) } else { None }
}

/// Whether the machine that captured sent a frame at its interface, as Linux's cooked captures say behind two words and a half
/// (`LINKTYPE_LINUX_SLL2`): 0 to 2 came to it (also as broadcast or multicast), 3 was somebody else's, 4 it sent itself. The older format has
/// the same, but not which interface: a router receives packets of both directions.
#[inline]
pub(super) fn outbound(link_type: u16, frame: &[u8]) -> Option<bool> {
    let kind = (link_type == SLL2).then(|| frame.get(10))??;
    match kind {
        0..=2 => Some(false),
        4 => Some(true),
        _ => None,
    }
}

/// Between which stations a frame of Ethernet went, the sender first (IEEE 802.3, 3.1.1: the receiver's address comes first).
#[inline]
pub(super) fn stations(link_type: u16, frame: &[u8]) -> Option<[Station; 2]> {
    let both = (link_type == ETHERNET).then(|| frame.first_chunk::<12>())??;
    let [to, from] = [0, 6].map(|at| std::array::from_fn(|byte| both[at + byte]));
    Some([from, to])
}

#[inline]
pub(super) fn ethernet(frame: &[u8]) -> Found<'_> {
    let kind = be_half(frame, 12)?;
    let inside = rest(frame, 14)?;
    if kind >= LEAST_TYPE { of_type(kind, inside) } else { logical(inside) }
}

/// What an Ethernet type announces.
#[inline]
pub(super) fn of_type(mut kind: u16, mut inside: &[u8]) -> Found<'_> {
    while TAGS.contains(&kind) {
        kind = be_half(inside, 2)?;
        inside = rest(inside, 4)?;
    }
    match kind {
        IPV4 | IPV6 => Ok(inside),
        MPLS | MPLS_UPSTREAM => labels(inside),
        // RFC 2516 section 4: version and type are 1, code 0 is a session's data; session and length; PPP
        PPPOE_SESSION if be_half(inside, 0)? == 0x1100 => ppp(rest(inside, 6)?),
        BRIDGED => ethernet(inside),
        0..LEAST_TYPE => logical(inside),
        _ => Err(Miss::Other),
    }
}

/// IEEE 802.2 with SNAP (RFC 1042): an Ethernet type behind an organization of zeros.
fn logical(inside: &[u8]) -> Found<'_> {
    match inside.get(..6).ok_or(Miss::Short)? {
        [0xAA, 0xAA, 3, 0, 0, 0] => match be_half(inside, 6)? {
            0..LEAST_TYPE => Err(Miss::Other),
            kind => of_type(kind, rest(inside, 8)?),
        },
        _ => Err(Miss::Other),
    }
}

/// A stack of labels (RFC 3032 section 2.1); the last is marked. What follows is not announced: an IP packet by its
/// version, else Ethernet, behind a control word if its first four bits are 0 (RFC 4385 section 3; RFC 4928 section 3).
fn labels(mut inside: &[u8]) -> Found<'_> {
    loop {
        let label = be_word(inside, 0)?;
        inside = rest(inside, 4)?;
        if label & 0x100 != 0 {
            break;
        }
    }
    match inside.first().ok_or(Miss::Short)? >> 4 {
        4 | 6 if looks_like_ip(inside) => Ok(inside),
        0 => match ethernet(rest(inside, 4)?) {
            // the first bits of an address can be 0, too
            Err(Miss::Other) => ethernet(inside),
            found => found,
        },
        // an associated channel (RFC 4385 section 5)
        1 => Err(Miss::Other),
        _ => ethernet(inside),
    }
}

/// Whether lengths fit an IP packet, not an Ethernet address that begins like one.
fn looks_like_ip(inside: &[u8]) -> bool {
    match *inside {
        [first, _, high, low, ..] if first >> 4 == 4 => {
            let (header, total) = (u16::from(first & 15) * 4, u16::from_be_bytes([high, low]));
            header >= 20 && (total == 0 || total >= header)
        }
        _ => true,
    }
}

/// `PPP_HDLC` may be Cisco's, with Ethernet types (RFC 1547 section 4.3.1); `PPP_ETHER` has `PPPoE`'s header first.
fn point_to_point(link_type: u16, frame: &[u8]) -> Found<'_> {
    match (link_type, frame) {
        (51, _) => of_type(PPPOE_SESSION, frame),
        (50, [0x0F | 0x8F, ..]) => of_type(be_half(frame, 2)?, rest(frame, 4)?),
        _ => ppp(frame),
    }
}

/// Address and control (RFC 1662 section 3.1) may be left out, and so may the protocol's first byte if it is 0
/// (RFC 1661 section 6.5): the second is odd.
pub(super) fn ppp(frame: &[u8]) -> Found<'_> {
    let inside = frame.strip_prefix(&[0xFF, 3]).unwrap_or(frame);
    let first = *inside.first().ok_or(Miss::Short)?;
    let (protocol, inside) = if first & 1 == 1 {
        (u16::from(first), &inside[1..])
    } else {
        (be_half(inside, 0)?, rest(inside, 2)?)
    };
    match protocol {
        0x21 | 0x57 => Ok(inside),
        0x281 | 0x283 => labels(inside),
        _ => Err(Miss::Other),
    }
}

/// BSD's loopback: the address family in the byte order of the machine that captured, which is not known.
fn loopback(frame: &[u8]) -> Found<'_> {
    let big = be_word(frame, 0)?;
    family(if big > 0xFFFF { big.swap_bytes() } else { big }, frame)
}

/// IPv4 is 2 everywhere; IPv6 is 10 on Linux, 24 on NetBSD and OpenBSD, 28 on FreeBSD, 30 on Darwin.
fn family(number: u32, frame: &[u8]) -> Found<'_> {
    match number {
        2 | 10 | 24 | 28 | 30 => rest(frame, 4),
        _ => Err(Miss::Other),
    }
}

/// Linux's cooked captures have an Ethernet type, or below it a number of Linux's own: 4 for IEEE 802.2.
fn cooked(kind: u16, inside: &[u8]) -> Found<'_> {
    match kind {
        4 => logical(inside),
        0..LEAST_TYPE => Err(Miss::Other),
        _ => of_type(kind, inside),
    }
}

#[inline]
pub(super) fn rest(bytes: &[u8], from: usize) -> Found<'_> {
    bytes.get(from..).ok_or(Miss::Short)
}

#[inline]
pub(super) fn be_half(bytes: &[u8], at: usize) -> Result<u16, Miss> {
    let both = bytes.get(at..at + 2).ok_or(Miss::Short)?;
    Ok(u16::from_be_bytes([both[0], both[1]]))
}

#[inline]
pub(super) fn be_word(bytes: &[u8], at: usize) -> Result<u32, Miss> {
    let four = bytes.get(at..at + 4).ok_or(Miss::Short)?;
    Ok(u32::from_be_bytes([four[0], four[1], four[2], four[3]]))
}
