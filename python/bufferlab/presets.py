"""Stack presets: what TCP the hosts run unless a flow's keys say otherwise.

Each constant names its source. `rfc` follows the standards, `linux` a current Linux host, `ns2-sack1`
Agent/TCP/Sack1 and TCPSink/Sack1 of ns-2 2.35, `inet-reno` the OMNeT++/INET of 2011 with its default Reno.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from bufferlab.units import PS_PER_S

_MS: Final = PS_PER_S // 1000

Growth = Literal["per-ack", "per-segment"]
"""What a step of window growth counts."""

Recovery = Literal["tahoe", "reno", "newreno", "sack", "sack-ns2", "linux"]
"""How losses are repaired."""

AfterIdle = Literal["keep", "restart", "decay"]
"""What becomes of the window when a sender was idle for longer than its retransmission timeout."""

CongestionKind = Literal[
    "tahoe",
    "reno",
    "newreno",
    "fixed",
    "bic",
    "cubic",
    "cubic-0.8",
    "cubic-0.7",
    "cubic-linux",
    "ctcp",
    "scalable",
    "vegas",
    "westwood",
    "htcp",
    "dctcp",
    "bbr",
    "bbr3",
]
"""Congestion controls."""

CONGESTION_ALIASES: Final[Mapping[str, CongestionKind]] = {"compound": "ctcp", "bbr1": "bbr"}
"""Other names of congestion controls."""

WITH_HYSTART: Final[tuple[CongestionKind, ...]] = ("cubic", "cubic-linux")
"""Congestion controls whose slow start may be HyStart++."""

NEEDING_SACK: Final[tuple[CongestionKind, ...]] = ("bbr", "bbr3")
"""Congestion controls whose rate samples need a recovery of `COUNTING_PIPE`."""

COUNTING_PIPE: Final[tuple[Recovery, ...]] = ("sack", "linux")
"""Recoveries that know what is in flight, by RFC 6675's scoreboard."""

UNSCALED_WINDOW_BYTES: Final = 65_535
"""Largest window without the window-scale option: 16 bits (RFC 9293 section 3.1)."""

SCALED_WINDOW_BYTES: Final = UNSCALED_WINDOW_BYTES << 14
"""Largest window with it, 1,073,725,440 bytes: the shift "MUST be limited to 14" (RFC 7323 section 2.3)."""


WINDOW_PART: Final = 2
"""Half of a receive buffer is window (Linux's tcp_adv_win_scale = 1), since packets take memory beside it."""

DEFAULT_BUFFER_BYTES: Final = 6 << 20
"""Largest receive buffer of a host that nobody tuned: tcp_rmem[2], net/ipv4/tcp.c, tcp_init()."""


@dataclass(frozen=True)
class Window:
    """An advertised window: so many bytes, so many full segments, or one that is tuned.

    A tuned one grows with what comes, to half of a receive buffer of so many bytes.
    """

    amount: int
    unit: Literal["bytes", "segments", "buffer"]

    @property
    def is_tuned(self) -> bool:
        """Whether the receiver tunes it."""
        return self.unit == "buffer"

    @property
    def text(self) -> str:
        """As scenarios write it."""
        if self.unit == "buffer":
            return f"auto({self.amount} B)"
        return f"{self.amount} {'B' if self.unit == 'bytes' else self.unit}"

    def size_bytes(self, segment_bytes: int) -> int:
        """The window in bytes for this segment size, at most."""
        if self.unit == "buffer":
            return self.amount // WINDOW_PART
        return self.amount if self.unit == "bytes" else self.amount * segment_bytes


@dataclass(frozen=True)
class Congestion:
    """A congestion control: window growth and decrease.

    Attributes:
        kind: The scenario's word, without what stands in parentheses. `tahoe` and `newreno` are `reno` with
            another recovery.
        segments: The window of `fixed`.
        hystart: Whether a CUBIC's slow start is HyStart++ (RFC 9406).
    """

    kind: CongestionKind
    segments: int = 0
    hystart: bool = False

    @property
    def word(self) -> str:
        """As scenarios write it."""
        if self.kind == "fixed":
            return f"fixed({self.segments})"
        return f"{self.kind}(hystart)" if self.hystart else self.kind


