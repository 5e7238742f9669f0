"""The other simulator's runs, kept as they end: they are slow, and do not change with our engine."""

from __future__ import annotations

import csv
import os
import threading
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee.program import arguments

_KEYS: Final = ("number", "setting", "seed")
_DIGITS: Final = 6
_LOCK: Final = threading.Lock()

Runs = dict[int, dict[str, float]]
"""Figures by seed."""


def name(peer: str, draw: int) -> str:
    """The name of a file with the runs of a draw of `peer` (`ns2`, `ns3`)."""
    return f"{peer}-draw-{draw}.csv"


def shipped(peer: str, draw: int) -> Path:
    """The file of the package with the other simulator's runs of a draw; there need be none."""
    return Path(str(resources.files("bufferlab.evidence.referee") / "data" / name(peer, draw)))


def read(file: Path) -> dict[str, Runs]:
    """The runs in a file, by the setting's arguments; none if there is no file."""
    found: dict[str, Runs] = {}
    if not file.exists():
        return found
    with file.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(line for line in stream if not line.startswith("#")):
            if None in row.values():
                continue  # the last line of a run that was killed
            figures = {name: float(text) for name, text in row.items() if name not in _KEYS and text}
            found.setdefault(row["setting"], {})[int(row["seed"])] = figures
    return found


def append(
    file: Path, number: int, setting: Setting, runs: Mapping[int, Mapping[str, float]], columns: Sequence[str]
) -> None:
    """Add runs of a setting to a file, whole lines at a time; `columns` are the figures' names."""
    lines = [
        ",".join([str(number), arguments(setting), str(seed), *(_text(figures, each) for each in columns)])
        for seed, figures in runs.items()
    ]
    with _LOCK, file.open("a", encoding="utf-8") as stream:
        if stream.tell() == 0:
            stream.write(",".join((*_KEYS, *columns)) + "\n")
        stream.write("".join(f"{line}\n" for line in lines))
        stream.flush()
        os.fsync(stream.fileno())


def _text(figures: Mapping[str, float], name: str) -> str:
    return f"{figures[name]:.{_DIGITS}g}" if name in figures else ""
