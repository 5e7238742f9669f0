//! Inputs that are compressed: gzip (RFC 1952) and Zstandard (RFC 8878), recognized by how they begin.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// How an input is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// One or several members (RFC 1952 section 2.2).
    Gzip,
    /// One or several frames, with skippable ones among them (RFC 8878 section 3.1).
    Zstd,
}

/// More than the longest sequence of bytes by which a format is recognized.
pub(super) const MAGIC_BYTES: usize = 12;
/// Read of a compressed input at once.
const BUFFER_BYTES: usize = 1 << 16;
/// The largest window that is kept of a Zstandard frame: that of `zstd --long`, and the most that `zstd -d` takes by itself.
const WINDOW_BYTES: u64 = 1 << 27;

/// The input as it was before compression, with its first bytes.
pub(super) type Opened = (Box<dyn Read + Send>, Option<Compression>);

/// Looks at how an input begins and undoes its compression.
pub(super) fn open(mut input: Box<dyn Read + Send>) -> io::Result<Opened> {
    let begins = beginning(&mut input)?;
    let compression = recognize(&begins);
    let input = Cursor::new(begins).chain(input);
    Ok(match compression {
        None => (Box::new(input), None),
        Some(Compression::Gzip) => {
            let buffered = BufReader::with_capacity(BUFFER_BYTES, input);
            (Box::new(MultiGzDecoder::new(buffered)), compression)
        }
        Some(Compression::Zstd) => {
            (Box::new(Frames::new(BufReader::with_capacity(BUFFER_BYTES, input))), compression)
        }
    })
}

/// The first bytes of an input, fewer if it has fewer.
pub(super) fn beginning(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begins = Vec::new();
    input.take(MAGIC_BYTES as u64).read_to_end(&mut begins)?;
    Ok(begins)
}

fn recognize(begins: &[u8]) -> Option<Compression> {
    match *begins {
        [0x1F, 0x8B, 8, ..] => Some(Compression::Gzip),
        // a frame, or one to be skipped before it
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Compression::Zstd),
        _ => None,
    }
}

/// Zstandard's frames, one after the other: the crate's own reader ends with the first.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Frames<R> {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW_BYTES);
        Frames { source, decoder, in_frame: false }
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        match io::copy(&mut (&mut self.source).take(length), &mut io::sink())? {
            skipped if skipped == length => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.in_frame {
                if self.source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                match self.decoder.reset(&mut self.source) {
                    Ok(()) => self.in_frame = true,
                    Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                        length,
                        ..
                    })) => self.skip(u64::from(length))?,
                    Err(error) => return Err(damage(&error)),
                }
            } else if self.decoder.is_finished() {
                self.in_frame = false;
                let stated = self.decoder.get_checksum_from_data();
                if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
                    return Err(io::ErrorKind::InvalidData.into());
                }
            } else {
                let some = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, some).map_err(|error| damage(&error))?;
            }
        }
        self.decoder.read(buffer)
    }
}

/// The system's error if there is one behind it; else the data are not Zstandard's.
fn damage(error: &FrameDecoderError) -> io::Error {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(each) = next {
        if let Some(found) = each.downcast_ref::<io::Error>() {
            return found.kind().into();
        }
        next = each.source();
    }
    io::ErrorKind::InvalidData.into()
}
