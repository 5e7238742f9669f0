"""What the scenario's users feel, as numbers that can be compared between queues.

Each kind of traffic has an *aspect* that its users feel: a transfer its completion time, a page the time
until it is there, a call its rating, a video its bitrate and the share of time without stalls, a video
call its bitrate and how soon frames come, bulk flows their goodput and, within a group, how evenly they
share.
If nobody pings or calls, whoever crosses the link feels a round trip: the flows' mean propagation delay and
the mean wait. Beside those who feel waits by themselves that mean says little: it is mostly the wait of
bulk flows, and a queue that keeps flows apart has them wait behind themselves only. A queue's score is the
weighted mean of the logarithms of how much better it is than another in each aspect, so that "10 % faster"
weighs as much as "10 % more goodput", whatever the units. Bitrate, delay and late frames of a video call are
factors of one thing: averaged, a third of a picture's gain would count beside all of a download's loss.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from bufferlab.errors import InputError, did_you_mean
from bufferlab.resolved import FELT_BY_GOODPUT, is_recorded
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from bufferlab.studies.targets import Values

Kind = Literal["throughput", "fairness", "latency", "calls", "pages", "video", "transfers"]
"""What an aspect is about."""

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Emphasis = str | Mapping[str, float]
"""The kind that matters most, or how much some kinds weigh."""

EMPHASIS: Final = 10.0
"""Weight of the kind that `--for` names, where the others have 1."""

_SHOWN_BY: Final[Mapping[str, str]] = {
    "calls": 'flows with application = { kind = "udp", packet = "200 B", interval = "20 ms" }',
    "pages": 'flows with application = { kind = "web", size = "200 KB", every = "2 s" }',
    "video": 'flows with application = { kind = "video" }',
    "transfers": 'flows with application = { kind = "transfer", bytes = "2 MB" }',
}
"""The traffic that shows each kind; the other kinds mean something for any traffic."""

_WORST: Final = 1e-3
"""What stands for a figure that a run does not have, or that is zero, beside the best one's 1."""


@dataclass(frozen=True)
class Aspect:
    """What users feel of one group, or of the link.

    Attributes:
        kind: What it is about.
        title: In tables.
        metric: Name of the value.
        form: Whether more of it is better, or less, or it is a share of which the rest is what users get.
        offset: Added to the value: the round trip that a wait is added to, ms.
        is_factor: Whether it is a part of what its group feels as one thing, whose parts multiply.
    """

    kind: Kind
    title: str
    metric: str
    form: Literal["more", "less", "rest"]
    offset: float = 0.0
    is_factor: bool = False

    def utility(self, values: Values) -> float:
        """Grows in proportion to how good it is."""
        value = values.get(self.metric)
        if value is None or not math.isfinite(value):
            return _WORST
        felt = value + self.offset
        if self.form == "less":
            return 1.0 / max(felt, _WORST)
        return max(felt if self.form == "more" else 1.0 - felt, _WORST)


def aspects_of(
    scenario: Scenario, values: Sequence[Values], rtt_ms: float, emphasis: Emphasis | None = None
) -> list[Aspect]:
    """The aspects of a scenario's traffic that its runs have values for.

    Args:
        scenario: The scenario.
        values: Some runs of it.
        rtt_ms: Mean round-trip time without waiting, ms.
        emphasis: What is asked for.
    """
    found = possible_aspects(scenario, rtt_ms, emphasis)
    return [each for each in found if any(run.get(each.metric) is not None for run in values)]


def possible_aspects(scenario: Scenario, rtt_ms: float, emphasis: Emphasis | None = None) -> list[Aspect]:
    """The aspects that a scenario's traffic may have; whether a call can be rated, its runs tell.

    What is asked for and no group tells of is taken of all that crosses the link.
    """
    found: list[Aspect] = []
    for flow in scenario.flows:
        found += _of_group(flow["name"], flow["application"]["kind"], int(flow["count"]))
    applications = [flow["application"] for flow in scenario.flows]
    if not any(each["kind"] == "ping" or is_recorded(each) for each in applications):
        found.insert(0, _of_all(rtt_ms)["latency"])
    there = {each.kind for each in found}
    named = (
        [emphasis]
        if isinstance(emphasis, str)
        else [kind for kind, weight in (emphasis or {}).items() if weight]
    )
    return found + [each for kind, each in _of_all(rtt_ms).items() if kind in named and kind not in there]


def _of_all(rtt_ms: float) -> dict[str, Aspect]:
    """What all traffic together feels, by kind."""
    return {
        "latency": Aspect("latency", "round trip with the mean wait", "wait_mean_ms", "less", rtt_ms),
        "throughput": Aspect("throughput", "link: throughput", "throughput_bps", "more"),
        "fairness": Aspect("fairness", "all flows: Jain's index", "jain_index", "more"),
    }


