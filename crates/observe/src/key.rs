//! What packets of a connection have in common.

use std::net::IpAddr;

/// Protocols with connections; the number is IP's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// RFC 9293.
    Tcp = 6,
    /// RFC 768.
    Udp = 17,
    /// Echoes of ICMP, of either version of IP.
    Echo = 1,
}

/// An end of a connection: address and port. Both ends of an echo have its identifier as port.
pub(crate) type End = (IpAddr, u16);

/// The two ends in order, the protocol and the interface: the same for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) ends: [End; 2],
    pub(crate) protocol: Protocol,
    pub(crate) interface: u32,
}

impl Key {
    /// The key, and which of its ends sends.
    pub(crate) fn new(from: End, to: End, protocol: Protocol, interface: u32) -> (Key, usize) {
        let sender = usize::from(from > to);
        let ends = if sender == 0 { [from, to] } else { [to, from] };
        (Key { ends, protocol, interface }, sender)
    }

    /// Spreads keys over a table: words are multiplied with odd constants (from the digits of pi) and folded.
    pub(crate) fn hash(&self) -> u64 {
        let ports = (u64::from(self.ends[0].1) << 16) | u64::from(self.ends[1].1);
        let kind = (u64::from(self.interface) << 40) | ((self.protocol as u64) << 32) | ports;
        let [a, b] = words(self.ends[0].0);
        let [c, d] = words(self.ends[1].0);
        let sum = fold(kind ^ 0x243f_6a88_85a3_08d3, a ^ 0x1319_8a2e_0370_7344);
        fold(fold(sum ^ b, c ^ 0xa409_3822_299f_31d0), d ^ 0x082e_fa98_ec4e_6c89)
    }
}

fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

fn words(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(address) => [0, u64::from(address.to_bits())],
        IpAddr::V6(address) => [(address.to_bits() >> 64) as u64, address.to_bits() as u64],
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn both_directions_have_the_same_key() {
        let (a, b) = ((Ipv4Addr::new(10, 0, 0, 9).into(), 80), (Ipv4Addr::new(10, 0, 0, 2).into(), 50_000));
        let (key, sender) = Key::new(a, b, Protocol::Tcp, 0);
        assert_eq!(Key::new(b, a, Protocol::Tcp, 0), (key, 1 - sender));
        assert_eq!(key.ends, [b, a]);
        assert_ne!(Key::new(b, a, Protocol::Udp, 0).0, key);
    }

    #[test]
    fn ports_in_a_row_are_spread() {
        let to = (Ipv4Addr::new(192, 0, 2, 1).into(), 443);
        let keys = (0..4_096).map(|port| ((Ipv4Addr::new(10, 0, 0, 1).into(), port), to));
        let places: BTreeSet<_> =
            keys.map(|(from, to)| Key::new(from, to, Protocol::Tcp, 0).0.hash() & 4_095).collect();
        // at random, 1 - 1/e of the places are taken
        assert!(places.len() > 2_400, "{}", places.len());
    }
}
