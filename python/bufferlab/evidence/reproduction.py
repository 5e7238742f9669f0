"""What a reproduction of a published figure or table is."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab import _core
from bufferlab.display import save_figure
from bufferlab.experiment.runner import Runner
from bufferlab.files import make_folder, write_whole
from bufferlab.render.grid import Grid

MADE_FILE: Final = "made.json"
"""In a result folder: the command that made it, the version, and the fingerprint of the engine's sources."""


@dataclass(frozen=True)
class Request:
    """How to reproduce.

    Attributes:
        quick: Few points and short runs: shows that everything works, not what the document found.
        seeds: Runs a point; `None` for the reproduction's own number.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        measured: Folder with the authors' own result files, for reproductions that show them.
        store: Folder of a store that keeps each run as soon as it is finished, and spares it later.
        shared: Runs all experiments, in place of a runner with `threads`, `progress` and `store` for each.
        kernel: The name of the kernel that runs them in the simulator's place, as 'kernel list' has it.
    """

    quick: bool = False
    seeds: int | None = None
    threads: int | None = None
    progress: bool | None = None
    measured: Path | None = None
    store: Path | None = None
    shared: Runner | None = None
    kernel: str | None = None

    def runner(self) -> Runner:
        """Runs experiments as the request asks for."""
        if self.shared is not None:
            return self.shared
        return Runner(threads=self.threads, progress=self.progress, store=self.store)

    def command(self, name: str) -> str:
        """The command that asks for the same."""
        parts = ["bufferlab", "reproduce", name]
        if self.quick:
            parts.append("--quick")
        if self.seeds is not None:
            parts += ["--seeds", str(self.seeds)]
        if self.kernel is not None:
            parts += ["--engine", "uml"]
        if self.measured is not None:
            parts += ["--measured", str(self.measured)]
        return shlex.join(parts)


@dataclass(frozen=True)
class Reproduced:
    """What came out.

    Attributes:
        name: Name of the reproduction, `document/figure`.
        tables: Frames by file name without suffix; all are saved as CSV and Parquet.
        figures: Figures by file name without suffix; all are saved as PNG and SVG.
        comparison: One row a claim and point; `verdicts.COMPARISON` has the columns.
        notes: Sentences for the reader: settings, departures from the document.
        scenarios: The scenarios that were run, as TOML, by file name without suffix.
        points: Name of the table that has a row a point.
        keys: Columns that tell its rows apart.
        names: Numbers of the whole, for notes: seeds, length of the runs.
        grids: Tables of points that the document asks to show.
    """

    name: str
    tables: dict[str, pl.DataFrame]
    figures: dict[str, Figure]
    comparison: pl.DataFrame
    notes: tuple[str, ...]
    scenarios: Mapping[str, str] = field(default_factory=dict)
    points: str = "points"
    keys: tuple[str, ...] = ()
    names: Mapping[str, str | float] = field(default_factory=dict)
    grids: tuple[Grid, ...] = ()

    def save(self, directory: Path, command: str) -> list[Path]:
        """Write tables, figures, notes and scenarios into a folder, and return the files.

        Args:
            directory: The folder.
            command: The command that makes the same; kept beside the version and the engine's fingerprint.

        Raises:
            OutputError: The folder cannot be written.
        """
        files = self._save_tables(directory, command)
        for name, figure in self.figures.items():
            files += save_figure(figure, directory / name)
        return files

    def _save_tables(self, directory: Path, command: str) -> list[Path]:
        files: list[Path] = []
        make_folder(directory)
        for name, frame in (self.tables | {"comparison": self.comparison}).items():
            files.append(write_whole(directory / f"{name}.csv", frame.write_csv))
            files.append(write_whole(directory / f"{name}.parquet", frame.write_parquet))
        made = {
            "command": command,
            "version": _core.engine_version,
            "engine_fingerprint": _core.engine_fingerprint,
        }
        texts = {"notes.txt": "\n".join(self.notes), MADE_FILE: json.dumps(made, indent=2)}
        if self.scenarios:
            make_folder(directory / "scenarios")
        texts |= {f"scenarios/{name}.toml": text.rstrip() for name, text in self.scenarios.items()}
        for file, text in texts.items():
            files.append(write_whole(directory / file, f"{text}\n"))
        return files


@dataclass(frozen=True)
class Reproduction:
    """A published figure or table that can be reproduced.

    Attributes:
        name: `document/figure`.
        title: What the figure shows.
        citation: The document.
        function: Does it.
        record: Keeps what came out beside the claims, with the command that made it.
        verdicts: The comparison of what is kept; `None` if nothing is.
    """

    name: str
    title: str
    citation: str
    function: Callable[[Request], Reproduced]
    record: Callable[[Reproduced, str], None]
    verdicts: Callable[[], pl.DataFrame | None]
