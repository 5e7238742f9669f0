//! What both formats of captures have in common: frames with a time, numbers in either byte order.

use super::report::{Interface, Notices, Warning};
use super::window::Window;

/// No longer packet is kept: what libpcap reads and writes of link types with IP in them (`MAXIMUM_SNAPLEN`, pcap-int.h), and Wireshark
/// (`WTAP_MAX_PACKET_SIZE_STANDARD`, wiretap/wtap.h). Of BIG TCP's larger segments captures keep as much.
pub(super) const PACKET_BYTES: u32 = 262_144;

/// No packet was longer: Linux's largest segment is 8 times 65,535 bytes (`GSO_MAX_SIZE`, include/linux/netdevice.h).
pub(super) const ORIGINAL_BYTES: u32 = 1 << 20;

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
    /// Between damaged lengths and the next records.
    pub(super) skipped_bytes: u64,
}

impl Desk {
    /// Says what is wrong with the record at the window's place, and goes on to the next place that can be a record's; whether there is one.
    #[cold]
    pub(super) fn skip(&mut self, warning: Warning, is_record: impl Fn(&[u8], bool) -> bool) -> bool {
        let at_byte = self.window.position();
        self.notices.add(warning, at_byte);
        // the damaged one is none, whatever it looks like
        self.window.pass(1);
        let found = self.window.seek(is_record);
        self.skipped_bytes += self.window.position() - at_byte;
        found
    }
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
