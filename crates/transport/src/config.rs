//! Parameters of a connection. Defaults are a matter of the scenario's stack presets; here all are explicit.

use bufferlab_units::Span;

use crate::TuningConfig;

/// How losses are repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment (Jacobson 1988; ns-2 `Agent/TCP`).
    Tahoe,
    /// Fast recovery that ends with the first new acknowledgment (RFC 5681 section 3.2).
    Reno,
    /// Fast recovery through partial acknowledgments (RFC 6582).
    NewReno,
    /// SACK with RFC 6675's scoreboard.
    Sack,
    /// Linux's recovery: RFC 6675's scoreboard with losses detected by the order of sending, so that a lost
    /// retransmission is detected too, and the window reduced over a round by RFC 6937.
    Linux,
    /// SACK with ns-2's pipe counter (`Agent/TCP/Sack1`, ns-2 2.35 `tcp/tcp-sack1.cc`).
    SackNs2,
}

impl Recovery {
    /// Whether acknowledgments carry SACK blocks.
    pub fn uses_sack(self) -> bool {
        self.computes_pipe() || self == Recovery::SackNs2
    }

    /// Whether RFC 6675's `Pipe` is computed from a scoreboard.
    pub fn computes_pipe(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Linux)
    }
}

/// What becomes of the window when a sender was idle for longer than the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterIdle {
    /// Nothing.
    Keep,
    /// It is the initial window again, if it was larger (RFC 5681 section 4.1).
    Restart,
    /// It is halved for each timeout's time, down to the initial window, and the threshold is at least three quarters
    /// of what it was (RFC 2861 as Linux has it).
    Decay,
}

/// What a sender keeps whose application is silent at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstsConfig {
    /// The window after an idle time.
    pub after_idle: AfterIdle,
    /// The connection's first window, segments.
    pub initial_window: u32,
    /// Each burst goes over a connection of its own.
    pub reconnects: bool,
}

/// How many consecutive segments leave as one packet, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// So many.
    Segments(u32),
    /// As many as Linux takes for the pace and the shortest round-trip time, for segments of this payload, bytes.
    Auto {
        /// Payload of a segment.
        mss_bytes: u32,
    },
}

/// A constant or exponential law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variate {
    /// Always the mean.
    Constant,
    /// Exponential.
    Exponential,
}

/// Parameters of a TCP connection.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Segments to send; `u32::MAX` for a sender that never ends.
    pub transfer_segments: u32,
    /// The receiver's window, segments, at least 1.
    pub receive_window: u32,
    /// The receiver tunes its window; `receive_window` is then the first one, [`TuningConfig::first_segments`].
    pub tuning: Option<TuningConfig>,
    /// Segments per pure acknowledgment.
    pub ack_every: u32,
    /// Longest wait of a delayed acknowledgment.
    pub ack_delay: Span,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// Least margin of the retransmission timeout above the smoothed round-trip time; zero for the variation alone.
    pub rto_margin: Span,
    /// Upper bound of the retransmission timeout.
    pub max_rto: Span,
    /// Timeout before the first round-trip sample.
    pub initial_rto: Span,
    /// Granularity of the round-trip clock; one picosecond for exact.
    pub clock: Span,
    /// Every acknowledgment of new data gives a round-trip sample; otherwise one a window.
    pub timestamps: bool,
    /// RFC 3042: a new segment for each of the first two duplicate acknowledgments.
    pub limited_transmit: bool,
    /// A SYN goes first.
    pub handshake: bool,
    /// Segments leave at a pace, not in bursts; controls with a rate of their own are paced anyway.
    pub paced: bool,
    /// Consecutive segments leave as one packet: see [`crate::Sender::segments_in_packet`].
    pub offload: Option<Offload>,
    /// The application is silent at times; see [`crate::Sender::resume`].
    pub bursts: Option<BurstsConfig>,
}
