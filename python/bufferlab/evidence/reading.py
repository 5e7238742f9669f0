"""Reads claims files."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.evidence.document import (
    BOUNDS,
    Bound,
    Claim,
    Document,
    Effort,
    Figure,
    Finding,
    Headline,
    Key,
    Other,
    Overrides,
    Reason,
    Runs,
    Shown,
    Stated,
    Tolerance,
)
from bufferlab.evidence.expressions import check_expression, check_template
from bufferlab.evidence.tables import Table
from bufferlab.files import read_text

CLAIMS_FILE: Final = "claims.toml"
PAGE: Final = "docs/reproduce.md"
QUEUES: Final = ("bufferlab", "kernel")
"""Whose link a kernel's packets cross."""

SCENARIOS: Final = "scenarios"

_FORMAT: Final = "bufferlab-claims"
_VERSION: Final = 1
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_HOOK: Final = re.compile(r"[a-z_][a-z0-9_.]*:[a-zA-Z_]\w*")
_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?) ?%")


def read_document(folder: Path, package: str | None = None) -> Document:
    """Read the claims file of a folder.

    Args:
        folder: The folder.
        package: Its Python package, if it is part of one.

    Raises:
        InputError: The file cannot be used; the message names file, key, value and what is accepted.
    """
    file = folder / CLAIMS_FILE
    text = read_text(file, what="a claims file, see docs/claims.md")
    try:
        table = Table(tomllib.loads(text))
        return _document(table, folder, package)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"is not TOML: {error}", file=file, accepted="TOML 1.0") from None
    except InputError as error:
        raise error.at(file=file) from None


def _document(table: Table, folder: Path, package: str | None) -> Document:
    if table.take("format", str) != _FORMAT:
        raise table.error("is not a known format", "format", _FORMAT)
    if table.take("format_version", int) != _VERSION:
        raise table.error("is not a known version", "format_version", str(_VERSION))
    head = table.table("document")
    runs: dict[str, Runs] = {}
    for name, each in table.named("runs", like=True):
        runs[name] = _runs(name, each, folder, runs)
    figures = {
        _named(table, "figures", name): _figure(name, each, runs) for name, each in table.named("figures")
    }
    document = Document(
        name=head.checked("name", _plain_name, folder.name),
        title=head.take("title", str),
        citation=head.take("citation", str),
        page=head.take("page", str, PAGE),
        folder=folder,
        package=package,
        runs=runs,
        figures=figures,
        claims=tuple(_claim(each, figures, runs) for each in table.items("claims")),
    )
    head.finish()
    table.finish()
    _refuse_repeated(document)
    return document


def _named(table: Table, key: str, name: str) -> str:
    return table.at(f"{key}.{name}", lambda: _plain_name(name))


def _plain_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise InputError("is not a name", value=name, accepted="letters, digits, '.', '_' and '-'")
    return name


def _hook(text: str) -> str:
    if not _HOOK.fullmatch(text):
        raise InputError(
            "is not a function", value=text, accepted="module:function, of a module in the folder"
        )
    return text


def _refuse_repeated(document: Document) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(document.claims):
        if claim.id in seen:
            raise InputError(
                "is given twice", key=f"claims[{index}].id", value=claim.id, accepted="new names"
            )
        seen.add(claim.id)


def _runs(name: str, table: Table, folder: Path, before: Mapping[str, Runs]) -> Runs:
    scenario = table.take("scenario", str)
    if "{" not in scenario and not is_scenario_of(folder, scenario):
        raise table.error("is not in the folder 'scenarios'", "scenario", "the name of a file there")
    full = _effort(table, None)
    quick_table = table.table("quick")
    quick = _effort(quick_table, full)
    quick_table.finish()
    uml = _uml(table, full) if table.take("uml", dict, None) is not None else None
    runs = Runs(
        name=name,
        scenario=scenario,
        let_with=table.checked("let_with", _hook, None),
        columns=table.texts("columns"),
        measure=_measure(table, before),
        measure_with=table.checked("measure_with", _hook, None),
        frames=table.mapping("frames", _hook),
        derive=table.mapping("derive", check_expression),
        full=full,
        quick=quick,
        uml=uml,
    )
    if not runs.measure and runs.measure_with is None:
        accepted = "expressions by column, or 'measure_with'"
        raise InputError("is required", key=table.place("measure"), accepted=accepted)
    table.finish()
    return runs


def _uml(table: Table, full: Effort) -> tuple[Effort, str]:
    """What a real kernel is given: as the full runs, but `set`, which is in the place of theirs."""
    own = table.table("uml")
    queues = own.take("queues", str, QUEUES[0])
    if queues not in QUEUES:
        raise own.error("are nobody's queues", "queues", " or ".join(QUEUES))
    effort = _effort(own, replace(full, changes={}))
    own.finish()
    return effort, queues


