//! Which way a packet crosses the link, where only addresses are known.

use std::collections::BTreeMap;
use std::net::IpAddr;

use bufferlab_capture::reading::{Packet, Station};

/// Addresses, and stations, whose side is remembered.
const MOST: usize = 65_536;

/// First bits that addresses of one network share: no longer prefixes of IPv4 and of IPv6 are routed on the Internet for whole providers than
/// about these. Our choice.
const SAME_NETWORK: [u32; 2] = [16, 32];

/// The side of each address: inside or outside. A packet goes out (0) or in (1).
///
/// In this order: the networks that the operator names; an address that is private (RFC 1918, RFC 4193, RFC 3927, RFC 6598), where the other
/// is not; the side that one of the two stations of Ethernet has had before; what the capture says, that its machine sent the packet or
/// received it; the side that one of the two addresses has had before; that of the address in the same network with which one of the two shares
/// most bits; at last, the client is inside: it has the higher port. Only the first is certain. The others tell directions apart where
/// each address is on one side of the link, and may name them the wrong way round. A machine that watches others' packets at a tap
/// receives those of both directions, so stations come before what it says, and where two of its ports are joined, it says nothing.
#[derive(Clone, Debug)]
pub(crate) struct Sides {
    inside: Vec<(IpAddr, u8)>,
    known: BTreeMap<IpAddr, bool>,
    stations: BTreeMap<Station, bool>,
    /// Whether packets of both directions are received, each at a port of its own.
    is_joined: bool,
}

impl Sides {
    pub(crate) fn new(inside: &[(IpAddr, u8)], is_joined: bool) -> Sides {
        Sides { inside: inside.to_vec(), known: BTreeMap::new(), stations: BTreeMap::new(), is_joined }
    }

    /// The direction of a packet from one port to another, which is remembered.
    pub(crate) fn learn(&mut self, packet: &Packet, ports: [u16; 2]) -> usize {
        let sure = self.surely_outward(packet);
        let outward = sure.unwrap_or_else(|| self.probably_outward(packet, ports));
        for (address, is_inside) in [(packet.source, outward), (packet.destination, !outward)] {
            remember(&mut self.known, address, is_inside, sure.is_some());
        }
        for (station, is_inside) in packet.stations.into_iter().flatten().zip([outward, !outward]) {
            remember(&mut self.stations, station, is_inside, sure.is_some());
        }
        usize::from(!outward)
    }

    /// The direction of a packet without ports, nothing learned.
    pub(crate) fn direction(&self, packet: &Packet) -> usize {
        let sure = self.surely_outward(packet);
        usize::from(!sure.unwrap_or_else(|| self.probably_outward(packet, [0; 2])))
    }

    /// What the operator or the kind of the addresses says, or the capture where no stations do.
    fn surely_outward(&self, packet: &Packet) -> Option<bool> {
        let (from, to) = (packet.source, packet.destination);
        let named = |end: IpAddr| is_in(&self.inside, end);
        let different = |of: &dyn Fn(IpAddr) -> bool| (of(from) != of(to)).then(|| of(from));
        let said = packet.outbound.filter(|_| packet.stations.is_none() && !self.is_joined);
        different(&named).or_else(|| different(&is_private)).or(said)
    }

    fn probably_outward(&self, packet: &Packet, ports: [u16; 2]) -> bool {
        let (from, to) = (packet.source, packet.destination);
        let stations = packet.stations.and_then(|[from, to]| before(&self.stations, &from, &to));
        stations
            .or(packet.outbound.filter(|_| !self.is_joined))
            .or_else(|| before(&self.known, &from, &to))
            .or_else(|| self.in_network(from, to))
            .unwrap_or(ports[0] >= ports[1])
    }

