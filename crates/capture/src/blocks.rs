//! Writes whole blocks to a file: if writing fails, no partial block is left behind.

use std::io::{self, Write};

/// Bytes gathered before they are written.
const BUFFER_BYTES: usize = 1 << 18;

/// The destination of a recording.
pub trait Output: Write + Send {
    /// Keeps only the first `length` bytes.
    ///
    /// # Errors
    /// The system's; what cannot be truncated (a pipe) stays as it is.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

/// The state of a file at its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Packets or lines written.
    pub records: u64,
    /// Packets or lines beyond the limit.
    pub left_out: u64,
    /// Size of the file.
    pub bytes: u64,
    /// What ended it early; the file then holds whole records up to that point.
    pub problem: Option<String>,
}

/// A file of blocks.
pub(crate) struct Blocks {
    output: Box<dyn Output>,
    buffer: Vec<u8>,
    /// The end of each block in the buffer.
    ends: Vec<usize>,
    /// Bytes written, and blocks.
    bytes: u64,
    written: u64,
    problem: Option<io::Error>,
}

impl Blocks {
    pub(crate) fn new(output: Box<dyn Output>) -> Blocks {
        Blocks { output, buffer: Vec::new(), ends: Vec::new(), bytes: 0, written: 0, problem: None }
    }

    /// Whether more can be written.
    pub(crate) fn is_open(&self) -> bool {
        self.problem.is_none()
    }

    /// Adds what `fill` appends, as one block.
    pub(crate) fn push(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        if !self.is_open() {
            return;
        }
        fill(&mut self.buffer);
        self.ends.push(self.buffer.len());
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush();
        }
    }

    /// Writes the gathered blocks.
    pub(crate) fn flush(&mut self) {
        let mut done = 0;
        while done < self.buffer.len() && self.is_open() {
            match self.output.write(&self.buffer[done..]) {
                Ok(0) => self.problem = Some(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.problem = Some(error),
            }
        }
        if self.is_open()
            && let Err(error) = self.output.flush()
        {
            self.problem = Some(error);
        }
        let whole = self.ends.partition_point(|&end| end <= done);
        self.bytes += whole.checked_sub(1).map_or(0, |last| self.ends[last] as u64);
        self.written += whole as u64;
        if !self.is_open() {
            // the first problem is the one to report
            let _ = self.output.cut(self.bytes);
        }
        self.buffer.clear();
        self.ends.clear();
    }

    /// Bytes and blocks written, and what went wrong.
    pub(crate) fn finish(mut self) -> (u64, u64, Option<String>) {
        self.flush();
        (self.bytes, self.written, self.problem.as_ref().map(plain))
    }
}

/// What went wrong, without the system's error number.
fn plain(problem: &io::Error) -> String {
    let text = problem.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Arc, Mutex, PoisonError};

    use super::*;

    /// Memory of a bounded size.
    #[derive(Clone, Default)]
    pub(crate) struct Memory {
        pub(crate) held: Arc<Mutex<Vec<u8>>>,
        pub(crate) room: Option<usize>,
    }

    impl Memory {
        pub(crate) fn bytes(&self) -> Vec<u8> {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).clone()
        }
    }

    impl Write for Memory {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            let room = self.room.map_or(data.len(), |room| room - held.len());
            if room == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let count = data.len().min(room);
            held.extend_from_slice(&data[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Output for Memory {
        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).truncate(length as usize);
            Ok(())
        }
    }

    #[test]
    fn what_does_not_fit_leaves_whole_blocks() {
        let memory = Memory { room: Some(BUFFER_BYTES + 250), ..Memory::default() };
        let mut blocks = Blocks::new(Box::new(memory.clone()));
        for _ in 0..BUFFER_BYTES / 100 + 10 {
            blocks.push(|buffer| buffer.extend_from_slice(&[7; 100]));
        }
        let (bytes, written, problem) = blocks.finish();
        let most = (BUFFER_BYTES + 250) / 100;
        assert_eq!((bytes, written), (100 * most as u64, most as u64));
        assert_eq!(memory.bytes().len() as u64, bytes);
        assert!(problem.is_some_and(|text| text.contains("storage") || text.contains("space")));
    }

    #[test]
    fn what_fits_is_all_there() {
        let memory = Memory::default();
        let mut blocks = Blocks::new(Box::new(memory.clone()));
        for byte in 0..200 {
            blocks.push(|buffer| buffer.push(byte));
        }
        assert_eq!(blocks.finish(), (200, 200, None));
        assert_eq!(memory.bytes(), (0..200).collect::<Vec<u8>>());
    }

    #[test]
    fn blocks_are_written_when_the_buffer_is_full() {
        let memory = Memory::default();
        let mut blocks = Blocks::new(Box::new(memory.clone()));
        blocks.push(|buffer| buffer.resize(BUFFER_BYTES - 1, 7));
        assert_eq!(memory.bytes().len(), 0);
        blocks.push(|buffer| buffer.push(7));
        assert_eq!(memory.bytes().len(), BUFFER_BYTES);
        assert_eq!(blocks.finish(), (BUFFER_BYTES as u64, 2, None));
    }
}
