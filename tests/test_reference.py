"""Pages that are made are up to date, and the public names are what they say."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import bufferlab

ROOT = Path(__file__).parent.parent


def test_pages_are_as_written() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_type_checkers_see_the_public_names() -> None:
    tree = ast.parse(Path(bufferlab.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == bufferlab._PUBLIC


def test_completion_shows_what_is_public_and_all_of_it_is_there() -> None:
    assert dir(bufferlab) == sorted(bufferlab.__all__)
    for name in bufferlab.__all__:
        thing = getattr(bufferlab, name)
        assert name == "__version__" or inspect.getdoc(thing), name


def test_a_public_name_is_loaded_when_it_is_used() -> None:
    program = "import sys, bufferlab; print([name for name in sys.modules if name.startswith('bufferlab.')])"
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
