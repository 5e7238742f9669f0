//! Parameters of a connection. The defaults are those of the standards; hosts of other kinds are presets of the scenario,
//! whose keys they are by this declaration.

use bufferlab_parameters::{
    FLAG, Field, Kind, LARGEST_PACKET, OutOfBounds, Words, bytes, choice, count, parameters, require, time,
    within, words,
};
use bufferlab_units::Span;
use serde::{Deserialize, Serialize};

use crate::TuningConfig;

/// Payload of a packet, at most: `GSO_MAX_SIZE` less one and the headers' room (`MAX_TCP_HEADER` of 64-bit machines),
/// `sk_setup_caps`.
pub const MAX_PACKET_PAYLOAD: u32 = 65_536 - 1 - 320;
/// Segments of a packet, at most. The kernel's own bound is this host's network card's.
pub const MAX_PACKET_SEGMENTS: u32 = 128;
/// Longest timer of a connection, and shortest.
const LONGEST_TIMER: Span = Span::from_s(10_000);
const SHORTEST_TIMER: Span = Span::from_us(1);
/// Longest round-trip time that a sender may state.
const LONGEST_STATED: Span = Span::from_s(3_600);
/// Most segments of a window: their bytes stay far within 64 bits.
pub const MOST_SEGMENTS: u64 = 1_000_000_000;
/// Most header bytes of a packet.
pub const MOST_HEADERS: u64 = 1_000;
/// Largest packet on the wire, bytes.
const MAX_WIRE_BYTES: u64 = 1_000_000;

words! {
    /// How losses are repaired.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Recovery {
        /// Fast retransmit, then slow start from one segment (Jacobson 1988; ns-2 `Agent/TCP`).
        Tahoe = "tahoe",
        /// Fast recovery that ends with the first new acknowledgment (RFC 5681 section 3.2).
        Reno = "reno",
        /// Fast recovery through partial acknowledgments (RFC 6582).
        NewReno = "newreno",
        /// SACK with RFC 6675's scoreboard.
        Sack = "sack",
        /// SACK with ns-2's pipe counter (`Agent/TCP/Sack1`, ns-2 2.35 `tcp/tcp-sack1.cc`).
        SackNs2 = "sack-ns2",
        /// Reno as in ns-2 (`Agent/TCP/Reno`, ns-2 2.35 `tcp/tcp-reno.cc`).
        RenoNs2 = "reno-ns2",
        /// `NewReno` as in ns-2 (`Agent/TCP/Newreno`, ns-2 2.35 `tcp/tcp-newreno.cc`).
        NewRenoNs2 = "newreno-ns2",
        /// As ns-2's `Agent/TCP/Linux` (ns-2 2.35 `tcp/tcp-linux.cc`): its own scoreboard, and what is in the network let
        /// down without a lower bound.
        LinuxNs2 = "linux-ns2",
        /// SACK as Linux repairs losses: RFC 6675's scoreboard with losses detected by the order of sending, so that a lost
        /// retransmission is found too, and the window brought down over a round by RFC 6937.
        Linux = "linux",
        /// As QUIC repairs losses: each packet has a number of its own, so that order and time of sending are known (RFC 9002).
        Quic = "quic",
    }
}

impl Recovery {
    /// Whether acknowledgments carry SACK blocks.
    pub fn uses_sack(self) -> bool {
        self.computes_pipe() || matches!(self, Recovery::SackNs2 | Recovery::LinuxNs2)
    }

    /// Whether an agent of ns-2 is followed, down to how it measures round trips.
    pub fn is_ns2(self) -> bool {
        matches!(self, Recovery::SackNs2) || self.counts_as_ns2()
    }

    /// Whether an agent of ns-2 is followed that counts duplicate acknowledgments.
    pub fn counts_as_ns2(self) -> bool {
        matches!(self, Recovery::RenoNs2 | Recovery::NewRenoNs2)
    }

    /// Whether what is in the network is counted segment by segment: RFC 6675's `Pipe`, or QUIC's packets in flight.
    pub fn computes_pipe(self) -> bool {
        matches!(self, Recovery::Sack | Recovery::Linux | Recovery::Quic)
    }

    /// Whether the rules of recovery decide what is sent also while nothing is lost.
    pub(crate) fn decides_always(self) -> bool {
        matches!(self, Recovery::LinuxNs2 | Recovery::Quic)
    }
}

