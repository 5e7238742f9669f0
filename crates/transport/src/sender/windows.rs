//! Windows that a receiver tunes: what it advertises with which acknowledgment.
//!
//! Acknowledgments carry no window here. A tuned one grows with data that comes in order only (`tuning`), and that has an
//! acknowledgment of a higher number than any before: so whatever acknowledges as much was sent after it had grown, and
//! neither losses nor reordering of acknowledgments can mislead.

use std::collections::VecDeque;

use super::Sender;

/// What acknowledgments on their way tell of the window.
#[derive(Clone, Debug)]
pub(super) struct Windows {
    /// A connection's first window, segments.
    first: u32,
    /// From which number on acknowledgments tell of which window, segments.
    news: VecDeque<(u32, u32)>,
}

impl Windows {
    pub(super) fn new(first: u32) -> Windows {
        Windows { first, news: VecDeque::new() }
    }
}

impl Sender {
    /// Acknowledgments of `from` and more tell of a window of so many segments. For connections with
    /// [`crate::TcpConfig::tuning`].
    pub fn note_window(&mut self, from: u32, segments: u32) {
        if let Some(windows) = self.windows.as_deref_mut() {
            windows.news.push_back((from, segments));
        }
    }

    /// An acknowledgment of this number has come: the window that it tells of holds (RFC 9293 section 3.10.7.4). It never
    /// shrinks: an older acknowledgment that comes late tells nothing.
    #[inline(never)]
    pub(super) fn take_window(&mut self, ack: u32) {
        let Some(windows) = self.windows.as_deref_mut() else {
            return;
        };
        while let Some(&(_, segments)) = windows.news.front().filter(|(from, _)| *from <= ack) {
            self.receive_window = self.receive_window.max(segments);
            windows.news.pop_front();
        }
    }

    /// A new connection begins, which knows nothing of the last one's window.
    pub(super) fn forget_windows(&mut self) {
        if let Some(windows) = self.windows.as_deref_mut() {
            windows.news.clear();
            self.receive_window = windows.first;
        }
    }
}
