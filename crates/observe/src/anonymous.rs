//! Addresses that nobody can be found by: Crypto-PAn.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};

/// A permutation of addresses by a key: two that share their first bits share as many afterwards, and no more (J. Xu, J. Fan, M. Ammar and
/// S. Moon, "Prefix-preserving IP address anonymization: measurement-based security evaluation and a new cryptography-based scheme", ICNP
/// 2002, section 3.3). Each bit is flipped, or not, by a function of those before it: the first bit of what AES makes of them, filled up
/// with a secret pad. As in the authors' program of that name, the key's first half is that of AES, and the pad is its second half, encrypted.
/// Theirs has IPv4 only; addresses of IPv6 take all 128 bits in the same way.
///
/// Who knows a few addresses, or can send packets of their own through the capture, learns the prefixes that others share with them.
#[derive(Clone)]
pub struct Anonymizer {
    cipher: Aes128,
    pad: u128,
}

impl Anonymizer {
    /// By a key of 32 bytes.
    pub fn new(key: &[u8; 32]) -> Anonymizer {
        let [first, second] = [0, 16].map(|at| {
            let mut half = [0; 16];
            half.copy_from_slice(&key[at..at + 16]);
            half
        });
        let cipher = Aes128::new(&first.into());
        let pad = encrypted(&cipher, u128::from_be_bytes(second));
        Anonymizer { cipher, pad }
    }

    /// The address in place of another.
    pub fn address(&self, address: IpAddr) -> IpAddr {
        match address {
            IpAddr::V4(own) => {
                let bits = u128::from(own.to_bits()) << 96;
                IpAddr::V4(Ipv4Addr::from_bits((self.bits(bits, 32) >> 96) as u32))
            }
            IpAddr::V6(own) => IpAddr::V6(Ipv6Addr::from_bits(self.bits(own.to_bits(), 128))),
        }
    }

    /// The first `count` bits in place of others, those on the left.
    fn bits(&self, own: u128, count: u32) -> u128 {
        let mut flips = 0;
        for known in 0..count {
            let mask = u128::MAX.checked_shr(known).unwrap_or(0);
            let block = (own & !mask) | (self.pad & mask);
            flips |= (encrypted(&self.cipher, block) >> 127) << (127 - known);
        }
        own ^ flips
    }
}

fn encrypted(cipher: &Aes128, block: u128) -> u128 {
    let mut block = block.to_be_bytes().into();
    cipher.encrypt_block(&mut block);
    u128::from_be_bytes(block.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: [u8; 32] = [
        21, 34, 23, 141, 51, 164, 207, 128, 19, 10, 91, 22, 73, 144, 125, 16, 216, 152, 143, 131, 121, 121,
        101, 39, 98, 87, 76, 45, 42, 132, 34, 2,
    ];

    /// The sample trace that comes with the authors' program, with its key.
    #[test]
    fn it_equals_the_authors_program() {
        let anonymizer = Anonymizer::new(&KEY);
        for (own, other) in [
            ("128.11.68.132", "135.242.180.132"),
            ("129.118.74.4", "134.136.186.123"),
            ("130.132.252.244", "133.68.164.234"),
            ("141.223.7.43", "141.167.8.160"),
            ("141.233.145.108", "141.129.237.235"),
            ("152.163.225.39", "151.140.114.167"),
            ("156.29.3.236", "147.225.12.42"),
            ("165.247.96.84", "162.9.99.234"),
            ("166.107.77.190", "160.132.178.185"),
            ("192.102.249.13", "252.138.62.131"),
        ] {
            assert_eq!(anonymizer.address(own.parse().unwrap()), other.parse::<IpAddr>().unwrap());
        }
    }

    proptest! {
        #[test]
        fn prefixes_stay(a: u32, b: u32, shared in 0_u32..=32) {
            let mask = u32::MAX.checked_shr(shared).unwrap_or(0);
            let b = (a & !mask) | (b & mask);
            let anonymizer = Anonymizer::new(&KEY);
            let bits = |own: u32| match anonymizer.address(Ipv4Addr::from_bits(own).into()) {
                IpAddr::V4(other) => other.to_bits(),
                IpAddr::V6(_) => unreachable!(),
            };
            prop_assert_eq!((bits(a) ^ bits(b)).leading_zeros(), (a ^ b).leading_zeros());
        }

        #[test]
        fn prefixes_of_ipv6_stay(a: u128, b: u128, shared in 0_u32..=128) {
            let mask = u128::MAX.checked_shr(shared).unwrap_or(0);
            let b = (a & !mask) | (b & mask);
            let anonymizer = Anonymizer::new(&KEY);
            let bits = |own: u128| match anonymizer.address(Ipv6Addr::from_bits(own).into()) {
                IpAddr::V6(other) => other.to_bits(),
                IpAddr::V4(_) => unreachable!(),
            };
            prop_assert_eq!((bits(a) ^ bits(b)).leading_zeros(), (a ^ b).leading_zeros());
        }
    }
}
