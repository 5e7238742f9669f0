//! What a connection keeps of its segments: at most one scoreboard, whatever the recovery.

use super::linux_ns2::LinuxNs2;
use super::quic::Quic;
use super::scoreboard::Scoreboard;
use crate::window::SendWindow;

/// What is known of segments, made at the first loss and kept for the next.
#[derive(Clone, Debug, Default)]
pub(super) enum Board {
    #[default]
    None,
    /// A scoreboard that describes the outstanding segments.
    Active(Box<Scoreboard>),
    /// One that does not.
    Resting(Box<Scoreboard>),
    /// What ns-2's `Agent/TCP/Linux` keeps.
    LinuxNs2(Box<LinuxNs2>),
    /// What QUIC keeps.
    Quic(Box<Quic>),
}

impl Board {
    #[inline]
    pub(super) fn is_active(&self) -> bool {
        matches!(self, Board::Active(_))
    }

    /// The scoreboard if it describes the outstanding segments.
    #[inline]
    pub(super) fn active(&self) -> Option<&Scoreboard> {
        if let Board::Active(board) = self { Some(board) } else { None }
    }

    #[inline]
    pub(super) fn active_mut(&mut self) -> Option<&mut Scoreboard> {
        if let Board::Active(board) = self { Some(board) } else { None }
    }

    /// The scoreboard, whatever it describes.
    #[inline]
    pub(super) fn kept_mut(&mut self) -> Option<&mut Scoreboard> {
        if let Board::Active(board) | Board::Resting(board) = self { Some(board) } else { None }
    }

    /// Segments considered lost so far.
    pub(super) fn losses(&self) -> u64 {
        match self {
            Board::Active(board) | Board::Resting(board) => board.losses(),
            Board::Quic(state) => state.losses(),
            _ => 0,
        }
    }

    /// The outstanding segments are not described any more.
    pub(super) fn rest(&mut self) {
        *self = match std::mem::take(self) {
            Board::Active(board) => Board::Resting(board),
            other => other,
        };
    }

    /// Describes the outstanding segments from now on, if it did not.
    pub(super) fn activate(&mut self, window: &SendWindow, by_order: bool) -> &mut Scoreboard {
        let (una, nxt) = (window.una, window.sent_to);
        if !self.is_active() {
            let mut board = match std::mem::take(self) {
                Board::Active(board) | Board::Resting(board) => board,
                _ => Box::new(Scoreboard::new(una, una, by_order)),
            };
            board.restart(una, nxt);
            *self = Board::Active(board);
        }
        self.active_mut().expect("it is active now")
    }

    /// What ns-2's `Agent/TCP/Linux` keeps, if that is followed.
    pub(super) fn linux_ns2(&self) -> Option<&LinuxNs2> {
        if let Board::LinuxNs2(state) = self { Some(state) } else { None }
    }

    /// The same.
    pub(super) fn linux_ns2_mut(&mut self) -> Option<&mut LinuxNs2> {
        if let Board::LinuxNs2(state) = self { Some(state) } else { None }
    }

    /// What QUIC keeps, if that is followed.
    pub(super) fn quic(&self) -> Option<&Quic> {
        if let Board::Quic(state) = self { Some(state) } else { None }
    }

    /// The same.
    pub(super) fn quic_mut(&mut self) -> Option<&mut Quic> {
        if let Board::Quic(state) = self { Some(state) } else { None }
    }
}
