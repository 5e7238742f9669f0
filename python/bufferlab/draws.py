"""Draws what is random about the flows of a group: round-trip times, starts, stops, sizes of short flows.

Each group draws from streams of its own, derived from the seed and the group's name: adding, removing or
reordering groups changes no other group's draws, and raising a group's count leaves its first flows as they
were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from bufferlab import units
from bufferlab.distributions import Distribution, Integers
from bufferlab.errors import InputError
from bufferlab.scenario.applications import Echo, ShortFlows, Transfer
from bufferlab.scenario.checks import links_rtt_ps, short_rtt
from bufferlab.scenario.models import Flow, Link

Purpose = Literal["rtt", "start", "stop", "arrivals", "size"]

_STREAMS: Final[Mapping[Purpose, int]] = {"rtt": 0, "start": 1, "stop": 2, "arrivals": 3, "size": 4}
_ARRIVALS_AT_ONCE: Final = 4096


@dataclass(frozen=True)
class Draws:
    """What was drawn for the flows of one group.

    Attributes:
        rtt_ps: Two-way propagation delays, ps.
        start_ps: Starts, ps.
        stop_ps: Stops, ps; None if the flows never stop.
        transfer_bytes: Payload of each flow, bytes; None if that is a matter of the group.
    """

    rtt_ps: Integers
    start_ps: Integers
    stop_ps: Integers | None = None
    transfer_bytes: Integers | None = None

    @property
    def count(self) -> int:
        """Number of flows."""
        return int(self.rtt_ps.size)


def draw(flow: Flow, key: str, links: Mapping[str, Link], end_ps: int, seed: int) -> Draws:
    """Draw for one group.

    Args:
        flow: The group.
        key: Where it stands in the scenario, for messages: "flows[0]".
        links: The scenario's links by name.
        end_ps: The run's end, ps.
        seed: Seed of the run.

    Raises:
        InputError: If a drawn round-trip time is shorter than its links' delays, no flow starts before the
            end, or one stops before it starts.
    """
    if isinstance(flow.application, ShortFlows):
        drawn = _short_flows(flow, flow.application, key, end_ps, seed)
    else:
        drawn = Draws(_rtts(flow, key, seed), _starts(flow, key, end_ps, seed))
        drawn = replace(drawn, stop_ps=_stops(flow, key, drawn.start_ps, seed))
    least_ps, shortest_ps = links_rtt_ps(flow, links), int(drawn.rtt_ps.min())
    if shortest_ps < least_ps:
        text = f"{flow.rtt.text}, drawn as {units.format_time(shortest_ps)},"
        raise short_rtt(key, text, least_ps, bool(flow.reverse_path))
    return drawn


def with_echoes(flows: Sequence[Flow], draws: Sequence[Draws]) -> list[Draws]:
    """Flows that return others' data begin with them, and have as much to send."""
    pairs = list(zip(flows, draws, strict=True))
    of_groups = {flow.name: (flow, drawn) for flow, drawn in pairs}
    found = []
    for flow, drawn in pairs:
        if not isinstance(flow.application, Echo):
            found.append(drawn)
            continue
        of, of_drawn = of_groups[flow.application.of]
        sizes = None
        if isinstance(of.application, Transfer):
            sizes = np.full(drawn.count, of.application.transfer_bytes, np.int64)
        found.append(replace(drawn, start_ps=of_drawn.start_ps, transfer_bytes=sizes))
    return found


def _short_flows(flow: Flow, application: ShortFlows, key: str, end_ps: int, seed: int) -> Draws:
    """The flows of one process of arrivals, from the group's start to its stop or the run's end."""
    first_ps = int(_starts(flow, key, end_ps, seed)[0])
    stop_ps = _stops(flow, key, np.array([first_ps]), seed)
    last_ps = end_ps if stop_ps is None else min(end_ps, int(stop_ps[0]))
    start_ps = _arrivals(application, _rng(flow, "arrivals", seed), first_ps, last_ps)
    if not start_ps.size:
        raise InputError(
            "brings no flow before the run's end",
            key=f"{key}.application",
            value=units.format_time(application.interval_ps),
            accepted="a shorter interval, or more load",
        )
    count = start_ps.size
    rtt_ps = _draw(flow.rtt, f"{key}.rtt", _rng(flow, "rtt", seed), count)
    sizes = _draw(application.size, f"{key}.application.size", _rng(flow, "size", seed), count)
    return Draws(rtt_ps, start_ps, transfer_bytes=sizes)


def _arrivals(application: ShortFlows, rng: np.random.Generator, first_ps: int, end_ps: int) -> Integers:
    """Starts from `first_ps` on, before `end_ps`: at equal distances, or those of a Poisson process."""
    interval_ps = application.interval_ps
    if application.arrivals == "constant":
        return np.arange(first_ps, end_ps, interval_ps, dtype=np.int64)
    parts: list[NDArray[np.float64]] = [np.array([float(first_ps)])]
    while parts[-1][-1] < end_ps:
        # floats, since the sum may pass what 64 bits hold before it is cut
        gaps_ps = interval_ps * rng.standard_exponential(_ARRIVALS_AT_ONCE)
        parts.append(parts[-1][-1] + np.cumsum(gaps_ps))
    starts_ps: NDArray[np.float64] = np.concatenate(parts[1:])
    return np.rint(starts_ps[starts_ps < end_ps - 1]).astype(np.int64)


def _starts(flow: Flow, key: str, end_ps: int, seed: int) -> Integers:
    start_ps = _draw(flow.start, f"{key}.start", _rng(flow, "start", seed), flow.count)
    if int(start_ps.min()) >= end_ps:
        accepted = f"a start before {units.format_time(end_ps)}"
        problem = "starts no flow before the run's end"
        raise InputError(problem, key=f"{key}.start", value=flow.start.text, accepted=accepted)
    return start_ps


def _stops(flow: Flow, key: str, start_ps: Integers, seed: int) -> Integers | None:
    if flow.stop is None:
        return None
    stop_ps = _draw(flow.stop, f"{key}.stop", _rng(flow, "stop", seed), flow.count)
    early = np.flatnonzero(stop_ps <= start_ps)
    if early.size:
        start = units.format_time(int(start_ps[early[0]]))
        raise InputError(
            f"comes before flow {early[0]} of the group starts at {start}",
            key=f"{key}.stop",
            value=flow.stop.text,
            accepted="a stop after every start",
        )
    return stop_ps


def _rtts(flow: Flow, key: str, seed: int) -> Integers:
    """Round-trip times of a group; a spread spaces them evenly, at the middles of `count` equal parts."""
    rtt_ps = _draw(flow.rtt, f"{key}.rtt", _rng(flow, "rtt", seed), flow.count)
    if not flow.rtt_spread:
        return rtt_ps
    middles = 2 * (np.arange(flow.count) + 0.5) / flow.count - 1
    return np.rint(rtt_ps * (1 + flow.rtt_spread * middles)).astype(np.int64)


def _draw(law: Distribution, key: str, rng: np.random.Generator, count: int) -> Integers:
    try:
        return law.draw(rng, count)
    except InputError as error:
        raise error.at(key=key) from None


def _rng(flow: Flow, purpose: Purpose, seed: int) -> np.random.Generator:
    digest = hashlib.sha256(flow.name.encode()).digest()
    words = np.frombuffer(digest[:16], dtype="<u4").tolist()
    sequence = np.random.SeedSequence(seed, spawn_key=(*words, _STREAMS[purpose]))
    return np.random.Generator(np.random.PCG64(sequence))
