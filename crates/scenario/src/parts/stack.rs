//! Stack presets: what TCP the hosts run unless a flow's keys say otherwise.
//!
//! Each constant names its source. `rfc` follows the standards, `linux` a current Linux host, `ns2-sack1`
//! Agent/TCP/Sack1 and TCPSink/Sack1 of ns-2 2.35, `inet-reno` the OMNeT++/INET of 2011 with its default Reno.

use super::tcp::{AfterIdle, Growth, Recovery, Stack};
use crate::keys::WordOf;
use crate::quantity::congestion::Congestion;
use crate::quantity::hosts::{Offload, SCALED_WINDOW_BYTES, Window};
use crate::quantity::{PS_PER_MS, PS_PER_S};

/// The presets by name.
pub const STACKS: &[(&str, &Stack)] =
    &[("rfc", &RFC), ("ns2-sack1", &NS2_SACK1), ("linux", &LINUX), ("inet-reno", &INET_RENO)];

/// The names of the presets.
pub const STACK_WORDS: WordOf = WordOf(&["rfc", "ns2-sack1", "linux", "inet-reno"]);

/// The preset of a name.
pub fn preset(name: &str) -> &'static Stack {
    STACKS.iter().find(|(known, _)| *known == name).map_or(&RFC, |(_, stack)| stack)
}

/// The standards.
const RFC: Stack = Stack {
    congestion: Congestion::RENO,
    // RFC 9438 section 4.7 recommends it (SHOULD).
    fast_convergence: true,
    // RFC 5681 section 3.1: "The RECOMMENDED way to increase cwnd during congestion avoidance is to count the
    // number of bytes that have been acknowledged by ACK segments for new data."
    growth: Growth::PerSegment,
    // RFC 6675.
    recovery: Recovery::Sack,
    // 1500-byte IP packets: 20 IP + 20 TCP + 12 timestamps with padding (RFC 7323 appendix A) leave 1448.
    segment_bytes: 1448,
    header_bytes: 52,
    ack_bytes: 52,
    // RFC 6928 section 2: min (10*MSS, max (2*MSS, 14600)), 10 segments of 1448 bytes.
    initial_window: 10,
    // RFC 5681 section 3.1: "The initial value of ssthresh SHOULD be set arbitrarily high".
    initial_ssthresh: None,
    // RFC 7323 section 2.3: the largest scaled window, so that the buffer and not the receiver decides.
    window: Window::Bytes(SCALED_WINDOW_BYTES),
    window_scaling: true,
    // RFC 5681 section 4.2: an ACK "for at least every second full-sized segment",
    delayed_ack: 2,
    // "within 500 ms of the arrival of the first unacknowledged packet"; 200 ms is BSD's timer
    // (Stevens, TCP/IP Illustrated, volume 1, section 19.3).
    ack_delay_ps: 200 * PS_PER_MS,
    // RFC 6298 rule (2.4): "if it is less than 1 second, then the RTO SHOULD be rounded up to 1 second".
    min_rto_ps: PS_PER_S,
    // RFC 6298 rule (2.5): a maximum "provided it is at least 60 seconds".
    max_rto_ps: 60 * PS_PER_S,
    // RFC 6298 rule (2.3): the margin is max (G, K*RTTVAR), G the clock's granularity.
    rto_margin_ps: 0,
    // RFC 6298 rule (2.1): 1 second until a round-trip time is measured.
    initial_rto_ps: PS_PER_S,
    // RFC 6298 section 4: "finer clock granularities (<= 100 msec) perform somewhat better"; here exact.
    clock_ps: 1,
    // RFC 7323 section 4: round-trip samples from timestamps.
    timestamps: true,
    // RFC 3042.
    limited_transmit: true,
    // RFC 9293 section 3.5.
    handshake: true,
    // RFC 5681 section 4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission if the TCP
    // has not sent data in an interval exceeding the retransmission timeout."
    after_idle: AfterIdle::Restart,
    // What a host hands to its network card as one packet meets a router's queue as many.
    offload: Offload::None,
    // Linux paces where the host's queue is fq, or the control asks for it.
    paced: false,
};

