//! Stack presets: what TCP the hosts run unless a flow's keys say otherwise.
//!
//! Each constant names its source. `rfc` follows the standards, `linux` a current Linux host, `ns2-sack1`
//! Agent/TCP/Sack1 and TCPSink/Sack1 of ns-2 2.35, `inet-reno` the OMNeT++/INET of 2011 with its default Reno, `quic` the
//! standards of QUIC.

use std::sync::LazyLock;

use bufferlab_transport::TcpConfig;
use bufferlab_units::Span;

use super::tcp::{AfterIdle, Growth, NamedControl, Recovery, Stack};
use crate::keys::WordOf;
use crate::quantity::hosts::{Offload, SCALED_WINDOW_BYTES, Window};
use crate::quantity::jitter::Jitter;

/// The presets by name; the standards are the first.
pub static STACKS: LazyLock<[(&str, Stack); 5]> = LazyLock::new(|| {
    [
        ("rfc", rfc()),
        ("ns2-sack1", ns2_sack1()),
        ("linux", linux()),
        ("inet-reno", inet_reno()),
        ("quic", quic()),
    ]
});

/// The names of the presets.
pub const STACK_WORDS: WordOf = WordOf(&["rfc", "ns2-sack1", "linux", "inet-reno", "quic"]);

/// The preset of a name.
pub fn preset(name: &str) -> &'static Stack {
    STACKS.iter().find(|(known, _)| *known == name).map_or(&STACKS[0].1, |(_, stack)| stack)
}

fn control(word: &str) -> NamedControl {
    NamedControl::of(word).expect("a preset's control is known")
}

/// The standards.
fn rfc() -> Stack {
    Stack {
        congestion: control("reno"),
        // RFC 9438 section 4.7 recommends it (SHOULD).
        fast_convergence: true,
        // RFC 5681 section 3.1: "The RECOMMENDED way to increase cwnd during congestion avoidance is to count the
        // number of bytes that have been acknowledged by ACK segments for new data."
        growth: Growth::PerSegment,
        // the standards are the defaults
        connection: TcpConfig::default(),
        // RFC 7323 section 2.3: the largest scaled window, so that the buffer and not the receiver decides.
        window: Window::Bytes(SCALED_WINDOW_BYTES),
        window_scaling: true,
        // RFC 5681 section 4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission if the TCP
        // has not sent data in an interval exceeding the retransmission timeout."
        after_idle: AfterIdle::Restart,
        // What a host hands to its network card as one packet meets a router's queue as many.
        offload: Offload::None,
        // The standards know no processing time.
        jitter: Jitter(None),
    }
}

/// A current Linux host.
fn linux() -> Stack {
    Stack {
        // Kconfig's DEFAULT_CUBIC. Linux leaves slow start by the older HyStart (tcp_cubic.c: the length of an ACK
        // train, or a rise of the delay, ends it at once); ours is HyStart++ (RFC 9406), which goes on cautiously.
        congestion: control("cubic-linux(hystart)"),
        // net/ipv4/tcp_bic.c and tcp_cubic.c: fast_convergence = 1.
        fast_convergence: true,
        // net/ipv4/tcp_cong.c, tcp_slow_start and tcp_cong_avoid_ai count acknowledged segments.
        growth: Growth::PerSegment,
        connection: TcpConfig {
            // SACK (net.ipv4.tcp_sack), RACK (tcp_recovery) and tail-loss probes (tcp_early_retrans = 3) are on by
            // default, and the window comes down by proportional rate reduction (tcp_input.c, tcp_cwnd_reduction).
            recovery: Recovery::Linux,
            // A 1500-byte IP packet with timestamps. Link framing is not counted: add it to `header` and `ack` if the
            // link's rate includes it (Ethernet: 18 bytes of header and checksum, 38 with preamble and gap).
            mss_bytes: 1448,
            header_bytes: 52,
            ack_bytes: 52,
            // include/net/tcp.h: TCP_INIT_CWND 10 (RFC 6928).
            initial_window: 10,
            // include/net/tcp.h: TCP_INFINITE_SSTHRESH.
            initial_ssthresh: None,
            // An ACK for every second segment, at latest after TCP_DELACK_MIN = HZ/25 (include/net/tcp.h); the quick
            // ACKs of a connection's start are the host's (`quick_acks`, 16 in the presets but `ideal`).
            ack_every: 2,
            ack_delay: Span::from_ms(40),
            // include/net/tcp.h: TCP_RTO_MIN HZ/5, TCP_RTO_MAX 120*HZ, TCP_TIMEOUT_INIT 1*HZ.
            min_rto: Span::from_ms(200),
            max_rto: Span::from_s(120),
            // tcp_input.c, tcp_rtt_estimator(): the margin rttvar_us is never below tcp_rto_min(), TCP_RTO_MIN.
            rto_margin: Span::from_ms(200),
            initial_rto: Span::from_s(1),
            // Round-trip times are kept in microseconds (tcp_sock.srtt_us): exact for our purposes.
            clock: Span::from_ps(1),
            // Timestamps are on by default (net.ipv4.tcp_timestamps).
            timestamps: true,
            limited_transmit: true,
            handshake: true,
            // not paced: Linux paces where the host's queue is fq, or the control asks for it
            ..TcpConfig::default()
        },
        // Hosts tuned as for measurements, with net.ipv4.tcp_rmem and tcp_wmem raised. An untuned receiver
        // (tcp_rmem[2] = 6 MiB, half of it window) is window = "auto".
        window: Window::Bytes(SCALED_WINDOW_BYTES),
        window_scaling: true,
        // net.ipv4.tcp_slow_start_after_idle is on by default; tcp_output.c, tcp_cwnd_restart().
        after_idle: AfterIdle::Decay,
        // What a host hands to its network card as one packet meets a router's queue as many.
        offload: Offload::None,
        // A network card interrupts its host 20,000 times a second at most where small packets come, such as
        // acknowledgments, so one that comes waits for up to 50 us: Documentation/networking/device_drivers/ethernet/intel/
        // e1000e.rst, InterruptThrottleRate, of the default mode ("Low latency" traffic), and the class "low (20000
        // ints/s)" of ixgbe_main.c, ixgbe_update_itr(). That each waits a time of its own, evenly spread, is our model.
        jitter: Jitter::up_to_us(50),
    }
}

