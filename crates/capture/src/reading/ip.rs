//! Headers of IP: IPv4 (RFC 791 section 3.1) and IPv6 with its extension headers (RFC 8200 sections 3 and 4).
//!
//! Read by hand: captures cut packets anywhere, and what is left of one still counts. etherparse, which writes headers here,
//! takes whole headers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::link::{Miss, be_half};

const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const NO_NEXT: u8 = 59;
const DESTINATION_OPTIONS: u8 = 60;

/// An IP packet's headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ip<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    /// Differentiated services and ECN.
    pub(super) class: u8,
    pub(super) identification: Option<u16>,
    pub(super) bytes: u32,
    /// What it carries, behind extension headers.
    pub(super) protocol: u8,
    pub(super) part: Part,
    /// What was captured of what it carries; `None` if a header before it was cut.
    pub(super) payload: Option<&'a [u8]>,
    /// The length of what it carries, captured or not.
    pub(super) payload_bytes: u32,
}

/// Which part of a packet an IP packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    First,
    Later,
}

/// Reads the headers. `original` is the length that the frame had from here on.
#[inline]
pub(super) fn read(bytes: &[u8], original: u32) -> Result<Ip<'_>, Miss> {
    match bytes.first().ok_or(Miss::Short)? >> 4 {
        4 => version_4(bytes, original),
        6 => version_6(bytes, original),
        _ => Err(Miss::Bad),
    }
}

#[inline]
fn version_4(bytes: &[u8], original: u32) -> Result<Ip<'_>, Miss> {
    let head: &[u8; IPV4_BYTES] = bytes.first_chunk().ok_or(Miss::Short)?;
    let header_bytes = usize::from(head[0] & 15) * 4;
    // segments that hardware cuts later have no length that fits, and may have 0
    let total = match u32::from(u16::from_be_bytes([head[2], head[3]])) {
        0 => original,
        stated => stated,
    };
    if header_bytes < IPV4_BYTES || total < header_bytes as u32 {
        return Err(Miss::Bad);
    }
    let fragment = u16::from_be_bytes([head[6], head[7]]);
    let mut ip = Ip {
        source: Ipv4Addr::new(head[12], head[13], head[14], head[15]).into(),
        destination: Ipv4Addr::new(head[16], head[17], head[18], head[19]).into(),
        class: head[1],
        identification: Some(u16::from_be_bytes([head[4], head[5]])),
        bytes: total,
        protocol: head[9],
        part: part(fragment & 0x1FFF, fragment & 0x2000 != 0),
        payload: None,
        payload_bytes: total - header_bytes as u32,
    };
    let end = bytes.len().min(total as usize);
    ip.payload = bytes[..end].get(header_bytes..);
    if ip.protocol == AUTHENTICATION {
        extensions(&mut ip)?;
    }
    Ok(ip)
}

fn version_6(bytes: &[u8], original: u32) -> Result<Ip<'_>, Miss> {
    let head: &[u8; IPV6_BYTES] = bytes.first_chunk().ok_or(Miss::Short)?;
    let address = |at: usize| -> IpAddr {
        let mut octets = [0; 16];
        octets.copy_from_slice(&head[at..at + 16]);
        Ipv6Addr::from(octets).into()
    };
    // 0 also stands for the length in a jumbo payload option (RFC 2675), which is the frame's
    let payload_bytes = match u32::from(u16::from_be_bytes([head[4], head[5]])) {
        0 if head[6] != NO_NEXT => original.checked_sub(IPV6_BYTES as u32).ok_or(Miss::Bad)?,
        stated => stated,
    };
    let end = bytes.len().min(IPV6_BYTES + payload_bytes as usize);
    let mut ip = Ip {
        source: address(8),
        destination: address(24),
        class: head[0] << 4 | head[1] >> 4,
        identification: None,
        bytes: IPV6_BYTES as u32 + payload_bytes,
        protocol: head[6],
        part: Part::Whole,
        payload: Some(&bytes[IPV6_BYTES..end]),
        payload_bytes,
    };
    extensions(&mut ip)?;
    Ok(ip)
}

/// Passes over extension headers: the next protocol comes first, then the length in units of 8 bytes beyond the first 8;
/// in units of 4 beyond the first 8 for authentication (RFC 4302 section 2.2); a fragment header has 8 bytes.
fn extensions(ip: &mut Ip<'_>) -> Result<(), Miss> {
    while let HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION_OPTIONS = ip.protocol {
        if ip.part == Part::Later {
            break;
        }
        let Some(payload) = ip.payload else { break };
        let header: Option<&[u8; 8]> = payload.first_chunk();
        let length = match (ip.protocol, header) {
            (_, None) => 8,
            (FRAGMENT, Some(header)) => {
                let field = be_half(header, 2)?;
                ip.part = part(field >> 3, field & 1 != 0);
                8
            }
            (AUTHENTICATION, Some(header)) => (usize::from(header[1]) + 2) * 4,
            (_, Some(header)) => (usize::from(header[1]) + 1) * 8,
        };
        ip.payload_bytes = ip.payload_bytes.checked_sub(length as u32).ok_or(Miss::Bad)?;
        ip.payload = match header {
            Some(header) => {
                ip.protocol = header[0];
                payload.get(length..)
            }
            None => None,
        };
    }
    Ok(())
}

fn part(offset: u16, more: bool) -> Part {
    match (offset, more) {
        (0, false) => Part::Whole,
        (0, true) => Part::First,
        _ => Part::Later,
    }
}
