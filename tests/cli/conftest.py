"""The command, within this process for speed, or as one of its own where that matters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from bufferlab import cli, log

from ..small import dumbbell

SMALL: Final = dumbbell(duration="3 s", rate="10 Mbps", buffer="40 packets")


@dataclass(frozen=True)
class Ended:
    """How the command ended, and what it said."""

    status: int
    out: str
    err: str

    def line(self) -> str:
        """Its one line on standard error."""
        assert self.err.count("\n") == 1, self.err
        return self.err.strip()


Command = Callable[..., Ended]


@pytest.fixture
def bufferlab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the command in a folder that holds small.toml, with room for its tables and sentences in a line."""
    (tmp_path / "small.toml").write_text(SMALL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(log, "PATIENCE_S", math.inf)  # however slow the machine, no line of progress

    def run(*args: str) -> Ended:
        capfd.readouterr()
        status = cli.main(args)
        return Ended(status, *capfd.readouterr())

    return run
