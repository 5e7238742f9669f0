"""SplitBuff's table I and its three sub-buffers: what is measured in the sub-buffers, and the picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import COLORS, new_figure_row
from bufferlab.results.result import Result

_SUB_BUFFERS: Final = ("first", "last")
_NEAREST: Final = 10
"""Laws that are shown."""


def sub_buffers(result: Result, _keys: Mapping[str, Any]) -> dict[str, float | None]:
    """The router's estimate and the mean wait in the sub-buffers of the shortest and longest round trips.

    `wait_of_sub_buffers_ms` is the mean of both waits, as the table's "Avg" is.
    """
    row: dict[str, float | None] = {}
    waits = []
    for which, (rttp_ms, wait_ms) in zip(_SUB_BUFFERS, _of_sub_buffers(result), strict=True):
        row |= {f"rttp_{which}_ms": rttp_ms, f"wait_{which}_ms": wait_ms}
        waits.append(wait_ms)
    known = [wait for wait in waits if wait is not None]
    row["wait_of_sub_buffers_ms"] = sum(known) / len(known) if len(known) == len(waits) else None
    return row


def _of_sub_buffers(result: Result) -> list[tuple[float | None, float | None]]:
    """Estimated propagation delay and mean wait, ms, of the first and the last sub-buffer, if any."""
    if result.classes.is_empty():
        return [(None, None)] * len(_SUB_BUFFERS)
    measured = result.class_samples.filter(pl.col("time_s") >= result.warmup_s)
    found: list[tuple[float | None, float | None]] = []
    for index in (0, result.classes["class"].max()):
        estimates = measured.filter(pl.col("class") == index)["rtt_ms"].drop_nulls()
        waits = result.classes.filter(pl.col("class") == index)["wait_mean_ms"]
        found.append((float(estimates.to_numpy().mean()) if len(estimates) else None, waits[0]))
    return found


def nearest_laws(work: Work) -> dict[str, pl.DataFrame]:
    """The laws of the grid whose throughputs come nearest to Table I's, nearest first."""
    keys = list(work.figure.keys)
    stated = {claim.id: claim.number for claim in work.document.claims_of("table1")}
    laws = work.tables["points"].select(*keys)
    laws = laws.unique(maintain_order=True)
    for queue, short in (("bdp", "bdp"), ("splitbuff-2", "split")):
        own = work.tables["points"].filter(pl.col("queue") == queue)
        columns = (pl.col(f"throughput_{kind}").alias(f"{short}_{kind}") for kind in ("short", "long"))
        laws = laws.join(own.select(*keys, *columns), on=keys, maintain_order="left")
    squares = [
        (pl.col(name) / stated[f"table1-{name.replace('_', '-')}"] - 1.0) ** 2
        for name in ("bdp_short", "bdp_long", "split_short", "split_long")
    ]
    distance = 100.0 * (pl.sum_horizontal(squares) / len(squares)).sqrt()
    nearest = laws.with_columns(distance_percent=distance).sort("distance_percent").head(_NEAREST)
    return {"laws": nearest, "points": work.tables["points"]}


def draw_modes(work: Work) -> Figure:
    """Ours over published, a bar a claim and setting."""
    claims = work.document.claims_of(work.figure.name)
    settings = work.points.select("modes_ms", "sigma").unique(maintain_order=True)
    figure, (panel,) = new_figure_row(1)
    figure.set_size_inches(7.2, 0.45 * len(claims) * 1.6 + 1.4)
    for index, (modes, sigma) in enumerate(settings.iter_rows()):
        own = work.points.filter(pl.col("modes_ms") == modes, pl.col("sigma") == sigma)
        of_queue = {row["queue"]: row for row in own.iter_rows(named=True)}
        panel.barh(
            np.arange(len(claims)) + (index - 1.5) * 0.2,
            [
                of_queue[claim.setting["queue"]][claim.quantity] / (claim.number or float("nan"))
                for claim in claims
            ],
            height=0.18,
            color=COLORS[index],
            label=f"{modes} ms, sigma {sigma:g}",
        )
    panel.axvline(1.0, color="black", linewidth=1)
    panel.set_yticks(range(len(claims)), [claim.what for claim in claims])
    panel.invert_yaxis()
    panel.set_xlabel("ours / published")
    panel.legend(fontsize="x-small", frameon=False)
    return figure
