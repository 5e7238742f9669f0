"""The answer beside what runs today, half of its buffer and other queues: numbers in columns."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

from bufferlab.render.advise.beware import loses_much
from bufferlab.render.advise.buffers import SHOWN, unshown
from bufferlab.render.advise.felt import FEW_FINISH, better_but_missed
from bufferlab.render.advise.today import today_name
from bufferlab.render.framed import WITHIN, Line
from bufferlab.render.summary import NONE
from bufferlab.render.words import metric_of, short_text
from bufferlab.results.metrics.metric import BRIEF_SECONDS, FRACTION, MILLISECONDS, SECONDS, Unit
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.staying import Measured, is_answer, stays
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.targets import Target
from bufferlab.units import packets_text

TURN: Final[tuple[Kind, ...]] = ("calls", "pages", "video", "latency", "transfers", "throughput", "fairness")
"""What users feel, in the order of the columns: the last ones fall off where there is no room."""

_GAP: Final = 2

_ROOM: Final = WITHIN - len("runner-up ")
"""Characters of a line beside the labels, on a usual terminal."""

_WITH_HEAD: Final = 2
"""Place of the rows without which there is no comparison."""

_UNMIXED: Final = 4
"""Place of the rows of one control alone: what the first lines say of it stays."""

_MISSES: Final = "*"
"""Behind what misses a target."""


@dataclass(frozen=True)
class Compared:
    """A row: the answer, or what is beside it.

    Attributes:
        label: What it is: "today".
        name: The queue and its setting in few words: "fifo, 64 packets".
        measured: What its runs gave, with the seeds that all rows have; `None` of what stands above rows.
        missed: The targets that it misses.
        place: Which gives way first where there is no room, the highest; those with the same go together.
        unlike: Groups of flows that have another control there, of which no column is filled.
    """

    label: str
    name: str
    measured: Measured | None
    missed: Sequence[Target] = ()
    place: int = _WITH_HEAD
    unlike: AbstractSet[str] = frozenset()


class Column(NamedTuple):
    """A column: its head, its unit as it is shown, and a metric with the unit and digits of its numbers."""

    head: str
    shown: str
    metric: str
    unit: Unit
    digits: int = 3


_LATE: Final = Column("p99", MILLISECONDS.shown, "wait_p99_ms", MILLISECONDS)
"""Behind the mean wait, where there is room for all columns, or today's is shorter."""

_BEHIND_WAIT: Final = 3


def comparison(advice: Advice) -> Iterator[Line]:
    """Lines of a box: a head, the answer, and what is beside it; none where nothing is."""
    rows = list(beside(advice))
    if len(rows) < 2:
        return
    columns, seeds = list(_columns(advice)), len(advice.answer.values)
    more = [*columns[:_BEHIND_WAIT], _LATE, *columns[_BEHIND_WAIT:]]
    plain, wider = (_table(rows, each, seeds) for each in (columns, more))
    is_shown = _LATE.metric in {each.metric for each in columns}
    has_room = _is_within(wider) and len(wider) == len(plain)
    if not is_shown and (has_room or _waits_later(advice)):
        columns = more
    yield from in_columns(rows, columns, seeds)


def _waits_later(advice: Advice) -> bool:
    """Whether few packets wait longer with the answer than today, which a shorter mean hides."""
    if advice.today is None:
        return False
    now, then = (each.mean(_LATE.metric).mean for each in (advice.today, advice.answer))
    return now is not None and then is not None and then > now


def in_columns(rows: Sequence[Compared], columns: Sequence[Column], seeds: int) -> Iterator[Line]:
    """Lines of a box: a head, and a row for each.

    Args:
        rows: What is compared.
        columns: What is shown of it.
        seeds: How many runs each has.
    """
    table = _table(rows, columns, seeds)
    widths = _widths(table)
    ends = [sum(widths[: at + 1]) + _GAP * at for at in range(len(widths))]
    above = [Compared("", "", None, place=min(each.place for each in rows))] * (len(table) - len(rows))
    for (first, *cells), row in zip(table, (*above, *rows), strict=True):
        text = (" " * _GAP).join([f"{first:<{widths[0]}}", *map(str.rjust, cells, widths[1:])])
        own = ends if cells else [len(text)]  # what stands above rows goes across them
        yield Line(row.label, text, ends=own, shorter=[(row.place, "")], is_elsewhere=True)


