//! The reader: from an input to packets.

use std::io::{self, Read};

use super::compression::{self, Compression};
use super::frame::{Desk, Frame};
use super::indices::Indices;
use super::ip::{self, Part};
use super::link::{self, Miss};
use super::packet::Packet;
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::report::{Format, Notices, Report, Warning};
use super::transport;
use super::tunnel;
use super::window::Window;

/// Why an input is not read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It has no bytes.
    #[error("it is empty, not a capture: pcap and pcapng are read, also compressed with gzip or zstd")]
    Empty,
    /// It is neither pcap nor pcapng.
    #[error(
        "it is not a capture: it begins with {begins}; pcap and pcapng are read, also compressed with gzip or zstd"
    )]
    Foreign {
        /// Its first bytes, and what they stand for if that is known.
        begins: String,
    },
    /// The system cannot read it, or its compression is damaged from the beginning.
    #[error("it cannot be read: {0}")]
    Input(#[from] io::Error),
}

/// Reads packets one by one, in the order of the file. Memory is bounded, whatever the input says.
pub struct Reader {
    desk: Desk,
    framing: Framing,
    compression: Option<Compression>,
    indices: Indices,
    frames: u64,
    packets: u64,
    others: u64,
    ended: bool,
}

enum Framing {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl Reader {
    /// Recognizes an input by its first bytes.
    ///
    /// # Errors
    /// If it is not a capture, or nothing can be read of it.
    pub fn new(input: Box<dyn Read + Send>) -> Result<Reader, ReadError> {
        let (mut input, compression) = compression::open(input)?;
        let begins = compression::beginning(&mut input)?;
        if begins.is_empty() {
            return Err(ReadError::Empty);
        }
        let input = io::Cursor::new(begins.clone()).chain(input);
        let mut desk = Desk {
            window: Window::new(Box::new(input)),
            interfaces: Vec::new(),
            notices: Notices::default(),
            skipped_bytes: 0,
        };
        let framing = if let Some(pcap) = Pcap::open(&mut desk) {
            Framing::Pcap(pcap)
        } else if let Some(pcapng) = Pcapng::open(&mut desk) {
            Framing::Pcapng(pcapng)
        } else {
            return Err(ReadError::Foreign { begins: describe(&begins) });
        };
        let indices = Indices::default();
        Ok(Reader { desk, framing, compression, indices, frames: 0, packets: 0, others: 0, ended: false })
    }

    /// What was read so far, and what could not be.
    pub fn report(&self) -> Report {
        Report {
            format: match self.framing {
                Framing::Pcap(_) => Format::Pcap,
                Framing::Pcapng(_) => Format::Pcapng,
            },
            compression: self.compression,
            frames: self.frames,
            packets: self.packets,
            others: self.others,
            bytes: self.desk.window.position() - self.desk.skipped_bytes,
            skipped_bytes: self.desk.skipped_bytes,
            interfaces: self.desk.interfaces.clone(),
            warnings: self.desk.notices.all(),
        }
    }

    /// Why there are no more frames.
    #[cold]
    fn end(&mut self) {
        if self.ended {
            return;
        }
        self.ended = true;
        let gave_up = match &self.framing {
            Framing::Pcap(pcap) => pcap.gave_up(),
            Framing::Pcapng(pcapng) => pcapng.gave_up(),
        };
        let window = &self.desk.window;
        if gave_up || window.ended_cleanly() {
            return;
        }
        let warning = match window.failure() {
            None | Some(io::ErrorKind::UnexpectedEof) => Warning::Cut,
            Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput) if self.compression.is_some() => {
                Warning::Compression
            }
            Some(kind) => Warning::Input(kind),
        };
        self.desk.notices.add(warning, window.position());
    }
}

impl Iterator for Reader {
    type Item = Packet;

