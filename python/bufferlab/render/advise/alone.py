"""Where targets contradict: what each of them comes to alone, as a table to choose from."""

from __future__ import annotations

from collections.abc import Sequence

from bufferlab.display import significant
from bufferlab.render.advise.words import queue_text
from bufferlab.render.grid import Grid
from bufferlab.render.words import cell, title_text
from bufferlab.results.metrics.registry import QUEUE_SUMMARY
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.least.lacking import runs_lack
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values, mean_over_runs

_SHOWN = ("utilization", "loss", "wait_mean_ms", "wait_p99_ms")


def alone(advice: Advice) -> Grid | None:
    """A row for each target: the buffer of a queue that meets it and lacks least of the others."""
    entry = next((each for each in advice.entries.values() if _is_searched(each)), None)
    if advice.choice.meets or len(advice.targets) < 2 or entry is None or entry.least is None:
        return None
    memory = entry.least.memory
    rows = [_row(advice, entry, target, memory) for target in memory.targets]
    title = f"If only one target counts, with {queue_text(entry.queue)}: means of the runs of the search"
    heads = ["packets", "ms", *(QUEUE_SUMMARY[name].label for name in _SHOWN)]
    others = [each for each in memory.targets if each.name not in _SHOWN]
    heads += [each.metric.unit.label(title_text(each)) for each in others]
    return Grid(["only"], heads, rows, title)


def _is_searched(entry: Entry) -> bool:
    return entry.queue.knob == "limit" and entry.least is not None and entry.least.size is None


def _row(advice: Advice, entry: Entry, target: Target, memory: Memory) -> list[str]:
    others = [each for each in memory.targets if each != target]
    known = {each.target: each for each in advice.beyond.get(entry.queue.name, ())}
    fit = [size for size in memory.sizes if memory.meets(size, target)]
    label = str(target)
    if fit:
        size = min(fit, key=lambda each: runs_lack(memory.values(each), others))
        return [label, *_cells(advice, size, memory.values(size), memory.targets)]
    larger = known.get(target)
    if larger is not None and larger.is_met:
        return [label, *_cells(advice, larger.size, larger.values, memory.targets)]
    most = memory.sizes[-1] if larger is None else larger.size
    values = memory.values(most) if larger is None else larger.values
    return [label, f"none up to {most}", *_cells(advice, most, values, memory.targets)[1:]]


def _cells(advice: Advice, size: int, values: Sequence[Values], targets: Sequence[Target]) -> list[str]:
    metrics = [(name, QUEUE_SUMMARY[name].unit) for name in _SHOWN]
    metrics += [(each.name, each.metric.unit) for each in targets if each.name not in _SHOWN]
    drain = significant(advice.site.buffer(size)["ms"], 3)
    return [
        f"{size}",
        drain,
        *(cell(mean_over_runs(name, values), unit) for name, unit in metrics),
    ]