    /// What the nearest known address in the same network says.
    fn in_network(&self, from: IpAddr, to: IpAddr) -> Option<bool> {
        match (self.nearest(from), self.nearest(to)) {
            (Some((bits, is_inside)), other) if other.is_none_or(|(of_other, _)| of_other < bits) => {
                Some(is_inside)
            }
            (one, Some((bits, is_inside))) if one.is_none_or(|(of_one, _)| of_one < bits) => Some(!is_inside),
            (Some((_, from)), Some((_, to))) => (from != to).then_some(from),
            _ => None,
        }
    }

    /// How many first bits a known address shares at most, and its side; it is one of the two neighbors in their order.
    fn nearest(&self, address: IpAddr) -> Option<(u32, bool)> {
        let below = self.known.range(..address).next_back();
        let above = self.known.range(address..).next();
        [below, above]
            .into_iter()
            .flatten()
            .filter_map(|(&other, &is_inside)| Some((shared_bits(address, other)?, is_inside)))
            .max_by_key(|&(bits, _)| bits)
            .filter(|&(bits, _)| bits >= SAME_NETWORK[usize::from(address.is_ipv6())])
    }
}

/// The side that one of two ends has had before, as that of a packet between them.
fn before<T: Ord>(known: &BTreeMap<T, bool>, from: &T, to: &T) -> Option<bool> {
    match (known.get(from), known.get(to)) {
        (Some(&from), Some(&to)) => (from != to).then_some(from),
        (Some(&from), None) => Some(from),
        (None, Some(&to)) => Some(!to),
        (None, None) => None,
    }
}

/// Keeps an end's side; what is sure replaces what was not.
fn remember<T: Ord>(known: &mut BTreeMap<T, bool>, end: T, is_inside: bool, is_sure: bool) {
    if is_sure && let Some(side) = known.get_mut(&end) {
        *side = is_inside;
    } else if known.len() < MOST {
        known.entry(end).or_insert(is_inside);
    }
}

fn shared_bits(one: IpAddr, other: IpAddr) -> Option<u32> {
    match (one, other) {
        (IpAddr::V4(a), IpAddr::V4(b)) => Some((a.to_bits() ^ b.to_bits()).leading_zeros()),
        (IpAddr::V6(a), IpAddr::V6(b)) => Some((a.to_bits() ^ b.to_bits()).leading_zeros()),
        _ => None,
    }
}

