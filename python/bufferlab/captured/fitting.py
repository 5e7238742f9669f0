"""Which congestion controls the long flows run, and which queue: whose simulation does what was captured.

A capture names neither, but they decide a buffer. So the scenario of the capture runs with each of a few
mixes, and what the run loses and lets wait is compared with what was captured. Where a buffer was seen to
fill, the queue is a FIFO of that depth, or FQ-CoDel if flows do not wait alike; else FIFOs of other depths
and other disciplines are tried as well, as they shape both. Where it marks packets in place of dropping them
(ECN), disciplines that mark are tried alone, and how often runs mark is compared, too.

The distance of a run is a sum of logarithms of ratios, so 0.7 is one quantity that is off by a factor of two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, Literal, TypeAlias

import polars as pl

from bufferlab.captured.flows import lasting_loss_of
from bufferlab.captured.link import DIRECTIONS, CapturedLink
from bufferlab.captured.marks import is_marking, marked_share
from bufferlab.captured.observation import NS_PER_MS, NS_PER_S
from bufferlab.captured.scenario import (
    MARKING,
    NOTHING,
    Known,
    Queue,
    Shares,
    is_depth_seen,
    left_out,
    long_goodputs,
    packets_of,
    scenario_of,
    seen_queue,
)
from bufferlab.captured.shared import likeness
from bufferlab.captured.waits import with_known_rtt
from bufferlab.experiment.run import run
from bufferlab.scenario import Scenario
from bufferlab.units import parse_rate

Tell: TypeAlias = Callable[[float, str], None]

_CUBIC: Final = "cubic-linux(hystart)"

PURE: Final[Mapping[str, Shares]] = {
    "cubic": [(_CUBIC, 100.0)],
    "reno": [("reno", 100.0)],
    "bbr": [("bbr", 100.0)],
    "bbr3": [("bbr3", 100.0)],
}
MIXED: Final[Mapping[str, Shares]] = {
    f"cubic:{100 - part}%,{bbr}:{part}%": [(_CUBIC, 100.0 - part), (bbr, float(part))]
    for bbr in ("bbr", "bbr3")
    for part in (25, 50, 75)
}
OTHER_QUEUES: Final = (
    Queue("codel", "1000 packets"),
    MARKING,
    Queue("pie", "1000 packets"),
)
"""Other disciplines with Linux's limits: tc-codel(8), tc-fq_codel(8), tc-pie(8)."""

_MARK_BY_DEFAULT: Final = {"fq_codel"}

_DEPTHS: Final = ("p99_ns", "p95_ns")
"""Depths of FIFOs that are tried where none is seen to fill though packets are lost: what one in a hundred
waits may be of what else delays, and one that holds less than what one in twenty waits for cannot be."""

NEAR: Final = 1.5
"""A mix whose run is no nearer is not believed; the true one is at 0.6 in the median of drawn links."""

_ALIKE: Final = 0.2
_ERRORS: Final = 2.0
"""Runs are as near as the nearest if they are farther by no more than the first and as many standard errors
of the logarithm of the captured loss, which is one over the root of its episodes. Then one control is
preferred to a mix. Our choice."""

_FEWEST_SUPPOSED: Final = 2
_MOST_SUPPOSED: Final = 3
"""Other mixes in which an answer is tried. Our choice."""

_ALIKE_WAITS: Final = 0.4
"""With FQ-CoDel the likeness of waits was below this in drawn links; with FIFOs that keep packets waiting it
is not."""

_MOST_PACKETS: Final = 2e6
_RUN_S: Final = (12.0, 60.0)
_WARMUP_S: Final = 10.0

_SCALES: Final = {
    "loss": (1e-3, 1.0),
    "marks": (1e-3, 1.0),
    "wait_p50_ms": (0.5, 1.0),
    "wait_p95_ms": (0.5, 0.5),
}
"""Of each quantity what is too little to matter, and its weight."""

_NEEDED: Final = ("loss", "wait_p50_ms", "wait_p95_ms")
"""Of flows without ECN no marks are known."""

