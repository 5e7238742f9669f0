"""The picture of a comparison: how much worse users fare under each queue, as a whole and in each aspect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.display import as_figure
from bufferlab.render.advise.felt import aspect_title
from bufferlab.render.plots.style import COLORS, MARKERS, new_figure_row
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.stats import Estimate
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.compare.comparison import Comparison, Measured


@as_figure.register
def draw(comparison: Comparison) -> Figure:
    """Draw the two panels, error bars of 95 % over the seeds; the recommended queue is on top."""
    figure, (whole, apart) = new_figure_row(2)
    ranked = comparison.ranked
    _draw_whole(whole, comparison, ranked)
    _draw_apart(apart, comparison.aspects, ranked)
    for axes in (whole, apart):
        axes.set_yticks(np.arange(len(ranked)), [comparison.called(entry.name) for entry in ranked])
        axes.invert_yaxis()
        axes.axvline(0, color="0.5", linewidth=0.8)
        axes.grid(visible=False, axis="y")
    handles, labels = apart.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize="small")
    several = len(comparison.seeds) > 1 and not comparison.identical
    note = f", means of {len(comparison.seeds)} seeds, bars: 95 % confidence" if several else ""
    figure.suptitle(f"{comparison.name}: queue of {comparison.link}{note}", fontsize="medium")
    return figure


def _draw_whole(axes: Axes, comparison: Comparison, ranked: Sequence[Measured]) -> None:
    """How much worse users fare than under the first queue; hollow where that is no difference."""
    for place, entry in enumerate(ranked):
        rival = comparison.rival(entry.name)
        behind = Estimate(0.0, None) if rival is None else rival.behind
        axes.errorbar(
            FRACTION.scaled(behind.mean or 0.0),
            place,
            xerr=0.0 if comparison.identical else FRACTION.scaled(behind.half_width or 0.0),
            color=COLORS[0],
            marker="o",
            markerfacecolor="white" if rival is not None and rival.is_equal else COLORS[0],
            capsize=2,
        )
    axes.set_xlabel(f"{FRACTION.axis('users worse as a whole')}\nhollow: no difference")


def _draw_apart(axes: Axes, aspects: Sequence[Aspect], ranked: Sequence[Measured]) -> None:
    """The same in each aspect."""
    best = ranked[0]
    for index, aspect in enumerate(aspects):
        behind = [_behind(aspect, entry, best) for entry in ranked]
        axes.plot(
            FRACTION.scaled(np.array(behind)),
            np.arange(len(ranked)),
            color=COLORS[index % len(COLORS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle="none",
            label=aspect_title(aspect),
        )
    axes.set_xlabel(FRACTION.axis("worse in an aspect"))


def _behind(aspect: Aspect, entry: Measured, best: Measured) -> float:
    """How much worse an aspect is in the mean over the runs, as a share."""
    logs = [
        np.log(aspect.utility(a) / aspect.utility(b)) for a, b in zip(entry.values, best.values, strict=True)
    ]
    return float(-np.expm1(np.mean(logs)))