/// A current Linux host.
const LINUX: Stack = Stack {
    // Kconfig's DEFAULT_CUBIC. Linux leaves slow start by the older HyStart (tcp_cubic.c: the length of an ACK
    // train, or a rise of the delay, ends it at once); ours is HyStart++ (RFC 9406), which goes on cautiously.
    congestion: Congestion::CUBIC_LINUX_HYSTART,
    // net/ipv4/tcp_bic.c and tcp_cubic.c: fast_convergence = 1.
    fast_convergence: true,
    // net/ipv4/tcp_cong.c, tcp_slow_start and tcp_cong_avoid_ai count acknowledged segments.
    growth: Growth::PerSegment,
    // SACK (net.ipv4.tcp_sack), RACK (tcp_recovery) and tail-loss probes (tcp_early_retrans = 3) are on by
    // default, and the window comes down by proportional rate reduction (tcp_input.c, tcp_cwnd_reduction).
    recovery: Recovery::Linux,
    // A 1500-byte IP packet with timestamps. Link framing is not counted: add it to `header` and `ack` if the
    // link's rate includes it (Ethernet: 18 bytes of header and checksum, 38 with preamble and gap).
    segment_bytes: 1448,
    header_bytes: 52,
    ack_bytes: 52,
    // include/net/tcp.h: TCP_INIT_CWND 10 (RFC 6928).
    initial_window: 10,
    // include/net/tcp.h: TCP_INFINITE_SSTHRESH.
    initial_ssthresh: None,
    // Hosts tuned as for measurements, with net.ipv4.tcp_rmem and tcp_wmem raised. An untuned receiver
    // (tcp_rmem[2] = 6 MiB, half of it window) is window = "auto".
    window: Window::Bytes(SCALED_WINDOW_BYTES),
    window_scaling: true,
    // An ACK for every second segment, at latest after TCP_DELACK_MIN = HZ/25 (include/net/tcp.h); the quick
    // ACKs of a connection's start are not modeled.
    delayed_ack: 2,
    ack_delay_ps: 40 * PS_PER_MS,
    // include/net/tcp.h: TCP_RTO_MIN HZ/5, TCP_RTO_MAX 120*HZ, TCP_TIMEOUT_INIT 1*HZ.
    min_rto_ps: 200 * PS_PER_MS,
    max_rto_ps: 120 * PS_PER_S,
    // tcp_input.c, tcp_rtt_estimator(): the margin rttvar_us is never below tcp_rto_min(), TCP_RTO_MIN.
    rto_margin_ps: 200 * PS_PER_MS,
    initial_rto_ps: PS_PER_S,
    // Round-trip times are kept in microseconds (tcp_sock.srtt_us): exact for our purposes.
    clock_ps: 1,
    // Timestamps are on by default (net.ipv4.tcp_timestamps).
    timestamps: true,
    limited_transmit: true,
    handshake: true,
    // net.ipv4.tcp_slow_start_after_idle is on by default; tcp_output.c, tcp_cwnd_restart().
    after_idle: AfterIdle::Decay,
    // What a host hands to its network card as one packet meets a router's queue as many.
    offload: Offload::None,
    // Linux paces where the host's queue is fq, or the control asks for it.
    paced: false,
};