def _of_group(name: str, application: str, count: int) -> list[Aspect]:
    def aspect(kind: Kind, title: str, metric: str, form: Literal["more", "less", "rest"]) -> Aspect:
        return Aspect(kind, f"{name}: {title}", f"{name}.{metric}", form)

    if application in FELT_BY_GOODPUT:
        goodput = aspect("throughput", "goodput a flow", "goodput_bps", "more")
        return [goodput, aspect("fairness", "Jain's index", "jain_index", "more")] if count > 1 else [goodput]

    def factor(title: str, metric: str, form: Literal["more", "less", "rest"]) -> Aspect:
        return dataclasses.replace(aspect("calls", title, metric, form), is_factor=True)

    pages = [aspect("pages", "median fetch time", "exchange_p50_s", "less")]
    felt: dict[str, list[Aspect]] = {
        "udp": [aspect("calls", "rating R", "call_r", "more"), aspect("calls", "loss", "loss", "rest")],
        "ping": [aspect("latency", "95th percentile", "loaded_rtt_p95_ms", "less")],
        "web": pages,
        "echo": pages,
        "video": [
            aspect("video", "bitrate", "bitrate_bps", "more"),
            aspect("video", "share of time that it stalls", "stalls", "rest"),
        ],
        "video-call": [
            factor("bitrate", "goodput_bps", "more"),
            factor("pictures' 95th percentile", "frame_p95_ms", "less"),
            factor("share of pictures that are late", "frames_late", "rest"),
        ],
    }
    return felt.get(application) or [aspect("transfers", "mean completion time", "completion_s", "less")]


def is_emphasized(kind: Kind, emphasis: Emphasis | None) -> bool:
    """Whether somebody said how much a kind matters."""
    return kind == emphasis if isinstance(emphasis, str) else kind in (emphasis or ())


def weights_for(emphasis: Emphasis | None, aspects: Sequence[Aspect]) -> dict[Kind, float]:
    """The weight of each kind that the scenario has.

    Args:
        emphasis: The kind that matters most, or the weights of some kinds, the others having 1; `None` weighs
            all alike.
        aspects: The scenario's.

    Raises:
        InputError: There is no such kind, the scenario has no traffic of it, or nothing weighs anything.
    """
    kinds = list(dict.fromkeys(each.kind for each in aspects))
    given = {emphasis: EMPHASIS} if isinstance(emphasis, str) else dict(emphasis or {})
    known = [kind for kind in KINDS if kind in kinds or kind not in _SHOWN_BY]
    for kind, weight in given.items():
        is_word = isinstance(emphasis, str)
        key = "for" if is_word else f"weights.{kind}"
        if kind not in known:
            raise InputError(
                f"is nothing that this scenario can tell{_lacking(kind) or did_you_mean(kind, known)}",
                key=key,
                value=kind if is_word else weight,
                accepted=", ".join(known),
            )
        if not 0 <= weight < math.inf:
            raise InputError("is no weight", key=key, value=weight, accepted="a number of 0 or more")
    weights = {kind: float(given.get(kind, 1.0)) for kind in kinds}
    if kinds and not any(weights.values()):
        accepted = f"a weight above 0 for one of {', '.join(kinds)}"
        raise InputError("leaves nothing to compare queues by", key="weights", value=given, accepted=accepted)
    return weights


def bought_by_buffers(aspects: Sequence[Aspect], *, is_fairness_asked: bool) -> list[Aspect]:
    """What buffers of one queue are judged by: what users feel, and how equally they share if that is asked.

    That flows share more equally is no reason to keep packets waiting: a standing queue evens out the round
    trips of its flows, and with them what they get.
    """
    others = [each for each in aspects if each.kind != "fairness"]
    return others if others and not is_fairness_asked else [*aspects]


def judged_by_buffers(
    aspects: Sequence[Aspect], weights: Mapping[Kind, float], emphasis: Emphasis | None
) -> tuple[list[Aspect], dict[Kind, float]]:
    """By what buffers of one queue are judged, and what each kind of it weighs.

    Args:
        aspects: What users feel.
        weights: How much each kind of it weighs.
        emphasis: What was said to matter most.
    """
    scored = bought_by_buffers(aspects, is_fairness_asked=is_emphasized("fairness", emphasis))
    kinds = {each.kind for each in scored}
    return scored, {kind: weight for kind, weight in weights.items() if kind in kinds}


def _lacking(kind: str) -> str:
    """What a scenario without a kind of aspect lacks; nothing if there is no such kind."""
    flows = _SHOWN_BY.get(kind)
    return "" if flows is None else f": it has no {kind}, which {flows} in a scenario file would give"


def score(values: Values, aspects: Sequence[Aspect], weights: Mapping[Kind, float]) -> float:
    """The score of a run: differences between two runs' scores say how much better one is, as a logarithm."""
    total = 0.0
    for kind, weight in weights.items():
        logs = _logs([each for each in aspects if each.kind == kind], values)
        total += weight * sum(logs) / len(logs)
    return total / sum(weights.values())


def _logs(aspects: Sequence[Aspect], values: Values) -> list[float]:
    """The logarithm of each aspect's utility, and of each group's factors together."""
    together: dict[str, float] = {}
    for each in aspects:
        felt = each.metric.rpartition(".")[0] if each.is_factor else each.metric
        together[felt] = together.get(felt, 0.0) + math.log(each.utility(values))
    return list(together.values())


def mean_score(runs: Sequence[Values], aspects: Sequence[Aspect], weights: Mapping[Kind, float]) -> float:
    """Mean of the scores of runs."""
    return sum(score(run, aspects, weights) for run in runs) / len(runs)
