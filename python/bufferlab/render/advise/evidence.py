"""What the answer rests on: the queues that were tried, the buffers, and the scenario with other traffic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.alone import alone
from bufferlab.render.advise.buffers import SHOWN, spread, unshown
from bufferlab.render.advise.compared import missed_here
from bufferlab.render.advise.felt import fare_text, fare_title, most_text, worse_text
from bufferlab.render.advise.harm import calls, harms
from bufferlab.render.advise.today import today_name
from bufferlab.render.advise.unmet import is_hopeless
from bufferlab.render.advise.words import about_size, entry_text, queue_text
from bufferlab.render.grid import Column, Grid
from bufferlab.render.summary import NONE
from bufferlab.render.words import cell, head_of, metric_of, short_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS, NUMBER, Unit
from bufferlab.results.metrics.registry import QUEUE_SUMMARY
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.beside import Beside
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.floor import relaxed
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.shaking import LOOKS
from bufferlab.studies.choosing.order import place
from bufferlab.studies.least import Least, Verdict
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values, mean_over_runs, want_largest
from bufferlab.units import packets_text

MOST_SIZES: Final = 12
"""Sizes of a search that are shown, those nearest to what it found."""

_RUNS: Final = f"means of {LOOKS[0]} runs, of up to {LOOKS[-1]} where fewer do not tell"
"""How many runs there are of each change of the traffic."""

_LINK: Final = tuple(
    (QUEUE_SUMMARY[name].label, name, QUEUE_SUMMARY[name].unit)
    for name in ("utilization", "loss", "wait_mean_ms", "wait_p99_ms")
)

_OF_LINK: Final = {name for _, name, _ in _LINK}


def evidence(advice: Advice) -> Iterator[Grid]:
    """The tables that stand below every answer."""
    if (sizes := spread(advice)) is not None:
        yield sizes
    if len({entry.queue.name for entry in advice.entries.values()}) > 1 or any(_extra(advice)):
        yield _ranking(advice)
    if advice.sensitivity and (advice.choice.meets or not is_hopeless(advice)):
        yield _variants(advice)


def details(advice: Advice) -> Iterator[Grid]:
    """The tables for who asks for more: all that was measured of the queues and of the search."""
    if (choices := alone(advice)) is not None:
        yield choices
    yield _queues(advice)
    for entry in advice.entries.values():
        if entry.least is not None and (entry is advice.answer or entry is advice.best_fifo()):
            yield _sizes(advice, entry, entry.least)
    if advice.others:
        yield _others(advice)


def _ranking(advice: Advice) -> Grid:
    """A line for each queue and setting, the answer first: how users fare, and what the link does."""
    rivals = {each.name: each for each in advice.choice.rivals}
    shown = {name: (QUEUE_SUMMARY[name].unit, title) for name, title in SHOWN.items()}
    rated = (each.name for each in advice.site.users if _is_rated(advice, each.name))
    shown |= {f"{name}.call_r": (NUMBER, f"{name}, R") for name in itertools.islice(rated, 1)}
    rows = [
        [
            entry_text(entry),
            "" if name not in rivals else fare_text(rivals[name].behind),
            _held_text(advice, entry),
            *(_number(entry.mean(metric).mean, unit) for metric, (unit, _) in shown.items()),
            "" if name not in rivals else most_text(rivals[name], entry, advice.answer),
        ]
        for name, entry in ((name, advice.entries[name]) for name in (advice.choice.name, *rivals))
    ]
    more = list(_extra(advice))
    rows += [
        [
            title,
            fare_text(each.rival.behind),
            _verdict_text(dict.fromkeys(each.missed, "missed")) + _asked_of(advice, each),
            *(_number(each.mean(metric).mean, unit) for metric, (unit, _) in shown.items()),
            most_text(each.rival, each, advice.answer),
        ]
        for title, each in more
    ]
    heads: list[str | Column] = [
        "users fare",
        Column("targets", "left", wraps=True),
        *(head for _, head in shown.values()),
        Column("most in", "left", wraps=True),
    ]
    seeds = len(advice.answer.values)
    compared = [*advice.choice.rivals, *(each.rival for _, each in more)]
    title = f"Queues, with {seeds} common seeds{fare_title(compared, '; users fare')}"
    return _shortened(["queue"], heads, rows, title)


def _is_rated(advice: Advice, group: str) -> bool:
    return advice.answer.mean(f"{group}.call_r").mean is not None


def _extra(advice: Advice) -> Iterator[tuple[str, Beside]]:
    """What was run beside the answer and cannot be taken, with a title: what runs today, half of it."""
    if (today := advice.today) is not None:
        whose = "today" if today.default_of is None else "default"
        yield f"{whose}: {today_name(today)}", today
    if (half := advice.half) is not None:
        yield f"half: {queue_text(advice.answer.queue)}, {packets_text(half.size)}", half
    if (plain := advice.plain) is not None:
        yield f"as large: fifo, {packets_text(plain.size)}", plain
    if (absent := advice.absent) is not None:
        whose = "unasked" if absent.platform is None else "lacking"
        yield f"{whose}: {absent.queue.title}, {absent.queue.show(absent.queue.usual)}", absent


def _queues(advice: Advice) -> Grid:
    """A row for each queue and setting with all that users feel, the answer first."""
    rivals = {each.name: each for each in advice.choice.rivals}
    seeds = len(advice.answer.values)
    felt = [each for each in advice.aspects if each.metric != "wait_mean_ms"]
    more = unshown(advice.targets, _OF_LINK | {each.metric for each in felt})
    rows = []
    for name in (advice.choice.name, *rivals):
        entry, rival = advice.entries[name], rivals.get(name)
        fare = "" if rival is None else fare_text(rival.behind)
        worse = "" if rival is None else worse_text(rival)
        size = advice.site.buffer(entry.packets)
        rows.append(
            [
                entry.queue.label,
                entry.queue.show(entry.setting),
                _held_text(advice, entry),
                fare,
                worse,
                str(entry.packets),
                significant(size["ms"], 3),
                *(cell(entry.mean(metric), unit) for _, metric, unit in _LINK),
                *(cell(entry.mean(each.metric), metric_of(each.metric).unit) for each in felt),
                *(cell(entry.mean(each.name), each.metric.unit) for each in more),
            ]
        )
    heads: list[str | Column] = [
        Column("targets", "left", wraps=True),
        "users fare",
        Column("worse in", "left"),
        "packets",
        "ms",
        *(title for title, _, _ in _LINK),
        *(metric_of(each.metric).unit.label(each.title) for each in felt),
        *map(head_of, more),
    ]
    title = f"All that was measured of the queues, with {seeds} common seeds"
    if advice.answer.runs != advice.answer.values:
        title += (
            f" (the box has the {len(advice.answer.runs)} runs that checked its targets, with other seeds)"
        )
    if rivals:
        title += fare_title(advice.choice.rivals, "; users fare")
    return _shortened(["queue", "setting"], heads, rows, title)


def _held_text(advice: Advice, entry: Entry) -> str:
    """What is known of a queue's targets; if less use is asked of some, of how much: "met (90 % used)"."""
    known = _verdict_text(advice.verdicts(entry))
    if known != "met":
        return known
    more = [*_eased(advice, entry)]
    if missed_here(entry):  # its row has the means of other runs
        more.append(f"by {len(entry.runs)} runs")
    return f"{known} ({', '.join(more)})" if more else known


