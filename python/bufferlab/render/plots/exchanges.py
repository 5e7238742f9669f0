"""How long what applications exchanged took: pages, pings, datagrams, bursts."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bufferlab.errors import InputError
from bufferlab.render.plots.series import decimate
from bufferlab.render.plots.style import line_style, new_figure
from bufferlab.render.plots.time_series import title
from bufferlab.results.metrics.exchanges import EXCHANGES
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.result import Result, RunSet

_MARKERS: Final = "osD^vPX"
_DURATION: Final = EXCHANGES["duration_s"]


def exchanges(runs: Result | RunSet) -> Figure:
    """Each exchange's duration over the time of its begin, and below the distribution, by flow group.

    Several seeds are drawn together. What was not done by the run's end has no point, and keeps its group's
    distribution below 1.

    Raises:
        InputError: If nothing was exchanged.
    """
    frame = runs.exchanges
    if frame["duration_s"].count() == 0:
        raise InputError(
            "nothing was exchanged",
            key="flows.application",
            accepted="a group of web, ping, on-off with a size, or udp with record = true",
        )
    figure, (times, shares) = new_figure(rows=2)
    for index, part in enumerate(frame.partition_by("group", maintain_order=True)):
        _draw(times, shares, part, index)
    times.set_xlabel(TIME.axis)
    times.set_ylabel(_DURATION.axis)
    times.set_yscale("log")
    times.set_title(title(runs).split("\n", maxsplit=1)[0])
    shares.set_xlabel(_DURATION.axis)
    shares.set_xscale("log")
    shares.set_ylabel("share of exchanges")
    shares.set_ylim(0, 1.02)
    shares.legend()
    return figure


def _draw(times: Axes, shares: Axes, part: pl.DataFrame, index: int) -> None:
    done = part.drop_nulls("duration_s").sort("start_s")
    durations_ms = _DURATION.unit.scaled(done[_DURATION.name].to_numpy())
    unfinished = part.height - done.height
    label = str(part["group"][0]) + (f" ({unfinished} not done)" if unfinished else "")
    style = line_style(index)
    begins_s, shown_ms = decimate(done["start_s"].to_numpy(), durations_ms)
    times.plot(
        begins_s, shown_ms, color=style["color"], linestyle="none", label=label,
        marker=_MARKERS[index % len(_MARKERS)], markersize=3, mfc="none", mew=0.7,
    )  # fmt: skip
    ordered = np.sort(durations_ms)
    shares.step(ordered, np.arange(1, ordered.size + 1) / part.height, where="post", label=label, **style)
