"""Records the kernel's side of the grid: `python -m bufferlab.evidence.kernels.record FOLDER`.

Each run is appended to the table as it ends, so that an interrupted recording goes on where it was; rows of
other jobs than today's are made anew.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from bufferlab.evidence.kernels.grid import Setting, job_hash, runs, scenario
from bufferlab.experiment.runner import Runner
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.emulate import emulate
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.studies.crosscheck import COMPARED

COMMAND: Final = "python -m bufferlab.evidence.kernels.record python/bufferlab/evidence/kernels/data"
TABLE: Final = "grid.csv"
ABOUT: Final = "made.json"
FIGURES: Final = tuple(each.name for each in COMPARED)
_HEAD: Final = (*Setting._fields, "seed", "job", *FIGURES)

Row = dict[str, Any]
Run = tuple[Setting, int]


def recorded(folder: Path | None = None) -> dict[Run, Row]:
    """The kernel's runs that are recorded, of today's jobs."""
    table = (folder or bundled()) / TABLE
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as stream:
        rows = [_typed(row) for row in csv.DictReader(stream)]
    return {run: row for run, row in rows if row["job"] == job_hash(scenario(run[0]), run[1])}


def about(folder: Path | None = None) -> dict[str, Any]:
    """Which kernel made the record, and how."""
    found: dict[str, Any] = json.loads(((folder or bundled()) / ABOUT).read_text(encoding="utf-8"))
    return found


def record(folder: Path, by: Kernel) -> None:
    """Run what is not recorded yet."""
    done = recorded(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).write_text(
        json.dumps({"command": COMMAND, "kernel": by.name} | by.about, indent=2, sort_keys=True) + "\n",
        encoding="utf-8",
    )
    missing = ((of._asdict(), scenario(of), seed) for of, seed in runs() if (of, seed) not in done)
    write(folder / TABLE, _HEAD, done.values(), missing, by)


def write(
    table: Path,
    head: Sequence[str],
    done: Iterable[Row],
    missing: Iterable[tuple[Row, Scenario, int]],
    by: Kernel,
) -> None:
    """Write a table of a kernel's runs: those that are recorded, then each other one as it ends.

    Args:
        table: Its file.
        head: Its columns.
        done: The rows that are recorded.
        missing: Of each other run what its row begins with, its scenario, and its seed.
        by: The kernel.
    """
    with table.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, head, lineterminator="\n")
        writer.writeheader()
        writer.writerows(done)
        for row, of, seed in missing:
            (result,) = emulate(of, seeds=[seed], by=by, runner=Runner(progress=False))
            writer.writerow(row | {"seed": seed, "job": job_hash(of, seed)} | figures(result))
            stream.flush()


def figures(result: Result) -> dict[str, float | None]:
    """What is compared of a run."""
    return {each.name: each.of(result) for each in COMPARED}


def read_figures(row: Mapping[str, str]) -> dict[str, float | None]:
    """The same of a row of a table."""
    return {name: float(row[name]) if row[name] else None for name in FIGURES}


def bundled() -> Path:
    """Where the recorded tables are."""
    return Path(str(files("bufferlab.evidence.kernels"))) / "data"


def _typed(row: dict[str, str]) -> tuple[Run, Row]:
    setting = Setting(row["control"], row["queue"], int(row["flows"]), int(row["rtt_ms"]))
    seed = int(row["seed"])
    return (setting, seed), setting._asdict() | {"seed": seed, "job": row["job"]} | read_figures(row)


if __name__ == "__main__":
    record(Path(sys.argv[1]), kernel())
