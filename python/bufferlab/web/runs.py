"""The store of runs behind the page: lists of them, and the scenario that a run was made from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store import ENGINE, Store, calls, open_store
from bufferlab.experiment.store.calls import (
    LISTED,
    Values,
    figures_of_groups,
    listed_metric,
    read_measured,
    with_measured,
)
from bufferlab.experiment.store.studies import read_studies
from bufferlab.render.setting_text import setting_names
from bufferlab.render.stored_runs import SHOWN
from bufferlab.results.metrics.calls import CALLS
from bufferlab.results.metrics.metric import Metric
from bufferlab.results.metrics.registry import STORED
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.needs import targets_of
from bufferlab.studies.sweep import keep_scenario
from bufferlab.web.buffers import settings_of
from bufferlab.web.conditions import meeting, notes_on
from bufferlab.web.groups import ASKED_BY, VERSION, grouped_rows, labels_of, means_by_study, rows_by_study

MOST_ROWS: Final = 2000
"""That a list has; a condition finds the others."""

WORST: Final = " Of several groups of calls, it is that of the worst."

WAIT: Final = "wait_mean_ms"
RATING: Final = "call_r"


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
        self._settings: dict[str, dict[str, str]] = {}
        self._kept_as: dict[Path, _Named] = {}
        self._having: tuple[int, dict[str, list[str]]] = (-1, {})

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
        wanted = list(dict.fromkeys([*SHOWN, *calls.SHOWN, *([figure] if figure else [])]))
        asked_for = _metrics(wanted)
        measured = read_measured(self._store.last_measured())
        metrics = {**LISTED, **_metrics(figures_of_groups([*measured.values()])), **asked_for}
        named = [name for name in metrics if name in wanted or any(name in each for each in conditions)]
        asked = read_studies(self._store.directory)
        runs = self._runs(named, measured)
        every, parameters = rows_by_study(runs, asked, lambda identity: self._settings_of(identity, runs))
        titles = setting_names(labels_of(parameters), self._groups_of(each.study.scenario for each in asked))
        frame = meeting(every, conditions, titles, metrics)
        if means:
            frame = means_by_study(frame, parameters)
        labels = [*labels_of(parameters), "runs" if means else "seed"]
        shown = frame.head(MOST_ROWS)
        known = {each.name: self._groups_of([each.study.scenario]) for each in asked}
        having = self._figures_by_study(every, metrics, measured)
        wanted = [name for name in wanted if name not in calls.SHOWN or name in having[""] or name == figure]
        groups, rows = grouped_rows(shown, asked, labels, wanted, known)
        return {
            "store": str(self._store.directory),
            "total": frame.height if means else frame["plan_hash"].n_unique(),
            "stored": every["plan_hash"].n_unique(),
            "listed": shown.height if means else shown["plan_hash"].n_unique(),
            "others": sum(count for name, count in self._store.engines().items() if name != ENGINE),
            "notes": notes_on(every, conditions),
            "columns": [
                *(
                    {"name": name, "title": title, "figure": False}
                    for name, title in ({VERSION: VERSION} | titles | {labels[-1]: labels[-1]}).items()
                ),
                *({"name": name, "title": _label(metrics[name]), "figure": True} for name in wanted),
            ],
            "figures": [
                {"name": name, "title": _label(metric), "meaning": _meaning(metric)}
                for name, metric in metrics.items()
                if metric.title
            ],
            "groups": [group | self._figures_of(group, having) for group in groups],
            "rows": rows,
        }

    def scenario_of(self, identity: str) -> str:
        """The scenario of runs, as TOML with all that was changed in it.

        Raises:
            InputError: It is not in the store.
        """
        found = self._kept(identity, self._store.runs(ENGINE, ()))
        if found is not None:
            return found.to_toml()
        raise InputError(
            "is not in the store: only its figures are",
            key="the scenario of this run",
            accepted="runs of sweeps, and of what this page asked for",
        )

    def _figures_of(self, group: Mapping[str, Any], having: Mapping[str, list[str]]) -> dict[str, Any]:
        """The figures that some run of a group has, and the first: calls' rating where calls are a target."""
        has = having.get(group["name"], having[""])
        is_target = any(each.rates_calls for each in self._named([group["scenario"]]))
        return {"figures": has, "figure": RATING if is_target and RATING in has else WAIT}

    def _runs(self, named: Sequence[str], measured: Mapping[str, Values]) -> pl.DataFrame:
        """All runs with some figures, and with those that say what a lack of one means."""
        wanted = {*named, *(each.censored_by for each in _metrics(named).values() if each.censored_by)}
        runs = self._store.runs(ENGINE, [name for name in STORED if name in wanted])
        return with_measured(runs, measured, sorted(wanted - STORED.keys()))

    def _figures_by_study(
        self, every: pl.DataFrame, names: Iterable[str], measured: Mapping[str, Values]
    ) -> dict[str, list[str]]:
        """The figures that some run of each study has, by its name; under none, those of any run."""
        if self._having[0] != every.height:
            names = [*names]
            runs = self._runs(names, measured)
            asked = every.select(pl.col(ASKED_BY).alias(""), "plan_hash").unique()
            has = runs.select("plan_hash", *(pl.col(name).is_not_null() for name in names))
            joined = asked.join(has, on="plan_hash").group_by("").agg(pl.col(*names).any())
            found = {row.pop(""): [name for name, some in row.items() if some] for row in joined.to_dicts()}
            found[""] = [name for name in names if any(name in each for each in found.values())]
            self._having = (every.height, found)
        return self._having[1]

    def _groups_of(self, titles: Iterable[str]) -> list[str]:
        """The names of the groups of all kept scenarios with these titles, as far as they agree."""
        kept = [each.groups for each in self._named(titles) if each.groups]
        return [each[0] if len(set(each)) == 1 else "" for each in zip(*kept, strict=False)]

    def _named(self, titles: Iterable[str]) -> list[_Named]:
        """All kept scenarios with these titles."""
        for path in sorted((self._store.directory / "scenarios").glob("*.toml")):
            if path not in self._kept_as:
                self._kept_as[path] = _named(_changed(path, "{}"))
        wanted = set(titles)
        return [each for each in self._kept_as.values() if each.title in wanted]

    def _kept(self, identity: str, runs: pl.DataFrame) -> Scenario | None:
        """The scenario with a hash; `None` if the store does not have it."""
        rows = runs.filter(pl.col("scenario_hash") == identity)
        changes = rows["overrides"].drop_nulls().unique(maintain_order=True)
        for path in sorted((self._store.directory / "scenarios").glob("*.toml")):
            for text in changes:
                found = _changed(path, text)
                if found is not None and found.identity == identity:
                    return found
        return None

    def _settings_of(self, identity: str, runs: pl.DataFrame) -> dict[str, str]:
        """The queues and buffers of a scenario by path; none of one that the store does not have."""
        if identity not in self._settings:
            found = self._kept(identity, runs)
            if found is None:
                return {}
            self._settings[identity] = settings_of(found)
        return self._settings[identity]


