"""Stored runs as the page lists them: by what asked for them, in people's words and units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import polars as pl

from bufferlab.experiment.store.calls import listed_metric
from bufferlab.experiment.store.listing import means_of_points, table_of
from bufferlab.experiment.store.rows import DONE
from bufferlab.experiment.store.studies import Asked, Study
from bufferlab.render.setting_text import changes_text, setting_names, setting_text, words_in_a_row
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX
from bufferlab.studies.words import OWN
from bufferlab.web.buffers import BUFFER, QUEUE, SettingsOf, with_packets

VERSION: Final = "scenario"
"""Label that tells scenarios of one group apart which nothing else does: their numbers."""

BESIDE: Final = frozenset({"seed", "runs"})
"""Labels that say which run it is, and not what was varied."""

_OF_QUEUES: Final = frozenset({"advise", "compare"})
"""Commands that try all queues, whichever the scenario had."""

_NAMES: Final = frozenset({"case", "size", "queue"})
"""What studies call their runs, which the queue or the buffer that they set says as well."""

ASKED_BY: Final = "asked by"
"""Column with the study of a row, empty if there is none; no path of a scenario has a blank in it."""


def rows_by_study(
    runs: pl.DataFrame, asked: Sequence[Asked], known: SettingsOf
) -> tuple[pl.DataFrame, list[str]]:
    """Runs once for each study that asked for them, and which columns were varied, as they are shown.

    The latest study comes first, and at the end the runs that are of none. Runs of a group
    alone are left out: they say whether a target is possible at all, with no other traffic on the links.
    """
    runs = runs.filter(pl.col("parameters").str.json_path_match("$.case").ne_missing("alone"))
    asking = pl.DataFrame(
        [(each.name, name, point) for each in asked for name, point in each.runs],
        schema={ASKED_BY: pl.String, "plan_hash": pl.String, "point": pl.String},
        orient="row",
    )
    of_studies = asking.join(runs, on="plan_hash", how="inner", maintain_order="left")
    own = [pl.coalesce("point", name).alias(name) for name in ("parameters", "overrides")]
    of_studies = of_studies.with_columns(own).drop("point")  # not what another asked of the same run
    others = runs.join(asking, on="plan_hash", how="anti", maintain_order="left")
    others = others.with_columns(pl.lit("").alias(ASKED_BY)).select(of_studies.columns)
    frame, parameters = table_of(with_packets(pl.concat([of_studies, others]), known), [ASKED_BY])
    frame, parameters = _with_one_name(_as_shown(frame, parameters), parameters)
    for path in (name for name in parameters if name.endswith((QUEUE, BUFFER))):
        frame = _with_own(frame, path, known)
    return _with_one_scenario(frame, parameters), parameters


def _as_shown(frame: pl.DataFrame, parameters: Sequence[str]) -> pl.DataFrame:
    """What was varied with the texts that lists show, so that conditions find what is read there."""
    texts = [name for name in parameters if frame.schema[name] == pl.String]
    return frame.with_columns(pl.Series(name, [*map(setting_text, frame[name])], pl.String) for name in texts)


def _with_one_scenario(frame: pl.DataFrame, parameters: Sequence[str]) -> pl.DataFrame:
    """Runs of a point of a study under one hash, also those that another study made of a text of its own."""
    points = [ASKED_BY, "scenario", *parameters]
    one = pl.col("scenario_hash").drop_nulls().first().over(points)
    is_asked = (pl.col(ASKED_BY) != "") & pl.col("scenario_hash").is_not_null()
    return frame.with_columns(pl.when(is_asked).then(one).otherwise("scenario_hash").alias("scenario_hash"))


def _with_own(frame: pl.DataFrame, path: str, known: SettingsOf) -> pl.DataFrame:
    """The scenario's own queue or buffer where other runs of a study set one: FIFO is one, whoever set it."""
    setting = set(frame.filter(pl.col(path).is_not_null())[ASKED_BY]) - {""}
    lacking = frame.filter(
        pl.col(path).is_null(), pl.col("scenario_hash").is_not_null(), pl.col(ASKED_BY).is_in(setting)
    )
    own = {identity: known(identity).get(path) for identity in lacking["scenario_hash"].unique()}
    of_study = pl.col("scenario_hash").replace_strict(own, default=None, return_dtype=pl.String)
    is_lacking = pl.col(path).is_null() & pl.col(ASKED_BY).is_in(setting)
    return (
        frame.with_columns(pl.when(is_lacking).then(of_study).otherwise(path).alias(path)) if own else frame
    )


