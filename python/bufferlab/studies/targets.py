"""What a link and its users must get: bounds on metrics, as written and as tested.

A target names a metric of docs/metrics.md, alone ("utilization >= 99 %": of the link, else of all flows) or
of a flow group ("call.r > 80"), a relation and a value with its unit. Words that are left out of a metric's
name are found: `wait_p99` is `wait_p99_ms`, `call.r` the metric `call_r` of the group `call`.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from bufferlab import _core
from bufferlab.errors import InputError, did_you_mean
from bufferlab.results.latency.emodel import opinion_score, rating
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    BYTES,
    CONFIDENCE_SUFFIX,
    DIGITS,
    FRACTION,
    MILLISECONDS,
    RUNS_SUFFIX,
    SECONDS,
    TEXT,
    Better,
    Metric,
)
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY
from bufferlab.results.result import Result
from bufferlab.results.summary import flow_values, latency_values, queue_values
from bufferlab.results.tables import ALL
from bufferlab.stats import Estimate
from bufferlab.studies.everyday import SHOWN_AS, meant
from bufferlab.units import PS_PER_S

Values = Mapping[str, float | None]
"""What a run measured, by the names of targets: `utilization`, `call.call_r`."""

_METRICS: Final[Mapping[str, Metric]] = {
    metric.name: metric
    for dimension in (LATENCY, FLOW_GROUPS, QUEUE_SUMMARY)
    for metric in dimension
    if metric.unit is not TEXT
}
_RELATIONS: Final[Mapping[str, bool]] = {">=": True, ">": True, "<=": False, "<": False}
_WRITTEN: Final = re.compile(
    r"\s*(?:(?P<group>[\w-]+)\s*\.)?\s*(?P<name>\w[\w-]*)\s*(?P<relation>[<>]=?)\s*(?P<bound>.+?)\s*"
)
_ACCEPTED: Final = (
    "a metric, a relation and a value, such as 'utilization >= 99 %', 'wait_p99 < 20 ms' or 'call.r > 80'"
)
_SOME_METRICS: Final = "utilization, loss, wait_mean, wait_p99, GROUP.goodput and others of docs/metrics.md"
_KEY: Final = "target"
_OF_LINKS: Final = ("backlog_", "empty_")
"""What begins the names of metrics that a link has, but no flow group's packets in it."""
_MEASURES: Final = (MILLISECONDS, SECONDS, BITS_PER_S, BYTES)
"""Units that have several sizes, so that a value without one says nothing."""
_RANGES: Final[Mapping[str, tuple[float, float]]] = {
    "jain_index": (0.0, 1.0),
    "call_r": (0.0, round(rating(0.0), 1)),
    "call_mos": (1.0, round(opinion_score(rating(0.0)), 2)),
}
"""The values that a metric can have, of those that neither their unit nor zero bound."""
_MIXED: Final = 100
"""Steps of the rating of which mixtures are made."""
_ROUNDED: Final = 0.005
"""Scores that differ by less count as equal."""
_CALL: Final = "call: "
"""Begins the titles of a call's metrics, which the group's name says better."""
_GROWING: Final = ("wait_", "backlog_", "loaded_rtt_", "rtt_increase_")
"""Beginnings of the names of metrics that grow with the buffer."""

_MOST_DIGITS: Final = 16
"""What agrees with a bound in all digits of a floating-point number is shown as the bound."""


