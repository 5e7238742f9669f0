"""Writes web/gallery/figures.json: the documents' figures for the page, with scenarios to see live.

    python scripts/gallery.py            # --check only compares, --anew also looks for seeds

web/gallery/figures.toml chooses the figures. Their points are those that full reproductions measured, what
was published is from the claims files, and the scenarios are those of the points. The live runs of a figure
have one seed, that whose runs are nearest to the figure's points. It is looked for where scenarios are others
than before; for all with --anew, as after a change of what is simulated.
"""

from __future__ import annotations

import json
import math
import re
import statistics
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.evidence import measured
from bufferlab.evidence.document import Claim, Document, Figure
from bufferlab.evidence.documents import bundled_documents, compared
from bufferlab.evidence.expressions import Names, evaluate
from bufferlab.evidence.measuring import ROW, measure, recipe_of
from bufferlab.evidence.reproduction import Request
from bufferlab.evidence.simulated import points_of_full_run, scenarios_of
from bufferlab.evidence.verdicts import Compared, compare
from bufferlab.experiment.experiment import Experiment
from bufferlab.scenario import Scenario

FOLDER: Final = Path(__file__).parents[1] / "web" / "gallery"
CHOSEN: Final = FOLDER / "figures.toml"
MADE: Final = FOLDER / "figures.json"
DIGITS: Final = 4
SEEDS: Final = 8
"""Among which that of a figure's live runs is looked for."""
_QUOTED: Final = re.compile(r'"[^"\n]*"')
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?")

Point = tuple[float, float]


@dataclass(frozen=True)
class Chosen:
    """A figure of the gallery: what the file says, and what is known of it."""

    said: Mapping[str, Any]
    document: Document
    figure: Figure
    points: Compared
    claims: Mapping[str, Claim]