words! {
    /// Whether a connection uses explicit congestion notification, and how it responds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum EcnUse {
        /// Its segments are not ECN-capable.
        Off = "off",
        /// An echoed mark reduces the window as a loss does, once a window of data (RFC 3168 section 6.1.2).
        Classic = "classic",
        /// By less in congestion avoidance: to 0.8 of the window with Reno, 0.85 with CUBIC (RFC 8511 section 3.1).
        Abe = "abe",
        /// Its segments carry L4S's codepoint, ECT(1) (RFC 9331 section 4.1); with a control that has a response of its own.
        L4s = "l4s",
    }
}

words! {
    /// What becomes of the window when a sender was idle for longer than the retransmission timeout.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AfterIdle {
        /// Nothing.
        Keep = "keep",
        /// It is the initial window again, if it was larger (RFC 5681 section 4.1).
        Restart = "restart",
        /// It is halved for each timeout's time, down to the initial window, and the threshold is at least three quarters
        /// of what it was (RFC 2861 as Linux has it).
        Decay = "decay",
    }
}

words! {
    /// Where a sender states a round-trip time that is not its own.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StatedIn {
        /// In the field of each packet's header.
        Header = "header",
        /// In timestamps: as old as that is the newest one that it says has come back.
        Timestamps = "timestamps",
        /// In the handshake: its first data waits until that long after the SYN.
        Handshake = "handshake",
    }
}

words! {
    /// A constant or exponential law.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Variate {
        /// Always the mean.
        Constant = "constant",
        /// Exponential.
        Exponential = "exponential",
    }
}

/// How many consecutive segments leave as one packet, at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Offload {
    /// This many.
    Segments(u32),
    /// As many as Linux takes for the pace and the shortest round-trip time.
    Auto,
}

impl Field for Offload {
    fn check(&self, field: &str, _kind: &Kind) -> Result<(), OutOfBounds> {
        match *self {
            Offload::Segments(segments) => {
                within(segments, 1, MAX_PACKET_SEGMENTS, format!("{field}.segments"))
            }
            Offload::Auto => Ok(()),
        }
    }
}

/// Segments that one packet holds at most by its payload, for segments of `mss_bytes`.
pub fn most_by_size(mss_bytes: u32) -> u32 {
    (MAX_PACKET_PAYLOAD / mss_bytes.max(1)).clamp(1, MAX_PACKET_SEGMENTS)
}

