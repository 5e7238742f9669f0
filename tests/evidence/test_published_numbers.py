"""Published numbers stand in claims files, and runs of references in tables: none stands in Python."""

from __future__ import annotations

import ast
import csv
import importlib
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bufferlab import evidence

EVIDENCE = Path(evidence.__path__[0])
FOLDERS = sorted(each.parent for each in EVIDENCE.glob("*/__init__.py"))
REFERENCES = {"kernels": "data/grid.csv", "ns2": "data/*.csv", "referee": "data/*.csv"}
"""Folders about programs, not documents, with their tables: nobody published these numbers."""

NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
TELLING = 3
"""Digits from which on a number is not in two places by chance."""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_a_folder_has_claims_or_is_about_a_program(folder: Path) -> None:
    has_claims = (folder / "claims.toml").is_file()
    assert has_claims != (folder.name in REFERENCES)
    if has_claims:
        assert tomllib.loads((folder / "claims.toml").read_text()).get("claims"), "states nothing"
    else:
        said = importlib.import_module(f"bufferlab.evidence.{folder.name}").__doc__ or ""
        assert "There is no claims.toml, as nobody published" in said


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_no_stated_number_stands_in_python(folder: Path) -> None:
    assert stated(folder) & written(folder) == set()


@pytest.mark.parametrize(("name", "tables"), REFERENCES.items())
def test_no_number_of_a_reference_stands_in_python(name: str, tables: str) -> None:
    measured = {number for file in EVIDENCE.glob(f"{name}/{tables}") for number in cells(file)}
    assert len(measured) > 100
    assert {each for each in measured if digits(each) > TELLING} & written(EVIDENCE / name) == set()


def test_a_number_in_python_is_found(tmp_path: Path) -> None:
    (tmp_path / "figures.py").write_text("EXPECTED = -0.974\n")
    (tmp_path / "claims.toml").write_text("[[claims]]\nvalue = 0.5\nothers = [{ value = '0.974 * flows' }]\n")
    assert stated(tmp_path) & written(tmp_path) == {0.974}


def stated(folder: Path) -> set[float]:
    """The telling numbers that the claims of a folder state, of the document and of others."""
    file = folder / "claims.toml"
    claims = tomllib.loads(file.read_text()).get("claims", []) if file.is_file() else []
    values = [each.get("value") for claim in claims for each in (claim, *claim.get("others", []))]
    return {number for value in values for number in numbers(value) if digits(number) >= TELLING}


def numbers(value: Any) -> Iterator[float]:
    """The numbers of a value: itself, those of a range, those of a text."""
    if isinstance(value, list):
        for each in value:
            yield from numbers(each)
    elif isinstance(value, str):
        yield from map(float, NUMBER.findall(value))
    elif isinstance(value, int | float):
        yield abs(float(value))


def literals(tree: ast.AST) -> Iterator[float]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            yield float(node.value)


def written(folder: Path) -> set[float]:
    """The numbers in the Python files of a folder."""
    return {number for file in folder.rglob("*.py") for number in literals(ast.parse(file.read_text()))}


def cells(table: Path) -> Iterator[float]:
    """The numbers of a table."""
    with table.open(encoding="utf-8", newline="") as stream:
        for row in csv.reader(line for line in stream if not line.startswith("#")):
            for cell in row:
                try:
                    yield float(cell)
                except ValueError:
                    continue


def digits(number: float) -> int:
    """How many a number has, without zeros at its ends."""
    return len(f"{number:.12e}".partition("e")[0].replace(".", "").strip("-0"))
