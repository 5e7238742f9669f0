//! The states of a connection, and what acknowledgments do to them.

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not started.
    Idle,
    /// The SYN is out.
    SynSent,
    /// No loss is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout (or Tahoe's loss), until all that was out then is acknowledged.
    Loss,
}

/// What a duplicate acknowledgment makes the sender believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// Nothing new.
    Nothing,
    /// Segments were reordered, or lost (Linux).
    Reordering,
    /// A segment was lost.
    Loss,
}

/// What new data that is acknowledged does to a fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// It ends.
    Ended,
    /// It continues.
    Partial {
        /// The retransmission timer is restarted.
        resets_timer: bool,
        /// The congestion window shrinks by this many segments.
        deflation: u32,
    },
}
