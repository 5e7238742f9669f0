"""Conditions of the page's list of runs, in the words that the list shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store.query import condition_notes, where
from bufferlab.results.metrics.metric import Metric

OPTION: Final = "--where"
"""What the command calls a condition, which cannot be typed in the page."""

_PLACE: Final = "condition"
_TEXT: Final = r"'(?:[^']|'')*'"
_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_QUANTITY: Final = rf"^({_NUMBER})\s+(\S+)$"
_RELATION: Final = r"\s*(?:<=|>=|<>|!=|=|<|>)\s*"
_ROW: Final = "row of the list"
_LEAST_LETTERS: Final = 4
"""Of a word by which a figure is looked for."""


def meeting(
    frame: pl.DataFrame,
    conditions: Sequence[str],
    short: Mapping[str, str],
    figures: Mapping[str, Metric],
    filled: Callable[[Sequence[str]], pl.DataFrame] | None = None,
) -> pl.DataFrame:
    """The rows that meet all conditions; `buffer > 50` where the list shows packets, too.

    Args:
        frame: The rows, with the texts that are shown.
        conditions: As they were typed.
        short: What columns are called in the list, by name.
        figures: All that a list can have.
        filled: Gives the same rows with some settings also where none was set: these are compared.

    Raises:
        InputError: A condition cannot be used.
    """
    asked = [name for name, title in short.items() if any(_names(each, name, title) for each in conditions)]
    whole = filled(asked) if filled and asked else frame
    named = {**{name: name for name in short}, **{title: name for name, title in short.items()}}
    aliases = {title: name for title, name in named.items() if title not in frame.columns}
    counted = {title: found for title, name in named.items() if (found := _numbers(whole[name]))}
    wide = whole.with_columns(
        *(pl.col(name).alias(title) for title, name in aliases.items()),
        *(numbers.alias(_in_unit(title, unit)) for title, (numbers, unit) in counted.items()),
    )
    units = {title: unit for title, (_, unit) in counted.items()}
    read = [_with_numbers(each, units) for each in conditions]
    try:
        return frame[where(wide.with_row_index(_ROW), read)[_ROW]]
    except InputError as error:
        raise _said(error, conditions, [*short.values()], figures) from None


def _names(condition: str, *names: str) -> bool:
    return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.\[])", condition) for name in names)


def in_figures(condition: str, figures: Container[str]) -> str:
    """A condition with names of figures in the place of those that targets have for calls: `call.r`."""

    def read(found: re.Match[str]) -> str:
        group, last = found["group"], found["last"]
        names = (f"{group}.call_{last}", f"call_{last}") if group else ()
        return next((name for name in names if name in figures), found[0])

    return re.sub(rf"{_TEXT}|(?<![\w.])(?P<group>\w+)\.(?P<last>r|mos)\b", read, condition)


def notes_on(frame: pl.DataFrame, conditions: Sequence[str]) -> list[str]:
    """What conditions may not mean."""
    return [note.removeprefix(f"{OPTION}: ") for note in condition_notes(frame, conditions)]


def _numbers(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Quantities of one unit as numbers, and the unit; `None` if they are others."""
    if column.dtype != pl.String:
        return None
    parts = column.to_frame().select(
        number=pl.col(column.name).str.extract(_QUANTITY, 1).cast(pl.Float64, strict=False),
        unit=pl.col(column.name).str.extract(_QUANTITY, 2).str.replace("^packet$", "packets"),
    )
    units = parts["unit"].drop_nulls().unique()
    if len(units) != 1 or parts["unit"].null_count() != column.null_count():
        return None
    return parts["number"], str(units[0])


def _in_unit(title: str, unit: str) -> str:
    return f"{title} in {unit}"


def _with_numbers(condition: str, units: Mapping[str, str]) -> str:
    """A condition whose columns of quantities are compared as numbers, where it compares them with one."""
    if not units:
        return condition
    names = "|".join(re.escape(name) for name in sorted(units, key=len, reverse=True))
    pattern = rf"({_TEXT})|(?<![\w.])({names})({_RELATION}{_NUMBER})(?:\s*([a-zA-Zµ]+)\b)?"

    def read(found: re.Match[str]) -> str:
        text, name, compared, unit = found.groups()
        if text:
            return str(text)
        own = units[name]
        behind = f" {unit}" if unit and unit.removesuffix("s") != own.removesuffix("s") else ""
        return f"{_in_unit(name, own)}{compared}{behind}"

    return re.sub(pattern, read, condition)


def _said(
    error: InputError, conditions: Sequence[str], labels: Sequence[str], figures: Mapping[str, Metric]
) -> InputError:
    """What is wrong with a condition, with the names that the page shows and no option of a command."""
    if re.search("unit|single quotes", error.problem):
        return InputError(error.problem, file=_PLACE, value=error.value, accepted=error.accepted)
    condition = " and ".join(conditions)
    words = [word for word in re.findall(r"[a-z]+", condition.lower()) if len(word) >= _LEAST_LETTERS]
    meant = [*_meant(words, figures)]
    names = f"; did you mean {', '.join(meant)}?" if meant else ""
    if error.problem.startswith("is no column"):
        names = f": {error.value} is no column" + names
    known = ", ".join(dict.fromkeys([*labels, "utilization", "loss", "wait_mean_ms"]))
    return InputError(
        f"cannot be used to filter{names}",
        file=_PLACE,
        value=condition,
        accepted=f"a column's name, compared with a number without a unit or with words in single quotes: "
        f"utilization > 0.99, queue = 'fifo'. Names are {known} and others under What a condition can name",
    )


def _meant(words: Sequence[str], figures: Mapping[str, Metric]) -> Iterator[str]:
    """Figures whose titles have the words."""
    for name, metric in figures.items():
        title = (metric.title or "").lower()
        if title and words and all(word in title for word in words if word not in {"and", "or", "not"}):
            yield f"{name} ({metric.title})"
