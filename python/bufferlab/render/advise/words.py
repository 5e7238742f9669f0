"""Numbers and settings of an advice in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from bufferlab.display import significant
from bufferlab.render.framed import TITLE
from bufferlab.render.words import asked, rate_text, title_text, value_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry, Site
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.choosing.closest import far_off
from bufferlab.studies.choosing.objectives import Emphasis, Kind
from bufferlab.studies.choosing.order import place
from bufferlab.studies.least import Check, Verdict
from bufferlab.studies.targets import Target, Values
from bufferlab.studies.words import LLQ, OWN
from bufferlab.units import packets_text

CLOSEST: Final = "closest"
"""What comes nearest to targets that nothing meets, unless it is far off."""

_CERTAIN: Final = 0.999

WORTH_LESS: Final = 0.02
"""Loss from which on it is said that something else loses clearly less, or that no larger buffer was tried.

Our choice: by the law of Mathis and others (1.22 over the root of the loss) flows have then fewer than nine
packets each under way."""

EVEN: Final = 0.5
"""Below this confidence nothing is called likely."""

START_MEASURED: Final = (
    "BBR flows fill any buffer at their start, and may still have done so when measuring began"
)
"""What may spoil a verdict of short runs."""

_SECOND_MS: Final = 1000.0

_NEARLY: Final = 0.99
"""Confidence from which tenths of a percent are shown."""


def place_text(site: Site, emphasis: Emphasis | None = None) -> str:
    """Where an answer is for, as a title: "10 flows: bottleneck, 50 Mbps, mean RTT 40 ms (4 to 76)".

    Args:
        site: The link.
        emphasis: What matters most, if one kind does: ", for calls".
    """
    least, most = ("", "") if site.rtts_ms is None else (significant(each, 2) for each in site.rtts_ms)
    mean = "mean " if site.rtts_ms is None or least != most else ""
    rtt = f"{mean}RTT {significant(site.rtt_ms, 3)} ms"
    text = f"{site.name}: {site.link}, {rate_text(site.rate_bps)}, {rtt}"
    end = f", for {emphasis}" if isinstance(emphasis, str) else ""
    whole = f"{text} ({least} to {most}){end}"
    return f"{text}{end}" if least == most or len(whole) > TITLE else whole


def about_size(size: int) -> int:
    """A buffer that is known about, as one says it: 1400 packets of 1435."""
    return int(float(f"{size:.2g}"))


def order_text(advice: Advice) -> str:
    """Which of equals is taken, of the queues that were tried; those without a place are equals still."""
    tried = {entry.queue.name: entry.title for entry in advice.entries.values()}
    names = [tried[name] for name in sorted(tried, key=place)]
    what = "calls" if all(advice.entries[name].queue.name == LLQ for name in advice.apart) else "flows"
    first = (
        f"; before it, one that keeps {what} apart, as calls or pages share the link" if advice.apart else ""
    )
    return (
        f"Of equals the first in our order is taken: {', '.join(names)}{first} (docs/advise.md has its "
        "reasons)."
    )


def called_nearest(runs: Sequence[Values], targets: Sequence[Target]) -> str:
    """What is nearest to targets that nothing meets is called: what misses one many times over is not close.

    Args:
        runs: What it measured.
        targets: The targets.
    """
    return "least far off" if far_off(runs, targets) else CLOSEST


def asked_values(advice: Advice, found: Iterable[tuple[Target, float | None]]) -> str:
    """What something has of targets, and what was asked: "loss 1.65 % (asked 0.5 %)".

    Args:
        advice: The answer.
        found: The targets, and the mean of each.
    """
    return "; ".join(asked(each, mean, is_assumed=advice.needs.is_assumed(each)) for each, mean in found)


def size_text(site: Site, packets: int, *, is_ample: bool = False) -> str:
    """A buffer in packets, bytes and ms: "1003 packets (1.5 MB, 19.3 ms)"; of bytes, in full packets.

    Args:
        site: The link.
        packets: The buffer.
        is_ample: Whether it only bounds memory, so that its time is not to be taken for a wait.
    """
    size = site.buffer(packets)
    scale, unit = (1e6, "MB") if size["bytes"] >= 1e6 else (1e3, "KB")
    count = packets_text(packets)
    if site.counts_bytes:
        count = count.replace(" ", " full ")
    time = f"{_time_text(size['ms'])}{' when full' if is_ample else ''}"
    return f"{count} ({significant(size['bytes'] / scale, 3)} {unit}, {time})"


def _time_text(time_ms: float) -> str:
    """A time, from a second on in s."""
    is_second = float(significant(time_ms, 3)) >= _SECOND_MS
    scale, unit = (1e3, "s") if is_second else (1.0, "ms")
    return f"{significant(time_ms / scale, 3)} {unit}"


def queue_text(queue: Queue) -> str:
    """A queue's name; that of the scenario with what its table has."""
    if queue.name != OWN:
        return queue.title
    given = [f"{key} {value}" for key, value in queue.table.items() if key not in {"discipline", "target"}]
    return ", ".join([queue.title, *given])