@dataclass(frozen=True)
class Stack:
    """A TCP sender and its receiver; the names are the scenario's keys.

    Attributes:
        congestion: Window growth and decrease.
        fast_convergence: Whether BIC and CUBIC give way if a loss comes at a smaller window than the last.
        growth: What a step of Reno's growth counts.
        recovery: Loss recovery.
        segment_bytes: Payload of a full segment, bytes.
        header_bytes: Headers of a data segment on the wire, bytes.
        ack_bytes: A pure acknowledgment, and a SYN, on the wire, bytes.
        initial_window: Segments.
        initial_ssthresh: Segments; None for none.
        window: The receiver's advertised window.
        window_scaling: Whether the window may exceed 65,535 bytes.
        delayed_ack: A pure acknowledgment for every so many segments.
        ack_delay_ps: Longest wait of a delayed acknowledgment, ps.
        min_rto_ps: Lower bound of the retransmission timeout, ps.
        max_rto_ps: Upper bound of the retransmission timeout, ps.
        rto_margin_ps: Least margin of the retransmission timeout above the smoothed round-trip time, ps.
        initial_rto_ps: Timeout before the first round-trip sample, ps.
        clock_ps: Granularity of the round-trip clock, ps.
        timestamps: A round-trip sample from each acknowledgment; otherwise one a window.
        limited_transmit: RFC 3042.
        handshake: A SYN goes first.
        after_idle: The window after an idle time: as it was; the initial window (RFC 5681); halved for each
            timeout that passed (Linux).
        paced: Segments leave at a pace; BBR's do anyway.
        offload: How many consecutive segments leave as one packet: a number, "auto" or "none".
    """

    congestion: Congestion
    fast_convergence: bool
    growth: Growth
    recovery: Recovery
    segment_bytes: int
    header_bytes: int
    ack_bytes: int
    initial_window: int
    initial_ssthresh: int | None
    window: Window
    window_scaling: bool
    delayed_ack: int
    ack_delay_ps: int
    min_rto_ps: int
    max_rto_ps: int
    rto_margin_ps: int
    initial_rto_ps: int
    clock_ps: int
    timestamps: bool
    limited_transmit: bool
    handshake: bool
    after_idle: AfterIdle
    # Linux has it on, but what a host hands to its network card as one packet meets a router's queue as many.
    offload: int | str = "none"
    paced: bool = False  # Linux paces where the host's queue is fq, or the control asks for it

    @property
    def receive_window_bytes(self) -> int:
        """The window that the receiver can advertise, bytes: what is asked for, within the scaling limit."""
        largest = SCALED_WINDOW_BYTES if self.window_scaling else UNSCALED_WINDOW_BYTES
        return min(self.window.size_bytes(self.segment_bytes), largest)


_RFC: Final = Stack(
    congestion=Congestion("reno"),
    # RFC 9438 section 4.7 recommends it (SHOULD).
    fast_convergence=True,
    # RFC 5681 section 3.1: "The RECOMMENDED way to increase cwnd during congestion avoidance is to count the
    # number of bytes that have been acknowledged by ACK segments for new data."
    growth="per-segment",
    # RFC 6675.
    recovery="sack",
    # 1500-byte IP packets: 20 IP + 20 TCP + 12 timestamps with padding (RFC 7323 appendix A) leave 1448.
    segment_bytes=1448,
    header_bytes=52,
    ack_bytes=52,
    # RFC 6928 section 2: min (10*MSS, max (2*MSS, 14600)), 10 segments of 1448 bytes.
    initial_window=10,
    # RFC 5681 section 3.1: "The initial value of ssthresh SHOULD be set arbitrarily high".
    initial_ssthresh=None,
    # RFC 7323 section 2.3: the largest scaled window, so that the buffer and not the receiver decides.
    window=Window(SCALED_WINDOW_BYTES, "bytes"),
    window_scaling=True,
    # RFC 5681 section 4.2: an ACK "for at least every second full-sized segment",
    delayed_ack=2,
    # "within 500 ms of the arrival of the first unacknowledged packet"; 200 ms is BSD's timer
    # (Stevens, TCP/IP Illustrated, volume 1, section 19.3).
    ack_delay_ps=200 * _MS,
    # RFC 6298 rule (2.4): "if it is less than 1 second, then the RTO SHOULD be rounded up to 1 second".
    min_rto_ps=PS_PER_S,
    # RFC 6298 rule (2.5): a maximum "provided it is at least 60 seconds".
    max_rto_ps=60 * PS_PER_S,
    # RFC 6298 rule (2.3): the margin is max (G, K*RTTVAR), G the clock's granularity.
    rto_margin_ps=0,
    # RFC 6298 rule (2.1): 1 second until a round-trip time is measured.
    initial_rto_ps=PS_PER_S,
    # RFC 6298 section 4: "finer clock granularities (<= 100 msec) perform somewhat better"; here exact.
    clock_ps=1,
    # RFC 7323 section 4: round-trip samples from timestamps.
    timestamps=True,
    # RFC 3042.
    limited_transmit=True,
    # RFC 9293 section 3.5.
    handshake=True,
    # RFC 5681 section 4.1: "a TCP SHOULD set cwnd to no more than RW before beginning transmission if the TCP
    # has not sent data in an interval exceeding the retransmission timeout."
    after_idle="restart",
)