_OF_UTILIZATION: Final = 20.0

LITTLE_LOSS: Final = 2e-3
"""Losses of less are a matter of chance. Our choice."""

OFF: Final = 1.35
_OFF_BY: Final = {
    "utilization": 0.1,
    "loss": LITTLE_LOSS,
    "marks": LITTLE_LOSS,
    "wait_p50_ms": 5.0,
    "wait_p95_ms": 5.0,
}
"""What a run gives and what was captured are far apart if one is as many times the other, and larger by at
least that. Our choice."""

SHARED_OTHERWISE: Final = 1.5
"""Flows of a group share a link otherwise if one goodput is as many times the other. Our choice."""

_FEWEST_GROUPS: Final = 2
_SEEDS: Final = 5
"""Goodputs are means of as many runs, as those of a first answer are."""

_THERE: Final = 0.5
"""Part of the mean number of long flows from which on a second counts. Our choice."""

Values: TypeAlias = Mapping[str, float | None]


@dataclass(frozen=True)
class Fit:
    """What reproduces a capture best.

    Attributes:
        scenario: The scenario.
        controls: The mix; `None` where the operator named it, or no run came near, and the scenario has the
            Internet's.
        alike: Other mixes whose runs are nearly as near.
        supposed: Those that are nearest, as near or not, each with the scenario of its nearest run: an answer
            should hold with them.
        queue: What the scenario's bottleneck runs, by its word.
        buffer: How large its buffer is, as in the scenario.
        queue_by: How that is known: `"seen"` to fill, nearest of the `"runs"`, or `"assumed"`.
        queues_alike: Other queues that have a run nearly as near, with these controls or others.
        distance: That of the run, as a sum of logarithms of ratios; `None` where nothing can be compared.
        captured: `utilization`, `loss`, `marks`, `wait_p50_ms` and `wait_p95_ms`; `None` where unknown.
        reproduced: The same of the run.
        left_out: What the scenario does not have, with its share of the link's rate.
        goodputs_bps: What a long flow got in the capture and gets in the run, in the mean, by groups' names.
        hidden_ms: What packets wait in addition, as the operator's round-trip time shows, ms.
    """

    scenario: Scenario
    controls: str | None
    alike: tuple[str | None, ...]
    queue: str
    buffer: str
    queue_by: Literal["seen", "runs", "assumed"]
    queues_alike: tuple[str | None, ...]
    distance: float | None
    captured: Values
    reproduced: Values
    left_out: Mapping[str, float] = field(default_factory=dict)
    goodputs_bps: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    hidden_ms: float = 0.0
    supposed: Mapping[str, Scenario] = field(default_factory=dict)

    @property
    def is_queue_known(self) -> bool:
        """Whether it may be judged as what runs: a FIFO's depth is known only where it was seen to fill."""
        return self.queue_by == "seen" or (self.queue_by == "runs" and self.queue != "fifo")

    def differs(self, name: str, times: float = OFF) -> bool:
        """Whether what the run gives is far from what was captured.

        Args:
            name: Of what.
            times: By which factor they differ at least.
        """
        return _differ(self.reproduced, self.captured, name, times)

    def exceeds(self, name: str, times: float = OFF) -> bool:
        """Whether the run gives far more than was captured.

        Args:
            name: Of what.
            times: By which factor they differ at least.
        """
        return self.differs(name, times) and (self.reproduced[name] or 0.0) > (self.captured[name] or 0.0)

    @property
    def shared_otherwise(self) -> Mapping[str, tuple[float, float]]:
        """Those goodputs that are far from the capture's: its flows share the link in another way."""
        return {
            name: pair for name, pair in self.goodputs_bps.items() if max(pair) > SHARED_OTHERWISE * min(pair)
        }

    @property
    def is_far(self) -> bool:
        """Whether the run does not do what was captured."""
        return self.distance is not None and self.distance > NEAR


@dataclass(frozen=True)
class _Tried:
    """A run: with which controls (`None` for those that the operator names) and queue, and how near it is."""

    controls: str | None
    queue: Queue
    scenario: Scenario
    values: Values
    distance: float