/// Values of ns-2 2.35's tcl/lib/ns-default.tcl unless said otherwise.
const NS2_SACK1: Stack = Stack {
    congestion: Congestion::RENO,
    // tcp/linux/src/tcp_bic.c and tcp_cubic.c of TCP-Linux: fast_convergence = 1.
    fast_convergence: true,
    // tcp.cc, opencwnd(): +1 an ACK in slow start, +1/cwnd after.
    growth: Growth::PerAck,
    // tcp-sack1.cc: the pipe is counted by acknowledgments.
    recovery: Recovery::SackNs2,
    // packetSize_ 1000 is the payload; useHeaders_ true puts tcpip_base_hdr_size_ 40 on top.
    segment_bytes: 1000,
    header_bytes: 40,
    ack_bytes: 40,
    // windowInit_ 2.
    initial_window: 2,
    // ssthresh_ starts at window_.
    initial_ssthresh: Some(100_000),
    // window_ is 20 by default, which no study of buffers keeps; 100000 packets stand for "no limit".
    window: Window::Segments(100_000),
    window_scaling: true,
    // TCPSink/Sack1 acknowledges every packet; TCPSink/DelAck would wait for 2 and interval_ 100 ms.
    delayed_ack: 1,
    ack_delay_ps: 100 * PS_PER_MS,
    // minrto_ 0.2, maxrto_ 60, rtxcur_init_ 3.0, tcpTick_ 0.01.
    min_rto_ps: 200 * PS_PER_MS,
    max_rto_ps: 60 * PS_PER_S,
    // tcp.cc, rtt_update(): four deviations, whatever they are.
    rto_margin_ps: 0,
    initial_rto_ps: 3 * PS_PER_S,
    clock_ps: 10 * PS_PER_MS,
    // timestamps_ false.
    timestamps: false,
    // singledup_ 1.
    limited_transmit: true,
    // syn_ true.
    handshake: true,
    // tcp.cc: slow_start_restart_ acts where the retransmission timer runs out, which is canceled when all is
    // acknowledged.
    after_idle: AfterIdle::Keep,
    // What a host hands to its network card as one packet meets a router's queue as many.
    offload: Offload::None,
    // Linux paces where the host's queue is fq, or the control asks for it.
    paced: false,
};

/// Parameter defaults of INET's TCP.ned, constants of TCPBaseAlg.cc and TCPTahoeRenoFamily.cc (INET 2 and 3).
const INET_RENO: Stack = Stack {
    congestion: Congestion::RENO,
    // INET has neither BIC nor CUBIC; as in their sources.
    fast_convergence: true,
    // TCPReno.cc: +SMSS an ACK in slow start, +SMSS*SMSS/cwnd after.
    growth: Growth::PerAck,
    // sackSupport false, tcpAlgorithmClass "TCPReno".
    recovery: Recovery::Reno,
    // mss 536.
    segment_bytes: 536,
    // 20 IP + 20 TCP without options. The 7 bytes that INET's PPP links add are link framing: set
    // header = "47 B" and ack = "47 B" to count them.
    header_bytes: 40,
    ack_bytes: 40,
    // increasedIWEnabled false: one segment (RFC 2001).
    initial_window: 1,
    // TCPTahoeRenoFamilyStateVariables: ssthresh = 65535 bytes, 122 segments (later versions: 2^32 - 1).
    initial_ssthresh: Some(122),
    // advertisedWindow = 14*mss, 7504 bytes.
    window: Window::Segments(14),
    // windowScalingSupport false.
    window_scaling: false,
    // delayedAcksEnabled false; DELAYED_ACK_TIMEOUT 0.2 where it is on.
    delayed_ack: 1,
    ack_delay_ps: 200 * PS_PER_MS,
    // MIN_REXMIT_TIMEOUT 1.0, MAX_REXMIT_TIMEOUT 240 (2 * MSL), rexmit_timeout = 3.0 at first.
    min_rto_ps: PS_PER_S,
    max_rto_ps: 240 * PS_PER_S,
    // TCPBaseAlg.cc: four deviations, whatever they are.
    rto_margin_ps: 0,
    initial_rto_ps: 3 * PS_PER_S,
    // "all timeouts are precisely calculated: timer granularity … is not simulated".
    clock_ps: 1,
    // timestampSupport false, limitedTransmitEnabled false.
    timestamps: false,
    limited_transmit: false,
    handshake: true,
    // TCPBaseAlg.cc, sendData(): "RFC 5681, page 11: […] we define RW = min(IW,cwnd)" after rexmit_timeout.
    after_idle: AfterIdle::Restart,
    // What a host hands to its network card as one packet meets a router's queue as many.
    offload: Offload::None,
    // Linux paces where the host's queue is fq, or the control asks for it.
    paced: false,
};
