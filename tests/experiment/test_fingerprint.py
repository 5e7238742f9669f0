"""A measure's identity changes with what it computes, and with nothing else."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bufferlab.experiment.fingerprint import describe, fingerprint, identity

BASE = '''
from bufferlab.stats import jain_index
LIMIT = 3
TABLE = {"a": 1}

class Helper:
    """Helps."""

    def used(self, value):
        return value + LIMIT

    def unused(self):
        return 1

    @property
    def size(self):
        return 2

def helper(value):
    """Docstring."""
    return Helper().used(value) + Helper().size

def other():
    return 5

def measure(result, by=LIMIT):
    # comment
    return helper(result) + by + TABLE["a"] + jain_index([1.0])
'''

_count = 0


def load(folder: Path, source: str) -> ModuleType:
    global _count  # noqa: PLW0603 - a name of its own for each module
    _count += 1
    name = f"measured_{_count}"
    (folder / f"{name}.py").write_text(source)
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def code_of(folder: Path, source: str) -> set[str]:
    """What is reached, without the module's name."""
    from bufferlab.experiment.fingerprint import _Reached  # noqa: PLC0415

    module = load(folder, source)
    reached = _Reached(module.__name__)
    reached.visit(module.measure)
    reached.complete()
    return {f"{name} {text}".replace(module.__name__, "") for name, text in reached.found.items()}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("value + LIMIT", "value - LIMIT"),
        ("LIMIT = 3", "LIMIT = 4"),
        ('{"a": 1}', '{"a": 2}'),
        ("return 2", "return 3"),
        ("Helper().size", "Helper().size + 1"),
        ("by=LIMIT", "by=7"),
    ],
)
def test_what_is_reached_counts(tmp_path: Path, old: str, new: str) -> None:
    assert old in BASE
    assert code_of(tmp_path, BASE) != code_of(tmp_path, BASE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# comment", "# another"),
        ("Docstring.", "Words."),
        ("Helps.", "Helped."),
        ("return 5", "return 6"),
        ("return 1", "return 8"),
        ("\ndef other", "\n\n\ndef other"),
    ],
)
def test_what_is_not_reached_does_not_count(tmp_path: Path, old: str, new: str) -> None:
    assert old in BASE
    assert code_of(tmp_path, BASE) == code_of(tmp_path, BASE.replace(old, new))


MADE = """
def make(factor):
    return lambda value: value * factor

FIRST, SECOND, THIRD = make(1), make(2), lambda value: value + 1

def measure(result):
    return FIRST(result) + SECOND(result) + THIRD(result)
"""


@pytest.mark.parametrize(("old", "new"), [("make(2)", "make(3)"), ("value + 1", "value + 2")])
def test_functions_without_names_of_their_own_are_reached(tmp_path: Path, old: str, new: str) -> None:
    assert code_of(tmp_path, MADE) == code_of(tmp_path, MADE)
    assert code_of(tmp_path, MADE) != code_of(tmp_path, MADE.replace(old, new))


def test_what_runs_counts_and_not_what_its_file_says_by_now(tmp_path: Path) -> None:
    changed = BASE.replace("return helper(result) + by", "return helper(result) - by")
    module = load(tmp_path, BASE)
    Path(str(module.__file__)).write_text(changed)
    assert fingerprint(module.measure) != fingerprint(load(tmp_path, changed).measure)
    assert code_of(tmp_path, BASE) == code_of(tmp_path, BASE)


def test_functions_without_a_file_are_distinguished() -> None:
    first: dict[str, Any] = {"__name__": "__main__"}
    second: dict[str, Any] = {"__name__": "__main__"}
    exec("def measure(result):\n    return [x + 1 for x in result]", first)
    exec("def measure(result):\n    return [x + 2 for x in result]", second)
    assert fingerprint(first["measure"]) != fingerprint(second["measure"])


def test_functions_of_the_package_are_reached(tmp_path: Path) -> None:
    assert any(text.startswith("bufferlab.stats.jain_index") for text in code_of(tmp_path, BASE))


def test_the_fingerprint_is_the_same_in_every_process() -> None:
    program = (
        "from bufferlab.studies.targets import values_of_run\n"
        "from bufferlab.experiment.fingerprint import identity\n"
        "print(identity(values_of_run))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(2)
    }
    assert len(printed) == 1


def test_arguments_are_part_of_the_identity(tmp_path: Path) -> None:
    measure = load(tmp_path, BASE).measure
    names = {identity(each) for each in (measure, partial(measure, by=1), partial(measure, by=1.0))}
    assert len(names) == 3
    assert identity(partial(measure, by=1)) == identity(partial(measure, by=1))
    assert fingerprint(measure) in identity(measure)


def test_what_cannot_be_described_is_refused(tmp_path: Path) -> None:
    measure = load(tmp_path, BASE).measure
    with pytest.raises(TypeError, match="use plain values"):
        identity(partial(measure, by=object()))


def test_sets_have_one_description() -> None:
    assert describe({"b", "a", "c"}) == describe({"c", "b", "a"})
    assert describe((1,)) != describe([1])