def _with_one_name(frame: pl.DataFrame, parameters: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    """A column in place of two where one says `bottleneck` and the other `links[0]`."""
    for path in parameters:
        other = _one_name(path)
        if other != path and other in parameters:
            both = (pl.col(each).cast(pl.String) for each in (other, path))
            frame = frame.with_columns(pl.coalesce(both).alias(other)).drop(path)
    queue = next((name for name in frame.columns if name in parameters and name.endswith(QUEUE)), None)
    if queue and "queue" in parameters:  # what a study calls its run, if it set none for it
        said = pl.when(pl.col("queue") != OWN).then("queue")
        frame = frame.with_columns(pl.coalesce(queue, said).alias(queue)).drop("queue")
    return frame, [path for path in parameters if path in frame.columns]


def means_by_study(frame: pl.DataFrame, parameters: Sequence[str]) -> pl.DataFrame:
    """Means over the seeds of each point, of each study by itself: another may have had more seeds.

    Args:
        frame: What `rows_by_study` has made.
        parameters: What was varied.
    """
    parts = [
        means_of_points(part, parameters).with_columns(pl.lit(part[ASKED_BY][0]).alias(ASKED_BY))
        for part in frame.partition_by(ASKED_BY, maintain_order=True)
    ]
    return pl.concat(parts, how="diagonal") if parts else frame


def labels_of(parameters: Sequence[str]) -> list[str]:
    """What was varied, without studies' names of their runs where queue or buffer say as much."""
    is_said = any(name.endswith((".queue", ".buffer")) for name in parameters)
    return [name for name in parameters if not (is_said and name in _NAMES)]


def grouped_rows(
    frame: pl.DataFrame,
    asked: Sequence[Asked],
    labels: Sequence[str],
    figures: Sequence[str],
    known: Mapping[str, Sequence[str]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The groups of rows (what each is, of what, when it began, what it changed, its job), and the rows.

    Args:
        frame: What `rows_by_study` or `means_by_study` has made.
        asked: The studies.
        labels: The columns that are no figures.
        figures: The columns that are.
        known: The names of the scenario's groups of flows, by study.
    """
    found = frame.to_dicts()
    studies = {each.name: each.study for each in asked}
    groups = {
        group: _described(group, row["scenario"], studies, known.get(group, ()))
        for row in found
        if (group := _group(row, labels))
    }
    versions = _versions(found, labels)
    return [*groups.values()], [_row(row, labels, figures, versions) for row in found]


def _described(
    group: str, scenario: str, studies: Mapping[str, Study], names: Sequence[str]
) -> dict[str, Any]:
    study = studies.get(group)
    if study is None:
        title = group.removeprefix(f"{scenario}: ")
        of_none = {"began_at": None, "changed": "", "job": ""}
        return {"name": group, "title": title, "scenario": scenario} | of_none
    varied = setting_names(study.varied, names).values()
    own = {_one_name(path) for path in study.varied}
    changed = {
        path: value
        for path, value in study.changed.items()
        if _one_name(path) not in own and not (study.command in _OF_QUEUES and path.endswith(QUEUE))
    }
    of = f" of {words_in_a_row(varied)}" if varied else ""
    return {
        "name": group,
        "title": f"{study.command}{of}",
        "scenario": study.scenario,
        "began_at": study.began_at,
        "changed": changes_text(changed, names),
        "job": study.job,
    }


def _one_name(path: str) -> str:
    """A key of the first link under one of its names."""
    return path.replace("links[0].", "bottleneck.", 1)


def _group(row: Mapping[str, Any], labels: Sequence[str]) -> str:
    """What a run was one of: a study, or of none, its scenario and what was varied.

    A study of queues and buffers names each run's case, whatever it changed for it.
    """
    if row[ASKED_BY]:
        return str(row[ASKED_BY])
    varied = [name for name in labels if name not in BESIDE and row[name] is not None]
    said = ", ".join(dict.fromkeys(setting_names(varied).values())) or "as it is"
    if row.get("case") is not None:
        said = "queues and buffers tried"
    return f"{row['scenario']}: {said}"


def _versions(rows: Iterable[Mapping[str, Any]], labels: Sequence[str]) -> dict[tuple[str, str | None], int]:
    """Numbers of scenarios by group and hash, in groups where two runs differ in nothing that is shown."""
    hashes: dict[str, dict[str | None, None]] = {}
    alike: dict[tuple[str, tuple[Any, ...]], set[str | None]] = {}
    for row in rows:
        group = _group(row, labels)
        hashes.setdefault(group, {})[row["scenario_hash"]] = None
        alike.setdefault((group, tuple(row[name] for name in labels)), set()).add(row["scenario_hash"])
    unclear = {group for (group, _), found in alike.items() if len(found) > 1}
    return {(group, each): number for group in unclear for number, each in enumerate(hashes[group], start=1)}


def _row(
    row: Mapping[str, Any],
    labels: Sequence[str],
    figures: Sequence[str],
    versions: Mapping[tuple[str, str | None], int],
) -> dict[str, Any]:
    group = _group(row, labels)
    return {
        "scenario_hash": row["scenario_hash"],
        "problem": row["error"] if row.get("status", DONE) != DONE else None,
        "group": group,
        "labels": [
            versions.get((group, row["scenario_hash"])),
            *(row[name] for name in labels),
        ],
        "values": [_shown(name, row.get(name)) for name in figures],
        "widths": [_shown(name, row.get(name + CONFIDENCE_SUFFIX)) for name in figures],
    }


def _shown(name: str, value: float | None) -> float | None:
    metric = listed_metric(name)
    return None if value is None or metric is None else float(metric.unit.scaled(value))
