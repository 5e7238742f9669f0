"""What two testbeds measured for "Sizing Router Buffers": targets of comparisons, never inputs of a result.

The numbers are medians and ranges of the authors' result files in the public repository
mininet/mininet-tests, folder buffersizing: on Mininet-HiFi three runs a number of flows, on the NetFPGA
testbed of N. Beheshti fifteen up to 200 flows and six above. `read_measured` reads the files themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from bufferlab.errors import InputError

PACKET_BYTES: Final = 1500
"""The files' packets."""


@dataclass(frozen=True)
class Measured:
    """Least buffers found with one number of flows.

    Attributes:
        flows: Number of flows.
        runs: Number of runs.
        median: Packets.
        least: Packets.
        most: Packets.
    """

    flows: int
    runs: int
    median: float
    least: float
    most: float


MININET: Final = (
    Measured(2, 3, 52, 38, 59),
    Measured(4, 3, 22, 21, 28),
    Measured(10, 3, 35, 15, 35),
    Measured(20, 3, 15, 15, 21),
    Measured(100, 3, 45, 29, 45),
    Measured(200, 3, 2, 2, 4),
    Measured(400, 3, 2, 2, 2),
    Measured(600, 3, 2, 2, 2),
    Measured(800, 3, 2, 2, 2),
)
"""Mininet-HiFi, from its packets."""

HARDWARE: Final = tuple(
    Measured(flows, runs, *(round(size / PACKET_BYTES, 1) for size in sizes))
    for flows, runs, *sizes in (
        (5, 15, 52_244, 18_998, 307_407),
        (10, 15, 33_583, 3_359, 217_352),
        (50, 15, 33_042, 3_004, 500_872),
        (100, 15, 71_533, 4_248, 82_228),
        (200, 15, 36_046, 3_004, 55_502),
        (400, 6, 4_248, 4_248, 4_248),
        (500, 6, 3_800, 3_800, 3_800),
        (600, 6, 3_469, 3_469, 3_469),
        (800, 6, 3_004, 3_004, 15_018),
    )
)
"""The NetFPGA testbed, from its bytes."""

_FILES: Final = {
    "mininet": ("mininet.csv", "min_buffer_bytes"),
    "hardware": ("hardware.csv", "min_buffer_bytes"),
}


def read_measured(directory: Path) -> pl.DataFrame:
    """The authors' runs from `mininet.csv` and `hardware.csv` of a folder.

    Returns:
        `testbed`, `flows`, `run`, `packets`.

    Raises:
        InputError: A file is missing or lacks a column.
    """
    frames = []
    for testbed, (name, column) in _FILES.items():
        path = directory / name
        try:
            frame = pl.read_csv(path)
            sizes = pl.col(column).cast(pl.Float64, strict=True) / PACKET_BYTES
            columns = (pl.lit(testbed).alias("testbed"), "flows", "run", sizes.alias("packets"))
            frames.append(frame.select(*columns))
        except FileNotFoundError:
            raise InputError("no such file", file=path, accepted="the authors' result files") from None
        except (OSError, pl.exceptions.PolarsError) as error:
            accepted = f"a CSV file with the columns flows, run and {column}"
            reason = str(error).splitlines()[0]
            raise InputError(f"cannot be read ({reason})", file=path, accepted=accepted) from None
    return pl.concat(frames)


def summarized(runs: pl.DataFrame) -> dict[str, tuple[Measured, ...]]:
    """Medians and ranges by testbed, of what `read_measured` gives."""
    packets = pl.col("packets")
    rows = runs.group_by("testbed", "flows").agg(
        pl.len().alias("runs"), packets.median().alias("median"), packets.min().alias("least"),
        packets.max().alias("most"),
    )  # fmt: skip
    return {
        testbed: tuple(
            Measured(*(round(value, 1) for value in row))
            for row in rows.filter(pl.col("testbed") == testbed).sort("flows").drop("testbed").iter_rows()
        )
        for testbed in _FILES
    }
