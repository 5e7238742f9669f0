"""Plain lines about long work: none if it is short, one a stage."""

from __future__ import annotations

import re
import time

import pytest

from bufferlab import log


def test_work_that_ends_soon_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(log, "PATIENCE_S", 60.0)
    with log.Log() as short:
        short.tell("scan", "scan")
    assert capsys.readouterr().err == ""


def test_what_was_held_back_is_printed_once_it_takes_longer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A first stage of many minutes must not be silent."""
    monkeypatch.setattr(log, "PATIENCE_S", 0.01)
    with log.Log() as long:
        long.tell("scan", "scan, 1 … 9")
        printed, end_s = "", time.monotonic() + 60.0
        while not printed and time.monotonic() < end_s:
            printed += capsys.readouterr().err
            time.sleep(0.01)
    assert re.fullmatch(r"bufferlab: \d+ s: scan, 1 … 9\n", printed)


def test_a_stage_has_few_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(log, "PATIENCE_S", 0.0)
    with log.Log() as opened:
        for size in range(100):
            opened.tell("bisection", f"bisection {size}")
        opened.tell("checking", "checking 7")
        opened.tell("bisection", "bisection again")
    texts = [line.partition(" s: ")[2] for line in capsys.readouterr().err.splitlines()]
    assert texts == ["bisection 0", "checking 7", "bisection again"]


def test_a_stage_that_says_nothing_lives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(log, "PATIENCE_S", 0.0)
    monkeypatch.setattr(log, "EVERY_S", 0.05)
    with log.Log() as silent:
        silent.tell("scan", "scan 1")
        printed, end_s = "", time.monotonic() + 60.0
        while "still scan 1" not in printed and time.monotonic() < end_s:
            printed += capsys.readouterr().err
            time.sleep(0.01)
        silent.tell("scan", "scan 2")
        while "still scan 2" not in printed and time.monotonic() < end_s:
            printed += capsys.readouterr().err
            time.sleep(0.01)
    texts = [line.partition(" s: ")[2] for line in printed.splitlines()]
    assert list(dict.fromkeys(texts))[:2] == ["scan 1", "still scan 1"]
    assert texts.index("scan 2") < texts.index("still scan 2")
