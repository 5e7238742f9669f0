//! Which way a packet crosses the link, where only addresses are known.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::key::End;

/// Addresses whose side is remembered.
const MOST: usize = 65_536;

/// The side of each address: inside or outside. A packet goes out (0) or in (1).
///
/// In this order: the networks that the operator names; an address that is private (RFC 1918, RFC 4193, RFC 3927, RFC 6598), where the other
/// is not; the side that one of the two has had before; at last, the client is inside: it has the higher port. Only the first is certain.
/// The others tell directions apart where each address is on one side of the link, and may name them the wrong way round.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    inside: Vec<(IpAddr, u8)>,
    known: BTreeMap<IpAddr, bool>,
}

impl Sides {
    pub(crate) fn new(inside: &[(IpAddr, u8)]) -> Sides {
        Sides { inside: inside.to_vec(), known: BTreeMap::new() }
    }

    /// The direction from one end to another, which is remembered.
    pub(crate) fn learn(&mut self, from: End, to: End) -> usize {
        let outward = self.outward(from, to);
        if self.known.len() < MOST {
            self.known.entry(from.0).or_insert(outward);
            self.known.entry(to.0).or_insert(!outward);
        }
        usize::from(!outward)
    }

    /// The direction, nothing learned.
    pub(crate) fn direction(&self, from: End, to: End) -> usize {
        usize::from(!self.outward(from, to))
    }

    fn outward(&self, from: End, to: End) -> bool {
        let named = |end: End| self.inside.iter().any(|&(network, bits)| within(end.0, network, bits));
        let different = |of: &dyn Fn(End) -> bool| (of(from) != of(to)).then(|| of(from));
        let before = || match (self.known.get(&from.0), self.known.get(&to.0)) {
            (Some(&from), _) => Some(from),
            (None, Some(&to)) => Some(!to),
            (None, None) => None,
        };
        let private = || different(&|end| is_private(end.0));
        different(&named).or_else(private).or_else(before).unwrap_or(from.1 >= to.1)
    }
}

fn within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let same =
        |a: u128, b: u128, size: u32| (a ^ b).checked_shr(size.saturating_sub(bits.into())).unwrap_or(0) == 0;
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(a.to_bits().into(), b.to_bits().into(), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits(), b.to_bits(), 128),
        _ => false,
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            let [a, b, ..] = address.octets();
            address.is_private() || address.is_link_local() || (a == 100 && b & 0xc0 == 64)
        }
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(address: &str, port: u16) -> End {
        (address.parse().unwrap(), port)
    }

    #[test]
    fn the_named_network_is_inside() {
        let mut sides = Sides::new(&[("203.0.113.0".parse().unwrap(), 24)]);
        let (near, far) = (end("203.0.113.7", 443), end("192.168.0.1", 50_000));
        assert_eq!((sides.learn(near, far), sides.learn(far, near)), (0, 1));
        assert!(within("2001:db8::1".parse().unwrap(), "2001:db8::".parse().unwrap(), 32));
        assert!(within("1.2.3.4".parse().unwrap(), "0.0.0.0".parse().unwrap(), 0));
        assert!(!within("1.2.3.4".parse().unwrap(), "1.2.3.5".parse().unwrap(), 32));
    }

    #[test]
    fn private_addresses_are_inside() {
        let sides = Sides::new(&[]);
        assert_eq!(sides.direction(end("10.1.2.3", 80), end("198.51.100.1", 50_000)), 0);
        assert_eq!(sides.direction(end("198.51.100.1", 50_000), end("100.64.0.1", 80)), 1);
        assert_eq!(sides.direction(end("fd00::1", 80), end("2001:db8::1", 50_000)), 0);
    }

    #[test]
    fn an_address_keeps_its_side() {
        let mut sides = Sides::new(&[]);
        assert_eq!(sides.learn(end("198.51.100.1", 50_000), end("203.0.113.1", 443)), 0);
        assert_eq!(sides.learn(end("198.51.100.1", 80), end("203.0.113.9", 50_000)), 0);
        assert_eq!(sides.direction(end("203.0.113.9", 50_000), end("192.0.2.1", 80)), 1);
    }
}
