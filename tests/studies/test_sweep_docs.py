"""The documentation of sweeps agrees with the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from bufferlab import cli
from bufferlab.experiment.axes import read_axes
from bufferlab.experiment.points import latin, read_list
from bufferlab.scenario import Scenario

ROOT = Path(__file__).parents[2]
DOCS = (ROOT / "docs" / "sweep.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", DOCS, re.MULTILINE | re.DOTALL)


def commands(verb: str) -> list[list[str]]:
    lines = "\n".join(blocks("sh")).replace("\\\n", " ").splitlines()
    split = [shlex.split(line, comments=True) for line in lines]
    return [words[2:] for words in split if words[:2] == ["bufferlab", verb]]


def shown(verb: str) -> list[list[str]]:
    """The commands whose output is shown."""
    lines = re.findall(r"^\$ (?:COLUMNS=\d+ )?bufferlab (.*)$", DOCS, re.MULTILINE)
    return [words[1:] for line in lines if (words := shlex.split(line))[0] == verb]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_worked_example(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (first,) = shown("sweep")
    assert cli.main(["sweep", *first, "--set", "run.duration=5 s", "--set", "run.warmup=2 s"]) == 0
    assert "6 points × 5 seeds; 30 simulated" in capsys.readouterr().out
    assert (home / "home-gateway-runs").is_dir()
    reading = commands("results")
    assert len(reading) == 4
    for words in reading:
        assert cli.main(["results", "home-gateway-runs", *words[1:]]) == 0
    capsys.readouterr()
    (asked,) = shown("results")
    assert cli.main(["results", *asked]) == 0
    assert "fq_codel" in capsys.readouterr().out


def test_the_sampled_example_has_points_that_fit() -> None:
    words = commands("sweep")[0]
    axes = read_axes([words[index + 1] for index, word in enumerate(words) if word == "--vary"])
    base = Scenario.load(ROOT / words[0])
    for point in latin(axes, 50, 1):
        base.with_overrides(point)


def test_the_listed_example_has_points_that_fit() -> None:
    base = Scenario.load(ROOT / "examples" / "home-gateway.toml")
    points = read_list(ROOT / "examples" / "home-gateway-points.csv")
    assert [base.with_overrides(point).flows[0]["count"] for point in points] == [4, 4, 4, 16, 16]


@pytest.mark.usefixtures("home")
def test_python_in_the_documentation_runs() -> None:
    for text in blocks("python"):
        exec(compile(text, "docs/sweep.md", "exec"), {})