def _table(rows: Sequence[Compared], columns: Sequence[Column], seeds: int) -> list[list[str]]:
    """The cells below their heads, with the units below those where there is no room beside them."""
    is_missed = any(each.missed for each in rows)
    title = f"{seeds} runs; {_MISSES} misses" if is_missed else f"means of {seeds} runs"
    cells = [[each.name] if each.measured is None else _cells(each, each.measured, columns) for each in rows]
    together = [[title, *(f"{each.head} {each.shown}".rstrip() for each in columns)], *cells]
    if _is_within(together):
        return together
    return [[title, *(each.head for each in columns)], ["", *(each.shown for each in columns)], *cells]


def _is_within(table: Sequence[Sequence[str]]) -> bool:
    widths = _widths(table)
    return sum(widths) + _GAP * (len(widths) - 1) <= _ROOM


def _widths(table: Sequence[Sequence[str]]) -> list[int]:
    """The widths of the columns; what stands above rows goes across them."""
    return [max(map(len, cells)) for cells in zip(*(row for row in table if len(row) > 1), strict=True)]


def beside(advice: Advice) -> Iterator[Compared]:
    """The rows: the answer first, then what runs today, unless that is kept, half of it, other queues."""
    is_kept = stays(advice)
    answer = Compared(
        ("change" if advice.choice.meets else "closest") if is_kept else "answer",
        brief_name(advice.answer),
        advice.answer,
        _missed(advice.answer),
    )
    if not is_kept:
        yield answer
    if (today := advice.today) is not None and not is_answer(advice, today):
        label = "today" if today.default_of is None else "default"
        yield Compared(label, today_name(today), today, today.missed)
    if is_kept:
        yield answer
    if (half := advice.half) is not None:
        name = f"{advice.answer.queue.label}, {packets_text(half.size)}"
        yield Compared("half", name, half, half.missed, 11 if advice.plain is None else 7)
    yield from _other_queues(advice)
    if (absent := advice.absent) is not None:
        label = "unasked" if absent.platform is None else "lacking"
        setting = absent.queue.show(absent.queue.usual).removeprefix("target ")
        yield Compared(label, f"{absent.queue.label}, {setting}", absent, absent.missed, 12)
    yield from _without_mix(advice)


def _without_mix(advice: Advice) -> Iterator[Compared]:
    """The answer, today's and about the least buffer where one control of the mix is alone."""
    found, answer = advice.unmixed, advice.answer
    if found is None:
        return
    there = functools.partial(Compared, place=_UNMIXED, unlike=found.changed)
    yield there("", f"with {found.title}, {len(found.values)} runs:", None)
    yield there(" answer", brief_name(answer), found, found.missed)
    if found.today is not None and not (advice.today is not None and is_answer(advice, advice.today)):
        label = " today" if found.today.default_of is None else " default"
        yield there(label, today_name(found.today), found.today, found.today.missed)
    if (least := found.least) is not None:
        name = f"{answer.queue.label}, {packets_text(least.size)}"
        yield there(" rule" if found.is_rule else " least", name, least, least.missed)


def _other_queues(advice: Advice) -> Iterator[Compared]:
    """The runner-up, and the FIFO that many routers have: beside LLQ the one that is as large."""
    fifo, second = advice.best_fifo(), runner_up(advice)
    plain = advice.plain
    if plain is not None and not _is_today(advice, plain.size):
        yield Compared("as large", f"fifo, {packets_text(plain.size)}", plain, plain.missed, 7)
    best = better_but_missed(advice) if loses_much(advice) else None
    if best is not None and second is not None and best.name == second.name:
        second = None
    if best is not None:
        entry = advice.entries[best.name]
        yield Compared("best", brief_name(entry), entry, best.missed or missed_here(entry))
    if second is not None:
        entry = advice.entries[second.name]
        missed = second.missed or missed_here(entry)
        yield Compared("runner-up", brief_name(entry), entry, missed, 5 if plain else _WITH_HEAD)
    if fifo is not None and fifo is not advice.answer and (second is None or fifo.name != second.name):
        yield Compared("plain", brief_name(fifo), fifo, _missed(fifo) or missed_here(fifo), 3 if plain else 7)


