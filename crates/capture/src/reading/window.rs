//! The bytes of an input, looked at in place: one buffer of a fixed size, filled in large pieces.

use std::io::{self, Read};

/// What is looked at of a packet; headers are shorter. What follows is passed over without being kept.
pub(super) const LOOKED_BYTES: usize = 1 << 16;
/// Read at once: fits the cache that is nearest to a core, and is more than what is looked at with its block's head.
const BUFFER_BYTES: usize = 1 << 18;

/// A part of an input that moves forward.
pub(super) struct Window {
    input: Box<dyn Read + Send>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes to be passed over before the next look.
    debt: u64,
    /// Bytes of the input before `start`.
    passed: u64,
    ended: bool,
    /// The input ended before what was to be passed over.
    short: bool,
    failure: Option<io::ErrorKind>,
}

impl Window {
    pub(super) fn new(input: Box<dyn Read + Send>) -> Window {
        Window {
            input,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            start: 0,
            end: 0,
            debt: 0,
            passed: 0,
            ended: false,
            short: false,
            failure: None,
        }
    }

    /// The next `count` bytes, at most `LOOKED_BYTES` and a block's head; `None` if the input has fewer.
    #[inline]
    pub(super) fn ahead(&mut self, count: usize) -> Option<&[u8]> {
        self.take(count, 0)
    }

    /// As `ahead`, and moves forward by `whole` bytes.
    #[inline]
    pub(super) fn take(&mut self, count: usize, whole: u64) -> Option<&[u8]> {
        if self.debt > 0 {
            self.settle();
        }
        if self.end - self.start < count && !self.fill(count) {
            return None;
        }
        self.debt = whole;
        Some(&self.buffer[self.start..self.start + count])
    }

    /// The first `count` bytes of what was taken last, again.
    #[inline]
    pub(super) fn taken(&self, count: usize) -> &[u8] {
        &self.buffer[self.start..self.start + count]
    }

    /// Moves forward.
    pub(super) fn pass(&mut self, whole: u64) {
        self.debt += whole;
    }

    /// Bytes before the next look.
    pub(super) fn position(&self) -> u64 {
        self.passed + self.debt
    }

    /// Whether the input ended where a record ended. Asked when a look was not granted.
    pub(super) fn ended_cleanly(&self) -> bool {
        self.start == self.end && !self.short && self.failure.is_none()
    }

    /// What ended the input before its end.
    pub(super) fn failure(&self) -> Option<io::ErrorKind> {
        self.failure
    }

    #[inline]
    fn settle(&mut self) {
        let held = (self.end - self.start) as u64;
        if self.debt <= held {
            self.start += self.debt as usize;
            self.passed += self.debt;
            self.debt = 0;
        } else {
            self.discard();
        }
    }

    #[cold]
    fn discard(&mut self) {
        loop {
            let step = self.debt.min((self.end - self.start) as u64);
            self.start += step as usize;
            self.passed += step;
            self.debt -= step;
            if self.debt == 0 {
                return;
            }
            if !self.fill(1) {
                self.short = true;
                self.debt = 0;
                return;
            }
        }
    }

    #[cold]
    fn fill(&mut self, count: usize) -> bool {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        while self.end < count && !self.ended {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.failure = Some(error.kind());
                    self.ended = true;
                }
            }
        }
        self.end >= count
    }
}
