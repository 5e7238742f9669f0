"""What "Bufferbloat Problem" states, and what its author measured: targets of comparisons, never inputs.

The measured figures are those of the author's result files in the public repository
tingfengx/cs244-bufferbloat: ping's round-trip times, the queue's length about ten times a second, and 30
fetches a queue size. `read_measured` reads the files themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
class Stated:
    """Table 1: mean and standard deviation of the time of a fetch, s (the table says ms)."""

    mean_s: float
    sd_s: float


TABLE_1: Final[Mapping[int, Stated]] = {
    5: Stated(0.67010, 0.36301),
    20: Stated(0.75517, 0.20127),
    100: Stated(1.25273, 0.62726),
}

SLOPE_MS: Final = 1.71
INTERCEPT_MS: Final = 6.0
"""Figure 4: RTT (ms) = 1.71 · Q + 6, r about 1."""

DRAIN_S: Final = 0.12
"""Equation (1): 1000 packets of 1500 bytes at 100 Mbps."""


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


MEASURED: Final[Mapping[tuple[int, str], Measured]] = {
    (5, "rtt_ms"): Measured(522, 15.43, 8.148, 6.115, 13.7, 29.89, 74.3),
    (5, "queue_packets"): Measured(579, 3.193, 1.386, 0.0, 3.0, 5.0, 5.0),
    (5, "fetch_s"): Measured(30, 0.67, 0.363, 0.297, 0.587, 1.498, 1.745),
    (20, "rtt_ms"): Measured(584, 39.394, 17.004, 19.26, 37.75, 64.24, 209.0),
    (20, "queue_packets"): Measured(576, 12.837, 3.824, 7.0, 13.0, 19.0, 20.0),
    (20, "fetch_s"): Measured(30, 0.755, 0.201, 0.491, 0.713, 1.145, 1.183),
    (100, "rtt_ms"): Measured(586, 177.49, 74.884, 93.0, 166.0, 302.75, 730.0),
    (100, "queue_packets"): Measured(574, 62.068, 18.584, 34.0, 62.0, 94.35, 100.0),
    (100, "fetch_s"): Measured(30, 1.253, 0.627, 0.679, 0.952, 2.494, 2.595),
}
"""By queue limit and series."""

_ACCEPTED: Final = "the author's folders q5, q20 and q100 with ping.txt, q.txt and download.txt"
_PING: Final = re.compile(r"icmp_seq=(?P<number>\d+)|time=(?P<time>[\d.]+) ms")
"""Two processes wrote into the file at Q = 5, so that some times have lost the number before them."""

_PING_INTERVAL_S: Final = 0.1
_FETCH_INTERVAL_S: Final = 2.0


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
