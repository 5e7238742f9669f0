"""What people ask of a list of runs: conditions, columns, order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store.rows import FIGURES

_TEXT: Final = r"'(?:[^']|'')*'|\"[^\"]*\""
_SHOWN_NAMES: Final = 12


def where(frame: pl.DataFrame, conditions: Sequence[str]) -> pl.DataFrame:
    """Keep the rows that meet all conditions.

    A condition is an expression of SQL: `utilization > 0.99`, `links[0].buffer = '50 packets' and seed < 5`.
    Columns whose names are paths need no quotes.

    Raises:
        InputError: One is no condition, or names no column.
    """
    for condition in conditions:
        try:
            expression = pl.sql_expr(_quoted(condition, frame.columns))
            frame = frame.filter(expression)
        except (pl.exceptions.PolarsError, ValueError) as error:
            reason = " ".join(re.split(r"\n\n|; valid columns", str(error))[0].split())
            raise InputError(
                f"is no usable condition ({reason})",
                file="--where",
                value=condition,
                accepted=f"'utilization > 0.99', over the columns {_names(frame.columns)}",
            ) from None
    return frame


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
        names = list(dict.fromkeys((*frame.columns, *FIGURES)))  # a list may have read some figures only
        raise InputError("is no column", file=option, value=column, accepted=_names(names, every=True))


def _quoted(condition: str, columns: Sequence[str]) -> str:
    """Quote columns, as some are paths or words of SQL, outside texts."""
    names = "|".join(re.escape(name) for name in sorted(columns, key=len, reverse=True))
    pattern = re.compile(rf"({_TEXT})|(?<![\w.])({names})(?![\w.\[])")
    return pattern.sub(lambda match: match[1] or f'"{match[2]}"', condition)


def _names(columns: Sequence[str], *, every: bool = False) -> str:
    shown = columns if every else columns[:_SHOWN_NAMES]
    return ", ".join(shown) + (", …" if len(shown) < len(columns) else "")
