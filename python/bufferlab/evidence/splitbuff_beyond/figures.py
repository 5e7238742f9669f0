"""The pictures: fairness against wait, bars of results, lines over the number of sub-buffers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import COLORS, MARKERS, Drawing, line_style, new_figure, new_figure_row

_HATCHES: Final = ("", "///", "xxx", "...", "\\\\\\", "ooo")
_BAR_ROOM: Final = 0.85

_DISORDER: Final = (
    ("reordered_percent", "reordered data packets (%)"),
    ("spurious_percent", "spurious retransmissions (%)"),
    ("fairness", "Jain's fairness index of the flows"),
)


def draw_unequal(work: Work) -> Figure:
    """Fairness against wait: a panel a mix, a marker a queue."""
    return _fairness(work.points, "mix")


def draw_classes(work: Work) -> Figure:
    """Fairness and wait over the number of sub-buffers."""
    return _lines(work.points, "law", "kind", "sub_buffers")


def draw_sources(work: Work) -> Figure:
    """Fairness and waits by source of round-trip times."""
    return _bars(work.points, "source")


def draw_threshold(work: Work) -> Figure:
    """Reordering, spurious retransmissions and fairness by set of flows."""
    return _bars(work.points, "flows", panels=_DISORDER)


def draw_traffic(work: Work) -> Figure:
    """Fairness and waits by kind of traffic."""
    return _bars(work.points, "traffic")


def _fairness(points: pl.DataFrame, panel: str, series: str = "queue") -> Figure:
    """Panels beside each other: Jain's index against the mean wait, error bars of 95 % over the seeds.

    Args:
        points: One row a case with `fairness` and `wait_ms`.
        panel: Column that tells the panels apart.
        series: Column that tells the markers apart.
    """
    titles = points[panel].unique(maintain_order=True).to_list()
    names = points[series].unique(maintain_order=True).to_list()
    figure, panels = new_figure_row(len(titles))
    for axes, title in zip(panels, titles, strict=True):
        for index, name in enumerate(names):
            own = points.filter(pl.col(panel) == title, pl.col(series) == name)
            if own.is_empty():
                continue
            row = own.row(0, named=True)
            axes.errorbar(
                row["wait_ms"],
                row["fairness"],
                xerr=row["wait_ms_ci95"] or 0,
                yerr=row["fairness_ci95"] or 0,
                color=COLORS[index % len(COLORS)],
                marker=MARKERS[index % len(MARKERS)],
                linestyle="none",
                capsize=2,
                label=str(name),
            )
        axes.set_title(str(title), loc="left")
        axes.set_xlabel("mean wait of all packets (ms)")
        axes.set_xlim(left=0)
        axes.set_ylim(0, 1.03)
    panels[0].set_ylabel("Jain's fairness index of the flows")
    panels[-1].legend(fontsize="small", frameon=False)
    return figure


_PANELS: Final = (
    ("fairness", "Jain's fairness index of the flows"),
    ("wait_short_ms", "short flows' mean wait (ms)"),
    ("wait_long_ms", "long flows' mean wait (ms)"),
)


def _bars(
    points: pl.DataFrame, place: str, series: str = "queue", panels: Sequence[tuple[str, str]] = _PANELS
) -> Figure:
    """Panels below each other, a column and its label each: a group of bars a place, a bar a series."""
    places = points[place].unique(maintain_order=True).to_list()
    names = points[series].unique(maintain_order=True).to_list()
    figure, rows = new_figure(len(panels))
    width = _BAR_ROOM / len(names)
    for axes, (column, label) in zip(rows, panels, strict=True):
        for index, name in enumerate(names):
            own = {row[place]: row for row in points.filter(pl.col(series) == name).iter_rows(named=True)}
            at = [where for where, title in enumerate(places) if title in own]
            shown = [own[places[where]] for where in at]
            axes.bar(
                np.array(at) + (index - (len(names) - 1) / 2) * width,
                [row[column] or 0.0 for row in shown],
                width,
                yerr=[row[f"{column}_ci95"] or 0.0 for row in shown],
                color=COLORS[index % len(COLORS)],
                hatch=_HATCHES[index % len(_HATCHES)],
                edgecolor="black",
                linewidth=0.4,
                error_kw={"linewidth": 0.7},
                label=str(name),
            )
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0)
        axes.grid(visible=False, axis="x")
        axes.set_xticks(range(len(places)), [str(title) for title in places], rotation=20, ha="right")
    rows[0].legend(
        fontsize="x-small", frameon=False, ncols=len(names), loc="lower center", bbox_to_anchor=(0.5, 1)
    )
    return figure


def _lines(points: pl.DataFrame, panel: str, series: str, place: str) -> Figure:
    """Two rows of panels: fairness and mean wait against a number, a line a series."""
    titles = points[panel].unique(maintain_order=True).to_list()
    names = points[series].unique(maintain_order=True).to_list()
    figure = Drawing(figsize=(3.4 * len(titles), 5.6), layout="constrained")
    rows = figure.subplots(2, len(titles), sharex=True, sharey="row", squeeze=False)
    for at, title in enumerate(titles):
        for index, name in enumerate(names):
            own = points.filter(pl.col(panel) == title, pl.col(series) == name).sort(place)
            for axes, column in zip(rows[:, at], ("fairness", "wait_ms"), strict=True):
                values = own[column].to_numpy()
                if own.height == 1:
                    axes.axhline(values[0], **line_style(index), label=str(name))
                else:
                    axes.plot(own[place].to_numpy(), values, **line_style(index), marker=".", label=str(name))
        rows[0, at].set_title(str(title), loc="left")
        rows[0, at].set_ylim(0, 1.03)
        rows[1, at].set_xlabel(place.replace("_", "-"))
    rows[0, 0].set_ylabel("Jain's fairness index of the flows")
    rows[1, 0].set_ylabel("mean wait of all packets (ms)")
    rows[1, 0].set_ylim(0, 1.05 * float(points["wait_ms"].to_numpy().max()))
    figure.legend(
        *rows[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(names), frameon=False
    )
    return figure
