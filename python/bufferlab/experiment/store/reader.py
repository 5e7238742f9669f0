"""Reading a store's folder: rows, what measures returned, and full tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store import journal
from bufferlab.experiment.store.rows import DONE, ENGINE, FIGURES, IDENTITY, Row, rows_to_frame
from bufferlab.experiment.store.segments import SUFFIX, damaged, scan_segments
from bufferlab.results.result import Result

_ATTEMPTS: Final = 8


class StoreReader:
    """What can be read of a store.

    Attributes:
        directory: Its folder.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory

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
        """One row per run and flow group, and one for "all" if there are several, with the run's names."""
        return self._records("flows", engine)

    def queues(self, engine: str | None = ENGINE) -> pl.DataFrame:
        """One row per run, link and group, with the run's names."""
        return self._records("queues", engine)

    def measured(self, measure: str, engine: str = ENGINE) -> dict[str, str]:
        """What a measure returned, as JSON, by the identity of what was simulated."""
        return self._measured(pl.col("measure") == measure, engine)

    def last_measured(self, engine: str = ENGINE) -> dict[str, str]:
        """What the last measure of each run returned, as JSON, by the identity of what was simulated."""
        return self._measured(pl.col("measured").is_not_null(), engine)

    def _measured(self, condition: pl.Expr, engine: str) -> dict[str, str]:
        wanted = condition & (pl.col("engine") == engine)
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
        names = ["plan_hash", "engine", "status", "finished_at", "scenario", "scenario_hash", "overrides"]
        names += ["parameters", "seed"]

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
                    raise damaged(self.directory, self.segment_paths(), error) from error
            except (OSError, pl.exceptions.PolarsError) as error:
                raise damaged(self.directory, self.segment_paths(), error) from error
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
