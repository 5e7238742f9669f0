//! Captures of others: packets with their headers, from files or a pipe, in the order of the file.
//!
//! [`Reader`] takes pcap and pcapng, also compressed, and gives [`Packet`]s. Payload is never kept: a packet holds what
//! headers say. What is damaged or cut ends in a [`Warning`] of the [`Report`], not in an error; memory is bounded.
//!
//! # What is read
//! - Ethernet, PPP, Linux cooked captures (both versions), BSD loopback, raw IP, Cisco HDLC; in them VLAN tags, MPLS, `PPPoE`, SNAP.
//!   A cooked capture of all interfaces is taken apart again where it names them, as its second version does.
//! - IPv4 with options, IPv6 with extension headers, fragments.
//! - One level of tunnels: VXLAN, GRE, GTP-U, IP in IP. A packet in a second one is that second tunnel's.

mod clock;
mod compression;
mod frame;
mod indices;
mod ip;
mod link;
mod packet;
mod pcap;
mod pcapng;
mod reader;
mod report;
mod transport;
mod tunnel;
mod window;

pub use compression::Compression;
pub use packet::{Content, Edges, Flags, Packet, Station, Tcp, Udp};
pub use reader::{ReadError, Reader};
pub use report::{Format, Interface, Notice, Report, Warning};

#[cfg(test)]
mod tests;
