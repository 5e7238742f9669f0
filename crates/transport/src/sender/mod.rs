//! The sender: what may be sent and when, by RFC 5681, 6298, 6582, 6675 and 3042.
//!
//! Window growth belongs to a [`CongestionControl`]; this module detects losses and repairs them. One file a
//! family of recoveries: `counting` for those that count duplicate acknowledgments, `selective` for SACK. `rated`
//! serves the controls that ask for more than acknowledgments, the rate of delivery, and those that are to be paced.
//!
//! `bursts` serves applications that are silent at times, `packets` hosts that send several segments as one packet.
//!
//! Departures: no window growth while the receiver's window, not the congestion window, is the bound (RFC
//! 7661 section 4.4 in spirit; Linux alike).

mod acknowledged;
mod bursts;
mod counting;
mod packets;
mod rated;
mod reduction;
mod selective;
#[cfg(test)]
pub(crate) mod tests;
mod timers;
mod transmit;
mod windows;

use bufferlab_congestion::{AnyControl, CongestionControl};
use bufferlab_units::{Span, Time};

use bursts::Bursts;
use packets::Packing;
pub use packets::{MAX_PACKET_PAYLOAD, most_by_size};
use rated::Pace;
use reduction::Reduction;
use timers::Timer;
use windows::Windows;

use crate::scoreboard::Scoreboard;
use crate::{Recovery, RttEstimator, TcpConfig};

/// Duplicate acknowledgments that mean a loss (RFC 5681 section 3.2).
const DUP_ACKS: u32 = 3;

/// What a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens the connection.
    Syn,
    /// Data for the first time.
    New,
    /// Data again.
    Retransmission,
}

/// A segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What it is.
    pub kind: SegmentKind,
    /// Its number; 0 for a SYN.
    pub seq: u32,
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
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

/// What a sender counts, from the run's start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderCounters {
    /// Data segments sent, retransmissions among them.
    pub sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries (for Tahoe: fast retransmits) entered.
    pub recoveries: u64,
    /// Sum of round-trip samples, ps.
    pub rtt_sum_ps: f64,
    /// Number of round-trip samples.
    pub rtt_samples: u64,
}

/// What an acknowledgment told beside its number.
#[derive(Clone, Copy)]
struct Told {
    rtt: Option<Span>,
    marked: bool,
}

/// A TCP sender. Its fields lie in the order below: what each acknowledgment touches comes first and fills few
/// cache lines, which decides the speed where there are thousands of flows.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// Nothing but `window_to` decides what is sent next.
    plain: bool,
    /// Open, with no duplicate counted and nothing to repair: what the next acknowledgment does is known.
    calm: bool,
    phase: Phase,
    timestamps: bool,
    /// What ns-2's `Agent/TCP/Sack1` does otherwise; see `selective`.
    ns2: bool,
    /// The scoreboard describes the outstanding segments.
    board_active: bool,
    /// Timers may run out before the retransmission timer (Linux).
    early: bool,
    /// What the timer is for.
    timer: Timer,
    /// A tail-loss probe is to be sent, whatever the window.
    probe_due: bool,
    /// The scoreboard decides what is sent next.
    repairs: bool,
    /// The control sets the pace, and is told rates.
    rated: bool,
    /// Segments wait for their pace.
    paced: bool,
    /// Several segments may leave as one packet.
    packs: bool,
    /// The receiver tunes its window.
    tuned: bool,
    /// Duplicates count: something was acknowledged since the last timeout (ns-2).
    duplicates_count: bool,
    recovery: Recovery,
    /// The first segment not cumulatively acknowledged (RFC 9293's SND.UNA).
    una: u32,
    /// The next segment to send (SND.NXT); goes back after a timeout without SACK.
    nxt: u32,
    /// One more than the highest segment ever sent.
    sent_to: u32,
    /// One more than the last segment to send.
    limit: u32,
    receive_window: u32,
    /// The whole segments of the congestion window.
    cwnd_whole: u32,
    /// One more than the last segment that the windows admit; 0 before the connection is open.
    window_to: u32,
    /// Duplicate acknowledgments in a row.
    dup_acks: u32,
    timer_deadline: Time,
    /// When a segment that waits for its pace may go; [`Time::NEVER`] if none does.
    pace_deadline: Time,
    rtt: RttEstimator,
    /// The newest timestamp that came back.
    echoed: Time,
    counters: SenderCounters,
    board: Option<Box<Scoreboard>>,
    pace: Option<Box<Pace>>,
    /// Of an application that is silent at times.
    bursts: Option<Box<Bursts>>,
    control: AnyControl,
    /// The recovery ends when everything below is acknowledged (RFC 6582's and 6675's recover).
    recover: u32,
    /// One more than the last segment sent as a tail-loss probe.
    probed_to: u32,
    /// Segments that this acknowledgment reports for the first time; known where recovery uses SACK.
    newly: u32,
    /// How the window comes down in fast recovery (Linux).
    reduction: Reduction,
    /// Segments that fast recovery adds to the window (RFC 5681 section 3.2 steps 3 and 4).
    inflation: u32,
    /// ns-2's count of segments in the network during fast recovery; may pass below zero.
    counted_pipe: i64,
    /// Of a host that sends several segments as one packet.
    packing: Option<Box<Packing>>,
    /// Of a receiver that tunes its window.
    windows: Option<Box<Windows>>,
    limited_transmit: bool,
    handshake: bool,
    /// The first outstanding segment (or the SYN) must be sent again, whatever the window.
    resend_first: bool,
    /// The first partial acknowledgment of this recovery has come (RFC 6582 step 3).
    partial_seen: bool,
    /// RFC 6675's `RescueRxt`: a rescue waits until something beyond is acknowledged.
    rescue_rxt: u32,
    /// The segment being timed and when it was sent (no timestamps).
    timed: Option<(u32, Time)>,
    finished: Time,
}

