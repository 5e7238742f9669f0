"""What the author of "Bufferbloat Problem" measured.

`author.csv` has the figures of the author's result files, in the public repository
tingfengx/cs244-bufferbloat: ping's round-trip times, the queue's length about ten times a second, and 30
fetches a queue size. `read_measured` reads the files themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.errors import InputError

QUEUES: Final = (5, 20, 100)
"""Packets."""

SERIES: Final = ("rtt_ms", "queue_packets", "fetch_s")


@dataclass(frozen=True)
class Measured:
    """One series of measurements.

    Attributes:
        count: How many there are.
        mean: In the series' unit, as all that follows.
        sd: Standard deviation of the population.
        p05: 5th percentile.
        p50: Median.
        p95: 95th percentile.
        most: The largest.
    """

    count: int
    mean: float
    sd: float
    p05: float
    p50: float
    p95: float
    most: float


_FIGURES_FILE: Final = "author.csv"
_COLUMNS: Final = ("count", "mean", "sd", "p05", "p50", "p95", "most")
_MODELS: Final = ("without offload", "with offload")

_ACCEPTED: Final = "the author's folders q5, q20 and q100 with ping.txt, q.txt and download.txt"
_PING: Final = re.compile(r"icmp_seq=(?P<number>\d+)|time=(?P<time>[\d.]+) ms")
"""Two processes wrote into the file at Q = 5, so that some times have lost the number before them."""

_PING_INTERVAL_S: Final = 0.1
_FETCH_INTERVAL_S: Final = 2.0


def author_points() -> pl.DataFrame:
    """The author's figures as points, one row a queue and model: the testbed is the same for both."""
    file = Path(__file__).parent / _FIGURES_FILE
    rows = pl.read_csv(file.read_bytes()).rows(named=True)
    figures = {
        (row["queue"], row["series"]): Measured(**{column: row[column] for column in _COLUMNS})
        for row in rows
    }
    return points(figures)


def points(figures: Mapping[tuple[int, str], Measured]) -> pl.DataFrame:
    """Figures by queue and series as points, with the columns of simulated points."""
    rows = []
    for queue in QUEUES:
        row = {
            f"{series}_{name}": value
            for series in SERIES
            for name, value in asdict(figures[queue, series]).items()
        }
        rows += [{"queue": queue, "model": model} | row for model in _MODELS]
    return pl.DataFrame(rows)


def read_measured(directory: Path) -> pl.DataFrame:
    """The author's measurements from the folders `q5`, `q20` and `q100`.

    Returns:
        `queue`, `series` (one of `SERIES`), `time_s` from the run's begin, `value`. Pings and fetches have no
        times in the files; theirs are those at which they were due.

    Raises:
        InputError: A file is missing or is not as expected.
    """
    frames = []
    for queue in QUEUES:
        folder = directory / f"q{queue}"
        for series, (times, values) in zip(SERIES, (_pings(folder), _lengths(folder), _fetches(folder))):  # noqa: B905
            frames.append(
                pl.DataFrame({"time_s": times, "value": values}).select(
                    pl.lit(queue).alias("queue"), pl.lit(series).alias("series"), "time_s", "value"
                )
            )
    return pl.concat(frames)


def summarized(rows: pl.DataFrame) -> dict[tuple[int, str], Measured]:
    """The figures of what `read_measured` gives."""
    return {
        (queue, series): summary(
            rows.filter(pl.col("queue") == queue, pl.col("series") == series)["value"].to_numpy()
        )
        for queue in QUEUES
        for series in SERIES
    }


def summary(values: NDArray[np.float64]) -> Measured:
    """Count, mean, population's deviation, quantiles and largest of some measurements."""
    p05, p50, p95 = (float(each) for each in np.quantile(values, (0.05, 0.5, 0.95)))
    return Measured(
        len(values), float(values.mean()), float(values.std()), p05, p50, p95, float(values.max())
    )


def _pings(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    text = "\n".join(_lines(folder / "ping.txt"))
    pairs, number = [], 0
    for found in _PING.finditer(text):
        if found["number"]:
            number = int(found["number"])
        else:
            pairs.append((number * _PING_INTERVAL_S, float(found["time"])))
    if not pairs:
        raise InputError("has no replies", file=folder / "ping.txt", accepted="the output of ping")
    table = np.array(pairs)
    return table[:, 0], table[:, 1]


def _lengths(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = _table(folder / "q.txt", 2, "unix_seconds,packets")
    return table[:, 0] - table[0, 0], table[:, 1]


def _fetches(folder: Path) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values = _table(folder / "download.txt", 1, "seconds")[:, 0]
    return np.arange(len(values), dtype=np.float64) * _FETCH_INTERVAL_S, values


def _table(path: Path, columns: int, accepted: str) -> NDArray[np.float64]:
    lines = [line for line in _lines(path) if line.strip()]
    try:
        table = np.array([[float(value) for value in line.split(",")] for line in lines])
    except ValueError as error:
        raise InputError(f"is not a table of numbers ({error})", file=path, accepted=accepted) from None
    if table.ndim != 2 or table.shape[1] != columns:
        raise InputError("has other columns", file=path, accepted=accepted)
    return table


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise InputError("no such file", file=path, accepted=_ACCEPTED) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", file=path, accepted=_ACCEPTED) from None
