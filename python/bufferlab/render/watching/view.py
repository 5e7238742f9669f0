"""A watched run on a terminal: one line per quantity, with its course over the last two minutes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from bufferlab.display import significant
from bufferlab.render.watching.readings import MOST_LINKS, SPAN_S, Reading, Watch
from bufferlab.results.metrics.metric import Metric
from bufferlab.results.metrics.samples import FLOW_SAMPLES, QUEUE_SAMPLES

BARS: Final = "▁▂▃▄▅▆▇█"
"""Eighths of a line's height, from 0 to the largest value shown."""

_NONE: Final = " "
_LABELS_WIDTH: Final = 51
_LEAST_BARS: Final = 8
_MOST_BARS: Final = 100


_BACKLOG: Final = QUEUE_SAMPLES["backlog_packets"]
_THROUGHPUT: Final = QUEUE_SAMPLES["throughput_bps"]
_CWND: Final = FLOW_SAMPLES["cwnd_segments"]
_RTT: Final = FLOW_SAMPLES["srtt_ms"]
_GOODPUT: Final = FLOW_SAMPLES["goodput_bps"]

_Line = tuple[str, str, list[float | None], str]
"""Whose, which quantity, its values and their unit."""


class WatchView:
    """Draws a `Watch` as it is; rich calls it for every frame."""

    def __init__(self, watch: Watch, title: str) -> None:
        self._watch = watch
        self._title = title

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        readings = list(self._watch.readings)
        yield Text(self._headline(readings), style="bold", overflow="ellipsis", no_wrap=True)
        if not readings:
            return
        bars = min(max(options.max_width - _LABELS_WIDTH, _LEAST_BARS), _MOST_BARS)
        table = Table(box=None, pad_edge=False, show_header=False)
        for justify in ("left", "left", "left", "right", "left"):
            table.add_column(justify=justify, no_wrap=True)
        for name, quantity, values, unit in self._lines(readings):
            course = sparkline(_columns(values, readings, bars, self._watch.duration_s))
            latest = next((value for value in reversed(values) if value is not None), None)
            shown = "" if latest is None else significant(latest, 3)
            table.add_row(Text(name), quantity, Text(course, style="cyan"), shown, unit)
        yield table
        if left_out := self._left_out():
            yield Text(left_out, style="dim")

    def _headline(self, readings: Sequence[Reading]) -> str:
        time_s = readings[-1].time_s if readings else 0.0
        elapsed_s = self._watch.elapsed_s
        speed = f", {significant(time_s / elapsed_s, 2)} times real time" if elapsed_s > 0 and time_s else ""
        return f"{self._title}: {time_s:.1f} of {self._watch.duration_s:g} s{speed}"

    def _lines(self, readings: Sequence[Reading]) -> Iterator[_Line]:
        for index, link in enumerate(self._watch.resolved["links"][:MOST_LINKS]):
            of_link = [reading.links[index] for reading in readings]
            yield _line(link["name"], _BACKLOG, [one.backlog_packets for one in of_link])
            yield _line("", _THROUGHPUT, [one.rate_bps for one in of_link])
        for index, group in enumerate(self._watch.groups):
            of_group = [reading.groups[index] for reading in readings]
            several = len(group.flows) > 1
            count = (
                len(group.flows)
                if len(group.flows) == group.count
                else f"{len(group.flows)} of {group.count}"
            )
            yield _line(f"{group.name} ({count})", _CWND, [one.cwnd_segments for one in of_group])
            yield _line("", _RTT, [one.rtt_ms for one in of_group])
            yield _line("", _GOODPUT, [one.goodput_bps for one in of_group], " in all" * several)

    def _left_out(self) -> str:
        links = len(self._watch.resolved["links"]) - MOST_LINKS
        groups = len(self._watch.resolved["flows"]) - len(self._watch.groups)
        left = ((links, "more links"), (groups, "groups of other flows"))
        parts = [f"{count} {what}" for count, what in left if count > 0]
        return f"and {', '.join(parts)}" if parts else ""


def _line(name: str, metric: Metric, values: Sequence[float | None], more: str = "") -> _Line:
    shown = [None if value is None else metric.unit.scaled(value) for value in values]
    return name, metric.short or metric.title, shown, metric.unit.shown + more


def sparkline(values: Sequence[float | None]) -> str:
    """Values as bars, the largest as high as the line; a blank where there is none.

    >>> sparkline([0.0, 4.0, None, 8.0])
    '▁▄ █'
    """
    largest = max((value for value in values if value is not None), default=0.0)
    return "".join(_NONE if value is None else _bar(value, largest) for value in values)


def _bar(value: float, largest: float) -> str:
    if largest <= 0:
        return BARS[0]
    return BARS[min(int(value / largest * len(BARS)), len(BARS) - 1)]


def _columns(
    values: Sequence[float | None], readings: Sequence[Reading], columns: int, duration_s: float
) -> list[float | None]:
    """Means of the values by columns of equal times, the last at the right."""
    column_s = min(SPAN_S, duration_s) / columns
    sums, counts = [0.0] * columns, [0] * columns
    end_s = readings[-1].time_s
    for value, reading in zip(values, readings, strict=True):
        place = columns - 1 - int((end_s - reading.time_s) / column_s)
        if value is not None and place >= 0:
            sums[place] += value
            counts[place] += 1
    return [total / count if count else None for total, count in zip(sums, counts, strict=True)]
