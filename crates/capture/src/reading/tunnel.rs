//! IP packets inside others.

use super::ip::{Ip, Part};
use super::link::{Miss, be_half, ethernet, of_type, rest};
use super::transport::UDP;

const IP_IN_IP: u8 = 4;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;

const VXLAN_PORT: u16 = 4789;
const GTP_U_PORT: u16 = 2152;
const UDP_BYTES: usize = 8;

/// The IP packet that another carries, with its original length; `None` if it carries none.
#[inline]
pub(super) fn inside<'a>(outer: &Ip<'a>) -> Option<(&'a [u8], u32)> {
    let payload = outer.payload.filter(|_| outer.part != Part::Later)?;
    let inner = match outer.protocol {
        UDP => datagram(payload),
        // RFC 2003, RFC 4213
        IP_IN_IP | IPV6_IN_IP => Ok(payload),
        GRE => generic(payload),
        _ => return None,
    };
    let inner = inner.ok()?;
    let before = (payload.len() - inner.len()) as u32;
    Some((inner, outer.payload_bytes.checked_sub(before)?))
}

#[inline]
fn datagram(payload: &[u8]) -> Result<&[u8], Miss> {
    match be_half(payload, 2)? {
        VXLAN_PORT => vxlan(rest(payload, UDP_BYTES)?),
        GTP_U_PORT => gtp(rest(payload, UDP_BYTES)?),
        _ => Err(Miss::Other),
    }
}

/// RFC 7348 section 5: only the flag of a valid network identifier is set; then Ethernet.
fn vxlan(payload: &[u8]) -> Result<&[u8], Miss> {
    match payload.get(..8).ok_or(Miss::Short)? {
        [0x08, 0, 0, 0, _, _, _, 0] => ethernet(&payload[8..]),
        _ => Err(Miss::Other),
    }
}

/// 3GPP TS 29.281 section 5.1: version 1 of GTP, a user's packet. One flag of three adds four bytes, the last of which
/// announces extension headers (5.2), whose first byte is their length in units of four and whose last announces the next.
fn gtp(payload: &[u8]) -> Result<&[u8], Miss> {
    let &[flags, 0xFF, ..] = payload.get(..8).ok_or(Miss::Short)? else { return Err(Miss::Other) };
    if flags & 0xF0 != 0x30 {
        return Err(Miss::Other);
    }
    if flags.trailing_zeros() >= 3 {
        return Ok(&payload[8..]);
    }
    let mut inside = rest(payload, 12)?;
    let mut next = if flags & 4 == 0 { 0 } else { payload[11] };
    while next != 0 {
        let length = usize::from(*inside.first().ok_or(Miss::Short)?) * 4;
        if length == 0 {
            return Err(Miss::Bad);
        }
        next = *inside.get(length - 1).ok_or(Miss::Short)?;
        inside = &inside[length..];
    }
    Ok(inside)
}

/// RFC 2784 section 2.1, RFC 2890 section 2: flags of a checksum, a key and a sequence number, four bytes each; version 0.
/// Other flags are RFC 1701's routing, which is not read. The type of ERSPAN is not known as Ethernet's and not read.
fn generic(payload: &[u8]) -> Result<&[u8], Miss> {
    let flags = be_half(payload, 0)?;
    if flags & !0xB000 != 0 {
        return Err(Miss::Other);
    }
    let optional = (flags & 0xB000).count_ones() as usize * 4;
    of_type(be_half(payload, 2)?, rest(payload, 4 + optional)?)
}