    fn next(&mut self) -> Option<Packet> {
        loop {
            let frame = match &mut self.framing {
                Framing::Pcap(pcap) => pcap.next(&mut self.desk),
                Framing::Pcapng(pcapng) => pcapng.next(&mut self.desk),
            };
            let Some(frame) = frame else {
                self.end();
                return None;
            };
            self.frames += 1;
            let (at_byte, link_type) = (frame.at_byte, frame.link_type);
            let index = link::index(link_type, frame.bytes);
            match packet(&frame) {
                Ok((mut packet, bad)) => {
                    if let Some(index) = index {
                        let Some(number) =
                            self.indices.number(packet.interface, index, &mut self.desk.interfaces)
                        else {
                            self.desk.notices.add(Warning::ManyInterfaces, at_byte);
                            continue;
                        };
                        packet.interface = number;
                    }
                    self.packets += 1;
                    if bad {
                        self.desk.notices.add(Warning::Headers, at_byte);
                    }
                    return Some(packet);
                }
                Err(Miss::Other) => self.others += 1,
                Err(Miss::Short | Miss::Bad) => self.desk.notices.add(Warning::Headers, at_byte),
                Err(Miss::Link) => self.desk.notices.add(Warning::UnknownLink(link_type), at_byte),
            }
        }
    }
}

/// The packet in a frame, and whether what it carries contradicts itself.
#[inline]
fn packet(frame: &Frame<'_>) -> Result<(Packet, bool), Miss> {
    let bytes = link::ip(frame.link_type, frame.bytes)?;
    let before = (frame.bytes.len() - bytes.len()) as u32;
    let outer = ip::read(bytes, frame.original_bytes.saturating_sub(before))?;
    let inner = tunnel::inside(&outer).and_then(|(bytes, original)| {
        // a first fragment carries more than its own length
        ip::read(bytes, original).ok().filter(|inner| inner.bytes <= original || outer.part == Part::First)
    });
    let ip = inner.unwrap_or(outer);
    let (content, bad) = transport::content(&ip);
    let packet = Packet {
        at_ns: frame.at_ns,
        interface: frame.interface,
        frame_bytes: frame.original_bytes,
        ip_bytes: ip.bytes,
        source: ip.source,
        destination: ip.destination,
        ecn: ip.class & 3,
        dscp: ip.class >> 2,
        identification: ip.identification,
        tunneled: inner.is_some(),
        outbound: frame.outbound.or_else(|| link::outbound(frame.link_type, frame.bytes)),
        stations: link::stations(frame.link_type, frame.bytes),
        content,
    };
    Ok((packet, bad))
}

/// The first bytes in words.
fn describe(begins: &[u8]) -> String {
    let known = match begins {
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => "xz's compression",
        [b'B', b'Z', b'h', ..] => "bzip2's compression",
        [4, 0x22, 0x4D, 0x18, ..] => "lz4's compression",
        [b'P', b'K', 3, 4, ..] => "a zip archive",
        [0x1F, 0x8B, ..] | [0x28, 0xB5, 0x2F, 0xFD, ..] => "a file compressed twice",
        [b's', b'n', b'o', b'o', b'p', 0, ..] => "snoop's format",
        [0xA1, 0xB2, 0xCD, 0x34, ..] | [0x34, 0xCD, 0xB2, 0xA1, ..] => {
            "a variant of pcap with longer records"
        }
        [0xA1, 0xB2, 0xC3 | 0x3C, 0xD4 | 0x4D, ..] | [0xD4 | 0x4D, 0xC3 | 0x3C, 0xB2, 0xA1, ..] => {
            "pcap's first bytes, and is cut within its head"
        }
        [10, 13, 13, 10, ..] => "pcapng's first bytes, and is cut or damaged within its head",
        _ if begins.iter().all(|byte| (0x20..0x7F).contains(byte) || (9..=13).contains(byte)) => {
            return format!("the text {:?}", String::from_utf8_lossy(begins));
        }
        _ => "",
    };
    let bytes: Vec<String> = begins.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let bytes = bytes.join(" ");
    if known.is_empty() { format!("the bytes {bytes}") } else { format!("{known} (bytes {bytes})") }
}