/// Whether an address is in one of these networks.
pub(crate) fn is_in(networks: &[(IpAddr, u8)], address: IpAddr) -> bool {
    networks.iter().any(|&(network, bits)| within(address, network, bits))
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
    use bufferlab_capture::reading::Content;

    use super::*;

    /// A packet from one end to another, and its ports.
    fn between(from: (&str, u16), to: (&str, u16)) -> (Packet, [u16; 2]) {
        let packet = Packet {
            at_ns: 0,
            interface: 0,
            frame_bytes: 100,
            ip_bytes: 100,
            source: from.0.parse().unwrap(),
            destination: to.0.parse().unwrap(),
            ecn: 0,
            dscp: 0,
            identification: None,
            tunneled: false,
            outbound: None,
            stations: None,
            content: Content::Cut,
        };
        (packet, [from.1, to.1])
    }

    fn learned(sides: &mut Sides, (packet, ports): (Packet, [u16; 2])) -> usize {
        sides.learn(&packet, ports)
    }

    #[test]
    fn the_named_network_is_inside() {
        let mut sides = Sides::new(&[("203.0.113.0".parse().unwrap(), 24)], false);
        let (near, far) = (("203.0.113.7", 443), ("192.168.0.1", 50_000));
        assert_eq!(learned(&mut sides, between(near, far)), 0);
        assert_eq!(learned(&mut sides, between(far, near)), 1);
        assert!(within("2001:db8::1".parse().unwrap(), "2001:db8::".parse().unwrap(), 32));
        assert!(within("1.2.3.4".parse().unwrap(), "0.0.0.0".parse().unwrap(), 0));
        assert!(!within("1.2.3.4".parse().unwrap(), "1.2.3.5".parse().unwrap(), 32));
    }

    #[test]
    fn private_addresses_are_inside_whoever_sent() {
        let sides = Sides::new(&[], false);
        let direction = |from, to| sides.direction(&between((from, 80), (to, 50_000)).0);
        assert_eq!(direction("10.1.2.3", "198.51.100.1"), 0);
        assert_eq!(direction("198.51.100.1", "100.64.0.1"), 1);
        assert_eq!(direction("fd00::1", "2001:db8::1"), 0);
        let (packet, _) = between(("10.1.2.3", 80), ("198.51.100.1", 50_000));
        assert_eq!(sides.direction(&Packet { outbound: Some(false), ..packet }), 0);
    }

    #[test]
    fn an_address_keeps_its_side() {
        let mut sides = Sides::new(&[], false);
        assert_eq!(learned(&mut sides, between(("198.51.100.1", 50_000), ("203.0.113.1", 443))), 0);
        assert_eq!(learned(&mut sides, between(("198.51.100.1", 80), ("203.0.113.9", 50_000))), 0);
        assert_eq!(learned(&mut sides, between(("203.0.113.9", 50_000), ("192.0.2.1", 80))), 1);
    }

    #[test]
    fn what_the_capture_says_of_the_sender_replaces_a_guess() {
        let mut sides = Sides::new(&[], false);
        let request = between(("10.128.0.6", 50_000), ("10.0.0.6", 80));
        assert_eq!(learned(&mut sides, request), 0);
        let said = Packet { outbound: Some(false), ..request.0 };
        assert_eq!(sides.learn(&said, request.1), 1);
        assert_eq!(learned(&mut sides, request), 1);
    }

    #[test]
    fn stations_tell_directions_apart_whatever_the_addresses_and_ports() {
        let mut sides = Sides::new(&[], false);
        let over = |stations: [Station; 2], ends: (Packet, [u16; 2])| {
            (Packet { stations: Some(stations), ..ends.0 }, ends.1)
        };
        let (near, far) = ([2; 6], [4; 6]);
        assert_eq!(
            learned(&mut sides, over([near, far], between(("10.0.0.1", 50_000), ("10.9.0.1", 80)))),
            0
        );
        assert_eq!(
            learned(&mut sides, over([near, far], between(("10.7.0.1", 80), ("10.8.0.1", 50_000)))),
            0
        );
        assert_eq!(
            learned(&mut sides, over([far, near], between(("10.5.0.1", 50_000), ("10.6.0.1", 80)))),
            1
        );
    }

    #[test]
    fn a_tap_receives_packets_of_both_directions() {
        let mut sides = Sides::new(&[], false);
        let received = |[from, to]: [Station; 2]| {
            let (packet, ports) = between(("10.0.0.1", 80), ("10.9.0.1", 50_000));
            (Packet { stations: Some([from, to]), outbound: Some(false), ..packet }, ports)
        };
        assert_eq!(learned(&mut sides, received([[2; 6], [4; 6]])), 1);
        assert_eq!(learned(&mut sides, received([[4; 6], [2; 6]])), 0);
        let (packet, ports) = between(("10.0.0.1", 50_000), ("10.9.0.1", 80));
        let said = Packet { outbound: Some(false), ..packet };
        assert_eq!([true, false].map(|joined| Sides::new(&[], joined).learn(&said, ports)), [0, 1]);
    }

    #[test]
    fn a_new_address_is_on_the_side_of_its_network() {
        let mut sides = Sides::new(&[], false);
        assert_eq!(learned(&mut sides, between(("10.0.0.9", 51_001), ("10.128.0.9", 50_003))), 0);
        // a client on the other side
        assert_eq!(learned(&mut sides, between(("10.128.0.6", 51_001), ("10.0.0.6", 50_002))), 1);
        assert_eq!(learned(&mut sides, between(("172.16.0.1", 80), ("10.128.7.7", 50_002))), 0);
        // neither end is in a known network
        assert_eq!(learned(&mut sides, between(("203.0.113.1", 51_000), ("198.51.100.1", 80))), 0);
    }
}
