"""Rows of captures go on where an interrupted recording was."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.evidence.captures import kept
from bufferlab.evidence.captures.kept import FOLDER, Rows, rows_of
from bufferlab.evidence.reproduction import Request
from bufferlab.experiment.runner import Runner

made: list[int] = []
fails_at: list[int] = []


def make(number: int, _runner: Runner) -> Rows:
    if number in fails_at:
        raise KeyboardInterrupt
    made.append(number)
    return [{"scenario": number, "value": number / 3}, {"scenario": number, "value": None}]


def other(number: int, _runner: Runner) -> Rows:
    made.append(number)
    return [{"scenario": -number}]


@pytest.fixture(autouse=True)
def nothing_is_made() -> None:
    made.clear()
    fails_at.clear()


def test_what_ended_early_goes_on(tmp_path: Path) -> None:
    request = Request(progress=False, store=tmp_path)
    fails_at.append(3)
    with pytest.raises(KeyboardInterrupt):
        rows_of(request, range(6), make)
    assert made == [0, 1, 2]
    fails_at.clear()
    rows = rows_of(request, range(6), make)
    assert made == [0, 1, 2, 3, 4, 5]
    assert rows == [row for number in range(6) for row in make(number, Runner(progress=False))]


def test_a_line_that_was_left_half_written_is_made_anew(tmp_path: Path) -> None:
    request = Request(progress=False, store=tmp_path)
    rows = rows_of(request, range(3), make)
    (file,) = (tmp_path / FOLDER).iterdir()
    file.write_text(file.read_text("utf-8")[:-20] + "\n", "utf-8")
    made.clear()
    assert rows_of(request, range(3), make) == rows and made == [2]


def test_other_code_and_other_engines_begin_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(progress=False, store=tmp_path)
    rows_of(request, range(2), make)
    assert rows_of(request, range(2), other) == [{"scenario": 0}, {"scenario": -1}]
    monkeypatch.setattr(kept, "ENGINE", "another")
    rows_of(request, range(2), make)
    assert made == [0, 1, 0, 1, 0, 1]


def test_nothing_is_kept_without_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows_of(Request(progress=False), range(2), make)
    rows_of(Request(progress=False), range(2), make)
    assert made == [0, 1, 0, 1] and not list(tmp_path.iterdir())