@dataclass(frozen=True)
class Target:
    """A bound on a metric.

    Attributes:
        metric: The metric.
        group: The flow group that it is of; `None` for the link's, or that of all flows.
        at_least: Whether the bound is a least value; otherwise it is a most one.
        bound: The bound, in the metric's unit.
    """

    metric: Metric
    group: str | None
    at_least: bool
    bound: float

    @property
    def name(self) -> str:
        """Its name among a run's values."""
        return self.metric.name if self.group is None else f"{self.group}.{self.metric.name}"

    @property
    def wants_less(self) -> bool:
        """Whether it bounds what grows with the buffer: such bounds alone ask for the largest buffer."""
        return not self.at_least and self.metric.name.startswith(_GROWING)

    def margin(self, value: float | None) -> float:
        """How far a value is on the right side, in the metric's unit; NaN where there is none."""
        if value is None:
            return math.nan
        return value - self.bound if self.at_least else self.bound - value

    def show(self, value: float | None, digits: int = DIGITS) -> str:
        """A value with the unit of tables."""
        if value is None or math.isnan(value):
            return "—"
        return self.metric.unit.quantity(value, digits=digits)

    def show_measured(self, value: float | None, digits: int = DIGITS) -> str:
        """A measured value, with as many digits as distinguish it from the bound: "1.004 %" beside "1 %".

        What misses its bound never reads as if it met it, whether the bound is rounded as much or not.
        """
        bound = self.show(self.bound)
        for more in range(digits, _MOST_DIGITS):
            text = self.show(value, more)
            if text not in {bound, self.show(self.bound, more)}:
                return text
        return bound

    def loosened(self, share: float) -> Target:
        """The target whose bound asks for less, by a share of it."""
        return dataclasses.replace(self, bound=self.bound * (1 - share if self.at_least else 1 + share))

    @property
    def heading(self) -> str:
        """What it is about, at a table's head: "wait: mean"; "calls: rating R", of "call: rating R"."""
        return self._of_group(self.metric.title)

    @property
    def title(self) -> str:
        """The same in a sentence: "mean wait", "calls: rating R"."""
        what, _, statistic = self.metric.title.removeprefix(_CALL).rpartition(": ")
        first = re.match(r"[^,(]*[^,( ]", statistic)
        if not what or first is None:
            return self.heading
        return self._of_group(f"{first[0]} {what}{statistic[first.end() :]}")

    def _of_group(self, title: str) -> str:
        return title if self.group is None else f"{self.group}: {title.removeprefix(_CALL)}"

    def __str__(self) -> str:
        """The target in words."""
        relation = "at least" if self.at_least else "at most"
        return f"{self.title} {relation} {self.show(self.bound)}"


def bounds_loss(targets: Iterable[Target]) -> bool:
    """Whether a loss is among what is asked for, of the link or of a group."""
    return any(target.metric.name == "loss" for target in targets)


def want_largest(targets: Iterable[Target]) -> bool:
    """Whether all targets bound what grows with the buffer, so that the largest that keeps them is wanted."""
    return all(target.wants_less for target in targets)


def refuse_contradictions(targets: Sequence[Target]) -> None:
    """Refuse bounds on one metric that nothing can meet together.

    Args:
        targets: The targets.

    Raises:
        InputError: A least value is above a most one, or a call's MOS cannot go with its rating.
    """
    for low in targets:
        for high in targets:
            if low.name == high.name and low.at_least and not high.at_least and low.bound > high.bound:
                raise _contradiction(low, high)
    for score in targets:
        for rated in targets:
            if _are_of_a_call(score, rated) and not _go_together(score, rated):
                raise _contradiction(score, rated)


def _contradiction(one: Target, other: Target) -> InputError:
    return InputError(
        f"contradicts another target, {other}",
        key=_KEY,
        value=str(one),
        accepted="targets that can be met together",
    )


def _are_of_a_call(score: Target, rated: Target) -> bool:
    """Whether one target is about a call's MOS and the other about its rating, and they pull apart."""
    names = score.metric.name, rated.metric.name
    return names == ("call_mos", "call_r") and score.group == rated.group and score.at_least != rated.at_least


def _go_together(score: Target, rated: Target) -> bool:
    """Whether runs may have both: a MOS is a function of the rating (ITU-T G.107, annex B).

    The targets are about means, and the function is no line: of a mean rating the mean score may be any
    between the least and the most that a mixture of two ratings has, which is all that mixtures can have.
    """
    most = rating(0.0)
    ratings = [most * step / _MIXED for step in range(_MIXED + 1)]
    scores = [opinion_score(each) for each in ratings]
    # a higher score never needs a lower rating, so that the bound itself is the best rating to try
    kept = min(max(rated.bound, 0.0), most)
    mixtures = (
        scores[i] + (scores[j] - scores[i]) * ((kept - ratings[i]) / (ratings[j] - ratings[i]))
        for i in range(_MIXED)
        for j in range(i + 1, _MIXED + 1)
        if ratings[i] <= kept <= ratings[j]
    )
    if score.at_least:
        return score.bound <= max(mixtures) + _ROUNDED
    return score.bound >= min(mixtures) - _ROUNDED


