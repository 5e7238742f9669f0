"""Standard output that is closed, or that cannot write every character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import SMALL


def test_a_closed_standard_output_is_said(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    ended = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m bufferlab run small.toml >&-', sys.executable],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (1, "bufferlab: standard output is closed\n")


@pytest.mark.parametrize("error", ["2>/dev/full", "2>&-", "2</dev/null"])
@pytest.mark.parametrize(("word", "status"), [("small.toml", 0), ("none.toml", 2)])
def test_a_standard_error_that_takes_nothing_changes_no_status(
    tmp_path: Path, error: str, word: str, status: int
) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    ended = subprocess.run(
        ["/bin/sh", "-c", f'"$0" -m bufferlab size {word} --utilization 0.9 --fresh {error}', sys.executable],
        cwd=tmp_path,
        env=os.environ | {"BUFFERLAB_CACHE": "/dev/null/none"},  # which is said
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert ended.returncode == status
    assert ("Take " in ended.stdout) == (status == 0)


def test_what_cannot_be_encoded_is_written_plainly(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    plain = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    ended = subprocess.run(
        [sys.executable, "-m", "bufferlab", "run", "small.toml", "--seeds", "2"],
        cwd=tmp_path,
        env=os.environ | plain,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    written = ended.stdout.decode("ascii")
    assert " +- " in written and "?" not in written