def _eased(advice: Advice, entry: Entry) -> Iterator[str]:
    """How much use is asked of a queue, where less is asked of some."""
    floor = advice.needs.floor
    if floor is None:
        return
    at = advice.targets.index(floor)
    bounds = {each.checks[at].target.bound for each in advice.entries.values()}
    if len(bounds) > 1 or advice.today is not None:
        yield f"{floor.show(entry.checks[at].target.bound)} used"


def _asked_of(advice: Advice, found: Beside) -> str:
    """How much use of the link is asked of what runs today, where nobody asked for any; else nothing."""
    floor = advice.needs.floor
    if floor is None or found.missed or found is not advice.today:
        return ""
    (usual,) = relaxed([floor], floor)
    return f" ({usual.show(usual.bound)} used)"


def _verdict_text(verdicts: Mapping[Target, Verdict]) -> str:
    """What is known of the targets, the worst first: "missed: loss"."""
    for worst in ("missed", "not proven"):
        those = [short_text(target) for target, verdict in verdicts.items() if verdict == worst]
        if those:
            return f"{worst}: {', '.join(those)}"
    return "met"


def _sizes(advice: Advice, entry: Entry, found: Least) -> Grid:
    """A row for each setting that the search of a queue has tried, near what it found."""
    memory, is_limit = found.memory, entry.queue.knob == "limit"
    nearest = sorted(memory.sizes, key=lambda size: max(size, entry.setting) / min(size, entry.setting))
    sizes = sorted(nearest[:MOST_SIZES])
    others = unshown(advice.targets, _OF_LINK)
    rows = []
    for size in sizes:
        values = memory.values(size)
        names = [*(metric for _, metric, _ in _LINK), *(each.name for each in others)]
        means = {name: mean_over_runs(name, values).mean for name in names}
        setting = (
            [str(size), _number(advice.site.buffer(size)["ms"], MILLISECONDS)]
            if is_limit
            else [f"{entry.queue.target_us(size) / 1e3:g}"]
        )
        chosen = size == entry.setting
        known = _overall(advice.verdicts(entry)) if chosen else _of_size(memory, size, found, advice)
        numbers = [*_of_link(means), *_of_targets(means, others)]
        rows.append([*setting, str(len(values)), f"{known} ◂" if chosen else known, *numbers])
    first, more = ("packets", ["ms"]) if is_limit else ("target, ms", [])
    heads: list[str | Column] = [
        *more,
        "runs",
        Column("targets", "left"),
        *(title for title, _, _ in _LINK),
        *map(head_of, others),
    ]
    near = f", the {len(sizes)} nearest of {len(memory.sizes)}" if len(sizes) < len(memory.sizes) else ""
    title = f"{'Buffers' if is_limit else 'Targets'} of {queue_text(entry.queue)}{near}"
    return Grid([Column(first)], heads, rows, title)