def fitted(link: CapturedLink, known: Known = NOTHING, *, tell: Tell = lambda _done, _note: None) -> Fit:
    """The scenario whose run is nearest to the capture, of one for each mix of controls and queue.

    Args:
        link: What was captured of a direction.
        known: What the operator knows; with a mix, other controls are not tried.
        tell: Progress.

    Raises:
        InputError: The link's rate is not known, or no flow has a round-trip time.
    """
    link, hidden_ms = with_known_rtt(link, known.rtt)
    seen = captured_values(with_known_rate(link, known))
    if link.long.is_empty() or not _is_comparable(seen):
        fit = _usual(link, known, seen)
    else:
        fit = _nearest(link, known, seen, tell)
    return replace(fit, left_out=left_out(link, known), hidden_ms=hidden_ms)


def with_known_rate(link: CapturedLink, known: Known) -> CapturedLink:
    """The link with the rate that the operator names, if any.

    Args:
        link: What was captured of a direction.
        known: What the operator knows.
    """
    return link if known.rate is None else replace(link, rate_bps=float(parse_rate(known.rate)))


def _usual(link: CapturedLink, known: Known, seen: Values) -> Fit:
    """The scenario with the Internet's mix, where no run is near or nothing can be compared."""
    scenario, queue = scenario_of(link, known), seen_queue(link, known)
    values = _values(scenario)
    distance = _distance(values, seen) if any(seen[name] is not None for name in _SCALES) else None
    return Fit(
        scenario, None, (), queue.discipline, queue.buffer, _assumed(link, known), (), distance, seen, values
    )


def _with_goodputs(link: CapturedLink, known: Known, fit: Fit) -> Fit:
    """The fit with the goodputs of long flows by round-trip time, where there are several.

    One run may share a link as no other does, so they are the means of some.
    """
    seen = long_goodputs(link, known)
    if len(seen) < _FEWEST_GROUPS or fit.is_far:
        return fit
    runs = run(fit.scenario, seeds=_SEEDS, overrides=_lasting(fit.scenario), progress=False)
    flows = pl.concat([each.flows.select("group", "goodput_bps") for each in runs])
    found = {}
    for names, seen_bps in seen:
        own = flows.filter(pl.col("group").is_in(names))["goodput_bps"].to_numpy()
        found[" and ".join(names)] = (seen_bps, float(own.mean()))
    return replace(fit, goodputs_bps=found)


def _assumed(link: CapturedLink, known: Known) -> Literal["seen", "assumed"]:
    return "seen" if is_depth_seen(link, known) else "assumed"


def _nearest(link: CapturedLink, known: Known, seen: Values, tell: Tell) -> Fit:
    tried = []
    mixes = _mixes(known)
    cases = [(name, shares, queue) for queue in queues_tried(link, known) for name, shares in mixes.items()]
    for number, (name, shares, queue) in enumerate(cases):
        tell(number / len(cases), f"{name or 'the controls given'}, {queue}")
        scenario = scenario_of(link, replace(known, mix=shares), queue)
        values = _values(scenario)
        tried.append(_Tried(name, queue, scenario, values, _distance(values, seen)))
    by_mix = _least(tried, lambda each: each.controls)
    apart = _apart(link)
    name = None if known.mix is not None else _chosen(tried, by_mix, seen, apart)
    own = [each for each in tried if each.controls == name]
    likely = _simplest_first(own, apart)
    if likely[0].distance > NEAR:
        return replace(_usual(link, known, seen), supposed=_supposed(tried, None, ()))
    alike = _alike(by_mix, name, apart)
    by_queue = _least(tried, lambda each: str(each.queue))
    is_seen = _assumed(link, known) == "seen"
    fits = (
        Fit(
            each.scenario,
            name,
            alike,
            each.queue.discipline,
            each.queue.buffer,
            "seen" if is_seen and each.queue == cases[0][2] else "runs",
            _alike(by_queue, str(each.queue), apart),
            each.distance,
            seen,
            each.values,
            supposed=_supposed(tried, name, alike),
        )
        for each in likely
    )
    return _sharing_alike(_with_goodputs(link, replace(known, mix=mixes[name]), fit) for fit in fits)


