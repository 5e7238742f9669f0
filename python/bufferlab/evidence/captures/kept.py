"""Rows of one scenario after the other, kept as soon as they are there.

The tables of docs/observe.md take an hour or more each. What ends early goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from bufferlab import _core
from bufferlab.evidence.reproduction import Request
from bufferlab.experiment.fingerprint import identity
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.store.rows import ENGINE
from bufferlab.files import make_folder

FOLDER: Final = "captures"
"""In the store of runs."""

Rows = list[dict[str, Any]]


def rows_of(request: Request, numbers: Iterable[int], make: Callable[[int, Runner], Rows]) -> Rows:
    """The rows of all scenarios.

    Args:
        request: It says how to run, and names the store that keeps the rows; without one, nothing is kept.
        numbers: The scenarios.
        make: The rows of one, from its number. Rows of another engine or of other code are made anew.
    """
    rows: Rows = []
    wanted = list(numbers)
    with request.runner() as runner, runner.bar("captures") as bar:
        file = None if runner.directory is None else _file(runner.directory, make)
        known = {} if file is None else _known(file)
        for done, number in enumerate(wanted):
            bar.update(done / len(wanted), f"scenario {number}")
            if number not in known:
                known[number] = make(number, runner)
                if file is not None:
                    _keep(file, number, known[number])
            rows += known[number]
    return rows


def _file(folder: Path, make: Callable[..., Rows]) -> Path:
    extension = hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()  # it also reads the captures
    key = hashlib.sha256(f"{ENGINE} {extension} {identity(make)}".encode()).hexdigest()[:16]
    return folder / FOLDER / f"{key}.jsonl"


def _known(file: Path) -> dict[int, Rows]:
    """What is kept; a line that a killed process left half written is not."""
    known: dict[int, Rows] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.is_file() else ():
        try:
            kept = json.loads(line)
        except ValueError:
            continue
        known[kept["scenario"]] = kept["rows"]
    return known


def _keep(file: Path, number: int, rows: Rows) -> None:
    make_folder(file.parent)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"scenario": number, "rows": rows}) + "\n")
