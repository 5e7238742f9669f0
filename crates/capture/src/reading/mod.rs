//! Captures of others: packets with their headers, from files or a pipe, in the order of the file.
//!
//! Payload is never kept: a [`Packet`] holds what headers say.

mod packet;

pub use packet::{Content, Edges, Flags, Packet, Tcp, Udp};