def _sharing_alike(fits: Iterator[Fit]) -> Fit:
    """The first whose flows share the link as in the capture; else the first."""
    first = next(fits)
    return next((fit for fit in chain([first], fits) if not fit.shared_otherwise), first)


def _mixes(known: Known) -> dict[str | None, Shares]:
    """What is tried: the mix that the operator names, which has no name here, or all."""
    if known.mix is not None:
        return {None: known.mix}
    return {name: shares for mixes in (PURE, MIXED) for name, shares in mixes.items()}


def _supposed(tried: list[_Tried], chosen: str | None, alike: tuple[str | None, ...]) -> dict[str, Scenario]:
    """Other mixes, each with the scenario of its nearest run: those that are alike, one control alone first.

    Where few are, the nearest others, too. One control alone is always among them, or chosen: what a capture
    loses in addition elsewhere, or in starts, looks like a mix.
    """
    found: dict[str, Scenario] = {}
    for each in sorted(tried, key=lambda each: each.distance):
        if each.controls is not None and each.controls != chosen:
            found.setdefault(each.controls, each.scenario)
    names = sorted(found, key=lambda name: (name not in alike, name in alike and name not in PURE))
    number = min(max(len(alike), _FEWEST_SUPPOSED), _MOST_SUPPOSED)
    picked = names[:number]
    if picked and not PURE.keys() & {chosen, *picked}:
        picked[-1] = next(name for name in found if name in PURE)
    return {name: found[name] for name in picked}


def _simplest_first(tried: list[_Tried], apart: float) -> list[_Tried]:
    """The nearest run of each discipline that is near, the nearest first; before all a FIFO that is alike.

    Waits before losses may be read too badly to see that a buffer fills, so that losses come at no one depth
    does not say that a queue drops early.
    """
    order = sorted(tried, key=lambda each: each.distance)
    alike = [each for each in order if each.distance <= order[0].distance + apart]
    fifos = [each for each in alike if each.queue.discipline == "fifo"]
    found = {each.queue.discipline: each for each in reversed(order) if each.distance <= NEAR}
    others = sorted(found.values(), key=lambda each: each.distance)
    first = (fifos or order)[0]
    return [first, *(each for each in others if each.queue.discipline != first.queue.discipline)]


def _least(tried: list[_Tried], key: Callable[[_Tried], str | None]) -> dict[str | None, float]:
    """For each mix, or queue, the distance of its nearest run."""
    found: dict[str | None, float] = {}
    for each in tried:
        found[key(each)] = min(each.distance, found.get(key(each), math.inf))
    return found


def _apart(link: CapturedLink) -> float:
    """How much farther a run is that is as near as another."""
    episodes = int(link.flows["loss_episodes"].sum())
    return _ALIKE + (_ERRORS / math.sqrt(episodes) if episodes else 0.0)


def _alike(distances: Mapping[str | None, float], chosen: str | None, apart: float) -> tuple[str | None, ...]:
    """Those that are hardly farther than the nearest, but for the chosen one, the nearest first."""
    others = sorted((each for each in distances if each != chosen), key=distances.__getitem__)
    return tuple(each for each in others if distances[each] <= min(distances.values()) + apart)


def captured_values(link: CapturedLink) -> Values:
    """What a run can be compared with. The load is that of the link only if captured behind the queue."""
    waits = link.waits or {}
    used = lasting_utilization(link)
    return {
        "utilization": None if link.is_offered or used is None else min(used, 1.0),
        "loss": lasting_loss_of(link.flows),
        "marks": marked_share(link.flows),
        "wait_p50_ms": waits["median_ns"] / NS_PER_MS if waits else None,
        "wait_p95_ms": waits["p95_ns"] / NS_PER_MS if waits else None,
    }


