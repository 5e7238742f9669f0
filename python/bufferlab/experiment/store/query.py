"""What people ask of a list of runs: conditions, columns, order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import polars as pl

from bufferlab.errors import InputError, did_you_mean
from bufferlab.experiment.store.condition_units import bounds_in_percent, refuse_units
from bufferlab.experiment.store.rows import FIGURES

_TEXT: Final = r"'(?:[^']|'')*'|\"[^\"]*\""
_PATH: Final = r"\b[A-Za-z_]\w*(?:\[\w*\]|\.\w+)+"
_SHOWN_NAMES: Final = 12


def where(frame: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """Keep the rows that meet all conditions.

    A condition is an expression of SQL: `utilization > 0.99`, `links[0].buffer = '50 packets' and seed < 5`.
    Columns whose names are paths need no quotes. Values are in the column's own unit.

    Raises:
        InputError: One is no condition, names no column, or has a unit.
    """
    for condition in conditions:
        quoted = _quoted(condition, frame.columns)
        path = re.search(_PATH, re.sub(_TEXT, "", quoted))
        if path is not None:
            raise _no_column(frame, path[0], "--where")
        refuse_units(condition, quoted)
        try:
            expression = pl.sql_expr(quoted)
            frame = frame.filter(expression)
        except pl.exceptions.ColumnNotFoundError as error:
            unknown = (re.findall(r'"([^"]*)"', str(error)) or [condition])[0]
            raise _text(condition, unknown) or _no_column(frame, unknown, "--where") from None
        except (pl.exceptions.PolarsError, ValueError) as error:
            reason = " ".join(re.split(r"\n\n|; valid columns", str(error))[0].split())
            raise InputError(
                f"is no usable condition ({reason})",
                file="--where",
                value=condition,
                accepted=f"'utilization > 0.99', over the columns {_beginning(frame.columns)}",
            ) from None
    return frame


def condition_notes(frame: pl.DataFrame, conditions: Sequence[str]) -> list[str]:
    """What conditions may not mean: bounds of shares in percent."""
    return [note for each in conditions for note in bounds_in_percent(_quoted(each, frame.columns))]


def choose(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Keep some columns, in this order.

    Raises:
        InputError: There is none of that name, or one is named twice.
    """
    for column in columns:
        _known(frame, column, "--columns")
        if columns.count(column) > 1:
            raise InputError("is named twice", file="--columns", value=column, accepted="each column once")
    return frame.select(columns)


def order(frame: pl.DataFrame, column: str, *, descending: bool = False) -> pl.DataFrame:
    """Sort by a column, null last; texts that start with a number, such as "50 packets", by the number.

    Raises:
        InputError: There is none of that name.
    """
    _known(frame, column, "--sort")
    keys = [pl.col(column)]
    if frame.schema[column] == pl.String:
        keys = [pl.col(column).str.extract(r"^([+-]?[0-9.]+)").cast(pl.Float64, strict=False), pl.col(column)]
    return frame.sort(keys, descending=descending, nulls_last=True, maintain_order=True)


def split_columns(text: str) -> list[str]:
    """Split "a,b" into names."""
    return [name.strip() for name in text.split(",") if name.strip()]


def _known(frame: pl.DataFrame, column: str, option: str) -> None:
    if column not in frame.columns:
        raise _no_column(frame, column, option)


def _no_column(frame: pl.DataFrame, column: str, option: str) -> InputError:
    names = list(dict.fromkeys((*frame.columns, *FIGURES)))  # a list may have read some figures only
    hint = did_you_mean(column, names)
    return InputError(f"is no column{hint}", file=option, value=column, accepted=", ".join(names))


def _text(condition: str, word: str) -> InputError | None:
    """What is wrong with a word in double quotes that something is compared with; `None` if it is none."""
    value = re.search(rf'([=>(,]|\blike)\s*"{re.escape(word)}"', condition, re.IGNORECASE)
    if value is None:
        return None
    text = f"'{word}'"
    corrected = condition.replace(f'"{word}"', text)
    return InputError(
        "is no column: write texts in single quotes", file="--where", value=word, accepted=corrected
    )


def _quoted(condition: str, columns: Sequence[str]) -> str:
    """Quote columns, as some are paths or words of SQL, outside texts."""
    names = "|".join(re.escape(name) for name in sorted(columns, key=len, reverse=True))
    pattern = re.compile(rf"({_TEXT})|(?<![\w.])({names})(?![\w.\[])")
    return pattern.sub(lambda match: match[1] or f'"{match[2]}"', condition)


def _beginning(columns: Sequence[str]) -> str:
    return ", ".join(columns[:_SHOWN_NAMES]) + (", …" if len(columns) > _SHOWN_NAMES else "")
