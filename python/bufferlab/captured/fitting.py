"""Which congestion controls the long flows run: those whose simulation does what was captured.

A capture does not name controls, but they decide a buffer. So the scenario of the capture runs with each of
a few mixes, and what the run loses and lets wait is compared with what was captured. Where a buffer was seen
to fill, the queue is a FIFO of that depth; else other disciplines are tried as well, as they shape both.

The distance of a run is a sum of logarithms of ratios, so 0.7 is one quantity that is off by a factor of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import polars as pl

from bufferlab.captured.link import CapturedLink
from bufferlab.captured.observation import NS_PER_MS
from bufferlab.captured.scenario import left_out, scenario_of
from bufferlab.experiment.run import run
from bufferlab.scenario import Scenario

Shares: TypeAlias = Sequence[tuple[str, float]]
Tell: TypeAlias = Callable[[float, str], None]

_CUBIC: Final = "cubic-linux(hystart)"

PURE: Final[Mapping[str, Shares]] = {
    "cubic": [(_CUBIC, 100.0)],
    "reno": [("reno", 100.0)],
    "bbr": [("bbr", 100.0)],
}
MIXED: Final[Mapping[str, Shares]] = {
    "cubic:75%,bbr:25%": [(_CUBIC, 75.0), ("bbr", 25.0)],
    "cubic:50%,bbr:50%": [(_CUBIC, 50.0), ("bbr", 50.0)],
    "cubic:25%,bbr:75%": [(_CUBIC, 25.0), ("bbr", 75.0)],
}
QUEUES: Final = ("fifo", "codel", "fq_codel", "pie")

NEAR: Final = 1.5
"""A mix whose run is no nearer is not believed; the true one is at 0.6 in the median of drawn links."""

_ALIKE: Final = 0.2
"""One control is preferred to a mix that is nearer by no more."""

_MOST_PACKETS: Final = 2e6
_RUN_S: Final = (12.0, 60.0)
_WARMUP_S: Final = 10.0

_SCALES: Final = {"loss": (1e-3, 1.0), "wait_p50_ms": (0.5, 1.0), "wait_p95_ms": (0.5, 0.5)}
"""Of each quantity what is too little to matter, and its weight."""

_OF_UTILIZATION: Final = 20.0

Values: TypeAlias = Mapping[str, float | None]


@dataclass(frozen=True)
class Fit:
    """What reproduces a capture best.

    Attributes:
        scenario: The scenario.
        controls: The mix; `None` where no run came near, and the scenario has the Internet's.
        alike: Other mixes whose runs are nearly as near.
        distance: That of the run, as a sum of logarithms of ratios; `None` where nothing can be compared.
        captured: `utilization`, `loss`, `wait_p50_ms` and `wait_p95_ms`; `None` where unknown.
        reproduced: The same of the run.
        left_out: What the scenario does not have, with its share of the link's rate.
    """

    scenario: Scenario
    controls: str | None
    alike: tuple[str, ...]
    distance: float | None
    captured: Values
    reproduced: Values
    left_out: Mapping[str, float] = field(default_factory=dict)


def fitted(
    link: CapturedLink,
    *,
    rate: str | None = None,
    mix: Shares | None = None,
    tell: Tell = lambda _done, _note: None,
) -> Fit:
    """The scenario whose run is nearest to the capture, of one for each mix of controls.

    Args:
        link: What was captured of a direction.
        rate: The link's rate, where the operator knows it.
        mix: Controls where the operator knows them; then only that scenario runs.
        tell: Progress.

    Raises:
        InputError: The link's rate is not known, or no flow has a round-trip time.
    """
    return replace(_fitted(link, rate=rate, mix=mix, tell=tell), left_out=left_out(link))


def _fitted(
    link: CapturedLink,
    *,
    rate: str | None,
    mix: Shares | None,
    tell: Tell,
) -> Fit:
    seen = captured_values(link)
    usual = scenario_of(link, rate=rate, mix=mix)
    if mix is not None or link.long.is_empty() or not _is_comparable(seen):
        values = _values(usual)
        known = _distance(values, seen) if _is_comparable(seen) else None
        return Fit(usual, None, (), known, seen, values)
    tried = []
    cases = list(_cases(link))
    for number, (name, shares, queue) in enumerate(cases):
        tell(number / len(cases), f"{name}, {queue}")
        scenario = scenario_of(link, rate=rate, mix=shares)
        values = _values(scenario, queue)
        tried.append((_distance(values, seen), name, scenario, values))
    nearest: dict[str, float] = {}
    for distance, name, *_ in tried:
        nearest[name] = min(distance, nearest.get(name, math.inf))
    name = _chosen(nearest)
    distance, _, scenario, values = min((each for each in tried if each[1] == name), key=lambda each: each[0])
    if distance > NEAR:
        return Fit(usual, None, (), distance, seen, values)
    alike = sorted((each for each in nearest if each != name), key=nearest.__getitem__)
    near = tuple(each for each in alike if nearest[each] <= nearest[name] + _ALIKE)
    return Fit(scenario, name, near, distance, seen, values)


def captured_values(link: CapturedLink) -> Values:
    """What a run can be compared with. The load is that of the link only if captured behind the queue."""
    waits = link.waits or {}
    used = link.utilization()
    return {
        "utilization": None if link.is_offered or used is None else min(used, 1.0),
        "loss": link.losses,
        "wait_p50_ms": waits["median_ns"] / NS_PER_MS if waits else None,
        "wait_p95_ms": waits["p95_ns"] / NS_PER_MS if waits else None,
    }


def _is_comparable(seen: Values) -> bool:
    return any(seen[name] is not None for name in _SCALES)


def _cases(link: CapturedLink) -> Iterator[tuple[str, Shares, str]]:
    is_filled = bool(link.waits and link.waits["is_filled"])
    for queue in QUEUES[:1] if is_filled else QUEUES:
        for name, shares in {**PURE, **MIXED}.items():
            yield name, shares, queue


def _chosen(nearest: Mapping[str, float]) -> str:
    """The nearest; of a mix and one control that are alike, the control."""
    best = min(nearest, key=nearest.__getitem__)
    pure = min(PURE, key=nearest.__getitem__)
    return pure if nearest[pure] <= nearest[best] + _ALIKE else best


def _values(scenario: Scenario, queue: str = "fifo") -> Values:
    packets_a_s = scenario.links[0]["rate_bps"] / 12_000
    least, most = _RUN_S
    duration_s = min(max(_MOST_PACKETS / packets_a_s, least), most)
    overrides = {
        "run.duration": f"{duration_s:.0f} s",
        "run.warmup": f"{min(_WARMUP_S, duration_s / 4):.0f} s",
        "bottleneck.queue": queue,
    }
    (result,) = run(scenario, overrides=overrides, progress=False)
    row = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    return {name: row[name] for name in ("utilization", *_SCALES)}


def _distance(values: Values, seen: Values) -> float:
    total = 0.0
    for name, (little, weight) in _SCALES.items():
        own, other = values[name], seen[name]
        if own is not None and other is not None:
            total += weight * abs(math.log((own + little) / (other + little)))
    used, other = values["utilization"], seen["utilization"]
    if used is not None and other is not None:
        total += _OF_UTILIZATION * abs(used - other)
    return total