_LINUX: Final = Stack(
    # Kconfig's DEFAULT_CUBIC. Linux leaves slow start by the older HyStart (tcp_cubic.c: the length of an ACK
    # train, or a rise of the delay, ends it at once); ours is HyStart++ (RFC 9406), which goes on cautiously.
    congestion=Congestion("cubic-linux", hystart=True),
    # net/ipv4/tcp_bic.c and tcp_cubic.c: fast_convergence = 1.
    fast_convergence=True,
    # net/ipv4/tcp_cong.c, tcp_slow_start and tcp_cong_avoid_ai count acknowledged segments.
    growth="per-segment",
    # SACK (net.ipv4.tcp_sack), RACK (tcp_recovery) and tail-loss probes (tcp_early_retrans = 3) are on by
    # default, and the window comes down by proportional rate reduction (tcp_input.c, tcp_cwnd_reduction).
    recovery="linux",
    # A 1500-byte IP packet with timestamps. Link framing is not counted: add it to `header` and `ack` if the
    # link's rate includes it (Ethernet: 18 bytes of header and checksum, 38 with preamble and gap).
    segment_bytes=1448,
    header_bytes=52,
    ack_bytes=52,
    # include/net/tcp.h: TCP_INIT_CWND 10 (RFC 6928).
    initial_window=10,
    # include/net/tcp.h: TCP_INFINITE_SSTHRESH.
    initial_ssthresh=None,
    # Hosts tuned as for measurements, with net.ipv4.tcp_rmem and tcp_wmem raised. An untuned receiver
    # (tcp_rmem[2] = 6 MiB, half of it window) is window = "auto".
    window=Window(SCALED_WINDOW_BYTES, "bytes"),
    window_scaling=True,
    # An ACK for every second segment, at latest after TCP_DELACK_MIN = HZ/25 (include/net/tcp.h); the quick
    # ACKs of a connection's start are not modeled.
    delayed_ack=2,
    ack_delay_ps=40 * _MS,
    # include/net/tcp.h: TCP_RTO_MIN HZ/5, TCP_RTO_MAX 120*HZ, TCP_TIMEOUT_INIT 1*HZ.
    min_rto_ps=200 * _MS,
    max_rto_ps=120 * PS_PER_S,
    # tcp_input.c, tcp_rtt_estimator(): the margin rttvar_us is never below tcp_rto_min(), TCP_RTO_MIN.
    rto_margin_ps=200 * _MS,
    initial_rto_ps=PS_PER_S,
    # Round-trip times are kept in microseconds (tcp_sock.srtt_us): exact for our purposes.
    clock_ps=1,
    # Timestamps are on by default (net.ipv4.tcp_timestamps).
    timestamps=True,
    limited_transmit=True,
    handshake=True,
    # net.ipv4.tcp_slow_start_after_idle is on by default; tcp_output.c, tcp_cwnd_restart().
    after_idle="decay",
)