def gallery(kept: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The documents with their figures.

    Args:
        kept: Figures by name as the file has them, whose seeds are good for their scenarios.
    """
    documents = {each.name: each for each in bundled_documents()}
    chosen = [
        _chosen(each, documents) for each in tomllib.loads(CHOSEN.read_text(encoding="utf-8"))["figures"]
    ]
    return [
        {
            "title": group[0].document.title,
            "citation": group[0].document.citation,
            "figures": [_figure(each, kept) for each in group],
        }
        for group in (list(found) for _, found in groupby(chosen, key=lambda each: each.document.name))
    ]


def _chosen(said: Mapping[str, Any], documents: Mapping[str, Document]) -> Chosen:
    name, _, part = said["of"].partition("/")
    document, figure = documents[name], documents[name].figures[part]
    kept = measured.load(document, figure)
    if kept is None:
        raise ValueError(f"{said['of']} was not recorded")
    claims = {claim.id: claim for claim in document.claims_of(figure.name)}
    return Chosen(said, document, figure, compared(document, figure, kept), claims)


def _figure(chosen: Chosen, kept: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    said = chosen.said
    name = f"{said['of'].replace('/', '.')}{'.' + said['name'] if 'name' in said else ''}"
    return {
        "name": name,
        "of": said["of"],
        "title": said["title"],
        **{key: said[key] for key in ("shows", "states", "found", "agree")},
        "note": said.get("note", ""),
        "x": {key: value for key, value in said["x"].items() if key != "key"},
        "y": said["y"],
        "lines": [_line(chosen, line) for line in said["lines"]],
        "published": [_published(chosen, claim) for claim in said.get("claims", ())],
        "level": _level(chosen),
        "verdicts": list(_verdicts(chosen)),
        "tolerance": _tolerance(chosen),
        "reasons": list(_reasons(chosen)),
        **_live(chosen, kept.get(name, {})),
        "shortened": any(key.startswith("run.") for key in said.get("set", {})),
    }


def _line(chosen: Chosen, line: Mapping[str, Any]) -> dict[str, Any]:
    frame = chosen.points.others[line["other"]] if "other" in line else chosen.points.ours
    for key, value in line.get("where", {}).items():
        if key in frame.columns:
            frame = frame.filter(pl.col(key) == value)
    x, column = chosen.said["x"]["key"], line["column"]
    rows = frame.select(x, column).drop_nulls().sort(x).rows()
    if len(rows) < 2 or len({row[0] for row in rows}) < len(rows):
        raise ValueError(f"{chosen.said['of']}, {line['title']}: {len(rows)} points, or two at one place")
    points = [(each, _rounded(value)) for each, value in rows]
    return {"title": line["title"], "published": line.get("published", False), "points": points}


def _published(chosen: Chosen, name: str) -> dict[str, Any]:
    claim = chosen.claims[name]
    (x,) = [value for key, value in claim.setting.items() if key == chosen.said["x"]["key"]]
    return {"point": (x, _number(claim)), "what": claim.what, "place": claim.place}


def _level(chosen: Chosen) -> float | None:
    return _number(chosen.claims[chosen.said["level"]]) if "level" in chosen.said else None


def _number(claim: Claim) -> float:
    value = claim.value
    if isinstance(value, str):
        found = evaluate(value, Names({}))
        return _rounded(found if isinstance(found, int | float) else 0.0)
    if not isinstance(value, int | float):
        raise TypeError(f"{claim.id} states no single number")
    return _rounded(value)


def _compared(chosen: Chosen) -> pl.DataFrame:
    """What the document states of what the figure draws, and what came of it: `about` names the claims."""
    found = compare(chosen.document, chosen.figure, chosen.points)
    ours = [line.get("where", {}) for line in chosen.said["lines"] if "other" not in line]
    drawn = [any(_is_of(setting, where) for where in ours) for setting in found["setting"]]
    return found.filter(pl.col("claim").is_in(chosen.said.get("about", [*chosen.claims])), pl.Series(drawn))


def _is_of(setting: str, where: Mapping[str, Any]) -> bool:
    """Whether a point's setting in words has a line's values, as far as it names their keys."""
    return all(
        f"{key} = " not in setting or f"{key} = {value}," in f"{setting}," for key, value in where.items()
    )


def _verdicts(chosen: Chosen) -> Iterator[dict[str, Any]]:
    """How many points were compared, by verdict; bounds that are kept say less than values that agree."""
    found = _compared(chosen)
    bounds = [_is_bound(chosen.claims[name]) for name in found["claim"]]
    counted = found.group_by("verdict", pl.Series("is_bound", bounds, pl.Boolean)).len("count")
    yield from counted.sort("verdict", "is_bound", descending=[False, True]).to_dicts()


def _is_bound(claim: Claim) -> bool:
    return claim.bound not in {"=", "about"} or isinstance(claim.value, tuple)


def _tolerance(chosen: Chosen) -> str:
    """How far values may be from the stated ones: "50 %"; nothing where all have to be the stated ones."""
    claims = [chosen.claims[name] for name in _compared(chosen)["claim"].unique(maintain_order=True)]
    texts = dict.fromkeys(_tolerance_text(claim) for claim in claims if not _is_bound(claim))
    return ", ".join(filter(None, texts))


def _tolerance_text(claim: Claim) -> str:
    amount = claim.tolerance.amount
    if claim.tolerance.relative:
        return f"{100 * amount:g} %"
    return f"{amount:g} {claim.unit}".rstrip() if amount else ""


def _reasons(chosen: Chosen) -> Iterator[dict[str, Any]]:
    """The points by their verdict, and why they do not agree with what is stated: each reason once."""
    reasons: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in _compared(chosen).sort("verdict", maintain_order=True).iter_rows(named=True):
        why = "" if row["verdict"] == "agrees" else row["why"]
        reasons.setdefault((row["verdict"], _NUMBER.sub("", why)), []).append(row | {"why": why})
    for (verdict, _), rows in reasons.items():
        others = len({row["why"] for row in rows}) - 1
        yield {
            "verdict": verdict,
            "why": rows[0]["why"] + (" (The numbers are those of the first point.)" if others else ""),
            "points": [_point(chosen, row) for row in rows],
        }


def _point(chosen: Chosen, row: Mapping[str, Any]) -> dict[str, str]:
    claim = chosen.claims[row["claim"]]
    unit = f" {row['unit']}" if row["unit"] else ""
    return {
        "what": row["what"],
        "place": _place(chosen, row["setting"]),
        "stated": f"{row['stated']}{_taken(claim)}{unit}" if row["stated"] else "nothing",
        "here": "nothing" if row["ours"] is None else f"{_rounded(row['ours']):g}{unit}",
    }


def _place(chosen: Chosen, setting: str) -> str:
    """Where in the figure a point is: "with offload; buffer: 5 packets"."""
    values = dict(part.split(" = ", 1) for part in setting.split(", ")) if setting else {}
    wheres = [line for line in chosen.said["lines"] if "other" not in line and "where" in line]
    titles = {line["title"].removeprefix("Simulated, ") for line in wheres if _is_of(setting, line["where"])}
    named = titles if 0 < len(titles) < len(wheres) else set()
    key, title = chosen.said["x"]["key"], chosen.said["x"]["title"]
    name, _, unit = title.partition(", ")
    at = [f"{name[0].lower()}{name[1:]}: {float(values[key]):g} {unit}".rstrip()] if key in values else []
    return "; ".join([*sorted(named), *at])


def _taken(claim: Claim) -> str:
    """The number that words stand for, if neither they nor what is stated has it."""
    if not isinstance(claim.value, int | float) or not re.search(r"\d", claim.says):
        return ""
    number = f"{claim.value:g}"
    return "" if number in _NUMBER.findall(claim.says) else f" (taken as {number})"


def _live(chosen: Chosen, kept: Mapping[str, Any]) -> dict[str, Any]:
    """The live runs, their seed (none if nothing is random), what they, all seeds and the chart's come to."""
    scenarios = _scenarios(chosen)
    seed = kept.get("seed")
    if kept and [each["text"] for each in kept["variants"]] == _texts(chosen, scenarios, seed):
        found = [(each["here"], each["tried"]) for each in kept["variants"]]
    else:
        seed, found = _nearest(chosen, scenarios)
    texts = _texts(chosen, scenarios, seed)
    return {
        "seed": seed,
        "groups": chosen.said.get("groups", ""),
        "variants": [
            {
                "name": variant["name"],
                "text": text,
                "here": here,
                "tried": tried,
                "chart": _charted(chosen, variant["at"])[:2],
            }
            for variant, text, (here, tried) in zip(chosen.said["variants"], texts, found, strict=True)
        ],
    }


def _scenarios(chosen: Chosen) -> list[Scenario]:
    runs = chosen.document.runs[chosen.said["runs"]]
    found = []
    for variant in chosen.said["variants"]:
        ((_, scenario),) = scenarios_of(chosen.document, runs, Request(), _only(variant)).items()
        found.append(scenario.with_overrides({"run.name": variant["name"], **chosen.said.get("set", {})}))
    return found


def _only(variant: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    return {key: [value] for key, value in variant["at"].items()}


def _texts(chosen: Chosen, scenarios: Sequence[Scenario], seed: int | None) -> list[str]:
    """The scenarios, with names of groups for people; what is random is drawn by names."""
    seeded = {} if seed is None else {"run.seed": seed}
    texts = [scenario.with_overrides(seeded).to_toml() for scenario in scenarios]
    names = {f'"{old}"': f'"{new}"' for old, new in chosen.said.get("names", {}).items()}
    return [_QUOTED.sub(lambda each: names.get(each[0], each[0]), text) for text in texts]


def _nearest(chosen: Chosen, scenarios: Sequence[Scenario]) -> tuple[int | None, list[tuple[float, Point]]]:
    """The seed whose runs are nearest to the chart's medians, else means; what they and all come to.

    Of several runs the farthest counts, as a ratio. What the chart does not draw is compared with the median
    of the seeds tried.
    """
    found = _simulated(chosen, scenarios)
    spans = [(_rounded(min(values)), _rounded(max(values))) for values in found]
    if all(len(set(values)) == 1 for values in found):
        return None, [(least, (least, most)) for least, most in spans]
    if "names" in chosen.said:
        raise ValueError(f"{chosen.said['of']}: with other names of groups, other runs")
    middles = [
        _charted(chosen, variant["at"])[2] or statistics.median(values)
        for variant, values in zip(chosen.said["variants"], found, strict=True)
    ]
    far = [
        max(abs(math.log(value / middle)) for value, middle in zip(values, middles, strict=True))
        for values in zip(*found, strict=True)
    ]
    at = far.index(min(far))
    return at + 1, [(_rounded(values[at]), span) for values, span in zip(found, spans, strict=True)]


def _simulated(chosen: Chosen, scenarios: Sequence[Scenario]) -> list[list[float]]:
    """Of each scenario what it comes to with each seed."""
    document, runs = chosen.document, chosen.document.runs[chosen.said["runs"]]
    points = [points_of_full_run(document, runs, _only(each)).rows[0] for each in chosen.said["variants"]]
    recipe = recipe_of(document, runs)
    experiment = Experiment(
        chosen.said["title"],
        dict(enumerate(scenarios)),
        measure={at: partial(measure, recipe, point) for at, point in enumerate(points)},
        seeds=SEEDS,
    )
    values = [each[ROW][_seen(chosen)] for each in Request().runner().values(experiment)]
    return [values[start : start + SEEDS] for start in range(0, len(values), SEEDS)]


def _seen(chosen: Chosen) -> str:
    """The column by which live runs are compared with the chart's."""
    return str(chosen.said.get("seen", chosen.said["lines"][0]["column"]))


def _charted(chosen: Chosen, at: Mapping[str, Any]) -> tuple[float | None, float | None, float | None]:
    """Least and most of the chart's runs at a point, and their median, or mean where no median is kept."""
    frame, column = chosen.points.ours, _seen(chosen)
    if column not in frame.columns:
        return None, None, None
    (row,) = frame.filter(pl.col(key) == value for key, value in at.items()).to_dicts()
    middle = row.get(f"{column}_p50") or row[column]
    return _rounded(row[f"{column}_min"]), _rounded(row[f"{column}_max"]), middle


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def main(*, check: bool, anew: bool) -> int:
    """Write the file, or compare it; the exit status."""
    before = MADE.read_text(encoding="utf-8") if MADE.exists() else "[]"
    kept = {figure["name"]: figure for document in json.loads(before) for figure in document["figures"]}
    text = json.dumps(gallery({} if anew else kept), indent=1, ensure_ascii=False) + "\n"
    if text == before:
        return 0
    if check:
        sys.stderr.write("web/gallery/figures.json is not up to date: run make docs\n")
        return 1
    MADE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:], anew="--anew" in sys.argv[1:]))
