//! What both formats of captures have in common: frames with a time, numbers in either byte order.

use super::report::{Interface, Notices};
use super::window::Window;

/// More than any link carries, and any system captures: 64 KiB for offloaded segments, up to 512 KiB with BIG TCP.
pub(super) const PACKET_BYTES: u32 = 1 << 24;

/// Interfaces that are kept apart.
pub(super) const MOST_INTERFACES: usize = 1 << 16;

/// A captured frame; what was looked at of it.
pub(super) struct Frame<'a> {
    pub(super) at_ns: u64,
    pub(super) interface: u32,
    pub(super) link_type: u16,
    pub(super) bytes: &'a [u8],
    /// Whether the machine that captured sent it, as the record says.
    pub(super) outbound: Option<bool>,
    /// Its length on the link, without a checksum.
    pub(super) original_bytes: u32,
    /// Where its record begins.
    pub(super) at_byte: u64,
}

/// What a format's reader works with.
pub(super) struct Desk {
    pub(super) window: Window,
    pub(super) interfaces: Vec<Interface>,
    pub(super) notices: Notices,
}

/// The order of bytes in the numbers of a file: that of the machine that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

impl Order {
    #[inline]
    pub(super) fn half(self, bytes: &[u8], at: usize) -> u16 {
        let both = [bytes[at], bytes[at + 1]];
        match self {
            Order::Little => u16::from_le_bytes(both),
            Order::Big => u16::from_be_bytes(both),
        }
    }

    #[inline]
    pub(super) fn word(self, bytes: &[u8], at: usize) -> u32 {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Little => u32::from_le_bytes(four),
            Order::Big => u32::from_be_bytes(four),
        }
    }

    pub(super) fn double(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (u64::from(self.word(bytes, at)), u64::from(self.word(bytes, at + 4)));
        match self {
            Order::Little => second << 32 | first,
            Order::Big => first << 32 | second,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_either_order() {
        let bytes = [9, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!([Order::Little, Order::Big].map(|order| order.half(&bytes, 1)), [0x0201, 0x0102]);
        assert_eq!(
            [Order::Little, Order::Big].map(|order| order.word(&bytes, 1)),
            [0x0403_0201, 0x0102_0304]
        );
        let doubles = [Order::Little, Order::Big].map(|order| order.double(&bytes, 1));
        assert_eq!(doubles, [0x0807_0605_0403_0201, 0x0102_0304_0506_0708]);
    }
}
