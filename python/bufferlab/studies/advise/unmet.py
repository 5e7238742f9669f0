"""Where no setting meets all targets: what meets each alone, or all but one, and what comes nearest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from bufferlab.studies.advise.beyond import Beyond
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.choosing.order import place
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, loses_heavily
from bufferlab.studies.least import Verdict
from bufferlab.studies.least.lacking import Lack, lack, runs_lack
from bufferlab.studies.least.memory import FloatArray, Memory, margins_of
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

_NEAR: Final = math.log(2.0)
"""What exceeds a bound more often than this is not said to miss it by chance, however few runs scatter how
much. Our choice."""

_FAR: Final = 2.0
"""Standard errors by which the mean of a few runs may miss a target by chance."""

Larger = Mapping[str, Sequence[Beyond]]
"""By name of a queue, the buffers beyond those that were searched which were tried for single targets."""


class Tried(NamedTuple):
    """A queue with a setting that was run.

    Attributes:
        queue: The queue.
        setting: The setting.
        runs: What its runs measured.
    """

    queue: Queue
    setting: int
    runs: Sequence[Values]

    def margins(self, target: Target) -> FloatArray:
        """How far each run is on the right side of a target."""
        return margins_of(self.runs, target)

    def mean(self, target: Target) -> float | None:
        """The mean of what a target bounds; `None` if it is unknown."""
        return mean_over_runs(target.name, self.runs).mean

    def to_dict(self, target: Target) -> dict[str, Any]:
        """The document, with what a target bounds."""
        return {
            "queue": self.queue.name,
            "setting": self.queue.show(self.setting),
            "value": self.mean(target),
            "runs": len(self.runs),
        }


@dataclass(frozen=True)
class Nearly:
    """A setting that misses one target alone.

    Attributes:
        target: The target.
        tried: The setting.
    """

    target: Target
    tried: Tried

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {"target": str(self.target), **self.tried.to_dict(self.target)}


@dataclass(frozen=True)
class Alone:
    """With which settings a queue meets one target, whatever the others.

    Attributes:
        entry: The queue, as it was tried.
        met: The settings that do in the mean, rising.
        sizes: All that were tried, rising.
        larger: A buffer beyond those that does; `None` where none was tried, or does.
    """

    entry: Entry
    met: tuple[int, ...]
    sizes: tuple[int, ...]
    larger: Beyond | None

    @property
    def does(self) -> bool:
        """Whether some setting does."""
        return self.larger is not None or bool(self.met)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {
            "queue": self.entry.queue.name,
            "met": [self.entry.queue.show(size) for size in self.met],
            "tried": len(self.sizes),
            "larger_packets": None if self.larger is None else self.larger.size,
        }


@dataclass(frozen=True)
class Instead:
    """What meets the other targets if one is given up.

    Attributes:
        given_up: The target.
        queue: The queue that does; `None` if none does.
        setting: Its setting.
        verdict: Whether that is proven; "missed" if none does.
        loss: What it loses, where that is more than anybody accepts and no target bounds it.
        value: What it has of what was given up, in the mean.
    """

    given_up: Target
    queue: Queue | None = None
    setting: int = 0
    verdict: Verdict = "missed"
    loss: float | None = None
    value: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {
            "without": str(self.given_up),
            "queue": None if self.queue is None else self.queue.name,
            "setting": None if self.queue is None else self.queue.show(self.setting),
            "verdict": self.verdict,
            "loss": self.loss,
            "value": self.value,
        }


def unmet_document(
    entries: Mapping[str, Entry], targets: Sequence[Target], larger: Larger, confidence: float, *, met: bool
) -> dict[str, Any]:
    """What can be had where no setting meets several targets: `nearly`, `helps` and `instead`.

    Args:
        entries: What was tried.
        targets: What shall be met.
        larger: Buffers beyond those that were searched.
        confidence: With which targets shall be met.
        met: Whether they are.
    """
    if met or len(targets) < 2:
        return {"nearly": None, "helps": [], "instead": []}
    near = nearly(entries, targets)
    return {
        "nearly": None if near is None else near.to_dict(),
        "helps": [_helps(entries, targets, target, larger) for target in targets],
        "instead": [instead(entries, targets, each, confidence).to_dict() for each in targets],
    }


def _helps(
    entries: Mapping[str, Entry], targets: Sequence[Target], target: Target, larger: Larger
) -> dict[str, Any]:
    found = alone(entries, targets, target, larger)
    have = [each for each in found if each.does]
    perhaps = None if have else next(by_chance(entries, target), None)
    near = None if have or perhaps is not None else nearest(entries, target)
    return {
        "target": str(target),
        "met_by": [each.to_dict() for each in have],
        "not_by": [each.entry.queue.name for each in found if not each.does],
        "perhaps": None if perhaps is None else perhaps.to_dict(target),
        "nearest": None if near is None else near.to_dict(target),
    }


def searched(entries: Mapping[str, Entry]) -> Iterator[Entry]:
    """Of each queue the entry that has most runs of it: the one that a search came to, if there was one."""
    found: dict[str, Entry] = {}
    for entry in entries.values():
        known = found.get(entry.queue.name)
        if known is None or (known.least is None and entry.least is not None):
            found[entry.queue.name] = entry
    yield from found.values()


def tried(entry: Entry) -> Iterator[Tried]:
    """What was tried of a queue: its entry's own runs, and those of its search."""
    yield Tried(entry.queue, entry.setting, entry.runs)
    if entry.least is not None:
        memory = entry.least.memory
        yield from (Tried(entry.queue, size, memory.values(size)) for size in memory.sizes)


