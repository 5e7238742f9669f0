"""Standard output that is closed, or that cannot write every character."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