parameters! {
    /// Parameters of a TCP sender and its receiver. Users read the doc comments; below them are the defaults' sources.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct TcpConfig {
        /// How losses are repaired; `linux` is `sack` with losses detected by the order of sending, tail-loss probes (both RFC
        /// 8985) and the window brought down over a round trip (RFC 6937); `quic` is RFC 9002.
        // RFC 6675.
        recovery: Recovery = Recovery::Sack, choice::<Recovery>();
        /// Payload of a full segment (MSS).
        // 1500-byte IP packets: 20 IP + 20 TCP + 12 timestamps with padding (RFC 7323 appendix A) leave 1448.
        mss_bytes as "segment": u32 = 1448, bytes(1, LARGEST_PACKET);
        /// Headers of a data segment on the wire, on top of the payload.
        header_bytes: u32 = 52, bytes(0, MOST_HEADERS);
        /// Size of a pure acknowledgment, and of a SYN, on the wire.
        ack_bytes: u32 = 52, bytes(1, LARGEST_PACKET);
        /// The receiver's advertised window.
        // RFC 7323 section 2.3: the largest scaled window.
        receive_window_bytes as "window": u64 = 65_535 << 14, bytes(1, 1 << 50);
        /// The receiver tunes its window, as Linux does, up to the advertised one.
        tuned_window: bool = false, FLAG;
        /// Initial congestion window, segments.
        // RFC 6928 section 2: min (10*MSS, max (2*MSS, 14600)), 10 segments of 1448 bytes.
        initial_window: u32 = 10, count("segments", 1, MOST_SEGMENTS);
        /// Initial slow-start threshold, segments.
        // RFC 5681 section 3.1: "The initial value of ssthresh SHOULD be set arbitrarily high".
        initial_ssthresh: Option<u32> = None, count("segments", 1, MOST_SEGMENTS);
        /// Segments that an acknowledgment waits for: true is 2, false is 1.
        // RFC 5681 section 4.2: an ACK "for at least every second full-sized segment",
        ack_every as "delayed_ack": u32 = 2, count("segments", 1, 1000);
        /// Longest wait of a delayed acknowledgment.
        // "within 500 ms of the arrival of the first unacknowledged packet"; 200 ms is BSD's timer
        // (Stevens, TCP/IP Illustrated, volume 1, section 19.3).
        ack_delay: Span = Span::from_ms(200), time(Span::ZERO, LONGEST_TIMER);
        /// Lower bound of the retransmission timeout.
        // RFC 6298 rule (2.4): "if it is less than 1 second, then the RTO SHOULD be rounded up to 1 second".
        min_rto: Span = Span::from_s(1), time(SHORTEST_TIMER, LONGEST_TIMER);
        /// Upper bound of the retransmission timeout.
        // RFC 6298 rule (2.5): a maximum "provided it is at least 60 seconds".
        max_rto: Span = Span::from_s(60), time(SHORTEST_TIMER, LONGEST_TIMER);
        /// Least margin of the retransmission timeout above the smoothed round-trip time; Linux's is 200 ms.
        // RFC 6298 rule (2.3): the margin is max (G, K*RTTVAR), G the clock's granularity.
        rto_margin: Span = Span::ZERO, time(Span::ZERO, LONGEST_TIMER);
        /// Timeout before the first round-trip sample.
        // RFC 6298 rule (2.1): 1 second until a round-trip time is measured.
        initial_rto: Span = Span::from_s(1), time(SHORTEST_TIMER, LONGEST_TIMER);
        /// Granularity of the round-trip clock; `"1 ps"` is exact.
        // RFC 6298 section 4: "finer clock granularities (<= 100 msec) perform somewhat better".
        clock: Span = Span::from_ps(1), time(Span::from_ps(1), LONGEST_TIMER);
        /// A round-trip sample from each acknowledgment; otherwise one a window.
        // RFC 7323 section 4.
        timestamps: bool = true, FLAG;
        /// RFC 3042: new segments for the first two duplicate acknowledgments.
        limited_transmit: bool = true, FLAG;
        /// Explicit congestion notification: data is ECN-capable, and an echoed mark reduces the window as a loss does, once
        /// a window of data (`classic`), or by less (`abe`, with `reno` and `cubic`). `bbr`, `bbr3` and `fixed` ignore
        /// marks; `dctcp` and `prague` have their own response, and `l4s` gives `dctcp` L4S's codepoint, as `prague` has it
        /// always.
        // RFC 3168 section 6.1.2; RFC 8511 section 3.1; RFC 9331 section 4.1.
        ecn: EcnUse = EcnUse::Off, choice::<EcnUse>();
        /// A SYN goes first.
        // RFC 9293 section 3.5.
        handshake: bool = true, FLAG;
        /// Segments leave evenly: 2 windows a round trip below half of the slow-start threshold, 1.2 above, as Linux paces
        /// under the queue `fq`, with the recovery `quic` 1.25 always; the first ten leave at once; `bbr` and `bbr3` have a pace of
        /// their own.
        paced: bool = false, FLAG;
        /// How many consecutive segments leave as one packet, at most; default one.
        offload: Option<Offload> = None, count("segments", 1, MAX_PACKET_SEGMENTS as u64);
        /// The sender lies: the round-trip time that it lets routers read, in place of its own. See
        /// [SplitBuff](splitbuff.md#liars). Not with `window = "auto"`, which reads that time, too.
        // Packet::srtt_us holds 71 minutes.
        stated_rtt: Option<Span> = None, time(SHORTEST_TIMER, LONGEST_STATED);
        /// Where it lies: in headers, in timestamps, or in the handshake, where only a longer time can be stated.
        stated_in: StatedIn = StatedIn::Header, choice::<StatedIn>();
        agree TcpConfig::agree;
    }
}

