//! What a reader has seen, and what it could not read.

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use super::compression::Compression;

/// What a reader has seen so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The format of the file.
    pub format: Format,
    /// How it is compressed.
    pub compression: Option<Compression>,
    /// Frames read, whatever they carry.
    pub frames: u64,
    /// IP packets among them.
    pub packets: u64,
    /// Frames that carry something else, such as ARP.
    pub others: u64,
    /// Bytes of the capture that were read, without compression, but not those that were skipped.
    pub bytes: u64,
    /// Bytes that were skipped, from a damaged length to the next record that can be one.
    pub skipped_bytes: u64,
    /// The interfaces of all sections, in the order of the file.
    pub interfaces: Vec<Interface>,
    /// What could not be read, by kind.
    pub warnings: Vec<Notice>,
}

/// The format of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// draft-ietf-opsawg-pcap.
    Pcap,
    /// draft-ietf-opsawg-pcapng.
    Pcapng,
}

/// Where packets were captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name, if the file has one.
    pub name: Option<String>,
    /// What frames begin with, by its number in the registry of link-layer header types (LINKTYPE).
    pub link_type: u16,
    /// Bytes kept of each packet at most; `None` without a limit.
    pub snap_length: Option<u32>,
    /// Packets that the capture missed, as the interface's last statistics say: dropped by the interface and by the system.
    pub dropped: Option<u64>,
    /// The link's rate as the file states it.
    pub rate_bps: Option<u64>,
}

/// Something that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is.
    pub warning: Warning,
    /// How often.
    pub count: u64,
    /// Where it was first, in bytes from the beginning of the capture without compression.
    pub first_byte: u64,
}

/// A kind of what could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Warning {
    /// The file ends within a record or a block.
    Cut,
    /// The compressed data are damaged; nothing is read beyond.
    Compression,
    /// The system could not read on.
    Input(io::ErrorKind),
    /// A block whose length cannot be, or differs from that at its end, or whose packet is longer than it.
    BadBlock,
    /// A packet's length that cannot be: more than any capture keeps, or more than this one does and no record behind it; or a length on the link that none has, in place of which what was captured counts.
    BadLength,
    /// A packet of an interface that the file does not describe.
    UnknownInterface,
    /// Interfaces beyond the 65,536th; their packets are left out.
    ManyInterfaces,
    /// A section of a later version; its packets are left out.
    UnknownVersion,
    /// A packet without a time, which counts as 0 (simple packet blocks of pcapng).
    NoTime,
    /// Frames of a link type that is not read, with its number.
    UnknownLink(u16),
    /// Headers that contradict themselves, or end before the addresses.
    Headers,
}

impl fmt::Display for Warning {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Cut => to.write_str("the file ends within a record: it was cut"),
            Warning::Compression => to.write_str("the compressed data are damaged"),
            Warning::Input(kind) => write!(to, "the file cannot be read on: {kind}"),
            Warning::BadBlock => to.write_str("a block's length is wrong: the file is damaged"),
            Warning::BadLength => to.write_str("a packet's length cannot be: the file is damaged"),
            Warning::UnknownInterface => {
                to.write_str("a packet is of an interface that the file does not describe")
            }
            Warning::ManyInterfaces => to.write_str("the file has more than 65,536 interfaces"),
            Warning::UnknownVersion => to.write_str("a section is of an unknown version of pcapng"),
            Warning::NoTime => to.write_str("a packet has no time"),
            Warning::UnknownLink(number) => write!(to, "frames of link type {number} are not read"),
            Warning::Headers => to.write_str("headers cannot be read"),
        }
    }
}

/// Counts what could not be read.
#[derive(Default)]
pub(super) struct Notices(BTreeMap<Warning, (u64, u64)>);

impl Notices {
    #[cold]
    pub(super) fn add(&mut self, warning: Warning, at_byte: u64) {
        self.0.entry(warning).or_insert((0, at_byte)).0 += 1;
    }

    pub(super) fn all(&self) -> Vec<Notice> {
        self.0.iter().map(|(&warning, &(count, first_byte))| Notice { warning, count, first_byte }).collect()
    }
}