# Values of ns-2 2.35's tcl/lib/ns-default.tcl unless said otherwise.
_NS2_SACK1: Final = Stack(
    congestion=Congestion("reno"),
    # tcp/linux/src/tcp_bic.c and tcp_cubic.c of TCP-Linux: fast_convergence = 1.
    fast_convergence=True,
    # tcp.cc, opencwnd(): +1 an ACK in slow start, +1/cwnd after.
    growth="per-ack",
    # tcp-sack1.cc: the pipe is counted by acknowledgments.
    recovery="sack-ns2",
    # packetSize_ 1000 is the payload; useHeaders_ true puts tcpip_base_hdr_size_ 40 on top.
    segment_bytes=1000,
    header_bytes=40,
    ack_bytes=40,
    # windowInit_ 2.
    initial_window=2,
    # ssthresh_ starts at window_.
    initial_ssthresh=100_000,
    # window_ is 20 by default, which no study of buffers keeps; 100000 packets stand for "no limit".
    window=Window(100_000, "segments"),
    window_scaling=True,
    # TCPSink/Sack1 acknowledges every packet; TCPSink/DelAck would wait for 2 and interval_ 100 ms.
    delayed_ack=1,
    ack_delay_ps=100 * _MS,
    # minrto_ 0.2, maxrto_ 60, rtxcur_init_ 3.0, tcpTick_ 0.01.
    min_rto_ps=200 * _MS,
    max_rto_ps=60 * PS_PER_S,
    # tcp.cc, rtt_update(): four deviations, whatever they are.
    rto_margin_ps=0,
    initial_rto_ps=3 * PS_PER_S,
    clock_ps=10 * _MS,
    # timestamps_ false.
    timestamps=False,
    # singledup_ 1.
    limited_transmit=True,
    # syn_ true.
    handshake=True,
    # tcp.cc: slow_start_restart_ acts where the retransmission timer runs out, which is canceled when all is
    # acknowledged.
    after_idle="keep",
)

# Parameter defaults of INET's TCP.ned, constants of TCPBaseAlg.cc and TCPTahoeRenoFamily.cc (INET 2 and 3).
_INET_RENO: Final = Stack(
    congestion=Congestion("reno"),
    # INET has neither BIC nor CUBIC; as in their sources.
    fast_convergence=True,
    # TCPReno.cc: +SMSS an ACK in slow start, +SMSS*SMSS/cwnd after.
    growth="per-ack",
    # sackSupport false, tcpAlgorithmClass "TCPReno".
    recovery="reno",
    # mss 536.
    segment_bytes=536,
    # 20 IP + 20 TCP without options. The 7 bytes that INET's PPP links add are link framing: set
    # header = "47 B" and ack = "47 B" to count them.
    header_bytes=40,
    ack_bytes=40,
    # increasedIWEnabled false: one segment (RFC 2001).
    initial_window=1,
    # TCPTahoeRenoFamilyStateVariables: ssthresh = 65535 bytes, 122 segments (later versions: 2^32 - 1).
    initial_ssthresh=122,
    # advertisedWindow = 14*mss, 7504 bytes.
    window=Window(14, "segments"),
    # windowScalingSupport false.
    window_scaling=False,
    # delayedAcksEnabled false; DELAYED_ACK_TIMEOUT 0.2 where it is on.
    delayed_ack=1,
    ack_delay_ps=200 * _MS,
    # MIN_REXMIT_TIMEOUT 1.0, MAX_REXMIT_TIMEOUT 240 (2 * MSL), rexmit_timeout = 3.0 at first.
    min_rto_ps=PS_PER_S,
    max_rto_ps=240 * PS_PER_S,
    # TCPBaseAlg.cc: four deviations, whatever they are.
    rto_margin_ps=0,
    initial_rto_ps=3 * PS_PER_S,
    # "all timeouts are precisely calculated: timer granularity … is not simulated".
    clock_ps=1,
    # timestampSupport false, limitedTransmitEnabled false.
    timestamps=False,
    limited_transmit=False,
    handshake=True,
    # TCPBaseAlg.cc, sendData(): "RFC 5681, page 11: […] we define RW = min(IW,cwnd)" after rexmit_timeout.
    after_idle="restart",
)

DEFAULT_STACK: Final = "rfc"
"""Name of the stack of flows that name none."""

STACKS: Final[Mapping[str, Stack]] = {
    "rfc": _RFC,
    "ns2-sack1": _NS2_SACK1,
    "linux": _LINUX,
    "inet-reno": _INET_RENO,
}
"""The presets by name."""
