"""A store of runs, which any number of processes may read and write at the same time.

A folder with

- `store.json`: the format;
- `segments/`: Parquet files of rows (see `rows`), never changed once they are there;
- `journal/`: one file for each process that is writing, or died writing (see `journal`);
- `scenarios/`: the scenarios that ran, by the hash of their text;
- `tables/`: full result folders of runs that were asked to keep them;
- `lock`: held for moments by writers while they claim runs and tidy up.

Rows move from journals to segments; whoever moves them writes the segment first, so that a row may be there
twice for a moment, but never not at all. Readers look at journals first and at segments then, and take equal
runs once.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import __version__
from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.store import journal
from bufferlab.experiment.store.rows import DONE, ENGINE, FIGURES, IDENTITY, Row, rows_to_frame
from bufferlab.experiment.store.segments import SUFFIX, scan_segments

if TYPE_CHECKING:
    from bufferlab.experiment.store.writer import Writer
    from bufferlab.results.result import Result

FORMAT: Final = "bufferlab-store"
FORMAT_VERSION: Final = 1

_MARK: Final = "store.json"
_FOLDERS: Final = ("segments", "journal", "scenarios", "tables")
_ATTEMPTS: Final = 8


def open_store(directory: str | PathLike[str], *, create: bool = False) -> Store:
    """Open a store of runs.

    Args:
        directory: Its folder.
        create: Make it if there is none.

    Raises:
        InputError: There is none, the folder holds something else, or another version wrote it.
        OutputError: It cannot be made.
    """
    return Store(Path(directory), create=create)


class Store:
    """A store of runs.

    Attributes:
        directory: Its folder.
    """

    def __init__(self, directory: Path, *, create: bool = False) -> None:
        self.directory = directory
        try:
            if not _marked(directory):
                if not create:
                    raise InputError(
                        "is no store of runs",
                        file=directory,
                        accepted="a folder that `bufferlab sweep` wrote",
                    )
                _make(directory)
            if create:
                for name in _FOLDERS:
                    (directory / name).mkdir(exist_ok=True)
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise OutputError(f"{directory}: {getattr(error, 'strerror', None) or error}") from error
        _check(directory / _MARK)

    def writer(self, *, retry_failed: bool = False, fresh: bool = False) -> Writer:
        """Begin to write; use it in a `with` block.

        Args:
            retry_failed: Runs that failed before may run again.
            fresh: So may all others that others finished before.

        Raises:
            OutputError: The folder cannot be written.
        """
        from bufferlab.experiment.store.writer import Writer  # noqa: PLC0415 - slow to import, or a circle

        return Writer(self, retry_failed=retry_failed, fresh=fresh)

    def get(self, plan_hash: str, engine: str = ENGINE) -> Row | None:
        """The row of a run by this engine, or another; `None` if there is none that came to its end."""
        wanted = (
            (pl.col("plan_hash") == plan_hash) & (pl.col("engine") == engine) & (pl.col("status") == DONE)
        )
        found = self._collect(lambda rows: rows.filter(wanted).head(1))
        return found.row(0, named=True) if found.height else None

    def runs(self, engine: str | None = ENGINE, figures: Collection[str] = FIGURES) -> pl.DataFrame:
        """All runs by this engine, another, or any (`None`), without the lists, oldest first.

        Args:
            engine: Whose runs.
            figures: The figures wanted; few of them are read sooner.
        """
        columns = [*IDENTITY, *(name for name in FIGURES if name in figures)]

        def chosen(rows: pl.LazyFrame) -> pl.LazyFrame:
            rows = rows.select(columns)
            return rows if engine is None else rows.filter(pl.col("engine") == engine)

        return _latest(self._collect(chosen))

    def flows(self, engine: str | None = ENGINE) -> pl.DataFrame:
        """One row a run and flow group (and one for "all" if there are several), with what names the run."""
        return self._records("flows", engine)

    def queues(self, engine: str | None = ENGINE) -> pl.DataFrame:
        """One row a run, link and group, with what names the run."""
        return self._records("queues", engine)

    def measured(self, measure: str, engine: str = ENGINE) -> dict[str, str]:
        """What a measure returned, as JSON, by the identity of what was simulated."""
        wanted = (pl.col("measure") == measure) & (pl.col("engine") == engine)
        columns = ("plan_hash", "measured", "finished_at")
        rows = self._collect(lambda rows: rows.filter(wanted).select(columns)).sort("finished_at")
        return dict(rows.select("plan_hash", "measured").iter_rows())

    def engines(self) -> dict[str, int]:
        """Number of runs by each engine, the one that ran last first."""
        rows = _latest(
            self._collect(lambda rows: rows.select("plan_hash", "engine", "status", "finished_at"))
        )
        counted = rows.group_by("engine").agg(pl.len(), pl.max("finished_at"))
        return dict(counted.sort("finished_at", descending=True).select("engine", "len").iter_rows())

    def result(self, plan_hash: str, engine: str = ENGINE) -> Result:
        """The full tables of a run that was asked to keep them.

        Raises:
            InputError: They were not kept.
        """
        from bufferlab.results.result import Result  # noqa: PLC0415 - slow to import, or a circle

        folder = self.tables_folder(plan_hash, engine)
        if not folder.is_dir():
            raise InputError(
                "has no tables of this run",
                file=self.directory,
                value=plan_hash,
                accepted="runs of `--tables`",
            )
        return Result.load(folder)

    def tables_folder(self, plan_hash: str, engine: str = ENGINE) -> Path:
        """Where the full tables of a run are, if they were kept."""
        return self.directory / "tables" / plan_hash[:2] / f"{plan_hash}-{engine}"

    def segment_paths(self) -> list[Path]:
        """The segments there are now."""
        return sorted((self.directory / "segments").glob(f"[!.]*{SUFFIX}"))

    def journal_paths(self) -> list[Path]:
        """The journals there are now."""
        return sorted((self.directory / "journal").glob("*.jsonl"))

    def _records(self, name: str, engine: str | None) -> pl.DataFrame:
        names = ["plan_hash", "engine", "status", "finished_at", "scenario", "parameters", "seed"]

        def chosen(rows: pl.LazyFrame) -> pl.LazyFrame:
            rows = rows.select(*names, name).filter(pl.col("status") == DONE)
            return rows if engine is None else rows.filter(pl.col("engine") == engine)

        return _latest(self._collect(chosen)).explode(name).unnest(name)

    def _collect(self, query: Any) -> pl.DataFrame:  # noqa: ANN401 - a function from lazy frame to lazy frame
        """Ask journals and segments the same question; a file that is moved meanwhile is looked for again."""
        for attempt in range(_ATTEMPTS):
            try:
                rows = [
                    entry["run"]
                    for path in self.journal_paths()
                    for entry in _entries(path)
                    if "run" in entry
                ]
                frames = [query(rows_to_frame(rows).lazy()), query(scan_segments(self.segment_paths()))]
                return pl.concat(pl.collect_all(frames))
            except (FileNotFoundError, pl.exceptions.ComputeError) as error:
                if attempt + 1 == _ATTEMPTS:
                    raise _damaged(self.directory, error) from error
            except (OSError, pl.exceptions.PolarsError) as error:
                raise _damaged(self.directory, error) from error
        raise AssertionError("the last attempt returns or raises")


def _entries(path: Path) -> Iterator[journal.Entry]:
    try:
        entries, _ = journal.read(path)
    except FileNotFoundError:  # its rows are in a segment now, which is read next
        return iter(())
    return iter(entries)


def _latest(rows: pl.DataFrame) -> pl.DataFrame:
    """Each run once: what came to its end counts more than what failed, the later more than the earlier."""
    ordered = rows.sort(pl.col("status") == DONE, "finished_at", maintain_order=True)
    kept = ordered.unique(["plan_hash", "engine"], keep="last", maintain_order=True)
    return kept.sort("finished_at", maintain_order=True)


def _marked(directory: Path) -> bool:
    return (directory / _MARK).exists()


def _make(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise InputError("is not a folder", file=directory, accepted="a new folder, or a store of runs")
    directory.mkdir(parents=True, exist_ok=True)
    # another process may be making the same store at this moment
    strange = [path.name for path in directory.iterdir() if not path.name.startswith((".store", _MARK))]
    if strange and not _marked(directory):
        raise InputError(
            "holds other files already", file=directory, accepted="a new folder, or a store of runs"
        )
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "version": __version__}
    fresh = directory / f".store-{secrets.token_hex(8)}"
    fresh.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    fresh.rename(directory / _MARK)


def _check(path: Path) -> None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = (document.get("format"), document.get("format_version"))
        writer = document.get("version")
    except (OSError, ValueError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(
            f"cannot be read ({reason})", file=path, accepted="a file as Bufferlab wrote it"
        ) from error
    if found != (FORMAT, FORMAT_VERSION):
        raise InputError(
            f"is of format {found[1]!r}, written by Bufferlab {writer}",
            file=path,
            accepted=f"format {FORMAT_VERSION}: use that version of Bufferlab, or another folder",
        )


def _damaged(directory: Path, error: Exception) -> InputError:
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return InputError(f"cannot be read ({reason})", file=directory, accepted="a store that Bufferlab wrote")