impl Sender {
    /// The sender of a connection that has not started.
    pub fn new(config: &TcpConfig, control: AnyControl) -> Sender {
        let rated = control.wants_rate();
        debug_assert!(!rated || config.recovery.computes_pipe(), "rates need RFC 6675's scoreboard");
        let rtt = RttEstimator::new(config.initial_rto, config.min_rto, config.max_rto, config.clock)
            .with_margin(config.rto_margin);
        Sender {
            pace: (rated || config.paced).then(|| Box::new(Pace::new(&control, rated))),
            paced: rated || config.paced,
            bursts: config.bursts.map(|of| Box::new(Bursts::new(of, &rtt, &control))),
            packs: config.offload.is_some(),
            tuned: config.tuning.is_some(),
            windows: config.tuning.map(|tuning| Box::new(Windows::new(tuning.first_segments()))),
            packing: config.offload.map(|most| Box::new(Packing::new(most))),
            rated,
            control,
            una: 0,
            nxt: 0,
            sent_to: 0,
            limit: config.transfer_segments,
            recover: 0,
            dup_acks: 0,
            newly: 0,
            reduction: Reduction::default(),
            inflation: 0,
            counted_pipe: 0,
            receive_window: config.receive_window.max(1),
            phase: Phase::Idle,
            recovery: config.recovery,
            ns2: config.recovery == Recovery::SackNs2,
            duplicates_count: true,
            limited_transmit: config.limited_transmit,
            handshake: config.handshake,
            timestamps: config.timestamps,
            resend_first: false,
            partial_seen: false,
            rescue_rxt: 0,
            board_active: false,
            rtt,
            timer_deadline: Time::NEVER,
            timer: Timer::Retransmission,
            early: config.recovery == Recovery::Linux,
            probe_due: false,
            probed_to: 0,
            pace_deadline: Time::NEVER,
            echoed: Time::NEVER,
            cwnd_whole: 0,
            window_to: 0,
            repairs: false,
            plain: true,
            calm: false,
            timed: None,
            finished: Time::NEVER,
            board: None,
            counters: SenderCounters::default(),
        }
    }

    /// Opens the connection.
    pub fn start(&mut self) {
        debug_assert_eq!(self.phase, Phase::Idle);
        self.phase = if self.handshake { Phase::SynSent } else { Phase::Open };
        self.resend_first = self.handshake;
        self.refresh();
    }

    /// No new data from now on; what is outstanding is still repaired.
    pub fn stop(&mut self) {
        self.limit = self.limit.min(self.sent_to);
        self.refresh();
    }

    /// The congestion window, segments, with the segments that fast recovery adds, or has not yet taken.
    pub fn cwnd(&self) -> f64 {
        if self.phase == Phase::Recovery && self.recovery == Recovery::Linux && !self.rated {
            return f64::from(self.reduction.window);
        }
        self.control.cwnd() + f64::from(self.inflation)
    }

    /// The slow-start threshold, segments.
    pub fn ssthresh(&self) -> f64 {
        self.control.ssthresh()
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Span {
        self.rtt.srtt()
    }

    /// How long ago the newest timestamp was sent that has come back; zero before the first.
    #[inline]
    pub fn echo_age(&self, now: Time) -> Span {
        now.saturating_since(self.echoed)
    }

    /// Segments believed to be in the network: RFC 6675's `Pipe` with SACK, else what is outstanding.
    pub fn inflight(&self) -> u32 {
        match self.board.as_deref() {
            Some(board) if self.board_active && self.recovery.computes_pipe() => board.pipe(),
            _ if self.phase == Phase::Recovery && self.recovery == Recovery::SackNs2 => {
                self.counted_pipe.max(0) as u32
            }
            _ => self.nxt - self.una,
        }
    }

    /// What was counted from the run's start.
    pub fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// One more than the last segment that there is to send.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// One more than the highest segment ever sent.
    pub fn sent_to(&self) -> u32 {
        self.sent_to
    }

    /// How many segments were acknowledged in order.
    pub fn acknowledged(&self) -> u32 {
        self.una
    }

    /// When the last byte of a transfer was acknowledged, or [`Time::NEVER`].
    pub fn finished(&self) -> Time {
        self.finished
    }
}