def entry_text(entry: Entry) -> str:
    """A queue with its setting."""
    return f"{queue_text(entry.queue)}, {entry.queue.show(entry.setting)}"


def entry_texts(advice: Advice) -> dict[str, str]:
    """All queues with their settings, by name: the scenario's own is called by its discipline."""
    return {name: entry_text(each) for name, each in advice.entries.items()}


def needs_text(advice: Advice) -> str | None:
    """What the scenario's file asks for, if it has a say: "the 2 targets; weights: calls 10, others 1"."""
    needs, parts = advice.needs, []
    if needs.targets_from == "scenario":
        count = len(advice.targets) - (needs.floor is not None)
        parts.append("the target" if count == 1 else f"the {count} targets")
    if needs.weights_from == "scenario":
        parts.append(f"weights: {weights_text(advice.weights)}")
    return f"by [advise] of the scenario: {'; '.join(parts)}" if parts else None


def weights_text(weights: Mapping[Kind, float]) -> str:
    """What matters more or less than the rest: "calls 10, others 1"."""
    named = [f"{kind} {significant(weight, 3)}" for kind, weight in weights.items() if weight != 1]
    others = ["others 1"] if 0 < len(named) < len(weights) else []
    return ", ".join([*named, *others]) or "all alike"


def sure_text(confidence: float) -> str:
    """A confidence, rounded down: "97 % sure", "99.5 % sure"; what is as likely not is "less than 50 %"."""
    if confidence < EVEN:
        return f"less than {EVEN * 100:g} % sure"
    if confidence > _CERTAIN:
        return f"more than {_CERTAIN * 100:g} % sure"
    step = 1000 if confidence >= _NEARLY else 100
    return f"{math.floor(round(confidence * step, 9)) / step * 100:g} % sure"


def asked_text(confidence: float) -> str:
    """How sure an answer shall be: "95 % is asked for"."""
    return f"{confidence * 100:g} % is asked for"


def check_text(check: Check, verdict: Verdict) -> str:
    """A target, and what is known of it: "utilization 99.21 ± 0.06 %, target 99 %: met"."""
    target = check.target
    found = value_text(target, check.found)
    if not check.found.known:
        return f"{title_text(target)}: no value, target {target.show(target.bound)}: missed"
    if check.lacking:
        missed = f"missed, no value in {check.lacking} of {check.runs} runs"
        return f"{title_text(target)} {found}, target {target.show(target.bound)}: {missed}"
    by = "" if check.met else f" by {_distance(check)}" if verdict == "missed" else ", the mean misses it"
    return f"{title_text(target)} {found}, target {target.show(target.bound)}: {verdict}{by}"


def _distance(check: Check) -> str:
    unit = check.target.metric.unit
    size = unit.text(abs(check.margin), digits=2)
    points = "point" if size == "1" else "points"
    return f"{size} {points}" if unit is FRACTION else f"{size} {unit.shown}".rstrip()
