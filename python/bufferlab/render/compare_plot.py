"""The picture of a comparison: fairness against wait, and the waits of each flow group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.display import as_figure
from bufferlab.render.plots.style import COLORS, new_figure_row
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.compare.advice import UTILIZATION_SLACK, is_busy
from bufferlab.studies.compare.comparison import Comparison

_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")
_GRAYS: Final = (
    ("0.25", ""),
    ("0.8", "///"),
    ("0.55", ""),
    ("0.95", "xxx"),
    ("0.4", "..."),
    ("0.7", "\\\\\\"),
)
_WAIT: Final = STORED["wait_mean_ms"]
_LATE: Final = STORED["wait_p95_ms"]
_BAR_ROOM: Final = 0.8


@as_figure.register
def draw(comparison: Comparison) -> Figure:
    """Draw the two panels, error bars of 95 % over the seeds."""
    figure, (fairness, waits) = new_figure_row(2)
    _draw_fairness(fairness, comparison.rows)
    _draw_waits(waits, comparison.rows)
    several = len(comparison.seeds) > 1
    note = f", means of {len(comparison.seeds)} seeds, bars: 95 % confidence" if several else ""
    figure.suptitle(f"{comparison.name}: queue of {comparison.link}{note}", fontsize="medium")
    return figure


def _draw_fairness(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    shown = [row for row in rows if row["wait_mean_ms"] is not None and row["jain_index"] is not None]
    best = max((row["utilization"] for row in shown), default=0.0)
    for index, row in enumerate(rows):
        if row not in shown:
            continue
        color = COLORS[index % len(COLORS)]
        axes.errorbar(
            row["wait_mean_ms"],
            row["jain_index"],
            xerr=row["wait_mean_ms_ci95"] or 0,
            yerr=row["jain_index_ci95"] or 0,
            color=color,
            marker=_MARKERS[index % len(_MARKERS)],
            markerfacecolor=color if is_busy(row["utilization"], best) else "white",
            markersize=6,
            linestyle="none",
            linewidth=1,
            capsize=2,
            label=row["queue"],
        )
    used = STORED["utilization"]
    slack = f"hollow: {used.title} over {used.unit.quantity(UTILIZATION_SLACK)} below the best"
    axes.set_xlabel(f"{_WAIT.unit.axis(f'{_WAIT.words} of all packets')}\n{slack}")
    axes.set_ylabel(STORED["jain_index"].unit.axis(f"{STORED['jain_index'].title} of the flows"))
    axes.set_xlim(left=0)
    low = min((row["jain_index"] for row in shown), default=0.0)
    axes.set_ylim(max(0.0, low - 0.1), 1.02)
    axes.legend(fontsize="small", frameon=False)


def _draw_waits(axes: Axes, rows: Sequence[dict[str, Any]]) -> None:
    """Bars for each queue, one per group; with more groups than shades, those of all packets."""
    names = [group["group"] for group in rows[0]["groups"]]
    by_group = {name: [row["groups"][at] for row in rows] for at, name in enumerate(names)}
    series = by_group if 1 <= len(names) <= len(_GRAYS) else {"all": list(rows)}
    width = _BAR_ROOM / len(series)
    places = np.arange(len(rows))
    for at, (name, cells) in enumerate(series.items()):
        color, hatch = _GRAYS[at]
        means = [_number(cell["wait_mean_ms"]) for cell in cells]
        spread = [_number(cell["wait_mean_ms_ci95"]) for cell in cells]
        place = places + (at - (len(series) - 1) / 2) * width
        axes.bar(
            place, means, width, yerr=spread, color=color, hatch=hatch, edgecolor="black", linewidth=0.5,
            capsize=2, error_kw={"linewidth": 0.8}, label=name,
        )  # fmt: skip
        p95 = [_number(cell[_LATE.name]) for cell in cells]
        label = _LATE.statistic if at == len(series) - 1 else None
        axes.plot(place, p95, color=COLORS[1], marker="_", markersize=9, linestyle="none", label=label)
    axes.set_xticks(places, [row["queue"] for row in rows], rotation=35, ha="right")
    axes.set_ylabel(_WAIT.unit.axis(f"{_WAIT.what} of a group's packets"))
    axes.set_ylim(bottom=0)
    axes.grid(visible=False, axis="x")
    axes.legend(fontsize="small", frameon=False)


def _number(value: float | None) -> float:
    return 0.0 if value is None else value
