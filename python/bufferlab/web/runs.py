"""The store of runs behind the page: lists of them, and the scenario that a run was made from."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from bufferlab.web.buffers import BUFFER, is_in_packets, settings_of
from bufferlab.web.conditions import in_figures, meeting, notes_on
from bufferlab.web.groups import ASKED_BY, VERSION, grouped_rows, labels_of, means_by_study, rows_by_study
from bufferlab.web.own import changes_of_part, own_value

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
        self._own: dict[tuple[str, str, str], tuple[object] | None] = {}
        self._kept_as: dict[Path, _Named] = {}
        self._found_in: Path | None = None
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
        conditions = [in_figures(each, metrics) for each in conditions]
        named = [name for name in metrics if name in wanted or any(name in each for each in conditions)]
        asked = read_studies(self._store.directory)
        runs = self._runs(named, measured)
        every, parameters = rows_by_study(runs, asked, lambda identity: self._settings_of(identity, runs))
        titles = setting_names(labels_of(parameters), self._groups_of(each.study.scenario for each in asked))
        unknown: set[str] = set()

        def filled(paths: Sequence[str]) -> pl.DataFrame:
            return self._with_own(every, paths, runs, unknown)

        frame = meeting(every, conditions, titles, metrics, filled)
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
            "notes": [*notes_on(every, conditions), *_unknown_note(every, unknown)],
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
        paths = sorted((self._store.directory / "scenarios").glob("*.toml"))
        for path in sorted(paths, key=lambda each: each != self._found_in):  # many runs are of one text
            for text in changes:
                found = _changed(path, text)
                if found is not None and found.identity == identity:
                    self._found_in = path
                    return found
        return None

    def _with_own(
        self, frame: pl.DataFrame, paths: Sequence[str], runs: pl.DataFrame, unknown: set[str]
    ) -> pl.DataFrame:
        """What scenarios themselves say of some keys, in rows where nothing was set.

        Args:
            frame: The rows.
            paths: The keys, which are columns.
            runs: The runs of the store.
            unknown: Takes the hashes of scenarios that the store does not have.
        """
        changes = dict(runs.select("scenario_hash", "overrides").iter_rows())
        lacking = frame.filter(pl.any_horizontal(pl.col(paths).is_null()))
        asked = lacking.drop_nulls("scenario_hash").select(ASKED_BY, "scenario_hash").unique().rows()
        for path in paths:
            found = {
                (study, identity): self._own_of(study, identity, path, changes[identity], runs)
                for study, identity in asked
            }
            unknown |= {identity for (_, identity), own in found.items() if own is None}
            of_each = [found.get(row) or (None,) for row in frame.select(ASKED_BY, "scenario_hash").rows()]
            own = pl.Series(path, [value for (value,) in of_each], strict=False, dtype=frame.schema[path])
            frame = frame.with_columns(pl.coalesce(path, own))
        return frame

    def _own_of(
        self, study: str, identity: str, path: str, changes: str | None, runs: pl.DataFrame
    ) -> tuple[object] | None:
        """The value of a key of a scenario as lists show it; `None` if the store does not have the scenario.

        Runs of a study are of one text: those are alike of which nothing was changed in the key's part.
        """
        known_as = (study or identity, path, json.dumps(changes_of_part(changes, path)))
        if known_as not in self._own:
            found = self._kept(identity, runs)
            self._own[known_as] = (own_value(found, path),) if found else None
        own = self._own[known_as]
        is_counted = own is not None and path.endswith(BUFFER) and not is_in_packets(own[0])
        return (self._settings_of(identity, runs).get(path),) if is_counted else own

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


def _unknown_note(frame: pl.DataFrame, unknown: Collection[str]) -> Iterator[str]:
    """Of how many runs conditions on settings know only what was varied."""
    runs = frame.filter(pl.col("scenario_hash").is_in(unknown))["plan_hash"].n_unique()
    if runs:
        of = "1 run" if runs == 1 else f"{runs} runs"
        yield f"of {of} the store has no scenario: only what was varied in them is compared"


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
