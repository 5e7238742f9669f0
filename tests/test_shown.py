"""Tables that documents show have the layout that the commands print today."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

GAP = 2
"""Characters between two columns."""

RULE = re.compile(r" ─+$")
"""The line below a table's heads."""


def tables(text: str) -> Iterator[list[str]]:
    """The tables of all fenced blocks, each up to an empty line, without the line below the heads."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for part in block.split("\n\n"):
            lines = part.splitlines()
            if any(RULE.match(line) for line in lines):
                yield [line for line in lines if not RULE.match(line)]


def gaps(table: list[str]) -> list[int]:
    """How many characters are blank in all lines, between each two columns; one is within a head."""
    width = max(map(len, table))
    is_blank = [all(line[at : at + 1] in {"", " "} for line in table) for at in range(width)]
    columns = "".join(" " if blank else "x" for blank in is_blank)
    return [len(gap) for gap in re.findall(r"(?<=x)  +(?=x)", columns)]


def test_the_gaps_of_a_table_are_found() -> None:
    (table,) = tables("text\n```\nTitle\n\n a    b\n ──────\n xx   1\n\nmore\n```\n")
    assert gaps(table) == [3]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_columns_stand_as_far_apart_as_they_are_printed(path: Path) -> None:
    for table in tables(path.read_text(encoding="utf-8")):
        # a column whose head takes two lines may be a little wider than what is in it, but not all are
        assert min(gaps(table)) == GAP, "\n".join(table)
