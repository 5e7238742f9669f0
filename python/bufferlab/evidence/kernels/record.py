"""Records the kernel's side of the grid: `python -m bufferlab.evidence.kernels.record FOLDER`.

Each run is appended to the table as it ends, so that an interrupted recording goes on where it was; rows of
other jobs than today's are made anew.
"""

from __future__ import annotations

import csv
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from bufferlab.evidence.kernels.grid import Setting, job_hash, runs, scenario
from bufferlab.experiment.runner import Runner
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.emulate import emulate
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
    table = (folder or _bundled()) / TABLE
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as stream:
        rows = [_typed(row) for row in csv.DictReader(stream)]
    return {run: row for run, row in rows if row["job"] == job_hash(scenario(run[0]), run[1])}


def about(folder: Path | None = None) -> dict[str, Any]:
    """Which kernel made the record, and how."""
    found: dict[str, Any] = json.loads(((folder or _bundled()) / ABOUT).read_text(encoding="utf-8"))
    return found


def record(folder: Path, by: Kernel) -> None:
    """Run what is not recorded yet."""
    done = recorded(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ABOUT).write_text(
        json.dumps({"command": COMMAND, "kernel": by.name} | by.about, indent=2, sort_keys=True) + "\n",
        encoding="utf-8",
    )
    with (folder / TABLE).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, _HEAD, lineterminator="\n")
        writer.writeheader()
        writer.writerows(done.values())
        for setting, seed in runs():
            if (setting, seed) in done:
                continue
            (result,) = emulate(scenario(setting), seeds=[seed], by=by, runner=Runner(progress=False))
            row = setting._asdict() | {"seed": seed, "job": job_hash(scenario(setting), seed)}
            writer.writerow(row | {each.name: each.of(result) for each in COMPARED})
            stream.flush()


def _typed(row: dict[str, str]) -> tuple[Run, Row]:
    setting = Setting(row["control"], row["queue"], int(row["flows"]), int(row["rtt_ms"]))
    seed = int(row["seed"])
    figures = {name: float(row[name]) if row[name] else None for name in FIGURES}
    return (setting, seed), setting._asdict() | {"seed": seed, "job": row["job"]} | figures


def _bundled() -> Path:
    return Path(str(files("bufferlab.evidence.kernels"))) / "data"


if __name__ == "__main__":
    record(Path(sys.argv[1]), kernel())
