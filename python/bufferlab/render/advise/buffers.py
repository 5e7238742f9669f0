"""What less and more buffer gives: a few sizes of a search, from the least to the largest, to choose from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.reasons import filling
from bufferlab.render.advise.words import queue_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.summary import NONE
from bufferlab.render.words import head_of, short_text
from bufferlab.results.metrics.metric import BITS_PER_S, FRACTION, NUMBER, Unit
from bufferlab.results.metrics.registry import QUEUE_SUMMARY
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, loses_heavily
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target

SHOWN: Final = {
    name: QUEUE_SUMMARY[name].unit.label(word)
    for name, word in (("utilization", "used"), ("loss", "lost"), ("wait_mean_ms", "wait"))
}
"""What is shown of the link, and short heads of the columns."""

RULES: Final = {"bdp": "is a BDP", "stanford": "BDP/√n"}
"""Published rules whose buffers are named in the title, and how. `bufferlab size --theory` has all."""

NEAR_RULE: Final = 1.03
"""A size is a rule's if it is at most this many times as large, or as small: of 30 packets, one more."""

_MOST_GROUPS: Final = 3
"""Groups whose goodput is shown, as many do not fit a line; of one alone it is how equally flows share."""

_RATED_APART: Final = 1.0
"""Difference of a call's ratings from which on a table says which buffers are worse for it, and why."""

_RARE: Final = 0.001
"""Loss that hardly moves a call's rating."""

_OCTAVES: Final = (-6, 4)
"""Sizes that are shown are at most that many halvings and doublings away from the answer."""

_ALL: Final = (-40, 40)
"""The same where nothing meets all targets: what is to be given up is chosen from all that was tried."""

_LOSSY: Final = "lossy"
"""What is said of a buffer that meets all targets and loses what hardly anybody would accept."""


def spread(advice: Advice) -> Grid | None:
    """A row for about each doubling of the buffer that the search of the answer, or of FIFO, has tried."""
    entry = advice.searched_buffer()
    if entry is None or entry.least is None:
        return None
    memory = entry.least.memory
    sizes = _octaves(memory, entry.setting, _OCTAVES if advice.choice.meets else _ALL)
    if len(sizes) < 2:
        return None
    full = filling(advice)
    groups = [each.name for each in full] if 1 < len(full) <= _MOST_GROUPS else []
    alone = [each.name for each in full if len(full) == 1 and each.flows > 1]
    calls = [
        each.name
        for each in advice.site.users
        if memory.mean(entry.setting, f"{each.name}.call_r") is not None
    ]
    asked = {each.name for each in advice.targets}
    columns = [
        *((name, QUEUE_SUMMARY[name].unit, title) for name, title in SHOWN.items()),
        *((each.name, each.metric.unit, head_of(each)) for each in unshown(advice.targets, SHOWN)),
        *((f"{name}.goodput_bps", BITS_PER_S, BITS_PER_S.label(name)) for name in groups),
        *((f"{name}.jain_index", NUMBER, f"{name}, Jain") for name in alone),
        *((f"{name}.call_r", NUMBER, f"{name}, R") for name in calls[:1] if f"{name}.call_r" not in asked),
        *((f"{name}.loss", FRACTION, f"{name}, lost %") for name in calls[:1] if f"{name}.loss" not in asked),
    ]
    rows = [
        [
            f"{size} ◂" if size == entry.setting and entry is advice.answer else f"{size}",
            significant(advice.site.buffer(size)["ms"], 3),
            str(len(memory.values(size))),
            *(_number(memory.mean(size, name), name, unit) for name, unit, _ in columns),
            _verdict(memory, size),
        ]
        for size in sizes
    ]
    heads: list[str | Column] = [
        "ms",
        "runs",
        *(title for _, _, title in columns),
        Column("targets", "left", wraps=True),
    ]
    of_flow = "; of each group the goodput of a flow" if groups else ""
    title = f"Less and more buffer with {queue_text(entry.queue)}: means of the search's runs{of_flow}"
    title += _by_rule(advice, sizes) + "".join(_turn(memory, sizes, name) for name in calls[:1])
    if any(row[-1] == _LOSSY for row in rows):
        title += f"; {_LOSSY}: met, but at least {HEAVY_LOSS * 100:g} % are lost"
    return Grid([Column("packets", "left")], heads, rows, title)


def _by_rule(advice: Advice, sizes: Sequence[int]) -> str:
    """Which of the sizes published rules give: "; by rule: 5183 is a BDP, 367 BDP/√n"."""
    texts = []
    for name, words in RULES.items():
        given = advice.site.rules.get(name, 0)
        near = min(sizes, key=lambda size: abs(size - given))
        if near / NEAR_RULE <= given <= near * NEAR_RULE:
            texts.append(f"{near} {words}")
    return f"; by rule: {', '.join(texts)}" if texts else ""


def _turn(memory: Memory, sizes: Sequence[int], call: str) -> str:
    """What buffers on either side of the best do to a call, as far as its rating shows it."""
    rated = {size: mean for size in sizes if (mean := memory.mean(size, f"{call}.call_r")) is not None}
    best = max(rated, key=lambda size: rated[size])
    lost = {size: memory.mean(size, f"{call}.loss") or 0.0 for size in rated}
    ends = {size: rated[best] - rated[size] >= _RATED_APART for size in (min(rated), max(rated))}
    sides = []
    if ends[min(rated)] and lost[min(rated)] > lost[best]:
        sides.append("smaller ones lose its packets")
    if ends[max(rated)] and lost[max(rated)] <= lost[best] + _RARE:
        sides.append("larger ones delay them")
    return f"; {call}: best with {best}, {', '.join(sides)}" if sides else ""


def unshown(targets: Sequence[Target], shown: Iterable[str]) -> list[Target]:
    """The targets whose metrics have no column yet, one of each metric."""
    known = set(shown)
    return list({each.name: each for each in targets if each.name not in known}.values())


def _verdict(memory: Memory, size: int) -> str:
    """Whether all targets are met, and that so much is lost that hardly anybody would accept it."""
    if not memory.meets_all(size):
        those = [short_text(each) for each in memory.targets if not memory.meets(size, each)]
        return f"missed: {', '.join(those)}" if len(memory.targets) > 1 else "missed"
    return _LOSSY if loses_heavily(memory.loss(size), memory.targets) else "met"


def _octaves(memory: Memory, setting: int, within: tuple[int, int]) -> list[int]:
    """The setting, and of the sizes about each doubling away from it the one that has most runs."""
    if setting not in memory.sizes:
        setting = min(memory.sizes, key=lambda size: abs(math.log(size / setting)))
    best: dict[int, int] = {0: setting}
    for size in memory.sizes:
        away = math.log2(size / setting)
        octave = round(away)
        if not within[0] <= octave <= within[1]:
            continue
        known = best.setdefault(octave, size)
        if octave and _weight(memory, size, away) > _weight(memory, known, math.log2(known / setting)):
            best[octave] = size
    return sorted(best.values())


def _weight(memory: Memory, size: int, away: float) -> tuple[int, float]:
    """What speaks for a size: its runs, and that it is near to a doubling."""
    return len(memory.values(size)), -abs(away - round(away))


def _number(mean: float | None, name: str, unit: Unit) -> str:
    return NONE if mean is None else unit.text(mean, digits=4 if name == "utilization" else 3)
