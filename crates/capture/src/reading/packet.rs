//! A captured packet, as its headers describe it.

use std::net::IpAddr;

/// An address of Ethernet (IEEE 802.3, 3.2.3).
pub type Station = [u8; 6];

/// A captured packet. The addresses, the content and `ip_bytes` are those of the innermost IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When it was captured: nanoseconds since 1970.
    pub at_ns: u64,
    /// The interface, numbered as in the file from 0 over all its sections. Of a cooked capture, each of Linux's interfaces has a number:
    /// the first that of the file, others those that come next.
    pub interface: u32,
    /// Its length on the link as captured, with the link's header and without a checksum of the frame, in bytes.
    pub frame_bytes: u32,
    /// The length of the IP packet in bytes. From the frame where the header says 0, as it does for packets that
    /// segmentation offload will cut.
    pub ip_bytes: u32,
    /// Where it comes from.
    pub source: IpAddr,
    /// Where it goes.
    pub destination: IpAddr,
    /// The ECN field: 0 not capable, 1 ECT(1), 2 ECT(0), 3 congestion experienced (RFC 3168 section 5).
    pub ecn: u8,
    /// The differentiated services code point (RFC 2474 section 3).
    pub dscp: u8,
    /// IPv4's identification.
    pub identification: Option<u16>,
    /// Whether it was found inside another IP packet (VXLAN, GRE, GTP-U, IP in IP).
    pub tunneled: bool,
    /// Whether the machine that captured sent it at this interface, else it received it; `None` where the capture does not say.
    pub outbound: Option<bool>,
    /// Between which stations of Ethernet the frame went, the sender first.
    pub stations: Option<[Station; 2]>,
    /// What it carries.
    pub content: Content,
}

/// What an IP packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A TCP segment.
    Tcp(Tcp),
    /// A UDP datagram.
    Udp(Udp),
    /// An echo of ICMP, in either version of IP.
    Echo {
        /// Whether it answers another.
        reply: bool,
        /// Of the program that asks.
        identifier: u16,
        /// Counts the questions.
        sequence: u16,
    },
    /// A fragment but the first of a packet: it has no ports.
    Fragment,
    /// Another protocol, by its number.
    Other(u8),
    /// The capture cut it within the headers that it needs.
    Cut,
}

/// A TCP segment (RFC 9293 section 3.1). Sequence numbers are as sent, and wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tcp {
    /// The port that it comes from.
    pub source_port: u16,
    /// The port that it goes to.
    pub destination_port: u16,
    /// The number of its first byte; a SYN and a FIN count as one.
    pub seq: u32,
    /// The acknowledgment number, where its flag is set.
    pub ack: Option<u32>,
    /// All flags but ACK, which `ack` has, and URG.
    pub flags: Flags,
    /// The window field, not scaled.
    pub window: u16,
    /// Value and echo of the timestamps option (RFC 7323 section 3.2).
    pub stamps: Option<(u32, u32)>,
    /// Edges of its SACK blocks (RFC 2018 section 3).
    pub sacks: Edges,
    /// The largest segment that a SYN's sender takes (RFC 9293 section 3.7.1).
    pub mss: Option<u16>,
    /// The window scale that a SYN offers (RFC 7323 section 2.2).
    pub scale: Option<u8>,
    /// Whether a SYN offers SACK.
    pub sack_permitted: bool,
    /// Bytes of payload, as the IP packet's length says, whether captured or not.
    pub payload_bytes: u32,
    /// Whether the capture cut it within its options, of which those count that were captured whole.
    pub is_cut: bool,
}

/// TCP's flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Opens a connection.
    pub syn: bool,
    /// The sender has no more data.
    pub fin: bool,
    /// Ends the connection at once.
    pub rst: bool,
    /// Data is to be handed over.
    pub psh: bool,
    /// The answer to a mark, or a SYN that asks for ECN (RFC 3168 section 6.1).
    pub ece: bool,
    /// The window was reduced, or a SYN that asks for ECN.
    pub cwr: bool,
    /// Accurate ECN: of a SYN that asks for it, or the highest bit of a counter of marks that ECE and CWR belong to, too (RFC 9768 section
    /// 3.2).
    pub ae: bool,
}

/// Up to four SACK blocks: the option's space has no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    blocks: [(u32, u32); 4],
    count: u8,
}

impl Edges {
    /// Adds a block; a fifth is left out.
    pub fn push(&mut self, left: u32, right: u32) {
        if let Some(block) = self.blocks.get_mut(usize::from(self.count)) {
            *block = (left, right);
            self.count += 1;
        }
    }

    /// The blocks, left and right edge each, in the option's order.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// The port that it comes from.
    pub source_port: u16,
    /// The port that it goes to.
    pub destination_port: u16,
    /// Bytes of payload, as the header says.
    pub payload_bytes: u32,
    /// The first byte of the payload where it was captured: of a QUIC packet its header's form and, in the short form, the spin
    /// bit (RFC 9000 sections 17.2, 17.3.1, 17.4).
    pub first_byte: Option<u8>,
}