def is_scenario_of(folder: Path, name: str) -> bool:
    """Whether a document has a scenario: a file in its folder of scenarios, and not elsewhere."""
    scenarios = (folder / SCENARIOS).resolve()
    file = (scenarios / name).resolve()
    return file.is_file() and file.is_relative_to(scenarios)


def _measure(table: Table, before: Mapping[str, Runs]) -> dict[str, str]:
    """The columns of other runs, if they are asked for, and the own ones."""
    other = table.take("measure_as", str, None)
    if other is not None and other not in before:
        raise table.error("are not runs above", "measure_as", ", ".join(before) or "runs that stand above")
    taken = {} if other is None else before[other].measure
    return {**taken, **table.mapping("measure", check_expression)}


def _effort(table: Table, full: Effort | None) -> Effort:
    """What is simulated; of `quick` what is left out is as in `full`."""
    seeds = table.any_of("seeds", int, str, default=... if full is None else full.seeds)
    if isinstance(seeds, str):
        table.at("seeds", lambda: check_expression(seeds))
    elif seeds < 1:
        raise table.error("is too small", "seeds", "1 or more")
    changes = _changes(table, "set", table.take("set", dict, {}))
    vary = dict(full.vary) if full is not None else {}
    axes = table.table("vary")
    for key in table.take("vary", dict, {}):
        given = axes.any_of(key, list, dict)
        vary[key] = _axis(axes, key, given, None if full is None else full.vary.get(key))
    return Effort(
        vary=vary,
        where=table.checked("where", check_expression, None if full is None else full.where),
        let={**(full.let if full is not None else {}), **table.mapping("let", check_expression)},
        changes={**(full.changes if full is not None else {}), **changes},
        seeds=seeds,
    )


def _axis(
    axes: Table, key: str, given: list[Any] | dict[str, Any], full: Mapping[Key, Overrides] | None
) -> dict[Key, Overrides]:
    """The values of a key with the changes that they bring; a list of `quick` may name values of `full`."""
    if not given:
        raise axes.error("is empty", key, "at least one value")
    if isinstance(given, dict):
        return {value: _changes(axes, f"{key}.{value}", changes) for value, changes in given.items()}
    if not all(isinstance(value, int | float | str) and not isinstance(value, bool) for value in given):
        raise axes.error("is not a list of values", key, "numbers or texts, or a table of changes by value")
    return {value: (full or {}).get(value, {}) for value in given}


def _changes(table: Table, key: str, changes: object) -> dict[str, Any]:
    if not isinstance(changes, dict):
        raise InputError("is not a table", key=table.place(key), value=changes, accepted="values by path")
    for path, value in changes.items():
        if isinstance(value, str):
            table.at(f"{key}.{path}", lambda value=value: check_template(value))  # type: ignore[misc]
    return changes


def _figure(name: str, table: Table, runs: Mapping[str, Runs]) -> Figure:
    made_of = table.take("runs", str, None)
    if made_of is not None and made_of not in runs:
        raise table.error("are not among the runs", "runs", ", ".join(runs) or "a name of [runs]")
    keys = table.texts("keys")
    known = tuple(keys) if made_of is None or keys else tuple(runs[made_of].full.vary)
    figure = Figure(
        name=name,
        title=table.take("title", str),
        runs=made_of,
        only={key: tuple(values) for key, values in table.take("only", dict, {}).items()},
        tables=table.checked("tables", _hook, None),
        scenarios=table.checked("scenarios", _hook, None),
        points=table.take("points", str, "points"),
        keys=keys,
        draw=table.checked("draw", _hook, None),
        notes=table.texts("notes", check_template),
        others=tuple(_other(other, each) for other, each in table.named("others")),
        findings=tuple(_finding(each, known) for each in table.items("findings")),
        shown=tuple(_shown(each, known) for each in table.items("show")),
        headlines=tuple(_headline(each, known) for each in table.items("headlines")),
    )
    if made_of is None and figure.tables is None:
        raise InputError("is required", key=table.place("runs"), accepted="a name of [runs], or 'tables'")
    if made_of is not None:
        unknown = set(figure.only) - set(runs[made_of].full.vary)
        if unknown:
            accepted = ", ".join(runs[made_of].full.vary)
            raise InputError(
                "does not vary in these runs", key=table.place("only"), value=min(unknown), accepted=accepted
            )
    table.finish()
    return figure


def _other(name: str, table: Table) -> Other:
    points = table.take("points", str)
    other = Other(name, table.take("who", str), table.at("points", lambda: _hook(points)))
    table.finish()
    return other


def _finding(table: Table, known: Sequence[str]) -> Finding:
    finding = Finding(_setting(table, known), _reasons(table, "text"))
    table.finish()
    return finding


