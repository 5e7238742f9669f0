"""Pages that are made are up to date."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_pages_are_as_written() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