@dataclass(frozen=True)
class _Named:
    """A kept scenario: its title, the names of its groups, and whether one of its targets is of calls."""

    title: str = ""
    groups: Sequence[str] = ()
    rates_calls: bool = False


def _named(scenario: Scenario | None) -> _Named:
    if scenario is None:
        return _Named()
    groups = [each["name"] for each in scenario.flows]
    try:
        targets = targets_of(scenario)
    except InputError:
        targets = ()
    return _Named(scenario.title, groups, any(each.metric.name in CALLS for each in targets))


def _changed(path: Path, overrides: str) -> Scenario | None:
    """A kept scenario with changes; `None` if they are those of another."""
    try:
        return Scenario.load(path, json.loads(overrides))
    except InputError:
        return None


def _metrics(names: Iterable[str]) -> dict[str, Metric]:
    """What figures are, by name.

    Raises:
        InputError: One is no figure.
    """
    found = {name: listed_metric(name) for name in names}
    for name, metric in found.items():
        if metric is None:
            raise InputError("is no figure", key="figure", value=name, accepted=", ".join(LISTED))
    return {name: metric for name, metric in found.items() if metric}


def _meaning(metric: Metric) -> str:
    return metric.definition.replace("`", "") + (WORST if metric.name in CALLS else "")


def _label(metric: Metric) -> str:
    return metric.unit.label(metric.title or metric.name)
