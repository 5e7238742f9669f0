"""Settings drawn by a seed from stated ranges, in the terms of the comparison with ns-2."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Final, TypeVar

from bufferlab.evidence.ns2.reference import Setting

_Choice = TypeVar("_Choice")

WARMUP_S: Final = 15.0
RUN_PACKETS: Final = 60_000
LENGTH_S: Final = (40.0, 150.0)
NUDGE: Final = 0.01
"""In each run the round-trip times are longer by up to this part of themselves, drawn by its seed."""

RATE_MBPS: Final = (1.0, 10.0)
RTT_MS: Final = (10.0, 300.0)
FLOWS: Final = (1.0, 64.0)
BUFFER_BDP: Final = (0.05, 2.0)
NOISE_S: Final = (100e-6, 5e-3)
PACKET_BYTES: Final = (1000, 1500)
SPREADS: Final = (0.1, 0.2, 0.4)
MOST_HOSTS: Final = 10
LEAST_LIMIT: Final = 5
LEAST_WINDOW: Final = 1.0
"""Buffer and BDP hold at least this many packets a flow; else the flows are drawn again."""

OWN_AGENTS: Final = ("sack1", "newreno", "reno")
LINUX_AGENTS: Final = tuple(
    f"linux-{name}" for name in ("reno", "cubic", "bic", "compound", "htcp", "scalable", "vegas", "westwood")
)


def drawn(draw: int, number: int) -> Setting:
    """The setting of this number of a draw: the same on every machine, however many are drawn.

    Args:
        draw: Seed of the draw.
        number: From 1.
    """
    chance = Random(f"bufferlab referee {draw}/{number}")  # noqa: S311 - nothing is kept secret
    agents = OWN_AGENTS if chance.random() < 0.5 else LINUX_AGENTS
    agent = one_of(chance, agents)
    rate_mbps = round(log_uniform(chance, RATE_MBPS), 3)
    wire_bytes = one_of(chance, PACKET_BYTES)
    first = round(log_uniform(chance, RTT_MS), 4)
    other = round(log_uniform(chance, RTT_MS), 4)
    rtt_ms = (first, other if chance.random() < 0.5 else first)
    ratio = round(log_uniform(chance, BUFFER_BDP), 3)
    packets_s = rate_mbps * 1e6 / 8 / wire_bytes
    bdp = packets_s * sum(rtt_ms) / 2 / 1e3
    limit = max(LEAST_LIMIT, round(ratio * bdp) + 1)
    flows = _flows(chance, bdp + limit, least=2 if rtt_ms[0] != rtt_ms[1] else 1)
    return Setting(
        scenario=f"draw {draw}",
        stack=agent,
        rate_bps=rate_mbps * 1e6,
        wire_bytes=wire_bytes,
        flows=flows,
        rtt_ms=rtt_ms,
        buffer_packets=limit,
        buffer_rule=f"{ratio:g} BDP",
        duration_s=WARMUP_S + round(min(max(RUN_PACKETS / packets_s, LENGTH_S[0]), LENGTH_S[1])),
        warmup_s=WARMUP_S,
        options=tuple(_options(chance, flows)),
    )


def nudged(setting: Setting, seed: int) -> Setting:
    """The setting of one run: its round-trip times with this seed's phase."""
    chance = Random(f"bufferlab referee phase {seed}")  # noqa: S311
    longer = [1.0 + NUDGE * chance.random() for _ in setting.rtt_ms]
    if setting.rtt_ms[0] == setting.rtt_ms[1]:
        longer[1] = longer[0]
    first, second = (round(rtt * factor, 6) for rtt, factor in zip(setting.rtt_ms, longer, strict=True))
    return replace(setting, rtt_ms=(first, second))


def _options(chance: Random, flows: int) -> list[tuple[str, str]]:
    spread = one_of(chance, SPREADS) if chance.random() < 1 / 3 else 0.0
    noise_s = log_uniform(chance, NOISE_S) if chance.random() < 0.5 else 0.0
    delayed = chance.random() < 0.25
    hosts = min(MOST_HOSTS, flows // 2)
    options = []
    if spread and hosts > 1:
        options += [("hosts", f"{hosts}"), ("spread", f"{spread:g}")]
    if noise_s:
        options.append(("overhead", f"{noise_s:.6f}"))
    if delayed:
        options.append(("delack", "1"))
    return options


def _flows(chance: Random, packets: float, least: int) -> int:
    while True:
        flows = max(least, round(log_uniform(chance, FLOWS)))
        if packets / flows >= LEAST_WINDOW:
            return flows


def log_uniform(chance: Random, bounds: tuple[float, float]) -> float:
    """A number whose logarithm is uniform between those of the bounds."""
    low, high = map(math.log, bounds)
    return math.exp(low + (high - low) * chance.random())


def one_of(chance: Random, choices: tuple[_Choice, ...]) -> _Choice:
    """One of the choices, each with the same chance."""
    return choices[int(chance.random() * len(choices))]
