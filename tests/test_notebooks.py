"""The example notebooks run from top to bottom, and what each cell shows can be shown."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

FOLDER: Final = Path(__file__).parents[1] / "examples" / "notebooks"
NAMES: Final = ("operator", "researcher", "student", "extending")

RUN: Final = """
import ast, json, sys
import matplotlib
matplotlib.use("Agg")
names, shown = {}, 0
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] != "code":
        continue
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, sys.argv[1], "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), sys.argv[1], "eval"), names)
        if value is not None:
            html = value._repr_html_() if hasattr(value, "_repr_html_") else None
            shown += len(html or repr(value)) > 0
print(f"shown {shown}")
"""
"""What a notebook does with its cells, without one: the last expression of each is its output."""


def sources(name: str) -> list[str]:
    """The code of each of its cells, none of which has kept an output."""
    document = json.loads((FOLDER / f"{name}.ipynb").read_text())
    assert document["nbformat"] == 4
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code), "outputs are not kept"
    return ["".join(cell["source"]) for cell in code]


def test_all_notebooks_are_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    code = sources(name)
    assert len(code) >= 3
    outputs = sum(isinstance(ast.parse(source).body[-1], ast.Expr) for source in code)
    ended = subprocess.run(
        [sys.executable, "-c", RUN, f"{name}.ipynb"],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"BUFFERLAB_CACHE": "", "TMPDIR": str(tmp_path)},
    )
    assert ended.returncode == 0, ended.stderr
    shown = int(ended.stdout.split()[-1])
    assert 3 <= shown <= outputs
