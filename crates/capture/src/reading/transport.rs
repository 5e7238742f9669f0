//! What an IP packet carries: TCP (RFC 9293 section 3.1), UDP (RFC 768), echoes of ICMP (RFC 792, RFC 4443 section 4).

use super::ip::{Ip, Part};
use super::packet::{Content, Flags, Tcp, Udp};

pub(super) const ICMP: u8 = 1;
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;
pub(super) const ICMPV6: u8 = 58;

const TCP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;

/// What a packet carries; whether its headers contradict themselves.
#[inline]
pub(super) fn content(ip: &Ip<'_>) -> (Content, bool) {
    if ip.part == Part::Later {
        return (Content::Fragment, false);
    }
    let Some(payload) = ip.payload else { return (Content::Cut, false) };
    let found = match ip.protocol {
        TCP => tcp(payload, ip.payload_bytes),
        UDP => udp(payload, ip.payload_bytes),
        ICMP => echo(payload, ip.payload_bytes, 8, 0),
        ICMPV6 => echo(payload, ip.payload_bytes, 128, 129),
        _ => Ok(None),
    };
    match found {
        Ok(Some(content)) => (content, false),
        Ok(None) => (Content::Other(ip.protocol), false),
        Err(Flaw::Cut) => (Content::Cut, false),
        Err(Flaw::Bad) => (Content::Other(ip.protocol), true),
    }
}

/// Why there is no content.
enum Flaw {
    Cut,
    Bad,
}

/// The first bytes of what is captured: cut by the capture, or too short by the packet's own length.
#[inline]
fn head<const N: usize>(payload: &[u8], payload_bytes: u32) -> Result<&[u8; N], Flaw> {
    payload.first_chunk().ok_or(if payload_bytes < N as u32 { Flaw::Bad } else { Flaw::Cut })
}

#[inline]
fn tcp(payload: &[u8], payload_bytes: u32) -> Result<Option<Content>, Flaw> {
    let head: &[u8; TCP_BYTES] = head(payload, payload_bytes)?;
    let header_bytes = usize::from(head[12] >> 4) * 4;
    if header_bytes < TCP_BYTES || header_bytes as u32 > payload_bytes {
        return Err(Flaw::Bad);
    }
    let set = |bit: u8| head[13] & bit != 0;
    let mut tcp = Tcp {
        source_port: half(head, 0),
        destination_port: half(head, 2),
        seq: word(head, 4),
        ack: set(0x10).then(|| word(head, 8)),
        flags: Flags {
            fin: set(1),
            syn: set(2),
            rst: set(4),
            psh: set(8),
            ece: set(0x40),
            cwr: set(0x80),
            ae: head[12] & 1 != 0,
        },
        window: half(head, 14),
        payload_bytes: payload_bytes - header_bytes as u32,
        is_cut: payload.len() < header_bytes,
        ..Tcp::default()
    };
    options(&mut tcp, &payload[TCP_BYTES..payload.len().min(header_bytes)]);
    Ok(Some(Content::Tcp(tcp)))
}

/// Section 3.1 of RFC 9293: 0 ends the list, 1 pads; others have their length. What no kind says is passed over, as
/// etherparse's list does not.
#[inline]
fn options(tcp: &mut Tcp, mut bytes: &[u8]) {
    let syn = tcp.flags.syn;
    while let [kind, after @ ..] = bytes {
        if *kind == 0 {
            return;
        }
        if *kind == 1 {
            bytes = after;
            continue;
        }
        let Some(length) = after.first().map(|&length| usize::from(length)) else { return };
        let Some(option) = bytes.get(..length).filter(|option| option.len() >= 2) else { return };
        bytes = &bytes[length..];
        match (kind, &option[2..]) {
            (8, value @ [_, _, _, _, _, _, _, _]) => tcp.stamps = Some((word(value, 0), word(value, 4))),
            (5, edges) => {
                for edge in edges.chunks_exact(8) {
                    tcp.sacks.push(word(edge, 0), word(edge, 4));
                }
            }
            (2, value @ [_, _]) if syn => tcp.mss = Some(half(value, 0)),
            (3, &[scale]) if syn => tcp.scale = Some(scale),
            (4, []) if syn => tcp.sack_permitted = true,
            _ => {}
        }
    }
}

/// The length is 0 where 16 bits cannot hold it (RFC 2675 section 4).
fn udp(payload: &[u8], payload_bytes: u32) -> Result<Option<Content>, Flaw> {
    let head: &[u8; UDP_BYTES] = head(payload, payload_bytes)?;
    let payload_bytes = match u32::from(half(head, 4)) {
        0 => payload_bytes - UDP_BYTES as u32,
        length => length.checked_sub(UDP_BYTES as u32).ok_or(Flaw::Bad)?,
    };
    Ok(Some(Content::Udp(Udp {
        source_port: half(head, 0),
        destination_port: half(head, 2),
        payload_bytes,
        first_byte: payload.get(UDP_BYTES).copied(),
    })))
}

fn echo(payload: &[u8], payload_bytes: u32, request: u8, answer: u8) -> Result<Option<Content>, Flaw> {
    let kind = head::<1>(payload, payload_bytes)?[0];
    if kind != request && kind != answer {
        return Ok(None);
    }
    let head: &[u8; 8] = head(payload, payload_bytes)?;
    Ok(Some(Content::Echo { reply: kind == answer, identifier: half(head, 4), sequence: half(head, 6) }))
}

#[inline]
fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
