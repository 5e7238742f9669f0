"""The store of runs behind the page: lists of them, and the scenario that a run was made from."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store import ENGINE, Store, open_store
from bufferlab.experiment.store.listing import RUNS, means_of_points, read_table, titles
from bufferlab.experiment.store.query import condition_notes, where
from bufferlab.experiment.store.rows import DONE
from bufferlab.render.stored_runs import SHOWN
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX
from bufferlab.results.metrics.registry import STORED
from bufferlab.scenario import Scenario
from bufferlab.studies.sweep import keep_scenario

BESIDE: Final = frozenset({"seed", "runs", "scenario", "scenario_hash"})
"""Labels that say which run it is, and not what was varied."""

MOST_ROWS: Final = 500
"""That a list has; a condition finds the others."""


class Runs:
    """A store as the page shows it.

    Args:
        directory: Its folder, made if there is none.

    Raises:
        InputError: It holds something else.
        OutputError: It cannot be made.
    """

    def __init__(self, directory: Path) -> None:
        self._store = open_store(directory, create=True)

    @property
    def store(self) -> Store:
        """The store."""
        return self._store

    def keep(self, text: str) -> None:
        """Keep a scenario that runs are about to be made from; one that is none is left out."""
        try:
            keep_scenario(self._store, Scenario.from_toml(text))
        except InputError:
            return

    def listed(self, conditions: Sequence[str], *, means: bool, figure: str | None = None) -> dict[str, Any]:
        """The runs that meet conditions, or means over their seeds, in the units that people read.

        Args:
            conditions: Those of `bufferlab results --where`.
            means: One row a point in place of one a run.
            figure: One that is wanted besides those of every list.

        Raises:
            InputError: A condition cannot be used, or a figure is none.
        """
        wanted = list(dict.fromkeys([*SHOWN, *([figure] if figure else [])]))
        _check_figures(wanted)
        named = [name for name in STORED if name in wanted or any(name in each for each in conditions)]
        beside = [name for name in (STORED[each].censored_by for each in named) if name]
        every, parameters = read_table(self._store, RUNS, ENGINE, [*dict.fromkeys([*named, *beside])])
        frame = where(every, conditions)
        if means:
            frame = means_of_points(frame, parameters)
        labels = [*_without_cases(titles(frame, parameters)), *(["runs"] if means else ["seed"])]
        rows = frame.head(MOST_ROWS)
        return {
            "store": str(self._store.directory),
            "total": frame.height,
            "stored": every.height,
            "others": sum(count for name, count in self._store.engines().items() if name != ENGINE),
            "notes": condition_notes(every, conditions),
            "columns": [
                *({"name": name, "title": title, "figure": False} for name, title in _plain(labels).items()),
                *({"name": name, "title": _label(name), "figure": True} for name in wanted),
            ],
            "figures": [{"name": name, "title": _label(name)} for name in STORED if STORED[name].title],
            "rows": [_row(row, labels, wanted) for row in rows.iter_rows(named=True)],
        }

    def scenario_of(self, identity: str) -> str:
        """The scenario of runs, as TOML with all that was changed in it.

        Raises:
            InputError: It is not in the store.
        """
        rows = self._store.runs(ENGINE, ()).filter(pl.col("scenario_hash") == identity)
        changes = rows["overrides"].drop_nulls().unique(maintain_order=True)
        for path in sorted((self._store.directory / "scenarios").glob("*.toml")):
            for text in changes:
                found = _changed(path, text)
                if found is not None and found.identity == identity:
                    return found.to_toml()
        raise InputError(
            "is not in the store: only its figures are",
            key="the scenario of this run",
            accepted="runs of sweeps, and of what this page asked for",
        )


def _changed(path: Path, overrides: str) -> Scenario | None:
    """A kept scenario with changes; `None` if they are those of another."""
    try:
        return Scenario.load(path, json.loads(overrides))
    except InputError:
        return None


def _check_figures(names: Sequence[str]) -> None:
    for name in names:
        if name not in STORED:
            raise InputError("is no figure", key="figure", value=name, accepted=", ".join(STORED))


def _plain(names: Sequence[str]) -> dict[str, str]:
    """The last part of each path, where no other has the same."""
    last = {name: name.rpartition(".")[2] for name in names}
    return {name: last[name] if [*last.values()].count(last[name]) == 1 else name for name in names}


def _group(row: dict[str, Any], labels: Sequence[str]) -> str:
    """What a run was one of: rows of one scenario and one kind of study belong together.

    A study of queues and buffers names each run's case, whatever it changed for it.
    """
    varied = [name for name in labels if name not in BESIDE and row[name] is not None]
    said = ", ".join(_plain(varied).values()) or "as it is"
    if row.get("case") is not None:
        said = "flows alone" if row["case"] == "alone" else "queues and buffers tried"
    return f"{row['scenario']}: {said}"


def _without_cases(labels: Sequence[str]) -> list[str]:
    """Labels without a study's names of its runs, where the queue or the buffer that it set says as much."""
    is_said = any(name.endswith((".queue", ".buffer")) for name in labels)
    return [name for name in labels if not (is_said and name in {"case", "size"})]


def _words(value: object) -> object:
    """A queue or flows that a study put in, without the punctuation of JSON."""
    if not isinstance(value, str) or value[:1] not in {"{", "["}:
        return value
    try:
        read = json.loads(value)
    except ValueError:
        return value
    if isinstance(read, list):
        return ", ".join(
            str(each.get("name", "flows")) if isinstance(each, dict) else str(each) for each in read
        )
    kind = read.pop("discipline", None)
    said = {name: re.sub(r"^(\d+)000 us$", r"\1 ms", str(setting)) for name, setting in read.items()}
    settings = ", ".join(f"{name} {setting}" for name, setting in said.items())
    return f"{kind} ({settings})" if kind and settings else kind or settings


def _label(name: str) -> str:
    metric = STORED[name]
    return metric.unit.label(metric.title or name)


def _row(row: dict[str, Any], labels: Sequence[str], figures: Sequence[str]) -> dict[str, Any]:
    return {
        "scenario_hash": row["scenario_hash"],
        "title": row["scenario"],
        "problem": row["error"] if row.get("status", DONE) != DONE else None,
        "group": _group(row, labels),
        "labels": [_words(row[name]) for name in labels],
        "values": [_shown(name, row.get(name)) for name in figures],
        "widths": [_shown(name, row.get(name + CONFIDENCE_SUFFIX)) for name in figures],
    }


def _shown(name: str, value: float | None) -> float | None:
    return None if value is None else float(STORED[name].unit.scaled(value))
