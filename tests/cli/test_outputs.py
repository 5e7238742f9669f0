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
        (("--flent", "a.flent.gz", "--seeds", "2"), 2, "seeds: 2 is more than a file of Flent's holds"),
        (
            ("--flent", "nowhere/a.flent.gz"),
            1,
            "nowhere/a.flent.gz: cannot be written (no such folder)",
        ),
        (("--flent", "small.toml/a.flent.gz"), 1, "cannot be written (Not a directory)"),
        (("--flent", "folder.flent.gz"), 1, "cannot be written (is a directory)"),
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