def _of_size(memory: Memory, size: int, found: Least, advice: Advice) -> str:
    """What a size's own runs say; those of the search steer it, and confirm nothing."""
    known = memory.verdict(size, advice.confidence)
    if found.size is None or known != "met":
        return known
    is_better = size > found.size if want_largest(advice.targets) else size < found.size
    return "met, not confirmed" if is_better else known


def _variants(advice: Advice) -> Grid:
    """A row for each change of the scenario."""
    queue = advice.answer.queue
    rows = []
    for each in advice.sensitivity:
        known, *numbers = _changed(advice, each)
        least = NONE if each.least is None else _least(queue, each.least.size)
        rows.append([each.brief, *numbers, least, known])
    end = "most" if want_largest(advice.targets) else "least"
    least = f"{end} packets, about" if queue.knob == "limit" else f"{end} target, ms, about"
    heads = [*_heads_of_changed(advice), least, Column("targets", "left", wraps=True)]
    title = f"What if: {entry_text(advice.answer)}, with other traffic; {_RUNS}"
    return _shortened([Column("change", "left", wraps=True)], heads, rows, title)


def _least(queue: Queue, size: int | None) -> str:
    if size is None:
        return "none found"
    return str(about_size(size)) if queue.knob == "limit" else f"{queue.target_us(size) / 1e3:g}"


def _others(advice: Advice) -> Grid:
    """A section for each equal queue that was tried in the same changes."""
    heads = [*_heads_of_changed(advice), Column("targets", "left", wraps=True)]
    rows: list[list[str]] = []
    for name, shaken in sorted(advice.others.items(), key=lambda item: place(item[0])):
        rows.append([entry_text(advice.entries[name])])
        for each in shaken.changed:
            known, *numbers = _changed(advice, each)
            rows.append([each.title, *numbers, known])
    title = f"What if: queues that are equal here, with other traffic; {_RUNS}"
    return Grid([Column("change", "left", wraps=True)], heads, rows, title)


def _heads_of_changed(advice: Advice) -> list[str | Column]:
    of_calls = [f"{name}, R" for name in [*calls(advice)][:1]]
    return [*SHOWN.values(), *map(head_of, unshown(advice.targets, SHOWN)), *of_calls]


def _changed(advice: Advice, each: Sensitivity) -> list[str]:
    """Which targets are missed in a change, and what the link and those about groups measured there."""
    missed = ", ".join(map(short_text, each.missed))
    numbers = [_number(each.values.get(name), QUEUE_SUMMARY[name].unit) for name in SHOWN]
    numbers += _of_targets(each.values, unshown(advice.targets, SHOWN))
    numbers += [_number(each.values.get(f"{name}.call_r"), NUMBER) for name in [*calls(advice)][:1]]
    known = "perhaps missed" if each.is_unsure else "missed"
    spoilt = [row for row, _ in harms(advice, each)]
    return [f"{known}: {missed}" if missed else ", ".join(["met", *spoilt]), *numbers]


def _overall(verdicts: Mapping[Target, Verdict]) -> Verdict:
    """What is known of all targets together."""
    found = set(verdicts.values())
    return "missed" if "missed" in found else "not proven" if "not proven" in found else "met"


def _shortened(
    labels: Sequence[str | Column], heads: Sequence[str | Column], rows: Sequence[list[str]], title: str
) -> Grid:
    """A grid without its columns in which nothing stands."""
    filled = [at for at in range(len(heads)) if any(row[len(labels) + at] not in {"", NONE} for row in rows)]
    kept = [[*row[: len(labels)], *(row[len(labels) + at] for at in filled)] for row in rows]
    return Grid(labels, [heads[at] for at in filled], kept, title)


def _of_targets(means: Values, targets: Sequence[Target]) -> list[str]:
    return [_number(means.get(each.name), each.metric.unit) for each in targets]


def _of_link(means: Values) -> list[str]:
    return [_number(means.get(metric), unit) for _, metric, unit in _LINK]


def _number(value: float | None, unit: Unit) -> str:
    return NONE if value is None else unit.text(value, digits=4 if unit is FRACTION else 3)
