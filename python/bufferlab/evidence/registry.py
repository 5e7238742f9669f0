"""What a reproduction of a published figure or table is, and the list of those there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from bufferlab.errors import InputError
from bufferlab.files import make_folder, not_written
from bufferlab.render.plots.style import save_figure


@dataclass(frozen=True)
class Request:
    """How to reproduce.

    Attributes:
        quick: Few points and short runs: shows that everything works, not what the document found.
        seeds: Runs a point; `None` for the reproduction's own number.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        measured: Folder with the authors' own result files, for reproductions that show them.
    """

    quick: bool = False
    seeds: int | None = None
    threads: int | None = None
    progress: bool | None = None
    measured: Path | None = None


@dataclass(frozen=True)
class Reproduced:
    """What came out.

    Attributes:
        name: Name of the reproduction, `document/figure`.
        tables: Frames by file name without suffix; all are saved as CSV and Parquet.
        figures: Figures by file name without suffix; all are saved as PNG and SVG.
        comparison: One row a published number: what, published, by others, ours, difference, why.
        notes: Sentences for the reader: settings, departures from the document.
    """

    name: str
    tables: dict[str, pl.DataFrame]
    figures: dict[str, Figure]
    comparison: pl.DataFrame
    notes: tuple[str, ...]

    def save(self, directory: Path) -> list[Path]:
        """Write tables, figures and notes into a folder, and return the files.

        Raises:
            OutputError: The folder cannot be written.
        """
        files = self._save_tables(directory)
        for name, figure in self.figures.items():
            files += save_figure(figure, directory / name)
        return files

    def _save_tables(self, directory: Path) -> list[Path]:
        files: list[Path] = []
        make_folder(directory)
        try:
            for name, frame in (self.tables | {"comparison": self.comparison}).items():
                files += [directory / f"{name}.csv", directory / f"{name}.parquet"]
                frame.write_csv(files[-2])
                frame.write_parquet(files[-1])
            files.append(directory / "notes.txt")
            files[-1].write_text("\n".join(self.notes) + "\n", encoding="utf-8")
        except OSError as error:
            raise not_written(directory, error) from error
        return files


@dataclass(frozen=True)
class Reproduction:
    """A published figure or table that can be reproduced.

    Attributes:
        name: `document/figure`.
        title: What the figure shows.
        citation: The document.
        function: Does it.
    """

    name: str
    title: str
    citation: str
    function: Callable[[Request], Reproduced]


_REPRODUCTIONS: dict[str, Reproduction] = {}


def reproduction(
    *, name: str, title: str, citation: str
) -> Callable[[Callable[[Request], Reproduced]], Callable[[Request], Reproduced]]:
    """Decorator that registers a function under `name`.

    Raises:
        ValueError: The name is taken.
    """

    def register(function: Callable[[Request], Reproduced]) -> Callable[[Request], Reproduced]:
        if name in _REPRODUCTIONS:
            raise ValueError(f"there is a reproduction named {name!r} already")
        _REPRODUCTIONS[name] = Reproduction(name, title, citation, function)
        return function

    return register


def all_reproductions() -> tuple[Reproduction, ...]:
    """Every reproduction, in order of registration."""
    return tuple(_REPRODUCTIONS.values())


def find_reproductions(name: str) -> Sequence[Reproduction]:
    """Those called `name`: one `document/figure`, or all of a `document`.

    Raises:
        InputError: There is none.
    """
    found = [each for each in all_reproductions() if name in (each.name, each.name.split("/")[0])]
    if not found:
        accepted = ", ".join(each.name for each in all_reproductions())
        raise InputError("is not a figure or table that can be reproduced", value=name, accepted=accepted)
    return found


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    out: str | PathLike[str] | None = None,
    measured: str | PathLike[str] | None = None,
) -> Reproduced:
    """Reproduce one published figure or table.

    Args:
        name: `document/figure`; `all_reproductions` lists them.
        quick: Few points and short runs.
        seeds: Runs a point; default the reproduction's own number.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        out: Save tables, figures and notes in this folder.
        measured: Folder with the authors' own result files, for reproductions that show them.

    Raises:
        InputError: There is no such reproduction, or it is a whole document.
        OutputError: The folder cannot be written.
    """
    found = [each for each in find_reproductions(name) if each.name == name]
    if not found:
        accepted = ", ".join(each.name for each in find_reproductions(name))
        raise InputError("is a document, not a figure or table of it", value=name, accepted=accepted)
    if out is not None:
        make_folder(Path(out))
    folder = None if measured is None else Path(measured)
    request = Request(quick=quick, seeds=seeds, threads=threads, progress=progress, measured=folder)
    result = found[0].function(request)
    if out is not None:
        result.save(Path(out))
    return result
