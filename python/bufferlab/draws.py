"""Draws what is random about the flows of a group: round-trip times, starts, stops.

Each group draws from streams of its own, derived from the seed and the group's name: adding, removing or
reordering groups changes no other group's draws, and raising a group's count leaves its first flows as they
were.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from bufferlab import units
from bufferlab.distributions import Distribution, Integers
from bufferlab.errors import InputError
from bufferlab.scenario.checks import links_rtt_ps, short_rtt
from bufferlab.scenario.models import Flow, Link

_STREAMS: Final = {"rtt": 0, "start": 1, "stop": 2}


@dataclass(frozen=True)
class Draws:
    """What was drawn for the flows of one group.

    Attributes:
        rtt_ps: Two-way propagation delays, ps.
        start_ps: Starts, ps.
        stop_ps: Stops, ps; None if the flows never stop.
    """

    rtt_ps: Integers
    start_ps: Integers
    stop_ps: Integers | None


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
    rtt_ps = _rtts(flow, key, seed)
    least_ps = links_rtt_ps(flow, links)
    if int(rtt_ps.min()) < least_ps:
        drawn = f"{flow.rtt.text}, drawn as {units.format_time(int(rtt_ps.min()))},"
        raise short_rtt(key, drawn, least_ps, bool(flow.reverse_path))
    start_ps = _draw(flow.start, f"{key}.start", _rng(flow, "start", seed), flow.count)
    if int(start_ps.min()) >= end_ps:
        accepted = f"a start before {units.format_time(end_ps)}"
        problem = "starts no flow before the run's end"
        raise InputError(problem, key=f"{key}.start", value=flow.start.text, accepted=accepted)
    return Draws(rtt_ps, start_ps, _stops(flow, key, start_ps, seed))


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


def _rng(flow: Flow, purpose: Literal["rtt", "start", "stop"], seed: int) -> np.random.Generator:
    digest = hashlib.sha256(flow.name.encode()).digest()
    words = np.frombuffer(digest[:16], dtype="<u4").tolist()
    sequence = np.random.SeedSequence(seed, spawn_key=(*words, _STREAMS[purpose]))
    return np.random.Generator(np.random.PCG64(sequence))
