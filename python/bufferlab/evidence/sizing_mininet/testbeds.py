"""What two testbeds measured for "Sizing Router Buffers".

`testbeds.csv` has medians and ranges of the authors' result files in the public repository
mininet/mininet-tests, folder buffersizing: on Mininet-HiFi three runs a number of flows, on the NetFPGA
testbed of N. Beheshti fifteen up to 200 flows and six above. `read_measured` reads the files themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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


_FIGURES_FILE: Final = "testbeds.csv"

_FILES: Final = {
    "mininet": ("mininet.csv", "min_buffer_bytes"),
    "hardware": ("hardware.csv", "min_buffer_bytes"),
}


def bundled() -> dict[str, tuple[Measured, ...]]:
    """The figures of `testbeds.csv` by testbed, in packets."""
    file = Path(__file__).parent / _FIGURES_FILE
    rows = pl.read_csv(file.read_bytes()).rows(named=True)
    return {testbed: tuple(_measured(row) for row in rows if row["testbed"] == testbed) for testbed in _FILES}


def frame_of(testbeds: Mapping[str, Sequence[Measured]]) -> pl.DataFrame:
    """One row a testbed and number of flows."""
    rows = [{"testbed": name} | asdict(each) for name, points in testbeds.items() for each in points]
    return pl.DataFrame(rows, infer_schema_length=None)


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


def _measured(row: Mapping[str, int]) -> Measured:
    sizes = (round(row[f"{what}_bytes"] / PACKET_BYTES, 1) for what in ("median", "least", "most"))
    return Measured(row["flows"], row["runs"], *sizes)
