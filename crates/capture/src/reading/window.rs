//! The bytes of an input, looked at in place: one buffer of a fixed size, filled in large pieces.

use std::io::{self, Read};

/// What is looked at of a packet; headers are shorter. What follows is passed over without being kept.
pub(super) const LOOKED_BYTES: usize = 1 << 16;
/// What is ahead of a place where the next record is looked for: a packet of 64 KiB, and what is behind it.
pub(super) const SOUGHT_BYTES: usize = LOOKED_BYTES + (1 << 12);
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

    /// Whether the input ends that many bytes ahead. Asked when a look was not granted.
    pub(super) fn ended_at(&self, count: usize) -> bool {
        self.ended && self.end - self.start == count
    }

    /// What ended the input before its end.
    pub(super) fn failure(&self) -> Option<io::ErrorKind> {
        self.failure
    }

    /// Moves forward to the first place of which `is_place` says so, by what is ahead of it; whether there is one.
    ///
    /// It sees at least `SOUGHT_BYTES`, or all that is left and that this is all.
    #[cold]
    pub(super) fn seek(&mut self, is_place: impl Fn(&[u8], bool) -> bool) -> bool {
        if self.debt > 0 {
            self.settle();
        }
        loop {
            if self.end - self.start < SOUGHT_BYTES {
                self.fill(BUFFER_BYTES);
            }
            let held = &self.buffer[self.start..self.end];
            let places = if self.ended { held.len() } else { held.len() - SOUGHT_BYTES + 1 };
            let found = (0..places).find(|&at| is_place(&held[at..], self.ended));
            let step = found.unwrap_or(places);
            self.start += step;
            self.passed += step as u64;
            if found.is_some() || self.ended {
                return found.is_some();
            }
        }
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

#[cfg(test)]
mod tests {
    use bufferlab_units::Stream;

    use super::*;

    /// Gives a part of its bytes at a time, is interrupted now and then, and may fail at their end.
    struct Slow {
        bytes: Vec<u8>,
        stream: Stream,
        fails: bool,
    }

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.stream.below(4) == 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if self.bytes.is_empty() && self.fails {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let most = 1 + self.stream.below(90_000) as usize;
            let count = most.min(buffer.len()).min(self.bytes.len());
            buffer[..count].copy_from_slice(&self.bytes[..count]);
            self.bytes.drain(..count);
            Ok(count)
        }
    }

    /// Looks and steps of any size are those of a slice, to its end; a step beyond it ends there.
    #[test]
    fn a_window_is_a_slice_that_moves_forward() {
        for seed in 0..6 {
            let mut stream = Stream::new(seed, 0, 0);
            let length = 300_000 + stream.below(3) as usize;
            let bytes: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
            let fails = seed % 3 == 0;
            let input = Slow { bytes: bytes.clone(), stream: Stream::new(seed, 1, 0), fails };
            let mut window = Window::new(Box::new(input));
            let mut at = 0;
            loop {
                let count = stream.below(LOOKED_BYTES as u64 + 100) as usize;
                let looks = bytes.get(at..at + count);
                let step = if stream.below(9) == 0 { stream.below(300_000) } else { stream.below(70_000) };
                let found = if stream.below(2) == 0 {
                    window.take(count, step).map(<[u8]>::to_vec)
                } else {
                    let found = window.ahead(count).map(<[u8]>::to_vec);
                    window.pass(step / 2);
                    window.pass(step - step / 2);
                    found
                };
                assert_eq!(found.as_deref(), looks, "{at} {count}");
                if looks.is_none() {
                    break;
                }
                assert_eq!(window.taken(count), looks.unwrap());
                assert_eq!(window.position(), (at + step as usize) as u64);
                at += step as usize;
            }
            assert_eq!(window.failure(), fails.then_some(io::ErrorKind::BrokenPipe));
            assert!(!window.ended_cleanly() || at == length);
        }
    }

    /// Wherever a place is, in the buffer or beyond, it is found, and what is ahead of it is seen whole or to the end.
    #[test]
    fn a_place_is_found_wherever_it_is() {
        for place in [0, 1, 70_000, BUFFER_BYTES - 3, BUFFER_BYTES, 3 * BUFFER_BYTES + 5, 900_000 - 1] {
            let mut bytes = vec![0; 900_000];
            bytes[place] = 7;
            let mut window = Window::new(Box::new(io::Cursor::new(bytes)));
            let found = window.seek(|ahead, is_all| {
                assert!(is_all || ahead.len() >= SOUGHT_BYTES);
                ahead[0] == 7
            });
            assert_eq!((found, window.position()), (true, place as u64));
            assert_eq!(window.take(1, 1), Some(&[7][..]));
            assert!(!window.seek(|ahead, _| ahead[0] == 7) && window.ended_cleanly());
            assert_eq!(window.position(), 900_000);
        }
    }

    #[test]
    fn an_input_ends_cleanly_where_all_of_it_was_passed() {
        for (step, clean, position) in [(10, true, 10), (9, false, 9), (11, false, 10)] {
            let mut window = Window::new(Box::new(io::Cursor::new([0; 10])));
            assert!(window.take(1, step).is_some());
            assert!(window.ahead(2).is_none());
            assert_eq!((window.ended_cleanly(), window.position()), (clean, position), "{step}");
        }
    }
}