def parse_targets(written: Iterable[str], groups: Sequence[str]) -> tuple[Target, ...]:
    """Read targets.

    Args:
        written: The targets.
        groups: Names of the scenario's flow groups.

    Raises:
        InputError: If one is none.
    """
    return tuple(parse_target(text, groups) for text in written)


def parse_target(text: str, groups: Sequence[str]) -> Target:
    """Read a target: "utilization >= 99 %".

    Args:
        text: What was written.
        groups: Names of the scenario's flow groups.

    Raises:
        InputError: If it is no target.
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise InputError("is not a target", key=_KEY, value=text, accepted=_ACCEPTED)
    group = match["group"]
    if group is not None and group not in groups:
        raise InputError(
            f"names no flow group{did_you_mean(group, groups)}",
            key=_KEY,
            value=text,
            accepted=", ".join(groups),
        )
    name = match["name"].replace("-", "_")
    metric = _metric(name, group, text)
    bound = _bound(match["bound"], name, metric, text)
    least, most = _range(metric)
    if (match["relation"], bound) in {("<", least), (">", most)}:
        accepted = f"{'more' if bound == least else 'less'} than {bound:g}"
        raise InputError(f"asks for what {metric.name} cannot be", key=_KEY, value=text, accepted=accepted)
    return Target(metric, group, _RELATIONS[match["relation"]], bound)


def make_target(name: str, bound: float, *, at_least: bool | None = None) -> Target:
    """A target of the link by its metric's name; the relation follows from which values are better."""
    metric = _METRICS[name]
    return Target(metric, None, metric.better is Better.HIGHER if at_least is None else at_least, bound)


def values_of_run(link: str, result: Result) -> dict[str, float | None]:
    """Everything that targets and objectives may ask of a run, by name.

    Args:
        link: Name of the link that the question is about.
        result: The run.
    """
    found: dict[str, float | None] = {}
    rows: list[tuple[str, Mapping[str, Any]]] = [(row["group"], row) for row in latency_values(result)]
    flows = flow_values(result)
    rows += [(row["group"], row) for row in flows]
    if len(flows) == 1:
        rows.append((ALL, flows[0]))
    rows += [(row["group"], row) for row in queue_values(result) if row["link"] == link]
    for group, row in rows:
        prefix = "" if group == ALL else f"{group}."
        found |= {prefix + name: value for name, value in row.items() if name in _METRICS}
    return found


def mean_over_runs(name: str, runs: Iterable[Values]) -> Estimate:
    """Mean of a value over runs by its name, and of how many.

    It is unknown if a run has none since too few finished: that run's would be the largest.
    """
    group, dot, metric = name.rpartition(".")
    return _METRICS[metric].over_runs(list(runs), group + dot)


def mean_columns(name: str, found: Estimate) -> dict[str, float | None]:
    """A mean as columns of a table: itself, its `…_ci95` and, where it is not of all runs, its `…_runs`."""
    row: dict[str, float | None] = {name: found.mean, name + CONFIDENCE_SUFFIX: found.half_width}
    return row | ({name + RUNS_SUFFIX: found.known} if found.is_partial else {})


def values_document(means: Mapping[str, Estimate]) -> dict[str, dict[str, Any]]:
    """Means by name as documents have them: `values`, `values_ci95` and `values_runs`."""
    return {
        "values": {name: each.mean for name, each in means.items()},
        f"values{CONFIDENCE_SUFFIX}": {name: each.half_width for name, each in means.items()},
        f"values{RUNS_SUFFIX}": {name: each.known for name, each in means.items() if each.is_partial},
    }


