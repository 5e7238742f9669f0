"""Figure 11 of the Mininet-HiFi paper: how far inter-dequeue times are from those of an ideal link.

`fidelity.csv` has quantiles of the authors' files in the public repository mininet/mininet-tests, folder
buffersizing: the times between departures of back-to-back packets at 62.5 Mbps, whole microseconds.
`read_measured` reads the files themselves. A simulated link has no clock of its own that could be late.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from bufferlab.errors import InputError
from bufferlab.evidence.documents import Work
from bufferlab.render.plots.style import line_style, new_figure

IDEAL_US: Final = 192.0
"""The text's: 1500 bytes at 62.5 Mbps. A frame of 1514 bytes takes 193.8."""

_WITHIN: Final = 0.1
_FIGURES_FILE: Final = "fidelity.csv"
_QUANTILES: Final = {
    "least": 0.0, "p01": 0.01, "p05": 0.05, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99,
    "most": 1.0,
}  # fmt: skip


def dequeues(work: Work) -> dict[str, pl.DataFrame]:
    """Shares and quantiles of the inter-dequeue times by number of flows; of the files, if they are named."""
    figures = pl.read_csv((Path(__file__).parent / _FIGURES_FILE).read_bytes())
    if work.request.measured is None:
        return {"fidelity": figures}
    times = {flows: read_measured(work.request.measured, flows) for flows in figures["flows"]}
    rows = [summarized(flows, own) for flows, own in times.items()]
    raw = [pl.DataFrame({"flows": [flows] * len(own), "time_us": own}) for flows, own in times.items()]
    return {"fidelity": pl.DataFrame(rows), "measured": pl.concat(raw)}


def read_measured(directory: Path, flows: int) -> list[float]:
    """The authors' inter-dequeue times with a number of flows, us.

    Raises:
        InputError: The file is missing or has other lines than numbers.
    """
    path = directory / f"inter_dequeue_us_{flows}_flows.txt"
    try:
        return [float(line) for line in path.read_text(encoding="ascii").split()]
    except FileNotFoundError:
        raise InputError("no such file", file=path, accepted="the authors' result files") from None
    except (OSError, ValueError) as error:
        raise InputError(
            f"cannot be read ({error})", file=path, accepted="a time in us on each line"
        ) from None


def summarized(flows: int, times_us: list[float]) -> dict[str, float]:
    """One row of `fidelity.csv`."""
    times = np.asarray(times_us)
    within = float(100.0 * np.mean(np.abs(times / IDEAL_US - 1.0) <= _WITHIN))
    quantiles = {name: float(np.quantile(times, share)) for name, share in _QUANTILES.items()}
    return {"flows": flows, "packets": times.size, "within_10_percent": round(within, 2)} | quantiles


def draw_fidelity(work: Work) -> Figure:
    """The distribution of the deviation from the ideal: all times if there are files, else the quantiles."""
    figure, (axes,) = new_figure()
    raw = work.tables.get("measured")
    for index, row in enumerate(work.points.iter_rows(named=True)):
        if raw is None:
            times, shares = [row[name] for name in _QUANTILES], list(_QUANTILES.values())
        else:
            times = raw.filter(pl.col("flows") == row["flows"])["time_us"].sort().to_list()
            shares = [(place + 1) / len(times) for place in range(len(times))]
        deviations = [100.0 * (time / IDEAL_US - 1.0) for time in times]
        axes.plot(deviations, shares, label=f"{row['flows']} flows", **line_style(index))
    for edge in (-10, 10):
        axes.axvline(edge, color="black", linewidth=0.8, linestyle="dotted")
    axes.set_xlim(-40, 40)
    axes.set_xlabel("deviation from the ideal inter-dequeue time of 192 us (%)")
    axes.set_ylabel("share of packets at or below")
    axes.legend(fontsize="small", frameon=False)
    return figure