def alone(
    entries: Mapping[str, Entry], targets: Sequence[Target], target: Target, larger: Larger
) -> list[Alone]:
    """With which settings each queue meets one of the targets."""
    at, found = targets.index(target), []
    for entry in searched(entries):
        those = larger.get(entry.queue.name, ())
        more = next((each for each in those if each.target == target and each.is_met), None)
        if entry.least is not None:
            memory = entry.least.memory
            sizes, met = memory.sizes, [size for size in memory.sizes if memory.meets(size, target)]
            met = _as_checked(entry, target, sizes, met)
        else:
            sizes = [entry.setting]
            met = sizes if entry.checks[at].met else []
        found.append(Alone(entry, tuple(met), tuple(sizes), more))
    return found


def _as_checked(entry: Entry, target: Target, sizes: Sequence[int], met: Sequence[int]) -> list[int]:
    """The sizes that meet a target, with what the setting's own runs say of it, which are more."""
    if not margins_of(entry.runs, target).mean() >= 0:
        return [size for size in met if size != entry.setting]
    return [size for size in sizes if size in met or size == entry.setting]


def by_chance(entries: Mapping[str, Entry], target: Target) -> Iterator[Tried]:
    """What misses a target in the mean, maybe by chance."""
    for entry in entries.values():
        for each in tried(entry):
            margins = each.margins(target)
            if len(margins) < 2 or not np.isfinite(margins).all() or margins.mean() >= 0:
                continue
            reach = _FAR * margins.std(ddof=1) / math.sqrt(len(margins))
            if margins.mean() + reach >= 0 and runs_lack(each.runs, [target]).short <= _NEAR:
                yield each


def nearest(entries: Mapping[str, Entry], target: Target) -> Tried | None:
    """What comes nearest to a target that nothing meets."""
    every = [each for entry in entries.values() for each in tried(entry)]
    known = [each for each in every if each.mean(target) is not None and each.runs]
    return min(known, key=lambda each: lack(target, each.margins(target)), default=None)


def nearly(entries: Mapping[str, Entry], targets: Sequence[Target]) -> Nearly | None:
    """The setting that misses one of several targets alone in the mean, and that by least.

    It loses no more than anybody accepts.
    """
    found = []
    for entry in searched(entries):
        for each in tried(entry):
            missed = missed_targets(each.runs, targets)
            if len(missed) != 1 or each.mean(missed[0]) is None:
                continue
            if not loses_heavily(mean_over_runs("loss", each.runs).mean, targets):
                found.append(Nearly(missed[0], each))
    return min(found, key=lambda each: lack(each.target, each.tried.margins(each.target)), default=None)


def instead(
    entries: Mapping[str, Entry], targets: Sequence[Target], given_up: Target, confidence: float
) -> Instead:
    """The first setting that is proven to meet all targets but one; of those of searches the nearest."""
    at = targets.index(given_up)
    for name in sorted(entries, key=place):
        entry = entries[name]
        rest = [check for number, check in enumerate(entry.checks) if number != at]
        if all(check.met and check.confidence >= confidence for check in rest):
            value = entry.checks[at].found.mean
            return Instead(given_up, entry.queue, entry.setting, "met", value=value)
    others = [each for each in targets if each != given_up]
    found = [
        (order, each)
        for entry in searched(entries)
        for order, each in _searched_instead(entry, others, given_up, confidence)
    ]
    return min(found, key=lambda item: item[0])[1] if found else Instead(given_up)


def _searched_instead(
    entry: Entry, others: Sequence[Target], given_up: Target, confidence: float
) -> Iterator[tuple[tuple[bool, bool, Lack], Instead]]:
    """Of the sizes that a search tried those that meet the others in the mean, each after what decides.

    That is whether it loses much, whether it is not proven, and by how much it misses what was given up.
    """
    memory = Memory(others) if entry.least is None else entry.least.memory.of(others)
    for size in filter(memory.meets_all, memory.sizes):
        verdict, lost = memory.verdict(size, confidence), memory.loss(size)
        is_lossy, is_met = lost >= HEAVY_LOSS and not bounds_loss(others), verdict == "met"
        far, value = lack(given_up, memory.margins(size, given_up)), memory.mean(size, given_up.name)
        if is_lossy:
            found = Instead(given_up, entry.queue, size, verdict, lost, value)
        else:
            found = Instead(given_up, entry.queue, size, "met" if is_met else "not proven", value=value)
        yield (is_lossy, not is_met, far), found
