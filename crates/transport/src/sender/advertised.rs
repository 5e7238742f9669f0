//! The windows that a tuning receiver advertises, and with which acknowledgment each comes.
//!
//! Acknowledgments carry no window here. A tuned window grows only with data that comes in order (`tuning`), and such
//! data has an acknowledgment of a higher number than any before. So an acknowledgment of that number or more was sent
//! after the window had grown, and neither lost nor reordered acknowledgments can mislead.

use std::collections::VecDeque;

/// Windows on their way to the sender.
#[derive(Clone, Debug)]
pub(super) struct AdvertisedWindows {
    /// A connection's first window, segments.
    first: u32,
    /// The acknowledgment's number from which on a window holds, and that window, segments.
    coming: VecDeque<(u32, u32)>,
}

impl AdvertisedWindows {
    pub(super) fn new(first: u32) -> AdvertisedWindows {
        AdvertisedWindows { first, coming: VecDeque::new() }
    }

    /// Acknowledgments of `from` and more advertise a window of `segments`.
    pub(super) fn push(&mut self, from: u32, segments: u32) {
        self.coming.push_back((from, segments));
    }

    /// An acknowledgment of this number has come: the window that holds now (RFC 9293 section 3.10.7.4), if there is
    /// news. It never shrinks.
    pub(super) fn take(&mut self, ack: u32) -> Option<u32> {
        let mut largest = None;
        while let Some(&(_, segments)) = self.coming.front().filter(|(from, _)| *from <= ack) {
            largest = largest.max(Some(segments));
            self.coming.pop_front();
        }
        largest
    }

    /// A new connection begins without the last one's windows; returns its first window, segments.
    pub(super) fn restart(&mut self) -> u32 {
        self.coming.clear();
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_holds_from_its_acknowledgment_on() {
        let mut windows = AdvertisedWindows::new(10);
        windows.push(5, 20);
        windows.push(8, 30);
        assert_eq!((windows.take(4), windows.take(5), windows.take(6)), (None, Some(20), None));
        assert_eq!(windows.take(9), Some(30));
    }

    #[test]
    fn an_acknowledgment_that_was_lost_is_made_up_for_by_the_next() {
        let mut windows = AdvertisedWindows::new(10);
        windows.push(5, 20);
        windows.push(8, 30);
        assert_eq!(windows.take(8), Some(30));
        windows.push(12, 40);
        assert_eq!((windows.restart(), windows.take(20)), (10, None));
    }
}