impl TcpConfig {
    fn agree(&self) -> Result<(), OutOfBounds> {
        let least = u64::from(self.mss_bytes);
        let most = MOST_SEGMENTS.saturating_mul(least);
        within(self.receive_window_bytes, least, most, "receive_window_bytes")?;
        within(self.min_rto.as_ps(), 0, self.max_rto.as_ps(), "min_rto_ps")?;
        within(self.rto_margin.as_ps(), 0, self.max_rto.as_ps(), "rto_margin_ps")?;
        // the agent's allowance follows acknowledgments, not departures
        let is_paced = self.paced && self.recovery == Recovery::LinuxNs2;
        require(!is_paced, "paced", self.paced, "false with the recovery linux-ns2")?;
        let is_ns2 = self.recovery.is_ns2() || self.recovery == Recovery::LinuxNs2;
        let uses_ecn = self.ecn != EcnUse::Off && is_ns2;
        require(!uses_ecn, "ecn", self.ecn.word(), "\"off\" with a recovery of ns-2")?;
        let is_read = self.stated_rtt.is_some() && self.tuned_window;
        require(!is_read, "tuned_window", self.tuned_window, "a fixed window with stated_rtt")?;
        self.packets_agree()
    }

    /// A packet of several segments has at most 64 KB of payload, and its size on the wire is bounded as all packets' is.
    fn packets_agree(&self) -> Result<(), OutOfBounds> {
        let Some(offload) = self.offload else { return Ok(()) };
        let most = most_by_size(self.mss_bytes);
        let segments = match offload {
            Offload::Segments(segments) => segments,
            Offload::Auto => most,
        };
        within(segments, 1, most, "offload.segments")?;
        let wire_bytes = u64::from(segments) * u64::from(self.mss_bytes + self.header_bytes);
        let accepted =
            format_args!("at most {MAX_WIRE_BYTES} bytes on the wire in a packet: smaller headers");
        require(wire_bytes <= MAX_WIRE_BYTES, "offload (packet)", wire_bytes, accepted)
    }

    /// How the receiver tunes its window, if it does.
    pub fn tuning(&self) -> Option<TuningConfig> {
        let TcpConfig { mss_bytes, receive_window_bytes: most_bytes, timestamps, .. } = *self;
        self.tuned_window.then_some(TuningConfig { mss_bytes, most_bytes, timestamps })
    }

    /// The receiver's window at first, segments, at least 1.
    pub fn first_receive_window(&self) -> u32 {
        let whole = self.receive_window_bytes / u64::from(self.mss_bytes.max(1));
        let window = u32::try_from(whole).unwrap_or(u32::MAX).max(1);
        self.tuning().map_or(window, TuningConfig::first_segments)
    }

    /// The segments that this many bytes of payload take.
    pub fn segments_of(&self, bytes: u64) -> u32 {
        u32::try_from(bytes.div_ceil(u64::from(self.mss_bytes.max(1)))).unwrap_or(u32::MAX)
    }
}

/// What an application has to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Segments; `u32::MAX` for a sender that never ends.
    pub segments: u32,
    /// The application is silent at times; see [`crate::Sender::resume`].
    pub bursts: Option<BurstsConfig>,
}

impl Load {
    /// Data that never ends.
    pub const ENDLESS: Load = Load { segments: u32::MAX, bursts: None };
}

/// What a sender keeps whose application is silent at times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstsConfig {
    /// The window after an idle time.
    pub after_idle: AfterIdle,
    /// Each burst goes over a connection of its own.
    pub reconnects: bool,
}

parameters! {
    /// Parameters of a datagram source.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct UdpConfig {
        /// Mean size on the wire, headers included.
        packet_bytes: u32, bytes(1, LARGEST_PACKET);
        /// Headers within the packet, its least size: 20 bytes of IP, 8 of UDP (RFC 791, RFC 768).
        header_bytes: u32 = 28, bytes(0, MOST_HEADERS);
        /// Mean time between packets.
        interval: Span, time(Span::from_ps(1), bufferlab_parameters::LONGEST);
        /// Law of the times between packets.
        arrivals: Variate = Variate::Constant, choice::<Variate>();
        /// Law of the packet sizes.
        sizes: Variate = Variate::Constant, choice::<Variate>();
        agree UdpConfig::agree;
    }
}

impl UdpConfig {
    fn agree(&self) -> Result<(), OutOfBounds> {
        within(self.header_bytes, 0, self.packet_bytes, "header_bytes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_takes_whole_segments() {
        let config = TcpConfig { mss_bytes: 1_448, ..TcpConfig::default() };
        let taken = [0, 1, 1_448, 1_449, 14_480, u64::MAX].map(|bytes| config.segments_of(bytes));
        assert_eq!(taken, [0, 1, 1, 2, 10, u32::MAX]);
    }
}