/// Values of ns-2 2.35's tcl/lib/ns-default.tcl unless said otherwise.
fn ns2_sack1() -> Stack {
    Stack {
        congestion: control("reno"),
        // tcp/linux/src/tcp_bic.c and tcp_cubic.c of TCP-Linux: fast_convergence = 1.
        fast_convergence: true,
        // tcp.cc, opencwnd(): +1 an ACK in slow start, +1/cwnd after.
        growth: Growth::PerAck,
        connection: TcpConfig {
            // tcp-sack1.cc: the pipe is counted by acknowledgments.
            recovery: Recovery::SackNs2,
            // packetSize_ 1000 is the payload; useHeaders_ true puts tcpip_base_hdr_size_ 40 on top.
            mss_bytes: 1000,
            header_bytes: 40,
            ack_bytes: 40,
            // windowInit_ 2.
            initial_window: 2,
            // ssthresh_ starts at window_.
            initial_ssthresh: Some(100_000),
            // TCPSink/Sack1 acknowledges every packet; TCPSink/DelAck would wait for 2 and interval_ 100 ms.
            ack_every: 1,
            ack_delay: Span::from_ms(100),
            // minrto_ 0.2, maxrto_ 60, rtxcur_init_ 3.0, tcpTick_ 0.01.
            min_rto: Span::from_ms(200),
            max_rto: Span::from_s(60),
            // tcp.cc, rtt_update(): four deviations, whatever they are.
            rto_margin: Span::ZERO,
            initial_rto: Span::from_s(3),
            clock: Span::from_ms(10),
            // timestamps_ false.
            timestamps: false,
            // singledup_ 1.
            limited_transmit: true,
            // syn_ true.
            handshake: true,
            ..TcpConfig::default()
        },
        // window_ is 20 by default, which no study of buffers keeps; 100000 packets stand for "no limit".
        window: Window::Segments(100_000),
        window_scaling: true,
        // tcp.cc: slow_start_restart_ acts where the retransmission timer runs out, which is canceled when all is
        // acknowledged.
        after_idle: AfterIdle::Keep,
        // What a host hands to its network card as one packet meets a router's queue as many.
        offload: Offload::None,
        // overhead_ 0.
        jitter: Jitter(None),
    }
}

