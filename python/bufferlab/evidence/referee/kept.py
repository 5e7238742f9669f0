"""ns-2's runs of drawn settings, kept as they end: they are slow, and do not change with our engine."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee.figures import FIGURES
from bufferlab.evidence.referee.program import arguments

_COLUMNS: Final = ("number", "setting", "seed", *(each.name for each in FIGURES))
_DIGITS: Final = 6
_LOCK: Final = threading.Lock()

Runs = dict[int, dict[str, float]]
"""Figures by seed."""


def shipped(draw: int) -> Path:
    """The file of the package with ns-2's runs of a draw; there need be none."""
    return Path(str(resources.files("bufferlab.evidence.referee") / "data" / f"ns2-draw-{draw}.csv"))


def read(file: Path) -> dict[str, Runs]:
    """ns-2's runs in a file, by the setting's arguments; none if there is no file."""
    found: dict[str, Runs] = {}
    if not file.exists():
        return found
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(line for line in stream if not line.startswith("#")):
            if None in row.values():
                continue  # the last line of a run that was killed
            figures = {each.name: float(row[each.name]) for each in FIGURES if row[each.name]}
            found.setdefault(row["setting"], {})[int(row["seed"])] = figures
    return found


def append(file: Path, number: int, setting: Setting, runs: Mapping[int, Mapping[str, float]]) -> None:
    """Add runs of a setting to a file, whole lines at a time."""
    lines = [
        ",".join(
            [str(number), arguments(setting), str(seed), *(_text(figures, each.name) for each in FIGURES)]
        )
        for seed, figures in runs.items()
    ]
    with _LOCK, file.open("a", encoding="utf-8") as stream:
        if stream.tell() == 0:
            stream.write(",".join(_COLUMNS) + "\n")
        stream.write("".join(f"{line}\n" for line in lines))
        stream.flush()
        os.fsync(stream.fileno())


def _text(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.{_DIGITS}g}" if name in figures else ""
