//! What bounds the observer's memory, and what the operator knows of the place.

use std::net::IpAddr;

/// Bounds of an observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections that are followed at a time. When another comes, the one that was silent longest is ended.
    pub flows: usize,
    /// Connections that are reported: those with the most bytes.
    pub rows: usize,
    /// Bins of a time series. Beyond it, bins are twice as wide.
    pub bins: usize,
    /// Interfaces that are distinguished; packets of others are counted and left out.
    pub interfaces: usize,
    /// After such a silence, datagrams belong to a new connection, in nanoseconds.
    pub idle_ns: u64,
    /// Whether the interfaces are the ports of one tap, each with a direction of the link. Otherwise a connection that is
    /// seen at two interfaces is two.
    pub joined: bool,
    /// Networks on the near side of the link, as addresses with the length of their prefix. Private addresses are, without it.
    pub inside: Vec<(IpAddr, u8)>,
    /// Networks of which a packet has an end, if any are named; others are as if they were not in the capture.
    pub only: Vec<(IpAddr, u8)>,
}

impl Default for Limits {
    /// 65,536 connections at a time take some 100 MB. A NAT forgets a mapping of UDP after two minutes at the earliest (RFC
    /// 4787, REQ-5), so a longer silence is likely to be a new use of the ports.
    fn default() -> Limits {
        Limits {
            flows: 65_536,
            rows: 100_000,
            bins: 100_000,
            interfaces: 64,
            idle_ns: 120_000_000_000,
            joined: false,
            inside: Vec::new(),
            only: Vec::new(),
        }
    }
}
