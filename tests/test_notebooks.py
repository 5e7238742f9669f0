"""The example notebooks run from top to bottom in a kernel, and show tables, images and the laboratory."""

from __future__ import annotations

import ast
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from bufferlab.web import PAGE

FOLDER: Final = Path(__file__).parents[1] / "examples" / "notebooks"

IMAGE: Final = "image/png"
TABLE: Final = "text/html"
WIDGET: Final = "application/vnd.jupyter.widget-view+json"
SHOWN: Final = {
    "operator": {TABLE, IMAGE},
    "researcher": {TABLE, IMAGE},
    "student": {TABLE, IMAGE, WIDGET},
    "extending": {TABLE, IMAGE},
}
"""What a reader sees in each."""

RUN: Final = """
import json, sys
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, kernel_name="python3", timeout=100).execute()
print(json.dumps([cell["outputs"] for cell in notebook.cells if cell.cell_type == "code"]))
"""


def sources(name: str) -> list[str]:
    """The code of each of its cells, none of which has kept an output."""
    document = json.loads((FOLDER / f"{name}.ipynb").read_text())
    assert document["nbformat"] == 4
    code = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in code), "outputs are not kept"
    return ["".join(cell["source"]) for cell in code]


def executed(notebook: Path, folder: Path) -> list[list[dict[str, Any]]]:
    """What each cell with code has put out, in a kernel of its own."""
    own = {"BUFFERLAB_CACHE": "", "TMPDIR": str(folder), "IPYTHONDIR": str(folder / "ipython")}
    ended = subprocess.run(
        [sys.executable, "-c", RUN, notebook],
        cwd=FOLDER,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | own,
    )
    assert ended.returncode == 0, ended.stderr
    outputs: list[list[dict[str, Any]]] = json.loads(ended.stdout.splitlines()[-1])
    return outputs


def test_all_notebooks_are_tried() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_a_notebook_runs_and_shows_what_a_reader_is_to_see(name: str, tmp_path: Path) -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    if WIDGET in SHOWN[name]:
        pytest.importorskip("anywidget")
        if not PAGE.exists():
            pytest.skip("the page is not built: scripts/web.sh says why")
    code = sources(name)
    outputs = executed(FOLDER / f"{name}.ipynb", tmp_path)
    assert len(outputs) == len(code) >= 3
    for source, found in zip(code, outputs, strict=True):
        if isinstance(ast.parse(source).body[-1], ast.Expr):
            assert found, source
    kinds = {kind for found in outputs for each in found for kind in each.get("data", {})}
    assert SHOWN[name] <= kinds


def test_a_figure_is_an_image_and_a_print_a_table_without_magic(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    cells = [
        """
        import sys, bufferlab
        scenario = {
            "run": {"duration": "4 s", "warmup": "1 s"},
            "bottleneck": {"rate": "10 Mbps", "buffer": "20 packets"},
            "flows": [{"rtt": "20 ms"}],
        }
        sizing = bufferlab.size(scenario, ["utilization >= 80 %"], resolution=1)
        print(sizing)
        """,
        "sizing.figure()",
        "assert 'matplotlib.pyplot' not in sys.modules",
    ]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(inspect.cleandoc(cell)) for cell in cells]
    )
    nbformat.write(notebook, tmp_path / "small.ipynb")
    printed, (figure,), _ = executed(tmp_path / "small.ipynb", tmp_path)
    text = "".join(each["text"] for each in printed if each["output_type"] == "stream")
    assert "Take " in text
    assert "target" in text
    assert "────" in text
    assert figure["data"][IMAGE].startswith("iVBORw0KGgo")  # a PNG's first bytes in base 64
