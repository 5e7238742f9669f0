"""Numbers, metrics and targets in words, for all views."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from bufferlab.display import significant
from bufferlab.render.summary import unknown
from bufferlab.results.metrics.metric import FRACTION, ROUNDING, Metric, Unit, of_runs
from bufferlab.results.metrics.registry import FLOW_GROUPS, LATENCY, QUEUE_SUMMARY
from bufferlab.stats import Estimate
from bufferlab.studies.targets import Target
from bufferlab.units import PS_PER_S, packets_text

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

_METRICS: Final = {metric.name: metric for group in (LATENCY, FLOW_GROUPS, QUEUE_SUMMARY) for metric in group}

_MOST_DIGITS: Final = 4

_FEW: Final = 2
"""Seeds that are named one by one."""


def metric_of(name: str) -> Metric:
    """The metric of a name, which may have a group before a dot."""
    return _METRICS[name.rpartition(".")[2]]


def rate_text(rate_bps: float) -> str:
    """A rate: "622 Mbps", "10 Gbps"."""
    for scale, unit in ((1e9, "Gbps"), (1e6, "Mbps")):
        if rate_bps >= scale:
            return f"{significant(rate_bps / scale)} {unit}"
    return f"{significant(rate_bps / 1e3)} kbps"


def seeds_text(seeds: Sequence[int]) -> str:
    """Seeds that follow each other: "seeds 1001 to 1019"."""
    if len(seeds) <= _FEW:
        return f"seed{'s' if len(seeds) > 1 else ''} {' and '.join(map(str, seeds))}"
    return f"seeds {min(seeds)} to {max(seeds)}"


def length_text(resolved: ResolvedScenario) -> str:
    """How long each run is, and of how much of it figures are: "60 s, measured from 20 s on"."""
    run = resolved["run"]
    duration_s, warmup_s = run["duration_ps"] / PS_PER_S, run["warmup_ps"] / PS_PER_S
    return f"{duration_s:g} s, measured from {warmup_s:g} s on"


def value_text(target: Target, found: Estimate) -> str:
    """A target's metric with its interval: "99.21 ± 0.06 %"; the mean is not rounded to the bound."""
    text = measured(found, target.metric.unit)
    mean = text.partition(" ")[0]
    if (known := _mean(found)) is None or mean != _decimals_of(mean, target):
        return text
    return text.replace(mean, target.show_measured(known).partition(" ")[0], 1)


def _decimals_of(text: str, target: Target) -> str:
    """The bound of a target with as many decimals as a text has."""
    bound = target.metric.unit.scaled(target.bound)
    return f"{bound:.{len(text.partition('.')[2])}f}"


def measured(found: Estimate, unit: Unit, digits: int = 3) -> str:
    """A mean with its unit and its interval, with as many digits as that allows, and of how many runs."""
    text = number(found, unit, digits)
    return text if _mean(found) is None else f"{text} {unit.shown}".rstrip() + of_estimate(found)


def cell(found: Estimate, unit: Unit, digits: int = 3) -> str:
    """A quantity without its unit, for tables."""
    text = number(found, unit, digits)
    return text if _mean(found) is None else text + of_estimate(found)


def unknown_text(found: Estimate) -> str:
    """What stands for a mean that is not known: of no run, or of too few."""
    return unknown(found.known if found.is_partial else None, found.runs)


def number(found: Estimate, unit: Unit, digits: int = 3) -> str:
    """A mean and its interval without the unit, and without of how many runs it is."""
    if (known := _mean(found)) is None:
        return unknown_text(found)
    if unit is FRACTION:
        digits += 1  # 99.21 % and 99.94 % are different things
    mean, half_width = unit.scaled(known), unit.scaled(found.half_width or 0.0)
    if half_width <= ROUNDING * abs(mean):
        return unit.text(known, digits=digits)
    tells = len(significant(half_width, 1).partition(".")[2])
    most = _MOST_DIGITS - 1 - math.floor(math.log10(abs(mean))) if mean else _MOST_DIGITS
    decimals = max(min(tells, most), 0)
    half = f"{half_width:.{decimals}f}"
    return f"{mean:.{decimals}f}" if float(half) == 0 else f"{mean:.{decimals}f} ± {half}"


def of_estimate(found: Estimate) -> str:
    """Behind a mean: of how many runs it is; nothing if it is of all."""
    return of_runs(found.known if found.is_partial else None, found.runs)


def _mean(found: Estimate) -> float | None:
    return found.mean if found.mean is not None and math.isfinite(found.mean) else None


def instead(text: str, other: str, whose: str = "") -> str:
    """A value beside another one, with whose that is where readers know it.

    >>> instead("9 ms", "47"), instead("9 ms", "47", "today"), instead("9 ms", "9", "today")
    ('9 ms instead of 47', '9 ms (today 47)', '9 ms, as today')
    """
    if other in {text, text.partition(" ")[0]}:
        return f"{text}, as {whose}" if whose else f"{text}, as much"
    return f"{text} ({whose} {other})" if whose else f"{text} instead of {other}"


def beside(unit: Unit, value: float | None, other: float | None, whose: str = "", *, digits: int = 3) -> str:
    """The same of numbers, the first with its unit; what is not known is zero."""
    return instead(unit.quantity(value or 0.0, digits=digits), unit.text(other or 0.0, digits=digits), whose)


def asked(target: Target, mean: float | None, *, is_assumed: bool = False, more: str = "") -> str:
    """A target's metric, what it has of it, and what was asked for: "loss 3 % (asked 1 %)".

    Args:
        target: The target.
        mean: What was measured.
        is_assumed: Whether the bound is our default.
        more: What stands behind the bound.
    """
    bound = f"{'our default' if is_assumed else 'asked'} {target.show(target.bound)}{more}"
    return f"{title_text(target)} {target.show_measured(mean, 3)} ({bound})"


def title_text(target: Target) -> str:
    """What a target is about."""
    return target.title


def begun(text: str, target: Target) -> str:
    """A text on a target as it begins a sentence; a group's name stays as it is written."""
    return text if target.group else f"{text[:1].upper()}{text[1:]}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def of_classes_text(classes: int, packets: int) -> str:
    """The buffer of a queue with classes: "2 × 126 packets"."""
    return f"{classes} × {packets_text(packets)}"


def head_of(target: Target) -> str:
    """The head of a table's column of a target's metric, with its unit."""
    return target.metric.unit.label(short_text(target))


def short_text(target: Target) -> str:
    """A target's metric in a table: "wait: p99"."""
    return re.sub(r"(\d+)th percentile", r"p\1", target.heading)
