"""What becomes of a document's claims: for each point that decides one, both numbers and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

import polars as pl

from bufferlab.errors import InputError
from bufferlab.evidence.document import (
    Claim,
    Document,
    Figure,
    Finding,
    Headline,
    Key,
    Reason,
    Setting,
    Shown,
)
from bufferlab.evidence.expressions import Value, evaluate, fill, holds
from bufferlab.evidence.point_values import Points, PointValues, Row
from bufferlab.evidence.reading import CLAIMS_FILE

Verdict = Literal["agrees", "differs", "not comparable"]
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)

COMPARISON: Final[Mapping[str, type[pl.DataType]]] = {
    "claim": pl.String,
    "place": pl.String,
    "setting": pl.String,
    "what": pl.String,
    "unit": pl.String,
    "stated": pl.String,
    "others": pl.String,
    "ours": pl.Float64,
    "ours_ci95": pl.Float64,
    "ours_min": pl.Float64,
    "ours_max": pl.Float64,
    "difference_percent": pl.Float64,
    "tolerance": pl.Float64,
    "verdict": pl.String,
    "why": pl.String,
}
"""Columns of comparison.csv, the same for all documents: one row a claim and point.

`stated` is the document's number or words, `others` what others measured, `ours_min` and `ours_max` the
range over the seeds, `tolerance` in the unit. `why` is empty where the verdict is "agrees".
"""

UNEXPLAINED: Final = "Not explained."

_MANY: Final = 12
"""Points that an error names at most."""


@dataclass(frozen=True)
class Compared:
    """Points of a figure, ours and others'.

    Attributes:
        ours: Our points.
        others: Those of others by name.
        keys: Columns that tell points apart.
        values: All values of keys, also those that a quick run leaves out, where they are known.
    """

    ours: pl.DataFrame
    others: Mapping[str, pl.DataFrame]
    keys: Sequence[str]
    values: Mapping[str, Sequence[Key]] = field(default_factory=dict)

    @property
    def points(self) -> Points:
        """Our points."""
        return Points.of(self.ours, self.keys, self.values)


def compare(document: Document, figure: Figure, compared: Compared) -> pl.DataFrame:
    """The verdict on each claim of a figure at each point that decides it.

    Raises:
        InputError: An expression of the claims file cannot be computed.
    """
    rows = []
    points = compared.points
    for index, claim in enumerate(document.claims):
        if claim.figure != figure.name:
            continue
        try:
            rows += [_row(claim, figure, points, row, compared) for row in points.select(claim.setting)]
        except InputError as error:
            raise error.at(file=document.folder / CLAIMS_FILE, key=f"claims[{index}] ({claim.id})") from None
    return pl.DataFrame(rows, schema=dict(COMPARISON))


def without_points(document: Document, figure: Figure, points: Points) -> list[str]:
    """The claims of a figure whose settings select none of its points."""
    return [claim.id for claim in document.claims_of(figure.name) if not points.select(claim.setting)]


def require_points(document: Document, figure: Figure, points: Points) -> None:
    """Check that each claim, finding, table and headline of a figure has a point.

    Raises:
        InputError: Some have none: a claim would have no verdict, and the others would not be shown.
    """
    mistakes = [
        _no_point(document, figure, points, key, setting)
        for key, setting in _settings(document, figure)
        if not points.select(setting)
    ]
    if mistakes:
        raise InputError.of(mistakes)


def _settings(document: Document, figure: Figure) -> Iterator[tuple[str, Setting]]:
    """The settings by which a claims file selects points of a figure, each with its key."""
    for index, claim in enumerate(document.claims):
        if claim.figure == figure.name:
            yield f"claims[{index}] ({claim.id}).setting", claim.setting
    parts: Mapping[str, Sequence[Finding | Shown | Headline]] = {
        "findings": figure.findings,
        "show": figure.shown,
        "headlines": figure.headlines,
    }
    for name, listed in parts.items():
        for index, each in enumerate(listed):
            yield f"figures.{figure.name}.{name}[{index}].setting", each.setting


def _no_point(document: Document, figure: Figure, points: Points, key: str, setting: Setting) -> InputError:
    keys = [each for each in points.keys if each in setting] or points.keys
    there = list(dict.fromkeys(setting_text(keys, row) for row in points.rows))
    more = f"; and {len(there) - _MANY} more" if len(there) > _MANY else ""
    return InputError(
        f"{setting_text(setting, setting) or 'any setting'} selects no point of '{figure.name}'",
        file=document.folder / CLAIMS_FILE,
        key=key,
        accepted="; ".join(there[:_MANY]) + more or "none, for there are no points",
    )


def counts(comparison: pl.DataFrame) -> list[int]:
    """How many claims have each of `VERDICTS`.

    A claim differs if it does in one setting; it agrees if it does in all that can be compared.
    """
    order = ("differs", "agrees", "not comparable")
    verdicts: dict[str, str] = {}
    for claim, verdict in comparison.select("claim", "verdict").iter_rows():
        verdicts[claim] = min(verdicts.get(claim, order[-1]), verdict, key=order.index)
    found = list(verdicts.values())
    return [found.count(verdict) for verdict in VERDICTS]


def finding_texts(figure: Figure, compared: Compared) -> list[str]:
    """What the runs of a figure show beyond its claims, each finding by the first point that it selects.

    Raises:
        InputError: An expression cannot be computed.
    """
    points = compared.points
    texts = []
    for index, finding in enumerate(figure.findings):
        for row in points.select(finding.setting)[:1]:
            theirs = others_at(figure, compared, row)
            try:
                text = _explanation(finding.reasons, PointValues(points, row, theirs))
            except InputError as error:
                raise error.at(key=f"figures.{figure.name}.findings[{index}]") from None
            texts += [text] if text != UNEXPLAINED else []
    return texts


def setting_text(keys: Iterable[str], row: Mapping[str, Any]) -> str:
    """What tells a point apart, as the comparison has it."""
    return ", ".join(f"{key} = {row[key]}" for key in keys if key in row)


def others_at(figure: Figure, compared: Compared, row: Row) -> dict[str, Value]:
    """The values of others at a point, `none` where they have not measured it."""
    names: dict[str, Value] = {}
    for other in figure.others:
        found = _point_of_other(compared, other.name, row) or {}
        columns = compared.others[other.name].columns
        names |= {f"{other.name}.{column}": found.get(column) for column in columns}
    return names


def _row(claim: Claim, figure: Figure, points: Points, row: Row, compared: Compared) -> dict[str, Any]:
    others = {other.name: _point_of_other(compared, other.name, row) for other in figure.others}
    theirs = others_at(figure, compared, row)
    scope = PointValues(points, row, theirs)
    ours = _number(evaluate(claim.quantity, scope))
    stated = _stated(claim, scope)
    explained = PointValues(points, row, {**theirs, "ours": ours, "stated": _single(stated)})
    verdict = _verdict(claim, ours, stated, explained)
    reasons = claim.incomparable if verdict == "not comparable" else claim.why
    why = _explanation(reasons, explained)
    _try_all((*claim.why, *claim.incomparable), explained)
    is_column = claim.quantity in row
    single = _single(stated)
    return {
        "claim": claim.id,
        "place": claim.place,
        "setting": setting_text(compared.keys, row),
        "what": claim.what,
        "unit": claim.unit,
        "stated": stated_text(claim, stated),
        "others": _others_text(claim, figure, compared, others),
        "ours": ours,
        **{
            f"ours_{end}": row.get(f"{claim.quantity}_{end}") if is_column else None
            for end in ("ci95", "min", "max")
        },
        "difference_percent": (ours / single - 1.0) * 100.0 if ours is not None and single else None,
        "tolerance": None if single is None else claim.tolerance.of(single),
        "verdict": verdict,
        "why": "" if verdict == "agrees" else why,
    }


def _point_of_other(compared: Compared, name: str, row: Row) -> Row | None:
    points = Points.of(compared.others[name], compared.keys)
    found = points.select({key: row[key] for key in compared.keys})
    return found[0] if found else None


def _number(value: Value) -> float | None:
    if value is None:
        return None
    if isinstance(value, str):
        raise InputError("is not a number", key="quantity", value=value)
    return float(value)


_Stated = float | tuple[float, float] | None


def _stated(claim: Claim, scope: PointValues) -> _Stated:
    if isinstance(claim.value, str):
        return _number(evaluate(claim.value, scope))
    return claim.value


def _single(stated: _Stated) -> float | None:
    """The one number that is stated; of a range there is none."""
    return None if isinstance(stated, tuple) else stated


def stated_text(claim: Claim, stated: _Stated) -> str:
    """What the document states: its number, or its words; where they have none, the number is ours."""
    number = _number_text(claim, stated)
    if not claim.says:
        return number
    ours = bool(number) and not isinstance(claim.value, str) and not any(map(str.isdigit, claim.says))
    return f"{claim.says} (taken as {number})" if ours else claim.says


def _number_text(claim: Claim, stated: _Stated) -> str:
    if isinstance(stated, tuple):
        return f"{stated[0]:g} … {stated[1]:g}"
    if stated is None:
        return ""
    sign = "" if claim.bound == "=" else f"{claim.bound} "
    return f"{sign}{stated:g}"


def _verdict(claim: Claim, ours: float | None, stated: _Stated, scope: PointValues) -> Verdict:
    if ours is None or stated is None or any(holds(reason.when, scope) for reason in claim.incomparable):
        return "not comparable"
    return "agrees" if agrees(claim, ours, stated) else "differs"


def agrees(claim: Claim, ours: float, stated: float | tuple[float, float]) -> bool:
    """Whether our number is what a claim states, within its tolerance."""
    if isinstance(stated, tuple):
        return stated[0] - claim.tolerance.of(stated[0]) <= ours <= stated[1] + claim.tolerance.of(stated[1])
    tolerance = claim.tolerance.of(stated)
    match claim.bound:
        case "<":
            return ours < stated + tolerance
        case ">":
            return ours > stated - tolerance
        case _:
            return abs(ours - stated) <= tolerance


def _explanation(reasons: Sequence[Reason], scope: PointValues) -> str:
    """The first text whose condition holds."""
    for reason in reasons:
        if holds(reason.when, scope):
            return fill(reason.text, scope)
    return UNEXPLAINED if reasons else ""


def _try_all(reasons: Sequence[Reason], scope: PointValues) -> None:
    """Compute all texts, so that mistakes in those that are not shown do not wait for other runs."""
    for reason in reasons:
        holds(reason.when, scope)
        fill(reason.text, scope)


def ranged(value: float, low: float | None, high: float | None) -> str:
    """A value with its range over runs, if there are several that differ."""
    return f"{value:.4g}" if low is None or low == high else f"{value:.4g} ({low:.4g} … {high:.4g})"


def _others_text(claim: Claim, figure: Figure, compared: Compared, rows: Mapping[str, Row | None]) -> str:
    texts = []
    for other in figure.others:
        row = rows[other.name]
        if row is None:
            continue
        points = Points.of(compared.others[other.name], compared.keys)
        value = _number(evaluate(claim.quantity, PointValues(points, row, {}, strict=False)))
        if value is not None:
            low, high = (row.get(f"{claim.quantity}_{end}") for end in ("min", "max"))
            texts.append(f"{other.who}: {ranged(value, low, high)}")
    for each in claim.others:
        shown = each.value if isinstance(each.value, str) else f"{each.value:g}"
        texts.append(f"{each.who}: {shown}")
    return "; ".join(texts)
