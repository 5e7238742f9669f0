"""A reader that wants no more, such as `head -1`, changes neither the exit status nor what is said."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bufferlab.results.result import Result

from .conftest import SMALL

QUICK = ("small.toml", "--set", "run.duration=2 s")


def to_nobody(folder: Path, *args: str) -> tuple[int, str]:
    """The exit status, and what is said, of a command whose output nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"BUFFERLAB_CACHE": "", "PYTHONUNBUFFERED": "1"}
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "bufferlab", *args],
            cwd=folder,
            env=environment,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=300,
        )
    finally:
        os.close(writer)
    return ended.returncode, ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("--version",),
        ("size", "--help"),
        ("reproduce",),
        ("reproduce", "--json"),
        ("configure", "--rate", "100 Mbps", "--buffer", "100 packets"),
        ("configure", "--rate", "100 Mbps", "--buffer", "100 packets", "--json"),
        ("run", *QUICK),
        ("run", *QUICK, "--json"),
        ("compare", *QUICK, "--queues", "fifo,codel", "--seeds", "2"),
        ("sweep", *QUICK, "--vary", "bottleneck.buffer=5 packets,10 packets"),
        ("size", *QUICK, "--theory"),
        ("size", *QUICK, "--no-rules", "--utilization", "1 %"),
    ],
    ids=" ".join,
)
def test_a_closed_pipe_is_no_failure(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    assert to_nobody(tmp_path, *args) == (0, "")


def test_files_are_saved_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    assert to_nobody(tmp_path, "run", *QUICK, "--json", "--out", "out") == (0, "bufferlab: saved out\n")
    assert Result.load(tmp_path / "out").seed == 1


def test_a_failure_keeps_its_status(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    status, said = to_nobody(tmp_path, "size", *QUICK, "--no-rules", "--target", "wait_mean < 1 us")
    assert status == 2
    assert said.startswith("bufferlab: small.toml: No buffer from 1 to ")
    assert "Traceback" not in said