def _is_today(advice: Advice, packets: int) -> bool:
    """Whether a FIFO of a size is what runs today, which has a row."""
    today = advice.today
    return today is not None and not today.is_shaped and (today.queue, today.packets) == ("fifo", packets)


def runner_up(advice: Advice) -> Rival | None:
    """The best of the other queues; `None` if none was tried."""
    own, fifo = advice.answer.queue, advice.best_fifo()
    passed = own if advice.plain is None or fifo is None else fifo.queue  # a FIFO as large says more
    others = (each for each in advice.choice.rivals if advice.entries[each.name].queue not in (own, passed))
    return next(others, None)


def brief_name(entry: Entry) -> str:
    """A queue and its setting, without what a table has room for: "fq_codel, 5 ms"."""
    setting = entry.queue.show(entry.setting).removeprefix("target ")
    return f"{entry.queue.kind if entry.queue.is_own else entry.queue.label}, {setting}"


def _missed(entry: Entry) -> list[Target]:
    return [each.target for each in entry.checks if not each.met]


def missed_here(entry: Entry) -> list[Target]:
    """What the runs that are shown miss in the mean, whatever those say that checked the setting."""
    targets = [each.target for each in entry.checks]
    return [each for each in targets if each.margin(entry.mean(each.name).mean) < 0]


def _columns(advice: Advice) -> Iterator[Column]:
    """What the link does, what targets ask for, and what users feel."""
    yield Column("used", FRACTION.shown, "utilization", FRACTION, 4)
    yield Column("lost", FRACTION.shown, "loss", FRACTION)
    yield Column("wait", MILLISECONDS.shown, "wait_mean_ms", MILLISECONDS)
    felt = sorted(
        (each for each in advice.aspects if each.metric not in SHOWN and _is_shown(each, advice.aspects)),
        key=lambda each: TURN.index(each.kind),
    )
    for target in unshown(advice.targets, (*SHOWN, *(each.metric for each in felt))):
        unit = target.metric.unit
        yield Column(short_text(target).removeprefix("wait: "), unit.shown, target.name, unit)
    for each in felt:
        yield felt_column(advice, each)


def _is_shown(aspect: Aspect, all_of_them: Sequence[Aspect]) -> bool:
    """Of calls their rating tells of losses; how evenly flows share is shown where that is all there is."""
    group, _, name = aspect.metric.rpartition(".")
    others = {each.metric for each in all_of_them}
    if name == "loss":
        return f"{group}.call_r" not in others
    groups = {each.metric.rpartition(".")[0] for each in all_of_them if each.kind == "throughput"}
    return name != "jain_index" or len(groups) <= 1


_SHORT: Final = {
    "call_r": "R",
    "jain_index": "Jain",
    "stalls": "stalled %",
    "frames_late": "late %",
    "frame_p95_ms": "p95 ms",
}
"""What stands below a group's name where its unit would not say what it is."""


def felt_column(advice: Advice, aspect: Aspect) -> Column:
    """A column for what users feel."""
    group, _, name = aspect.metric.rpartition(".")
    unit = metric_of(aspect.metric).unit
    known = advice.answer.mean(aspect.metric).mean
    if unit is SECONDS and known is not None and known < 1:
        unit = BRIEF_SECONDS
    return Column(group or "all", _SHORT.get(name, unit.shown), aspect.metric, unit)


def _cells(row: Compared, measured: Measured, columns: Sequence[Column]) -> list[str]:
    name = f"{row.name}{_MISSES if row.missed else ''}"
    return [name, *(_number(measured, each, row.unlike) for each in columns)]


def _number(measured: Measured, column: Column, unlike: AbstractSet[str]) -> str:
    if column.metric.rpartition(".")[0] in unlike:
        return NONE
    mean = measured.mean(column.metric).mean
    if mean is None and column.unit in {SECONDS, BRIEF_SECONDS}:  # of what ends within a run
        return FEW_FINISH
    return NONE if mean is None else column.unit.text(mean, digits=column.digits)