def lasting_utilization(link: CapturedLink) -> float | None:
    """Mean load over rate while at least half of the long flows are there that are so in the mean.

    The first seconds, before flows are known to be long, are not what a run measures. Flows that pause are
    silent by turns, and a second without them is as good.

    Args:
        link: What was captured of a direction.
    """
    whole = link.utilization()
    bins = link.observation.seconds.filter(
        (pl.col("interface") == link.interface)
        & (pl.col("direction") == DIRECTIONS.index(link.direction))
        & (pl.col("long_flows") >= _THERE * (link.long_flows - link.pausing_flows))
    ).sort("start_ns")[:-1]
    if whole is None or link.rate_bps is None or bins.is_empty():
        return whole
    sent_bits, seconds = 8 * float(bins["wire_bytes"].sum()), float(bins["width_ns"].sum()) / NS_PER_S
    return sent_bits / seconds * link.ip_share / link.rate_bps


def _is_comparable(seen: Values) -> bool:
    """Whether losses and waits are both known: of one of them, any control comes near."""
    return all(seen[name] is not None for name in _NEEDED)


def queues_tried(link: CapturedLink, known: Known) -> Iterator[Queue]:
    """What is tried: the FIFO that was seen; if none was, shallower ones, too, and other disciplines.

    Where packets are marked, those alone that do.

    Args:
        link: What was captured of a direction.
        known: What the operator knows.
    """
    if is_marking(link.long):
        yield from (replace(each, marks=each.discipline not in _MARK_BY_DEFAULT) for each in OTHER_QUEUES)
        return
    usual = seen_queue(link, known)
    yield usual
    waits = link.waits
    if waits is None:
        return
    if is_depth_seen(link, known):
        if _wait_apart(link):
            yield from (queue for queue in OTHER_QUEUES if queue.discipline == "fq_codel")
        return
    if link.losses:
        depths = (packets_of(link, known, waits[name]) for name in _DEPTHS)
        yield from (Queue("fifo", buffer) for buffer in dict.fromkeys(depths) if buffer != usual.buffer)
    yield from OTHER_QUEUES


def _wait_apart(link: CapturedLink) -> bool:
    """Whether the flows may have a queue each, whose limits or drops come at one depth, too."""
    trips = link.observation.trips.filter(pl.col("is_ahead") == int(link.is_offered))
    alike = likeness(trips, link.long.select("connection", "sender", "first_ns", "last_ns"))
    return alike is not None and alike < _ALIKE_WAITS


def _chosen(
    tried: list[_Tried], nearest: Mapping[str | None, float], seen: Values, apart: float
) -> str | None:
    """The nearest; of a mix and one control that are alike, the control, if it loses about as much."""
    best = min(nearest, key=nearest.__getitem__)
    pure = min(PURE, key=nearest.__getitem__)
    of_pure = min((each for each in tried if each.controls == pure), key=lambda each: each.distance)
    is_alike = nearest[pure] <= nearest[best] + apart and not _differ(of_pure.values, seen, "loss", OFF)
    return pure if is_alike else best


def _differ(own: Values, seen: Values, name: str, times: float) -> bool:
    """Whether one is that many times the other, and so much larger that it matters."""
    given, measured = own[name], seen[name]
    if given is None or measured is None:
        return False
    low, high = sorted((given, measured))
    return high > times * low and high - low > _OFF_BY[name]


def _values(scenario: Scenario) -> Values:
    (result,) = run(scenario, overrides=_lasting(scenario), progress=False)
    row = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    marks = row["marked_packets"] / max(row["departed_packets"], 1)
    return {name: row[name] for name in ("utilization", *_NEEDED)} | {"marks": marks}


def _lasting(scenario: Scenario) -> dict[str, str]:
    """How long a run of it lasts."""
    packets_a_s = scenario.links[0]["rate_bps"] / 12_000
    least, most = _RUN_S
    duration_s = min(max(_MOST_PACKETS / packets_a_s, least), most)
    return {
        "run.duration": f"{duration_s:.0f} s",
        "run.warmup": f"{min(_WARMUP_S, duration_s / 4):.0f} s",
    }


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
