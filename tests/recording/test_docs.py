"""docs/capture.md agrees with the code: its commands are run, its table is that of the options."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bufferlab

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/capture.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, block in BLOCKS if kind == "sh" for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the examples, shortened."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "examples", folder / "examples")
    example = folder / "examples/bufferbloat.toml"
    text = example.read_text(encoding="utf-8")
    shorter = text.replace('duration = "60 s"', 'duration = "6 s"').replace(
        'warmup = "5 s"', 'warmup = "1 s"'
    )
    assert shorter.count('"6 s"') == 1
    example.write_text(shorter, encoding="utf-8")
    return folder


def test_commands_do_what_they_say(folder: Path) -> None:
    assert len([line for line in COMMANDS if line.startswith("bufferlab run")]) == 4
    missing = {line.split()[0] for line in COMMANDS} - {"bufferlab"}
    missing = {tool for tool in missing if shutil.which(tool) is None}
    for line in COMMANDS:
        tool = line.split()[0]
        if tool == "bufferlab":
            line = line.replace("bufferlab", f"'{sys.executable}' -m bufferlab", 1)  # noqa: PLW2901
        elif tool in missing:
            continue
        done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        assert done.stdout or " -w " in line, line
    written = {"bloat.pcapng", "link.pcapng", "bloat.tr", "pages.pcapng", "pages.csv", "all.pcapng"}
    assert written <= {path.name for path in folder.iterdir()}
    if missing:
        pytest.skip(f"the rest needs sudo apt-get install {' '.join(sorted(missing))}")


def test_the_python_example_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    (code,) = [block for kind, block in BLOCKS if kind == "python"]
    exec(compile(code, "docs/capture.md", "exec"), {})
    out = capsys.readouterr().out
    assert "bloat.pcapng" in out
    assert "long" in out


def test_the_table_of_options_is_whole() -> None:
    rows = dict(re.findall(r"^\| `--([\w-]+)[^`]*` \| `(\w+)=`", TEXT, re.MULTILINE))
    parameters = inspect.signature(bufferlab.run).parameters
    recording = {name for name in parameters if name.startswith(("pcap", "trace", "record_"))}
    assert set(rows.values()) == recording
    assert all(option.replace("-", "_") == name for option, name in rows.items())
