"""Settings drawn by a seed for the comparison with ns-3: queue disciplines and ECN."""

from __future__ import annotations

from random import Random
from typing import Final

from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee.draw import LENGTH_S, RUN_PACKETS, WARMUP_S, log_uniform, one_of
from bufferlab.evidence.referee.ranges import Range, between

CONTROLS: Final = ("linuxreno", "cubic", "bbr", "dctcp")
QUEUES: Final = ("fifo", "codel", "fq_codel", "pie", "red")

RATE_MBPS: Final = (5.0, 20.0)
RTT_MS: Final = (40.0, 200.0)
FLOWS: Final = (1.0, 16.0)
BUFFER_BDP: Final = (0.1, 2.0)
LEAST_BUFFER: Final = 5
AMPLE_BUFFER: Final = 1000
THRESHOLD_BDP: Final = (0.1, 0.5)
NOISE_MS: Final = (0.1, 2.0)
CE_THRESHOLD_MS: Final = (1.0, 10.0)
TARGET_MS: Final = {"codel": (2.0, 20.0), "fq_codel": (2.0, 20.0), "pie": (5.0, 40.0)}
PACKET_BYTES: Final = 1500
LEAST_WINDOW: Final = 16.0
"""The bandwidth-delay product holds at least this many packets a flow; else the flows are drawn again."""


def drawn(draw: int, number: int) -> Setting:
    """The setting of this number of a draw: the same on every machine, however many are drawn.

    Args:
        draw: Seed of the draw.
        number: From 1.
    """
    chance = Random(f"bufferlab ns-3 referee {draw}/{number}")  # noqa: S311 - nothing is kept secret
    queue = QUEUES[(number - 1) % len(QUEUES)]
    others = {"fifo": "bbr", "codel": "dctcp"}
    control = others[queue] if queue in others and chance.random() < 1 / 3 else one_of(chance, CONTROLS[:2])
    rate_mbps = round(log_uniform(chance, RATE_MBPS), 3)
    first, other = (round(log_uniform(chance, RTT_MS), 4) for _ in range(2))
    rtt_ms = (first, other if chance.random() < 0.5 else first)
    packets_s = rate_mbps * 1e6 / 8 / PACKET_BYTES
    bdp = packets_s * sum(rtt_ms) / 2 / 1e3
    flows = _flows(chance, bdp, least=2 if rtt_ms[0] != rtt_ms[1] else 1)
    queue_words, buffer_packets, rule = _queue(chance, queue, control, bdp)
    noise = ("noise", f"{log_uniform(chance, NOISE_MS):.3f}")
    return Setting(
        scenario=f"draw {draw}",
        stack=control,
        rate_bps=rate_mbps * 1e6,
        wire_bytes=PACKET_BYTES,
        flows=flows,
        rtt_ms=rtt_ms,
        buffer_packets=buffer_packets,
        buffer_rule=rule,
        duration_s=WARMUP_S + round(min(max(RUN_PACKETS / packets_s, LENGTH_S[0]), LENGTH_S[1])),
        warmup_s=WARMUP_S,
        options=(("queue", queue), *queue_words, noise),
    )


def _queue(chance: Random, queue: str, control: str, bdp: float) -> tuple[list[tuple[str, str]], int, str]:
    """A queue's parameters as the program's options, its limit in packets, and where that came from."""
    if queue == "fifo":
        ratio = round(log_uniform(chance, BUFFER_BDP), 3)
        return [], max(LEAST_BUFFER, round(ratio * bdp)), f"{ratio:g} BDP"
    words = []
    if queue == "red":
        least = max(LEAST_BUFFER, round(log_uniform(chance, THRESHOLD_BDP) * bdp))
        words += [("minth", f"{least}"), ("maxth", f"{3 * least}")]
    else:
        words.append(("target", f"{log_uniform(chance, TARGET_MS[queue]):.2f}"))
    ecn = chance.random() < 0.5 and queue != "pie"
    if control == "dctcp":
        ecn = True
        words.append(("cethresh", f"{log_uniform(chance, CE_THRESHOLD_MS):.2f}"))
    if ecn:
        words.append(("ecn", "1"))
    return words, AMPLE_BUFFER, "ample"


def _flows(chance: Random, bdp: float, least: int) -> int:
    while True:
        flows = max(least, round(log_uniform(chance, FLOWS)))
        if bdp / flows >= LEAST_WINDOW or flows == least:
            return flows


def part(setting: Setting) -> str:
    """What a setting is counted under: its control and its queue, with ECN or without."""
    ecn = ", ECN" if setting.option("ecn") and setting.stack != "dctcp" else ""
    return f"{setting.stack}, {setting.option('queue')}{ecn}"


_PLAIN: Final = tuple(
    f"{control}, {queue}{ecn}" for queue in QUEUES for control in CONTROLS[:2] for ecn in ("", ", ECN")
)
PARTS: Final = (_PLAIN, ("bbr, fifo", "dctcp, codel"))
"""What settings are counted under: of Reno and CUBIC, and of the others."""

RANGES: Final = (
    Range("queue", f"in turns {', '.join(QUEUES)}"),
    Range("control", "linuxreno or cubic; in one draw of three bbr with fifo, dctcp under codel"),
    Range("rate", f"{between(RATE_MBPS, 'Mbps')}, log-uniform; packets of {PACKET_BYTES} bytes"),
    Range("round-trip time", f"{between(RTT_MS, 'ms')}, log-uniform; in half of the draws a second one"),
    Range("flows", f"{between(FLOWS)}, log-uniform; at least {LEAST_WINDOW:g} packets of BDP a flow"),
    Range("buffer", f"fifo: {between(BUFFER_BDP, 'BDP')}, log-uniform; others: {AMPLE_BUFFER} packets"),
    Range(
        "target of codel and fq_codel, of pie",
        f"{between(TARGET_MS['codel'], 'ms')}, {between(TARGET_MS['pie'], 'ms')}, log-uniform",
    ),
    Range(
        "red's thresholds",
        f"the lower {between(THRESHOLD_BDP, 'BDP')}, log-uniform; the other three times it",
    ),
    Range(
        "ECN",
        "half of the draws with codel, fq_codel and red; dctcp always, marked above "
        f"{between(CE_THRESHOLD_MS, 'ms')} of waiting",
    ),
    Range("noise of the hosts", f"uniform up to {between(NOISE_MS, 'ms')}, log-uniform"),
    Range(
        "length",
        f"{between(LENGTH_S, 's')} after {WARMUP_S:g} s of warm-up: {RUN_PACKETS:,} packets "
        "if that lies between",
    ),
    Range("starts", "0 to 5 s, uniform, each side by its own random numbers"),
)
"""What is drawn, and how."""