def _metric(word: str, group: str | None, text: str) -> Metric:
    candidates = [word] + ([f"{group}_{word}"] if group else [])
    dimensions = (LATENCY, FLOW_GROUPS, QUEUE_SUMMARY) if group else (QUEUE_SUMMARY, FLOW_GROUPS)
    known = [name for dimension in dimensions for name in dimension.numbers]
    if group:
        known = [name for name in known if not name.startswith(_OF_LINKS)]
    for candidate in candidates:
        if candidate in known:
            return _METRICS[candidate]
    parts = "|".join(map(re.escape, candidates))
    short = {
        name
        for name in known
        if re.fullmatch(rf"(?:{parts})_(?:ms|s|bps|fraction)|call_(?:{parts})(?:_\w+)?", name)
    }
    # only without one of the units above: `call.lost` is `call_lost_fraction`
    short = short or {name for name in known if name in (f"{word}_packets", f"{word}_bytes")}
    if len(short) == 1:
        return _METRICS[short.pop()]
    if word in SHOWN_AS:
        return _metric(SHOWN_AS[word], group, text)
    choice = [name for name in known if name in short or (not short and name.startswith(f"{word}_"))]
    if not choice and not group and (word in LATENCY.numbers or f"call_{word}" in LATENCY.numbers):
        raise InputError("is known of flow groups only", key=_KEY, value=text, accepted=f"GROUP.{word}")
    said = meant(word, group)
    hint = f" (did you mean '{said[0]}'?)" if said else did_you_mean(word, known)
    accepted = " or ".join(said or choice) or _SOME_METRICS
    raise InputError(f"names no metric{hint}", key=_KEY, value=text, accepted=accepted)


def _bound(written: str, word: str, metric: Metric, text: str) -> float:
    accepted = _value_accepted(metric)
    # a name in full ends with the unit, which its value then need not repeat
    if metric.unit in _MEASURES and _is_number(written) and not metric.name.endswith(word):
        raise InputError("has no unit", key=_KEY, value=text, accepted=accepted)
    try:
        value = _number(written, metric)
    except (ValueError, InputError, InvalidOperation):
        value = math.nan
    least, most = _range(metric)
    if not least <= value <= most or math.isinf(value):
        raise InputError(f"has no usable value for {metric.name}", key=_KEY, value=text, accepted=accepted)
    return value


def _range(metric: Metric) -> tuple[float, float]:
    """The values that a metric can have."""
    return _RANGES.get(metric.name, (0.0, 1.0 if metric.unit is FRACTION else math.inf))


def _number(written: str, metric: Metric) -> float:
    if metric.unit is FRACTION and written.endswith("%"):
        return float(Decimal(written[:-1].strip()) / 100)
    if metric.unit in (MILLISECONDS, SECONDS) and not _is_number(written):
        per_s = 1e3 if metric.unit is MILLISECONDS else 1.0
        return _core.parse_quantity("time", written, 0) / PS_PER_S * per_s
    if metric.unit is BITS_PER_S and not _is_number(written):
        return float(_core.parse_quantity("rate", written, 0))
    if metric.unit is BYTES and not _is_number(written):
        return float(_core.parse_quantity("size", written, 0))
    return float(written.removesuffix(metric.unit.shown).strip() if metric.unit.shown else written)


def _is_number(written: str) -> bool:
    try:
        float(written)
    except ValueError:
        return False
    return True


def _value_accepted(metric: Metric) -> str:
    examples = {
        FRACTION: "a share of 0 to 100 %, such as 99 % or 0.99",
        MILLISECONDS: "a time of 0 or more, such as 20 ms",
        SECONDS: "a time of 0 or more, such as 1.5 s",
        BITS_PER_S: "a rate of 0 or more, such as 5 Mbps",
        BYTES: "a size of 0 or more, such as 30 KB",
    }
    least, most = _range(metric)
    number = "a number" if math.isinf(most) else f"{least:g} to {most:.3g}, the best that there is"
    return examples.get(metric.unit, number)