/// Parameter defaults of INET's TCP.ned, constants of TCPBaseAlg.cc and TCPTahoeRenoFamily.cc (INET 2 and 3).
fn inet_reno() -> Stack {
    Stack {
        congestion: control("reno"),
        // INET has neither BIC nor CUBIC; as in their sources.
        fast_convergence: true,
        // TCPReno.cc: +SMSS an ACK in slow start, +SMSS*SMSS/cwnd after.
        growth: Growth::PerAck,
        connection: TcpConfig {
            // sackSupport false, tcpAlgorithmClass "TCPReno".
            recovery: Recovery::Reno,
            // mss 536.
            mss_bytes: 536,
            // 20 IP + 20 TCP without options. The 7 bytes that INET's PPP links add are link framing: set
            // header = "47 B" and ack = "47 B" to count them.
            header_bytes: 40,
            ack_bytes: 40,
            // increasedIWEnabled false: one segment (RFC 2001).
            initial_window: 1,
            // TCPTahoeRenoFamilyStateVariables: ssthresh = 65535 bytes, 122 segments (later versions: 2^32 - 1).
            initial_ssthresh: Some(122),
            // delayedAcksEnabled false; DELAYED_ACK_TIMEOUT 0.2 where it is on.
            ack_every: 1,
            ack_delay: Span::from_ms(200),
            // MIN_REXMIT_TIMEOUT 1.0, MAX_REXMIT_TIMEOUT 240 (2 * MSL), rexmit_timeout = 3.0 at first.
            min_rto: Span::from_s(1),
            max_rto: Span::from_s(240),
            // TCPBaseAlg.cc: four deviations, whatever they are.
            rto_margin: Span::ZERO,
            initial_rto: Span::from_s(3),
            // "all timeouts are precisely calculated: timer granularity … is not simulated".
            clock: Span::from_ps(1),
            // timestampSupport false, limitedTransmitEnabled false.
            timestamps: false,
            limited_transmit: false,
            handshake: true,
            ..TcpConfig::default()
        },
        // advertisedWindow = 14*mss, 7504 bytes.
        window: Window::Segments(14),
        // windowScalingSupport false.
        window_scaling: false,
        // TCPBaseAlg.cc, sendData(): "RFC 5681, page 11: […] we define RW = min(IW,cwnd)" after rexmit_timeout.
        after_idle: AfterIdle::Restart,
        // What a host hands to its network card as one packet meets a router's queue as many.
        offload: Offload::None,
        // INET's hosts take no time.
        jitter: Jitter(None),
    }
}

/// RFC 9000 (QUIC) and RFC 9002 (its loss detection and congestion control); what recovery means there, with its constants,
/// is in `crates/transport/src/recovery/quic.rs`.
fn quic() -> Stack {
    Stack {
        // RFC 9002 section 7: "similar to TCP NewReno".
        congestion: control("reno"),
        // as in TCP
        fast_convergence: true,
        // RFC 9002 sections 7.3.1 and 7.3.3 count what each acknowledgment acknowledges.
        growth: Growth::PerSegment,
        connection: TcpConfig {
            // RFC 9002.
            recovery: Recovery::Quic,
            // A 1500-byte IP packet, as a sender that probes the path's MTU finds it (RFC 9000 section 14.3): 20 bytes of IP, 8
            // of UDP, 11 of a short header (RFC 9000 section 17.3.1: flags, a connection ID of 8 bytes, a packet number of 2),
            // 16 of an authentication tag (RFC 9001 section 5.3) and 6 of a STREAM frame's type, stream and offset (RFC 9000
            // section 19.8) leave 1439.
            mss_bytes: 1439,
            header_bytes: 61,
            // An ACK frame of 10 bytes in the place of the STREAM frame's 6 (RFC 9000 section 19.3).
            ack_bytes: 65,
            // RFC 9002 section 7.2: "ten times the maximum datagram size (max_datagram_size), while limiting the window to
            // the larger of 14,720 bytes or twice the maximum datagram size".
            initial_window: 10,
            // RFC 9002 appendix B.3: infinite.
            initial_ssthresh: None,
            // RFC 9000 section 13.2.2: "A receiver SHOULD send an ACK frame after receiving at least two ack-eliciting
            // packets"; draft-ietf-quic-ack-frequency lets a sender ask for another number.
            ack_every: 2,
            // RFC 9000 section 18.2, max_ack_delay: "If this value is absent, a default of 25 milliseconds is assumed."
            ack_delay: Span::from_ms(25),
            // RFC 9002 section 6.2.1: "The PTO period MUST be at least kGranularity", 1 ms.
            min_rto: Span::from_ms(1),
            // RFC 9002 has no upper bound; RFC 6298 rule (2.5).
            max_rto: Span::from_s(60),
            // RFC 9002 section 6.2.1: max(4*rttvar, kGranularity).
            rto_margin: Span::from_ms(1),
            // RFC 9002 section 6.2.2: an initial round-trip time of 333 ms, and twice that for its variation.
            initial_rto: Span::from_ms(999),
            clock: Span::from_ps(1),
            // Packet numbers, not timestamps, say which packet is acknowledged.
            timestamps: false,
            // Packets are counted in flight, not acknowledgments.
            limited_transmit: false,
            // RFC 9001 section 4: a round trip. That of TLS over TCP, a second one, is not part of the other stacks.
            handshake: true,
            // RFC 9002 section 7.7: "A sender SHOULD pace".
            paced: true,
            ..TcpConfig::default()
        },
        // No scaling: limits of flow control are numbers of up to 62 bits (RFC 9000 section 4.1). As for `rfc`.
        window: Window::Bytes(SCALED_WINDOW_BYTES),
        window_scaling: true,
        // RFC 9002 section 7.8 leaves it open; what goes on after a silence is paced.
        after_idle: AfterIdle::Keep,
        // What a host hands to its network card as one packet meets a router's queue as many.
        offload: Offload::None,
        // The standards know no processing time.
        jitter: Jitter(None),
    }
}
