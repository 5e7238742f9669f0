"""All figures of a result at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.display import save_figure
from bufferlab.render.plots.exchanges import exchanges
from bufferlab.render.plots.time_series import backlog, cwnd, goodput, rtt
from bufferlab.render.plots.waits import MAX_LINKS, wait_cdf
from bufferlab.results.result import Result, RunSet

Runs = Result | RunSet


def save_plots(runs: Runs, directory: str | Path) -> list[Path]:
    """Write every figure that the runs have data for, as PNG and SVG.

    Args:
        runs: What to draw.
        directory: Where; it is made if missing.

    Returns:
        The files written.

    Raises:
        OutputError: If they cannot be written.
    """
    files: list[Path] = []
    for name, (has_data, draw) in _FIGURES.items():
        if has_data(runs):
            files += save_figure(draw(runs), Path(directory) / name)
    return files


def _has_values(samples: pl.DataFrame, column: str) -> bool:
    return samples[column].count() > 0


_FIGURES: Final[Mapping[str, tuple[Callable[[Runs], bool], Callable[[Runs], Figure]]]] = {
    "backlog": (lambda runs: not runs.queue_samples.is_empty(), backlog),
    "cwnd": (lambda runs: _has_values(runs.flow_samples, "cwnd_segments"), cwnd),
    "rtt": (lambda runs: _has_values(runs.flow_samples, "srtt_ms"), rtt),
    "goodput": (lambda runs: _has_values(runs.flow_samples, "delivered_bytes"), goodput),
    "wait_cdf": (lambda runs: 1 <= runs.histograms["link"].n_unique() <= MAX_LINKS, wait_cdf),
    "exchanges": (lambda runs: _has_values(runs.exchanges, "duration_s"), exchanges),
}