def _shown(table: Table, known: Sequence[str]) -> Shown:
    column = table.take("column", str, None)
    cell = table.checked("cell", check_template, "") if column is not None else ""
    shown = Shown(
        title=table.take("title", str),
        rows=table.texts("rows"),
        setting=_setting(table, known),
        cells=table.mapping("cells", check_template) if column is None else {column: cell},
        column=column,
        others=table.texts("others"),
    )
    for key in (*shown.rows, *([] if column is None else [column])):
        if key not in known:
            accepted = ", ".join(known)
            raise InputError(
                "is not a key of the points", key=table.place("rows"), value=key, accepted=accepted
            )
    table.finish()
    return shown


def _headline(table: Table, known: Sequence[str]) -> Headline:
    texts = {key: table.take(key, str) for key in ("what", "reference", "ours")}
    for key, text in texts.items():
        table.at(key, lambda text=text: check_template(text))  # type: ignore[misc]
    headline = Headline(setting=_setting(table, known), readme=table.take("readme", bool, False), **texts)
    table.finish()
    return headline


def _claim(table: Table, figures: Mapping[str, Figure], runs: Mapping[str, Runs]) -> Claim:
    identity = table.take("id", str)
    figure = table.take("figure", str)
    if figure not in figures:
        raise table.error("is not a figure of the document", "figure", ", ".join(figures))
    bound = table.take("bound", str, "=")
    if bound not in BOUNDS:
        raise table.error("is not a bound", "bound", ", ".join(BOUNDS))
    quantity = table.take("quantity", str)
    claim = Claim(
        id=table.at("id", lambda: _plain_name(identity)),
        figure=figure,
        place=table.take("place", str),
        what=table.take("what", str),
        says=table.take("says", str, ""),
        setting=_setting(table, _keys_of(figures[figure], runs)),
        quantity=table.at("quantity", lambda: check_expression(quantity)),
        value=_stated_value(table, bound),
        unit=table.take("unit", str, ""),
        bound=bound,
        tolerance=_tolerance(table),
        others=tuple(_stated(each) for each in table.items("others")),
        why=_reasons(table, "why"),
        incomparable=_reasons(table, "not_comparable"),
    )
    table.finish()
    return claim


def _keys_of(figure: Figure, runs: Mapping[str, Runs]) -> Sequence[str]:
    return tuple(figure.keys) if figure.runs is None or figure.keys else tuple(runs[figure.runs].full.vary)


def _setting(table: Table, known: Sequence[str]) -> dict[str, Key]:
    setting = table.take("setting", dict, {})
    for key in setting:
        if key not in known:
            accepted = ", ".join(known) or "none: the figure has one point"
            raise InputError(
                "is not a key of the figure's points", key=table.place(f"setting.{key}"), accepted=accepted
            )
    return setting


def _stated_value(table: Table, bound: Bound) -> float | str | tuple[float, float] | None:
    value = table.any_of("value", int, float, str, list, default=None)
    if bound == "range":
        if not (
            isinstance(value, list)
            and len(value) == 2
            and all(isinstance(each, int | float) and math.isfinite(each) for each in value)
        ):
            raise InputError(
                "is not a range",
                key=table.place("value"),
                value=value,
                accepted="two numbers: [least, greatest]",
            )
        return float(value[0]), float(value[1])
    if isinstance(value, list):
        raise table.error("is not a number", "value", "a number, or an expression")
    if isinstance(value, str):
        return table.at("value", lambda: check_expression(value))
    return None if value is None else float(value)


def _tolerance(table: Table) -> Tolerance:
    given = table.any_of("tolerance", int, float, str, default=None)
    because = table.take("because", str, "")
    if given is None:
        return Tolerance(because=because)
    if not because:
        raise InputError("is required", key=table.place("because"), accepted="the reason of the tolerance")
    if not isinstance(given, str) and given >= 0:
        return Tolerance(float(given), relative=False, because=because)
    match = _PERCENT.fullmatch(str(given))
    if match is None:
        raise table.error("is not a tolerance", "tolerance", 'a number in the claim\'s unit, or "10 %"')
    return Tolerance(float(match[1]) / 100.0, relative=True, because=because)


def _stated(table: Table) -> Stated:
    stated = Stated(
        who=table.take("who", str),
        value=table.any_of("value", int, float, str),
        source=table.take("source", str),
    )
    table.finish()
    return stated


def _reasons(table: Table, key: str) -> tuple[Reason, ...]:
    """A text, or tables of texts with conditions."""
    given = table.any_of(key, str, list, default=[])
    if isinstance(given, str):
        return (Reason(table.at(key, lambda: check_template(given))),)
    reasons = []
    for each in table.items(key):
        text = each.take("text", str)
        reasons.append(
            Reason(
                each.at("text", lambda text=text: check_template(text)),  # type: ignore[misc]
                each.checked("when", check_expression, None),
            )
        )
        each.finish()
    return tuple(reasons)
