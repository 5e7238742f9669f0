//! The file format: the parts of draft-ietf-opsawg-pcapng that one section with packets needs.
//!
//! Written in little-endian order with times in nanoseconds. Block types and option codes are those of the draft's
//! sections 4 and 3.5.

/// Raw IP, version by the first byte (`LINKTYPE_RAW` of the link-layer header types registry): the model has no framing.
const LINKTYPE_RAW: u16 = 101;
/// Only headers are captured; this is more than their length.
const SNAPLEN: u32 = 128;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const BYTE_ORDER_MAGIC: u32 = 0x1A2B_3C4D;
const INTERFACE_DESCRIPTION: u32 = 1;
const NAME_RESOLUTION: u32 = 4;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const OPT_COMMENT: u16 = 1;
const SHB_USERAPPL: u16 = 4;
const IF_NAME: u16 = 2;
const IF_DESCRIPTION: u16 = 3;
const IF_SPEED: u16 = 8;
const IF_TSRESOL: u16 = 9;
const EPB_FLAGS: u16 = 2;
const EPB_PACKETID: u16 = 5;
const ISB_IFRECV: u16 = 4;

/// Records of the name resolution block.
const NRB_RECORD_END: u32 = 0;
const NRB_RECORD_IPV4: u16 = 1;

/// 10⁻⁹ s.
const NANOSECONDS: u8 = 9;

/// The direction of a packet at an interface (`epb_flags`, bits 0 and 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Inbound = 1,
    Outbound = 2,
}

/// A packet to be written.
pub(crate) struct PacketRecord<'a> {
    pub(crate) interface: u32,
    pub(crate) time_ns: u64,
    pub(crate) headers: &'a [u8],
    pub(crate) original_bytes: u32,
    pub(crate) direction: Direction,
    /// The same at all interfaces that a packet passes.
    pub(crate) id: u64,
    pub(crate) comment: Option<&'a str>,
}

/// The section's head.
pub(crate) fn section(buffer: &mut Vec<u8>, application: &str, comment: &str) {
    block(buffer, SECTION_HEADER, |body| {
        body.extend(BYTE_ORDER_MAGIC.to_le_bytes());
        body.extend(1_u16.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        // the section's length is unknown
        body.extend(u64::MAX.to_le_bytes());
        option(body, OPT_COMMENT, comment.as_bytes());
        option(body, SHB_USERAPPL, application.as_bytes());
        end_of_options(body);
    });
}

/// An interface; interfaces are numbered in the order of their descriptions.
pub(crate) fn interface(buffer: &mut Vec<u8>, name: &str, description: &str, rate_bps: Option<u64>) {
    block(buffer, INTERFACE_DESCRIPTION, |body| {
        body.extend(LINKTYPE_RAW.to_le_bytes());
        body.extend(0_u16.to_le_bytes());
        body.extend(SNAPLEN.to_le_bytes());
        option(body, IF_NAME, name.as_bytes());
        option(body, IF_DESCRIPTION, description.as_bytes());
        if let Some(rate_bps) = rate_bps {
            option(body, IF_SPEED, &rate_bps.to_le_bytes());
        }
        option(body, IF_TSRESOL, &[NANOSECONDS]);
        end_of_options(body);
    });
}

/// Names of addresses.
pub(crate) fn names(buffer: &mut Vec<u8>, names: impl Iterator<Item = ([u8; 4], String)>) {
    block(buffer, NAME_RESOLUTION, |body| {
        for (address, name) in names {
            let value = [&address[..], name.as_bytes(), &[0]].concat();
            option(body, NRB_RECORD_IPV4, &value);
        }
        body.extend(NRB_RECORD_END.to_le_bytes());
        end_of_options(body);
    });
}

/// A packet.
pub(crate) fn packet(buffer: &mut Vec<u8>, record: &PacketRecord<'_>) {
    block(buffer, ENHANCED_PACKET, |body| {
        body.extend(record.interface.to_le_bytes());
        body.extend(time(record.time_ns));
        body.extend((record.headers.len() as u32).to_le_bytes());
        body.extend(record.original_bytes.to_le_bytes());
        padded(body, record.headers);
        option(body, EPB_FLAGS, &(record.direction as u32).to_le_bytes());
        option(body, EPB_PACKETID, &record.id.to_le_bytes());
        if let Some(comment) = record.comment {
            option(body, OPT_COMMENT, comment.as_bytes());
        }
        end_of_options(body);
    });
}

/// What an interface has seen by the end.
pub(crate) fn statistics(buffer: &mut Vec<u8>, interface: u32, time_ns: u64, packets: u64) {
    block(buffer, INTERFACE_STATISTICS, |body| {
        body.extend(interface.to_le_bytes());
        body.extend(time(time_ns));
        option(body, ISB_IFRECV, &packets.to_le_bytes());
        end_of_options(body);
    });
}

/// The upper half goes first, whatever the byte order.
fn time(time_ns: u64) -> [u8; 8] {
    let mut both = [0; 8];
    both[..4].copy_from_slice(&((time_ns >> 32) as u32).to_le_bytes());
    both[4..].copy_from_slice(&(time_ns as u32).to_le_bytes());
    both
}

fn block(buffer: &mut Vec<u8>, kind: u32, body: impl FnOnce(&mut Vec<u8>)) {
    let start = buffer.len();
    buffer.extend(kind.to_le_bytes());
    buffer.extend([0; 4]);
    body(buffer);
    let length = ((buffer.len() - start + 4) as u32).to_le_bytes();
    buffer.extend(length);
    buffer[start + 4..start + 8].copy_from_slice(&length);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    padded(body, value);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend([0; 4]);
}

/// Data is padded to 32 bits.
fn padded(body: &mut Vec<u8>, data: &[u8]) {
    body.extend(data);
    body.extend(&[0; 3][..data.len().wrapping_neg() % 4]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_block_is_laid_out_as_the_draft_says() {
        let mut buffer = Vec::new();
        let record = PacketRecord {
            interface: 1,
            time_ns: (3 << 32) + 4,
            headers: &[0x45, 1, 2, 3, 4],
            original_bytes: 1500,
            direction: Direction::Outbound,
            id: 9,
            comment: Some("ab"),
        };
        packet(&mut buffer, &record);
        let words = [6, 72, 1, 3, 4, 5, 1500, 0x0302_0145, 4];
        let options = [0x0004_0002, 2, 0x0008_0005, 9, 0, 0x0002_0001, 0x6261, 0, 72];
        let expected: Vec<u8> =
            words.iter().chain(&options).flat_map(|word: &u32| word.to_le_bytes()).collect();
        assert_eq!(buffer, expected);
    }

    #[test]
    fn blocks_are_whole_words_that_say_their_length_twice() {
        let mut buffer = Vec::new();
        section(&mut buffer, "x", "a comment");
        interface(&mut buffer, "senders", "odd", Some(10));
        statistics(&mut buffer, 0, 5, 7);
        let (mut at, mut kinds) = (0, Vec::new());
        while at < buffer.len() {
            let word = |at: usize| u32::from_le_bytes(buffer[at..at + 4].try_into().unwrap());
            let length = word(at + 4) as usize;
            assert_eq!((length % 4, word(at + length - 4)), (0, length as u32));
            kinds.push(word(at));
            at += length;
        }
        assert_eq!(kinds, [SECTION_HEADER, INTERFACE_DESCRIPTION, INTERFACE_STATISTICS]);
    }
}
