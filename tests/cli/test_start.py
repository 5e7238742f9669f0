"""What the command loads: imports are most of a small run's time, so they are counted in place of seconds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path

import pytest

from bufferlab.cli import VERBS
from bufferlab.cli.compare import compare as compare_verb
from bufferlab.cli.run import run as run_verb
from bufferlab.experiment.recording import DEFAULT_LIMIT
from bufferlab.studies.compare import DEFAULT_SEEDS

from .conftest import SMALL

PROGRAM = """\
import gc, sys
from bufferlab.cli import main
def collections():
    return sum(each["collections"] for each in gc.get_stats())
before = collections()
status = main()
print(status, collections() - before, gc.get_freeze_count(), file=sys.stderr)
print(*sys.modules, file=sys.stderr)
"""
UNUSED = {
    "asyncio",
    "bufferlab.evidence",
    "bufferlab.experiment.cluster",
    "bufferlab.render.plots",
    "bufferlab.render.watching",
    "bufferlab.studies",
    "bufferlab.theory",
    "matplotlib",
    "numpy.ma",
    "pydantic",
    "ray",
    "rich.live",
    "rich.progress",
    "scipy",
}
"""What `run` does not need, unless it is asked for."""

LISTING = UNUSED | {"bufferlab._core", "bufferlab.experiment", "bufferlab.results", "numpy", "polars", "rich"}
"""What the list of verbs does not need."""


@dataclass(frozen=True)
class Started:
    """A command that ended.

    Attributes:
        collections: How often garbage was looked for.
        frozen: Objects that are not searched for garbage at the end.
        modules: What was loaded.
    """

    collections: int
    frozen: int
    modules: set[str]


def started(folder: Path, *args: str) -> Started:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, *args], cwd=folder, capture_output=True, text=True, check=True
    )
    numbers, modules = ended.stderr.splitlines()[-2:]
    status, collections, frozen = map(int, numbers.split())
    assert status == 0
    return Started(collections, frozen, set(modules.split()))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Started:
    folder = tmp_path_factory.mktemp("run")
    (folder / "small.toml").write_text(SMALL)
    return started(folder, "run", "small.toml")


def test_a_run_loads_nothing_that_it_does_not_use(run: Started) -> None:
    assert {"bufferlab._core", "polars"} <= run.modules
    assert run.modules & UNUSED == set()


@pytest.mark.parametrize("args", [(), ("--help",), ("--version",)])
def test_the_list_of_verbs_loads_little(tmp_path: Path, args: tuple[str, ...]) -> None:
    assert started(tmp_path, *args).modules & LISTING == set()


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_of_a_verb_loads_little(tmp_path: Path, verb: str) -> None:
    heavy = {"bufferlab.experiment", "bufferlab.render", "matplotlib", "numpy", "polars", "rich", "scipy"}
    modules = started(tmp_path, verb, "--help").modules
    assert f"bufferlab.cli.{verb}" in modules
    assert modules & heavy == set()


def test_defaults_of_options_are_those_of_what_they_are_passed_to() -> None:
    """They are written beside the options, as the modules that have them are slow to import for a help."""

    def default(verb: Callable[..., None], name: str) -> object:
        return signature(verb).parameters[name].default

    assert default(run_verb, "record_limit") == DEFAULT_LIMIT
    assert default(compare_verb, "seeds") == DEFAULT_SEEDS


def test_a_small_run_does_not_look_for_garbage(run: Started) -> None:
    assert run.collections == 0
    assert run.frozen > 0


def test_ctrl_c_while_modules_are_imported_is_no_traceback(tmp_path: Path) -> None:
    """The command's entry point imports nothing that takes time before it can be interrupted."""
    interrupted = """
import importlib.abc, sys

class Interrupts(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "typer":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupts())
from bufferlab.__main__ import main
sys.exit(main())
"""
    ended = subprocess.run(
        [sys.executable, "-c", interrupted], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (130, "")
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert 'bufferlab = "bufferlab.__main__:main"' in project
