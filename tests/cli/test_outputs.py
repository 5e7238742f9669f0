"""What `bufferlab run` leaves behind, and what it says if it cannot."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from .conftest import Command


def test_a_file_for_flent_needs_no_probes(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab("run", "small.toml", "--flent", "small.flent.gz")
    assert ended.status == 0
    assert ended.line() == "bufferlab: saved small.flent.gz"
    document = json.loads(gzip.decompress((tmp_path / "small.flent.gz").read_bytes()))
    assert len(document["x_values"]) == 15
    assert "TCP upload::3" in document["results"]


@pytest.mark.parametrize(
    ("args", "status", "says"),
    [
        (
            ("--flent", "small.gz"),
            2,
            "small.gz: is not a name of Flent's; accepted: a name that ends with .flent.gz",
        ),
        (("--flent", ".flent.gz"), 2, "is not a name of Flent's"),
        (("--flent", "a.flent.gz", "--seeds", "2"), 2, "--seeds: 2 is more than a file of Flent's holds"),
        (
            ("--flent", "nowhere/a.flent.gz"),
            1,
            "nowhere/a.flent.gz: cannot be written (no such folder)",
        ),
        (("--flent", "small.toml/a.flent.gz"), 1, "cannot be written (Not a directory)"),
        (("--flent", "folder.flent.gz"), 1, "cannot be written (is a directory)"),
        (("--plot", "figure.bmp"), 2, "--plot: 'figure.bmp' is one file, and a run has several figures"),
        (("--out", "/proc/bufferlab"), 1, "/proc/bufferlab: cannot be written"),
        (("--out", "small.toml/out"), 1, "small.toml/out: cannot be written (Not a directory)"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_run(
    bufferlab: Command, tmp_path: Path, args: tuple[str, ...], status: int, says: str
) -> None:
    (tmp_path / "folder.flent.gz").mkdir()
    before = sorted(tmp_path.rglob("*"))
    # a run that would take minutes
    ended = bufferlab("run", "small.toml", "--set", "run.duration=100000 s", *args)
    assert (ended.status, ended.out) == (status, "")
    assert says in ended.line()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("verb", ["advise", "compare", "size"])
@pytest.mark.parametrize(
    ("plot", "status", "says"),
    [
        (
            "a.bmp",
            2,
            "--plot: 'a.bmp' asks for .bmp, which figures are not written as; accepted: NAME.png and",
        ),
        ("a.JPG", 2, "--plot: 'a.JPG' asks for .jpg, which figures are not written as"),
        (".", 2, "--plot: '.' has no file's name; accepted: NAME.png and NAME.svg, which are both written,"),
        ("folder", 1, "folder.svg: cannot be written (is a directory)"),
        ("small.toml/a.pdf", 1, "small.toml/a.pdf: cannot be written (Not a directory)"),
    ],
)
def test_a_figure_that_cannot_be_written_is_refused_before_the_runs(
    bufferlab: Command, tmp_path: Path, verb: str, plot: str, status: int, says: str
) -> None:
    (tmp_path / "folder.svg").mkdir()
    before = sorted(tmp_path.rglob("*"))
    ended = bufferlab(verb, "small.toml", "--set", "run.duration=100000 s", "--plot", plot)
    assert (ended.status, ended.out) == (status, "")
    assert says in ended.line()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_dot_may_be_part_of_a_figure_s_name(bufferlab: Command, tmp_path: Path) -> None:
    args = ("compare", "small.toml", "--queues", "fifo,codel", "--seeds", "1")
    assert bufferlab(*args, "--plot", "a.1").status == 0
    assert {file.name for file in tmp_path.glob("a*")} == {"a.1.png", "a.1.svg"}


def test_no_scenario_is_written_where_the_figure_cannot_be(bufferlab: Command, tmp_path: Path) -> None:
    line = ("--rate", "2 Mbps", "--rtt", "40 ms", "--flows", "2", "--scenario", "made.toml")
    assert bufferlab("advise", *line, "--plot", "a.bmp").status == 2
    assert not (tmp_path / "made.toml").exists()
